"""Calls that do not depend on each other, made at the same time."""

import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from itertools import islice
from typing import TypeVar

from core.language_models.language_model import Capabilities

A = TypeVar("A")
T = TypeVar("T")

AT_ONCE = 8  # requests to a service
# Of a service. A question often waits for its slowest reply before it can ask on: so many keep
# a service's places filled, and few enough are begun that little is half done when one stops.
QUESTIONS_AT_ONCE = 4
TICK = 0.2  # seconds between two looks at how far they are


def questions_at_once(able: Capabilities) -> int:
    """Return how many questions a model is best asked at the same time."""
    return able.questions_at_once if able.local else QUESTIONS_AT_ONCE


def silent(share: float) -> None:
    """Report nothing."""


def at_once(
    calls: Sequence[Callable[[], T]],
    *,
    workers: int = AT_ONCE,
    tick: Callable[[float], None] = silent,
) -> list[T]:
    """Make calls that are independent of each other, and return their results in order.

    `tick` is told several times a second what share is done, in [0, 1]; see `stream`. What is under
    way when a call fails is waited for: it is paid for, and whoever tries again finds it saved.

    Raises the first exception that a call or `tick` raises.
    """
    results: dict[int, T] = {}
    for place, result in stream(
        range(len(calls)),
        lambda place, go_on: (place, calls[place]()),
        workers=workers,
        tick=lambda: tick(len(results) / len(calls)),
    ):
        results[place] = result
    return [results[place] for place in range(len(calls))]


class AbandonedError(Exception):
    """Raised into work whose result nobody wants any more."""


def stream(
    items: Iterable[A],
    work: Callable[[A, Callable[[], None]], T],
    *,
    workers: int,
    tick: Callable[[], None],
) -> Generator[T, None, None]:
    """Do work on items, several at a time, and yield each result as soon as it is there.

    Neither items nor results gather: only so many are begun that no worker waits.

    `items`: asked for the next one in the caller's thread only.
    `work`: given an item and a function to call now and then, which raises where nobody wants the
    result any more: `AbandonedError`, or what `tick` raises if there is one worker.
    `workers`: how many threads; 1 works in the caller's own.
    `tick`: called in the caller's thread, with several workers many times a second. May raise to
    stop: what is done is yielded first, what is under way is not waited for.

    Raises the first exception that work raises. No other is begun then; what is under way is
    waited for, and yielded.
    """
    if workers <= 1:
        for item in items:
            tick()
            yield work(item, tick)
        return
    left, failing, stopped = iter(items), threading.Event(), threading.Event()

    def go_on() -> None:
        if stopped.is_set():
            raise AbandonedError

    def begin(item: A) -> T:
        if failing.is_set():
            raise AbandonedError
        try:
            return work(item, go_on)
        except BaseException:
            failing.set()
            raise

    pool = ThreadPoolExecutor(workers)
    under_way: set[Future[T]] = set()
    failure: BaseException | None = None
    try:
        while True:
            if failure is None:  # one more for each worker, who then waits for nobody
                begun = islice(left, 2 * workers - len(under_way))
                # In the caller's context: what stops the caller stops what it asks for.
                under_way |= {pool.submit(copy_context().run, begin, item) for item in begun}
            if not under_way:
                break
            stop: BaseException | None = None
            try:
                tick()
                done, under_way = wait(under_way, TICK, FIRST_COMPLETED)
            except BaseException as raised:
                stop = raised
                done, under_way = wait(under_way, 0)
            for future in done:
                error = future.exception()
                if error is None:
                    yield future.result()
                elif failure is None and not isinstance(error, AbandonedError):
                    failure = error
            if stop is not None:
                raise stop
        if failure is not None:
            raise failure
    finally:
        stopped.set()
        pool.shutdown(wait=False, cancel_futures=True)
