"""Who is asking for what right now: two who want the same answer must not both pay for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

LOOK: Final = 0.2  # seconds between two looks at whether whoever waits still wants to


def patiently() -> None:
    """Wait for as long as it takes."""


class Claims:
    """What threads of this process have claimed, each for the length of a ``with`` block.

    All of a claim is granted at once, and whoever holds one asks for no other: nobody can wait
    for somebody who waits for them.
    """

    def __init__(self) -> None:
        self._held: set[Hashable] = set()
        self._released = threading.Condition()

    @contextmanager
    def held(
        self, things: Iterable[Hashable], waiting: Callable[[], None] = patiently
    ) -> Iterator[None]:
        """Wait until nobody else holds any of these, and hold them until the end of the block.

        `waiting` is called several times a second meanwhile, and may raise to wait no more.
        """
        wanted = set(things)
        with self._released:
            while not self._released.wait_for(lambda: self._held.isdisjoint(wanted), LOOK):
                waiting()
            self._held |= wanted
        try:
            yield
        finally:
            with self._released:
                self._held -= wanted
                self._released.notify_all()
