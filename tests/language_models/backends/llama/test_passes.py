"""Passes of several threads: run as one, each with what it would have got alone."""

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from core.language_models.backends.llama import passes
from core.language_models.backends.llama.passes import Pass, Passes
from core.language_models.backends.llama.runtime import Llama
from core.language_models.usage import Speed
from tests.language_models.backends.llama.test_runtime import VOCABULARY, made
from tests.patience import LONG

ENDS = np.array([7, 11])


class Watched(Llama):
    """Writes down how many batches came together, and can be held up."""

    def __init__(self):
        super().__init__(*made(6, 2, 8))
        self.together, self.gate, self.begun = [], threading.Event(), threading.Semaphore(0)
        self.gate.set()

    def forward_all(self, batches, *filled):
        self.together.append(len(batches))
        self.begun.release()
        assert self.gate.wait(LONG)
        return super().forward_all(batches, *filled)


@pytest.fixture
def llama():
    return Watched()


@pytest.fixture
def shared(llama):
    return Passes(llama, ENDS, Speed())


def wanted(seed=0, *, rows=2, length=3, chosen=False, past=()):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(0, VOCABULARY, (rows, length))
    at = np.arange(rows) * length + length - 1
    return Pass(tokens, past, at, rng.integers(-1, VOCABULARY, rows) if chosen else None)


def alone(llama, each):
    hidden, segment = Llama.forward(llama, each.tokens, each.past)
    rows = hidden.reshape(-1, hidden.shape[-1])[each.at]
    if each.targets is None:
        return llama.log_softmax(rows), segment
    return llama.log_probability(rows, each.targets, ENDS), segment


def ask(shared, each, before=lambda: None):
    with shared.beside():
        before()
        return shared.run(each)


def all_at_once(shared, asked):
    """Every pass from a thread of its own, none before all ask."""
    together = threading.Barrier(len(asked))
    with ThreadPoolExecutor(len(asked)) as pool:
        return list(pool.map(lambda each: ask(shared, each, lambda: together.wait(LONG)), asked))


@contextlib.contextmanager
def reading(shared):
    """Somebody else, who may ask as well until the event that is yielded is set."""
    inside, leave = threading.Event(), threading.Event()

    def reads():
        with shared.beside():
            inside.set()
            assert leave.wait(LONG)

    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(reads)
        assert inside.wait(LONG)
        yield leave
        leave.set()
        reader.result(LONG)


