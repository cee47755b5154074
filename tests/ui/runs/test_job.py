"""Jobs: long work beside the page, stopped by whoever has it alone, and taking turns."""

import os
import sys
import threading
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from core.language_models.errors import ModelError
from core.studies.inspection.request import InvalidRequestError
from core.studies.progress import Cancelled
from core.ui.runs import job as module
from core.ui.runs.job import Job, orphans
from core.ui.runs.scheduler import Scheduler
from tests.patience import LONG, finished

Page = namedtuple("Page", "is_open")


def test_it_runs_beside_whoever_started_it(gate):
    job = Job(lambda job: gate.wait(LONG) and threading.current_thread().name)
    assert not job.done
    assert not job.wait(0)
    assert job.result is None
    gate.set()
    assert finished(job).result != threading.current_thread().name


@pytest.mark.skipif(sys.platform != "linux", reason="a priority of each thread")
def test_it_computes_behind_pages_and_so_does_what_it_starts():
    def niceness():
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    def work(job):
        with ThreadPoolExecutor(1) as pool:
            return niceness(), pool.submit(niceness).result(LONG)

    mine = niceness()
    assert finished(Job(work)).result == (min(mine + module.BEHIND, 19),) * 2
    assert niceness() == mine


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


@pytest.mark.parametrize(
    ("error", "why", "logged"),
    [
        (ModelError("The model went away."), "The model went away.", False),
        (InvalidRequestError("There is no question."), "There is no question.", False),
        (ValueError("sk-secret"), "An error in the program stopped this run.", True),
    ],
)
def test_why_it_failed_is_said_in_sentences_that_were_meant_for_a_person(
    error, why, logged, caplog
):
    def work(job):
        raise error

    job = finished(Job(work))
    assert (job.why, job.error, job.result, job.cancelled) == (why, error, None, False)
    assert [record.exc_info[1] for record in caplog.records] == [error] * logged


def test_a_job_may_say_how_what_it_waits_for_is_ended(gate):
    def work(job):
        gate.wait(LONG)
        job.progress("Opened", 0.0)

    job = Job(work, on_cancel=gate.set)
    job.cancel()
    assert finished(job).cancelled


# ----------------------------------------------------------------- whose it is


class Visitor:
    """A session as a server knows it."""

    def __init__(self):
        self.is_open = True


ONE, TWO = Visitor(), Visitor()


@pytest.fixture(autouse=True)
def visitors(monkeypatch):
    """Jobs that begin here are `ONE`'s; `change` lets another session run."""
    ONE.is_open = TWO.is_open = True
    current = [ONE]
    monkeypatch.setattr(module, "this_session", lambda: current[0])
    monkeypatch.setattr(module, "owner", lambda: "")
    return lambda visitor: current.__setitem__(0, visitor)


def waiting(gate, **options):
    """A job that waits for the gate, and then says how far it is."""

    def work(job):
        while not gate.wait(0.01):
            job.progress("Waiting", 0.0)
        job.progress("Done waiting", 0.5)
        return "whole"

    return Job(work, **options)


def test_who_has_it_alone_stops_it_by_leaving(gate):
    job = waiting(gate)
    assert not job.leave(ONE) and job.cancelling
    assert finished(job).cancelled


def test_who_leaves_does_not_stop_it_for_others(gate):
    job = waiting(gate)
    job.join(TWO)
    assert job.leave(ONE) and not job.cancelling
    job.join(ONE)  # who left may come back
    assert job.leave(TWO) and not job.cancelling
    gate.set()
    assert finished(job).result == "whole"


def test_the_last_to_leave_stops_it(gate):
    job = waiting(gate)
    job.join(TWO)
    assert job.leave(ONE) and not job.leave(TWO) and job.cancelling


def test_who_has_closed_the_page_does_not_keep_it_from_being_stopped(gate):
    job = waiting(gate)
    job.join(TWO)
    TWO.is_open = False
    assert not job.leave(ONE) and job.cancelling


@pytest.mark.parametrize(
    ("local", "whose", "goes_on"),
    [(False, "bob", False), (False, "alice", True), (True, "bob", True)],
)
def test_nobody_else_keeps_what_one_pays_for_going(gate, monkeypatch, local, whose, goes_on):
    """A stranger who waits for the same goes on without it, and keeps no other's key busy."""
    monkeypatch.setattr(module, "owner", lambda: "alice")
    service = SimpleNamespace(capabilities=SimpleNamespace(local=local))
    job = Job(lambda job: gate.wait(LONG), service, on_cancel=lambda: None)
    monkeypatch.setattr(module, "owner", lambda: whose)
    job.join(TWO)
    assert job.leave(TWO) and not job.cancelling
    job.join(TWO)
    assert job.leave(ONE) is goes_on is not job.cancelling


# ------------------------------------------------------------------ work for nobody


