"""Jobs: long work beside the page, found again, stopped, and started anew when it failed."""

import threading
from collections import Counter

import pytest

from core.studies.progress import Cancelled
from core.ui import jobs
from core.ui.jobs import Job, Registry

LONG = 30  # seconds: what never happens unless something hangs


@pytest.fixture
def gate():
    """Opened at the end, so that no thread outlives its test."""
    event = threading.Event()
    yield event
    event.set()


def finished(job):
    assert job.wait(LONG)
    return job


def test_a_job_hands_out_its_result():
    job = finished(Job(lambda job: 6 * 7))
    assert (job.result, job.error, job.done, job.cancelled) == (42, None, True, False)


def test_it_runs_beside_whoever_started_it(gate):
    job = Job(lambda job: gate.wait(LONG) and threading.current_thread().name)
    assert not job.done
    assert not job.wait(0)
    assert job.result is None
    gate.set()
    assert finished(job).result != threading.current_thread().name


def test_progress_is_what_it_said_last(gate):
    said = threading.Event()

    def work(job):
        job.progress("Counting", 0.25)
        job.progress("Weighing", 0.5)
        job.partial = "half"
        said.set()
        gate.wait(LONG)
        return "whole"

    job = Job(work)
    assert said.wait(LONG)
    assert (job.stage, job.share, job.partial, job.result) == ("Weighing", 0.5, "half", None)
    gate.set()
    assert finished(job).result == "whole"


def test_a_job_that_has_not_said_anything_has_a_stage(gate):
    job = Job(lambda job: gate.wait(LONG))
    assert job.stage and job.share == 0


def test_cancelling_stops_it_at_its_next_progress_call(gate):
    steps = []

    def work(job):
        job.progress("One", 0.0)
        steps.append(1)
        gate.wait(LONG)
        job.progress("Two", 0.5)
        steps.append(2)

    job = Job(work)
    job.cancel()
    assert not job.cancelled  # not before it has stopped
    gate.set()
    finished(job)
    assert job.cancelled
    assert isinstance(job.error, Cancelled)
    assert job.result is None
    assert 2 not in steps


def test_cancelling_what_is_done_changes_nothing():
    job = finished(Job(lambda job: "done"))
    job.cancel()
    assert (job.result, job.cancelled, job.error) == ("done", False, None)


def test_an_error_is_handed_out_and_not_raised():
    def work(job):
        raise ValueError("a sentence")

    job = finished(Job(work))
    assert isinstance(job.error, ValueError)
    assert str(job.error) == "a sentence"
    assert (job.result, job.cancelled) == (None, False)


# --------------------------------------------------------------------- several who watch


def waiting(gate):
    def work(job):
        gate.wait(LONG)
        job.progress("Done waiting", 0.5)
        return "whole"

    return Job(work)


def test_who_watches_alone_stops_it_by_leaving(gate):
    job = waiting(gate)
    job.watch("one")
    assert not job.leave("one") and job.cancelling
    gate.set()
    assert finished(job).cancelled


def test_nobody_has_to_watch_to_stop_it(gate):
    job = waiting(gate)
    assert not job.leave("one") and job.cancelling


def test_who_leaves_does_not_stop_it_for_others(gate):
    job = waiting(gate)
    for who in ("one", "two", "one"):
        job.watch(who)
    assert job.leave("one") and not job.cancelling
    job.watch("one")  # who left may come back
    assert job.leave("two") and not job.cancelling
    gate.set()
    assert finished(job).result == "whole"


def test_the_last_to_leave_stops_it(gate):
    job = waiting(gate)
    job.watch("one")
    job.watch("two")
    assert job.leave("one") and not job.leave("two") and job.cancelling


@pytest.mark.parametrize(("silent", "watches"), [(4.9, True), (5.1, False)])
def test_who_says_nothing_for_five_seconds_watches_no_more(gate, monkeypatch, silent, watches):
    now = [100.0]
    monkeypatch.setattr(jobs.time, "monotonic", lambda: now[0])
    job = waiting(gate)
    job.watch("closed")
    now[0] += silent
    job.watch("one")
    assert job.leave("one") is watches and job.cancelling is not watches


# ------------------------------------------------------------------------- the registry


@pytest.fixture
def registry():
    return Registry()


def test_who_asks_for_the_same_finds_the_running_job(registry, gate):
    job = registry.start("key", lambda job: gate.wait(LONG))
    assert registry.start("key", lambda job: pytest.fail("started twice")) is job
    assert registry.start("another", lambda job: None) is not job


def test_a_finished_job_is_found_again(registry):
    job = finished(registry.start("key", lambda job: "result"))
    assert registry.start("key", lambda job: "other") is job


@pytest.mark.parametrize("error", [ValueError, Cancelled])
def test_a_job_that_failed_is_started_anew(registry, error):
    def fail(job):
        raise error

    failed = finished(registry.start("key", fail))
    again = finished(registry.start("key", lambda job: "result"))
    assert again is not failed
    assert again.result == "result"
    assert failed.error is not None


def test_a_result_of_none_is_a_result(registry):
    job = finished(registry.start("key", lambda job: None))
    assert registry.start("key", lambda job: "other") is job


def test_many_who_ask_at_once_start_one_job(registry, gate):
    started = Counter()
    barrier = threading.Barrier(8)
    found = []

    def work(job):
        started["job"] += 1
        gate.wait(LONG)

    def ask():
        barrier.wait(LONG)
        found.append(registry.start("key", work))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    gate.set()
    finished(found[0])
    assert len(found) == 8
    assert all(job is found[0] for job in found)
    assert started["job"] == 1


def test_only_so_many_finished_jobs_are_kept(registry, monkeypatch):
    monkeypatch.setattr(jobs, "KEPT", 3)
    first = finished(registry.start(0, lambda job: 0))
    for key in (1, 2):
        finished(registry.start(key, lambda job: None))
    assert registry.start(0, lambda job: "anew") is first  # used just now: not the oldest
    finished(registry.start(3, lambda job: 3))
    assert registry.start(0, lambda job: "anew") is first
    assert finished(registry.start(1, lambda job: "anew")).result == "anew"


def test_running_jobs_are_never_forgotten(registry, monkeypatch, gate):
    monkeypatch.setattr(jobs, "KEPT", 1)
    running = registry.start("long", lambda job: gate.wait(LONG))
    for key in range(5):
        finished(registry.start(key, lambda job: None))
    assert registry.start("long", lambda job: pytest.fail("forgotten")) is running
