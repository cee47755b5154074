"""Asking a service patiently, within a budget and a time, and no more at once than it bears.

`Resilient` stands directly around a back end: each of its calls is one request. It tries
again what is worth another try, counts what is paid, and stops at the budget. `Together`
stands outermost: it cuts a call into requests and makes them at the same time. Between the
two, `cached.Cached` keeps what was answered.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    wait_exponential,
    wait_random,
)
from tenacity.stop import stop_base

from core.language_models.base import (
    BudgetError,
    Capabilities,
    LanguageModel,
    Meter,
    Response,
    SilentError,
    SmallerRequestsError,
    TemporaryError,
    UnreachableError,
)
from core.language_models.stopping import Stop, patience
from core.language_models.together import AT_ONCE, at_once
from core.language_models.wrapper import Wrapper

T = TypeVar("T")

TRIES = 6
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0  # seconds
LONGEST_SILENCE = 90.0  # after which a server that says nothing is given up
LONGEST_WISH = 60.0  # of a Retry-After; a server that asks for more is not waited for at all
LONGEST_CALL = 180.0  # for all tries and the waits between them; not for waiting in line

USED_UP = (
    "The budget of {most:,} calls is used up. Answers received so far are saved; raise the budget "
    "to go on from there."
)


class Budget:
    """How many requests a person has allowed; shared by all that is done for one purpose.

    Parameters
    ----------
    most : int or None
        None allows any number.
    wholes : sequence of Budget
        What this is a part of: all must allow a request, and all count it.
    used_up : str
        The sentence at the end, with ``{most}`` in it.

    Attributes
    ----------
    stop : Stop
        Set by `close`, also of a whole: it ends what was allowed and is still under way.
    """

    def __init__(
        self, most: int | None = None, wholes: Sequence[Budget] = (), *, used_up: str = USED_UP
    ) -> None:
        self.most = most
        self.stop: Stop = Stop([whole.stop for whole in wholes])
        self._wholes = tuple(wholes)
        self._used_up = used_up
        self._used = 0
        self._lock = threading.Lock()

    def part(self, *others: Budget) -> Budget:
        """Return a budget that can be closed by itself, and counts here and in others as well."""
        return Budget(wholes=(self, *others))

    def close(self) -> None:
        """Allow no more requests, and leave those under way: who cancels pays no more."""
        self.stop.set()

    @property
    def used(self) -> int:
        """How many requests have been made, those that failed included."""
        return self._used

    @property
    def left(self) -> int | None:
        """How many requests may still be made; None where any number may."""
        return None if self.most is None else max(self.most - self._used, 0)

    def take(self) -> None:
        """Count one request.

        Raises
        ------
        BudgetError
            When none is left, or it is closed (`StoppedError`); nothing has been asked then.
        """
        with self._lock:
            self.stop.check()
            if self.most is not None and self._used >= self.most:
                raise BudgetError(self._used_up.format(most=self.most))
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


class Resilient(Wrapper):
    """Tries again after faults that pass, with jittered back-off, as the service asks.

    Parameters
    ----------
    budget : Budget, optional
        What stops it; every try counts, for a service may charge for it.
    at_once : int
        How many requests may be under way at the same time.
    wait : callable
        Sleeps for some seconds; may raise to stop. By default until the budget is closed.
    """

    def __init__(
        self,
        inner: LanguageModel,
        budget: Budget | None = None,
        *,
        at_once: int = AT_ONCE,
        wait: Callable[[float], None] | None = None,
    ) -> None:
        super().__init__(inner)
        self.budget = budget or Budget()
        self._meter = Meter()
        self._places = threading.BoundedSemaphore(at_once)
        self._wait = wait or self.budget.stop.wait

    @property
    def meter(self) -> Meter:
        """What was used through this object alone, tries that brought no reply included."""
        return self._meter

    @property
    def revision(self) -> str:  # type: ignore[override]
        """The revision, which may take a question to the service; tried again if need be."""
        return self._tried(lambda clock: self._in_time(clock, lambda: self.inner.revision))

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        """The abilities, which may take a probe of the service; tried again if need be."""
        return self._tried(lambda clock: self._in_time(clock, lambda: self.inner.capabilities))

    def sample(
        self,
        prompt: str,
        count: int,
        *,
        temperature: float = 1.0,
        seed: int = 0,
        first: int = 0,
    ) -> list[Response]:
        """Draw responses by one request, tried again if need be."""
        return self._patiently(
            partial(
                self.inner.sample, prompt, count, temperature=temperature, seed=seed, first=first
            )
        )

    def log_likelihoods(
        self, prompts: Sequence[str], answers: Sequence[str]
    ) -> NDArray[np.float64]:
        """Score answers by one request, tried again if need be."""
        return self._patiently(partial(self.inner.log_likelihoods, prompts, answers))

    def next_token(self, prompt: str) -> dict[str, float]:
        """Return the likeliest next tokens by one request, tried again if need be."""
        return self._patiently(partial(self.inner.next_token, prompt))

    def _patiently(self, request: Callable[[], T]) -> T:
        return self._tried(partial(self._once, request))

    def _tried(self, request: Callable[[_Clock], T]) -> T:
        clock = _Clock()
        retrying = Retrying(
            retry=retry_if_exception_type(TemporaryError),
            stop=_GivesUp(clock),
            wait=_as_asked,
            sleep=self._wait,
            reraise=True,
        )
        try:
            return retrying(request, clock)
        except TemporaryError as error:
            raise self._given_up(error, retrying.statistics["attempt_number"]) from None

    def _given_up(self, error: TemporaryError, times: int) -> UnreachableError:
        wish = error.retry_after or 0.0
        if wish > LONGEST_WISH:
            return UnreachableError(
                f"{self.name} asks to wait {_duration(wish)}. What was answered before is saved; "
                "try again then."
            )
        last = str(error)
        for ending in ("Try again later.", "Try again in a moment.", "Try again."):
            last = last.removesuffix(ending).strip()
        how_often = "once" if times == 1 else f"{times} times in a row"
        return UnreachableError(
            f"{self.name} failed {how_often}. The last time: {last} What was answered before is "
            "saved; try again later."
        )

    def _once(self, request: Callable[[], T], clock: _Clock) -> T:
        with clock.paused(self.budget.stop.holding(self._places)):
            self.budget.take()
            once = Meter()
            try:
                with self.inner.meter.also(once):
                    return self._in_time(clock, request)
            finally:
                self._meter.add(max(once.requests, 1), once.prompt_tokens, once.response_tokens)

    def _in_time(self, clock: _Clock, request: Callable[[], T]) -> T:
        with patience(self.budget.stop, LONGEST_CALL - clock.seconds):
            return request()


class _Clock:
    """How long a call has taken, without the time that it stood in line behind others."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """The time until now."""
        return time.monotonic() - self._began

    @contextmanager
    def paused(self, line: AbstractContextManager[None]) -> Iterator[None]:
        """Enter `line`, and do not count how long that takes."""
        before = time.monotonic()
        with line:
            self._began += time.monotonic() - before
            yield


# Twice as long each time, and never in step with others that failed at the same moment.
_BACK_OFF = wait_exponential(multiplier=FIRST_WAIT, max=LONGEST_WAIT) + wait_random(0, FIRST_WAIT)


class _GivesUp(stop_base):
    """Whether another try is not worth its wait, which tenacity has worked out by then."""

    def __init__(self, clock: _Clock) -> None:
        self._clock = clock

    def __call__(self, state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        silent = isinstance(error, SilentError) and self._clock.seconds > LONGEST_SILENCE
        late = self._clock.seconds + state.upcoming_sleep > LONGEST_CALL
        tries = state.attempt_number >= TRIES
        return tries or late or silent or (_wish(error) or 0.0) > LONGEST_WISH


def _wish(error: BaseException | None) -> float | None:
    return error.retry_after if isinstance(error, TemporaryError) else None


def _as_asked(state: RetryCallState) -> float:
    """Return how long to wait: what the service asked for, else longer every time."""
    wish = _wish(state.outcome.exception() if state.outcome else None)
    return float(_BACK_OFF(state) if wish is None else max(wish, 0.0))


def _duration(seconds: float) -> str:
    """Return a long time in words, rounded up: who comes back then does not come too early."""
    for unit, length, most in (("minute", 60, 120), ("hour", 3600, 48), ("day", 86_400, 365)):
        if seconds <= most * length:
            return f"{(number := math.ceil(seconds / length))} {unit}{'s' * (number != 1)}"
    return "more than a year"


class Together(Wrapper):
    """Cuts calls into requests as large as the service takes, and makes them at once."""

    def sample(
        self,
        prompt: str,
        count: int,
        *,
        temperature: float = 1.0,
        seed: int = 0,
        first: int = 0,
    ) -> list[Response]:
        """Draw responses, by as many requests as it takes."""

        def draw(start: int, stop: int) -> list[Response]:
            try:
                return self.inner.sample(
                    prompt, stop - start, temperature=temperature, seed=seed, first=start
                )
            except SmallerRequestsError:
                smaller = self.capabilities.candidates_a_call
                if smaller >= stop - start:
                    raise
                return cut(start, stop, smaller)

        def cut(start: int, stop: int, size: int) -> list[Response]:
            parts = at_once(
                [partial(draw, i, min(i + size, stop)) for i in range(start, stop, size)]
            )
            return [response for part in parts for response in part]

        return cut(first, first + count, self.capabilities.candidates_a_call)

    def log_likelihoods(
        self, prompts: Sequence[str], answers: Sequence[str]
    ) -> NDArray[np.float64]:
        """Score answers, by as many requests as it takes."""
        if not prompts or not answers:
            return np.zeros((len(prompts), len(answers)))
        most = self.capabilities.pairs_a_call
        columns = min(len(answers), most)
        rows = max(1, most // columns)
        places = [
            (slice(i, i + rows), slice(j, j + columns))
            for i in range(0, len(prompts), rows)
            for j in range(0, len(answers), columns)
        ]
        blocks = at_once(
            [partial(self.inner.log_likelihoods, prompts[i], answers[j]) for i, j in places]
        )
        result = np.empty((len(prompts), len(answers)))
        for (i, j), block in zip(places, blocks, strict=True):
            result[i, j] = block
        return result
