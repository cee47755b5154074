"""Waiting that ends: by the clock, or because somebody said stop."""

import socket
import threading
import weakref
from contextlib import contextmanager

import pytest

from core import prompts
from core.language_models import stopping
from core.language_models.client.retry import RetryingModel
from core.language_models.client.stack import stop, with_layers
from core.language_models.errors import (
    BudgetError,
    SmallerRequestsError,
    StoppedError,
    TemporaryError,
)
from core.language_models.stopping import Stop, TooLateError, current_stop, in_time, patience, watch
from core.language_models.usage import Budget
from core.store.database import open_database
from core.store.locks import Locks
from tests.fakes import QUERY, Limited, copies
from tests.patience import LONG
from tests.store.kept import Calls

PROMPT = prompts.iterative(QUERY)
WISH = TemporaryError("Wait.", retry_after=50)


class ThreadedWork:
    """Runs work in a thread, and says how it ended."""

    def __init__(self, work):
        self.result, self.error = None, None
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def _run(self, work):
        try:
            self.result = work()
        except BaseException as error:
            self.error = error

    def stopped(self):
        """Whether it ended because somebody said stop, before anything else could end it."""
        self._thread.join(LONG)
        assert not self._thread.is_alive(), "it still waits"
        return isinstance(self.error, StoppedError)


@contextmanager
def hanging():
    """Yield work that never ends by itself, and an event that it has begun."""
    begun, release = threading.Event(), threading.Event()

    def work():
        begun.set()
        release.wait(2 * LONG)

    try:
        yield work, begun
    finally:
        release.set()


# ---------------------------------------------------------------------------------- stops


def test_a_stop_ends_its_parts_and_a_part_ends_nothing_else():
    whole = Stop()
    one, other = Stop([whole]), Stop([whole])
    one.set()
    with pytest.raises(StoppedError):
        one.check()
    other.check()
    whole.check()
    whole.set()
    for part in (other, Stop([other]), Stop([whole])):
        with pytest.raises(StoppedError, match=r"Stopped\. Answers received so far are saved\."):
            part.check()
    woken = []
    with whole.waking(lambda: woken.append(True)):
        assert woken, "whoever comes too late is woken, too"


def test_who_stops_is_no_other_than_who_closes_a_budget():
    whole = Budget()
    part = whole.part()
    waiting = ThreadedWork(lambda: part.stop.wait(2 * LONG))
    whole.close()
    assert waiting.stopped()
    assert issubclass(StoppedError, BudgetError)


def test_parts_that_nobody_has_any_more_are_forgotten():
    whole = Stop()
    parts = [weakref.ref(Stop([whole])) for _ in range(100)]
    assert not any(part() for part in parts)


# ------------------------------------------------------------------------------- requests


def test_what_a_request_returns_or_raises_comes_through():
    assert in_time(lambda: 7) == 7
    with pytest.raises(SmallerRequestsError, match="less"):
        in_time(lambda: (_ for _ in ()).throw(SmallerRequestsError("less")))


def test_a_request_is_left_when_its_time_is_over(monkeypatch):
    monkeypatch.setattr(stopping, "LONGEST_REQUEST", 0.2)
    with hanging() as (work, begun):
        with pytest.raises(TooLateError):
            in_time(work)
        assert begun.wait(LONG)


def test_the_time_of_a_call_ends_its_requests_and_lets_no_other_begin():
    with hanging() as (work, begun):
        with patience(Stop(), 0.2), pytest.raises(TooLateError):
            in_time(work)
        assert begun.wait(LONG)
    made = []
    with patience(Stop(), -1.0), pytest.raises(TooLateError):
        in_time(lambda: made.append(1))
    assert not made


def test_a_request_is_left_when_somebody_says_stop():
    ends = Stop()

    def ask(work):
        with patience(ends):
            in_time(work)

    with hanging() as (work, begun):
        asking = ThreadedWork(lambda: ask(work))
        assert begun.wait(LONG)
        ends.set()
        assert asking.stopped()
    made = []
    with pytest.raises(StoppedError):
        ask(lambda: made.append(1))
    assert not made, "and none begins any more"


def test_patience_ends_with_its_block():
    ends = Stop()
    with patience(ends):
        assert current_stop() is ends
    ends.set()
    assert current_stop() is not ends
    assert in_time(lambda: 7) == 7


