"""``python -m core``: the studies without a browser."""

import errno
import io
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import TextIO

PARTING = 0.5  # seconds for threads to save what they have after Ctrl-C
FULL = "Standard output cannot be written: {}. Make room on its disk, and run the command again."


def leave(status: int) -> None:
    """End this process, whatever its threads wait for.

    Python would wait for them to the end. A download or a look-up of a name cannot be called
    back, and what is in the database is safe.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is ending already
    until = time.monotonic() + PARTING
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join(max(until - time.monotonic(), 0.0))
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with suppress(OSError):  # nothing can be done, and Python would try again
            stream.flush()
    os._exit(status)


def whole(stream: TextIO) -> TextIO:
    """Return a stream that writes all of a text, or raises `OSError`.

    Python’s own may write a part and say nothing where it is unbuffered (PYTHONUNBUFFERED).
    """
    raw = getattr(stream, "buffer", None)
    if not isinstance(raw, io.RawIOBase):
        return stream
    return io.TextIOWrapper(io.BufferedWriter(raw), stream.encoding, line_buffering=True)


def run() -> None:
    """Run the command line, and end the process after Ctrl-C."""
    try:
        from core.cli import STOPPED, main
        from core.commands.terminal import guard

        if sys.stdout:
            sys.stdout = whole(sys.stdout)
        for stream in filter(None, (sys.stdout, sys.stderr)):
            guard(stream)
        main(prog_name="python -m core")
    except SystemExit as ended:
        if ended.code == STOPPED:
            leave(STOPPED)
        raise
    except KeyboardInterrupt:  # before a command began
        print("Stopped.", file=sys.stderr)
        leave(128 + signal.SIGINT)
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            raise
        print(f"Error: {FULL.format(error.strerror)}", file=sys.stderr)
        leave(1)


if __name__ == "__main__":
    run()