@pytest.mark.parametrize(("whose", "has_address"), [("person 1", False), ("session 1", True)])
def test_what_can_be_found_again_outlives_its_page(gate, monkeypatch, whose, has_address):
    monkeypatch.setattr(module, "owner", lambda: whose)
    monkeypatch.setattr(module, "GONE", 0.0)
    ONE.is_open = False
    job = waiting(gate, has_address=has_address)
    assert not job.wait(0.1)
    gate.set()
    assert finished(job).result == "whole"


@pytest.fixture
def strangers(monkeypatch):
    monkeypatch.setenv("BELIEVE_PUBLIC", "1")


@pytest.mark.parametrize("is_public", [True, False])
def test_a_job_ends_with_a_session_that_cannot_come_back(gate, monkeypatch, is_public):
    monkeypatch.setattr(module, "public", lambda: is_public)
    monkeypatch.setattr(module, "owner", lambda: "person 1" if is_public else "session 1")
    monkeypatch.setattr(module, "GONE", 0.0)
    job = waiting(gate)
    ONE.is_open = False
    assert finished(job).cancelled


def test_a_job_ends_with_the_last_of_its_sessions(gate, strangers, monkeypatch):
    monkeypatch.setattr(module, "GONE", 0.0)
    job = waiting(gate)
    job.join(TWO)
    ONE.is_open = False
    assert not job.wait(0.1)
    TWO.is_open = False
    assert finished(job).cancelled


def test_who_is_only_reconnecting_loses_nothing(strangers, monkeypatch):
    now, looks = [0.0], threading.Semaphore(0)
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])

    def work(job):
        for _ in range(4):
            assert looks.acquire(timeout=LONG)
            job.progress("Looking", 0.0)
            seen.release()
        return "whole"

    seen = threading.Semaphore(0)
    job = Job(work)
    for is_open, passed in ((False, 0.0), (False, 9.9), (True, 0.0), (False, 9.9)):
        ONE.is_open = is_open
        now[0] += passed
        looks.release()
        assert seen.acquire(timeout=LONG)
    assert finished(job).result == "whole"


def test_a_job_in_line_ends_with_its_session(gate, strangers, monkeypatch):
    monkeypatch.setattr(module, "GONE", 0.0)
    monkeypatch.setattr(module, "HERE", Scheduler(1, float("inf")))
    first = waiting(gate)
    second = Job(lambda job: pytest.fail("it began"))
    second.leave(ONE)
    assert finished(second).cancelled
    gate.set()
    finished(first)


# ------------------------------------------------------------------------------ turns


def test_a_job_takes_its_place_in_line(gate, monkeypatch, visitors):
    monkeypatch.setattr(module, "HERE", Scheduler(1, float("inf")))
    first = waiting(gate)
    while not first.stage.startswith("Waiting"):
        first.wait(0.01)
    second = Job(lambda job: "second")
    visitors(TWO)
    third = Job(lambda job: "third")
    assert (first.before, third.before, second.before) == (0, 0, 1)  # TWO has had no turn yet
    gate.set()
    assert [finished(job).result for job in (second, third)] == ["second", "third"]


def test_a_short_job_need_not_wait_for_the_end_of_a_long_one(gate, monkeypatch, visitors):
    monkeypatch.setattr(module, "HERE", Scheduler(1, 0.0))
    long = waiting(gate)
    visitors(TWO)
    assert finished(Job(lambda job: "short")).result == "short"
    assert not long.done
    gate.set()
    assert finished(long).result == "whole"


def test_who_asks_a_service_stands_in_another_line(gate, monkeypatch):
    monkeypatch.setattr(module, "HERE", Scheduler(1, float("inf")))
    waiting(gate)
    service = SimpleNamespace(capabilities=SimpleNamespace(local=False))
    assert finished(Job(lambda job: "asked", service)).result == "asked"


def test_a_failed_job_frees_its_place(monkeypatch):
    monkeypatch.setattr(module, "HERE", Scheduler(1))

    def fail(job):
        raise ValueError

    finished(Job(fail))
    assert finished(Job(lambda job: "next")).result == "next"


def test_a_failed_job_ends_what_its_model_is_still_asked(monkeypatch):
    ends = []
    monkeypatch.setattr(module, "stop", ends.append)
    service = SimpleNamespace(capabilities=SimpleNamespace(local=False))

    def fail(job):
        raise ModelError("The model went away.")

    assert finished(Job(lambda job: "asked", service)).result == "asked" and not ends
    finished(Job(fail, service))
    assert ends == [service]


def test_what_asks_a_service_for_closed_pages_alone_is_told_from_the_rest(gate, monkeypatch):
    def job(is_open, local=False):
        monkeypatch.setattr(module, "this_session", lambda: Page(is_open))
        asks = SimpleNamespace(capabilities=SimpleNamespace(local=local))
        return Job(lambda job: gate.wait(LONG), asks, on_cancel=lambda: None)

    lost, _, _ = job(is_open=False), job(is_open=True), job(is_open=False, local=True)
    assert orphans() == [lost]
    monkeypatch.setattr(module, "owner", lambda: "somebody else")
    assert orphans() == []  # of several people, nobody ends another's
    monkeypatch.setattr(module, "owner", lambda: "")
    lost.cancel()
    assert orphans() == []
