"""Calls made at once: in order, stopped soon, and no more of them than there are workers.

`at_once` is a stream in order: who stops one, and what an error ends, is tried on streams.
"""

import threading
from functools import partial

import pytest

from core.language_models.client.concurrency import AT_ONCE, AbandonedError, at_once, stream
from tests.language_models.threads import pool_threads, wait_for_pools
from tests.patience import LONG


class Stopped(Exception):
    pass


# ------------------------------------------------------------------------------ results


@pytest.mark.parametrize("workers", [0, 1, 2, 8, 100])
@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_results_stand_in_the_order_of_the_calls(workers, count):
    assert at_once([partial(pow, i, 2) for i in range(count)], workers=workers) == [
        i**2 for i in range(count)
    ]


def test_results_stand_in_order_when_calls_end_backwards():
    done = [threading.Event() for _ in range(8)]

    def call(i):
        if i < 7:
            assert done[i + 1].wait(LONG)
        done[i].set()
        return i

    assert at_once([partial(call, i) for i in range(8)], workers=8) == list(range(8))


@pytest.mark.parametrize("workers", [1, 3, 8])
def test_no_more_calls_are_under_way_than_workers(workers):
    lock, under_way, most = threading.Lock(), 0, 0
    together = threading.Barrier(workers)  # that many really are under way at once

    def call():
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        together.wait(LONG)
        with lock:
            under_way -= 1

    at_once([call] * (workers * 5), workers=workers)
    assert most == workers


def test_eight_go_out_at_once_by_default():
    barrier = threading.Barrier(AT_ONCE)
    assert AT_ONCE == 8
    assert sorted(at_once([partial(barrier.wait, LONG)] * 16)) == sorted([*range(8), *range(8)])


def test_no_thread_is_left():
    at_once([partial(int, 1)] * 20)
    wait_for_pools()
    assert not pool_threads()


# ------------------------------------------------------------------------------- errors


def test_a_tick_stops_who_waits_for_what_is_under_way_after_an_error():
    """One call fails and another one hangs: a person can still cancel."""
    failed, release, ticked = threading.Event(), threading.Event(), threading.Event()

    def fails():
        assert ticked.wait(LONG)
        failed.set()
        raise ValueError("soon")

    def tick(share):
        if failed.is_set():
            raise Stopped
        ticked.set()

    try:
        with pytest.raises((Stopped, ValueError)) as caught:
            at_once([partial(release.wait, LONG), fails], tick=tick)
        assert caught.type is Stopped and not release.is_set()
    finally:
        release.set()
    wait_for_pools()


def test_an_error_comes_though_what_never_began_was_called_off():
    release, failed = threading.Event(), threading.Event()

    def fails():
        failed.set()
        raise ValueError("soon")

    def tick(share):
        if failed.is_set():
            release.set()

    calls = [partial(release.wait, LONG), fails, *[partial(release.wait, LONG)] * 20]
    with pytest.raises(ValueError, match="soon"):
        at_once(calls, workers=2, tick=tick)
    wait_for_pools()


def test_an_error_that_is_no_exception_comes_through():
    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        at_once([stop, stop])


# --------------------------------------------------------------------------------- tick


def test_one_after_the_other_every_call_is_preceded_by_a_tick():
    seen = []
    at_once([partial(seen.append, "call")] * 4, workers=1, tick=seen.append)
    assert seen == [0, "call", 0.25, "call", 0.5, "call", 0.75, "call"]


def test_ticks_say_what_share_is_done():
    seen, halfway = [], threading.Event()

    def tick(share):
        seen.append(share)
        if share == 0.5:
            halfway.set()

    calls = [partial(int, 1)] * 2 + [partial(halfway.wait, LONG)] * 2
    assert at_once(calls, tick=tick) == [1, 1, True, True]
    assert seen[0] in (0, 0.25, 0.5) and 0.5 in seen
    assert seen == sorted(seen) and max(seen) < 1


def test_ticks_come_while_nothing_is_done():
    """A person can stop a service that does not answer."""
    release, ticks = threading.Event(), []

    def tick(share):
        ticks.append(share)
        if len(ticks) == 4:
            release.set()

    assert at_once([partial(release.wait, LONG)] * 2, tick=tick) == [True, True]
    assert ticks[:4] == [0, 0, 0, 0]


