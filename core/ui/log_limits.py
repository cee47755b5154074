"""How much the server writes into its log, whatever its visitors do.

That no key comes into it is the task of each back end: what a library raises ends in
`core.language_models.connections.exchange`.
"""

import logging
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from core.codec import one_line

LONGEST: Final = 4_000  # characters of a message with its traceback: the last frames say most
FRAMES: Final = 15  # of a traceback
#: Of one place of the program in a minute: an error that somebody causes again and again shall
#: leave room for others.
EACH: Final = 10
#: Characters in a minute: 144 MB a day at the very most.
MOST: Final = 100_000
MINUTE: Final = 60.0  # seconds
_NOWHERE: Final = logging.NOTSET - 1  # below the level of every handler


class LogLimits:
    """Makes the records of a log, short, and not too many of them in a minute.

    The clock returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._since = clock()
        self._places: Counter[tuple[str, int]] = Counter()
        self._written = self._left_out = 0

    def __call__(self, *args: Any, **kwargs: Any) -> logging.LogRecord:
        """Make a record; one too many goes nowhere."""
        record = logging.LogRecord(*args, **kwargs)
        try:
            text = record.getMessage()
        except Exception:  # as `logging` does, which says so itself
            return record
        if record.exc_info and record.exc_info[0]:
            record.exc_text = _end("".join(traceback.format_exception(*record.exc_info, -FRAMES)))
        if len(text) > LONGEST:
            record.msg, record.args = one_line(text, LONGEST), ()
        size = min(len(text), LONGEST) + len(record.exc_text or "")
        with self._lock:
            before = self._turn()
            self._places[record.pathname, record.lineno] += 1
            if self._places[record.pathname, record.lineno] > EACH or self._written + size > MOST:
                self._left_out += 1
                record.levelno = _NOWHERE
            else:
                self._written += size
        if before:
            with_number = (
                f"({before:,} messages were left out before this one.) {record.getMessage()}"
            )
            record.msg, record.args = with_number, ()
        return record

    def _turn(self) -> int:
        """Begin another minute if it is time; return how many messages the last one left out."""
        if self._clock() - self._since < MINUTE:
            return 0
        before, self._left_out = self._left_out, 0
        self._since, self._written = self._clock(), 0
        self._places.clear()
        return before


def _end(text: str) -> str:
    return text if len(text) <= LONGEST else f"…{text[-LONGEST:]}"


@contextmanager
def limits() -> Iterator[None]:
    """Limit what this process writes into its log meanwhile, errors of its threads included."""
    before = logging.getLogRecordFactory(), threading.excepthook
    logging.setLogRecordFactory(LogLimits())
    log = logging.getLogger(__name__)

    def log_unforeseen(error: threading.ExceptHookArgs) -> None:
        if error.exc_value is not None and error.exc_type is not SystemExit:
            cause = (error.exc_type, error.exc_value, error.exc_traceback)
            log.error("An error ended a thread.", exc_info=cause)

    threading.excepthook = log_unforeseen
    try:
        yield
    finally:
        logging.setLogRecordFactory(before[0])
        threading.excepthook = before[1]
