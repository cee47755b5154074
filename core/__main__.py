"""``python -m core``: the studies without a browser."""

import os
import signal
import sys
import threading
import time

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


def run() -> None:
    """Run the command line, and end the process after Ctrl-C."""
    from core.cli import STOPPED, main
    from core.commands.terminal import guard

    for stream in (sys.stdout, sys.stderr):
        guard(stream)
    try:
        main(prog_name="python -m core")
    except SystemExit as ended:
        if ended.code == STOPPED:
            leave(STOPPED)
        raise


if __name__ == "__main__":
    run()
