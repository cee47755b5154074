"""The folder of a run: what was asked for, and every finished question, whatever ends the process.

::

    run.json                  the model, its form, the pipeline, the questions, the versions
    rows-00000.parquet        finished questions, `PART` at a time; see `rows`
    recordings-00000.parquet  what the model said to each, as JSON
    unfinished.jsonl          the finished questions of the next part

A question is finished once its line is in the last file; of a line that a kill has cut off, the
question is asked again. A part is written beside its place and renamed. Its lines go afterwards;
where a kill leaves them there, the part's ids tell that they are twice.
"""

import contextlib
import errno
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

import pyarrow as pa
from pyarrow import compute, parquet

from core.codec import encode
from core.outputs import LEFT_BY_KILLS, appending, replacing, write
from core.studies.evaluation.rows import RECORDINGS, SCHEMA, Row, complete, is_emptied, table

if sys.platform != "win32":  # there nothing keeps two processes apart
    import fcntl

FORMAT, VERSION = "believe.evaluation", 1
PART: Final = 2_000  # questions
TEXTS: Final = ("model", "revision", "form", "begun")  # of a manifest
MANIFEST, UNFINISHED, LOCK = "run.json", "unfinished.jsonl", "lock"
STAGED: Final = "ray"  # what Ray has written and nobody has gathered yet


class RunError(Exception):
    """A run that cannot be begun, gone on with or read; one sentence says why."""


