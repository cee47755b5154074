"""Asking a service patiently, within a budget, and no more at a time than it bears.

`Resilient` stands directly around a back end: each of its calls is one request. It tries
again what is worth another try, counts what is paid, and stops at the budget. `Together`
stands outermost: it cuts a call into requests and makes them at the same time. Between the
two, `cached.Cached` keeps what was answered.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
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
from core.language_models.together import AT_ONCE, at_once
from core.language_models.wrapper import Wrapper

T = TypeVar("T")

TRIES = 6
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0  # seconds
LONGEST_SILENCE = 90.0  # after which a server that says nothing is given up
LONGEST_WISH = 120.0  # of a Retry-After that is still waited for

USED_UP = (
    "The budget of {most:,} calls is used up. What was answered so far is kept; raise the budget "
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
    """

    def __init__(
        self, most: int | None = None, wholes: Sequence[Budget] = (), *, used_up: str = USED_UP
    ) -> None:
        self.most = most
        self._wholes = tuple(wholes)
        self._used_up = used_up
        self._used = 0
        self._closed = False
        self._lock = threading.Lock()

    def part(self, *others: Budget) -> Budget:
        """Return a budget that can be closed by itself, and counts here and in others as well."""
        return Budget(wholes=(self, *others))

    def close(self) -> None:
        """Allow no more requests: who cancels must not pay for what is still waiting."""
        self._closed = True

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
            When none is left; nothing has been asked then.
        """
        with self._lock:
            if self._closed:
                raise BudgetError("Stopped. What was answered so far is kept.")
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
        Sleeps for some seconds; may raise to stop.
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
        self._wait = wait or time.sleep

    @property
    def meter(self) -> Meter:
        """What was used through this object alone, tries that brought no reply included."""
        return self._meter

    @property
    def revision(self) -> str:  # type: ignore[override]
        """The revision, which may take a question to the service; tried again if need be."""
        return self._tried(lambda: self.inner.revision)

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        """The abilities, which may take a probe of the service; tried again if need be."""
        return self._tried(lambda: self.inner.capabilities)

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

    def _tried(self, request: Callable[[], T]) -> T:
        retrying = Retrying(
            retry=retry_if_exception_type(TemporaryError),
            stop=stop_after_attempt(TRIES) | _SilentForLong(),
            wait=_as_asked,
            sleep=self._wait,
            reraise=True,
        )
        try:
            return retrying(request)
        except TemporaryError as error:
            times = retrying.statistics["attempt_number"]
            last = str(error).removesuffix("Try again later.").removesuffix("Try again.").strip()
            raise UnreachableError(
                f"{self.name} failed {times} times in a row. The last time: {last} What was "
                "answered before is kept; try again later."
            ) from None

    def _once(self, request: Callable[[], T]) -> T:
        with self._places:
            self.budget.take()
            once = Meter()
            try:
                with self.inner.meter.also(once):
                    return request()
            finally:
                self._meter.add(max(once.requests, 1), once.prompt_tokens, once.response_tokens)


# Twice as long each time, and never in step with others that failed at the same moment.
_BACK_OFF = wait_exponential(multiplier=FIRST_WAIT, max=LONGEST_WAIT) + wait_random(0, FIRST_WAIT)


class _SilentForLong(stop_base):
    """Stop where a server has said nothing for so long that nobody waits for six tries."""

    def __call__(self, state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        long = (state.seconds_since_start or 0) > LONGEST_SILENCE
        return isinstance(error, SilentError) and long


def _as_asked(state: RetryCallState) -> float:
    """Return how long to wait: what the service asked for, else longer every time."""
    error = state.outcome.exception() if state.outcome else None
    wish = error.retry_after if isinstance(error, TemporaryError) else None
    return float(_BACK_OFF(state) if wish is None else min(max(wish, 0.0), LONGEST_WISH))


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