def test_passes_of_several_threads_are_one_and_say_what_each_says_alone(llama, shared):
    _, past = Llama.forward(llama, np.array([[3, 1, 4, 1, 5]]))
    asked = [
        wanted(1),
        wanted(2, rows=1, length=9),
        wanted(3, rows=5, length=1, past=(past,)),
        wanted(4, rows=3, length=4, chosen=True, past=(past,)),
        wanted(5, chosen=True),
    ]
    asked.append(Pass(np.array([[1, 2, 3]]), (), np.empty(0, int)))  # nothing is asked for
    llama.together.clear()
    found = all_at_once(shared, asked)
    assert llama.together == [len(asked)]
    for each, done in zip(asked, found, strict=True):
        assert done is each
        said, segment = alone(llama, each)
        np.testing.assert_allclose(done.log_p, said, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(done.segment.keys, segment.keys, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(done.segment.values, segment.values, rtol=1e-4, atol=1e-5)


def test_what_became_of_one_holds_nothing_of_the_others(llama, shared):
    found = all_at_once(shared, [wanted(seed) for seed in range(4)])
    arrays = [a for each in found for a in (*each.segment.keys, *each.segment.values)]
    assert all(array.base is None for array in arrays)


def test_who_asks_alone_is_not_kept_waiting(llama, shared):
    assert shared.run(wanted()).log_p.shape == (2, VOCABULARY)
    with shared.beside():
        shared.run(wanted())
        with shared.beside():  # within itself: the same asker
            shared.run(wanted())
        shared.run(wanted())
    assert llama.together == [1, 1, 1, 1]


class Announced(threading.Event):
    """Says when somebody begins to wait for it."""

    def __init__(self):
        super().__init__()
        self.awaited = threading.Event()

    def wait(self, timeout=None):
        self.awaited.set()
        return super().wait(timeout)


def test_nobody_waits_for_one_who_asks_no_more(llama, shared):
    mine = wanted()
    mine.done = Announced()
    with reading(shared) as leave, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, shared, mine)
        assert mine.done.awaited.wait(LONG)
        assert llama.together == []  # the reader may ask as well
        leave.set()
        assert asked.result(LONG).log_p.shape == (2, VOCABULARY)
    assert llama.together == [1]


def test_enough_tokens_do_not_wait_for_more(llama, shared, monkeypatch):
    monkeypatch.setattr(passes, "ENOUGH", 6)
    with reading(shared):
        ask(shared, wanted(rows=2, length=3))  # six tokens
    assert llama.together == [1]


@pytest.mark.parametrize("in_a_server", [False, True])
def test_while_some_are_computed_the_others_gather(llama, shared, monkeypatch, in_a_server):
    if in_a_server:
        monkeypatch.setattr(passes, "ONE_AT_A_TIME", threading.Event())
        passes.one_at_a_time()
        monkeypatch.setattr(passes, "ENOUGH", 1)  # elsewhere, none would wait
    llama.gate.clear()
    asked = [wanted(seed) for seed in range(4)]
    for each in asked:
        each.done = Announced()
    with ThreadPoolExecutor(4) as pool:
        done = [pool.submit(ask, shared, asked[0])]
        assert llama.begun.acquire(timeout=LONG)
        done += [pool.submit(ask, shared, each) for each in asked[1:]]
        for each in asked[1:]:
            assert each.done.awaited.wait(LONG)
        assert llama.together == [1]
        llama.gate.set()
        assert all(future.result(LONG).log_p is not None for future in done)
    assert llama.together == [1, 3]


def test_many_passes_of_many_threads_are_each_their_own(llama, shared):
    """Each asks ten times: no thread may be kept from its own results by the others."""

    def ask_often(seed):
        found = []
        with shared.beside():
            for i in range(10):
                found.append(shared.run(wanted(seed + i)).log_p)
        return found

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(ask_often, range(8)))
    assert sum(llama.together) == 80
    for seed, found in enumerate(results):
        for i, said in enumerate(found):
            np.testing.assert_allclose(
                said, alone(llama, wanted(seed + i))[0], rtol=1e-5, atol=1e-5
            )


def test_what_goes_wrong_is_said_to_all_and_ends_nothing(llama, shared, monkeypatch):
    def broken(batches, attention=None):
        raise MemoryError("too much")

    with monkeypatch.context() as patch, pytest.raises(MemoryError, match="too much"):
        patch.setattr(llama, "forward_all", broken)
        all_at_once(shared, [wanted(seed) for seed in range(3)])
    assert len(all_at_once(shared, [wanted(seed) for seed in range(3)])) == 3
    assert llama.together == [3]


def test_tokens_are_measured_once(llama):
    speed = Speed()
    all_at_once(Passes(llama, ENDS, speed), [wanted(seed, rows=4, length=5) for seed in range(3)])
    assert speed.tokens == 60 and speed.seconds > 0


def test_works_in_step_share_each_pass_and_end_when_they_end(llama, shared):
    """Also beside others: two that wait for one thread are one asker."""

    def work(seed, times):
        said = []
        for i in range(times):
            said.append((yield wanted(10 * seed + i)).log_p)
        return said

    def one_after_the_other(beside):
        llama.together.clear()
        with shared.beside() if beside else contextlib.nullcontext():
            found = shared.in_step([work(1, 3), work(2, 0), work(3, 2)])
        assert llama.together == [2, 2, 1] and list(map(len, found)) == [3, 0, 2]
        return np.concatenate([said for said in (found[0] + found[2])])

    expected = np.concatenate([alone(llama, wanted(seed))[0] for seed in (10, 11, 12, 30, 31)])
    for beside in (False, True):
        np.testing.assert_allclose(one_after_the_other(beside), expected, rtol=1e-5, atol=1e-5)
