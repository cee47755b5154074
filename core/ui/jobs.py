"""Long work beside the page: a thread that never touches Streamlit, and a way to stop it.

Jobs live in a process-wide registry under a key that says what they compute, so a page
that is reloaded finds its job again instead of starting, and paying for, a second one.
A job belongs to the sessions that have asked for it: who leaves it stops it only where it is
nobody else's. All jobs of the process take turns (`core.ui.turns`). Where strangers share the
server, a job ends with the last session that it belongs to.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

from core.language_models.base import LanguageModel
from core.language_models.client.stack import stop
from core.language_models.errors import StoppedError
from core.studies.progress import Cancelled
from core.ui.session import Session, public, this_session
from core.ui.turns import Turns

T = TypeVar("T")

KEPT = 64  # finished jobs that stay in the registry
GONE = 10.0  # seconds without a browser after which a session does not come back

#: Work on this machine computes in turns. Who asks a service only waits for it, and has asked
#: too much already to pause, so that many do at once and each to its end.
HERE: Final = Turns(os.cpu_count() or 1, first=1)
ELSEWHERE: Final = Turns(16, math.inf)


class Job(Generic[T]):
    """One piece of work in a thread of its own.

    Parameters
    ----------
    turns : Turns, optional
        Where it stands in line; by default that follows from the model.

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

    Raises
    ------
    BusyError
        When there are too many already.
    """

    def __init__(
        self,
        work: Callable[[Job[T]], T],
        asks: LanguageModel | None = None,
        turns: Turns | None = None,
    ) -> None:
        self.asks = asks
        self.stage, self.share = "Starting", 0.0
        self.partial: T | None = None
        self.result: T | None = None
        self.error: Exception | None = None
        self._cancel = threading.Event()
        self._sessions = {this_session()}
        self._alone_since: float | None = None
        self._ends_with_them = public()
        self._lock = threading.Lock()
        turns = turns or (HERE if asks is None or asks.capabilities.local else ELSEWHERE)
        self._ticket = turns.ticket(this_session())
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[Job[T]], T]) -> None:
        try:
            self._ticket.wait(self._go_on)
            self.result = work(self)
        except Exception as error:  # handed to the page, which words it
            self.error = error
        finally:
            self._ticket.give_back()

    def _go_on(self) -> None:
        """Raise `Cancelled` where somebody has stopped the job, or nobody is left who wants it."""
        if self._cancel.is_set() or self._is_nobodys():
            self.cancel()
            raise Cancelled

    def _is_nobodys(self) -> bool:
        """Say whether all sessions have been gone for a while: one may only be reconnecting."""
        with self._lock:
            if not self._ends_with_them or any(session.is_open for session in self._sessions):
                self._alone_since = None
                return False
            now = time.monotonic()
            self._alone_since = now if self._alone_since is None else self._alone_since
            return now - self._alone_since >= GONE

    def progress(self, stage: str, share: float) -> None:
        """Meet the `Progress` protocol of the studies; let others compute when a turn is over."""
        self._go_on()
        self.stage, self.share = stage, share
        self._ticket.pause(self._go_on)

    def cancel(self) -> None:
        """Ask the work to stop: what it asks of a service at once, else at its next progress."""
        self._cancel.set()
        if self.asks is not None:
            stop(self.asks)

    def join(self, session: Session) -> None:
        """Let the job belong to a session, too."""
        with self._lock:
            self._sessions.add(session)

    def leave(self, session: Session) -> bool:
        """Take the job from a session, and say whether others have it; `cancel` it if none."""
        with self._lock:
            self._sessions.discard(session)
            others = any(other.is_open for other in self._sessions)
        if not others:
            self.cancel()
        return others

    @property
    def before(self) -> int:
        """How many turns of other jobs come before its own; 0 while it computes."""
        return self._ticket.before

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
        stopped = self.cancelling and isinstance(self.error, StoppedError)
        return stopped or isinstance(self.error, Cancelled)

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
        """Return the job under `key`; starts one unless one is there that may still succeed.

        Either way it belongs to the session that asks.

        Raises
        ------
        BusyError
            When there are too many already.
        """
        with self._lock:
            job = self._jobs.get(key)
            if job is None or job.error is not None or job.cancelling:
                job = self._jobs[key] = Job(work, asks)
            else:
                job.join(this_session())
            self._jobs.move_to_end(key)
            while len(self._jobs) > KEPT and (oldest := next(iter(self._jobs.items())))[1].done:
                del self._jobs[oldest[0]]
            return job
