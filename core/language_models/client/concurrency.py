"""Calls that do not depend on each other, made at the same time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import TypeVar

T = TypeVar("T")

AT_ONCE = 8  # requests to a service
TICK = 0.2  # seconds between two looks at how far they are


def silent(share: float) -> None:
    """Report nothing."""


def at_once(
    calls: Sequence[Callable[[], T]],
    *,
    workers: int = AT_ONCE,
    tick: Callable[[float], None] = silent,
) -> list[T]:
    """Make calls that are independent of each other, and return their results in order.

    Parameters
    ----------
    workers : int
        How many threads; 1 makes the calls one after the other in the caller's own.
    tick : callable
        Told several times a second what share is done, in [0, 1]. May raise to stop: what has
        not begun is not begun any more, what is under way is left to end by itself. (Where a call
        fails, what is under way is waited for, unless `tick` raises.)

    Raises
    ------
    Exception
        The first that a call or `tick` raises.
    """
    if workers <= 1 or not calls:
        results = []
        for i, call in enumerate(calls):
            tick(i / len(calls))
            results.append(call())
        return results
    pool = ThreadPoolExecutor(min(workers, len(calls)))
    try:
        futures = [pool.submit(call) for call in calls]
        waiting: set[Future[T]] = set(futures)
        while waiting:
            tick(1 - len(waiting) / len(calls))
            done, waiting = wait(waiting, TICK, FIRST_EXCEPTION)
            failed = next((f.exception() for f in done if f.exception()), None)
            if failed is not None:
                pool.shutdown(wait=False, cancel_futures=True)
                waiting = {future for future in waiting if not future.cancelled()}
                # What is under way is paid for: let it end, and be saved, before anybody who
                # tries again asks for it a second time.
                while waiting := wait(waiting, TICK).not_done:
                    tick(1 - len(waiting) / len(calls))
                raise failed
        return [future.result() for future in futures]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
