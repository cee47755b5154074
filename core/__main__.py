"""``python -m core``: the studies without a browser."""

import os
import signal
import sys
import threading
import time
from typing import TextIO

HARMLESS = "\n\t\u200c\u200d"  # the last two join letters and emoji
CLEAR = "\r\033[K"  # before what `evaluate` says of its progress
PARTING = 0.5  # seconds for threads to save what they have after Ctrl-C


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
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def guard_terminal(stream: TextIO) -> None:
    """Let no text of a model move the cursor of a terminal, or hide what stands there.

    What is no sign becomes U+FFFD. A file or a pipe gets all as it is.
    """
    if not stream.isatty():
        return
    write = stream.write

    def write_signs(text: str) -> int:
        own = CLEAR if text.startswith(CLEAR) else ""
        signs = (c if c.isprintable() or c in HARMLESS else "\ufffd" for c in text[len(own) :])
        return write(own + "".join(signs))

    stream.write = write_signs  # type: ignore[method-assign]


def run() -> None:
    """Run the command line, and end the process after Ctrl-C."""
    from core.cli import STOPPED, main

    for stream in (sys.stdout, sys.stderr):
        guard_terminal(stream)
    try:
        main(prog_name="python -m core")
    except SystemExit as ended:
        if ended.code == STOPPED:
            leave(STOPPED)
        raise


if __name__ == "__main__":
    run()
