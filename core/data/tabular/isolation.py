"""A stranger's file, read in a process of its own with limits on its memory and time.

The limits of `core.data.tabular.rows` refuse what is known to explode. What gets past them, also
through an error in a library, ends with the process that reads, and not with the server. A process
reads one file and ends, so that no file can reach the next. Importing pandas and pyarrow takes a
processor a second: `prepare` has one process do that, which reads no file, and forks for each one.
Every copy has its own limits, and no pipes but its own.

The file goes to it and the table comes back through pipes, never through the disk. The table
comes as Arrow and JSON, which carry no code.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import hashlib
import json
import logging
import math
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Final, NoReturn

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import ipc

from core import settings
from core.data.tabular import rows
from core.data.tabular.columns import Column, ColumnKind, column_of
from core.data.tabular.uploads import TOO_MUCH_MEMORY, Upload, UploadError, parse

with contextlib.suppress(ImportError):  # Windows has none: only the other limits hold there
    import resource

_LOG = logging.getLogger(__name__)
_ROOT = Path(__file__).resolve().parents[3]
_COMMAND = (sys.executable, "-m", __name__)
_READY = b"ready\n"
_WORD: Final = 8  # bytes
_POLL = 0.1  # seconds between looks at the clock and at `cancelled`
_START = 60.0  # seconds that a process may take until it can read, on a machine that is busy
#: What a process needs to start. Keys of services are left out: they never come near a file.
_ENVIRONMENT = (
    *("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"),
)
#: One thread, whose stack counts as memory, and Arrow's memory given back when it is free.
_FRUGAL = {"OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
_AT_ONCE = threading.BoundedSemaphore(2)  # so many files are read at once; the others wait


@dataclass(frozen=True)
class Limits:
    """What reading a file may take.

    Attributes
    ----------
    memory : int
        Bytes beyond the 110 MB of a process that has read nothing, some 20 of which may be free
        there already. Held on Linux, where the system limits memory reliably.
    seconds : float
        Of a processor, from the moment on which the process can read; rounded up to whole ones. A
        busy machine takes none of them away. Held where the system limits processor time; Windows
        does not.
    wall : float
        Seconds on the clock from that moment: a process that hangs takes no processor, and one of
        two places to read in. Six times as long, so that a file that needs all its seconds is read
        on a machine that gives it a sixth of a core; nobody should wait longer for a refusal.
    answer : int
        Bytes of the table that comes back.
    """

    memory: int = 850_000_000
    seconds: float = 10.0
    wall: float = 60.0
    answer: int = 300_000_000


LIMITS = Limits()


def _never() -> bool:
    return False


def parse_isolated(
    content: bytes, name: str, *, cancelled: Callable[[], bool] = _never, limits: Limits = LIMITS
) -> Upload:
    """Read a file as `core.data.tabular.uploads.parse` does, in a process of its own.

    Parameters
    ----------
    content, name : bytes, str
        As of `parse`.
    cancelled : callable
        Asked ten times a second whether to stop. What it raises stops the reading, too.
    limits : Limits

    Raises
    ------
    UploadError
        As of `parse`; also when a limit is exceeded, the process dies, or somebody stops it.
    """
    if not content or len(content) > rows.MAX_BYTES:
        return parse(content, name)  # raises, having looked at nothing else
    with _turn(cancelled):
        process = _take()
        said = _Said()
        exchange = threading.Thread(
            target=_exchange, args=(process, content, name, limits, said), daemon=True
        )
        exchange.start()
        try:
            _wait(said, cancelled, limits)
        finally:
            process.kill()
            process.wait()  # its end of the pipes is closed now, which ends the thread
            exchange.join()
            _close(process)
    return _upload(said, limits, process.returncode)


def prepare() -> None:
    """Start the process that the readers of files are copies of, unless it is there.

    It costs 110 MB. Elsewhere than on Linux nothing is prepared, since a process cannot fork there,
    or not safely.
    """
    global _prepared
    with _LOCK:
        if sys.platform == "linux" and (_prepared is None or _prepared.has_ended):
            _prepared = _Prepared()


# ------------------------------------------------------------------- the process that asks

_LOCK = threading.Lock()
_prepared: _Prepared | None = None


class _Copy:
    """A process that reads one file: what `_exchange` and `_wait` need of a `Popen`.

    Parameters
    ----------
    asked : socket
        Where the prepared process is asked for a copy of itself.

    Raises
    ------
    OSError
        When that has ended.
    """

    def __init__(self, asked: socket.socket) -> None:
        self.returncode: int | None = None
        given, to_it = os.pipe()
        from_it, answer = os.pipe()
        self.stdin: IO[bytes] = os.fdopen(to_it, "wb")
        self.stdout: IO[bytes] = os.fdopen(from_it, "rb")
        self._end, its_end = socket.socketpair()
        self._end.settimeout(_START)
        try:
            socket.send_fds(asked, [_COPY], [given, answer, its_end.fileno()])
        except OSError:
            _close(self)
            self._end.close()
            raise
        finally:
            os.close(given)
            os.close(answer)
            its_end.close()

    def kill(self) -> None:
        """Have the process ended by the one that it is a copy of."""
        with contextlib.suppress(OSError):
            self._end.shutdown(socket.SHUT_WR)

    def wait(self) -> None:
        """Wait until it has ended, and learn how."""
        with contextlib.suppress(OSError), self._end:
            if status := self._end.recv(_STATUS.size):
                (self.returncode,) = _STATUS.unpack(status)


class _Prepared:
    """The process that has imported everything, and is copied for every file."""

    def __init__(self) -> None:
        self._asked, its_end = socket.socketpair()
        self._is_ready = False
        with its_end:
            self.process = _start(its_end.fileno())

    @property
    def has_ended(self) -> bool:
        """Whether there will be no more copies."""
        return self.process.poll() is not None

    def copy(self) -> _Copy | None:
        """Return a copy; None where it is still importing, or has ended."""
        try:
            if not self._is_ready:
                self._is_ready = self._asked.recv(1, socket.MSG_DONTWAIT) == _COPY
            return _Copy(self._asked) if self._is_ready else None
        except OSError:
            return None

    def end(self) -> None:
        """End it; what it has been copied for ends as well."""
        self._asked.close()
        self.process.kill()
        self.process.wait()


_Reader = subprocess.Popen[bytes] | _Copy
_COPY: Final = b"+"  # asks for one; and says that there can be one
_STATUS: Final = struct.Struct("i")  # how a copy ended: as of `Popen.returncode`


@dataclass
class _Said:
    """What a process has said so far."""

    began: float | None = None  # when it was ready, of the monotonic clock
    head: dict[str, Any] = field(default_factory=dict)  # the first line of its answer
    is_too_long: bool = False  # the answer
    upload: Upload | None = None
    done: threading.Event = field(default_factory=threading.Event)


def _start(asked: int | None = None) -> subprocess.Popen[bytes]:
    """Start a process that waits for a file; it ends by itself when this process does.

    Parameters
    ----------
    asked : int, optional
        The end of a socket, to wait there to be copied instead.
    """
    environment = settings.only(_ENVIRONMENT)
    pipe = subprocess.PIPE if asked is None else subprocess.DEVNULL
    try:
        return subprocess.Popen(
            _COMMAND if asked is None else (*_COMMAND, str(asked)),
            pass_fds=() if asked is None else (asked,),
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            cwd=_ROOT,
            env=environment | _FRUGAL,
            start_new_session=True,  # Ctrl-C in the server's terminal is not for it
        )
    except OSError as error:
        raise UploadError(
            "The file was not read, because the system allows no further process; free some "
            "memory and upload the file again."
        ) from error


def _take() -> _Reader:
    """Return a process that waits for a file: a copy of the prepared one, if that is ready."""
    with _LOCK:
        copy = None if _prepared is None else _prepared.copy()
    return copy or _start()


@atexit.register
def _drop() -> None:
    global _prepared
    with _LOCK:
        prepared, _prepared = _prepared, None
    if prepared is not None:
        prepared.end()


def _close(process: _Reader) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):  # bytes that nobody will read any more
                pipe.close()


@contextlib.contextmanager
def _turn(cancelled: Callable[[], bool]) -> Iterator[None]:
    """Wait until fewer files are being read: each may take as much memory as `LIMITS` allows."""
    while not _AT_ONCE.acquire(timeout=_POLL):
        _check(cancelled)
    try:
        yield
    finally:
        _AT_ONCE.release()


def _check(cancelled: Callable[[], bool]) -> None:
    if cancelled():
        raise UploadError("Reading the file was stopped; upload it again.")


def _exchange(process: _Reader, content: bytes, name: str, limits: Limits, said: _Said) -> None:
    """Give a process its file and take its answer; it is killed from outside."""
    assert process.stdin is not None and process.stdout is not None
    task = {"name": name, "size": len(content), **asdict(limits)}
    try:
        if process.stdout.readline(len(_READY)) == _READY:
            said.began = time.monotonic()
            with contextlib.suppress(OSError):  # it has ended, and may have said why
                process.stdin.write(json.dumps(task).encode() + b"\n")
                process.stdin.write(content)
                process.stdin.flush()
            sha256 = hashlib.sha256(content).hexdigest()
            answer = process.stdout.read(limits.answer + 1)
            said.is_too_long = len(answer) > limits.answer
            if not said.is_too_long:
                # Here, and not in the thread that asks, which may be that of a page.
                _hear(answer, name, sha256, said)
    except (OSError, ValueError, LookupError, TypeError):
        _LOG.debug("The process that reads a file has gone, or not answered.", exc_info=True)
    finally:
        said.done.set()


def _wait(said: _Said, cancelled: Callable[[], bool], limits: Limits) -> None:
    """Wait for the answer, and not too long."""
    started = time.monotonic()
    while not said.done.wait(_POLL):
        _check(cancelled)
        now = time.monotonic()
        if said.began is None:
            if now - started > _START:
                raise UploadError(
                    "The file was not read, because the machine is too busy; upload it again later."
                )
        elif now - said.began > limits.wall:
            raise UploadError(
                f"The file was not read within {limits.wall:g} seconds, because the machine is "
                "too busy; upload it again later, or leave out columns or rows that are not needed."
            )


def _upload(said: _Said, limits: Limits, status: int | None) -> Upload:
    """Return what a process has answered; raise what it could not do."""
    if said.is_too_long:
        raise UploadError(TOO_MUCH_MEMORY)
    if refused := said.head.get("refused"):
        raise UploadError(refused)
    if failed := said.head.get("failed"):
        _LOG.error("A file could not be read: %s", failed)
        raise UploadError(
            "The file cannot be read because of an error in this program; save it again, as "
            "plain CSV in UTF-8."
        )
    if said.upload is None:
        if status == -getattr(signal, "SIGXCPU", 0):
            raise UploadError(
                f"Reading the file takes more than {limits.seconds:g} seconds of a processor; "
                "leave out columns or rows that are not needed."
            )
        _LOG.warning("The process that read a file ended with status %s.", status)
        raise UploadError(
            "Reading the file crashed; it may be damaged or too large. Save it again, as plain "
            "CSV in UTF-8."
        )
    return said.upload


def _hear(answer: bytes, name: str, sha256: str, said: _Said) -> None:
    """Read what a process has answered; there is no upload in what it did not finish."""
    end = answer.find(b"\n") + 1 or len(answer)
    said.head = head = json.loads(answer[:end] or b"{}")
    if "headings" in head:
        body = memoryview(answer)[end:]  # it is large
        table, lines, columns = _unpack(body, head["headings"], head["columns"])
        notes = tuple(head["notes"])
        said.upload = Upload(name, sha256, head["kind"], table, lines, notes, columns)


def _unpack(
    body: memoryview, headings: list[str], about: list[dict[str, Any]]
) -> tuple[pd.DataFrame, NDArray[np.int64], dict[str, Column]]:
    """Return the table, its lines and its columns, as `_answer` packed them."""
    packed = pa.BufferReader(pa.py_buffer(body))
    *all_codes, lines = _next(packed).columns
    columns = {}
    whole = {}
    for at, (heading, codes, one) in enumerate(zip(headings, all_codes, about, strict=True)):
        facts = _next(packed)
        distinct = _whole(facts["text"])
        columns[heading] = Column(
            codes=codes.to_numpy(),
            distinct=distinct,
            values=facts["value"].to_numpy(),
            cells=facts["cell"].to_numpy(),
            kind=ColumnKind(one["kind"]),
            doubtful=one["doubtful"],
            unread=tuple((code, number) for code, number in one["unread"]),
            unread_words=one["unread_words"],
            ranks=facts["rank"].to_numpy() if "rank" in facts.column_names else None,
        )
        # Where no text stands twice, these are the rows.
        repeats = len(distinct) < len(codes)
        whole[at] = rows.as_strings(distinct.take(_whole(codes)) if repeats else distinct)
    table = pd.DataFrame(whole)
    table.columns = pd.Index(headings)
    return table, np.array(lines.to_numpy(), np.int64), columns


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as it lies in the answer: combining one chunk would copy it."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _next(packed: pa.BufferReader) -> pa.Table:
    table = ipc.open_stream(packed).read_all()
    table.validate(full=True)
    return table


# ----------------------------------------------------------------- the process that reads


def _copies(asked: socket.socket) -> None:
    """Fork for every file, and end each copy when whoever asked for it says so, or ends."""
    copies: dict[socket.socket, int] = {}
    gc.freeze()  # what is here stays one, as long as no copy changes it
    asked.send(_COPY)
    while True:
        for end in select.select([asked, *copies], [], [])[0]:
            if end is not asked:
                copy = copies.pop(end)
                os.kill(copy, signal.SIGKILL)
                status = os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1])
                with contextlib.suppress(OSError), end:  # nobody may want to know any more
                    end.send(_STATUS.pack(status))
                continue
            said, files, *_ = socket.recv_fds(asked, len(_COPY), 3)
            if not said:  # whoever started this process has ended
                for copy in copies.values():
                    os.kill(copy, signal.SIGKILL)
                return
            end = socket.socket(fileno=files[2])
            try:
                copy = os.fork()
            except OSError:  # no memory: its pipes end without a word
                end.close()
            else:
                if copy == 0:
                    for other in (asked, end, *copies):
                        other.close()
                    _read_one(os.fdopen(files[0], "rb"), os.fdopen(files[1], "wb"))
                copies[end] = copy
            os.close(files[0])
            os.close(files[1])


def _read_one(given: IO[bytes], answer: IO[bytes]) -> NoReturn:
    """Read the one file that is given, and end."""
    try:
        _serve(given, answer)
        answer.flush()
    finally:
        # Not the ordinary way out: what a damaged file left behind need not be tidied up.
        os._exit(0)


def _serve(given: IO[bytes], answer: IO[bytes]) -> None:
    """Read the one file that is given, and answer with its table or with what is wrong."""
    answer.write(_READY)
    answer.flush()
    task = given.readline()
    if not task:
        return  # whoever started this process has ended
    found = json.loads(task)
    limits = Limits(**{name: found[name] for name in Limits.__dataclass_fields__})
    try:
        _restrict(limits)
        upload = parse(given.read(found["size"]), found["name"])
        _answer(upload, answer)
    except UploadError as error:
        _say(answer, refused=str(error))
    except MemoryError:
        _say(answer, refused=TOO_MUCH_MEMORY)
    except Exception:
        _say(answer, failed=traceback.format_exc())


def _restrict(limits: Limits) -> None:
    """Have the system limit this process; the process that asks watches the clock on the wall."""
    if "resource" not in globals():
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no copy of a person's data on the disk
    # Whole seconds, and 0 would be none: the last one is begun.
    _lower(resource.RLIMIT_CPU, max(math.ceil(time.process_time() + limits.seconds), 1))
    with contextlib.suppress(OSError):  # elsewhere than on Linux
        said = Path("/proc/self/statm").read_text(encoding="ascii").split()
        pages, data = (int(number) * resource.getpagesize() for number in (said[0], said[5]))
        _lower(resource.RLIMIT_AS, pages + limits.memory)
        # A copy can fill what threads of the process before it had reserved and left: 64 MB that
        # count as used among the addresses, but not as data.
        _lower(resource.RLIMIT_DATA, data + limits.memory)


def _lower(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    lowest = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (lowest, hard))


def _answer(upload: Upload, answer: IO[bytes]) -> None:
    """Hand over the table by the distinct cells of its columns, and what these say."""
    columns = [column_of(upload, name) for name in upload.table.columns]
    about = [
        {
            "kind": column.kind,
            "doubtful": column.doubtful,
            "unread": column.unread,
            "unread_words": column.unread_words,
        }
        for column in columns
    ]
    headings = list(upload.table.columns)
    _say(answer, kind=upload.kind, notes=upload.notes, headings=headings, columns=about)
    codes = {str(at): column.codes for at, column in enumerate(columns)}
    _pack({**codes, "lines": upload.lines}, answer)
    for column in columns:
        facts = {"text": column.distinct, "value": column.values, "cell": column.cells}
        _pack(facts if column.ranks is None else {**facts, "rank": column.ranks}, answer)
    answer.flush()


def _pack(columns: Mapping[str, Any], answer: IO[bytes]) -> None:
    table = pa.table({name: pa.array(column) for name, column in columns.items()})
    with ipc.new_stream(answer, table.schema) as stream:
        stream.write_table(table)


def _say(answer: IO[bytes], **what: object) -> None:
    line = json.dumps(what).encode()
    # Arrow's numbers after it are used where they lie, so they begin at whole words.
    answer.write(line + b" " * (-(len(line) + 1) % _WORD) + b"\n")
    answer.flush()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _copies(socket.socket(fileno=int(sys.argv[1])))
    else:
        # Whatever a library prints must not come between the answer.
        _out = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        _read_one(sys.stdin.buffer, _out)
