"""The SQLite file: made where there is none, examined, and set aside when it is damaged."""

import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path

from core.store import schema
from core.store.errors import BUSY_SECONDS, DAMAGED, StoreError, newer, sentence, sqlite_kind

# Up to this size every page is looked at when a database is opened: about 0.2 s for 100 MB.
# Of a larger one a missing end is noticed, and other damage when it is met.
EXAMINED_BYTES = 256_000_000
DATABASE_ENDINGS = {".db", ".sqlite", ".sqlite3"}
LINE_SECONDS = 30  # for each other, where several processes find one damaged file
_PREPARING = threading.Lock()
_COMPANIONS = ("-wal", "-shm", "-journal")  # what SQLite keeps beside a file


class OpenFile:
    """The file that was opened at a path. Another one may lead there later, or none.

    On most systems an open file can be deleted or moved: whoever has it open goes on writing, to
    what nobody finds again.

    `path`: as of `prepare`, with SQLite's other files beside it by now.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        parts = {ending: Path(f"{path}{ending}") for ending in ("", *_COMPANIONS)}
        with _explanation(path):
            self._stats = {ending: p.stat() for ending, p in parts.items() if p.exists()}

    @property
    def is_gone(self) -> bool:
        """Whether the path leads to another file, or to none."""
        return not self._is_here("")

    def clear_place(self) -> None:
        """Delete what SQLite kept beside it, and would take for that of the next file there.

        What another process made there by now is left alone.
        """
        if self.path.parent.exists():
            with _PREPARING, _explanation(self.path), alone(self.path):
                for ending in _COMPANIONS:
                    if ending in self._stats and self._is_here(ending):
                        Path(f"{self.path}{ending}").unlink()

    def _is_here(self, ending: str) -> bool:
        try:
            return os.path.samestat(Path(f"{self.path}{ending}").stat(), self._stats[ending])
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:  # nobody can say
            return True


class _DamagedError(Exception):
    """The file is no database that can be read."""


def prepare(path: Path, newest: int) -> str | None:
    """Make sure that a database of the newest version or an older one can be opened at `path`.

    The path is absolute, without symbolic links: SQLite keeps its other files beside the real one.
    Returns a sentence for the person when a damaged file was set aside.

    Raises `StoreError` when the file cannot be used. It is not altered then.
    """
    notice = None
    # One thread at a time: a file that one closes is unlocked for SQLite in all of them.
    with _PREPARING, _explanation(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            _examine(path, newest)
        except _DamagedError:
            notice = _set_aside(path, newest)
        if not path.exists():
            path.touch(mode=0o600)  # what people ask is theirs; SQLite's other files follow
        # Said now, and not at the first call that is to be kept.
        if not os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            raise PermissionError("it is for reading only")
        _log_ahead(path)
    return notice


@contextmanager
def _explanation(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise StoreError(sentence(error, str(path))) from None


def _examine(path: Path, newest: int) -> None:
    """Raise where there is something else than a database to go on with."""
    if path.is_dir():
        if path.suffix in DATABASE_ENDINGS:
            raise _DamagedError
        raise StoreError(
            f"{path} is a folder: name a file in it, such as {path / 'believe.db'}, in "
            "BELIEVE_DATABASE_URL."
        )
    if not path.exists():
        return
    if not stat.S_ISREG(path.stat().st_mode):
        raise StoreError(f"{path} is not a file: name another one in BELIEVE_DATABASE_URL.")
    try:
        # Only read, so that not one byte changes in what a newer version wrote.
        _look(path, "ro", newest)
    except sqlite3.OperationalError as error:
        if sqlite_kind(error) not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
            raise
        # What a process left half written when it was killed must be rolled back first.
        _look(path, "rw", newest)


def _look(path: Path, mode: str, newest: int) -> None:
    address = f"{path.as_uri()}?mode={mode}"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as connection:
            version = _version(connection)
            if version is None:
                raise StoreError(
                    f"{path} is the database of another program and was left as it is: name "
                    "another file in BELIEVE_DATABASE_URL."
                )
            if version > newest:
                raise StoreError(newer(str(path), version, newest))
            if not _is_whole(connection, path):
                raise _DamagedError
            if version == newest and not _has_our_tables(connection):
                raise _DamagedError
    except UnicodeDecodeError:  # Python cannot even read what SQLite says about the damage
        raise _DamagedError from None
    except sqlite3.DatabaseError as error:
        # The number of the format stands in the first page, and no SQLite has had a new one.
        foreign = "unsupported file format" in str(error)
        if foreign or sqlite_kind(error) is None or sqlite_kind(error) in DAMAGED:
            raise _DamagedError from None
        raise


def _is_whole(connection: sqlite3.Connection, path: Path) -> bool:
    size = path.stat().st_size
    ((page,),) = connection.execute("PRAGMA page_size")
    log = Path(f"{path}-wal")
    # SQLite takes a part of a page for a page. A full disk leaves one too, but with the log.
    if size % page and not (log.exists() and log.stat().st_size):
        return False
    if size > EXAMINED_BYTES:
        return True
    ((verdict,),) = connection.execute("PRAGMA quick_check(1)")
    return bool(verdict == "ok")


def _has_our_tables(connection: sqlite3.Connection) -> bool:
    """Say whether every column can be asked for: damage can change a name and nothing else."""
    for table in schema.metadata.sorted_tables:
        try:
            columns = {row[1] for row in connection.execute(f'PRAGMA table_info("{table.name}")')}
        except sqlite3.OperationalError:
            return False
        if not columns >= set(table.columns.keys()):
            return False
    return True


def _version(connection: sqlite3.Connection) -> int | None:
    """Return how many migrations a file has seen; None where it is not ours."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    if not tables:
        return 0
    if "schema_version" not in tables:
        return None
    version = connection.execute("SELECT max(version) FROM schema_version").fetchone()[0]
    return version if isinstance(version, int) else None


def _set_aside(path: Path, newest: int) -> str | None:
    """Rename a damaged file and what belongs to it; None when another process just did."""
    with alone(path):
        try:
            _examine(path, newest)
        except _DamagedError:
            copy = _free_name(path)
            for ending in (*_COMPANIONS, ""):  # the file last: what is half moved is found again
                part = Path(f"{path}{ending}")
                if part.exists():
                    part.rename(f"{copy}{ending}")
            return (
                f"The database {path} was damaged and could not be read. It is now {copy}, and "
                "a new, empty one was created."
            )
    return None


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Let one process in at a time; SQLite knows how to lock a file on every system."""
    # The empty file stays: another process may be waiting for it.
    lock = Path(f"{path}.lock")
    with closing(sqlite3.connect(lock, timeout=LINE_SECONDS, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield


def _free_name(path: Path) -> Path:
    stamp = f"{path}.damaged-{datetime.now():%Y%m%d-%H%M%S}"
    name, count = Path(stamp), 1
    while name.exists():
        count += 1
        name = Path(f"{stamp}-{count}")
    return name


def _log_ahead(path: Path) -> None:
    """Switch to a write-ahead log: readers and the writer do not wait for each other."""
    deadline = time.monotonic() + BUSY_SECONDS
    with closing(sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)) as connection:
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                # For this switch SQLite does not wait by itself.
                if sqlite_kind(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