@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_tick_that_raises_stops_before_the_next_call(after):
    made = []

    def tick(share):
        if len(made) == after:
            raise Stopped

    with pytest.raises(Stopped):
        at_once([partial(made.append, i) for i in range(5)], workers=1, tick=tick)
    assert made == list(range(after))


# ------------------------------------------------------------------------------ streams


def nothing():
    """Tick."""


def doubled(item, go_on):
    go_on()
    return 2 * item


@pytest.mark.parametrize("workers", [1, 3])
def test_a_stream_does_every_item_once(workers):
    found = list(stream(range(50), doubled, workers=workers, tick=nothing))
    assert sorted(found) == [2 * item for item in range(50)]
    assert list(stream([], doubled, workers=workers, tick=nothing)) == []


def test_one_worker_works_in_the_callers_thread_and_ticks_within():
    heard = []
    work = stream([1, 2], doubled, workers=1, tick=lambda: heard.append(threading.get_ident()))
    assert list(work) == [2, 4]
    assert set(heard) == {threading.get_ident()} and len(heard) == 4


@pytest.mark.parametrize("workers", [1, 4])
def test_neither_items_nor_results_gather(workers):
    taken = []

    def items():
        for item in range(200):
            taken.append(item)
            yield item

    results = stream(items(), doubled, workers=workers, tick=nothing)
    for used, _ in enumerate(results, 1):
        assert len(taken) - used <= 2 * workers


def test_results_come_as_they_are_ready():
    gate = threading.Event()

    def work(item, go_on):
        assert item or gate.wait(LONG)
        return item

    found = stream(range(4), work, workers=2, tick=nothing)
    assert {next(found), next(found), next(found)} == {1, 2, 3}  # beside the first
    gate.set()
    assert list(found) == [0]


def test_an_error_lets_what_is_under_way_end_and_begins_nothing_else():
    together, begun = threading.Barrier(3), []

    def work(item, go_on):
        begun.append(item)
        if item < 3:
            together.wait(LONG)
        if item == 1:
            raise ValueError("one")
        return item

    found = []
    with pytest.raises(ValueError, match="one"):
        for result in stream(range(1000), work, workers=3, tick=nothing):
            found.append(result)
    assert {0, 1, 2} <= set(begun) and len(begun) < 1000
    assert sorted(found) == sorted(set(begun) - {1})


@pytest.mark.parametrize("error", [KeyboardInterrupt, Stopped])
def test_who_stops_gets_what_is_done_and_waits_for_nothing(error):
    gate, begun, told = threading.Event(), threading.Semaphore(0), threading.Semaphore(0)
    stopping = []

    def work(item, go_on):
        if item < 2:
            return item
        begun.release()
        assert gate.wait(LONG)
        try:
            go_on()
        except AbandonedError:
            told.release()
            raise

    def tick():
        if stopping:
            raise error

    found = []
    with pytest.raises(error):
        for result in stream(range(100), work, workers=2, tick=tick):
            found.append(result)
            if not stopping:  # both workers are at another item: the first two are done
                assert begun.acquire(timeout=LONG) and begun.acquire(timeout=LONG)
                stopping.append(True)
    assert sorted(found) == [0, 1]
    assert not gate.is_set()
    gate.set()
    assert told.acquire(timeout=LONG) and told.acquire(timeout=LONG)
    wait_for_pools()
    assert not begun.acquire(blocking=False)  # none but the two that were under way


def test_who_takes_no_more_ends_it():
    gate, begun, told = threading.Event(), threading.Semaphore(0), threading.Semaphore(0)

    def work(item, go_on):
        if item:
            begun.release()
            assert gate.wait(LONG)
            try:
                go_on()
            except AbandonedError:
                told.release()
                raise
        return item

    found = stream(range(100), work, workers=2, tick=nothing)
    assert next(found) == 0
    assert begun.acquire(timeout=LONG) and begun.acquire(timeout=LONG)
    found.close()
    gate.set()
    assert told.acquire(timeout=LONG) and told.acquire(timeout=LONG)


def test_items_that_cannot_be_read_end_it():
    def items():
        yield 1
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        list(stream(items(), doubled, workers=2, tick=nothing))
