"""Taking turns: which of many runs may compute now, and how many there may be.

A run waits in line for a place. Whoever has one gives it up after a turn, at the next point where
it reports progress, if somebody else waits. Sessions take turns, not runs: who starts ten gets no
more of the machine than who starts one, and who has waited longest since his last turn is next.
So nobody waits for the end of another's long run. Even a turn can last longer than a short run
takes, because a run can only pause between two calls to its model: who comes new has a place of
his own for the first turn, and one session's runs never compute on all the other places.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final

from core.language_models.errors import ModelError

A_TURN: Final = 0.25  # seconds for which a run may compute while others wait
MOST_A_SESSION: Final = 8  # unfinished runs: more than all parts of a page start at once
MOST: Final = 64  # unfinished runs of everybody
LOOK: Final = 0.2  # seconds between two looks at whether who waits still wants to


class BusyError(ModelError):
    """There are too many runs already."""


@dataclass(eq=False)
class Ticket:
    """A run's right to a place: it waits, then computes in turns, then is given back."""

    who: Hashable
    began: float | None = None  # its turn; None while it waits
    is_new: bool = True  # it has had no turn yet
    is_first: bool = False  # it computes on the place for first turns


class Scheduler:
    """Places to compute in, shared fairly by sessions.

    `places`: how many runs compute at the same time.
    `a_turn`: seconds that a run may compute while others wait; infinity for runs that cannot pause.
    `first`: places besides, for runs that have had no turn yet.
    `a_session`: how many of a session's runs compute at the same time; by default on all places.
    """

    def __init__(
        self, places: int, a_turn: float = A_TURN, first: int = 0, a_session: int | None = None
    ) -> None:
        self._places = places
        self._a_session = places if a_session is None else a_session
        self._first = first
        self._a_turn = a_turn
        self._tickets: list[Ticket] = []  # in the order in which they came, or came back
        self._turn_of: dict[Hashable, int] = {}  # the number of each session's last turn
        self._turn = 0
        self._changed = threading.Condition()

    def ticket(self, who: Hashable) -> Ticket:
        """Stand in line for a session.

        Raises `BusyError` when it, or everybody together, has too many runs already.
        """
        with self._changed:
            if sum(ticket.who == who for ticket in self._tickets) >= MOST_A_SESSION:
                raise BusyError(
                    f"{MOST_A_SESSION} of your runs are unfinished, the most that one visitor "
                    "may have. Wait for one or cancel one, then try again."
                )
            if len(self._tickets) >= MOST:
                raise BusyError(
                    f"This server is busy: {MOST} runs are unfinished. Try again in a minute."
                )
            ticket = Ticket(who)
            self._tickets.append(ticket)
            return ticket

    def wait(self, ticket: Ticket, check: Callable[[], None]) -> None:
        """Wait for a place; `check` is called several times a second, and raises to stop."""
        with self._changed:
            while not (in_line := self._has_place(ticket)) and not self._has_first_place(ticket):
                self._changed.wait(LOOK)
                check()
            ticket.is_first, ticket.is_new = not in_line, False
            self._turn += 1
            self._turn_of[ticket.who] = self._turn
            ticket.began = time.monotonic()
            self._changed.notify_all()  # a second place may be free

    def pause(self, ticket: Ticket, check: Callable[[], None]) -> None:
        """Give the place to who waits if this turn is over, and wait for the next."""
        with self._changed:
            began = ticket.began
            others_wait = any(other.began is None for other in self._tickets)
            if began is None or not others_wait or time.monotonic() - began < self._a_turn:
                return
            self._tickets.remove(ticket)
            self._tickets.append(ticket)
            ticket.began = None
            self._changed.notify_all()
        self.wait(ticket, check)

    def give_back(self, ticket: Ticket) -> None:
        """Forget a ticket, and its session with the last one."""
        with self._changed:
            self._tickets.remove(ticket)
            if all(other.who != ticket.who for other in self._tickets):
                self._turn_of.pop(ticket.who, None)
            self._changed.notify_all()

    def before(self, ticket: Ticket) -> int:
        """Return how many turns of others come first; 0 for who computes."""
        with self._changed:
            line = self._line()
            return line.index(ticket) if ticket in line else 0

    def computing(self, ticket: Ticket) -> int | None:
        """Return how many runs compute, for which a ticket waits; None if it computes itself."""
        with self._changed:
            if ticket.began is not None:
                return None
            return self._computing(first=True) + self._computing(first=False)

    def _has_place(self, ticket: Ticket) -> bool:
        at_work = Counter(other.who for other in self._tickets if other.began is not None)
        line = [other for other in self._line() if at_work[other.who] < self._a_session]
        return ticket in line[: max(self._places - self._computing(first=False), 0)]

    def _has_first_place(self, ticket: Ticket) -> bool:
        new = [other for other in self._line() if other.is_new]
        return ticket in new[: max(self._first - self._computing(first=True), 0)]

    def _computing(self, *, first: bool) -> int:
        return sum(t.began is not None and t.is_first is first for t in self._tickets)

    def _line(self) -> list[Ticket]:
        """Return who waits, who is next first: each session's first run, then the second ones."""
        waiting = [ticket for ticket in self._tickets if ticket.began is None]
        runs_before: dict[Hashable, int] = {}
        ranks = []
        for ticket in waiting:
            ranks.append(runs_before.get(ticket.who, 0))
            runs_before[ticket.who] = ranks[-1] + 1
        order = sorted(
            range(len(waiting)), key=lambda i: (ranks[i], self._turn_of.get(waiting[i].who, 0), i)
        )
        return [waiting[i] for i in order]
