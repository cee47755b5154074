"""The registry: whoever asks for the same finds the job that is there."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from core.studies.progress import Cancelled
from core.ui.runs import job as job_module
from core.ui.runs import registry as module
from core.ui.runs.registry import Registry
from tests.patience import LONG, finished


@pytest.fixture
def registry():
    return Registry()


def test_who_asks_for_the_same_finds_the_running_job(registry, gate):
    job = registry.start("key", lambda job: gate.wait(LONG))
    assert registry.start("key", lambda job: pytest.fail("started twice")) is job
    assert registry.start("another", lambda job: None) is not job


@pytest.mark.parametrize("result", ["result", None])
def test_a_finished_job_is_found_again(registry, result):
    job = finished(registry.start("key", lambda job: result))
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


def test_what_somebody_else_pays_for_is_found_only_once_it_is_there(registry, gate, monkeypatch):
    def start(whose, local=False):
        for each in (module, job_module):
            monkeypatch.setattr(each, "owner", lambda: whose)
        asks = SimpleNamespace(capabilities=SimpleNamespace(local=local))
        return registry.start(("key", local), lambda job: gate.wait(LONG), asks)

    theirs, own = start("alice"), start("bob")
    assert theirs is not own and start("bob") is own
    assert start("alice", local=True) is start("bob", local=True)  # which costs nobody anything
    gate.set()
    finished(own)
    assert start("carol") is own


def test_many_who_ask_at_once_start_one_job(registry, gate):
    started, ask = [], threading.Barrier(8)

    def work(job):
        started.append(job)
        gate.wait(LONG)

    def start(_):
        ask.wait(LONG)
        return registry.start("key", work)

    with ThreadPoolExecutor(8) as threads:
        (job,) = set(threads.map(start, range(8)))
    gate.set()
    assert [finished(job)] == started


def test_only_so_many_finished_jobs_are_kept(registry, monkeypatch):
    monkeypatch.setattr(module, "KEPT", 3)
    first = finished(registry.start(0, lambda job: 0))
    for key in (1, 2):
        finished(registry.start(key, lambda job: None))
    assert registry.start(0, lambda job: "anew") is first  # used just now: not the oldest
    finished(registry.start(3, lambda job: 3))
    assert registry.start(0, lambda job: "anew") is first
    assert finished(registry.start(1, lambda job: "anew")).result == "anew"


def test_running_jobs_are_never_forgotten(registry, monkeypatch, gate):
    monkeypatch.setattr(module, "KEPT", 1)
    running = registry.start("long", lambda job: gate.wait(LONG))
    for key in range(5):
        finished(registry.start(key, lambda job: None))
    assert registry.start("long", lambda job: pytest.fail("forgotten")) is running
