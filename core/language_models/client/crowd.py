"""How many requests a server bears at once, and how long one may take behind the others.

A server of a desktop answers one request after the other: the eighth of eight that come together
waits for seven. So after a time-out half as many are made at once, down to one, and a request may
take as long as the last one did for itself, times the queue.
"""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

LONGEST_QUEUE = 600.0  # seconds that a request may take behind others
ROOM = 2.0  # times as long as expected


class ConcurrencyLimit:
    """A lock for as many requests `at_once` as a server bears, which may become fewer."""

    def __init__(self, at_once: int) -> None:
        self.at_once = at_once
        self._under_way = 0
        self._each = 0.0  # seconds of the last request, by how many stood in the queue with it
        self._changed = threading.Condition()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Wait for a place for some seconds at most, and say whether it is held now."""
        with self._changed:
            seconds = (None if timeout < 0 else timeout) if blocking else 0.0
            free = self._changed.wait_for(lambda: self._under_way < self.at_once, seconds)
            self._under_way += free
            return free

    def release(self) -> None:
        """Give the place back."""
        with self._changed:
            self._under_way -= 1
            self._changed.notify_all()

    def halve(self, before: int) -> bool:
        """Make half as many at once, unless that was done since there were `before`.

        Returns whether fewer are made now: not below one.
        """
        with self._changed:
            if self.at_once == before and self._under_way > 1:  # alone, nobody stood before it
                self.at_once = max(before // 2, 1)
            return self.at_once < before

    @property
    def longest(self) -> float:
        """Seconds that a request may take in the queue as it is; 0 before the first reply."""
        return min(ROOM * self._each * max(self._under_way, 1), LONGEST_QUEUE)

    def clock(self, request: Callable[[], T]) -> T:
        """Make a request, and note how long it takes."""
        queue, began = max(self._under_way, 1), time.monotonic()
        result = request()
        self._each = (time.monotonic() - began) / queue
        return result
