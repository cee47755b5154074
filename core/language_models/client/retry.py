"""Asking a service patiently, within a budget and a time, and no more at once than it bears.

`RetryingModel` stands directly around a back end, so that each of its calls is one request (see
`stack` for the other layers). It tries again what is worth another try, counts what is paid,
and stops at the budget.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import astuple, replace
from functools import partial
from typing import TypeVar

import tenacity
from tenacity.stop import stop_base

from core.language_models import errors
from core.language_models.client.concurrency import AT_ONCE
from core.language_models.client.wrapper import Wrapper
from core.language_models.language_model import Capabilities, LanguageModel
from core.language_models.stopping import Stop, current_stop, patience
from core.language_models.usage import Budget, Meter

T = TypeVar("T")
TRIES = 6
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0  # seconds
LONGEST_SILENCE = 90.0  # after which a server that says nothing is given up
LONGEST_RETRY_AFTER = 60.0  # of a Retry-After; a server that asks for more is not waited for at all
LOOK_AGAIN = 5.0  # seconds between two looks at a server that loads its model
LONGEST_CALL = 180.0  # for all tries and the waits between them; not for waiting in line
LONGEST_QUEUE = 600.0  # seconds that a request may take behind others
ROOM = 2.0  # times as long as expected
CALM = 100  # replies without a time-out, after which one request more is made at once
KEY_REST = 30.0  # seconds in which a key that was not accepted is not sent again


def tell_nobody(sentence: str) -> None:
    """Tell nobody."""


class RetryingModel(Wrapper):
    """Tries again after faults that pass, with jittered back-off, as the service asks.

    A server that cannot be reached at all, or has another model now, ends every call that is open.
    Once it has not accepted the key, it is asked nothing through this object for `KEY_REST`
    seconds; replies on their way are waited for.

    The budget stops it; every try counts, for a service may charge for it. `at_once` requests may
    be under way at the same time; after a time-out half as many. `wait` sleeps for some seconds,
    and may raise to stop; by default until the budget is closed. `tell` is told in a sentence what
    is waited for, where that takes long.
    """

    def __init__(
        self,
        inner: LanguageModel,
        budget: Budget | None = None,
        *,
        at_once: int = AT_ONCE,
        wait: Callable[[float], None] | None = None,
        tell: Callable[[str], None] = tell_nobody,
    ) -> None:
        super().__init__(inner)
        self.budget = budget or Budget()
        self._meter = Meter()
        self.concurrency = ConcurrencyLimit(at_once)
        self._wait, self._tell = wait, tell
        self._open = _OpenCalls(self.budget.stop)

    @property
    def meter(self) -> Meter:
        """What was used through this object alone, tries that brought no reply included."""
        return self._meter

    @property
    def revision(self) -> str:  # type: ignore[override]
        """The revision, which may take a question to the service; tried again if need be."""
        return self._with_retries(lambda clock: self._in_time(clock, lambda: self.inner.revision))

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        """The abilities, which may take a probe of the service; tried again if need be."""
        return self._with_retries(
            lambda clock: self._in_time(clock, lambda: self.inner.capabilities)
        )

    def probe(self) -> list[str]:
        """Find out anew what the model can do; tried again if need be."""
        return self._with_retries(lambda clock: self._in_time(clock, self.inner.probe))

    def _make(self, request: Callable[[], T], texts: int = 1) -> T:
        return self._with_retries(partial(self._once, request, texts))

    def _with_retries(self, request: Callable[[_Clock], T]) -> T:
        with self._open.join() as stop:
            clock = _Clock(stop)
            retrying = tenacity.Retrying(
                retry=tenacity.retry_if_exception_type(errors.TemporaryError),
                stop=_StopCondition(clock),
                wait=pause,
                sleep=self._wait or stop.wait,
                before_sleep=partial(self._say, clock),
                reraise=True,
            )
            try:
                return retrying(request, clock)
            except errors.TemporaryError as error:
                failure: errors.ModelError = self._unreachable(
                    error, retrying.statistics["attempt_number"]
                )
            except errors.BudgetError as error:
                if clock.fault is None or type(error) is not errors.BudgetError:
                    raise
                failure = errors.BudgetError(f"{error} Before that: {_cause(clock.fault)}")
        raise failure from None

    def _say(self, clock: _Clock, state: tenacity.RetryCallState) -> None:
        clock.fault = _fault(state)
        if isinstance(clock.fault, errors.LoadingError):
            self._tell(
                f"{self.name} is still loading. Believe waits for up to {LONGEST_CALL / 60:.0f} "
                "minutes."
            )

    def _unreachable(self, error: errors.TemporaryError, times: int) -> errors.UnreachableError:
        seconds = error.retry_after or 0.0
        if seconds > LONGEST_RETRY_AFTER:
            return errors.UnreachableError(
                f"{self.name} asks to wait {_duration(seconds)}. Answers received are saved; try "
                "again then."
            )
        how_often = "once" if times == 1 else f"{times} times in a row"
        return errors.UnreachableError(
            f"{self.name} failed {how_often}. The last time: {_cause(error)} Answers received are "
            "saved; try again later."
        )

    def _once(self, request: Callable[[], T], texts: int, clock: _Clock) -> T:
        with clock.pause(clock.stop.holding(self.concurrency)):
            clock.stop.check()
            current_stop().check()  # of one asker among several
            places = self.concurrency.at_once
            refusal, until = self._open.refusal  # a key that one call was refused is refused to all
            if time.monotonic() < until:
                raise errors.NeedsKeyError(str(refusal))
            self.budget.take()
            once = Meter()
            try:
                with (
                    self.inner.meter.also(once),
                    self.inner.meter.gate(_behind_the_first(self.budget.take)),
                ):
                    return self.concurrency.clock(
                        lambda: self._in_time(clock, request, texts), texts
                    )
            except errors.NeedsKeyError as error:
                self._open.refusal = error, time.monotonic() + KEY_REST
                raise
            except errors.SilentError as error:
                if self.concurrency.halve(places):
                    raise errors.CrowdedError(str(error)) from None
                raise
            finally:
                used = once.usage
                self._meter.add(*astuple(replace(used, requests=max(used.requests, 1))))
                self.budget.spend(used)

    def _in_time(self, clock: _Clock, request: Callable[[], T], texts: int = 1) -> T:
        longest = self.concurrency.longest(texts)
        with patience(clock.stop, max(LONGEST_CALL - clock.seconds, longest), longest):
            return request()


def _behind_the_first(take: Callable[[], None]) -> Callable[[], None]:
    """Let the first request of a call pass, which is counted already, and count the others."""
    first = True

    def allow() -> None:
        nonlocal first
        if not first:
            take()
        first = False

    return allow


class _OpenCalls:
    """The calls that are open at the same time: what ends one for good ends all.

    Without that, each would knock again for itself, and count it, until it gives up. The same layer
    in another form, or with another limit of answers, shares it.

    `refusal`: of the key, and until when it is not sent again, by the clock that only goes on.
    """

    def __init__(self, whole: Stop) -> None:
        self.refusal: tuple[errors.NeedsKeyError | None, float] = None, -math.inf
        self._whole, self._stop = whole, Stop([whole])
        self._calls = 0
        self._failure: errors.ModelError | None = None
        self._lock = threading.Lock()

    @contextmanager
    def join(self) -> Iterator[Stop]:
        """Be one of them, and yield what stops it; the first one tries the server anew."""
        with self._lock:
            if not self._calls:
                self._stop, self._failure = Stop([self._whole]), None
            self._calls += 1
            stop = self._stop
        try:
            yield stop
        except (errors.UnreachableError, errors.OtherModelError) as error:
            self._failure = self._failure or error
            stop.set()
            raise
        except errors.StoppedError:
            if self._failure and not self._whole.is_set:
                raise type(self._failure)(str(self._failure)) from None
            raise
        finally:
            with self._lock:
                self._calls -= 1


class _Clock:
    """How long a call has taken, without the time that it stood in line behind others.

    `fault`: its last one, after which it is tried again.
    """

    def __init__(self, stop: Stop) -> None:
        self.stop = stop
        self.fault: BaseException | None = None
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """The time until now."""
        return time.monotonic() - self._began

    def restart(self) -> None:
        """Count from now on."""
        self._began = time.monotonic()

    @contextmanager
    def pause(self, line: AbstractContextManager[None]) -> Iterator[None]:
        """Enter `line`, and do not count how long that takes."""
        before = time.monotonic()
        with line:
            self._began += time.monotonic() - before
            yield


# Twice as long each time, and never in step with others that failed at the same moment.
_BACK_OFF = tenacity.wait_exponential(
    multiplier=FIRST_WAIT, max=LONGEST_WAIT
) + tenacity.wait_random(0, FIRST_WAIT)


class _StopCondition(stop_base):
    """Whether another try is not worth its wait, which tenacity has worked out by then."""

    def __init__(self, clock: _Clock) -> None:
        self._clock = clock
        self._faults = 0

    def __call__(self, state: tenacity.RetryCallState) -> bool:
        error = _fault(state)
        if isinstance(error, errors.CrowdedError):  # nothing is known yet of a slower pace
            self._clock.restart()
            return False
        self._faults += not isinstance(error, errors.LoadingError)
        silent = isinstance(error, errors.SilentError) and self._clock.seconds > LONGEST_SILENCE
        late = self._clock.seconds + state.upcoming_sleep > LONGEST_CALL
        refused = (_retry_after(error) or 0.0) > LONGEST_RETRY_AFTER
        return self._faults >= TRIES or late or silent or refused


def _fault(state: tenacity.RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None


def _cause(error: BaseException) -> str:
    """Return what went wrong, without the advice to try again."""
    words = str(error)
    for ending in ("Try again later.", "Try again in a moment.", "Try again."):
        words = words.removesuffix(ending).strip()
    return words


def _retry_after(error: BaseException | None) -> float | None:
    return error.retry_after if isinstance(error, errors.TemporaryError) else None


def pause(state: tenacity.RetryCallState) -> float:
    """Return how long to wait: what the service asked for, else longer every time."""
    error = _fault(state)
    least = _retry_after(error)
    longest = LOOK_AGAIN if isinstance(error, errors.LoadingError) else math.inf
    return float(min(_BACK_OFF(state), longest) if least is None else max(least, 0.0))


def _duration(seconds: float) -> str:
    """Return a long time in words, rounded up: who comes back then does not come too early."""
    for unit, length, most in (("minute", 60, 120), ("hour", 3600, 48), ("day", 86_400, 365)):
        if seconds <= most * length:
            return f"{(number := math.ceil(seconds / length))} {unit}{'s' * (number != 1)}"
    return "more than a year"


class ConcurrencyLimit:
    """A lock for as many requests `at_once` as a server bears, which may become fewer.

    A server of a desktop answers one request after the other: the eighth of eight that come
    together waits for seven. So after a time-out half as many are made at once, down to one, and a
    request may take as long as the last one did times the queue, and more the more texts it has
    than that: with fewer it may take no less, where they are read together. A server that only
    stood still for a while gets more again, one after `CALM` replies each.
    """

    def __init__(self, at_once: int) -> None:
        self.at_once = self._most = at_once
        self._under_way = self._calm = 0
        self._last = 0.0, 1  # seconds of the last request, alone in the queue, and its texts
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
            self._calm = 0
            if self.at_once == before and self._under_way > 1:  # alone, nobody stood before it
                self.at_once = max(before // 2, 1)
            return self.at_once < before

    def longest(self, texts: int = 1) -> float:
        """Seconds that a request may take in the queue as it is; 0 before the first reply."""
        seconds, before = self._last
        more = max(texts / before, 1.0) * max(self._under_way, 1)
        return min(ROOM * seconds * more, LONGEST_QUEUE)

    def clock(self, request: Callable[[], T], texts: int = 1) -> T:
        """Make a request of so many texts, and note how long it takes."""
        queue, began = max(self._under_way, 1), time.monotonic()
        result = request()
        self._last = (time.monotonic() - began) / queue, max(texts, 1)
        with self._changed:
            self._calm += 1
            if self._calm % CALM == 0 and self.at_once < self._most:
                self.at_once += 1
                self._changed.notify()
        return result
