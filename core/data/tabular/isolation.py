"""A stranger's file, read in a process of its own with limits on its memory and time.

The limits of `core.data.tabular.rows` refuse what is known to explode. What gets past them, also
through an error in a library, ends with the process that reads, and not with the server. A process
reads one file and ends, so that no file can reach the next. Importing pandas and pyarrow takes a
processor a second: `prepare` has one process do that, which reads no file, and forks for each one.
Every fork has its own limits, and no pipes but its own. The fork server of `multiprocessing` does
not serve here: it has the server's environment, and runs the script of the page in every fork.

The file goes to it and the table comes back through pipes, never through the disk. The table
comes as Arrow and JSON, which carry no code.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import json
import logging
import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Final, NoReturn

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import ipc

from core import settings
from core.data.tabular import rows
from core.data.tabular.columns import Column, ColumnKind, column_of
from core.data.tabular.uploads import TOO_MUCH_MEMORY, Upload, UploadError, parse

with contextlib.suppress(ImportError):  # Windows has none: only the other limits hold there
    import resource

_LOG = logging.getLogger(__name__)
#: From where this module is imported, also where it is a part of a larger package.
_ROOT = Path(__file__).resolve().parents[str(__package__).count(".") + 1]
COMMAND = (sys.executable, "-m", __name__)
_READY = b"ready\n"
_WORD: Final = 8  # bytes
_NUMBER: Final = 20  # digits of a process, or of how it ended
_POLL = 0.1  # seconds between looks at the clock and at `cancelled`
START_WITHIN = 60.0  # seconds that a process may take until it can read, on a machine that is busy
#: One thread, whose stack counts as memory, and Arrow's memory given back when it is free.
_FRUGAL = {"OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
#: So many files are read at once, the others wait: each may take as much memory as `LIMITS` allows.
TURNS = threading.BoundedSemaphore(2)
_FACTS = ("kind", "doubtful", "unread", "unread_words")  # of a column
_ARRAYS = ("distinct", "values", "cells", "ranks")  # of its distinct cells


@dataclass(frozen=True)
class Limits:
    """What reading a file may take."""

    # Bytes beyond the 110 MB of a process that has read nothing, some 20 of which may be free there
    # already. Held on Linux, where the system limits memory reliably.
    memory: int = 850_000_000
    # Of a processor, from the moment on which the process can read; rounded up to whole ones. A
    # busy machine takes none of them away. Held where the system limits processor time; Windows
    # does not.
    seconds: float = 10.0
    # Seconds on the clock from that moment: a process that hangs takes no processor, and one of two
    # places to read in. Six times as long, so that a file that needs all its seconds is read on a
    # machine that gives it a sixth of a core; nobody should wait longer for a refusal.
    wall: float = 60.0
    answer: int = 300_000_000  # Bytes of the table that comes back


LIMITS = Limits()


def parse_isolated(
    content: bytes,
    name: str,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    limits: Limits = LIMITS,
) -> Upload:
    """Read a file as `core.data.tabular.uploads.parse` does, in a process of its own.

    `cancelled` is asked ten times a second whether to stop. What it raises stops the reading, too.

    Raises `UploadError` as of `parse`; also when a limit is exceeded, the process dies, or somebody
    stops it.
    """
    if not content or len(content) > rows.MAX_UPLOAD_BYTES:
        return parse(content, name)  # raises, having looked at nothing else
    upload = None
    _wait(lambda: TURNS.acquire(timeout=_POLL), cancelled)
    try:
        with _LOCK:  # a fork of the prepared process, if that is ready
            fork = None if original is None else original.fork()
        process = fork or start()
        assert process.stdin is not None and process.stdout is not None
        pipes = (process.stdin, process.stdout)
        thread = ThreadPoolExecutor(1)
        try:
            ready = thread.submit(process.stdout.readline, len(_READY))
            busy = "because the machine is too busy; upload it again later"
            late = f"The file was not read, {busy}."
            _wait(lambda: bool(wait([ready], _POLL).done), cancelled, START_WITHIN, late)
            if ready.result() == _READY:
                table = thread.submit(_exchange, *pipes, content, name, limits)
                late = (
                    f"The file was not read within {limits.wall:g} seconds, {busy}, or leave out "
                    "columns or rows that are not needed."
                )
                _wait(lambda: bool(wait([table], _POLL).done), cancelled, limits.wall, late)
                upload = table.result()
        finally:
            process.kill()
            process.wait()  # its end of the pipes is closed now, which ends the thread
            thread.shutdown()
            for pipe in pipes:
                with contextlib.suppress(OSError):  # bytes that nobody will read any more
                    pipe.close()
    finally:
        TURNS.release()
    if upload is not None:
        return upload
    if process.returncode == -getattr(signal, "SIGXCPU", 0):
        raise UploadError(
            f"Reading the file takes more than {limits.seconds:g} seconds of a processor; "
            "leave out columns or rows that are not needed."
        )
    _LOG.warning("The process that read a file ended with status %s.", process.returncode)
    raise UploadError(
        "Reading the file crashed; it may be damaged or too large. Save it again, as plain "
        "CSV in UTF-8."
    )


def prepare() -> None:
    """Start the process that the readers of files are forks of, unless it is there.

    It costs 110 MB. Elsewhere than on Linux nothing is prepared, since a process cannot fork there,
    or not safely.
    """
    global original
    with _LOCK:
        if sys.platform == "linux" and (original is None or original.process.poll() is not None):
            original = _ForkServer()


# ------------------------------------------------------------------- the process that asks

_LOCK = threading.Lock()  # one question to the prepared process at a time
original: _ForkServer | None = None  # of which every process that reads is a fork


class _ForkServer:
    """The process that has imported everything; it and its forks end with the other end."""

    def __init__(self) -> None:
        self.socket, its_end = socket.socketpair()
        self.socket.setblocking(False)
        self.is_ready = False
        with its_end:
            self.process = start(its_end.fileno(), "forks")

    def fork(self) -> _Fork | None:
        """Return a fork of it; None where it is still importing, or has ended."""
        with contextlib.suppress(OSError):
            self.is_ready = self.is_ready or self.socket.recv(len(_READY)) == _READY
            return _Fork(self) if self.is_ready else None
        return None

    def ask(self, number: int, *pipes: int) -> int:
        """Return the number of a fork with two pipes, or how the one with a number ended."""
        self.socket.settimeout(START_WITHIN)
        try:
            socket.send_fds(self.socket, [str(number).encode()], pipes)
            return int(self.socket.recv(_NUMBER) or -1)
        except OSError:
            self.process.kill()  # what it may answer later would be taken for another answer
            raise


class _Fork:
    """A fork of the prepared process: what `parse_isolated` needs of a `Popen`."""

    returncode: int | None = None

    def __init__(self, prepared: _ForkServer) -> None:
        (file, to_it), (from_it, answer) = os.pipe(), os.pipe()
        self.stdin, self.stdout = os.fdopen(to_it, "wb"), os.fdopen(from_it, "rb")
        self._prepared = prepared
        try:
            self.pid = prepared.ask(-1, file, answer)
        finally:
            os.close(file)
            os.close(answer)
        if self.pid < 0:
            raise OSError("no further process")

    def kill(self) -> None:
        """End it; nothing else has its number until `wait` has asked how it ended."""
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> None:
        """Learn how it ended, from the process that it is a fork of."""
        with contextlib.suppress(OSError), _LOCK:
            self.returncode = self._prepared.ask(self.pid)


def start(stdin: int = subprocess.PIPE, *options: str) -> subprocess.Popen[bytes]:
    """Start a process that waits for a file; it ends by itself when this process does."""
    try:
        return subprocess.Popen(
            (*COMMAND, *options),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=_ROOT,
            env=settings.without_keys() | _FRUGAL,
            start_new_session=True,  # Ctrl-C in the server's terminal is not for it
        )
    except OSError as error:
        raise UploadError(
            "The file was not read, because the system allows no further process; free some "
            "memory and upload the file again."
        ) from error


def _wait(
    is_so: Callable[[], bool],
    cancelled: Callable[[], bool],
    seconds: float = math.inf,
    late: str = "",
) -> None:
    """Wait until something is so, which takes `_POLL` to find out, and not too long."""
    end = time.monotonic() + seconds
    while not is_so():
        if cancelled():
            raise UploadError("Reading the file was stopped; upload it again.")
        if time.monotonic() > end:
            raise UploadError(late)


def _exchange(
    stdin: IO[bytes], stdout: IO[bytes], content: bytes, name: str, limits: Limits
) -> Upload | None:
    """Send a process its file; return the table of its answer, None where it does not finish it."""
    with contextlib.suppress(OSError):  # it has ended, and may have written why
        task = {"name": name, "size": len(content), **asdict(limits)}
        stdin.write(json.dumps(task).encode() + b"\n")
        stdin.write(content)
        stdin.flush()
    sha256 = hashlib.sha256(content).hexdigest()
    try:
        answer = stdout.read(limits.answer + 1)
        if len(answer) > limits.answer:
            raise UploadError(TOO_MUCH_MEMORY)
        # Here, and not in the thread that asks, which may be that of a page.
        return _upload(answer, name, sha256)
    except UploadError:
        raise
    except (OSError, ValueError, LookupError, TypeError):
        _LOG.debug("The process that reads a file has gone, or not answered.", exc_info=True)
    return None


def _upload(answer: bytes, name: str, sha256: str) -> Upload:
    """Return the upload as `_answer` packed it; raise what a process could not do."""
    end = answer.find(b"\n") + 1 or len(answer)
    head = json.loads(answer[:end] or b"{}")
    if refused := head.get("refused"):
        raise UploadError(refused)
    if failed := head.get("failed"):
        _LOG.error("A file could not be read: %s", failed)
        raise UploadError(
            "The file cannot be read because of an error in this program; save it again, as "
            "plain CSV in UTF-8."
        )
    packed = pa.BufferReader(pa.py_buffer(memoryview(answer)[end:]))  # it is large
    *all_codes, lines = _next(packed).columns
    columns, texts = {}, {}
    for heading, codes, facts in zip(head["headings"], all_codes, head["columns"], strict=True):
        arrays = _next(packed)
        distinct = _whole(arrays["distinct"])
        columns[heading] = Column(
            codes=codes.to_numpy(),
            distinct=distinct,
            **{each: arrays[each].to_numpy() for each in arrays.column_names[1:]},
            **facts
            | {"kind": ColumnKind(facts["kind"]), "unread": tuple(map(tuple, facts["unread"]))},
        )
        # Where no text stands twice, these are the rows.
        repeats = len(distinct) < len(codes)
        texts[heading] = rows.as_strings(distinct.take(_whole(codes)) if repeats else distinct)
    table, numbers = pd.DataFrame(texts), np.array(lines.to_numpy(), np.int64)
    return Upload(name, sha256, head["kind"], table, numbers, tuple(head["notes"]), columns)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as it lies in the answer: combining one chunk would copy it."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _next(packed: pa.BufferReader) -> pa.Table:
    table = ipc.open_stream(packed).read_all()
    table.validate(full=True)
    return table


# ----------------------------------------------------------------- the process that reads


def _fork() -> None:
    """Answer what `_ForkServer.ask` asks; return in every fork, whose ends are pipes."""
    forks: set[int] = set()
    server = socket.socket(fileno=0)
    gc.freeze()  # what is here stays one, as long as no fork changes it
    try:
        server.send(_READY)
        while True:
            request, pipes, *_ = socket.recv_fds(server, _NUMBER, 2)
            if not request:  # whoever started this process has ended
                sys.exit()
            number = int(request)
            if pipes:
                with contextlib.suppress(OSError):  # no memory: the number of no process
                    number = os.fork()
                if number == 0:
                    forks.clear()
                    os.dup2(pipes[0], server.detach())
                    os.dup2(pipes[1], 1)
                for pipe in pipes:
                    os.close(pipe)
                if number == 0:
                    return
                forks.add(number)
            else:
                forks.discard(number)
                number = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
            server.send(str(number).encode())
    finally:
        for fork in forks - {-1}:
            os.kill(fork, signal.SIGKILL)


def _read_one() -> NoReturn:
    """Read the one file of the input, answer with its table or with what is wrong, and end."""
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not come between the answer
    try:
        answer.write(_READY)
        answer.flush()
        if line := sys.stdin.buffer.readline():  # else whoever started this process has ended
            task = json.loads(line)
            name, size = task.pop("name"), task.pop("size")
            _restrict(Limits(**task))
            _answer(parse(sys.stdin.buffer.read(size), name), answer)
    except UploadError as error:
        _say(answer, refused=str(error))
    except MemoryError:
        _say(answer, refused=TOO_MUCH_MEMORY)
    except Exception:
        _say(answer, failed=traceback.format_exc())
    finally:
        # Not the ordinary way out: what a damaged file left behind need not be tidied up.
        os._exit(0)


def _restrict(limits: Limits) -> None:
    """Have the system limit this process; the process that asks watches the clock on the wall."""
    if "resource" not in globals():
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no copy of a person's data on the disk
    # Whole seconds, and 0 would be none: the last one is begun.
    _lower(resource.RLIMIT_CPU, max(math.ceil(time.process_time() + limits.seconds), 1))
    with contextlib.suppress(OSError):  # elsewhere than on Linux
        sizes = Path("/proc/self/statm").read_text(encoding="ascii").split()
        pages, data = (int(sizes[at]) * resource.getpagesize() for at in (0, 5))
        _lower(resource.RLIMIT_AS, pages + limits.memory)
        # A fork can fill what threads of the process before it had reserved and left: 64 MB that
        # count as used among the addresses, but not as data.
        _lower(resource.RLIMIT_DATA, data + limits.memory)


def _lower(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _answer(upload: Upload, answer: IO[bytes]) -> None:
    """Hand over the table by the distinct cells of its columns, and what these say."""
    headings = list(upload.table.columns)
    columns = [column_of(upload, heading) for heading in headings]
    facts = [{name: getattr(column, name) for name in _FACTS} for column in columns]
    _say(answer, kind=upload.kind, notes=upload.notes, headings=headings, columns=facts)
    codes = {str(at): column.codes for at, column in enumerate(columns)}
    _pack({**codes, "lines": upload.lines}, answer)
    for column in columns:
        arrays = {name: getattr(column, name) for name in _ARRAYS}
        _pack({name: array for name, array in arrays.items() if array is not None}, answer)
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
        _fork()
    _read_one()