def test_connections_are_shut_when_a_request_is_left_and_not_before(monkeypatch):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        in_time(lambda: watch(ours))
        ours.sendall(b"x")
        assert theirs.recv(9) == b"x", "a request that ended leaves its connection open"
        theirs.settimeout(LONG)
        monkeypatch.setattr(stopping, "LONGEST_REQUEST", 0.2)
        with hanging() as (work, _), pytest.raises(TooLateError):
            in_time(lambda: (watch(ours), work()))
        assert theirs.recv(9) == b"", "the other side sees that nobody listens"


def test_a_connection_that_comes_after_its_request_was_left_is_shut_at_once(monkeypatch):
    """Who looks up a name cannot be called back; nothing may be sent when it is found."""
    monkeypatch.setattr(stopping, "LONGEST_REQUEST", 0.2)
    ours, theirs = socket.socketpair()
    left = threading.Event()
    with ours, theirs:
        theirs.settimeout(LONG)
        with pytest.raises(TooLateError):
            in_time(lambda: (left.wait(LONG), watch(ours)))
        left.set()
        assert theirs.recv(9) == b""
        with pytest.raises(BrokenPipeError):
            ours.sendall(b"a key")


# ---------------------------------------------------------------------- what a run waits for


class Faulty(Limited):
    """Fails for ever, and says when it was asked."""

    def __init__(self):
        super().__init__(copies(4), local=False)
        self.begun, self.requests = threading.Event(), 0

    def sample(self, prompt, count, **options):
        self.requests += 1
        self.begun.set()
        raise WISH


def test_stopping_ends_a_wait_before_another_try():
    model = Faulty()
    ready = with_layers(model, None, None)
    asking = ThreadedWork(lambda: ready.sample(PROMPT, 1))
    assert model.begun.wait(LONG)
    stop(ready)
    assert asking.stopped()
    assert model.requests == ready.meter.requests == 1


class Hanging(Limited):
    """Answers when it is told to, and looks at no stop."""

    def __init__(self, **options):
        super().__init__(copies(4), local=False, **options)
        self.begun, self.release = threading.Event(), threading.Event()

    def sample(self, prompt, count, **options):
        self.begun.set()
        assert self.release.wait(2 * LONG)
        return super().sample(prompt, count, **options)


def test_stopping_ends_a_wait_for_a_place():
    model, budget = Hanging(), Budget()
    patient = RetryingModel(model, budget, at_once=1)
    first = ThreadedWork(lambda: patient.sample(PROMPT, 1))
    assert model.begun.wait(LONG)
    second = ThreadedWork(lambda: patient.sample(PROMPT, 1))
    budget.close()
    assert second.stopped()
    model.release.set()
    assert not first.stopped() and first.result, "what is there is not thrown away"
    assert budget.requests == 1


@pytest.fixture
def calls(tmp_path):
    with open_database(f"sqlite:///{tmp_path / 'believe.db'}") as database:
        yield Calls(database)


def test_stopping_ends_a_wait_for_what_another_run_asks(calls):
    """And only that: the other run goes on, and its answer is saved."""
    model = Hanging(candidates_a_call=8)
    one, other = (with_layers(model, lambda: calls, None) for _ in range(2))
    first = ThreadedWork(lambda: one.sample(PROMPT, 3))
    assert model.begun.wait(LONG)
    second = ThreadedWork(lambda: other.sample(PROMPT, 3))
    stop(other)
    assert second.stopped()
    model.release.set()
    assert not first.stopped() and len(first.result) == 3
    assert other.sample(PROMPT, 3) == first.result, "what is saved is read, stopped or not"
    assert (len(model.asked), calls.count()) == (1, 3)


def test_an_answer_that_is_there_is_saved_though_somebody_stopped_meanwhile(calls):
    model = Hanging(candidates_a_call=8)
    ready = with_layers(model, lambda: calls, None)
    asking = ThreadedWork(lambda: ready.sample(PROMPT, 3))
    assert model.begun.wait(LONG)
    stop(ready)
    model.release.set()
    asking.stopped()
    assert calls.count() == 3


class Taken(Locks):
    """Another process has everything, and gives nothing back."""

    def __init__(self):
        super().__init__()
        self.wish = threading.Event()

    def _lock(self, number):
        self.wish.set()
        return False

    def _unlock(self, number):
        raise AssertionError("not reached")


def test_stopping_ends_a_wait_for_another_process(calls):
    calls.database.locks = taken = Taken()
    model = Faulty()
    ready = with_layers(model, lambda: calls, None)
    asking = ThreadedWork(lambda: ready.sample(PROMPT, 1))
    assert taken.wish.wait(LONG)
    stop(ready)
    assert asking.stopped() and model.requests == 0
