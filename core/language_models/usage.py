"""What a service was asked for, how much of that a person has allowed, and what takes time here."""

from __future__ import annotations

import operator
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from typing import Self

from core.language_models.errors import BudgetError
from core.language_models.stopping import Stop

LIMITED = ("requests", "prompt_tokens", "response_tokens")  # of what is used
CHARACTERS_A_TOKEN = 4  # of English text, roughly; so services count where tokens are not listed


@dataclass(frozen=True)
class Usage:
    """What something has really used of a service."""

    requests: int = 0  # Calls, tries that failed included; 0 where everything was kept from before
    # prompt_tokens, response_tokens: as the service counts them; 0 where it does not say.
    prompt_tokens: int = 0
    response_tokens: int = 0
    unreported: int = 0  # replies that do not say so, where others do

    def __add__(self, other: Usage) -> Self:
        return type(self)(*map(operator.add, astuple(self), astuple(other)))

    def __sub__(self, other: Usage) -> Usage:
        """Return what was used since a meter said `other`."""
        return Usage(*map(operator.sub, astuple(self), astuple(other)))


class Meter:
    """What a model has really used since it was opened; back ends add to it."""

    def __init__(self) -> None:
        self.usage = Usage()  # what it says now
        self._lock, self._too = threading.Lock(), threading.local()

    @property
    def requests(self) -> int:
        """How many requests reached the service and came back, well or badly."""
        return self.usage.requests

    @contextmanager
    def also(self, other: Meter) -> Iterator[None]:
        """Count in another meter as well whatever this thread adds to this one meanwhile.

        So one run's use is told from another's, though both ask the same model at once.
        """
        self._too.meter = other
        try:
            yield
        finally:
            self._too.meter = None

    @contextmanager
    def gate(self, take: Callable[[], None]) -> Iterator[None]:
        """Let `take` allow every request that this thread begins meanwhile; it may raise.

        So what a back end asks of its own accord is counted before it is asked.
        """
        self._too.take = take
        try:
            yield
        finally:
            self._too.take = None

    def begin(self) -> None:
        """Hear that a request is about to be made; raise `BudgetError` if it may not be."""
        take: Callable[[], None] | None = getattr(self._too, "take", None)
        if take:
            take()

    def add(self, *used: int, **by_name: int) -> None:
        """Count what one request used, as `Usage` has it; calls come from several threads."""
        with self._lock:
            self.usage += Usage(*used, **by_name)
        other: Meter | None = getattr(self._too, "meter", None)
        if other:
            other.add(*used, **by_name)


LEAST_A_PASS = 12  # tokens: a pass over fewer takes as long, for it reads all weights


@dataclass
class Speed:
    """How fast a model computes on this machine; back ends measure every pass."""

    tokens: int = 0  # Computed so far; at least `LEAST_A_PASS` a pass
    seconds: float = 0.0  # what they took

    @contextmanager
    def passing(self, tokens: int) -> Iterator[None]:
        """Measure one pass over so many tokens."""
        started = time.perf_counter()
        yield
        self.tokens += max(tokens, LEAST_A_PASS)
        self.seconds += time.perf_counter() - started

    def lasts(self, tokens: int) -> float | None:
        """Return how many seconds so many tokens take; None before the first pass."""
        return tokens * self.seconds / self.tokens if self.tokens else None


USED_UP = (
    "The budget of {most:,} calls is used up. Answers received so far are saved; raise the "
    "budget to continue."
)


STATED = (
    "The run has taken the calls or tokens that were stated at most. Answers received so far are "
    "saved, and not paid for again: ask again to continue."
)


class Budget:
    """How many requests a person has allowed; shared by all that is done for one purpose.

    `most` is None for any number. It is a part of its `wholes`: all must allow a request, and all
    count it. `used_up` is the sentence at the end, with ``{most}`` in it. `stop` is set by `close`,
    also of a whole: it ends what was allowed and is still under way.
    """

    def __init__(
        self, most: int | None = None, wholes: Sequence[Budget] = (), *, used_up: str = USED_UP
    ) -> None:
        self.most = most
        self.stop: Stop = Stop([whole.stop for whole in wholes])
        self._wholes = tuple(wholes)
        self._used_up = used_up
        self._used = 0
        self._tokens = Usage()
        self._most: Usage | None = None
        self._lock = threading.Lock()

    def part(self, *others: Budget) -> Budget:
        """Return a budget that can be closed by itself, and counts here and in others as well."""
        return Budget(wholes=(self, *others))

    def close(self) -> None:
        """Allow no more requests, and leave those under way: who cancels pays no more."""
        self.stop.set()

    @property
    def requests(self) -> int:
        """How many requests have been made, those that failed included."""
        return self._used

    @property
    def remainder(self) -> int | None:
        """How many requests may still be made; None where any number may."""
        return None if self.most is None else max(self.most - self._used, 0)

    def limit(self, most: Usage) -> None:
        """Allow what was stated of a run, in calls and in tokens, from now on and no more."""
        with self._lock:
            self._most = self._tokens + replace(most, requests=self._used + most.requests)

    @property
    def run_remainder(self) -> Usage | None:
        """What is left of what was stated of a run; None where nothing was."""
        return self._most and self._most - replace(self._tokens, requests=self._used)

    def spend(self, used: Usage) -> None:
        """Count the tokens of a request."""
        with self._lock:
            self._tokens += replace(used, requests=0)

    def _check_stated(self) -> None:
        if self._most is None:
            return
        now = replace(self._tokens, requests=self._used)
        if any(getattr(now, name) >= getattr(self._most, name) for name in LIMITED):
            raise BudgetError(STATED)

    def take(self) -> None:
        """Count one request.

        Raises `BudgetError` when none is left, or it is closed (`StoppedError`); nothing has been
        asked then.
        """
        with self._lock:
            self.stop.check()
            if self.most is not None and self._used >= self.most:
                raise BudgetError(self._used_up.format(most=self.most))
            self._check_stated()
            self._take_of_wholes()
            self._used += 1

    def _take_of_wholes(self) -> None:
        """Count one request in everything that this is a part of, or in nothing."""
        taken: list[Budget] = []
        try:
            for whole in self._wholes:
                whole.take()
                taken.append(whole)
        except BudgetError:
            for whole in taken:
                whole._give_back()
            raise

    def _give_back(self) -> None:
        with self._lock:
            for whole in self._wholes:
                whole._give_back()
            self._used -= 1
