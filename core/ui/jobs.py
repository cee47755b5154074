"""Long work beside the page: a thread that never touches Streamlit, and a way to stop it.

Jobs live in a process-wide registry under a key that says what they compute, so a page
that is reloaded finds its job again instead of starting, and paying for, a second one.
Several sessions may watch one job: who leaves it stops it only where nobody else looks on.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from core.language_models.base import LanguageModel
from core.studies.progress import Cancelled

T = TypeVar("T")

KEPT = 64  # finished jobs that stay in the registry
WATCHES = 5.0  # seconds after which a session that says nothing, as a closed one, watches no more


class Job(Generic[T]):
    """One piece of work in a thread of its own.

    Attributes
    ----------
    stage, share : str, float
        How far it is, as its last progress call said.
    partial : T or None
        The newest intermediate result that it handed out.
    result : T or None
    error : Exception or None
    asks : LanguageModel or None
        The model that this job alone asks, if it says so: its meter tells what the job used.
    """

    def __init__(self, work: Callable[[Job[T]], T], asks: LanguageModel | None = None) -> None:
        self.asks = asks
        self.stage, self.share = "Starting", 0.0
        self.partial: T | None = None
        self.result: T | None = None
        self.error: Exception | None = None
        self._cancel = threading.Event()
        self._heard: dict[Hashable, float] = {}  # when each session last said that it watches
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[Job[T]], T]) -> None:
        try:
            self.result = work(self)
        except Exception as error:  # handed to the page, which words it
            self.error = error

    def progress(self, stage: str, share: float) -> None:
        """Meet the `Progress` protocol of the studies."""
        if self._cancel.is_set():
            raise Cancelled
        self.stage, self.share = stage, share

    def cancel(self) -> None:
        """Ask the work to stop at its next progress call."""
        self._cancel.set()

    def watch(self, who: Hashable) -> None:
        """Say that somebody is watching; to be said again more often than every `WATCHES`."""
        with self._lock:
            self._heard[who] = time.monotonic()

    def leave(self, who: Hashable) -> bool:
        """Watch no more, and say whether others still do; `cancel` where nobody does."""
        with self._lock:
            self._heard.pop(who, None)
            now = time.monotonic()
            others = any(now - heard < WATCHES for heard in self._heard.values())
        if not others:
            self.cancel()
        return others

    @property
    def cancelling(self) -> bool:
        """Whether somebody has asked it to stop."""
        return self._cancel.is_set()

    @property
    def done(self) -> bool:
        """Whether the work has ended, one way or another."""
        return not self._thread.is_alive()

    @property
    def cancelled(self) -> bool:
        """Whether it ended because somebody asked it to stop."""
        return isinstance(self.error, Cancelled)

    def wait(self, seconds: float) -> bool:
        """Wait a little, and say whether it is done: quick work needs no progress bar."""
        self._thread.join(seconds)
        return self.done


class Registry:
    """The jobs of this process by what they compute."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[Hashable, Job] = OrderedDict()
        self._lock = threading.Lock()

    def start(
        self, key: Hashable, work: Callable[[Job[T]], T], asks: LanguageModel | None = None
    ) -> Job[T]:
        """Return the job under `key`; starts one unless one is there that may still succeed."""
        with self._lock:
            job = self._jobs.get(key)
            if job is None or job.error is not None or job.cancelling:
                job = self._jobs[key] = Job(work, asks)
            self._jobs.move_to_end(key)
            while len(self._jobs) > KEPT and (oldest := next(iter(self._jobs.items())))[1].done:
                del self._jobs[oldest[0]]
            return job