class RunFiles:
    """A run's folder that this process alone writes to; see `hold`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._parts = 0  # the number of the next one
        self._pending: list[Row] = []
        self._lines: IO[bytes] | None = None

    def manifest(self) -> dict[str, Any] | None:
        """Return what is written of the run; None where there is none yet.

        Raises `RunError` where there are rows of nobody knows which questions and model.
        """
        if (self.folder / MANIFEST).exists():
            return manifest_of(self.folder)
        if parts_of(self.folder) or any((self.folder / n).exists() for n in (UNFINISHED, STAGED)):
            raise RunError(
                f"{self.folder} holds rows of a run whose {MANIFEST} is gone. Put it back, or "
                "choose another folder."
            )
        return None

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Write what the run is, in place of what was written."""
        with writing(self.folder):
            write(self.folder / MANIFEST, f"{encode(manifest, indent=2)}\n")

    def begin(self, *, again: bool = False) -> tuple[set[str], int]:
        """Be ready for more rows; return the ids of those that are there, and how many failed.

        With `again`, those that failed are forgotten, to be asked once more.
        """
        with writing(self.folder):
            if again:
                for part in parts_of(self.folder):
                    _forget_failed(part)
            path = self.folder / UNFINISHED
            pending, length = whole_lines(path)
            self._lines = appending(path)
            self._lines.truncate(length)  # what a kill has cut off goes
            parts = parts_of(self.folder)
            self._parts = 1 + max((int(part.stem[-5:]) for part in parts), default=-1)
            done: set[str] = set()
            failed = 0
            for part in parts:
                for batch in batches(part, ["id", "error"]):
                    done.update(batch.column("id").to_pylist())
                    failed += len(batch) - batch.column("error").null_count
            rows = [row for row in pending if row.id not in done]
            self._pending = [row for row in rows if not (again and row.is_failure)]
            done.update(row.id for row in self._pending)
            failed += sum(row.is_failure for row in self._pending)
            if len(self._pending) < len(rows):
                self._write_part()
        for row in self._staged_rows():
            if not row.is_failure and row.id not in done:
                self.add(row)
                done.add(row.id)
        shutil.rmtree(self.folder / STAGED, ignore_errors=True)
        return done, failed

    def _staged_rows(self) -> Iterator[Row]:
        """Yield what Ray has written for a process that was killed before it gathered it."""
        for path in sorted((self.folder / STAGED).glob("*.parquet")):
            with contextlib.suppress(OSError, LookupError, pa.ArrowException):  # it is not whole
                for line in parquet.read_table(path, partitioning=None).to_pylist():
                    row = Row({name: line[name] for name in SCHEMA.names}, line["recording"])
                    if row.values["id"] is not None and _fit([row]):
                        yield row

    def add(self, row: Row) -> None:
        """Write a finished question: from now on it is never asked again."""
        assert self._lines is not None, "begin() first"
        line = f"{encode({'values': row.values, 'recording': row.recording})}\n".encode()
        with writing(self.folder):
            if self._lines.write(line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._pending.append(row)
            if len(self._pending) >= PART:
                self._write_part()

    def end(self) -> None:
        """Write the last part: no question is left."""
        with writing(self.folder):
            self._write_part()
            (self.folder / UNFINISHED).unlink()

    def close(self) -> None:
        """Write no more."""
        if self._lines is not None:
            self._lines.close()

    def _write_part(self) -> None:
        assert self._lines is not None
        if self._pending:
            name = f"{self._parts:05d}.parquet"
            recordings = [
                {"id": r.id, "recording": r.recording} for r in self._pending if r.recording
            ]
            _write(pa.Table.from_pylist(recordings, RECORDINGS), self.folder / f"recordings-{name}")
            _write(table(self._pending), self.folder / f"rows-{name}")
            self._parts += 1
        self._pending = []
        self._lines.truncate(0)


@contextmanager
def hold(folder: Path) -> Iterator[RunFiles]:
    """Hold a folder, which is made where there is none, until the end of the block.

    Raises `RunError` when it cannot be written, or another process holds it.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = appending(folder / LOCK)
    with lock, contextlib.closing(RunFiles(folder)) as files:
        if not _lock(lock.fileno()):
            raise RunError(
                f"Another process is writing to {folder}. Wait until it has ended, or choose "
                "another folder."
            )
        with writing(folder):
            for left in folder.glob(LEFT_BY_KILLS):  # by a kill; nobody else writes here
                left.unlink()
        yield files


def _lock(file: int) -> bool:
    """Lock a file for this process, or return that another one has."""
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks: nobody is kept out
            return True
    return True


def manifest_of(folder: Path) -> dict[str, Any]:
    """Return what a run is; raise `RunError` when the folder holds no run that can be read."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        questions = manifest["questions"]
        numbers = manifest["version"], questions["number"]
        texts = questions["name"], *(manifest[name] for name in TEXTS)
        if (
            manifest["format"] != FORMAT
            or any(type(number) is not int for number in numbers)
            or any(type(text) is not str for text in texts)
            or not isinstance(manifest["seconds"], int | float)
            or "ended" not in manifest
        ):
            raise ValueError("another format")
    except FileNotFoundError as error:
        raise RunError(f"{folder} holds no run: there is no {MANIFEST} in it.") from error
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise RunError(f"{folder / MANIFEST} does not describe a run of Believe.") from error
    if manifest["version"] > VERSION:
        raise RunError(f"{folder} was written by a newer Believe. Update Believe to read it.")
    return dict(manifest)


def parts_of(folder: Path, kind: str = "rows") -> list[Path]:
    """Return the parts of a run in their order."""
    return sorted(folder.glob(f"{kind}-[0-9][0-9][0-9][0-9][0-9].parquet"))


def batches(part: Path, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    """Yield what a part holds, piece by piece; raise `RunError` when it is damaged."""
    try:
        with parquet.ParquetFile(part) as file:
            names = list(SCHEMA.names if columns is None else columns)
            schema = pa.schema([SCHEMA.field(name) for name in names])
            is_whole = set(names) <= set(file.schema_arrow.names)
            # Those of an earlier version lack some; other programs write other types.
            for batch in file.iter_batches(columns=names if is_whole else None):
                rows = (batch if is_whole else complete(batch)).select(names).cast(schema)
                if is_emptied(rows):
                    raise LookupError(part)
                yield rows
    except (OSError, LookupError, pa.ArrowException) as error:
        raise RunError(
            f"{part} is damaged, or another program changed it. Delete it to ask its questions "
            "again."
        ) from error


def whole_lines(path: Path) -> tuple[list[Row], int]:
    """Return the rows of a file of lines, and how many of its bytes are whole lines."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return [], 0
    length = content.rfind(b"\n") + 1
    rows = []
    for line in content[:length].splitlines():
        with contextlib.suppress(ValueError, TypeError, LookupError, AttributeError):
            entry = json.loads(line)
            row = Row(entry["values"], entry["recording"])
            whole = {"id", "error"} <= row.values.keys() <= set(SCHEMA.names)
            if whole and isinstance(row.values["id"], str):
                rows.append(row)
    if not _fit(rows):  # another program changed them
        rows = [row for row in rows if _fit([row])]
    return rows, length


def _fit(rows: list[Row]) -> bool:
    try:
        return not any(map(is_emptied, table(rows).to_batches()))
    except pa.ArrowException:
        return False


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Write to a folder until the end of the block; raise `RunError` when it cannot be written."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        mend = (
            "Make room on its disk, then go on; what is finished is saved"
            if full
            else "Allow it for this user, or choose another folder"
        )
        raise RunError(f"{folder} cannot be written: {error.strerror or error}. {mend}.") from error


def _write(rows: pa.Table, path: Path) -> None:
    with replacing(path) as file:
        parquet.write_table(rows, file, compression="zstd")


def _forget_failed(part: Path) -> None:
    rows = pa.Table.from_batches(batches(part), SCHEMA)
    if rows["error"].null_count < len(rows):
        _write(rows.filter(compute.is_null(rows["error"])), part)
