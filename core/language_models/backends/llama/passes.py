"""The passes of several threads through one network, run as one.

A pass over few tokens takes nearly as long as one over many, for it reads all weights. Threads
that ask at the same time, each for its own question, leave their passes here: they wait until
together they are long enough, or until every thread that asks waits. The last to come runs them
all, and then those that have gathered meanwhile. What a pass returns depends on the others by
rounding alone.

Where enough gather while others are computed, they are computed at the same time; in a server they
wait, for its pages need the other cores (`one_at_a_time`).
"""

import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from core.language_models.backends.llama.runtime import Array, Llama, Segment, Tokens
from core.language_models.usage import Speed

ENOUGH = 512  # tokens: with more at a time, none takes less

ONE_AT_A_TIME = threading.Event()

T = TypeVar("T")


def one_at_a_time() -> None:
    """Compute the passes of many questions one after the other from now on, whatever the model.

    Many questions take about a quarter longer (`python -m benchmarks.evaluation`), and visitors of
    the same process half as long (`python -m benchmarks.load --long`).
    """
    ONE_AT_A_TIME.set()


@dataclass(eq=False)
class Pass:
    """A pass that is wanted, and what came of it."""

    tokens: Tokens  # (B, L)
    past: Sequence[Segment]
    at: Tokens  # (n,): Behind which of the B·L tokens the next one is asked for
    # (n,): which next ones; -1 stands for any that ends an answer. By default all V.
    targets: Tokens | None = None
    segment: Segment = field(init=False)  # what the tokens became
    log_p: Array = field(init=False)  # (n,): ln p of the next ones
    error: BaseException | None = field(default=None, init=False)
    done: threading.Event = field(default_factory=threading.Event, init=False)


class Passes:
    """Where threads that ask one network leave their passes; `ends`, (E,), end an answer."""

    def __init__(self, llama: Llama, ends: Tokens, speed: Speed) -> None:
        self._llama, self._ends, self._speed = llama, ends, speed
        self._lock = threading.Lock()
        self._asking = 0  # threads, those that wait included
        self._running = 0  # passes that are being computed
        self._waiting: list[Sequence[Pass]] = []  # those of a thread each
        self._here = threading.local()

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Ask beside others until the end of the block, from this thread."""
        if self._is_beside:
            yield
            return
        with self._lock:
            self._asking += 1
        self._here.beside = True
        try:
            yield
        finally:
            self._here.beside = False
            with self._lock:
                self._asking -= 1
                ready = self._ready()  # they may have waited for this thread
            self._run(ready)

    def run(self, one_pass: Pass) -> Pass:
        """Compute a pass, with those of other threads if this one asks beside them."""
        self._run_together([one_pass])
        return one_pass

    def in_step(self, works: Sequence[Generator[Pass, Pass, T]]) -> list[T]:
        """Return what works return that each want one pass after the other, the n-th of all as one.

        Each yields a pass that it wants, and is sent the same one, computed.
        """
        results: dict[int, T] = {}
        waiting: dict[int, Pass] = {}

        def go_on(i: int, done: Pass | None) -> None:
            try:
                waiting[i] = next(works[i]) if done is None else works[i].send(done)
            except StopIteration as end:
                waiting.pop(i, None)
                results[i] = end.value

        for i in range(len(works)):
            go_on(i, None)
        while waiting:
            present = dict(waiting)
            self._run_together(list(present.values()))
            for i, done in present.items():
                go_on(i, done)
        return [results[i] for i in range(len(works))]

    def _run_together(self, passes: Sequence[Pass]) -> None:
        """Compute the passes of this thread as one, with those of others if it asks beside them."""
        if not self._is_beside:
            self._compute(passes)
            return
        with self._lock:
            self._waiting.append(passes)
            ready = self._ready()
        self._run(ready)
        for each in passes:
            each.done.wait()
            if each.error is not None:
                raise each.error

    @property
    def _is_beside(self) -> bool:
        return getattr(self._here, "beside", False)

    def _ready(self) -> list[Pass]:
        """Take the passes that wait, unless it is worth waiting for more. The lock is held."""
        if self._running and ONE_AT_A_TIME.is_set():
            return []
        more_will_come = self._running or len(self._waiting) < self._asking
        ready = [one for passes in self._waiting for one in passes]
        if more_will_come and sum(p.tokens.size for p in ready) < ENOUGH:
            return []
        self._waiting = []
        self._running += len(ready)
        return ready

    def _run(self, passes: list[Pass]) -> None:
        while passes:
            try:
                self._compute(passes)
            except BaseException as error:
                for each in passes:
                    each.error = error
            with self._lock:
                self._running -= len(passes)
                ready = self._ready()  # they have gathered meanwhile
            for each in passes:
                each.done.set()
            passes = ready

    def _compute(self, passes: Sequence[Pass]) -> None:
        with self._speed.passing(sum(p.tokens.size for p in passes)):
            states = self._llama.forward_all([(p.tokens, p.past) for p in passes])
        hidden = []
        for each, (after, segment) in zip(passes, states, strict=True):
            hidden.append(after.reshape(-1, after.shape[-1])[each.at])
            each.segment = segment
        for whole in (True, False):
            these = [i for i, p in enumerate(passes) if (p.targets is None) is whole]
            if not these:
                continue
            rows = np.concatenate([hidden[i] for i in these])
            if whole:
                log_probabilities = self._llama.log_softmax(rows)
            else:
                targets = np.concatenate([passes[i].targets for i in these])
                log_probabilities = self._llama.log_probability(rows, targets, self._ends)
            ends = np.cumsum([len(hidden[i]) for i in these])
            for i, part in zip(these, np.split(log_probabilities, ends[:-1]), strict=True):
                passes[i].log_p = part
