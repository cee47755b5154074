"""Long work beside the page: a thread that never touches Streamlit, and a way to stop it.

A job belongs to the sessions that have asked for it: who leaves it stops it only where it is
nobody else's. What asks a service is paid for by who started it: nobody else keeps that going. All
jobs of the process take turns (`core.ui.runs.scheduler`). Where strangers share the server, a job
ends with the last session that it belongs to.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

from core.language_models.client.stack import stop
from core.language_models.errors import ModelError, StoppedError
from core.language_models.language_model import LanguageModel
from core.studies.inspection.request import InvalidRequestError
from core.studies.progress import Cancelled
from core.ui.runs.scheduler import Scheduler
from core.ui.session import OF_SESSION, Session, owner, public, this_session

T = TypeVar("T")

_LOG = logging.getLogger(__name__)
GONE = 10.0  # seconds without a browser after which a session does not come back

#: Work on this machine computes in turns. Who asks a service only waits for it, and has asked
#: too much already to pause, so that many do at once and each to its end.
CORES: Final = os.cpu_count() or 1
HERE: Final = Scheduler(CORES, first=1, a_session=max(CORES - 1, 1))
ELSEWHERE: Final = Scheduler(16, math.inf)


JOB: Final = "job"  # the name of every job's thread
BEHIND: Final = 10  # how much nicer a job is than the threads that draw pages


class Job(Generic[T]):
    """One piece of work in a thread of its own.

    `work`: given the job, for its `progress`; returns the result.
    `asks`: the model that this job alone asks: its meter tells what the job used.
    `most`: how many calls were announced; None where they cost only time.
    `scheduler`: where it stands in line; by default that follows from the model.
    `on_cancel`: ends what the work waits for; by default what the model is asked.
    `has_address`: whether it can be found again by who is not known after a reload.

    Raises `BusyError` when there are too many already.
    """

    def __init__(
        self,
        work: Callable[[Job[T]], T],
        asks: LanguageModel | None = None,
        *,
        most: int | None = None,
        scheduler: Scheduler | None = None,
        on_cancel: Callable[[], None] | None = None,
        has_address: bool = False,
    ) -> None:
        self.asks, self.most = asks, most
        self.stage, self.share = "Starting", 0.0  # as its last progress call said
        self.partial: T | None = None  # the newest intermediate result that it handed out
        self.result: T | None = None
        self.error: Exception | None = None
        self._cancel = threading.Event()
        self._on_cancel = on_cancel
        self.owner = owner()  # who started it, and pays
        self._sessions = {this_session(): self.owner}  # and whose each is
        self._alone_since: float | None = None
        is_sessions = self.owner.startswith(OF_SESSION) and not has_address
        self._ends_with_them = public() or is_sessions
        self._lock = threading.Lock()
        self._scheduler = scheduler or (ELSEWHERE if self.is_paid else HERE)
        self._ticket = self._scheduler.ticket(this_session())
        _JOBS.add(self)
        self._thread = threading.Thread(target=self._run, args=(work,), name=JOB, daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[Job[T]], T]) -> None:
        _behind_pages()
        try:
            self._scheduler.wait(self._ticket, self._go_on)
            self.result = work(self)
        except Exception as error:  # handed to the page, which words it
            self.error = error
            if self.asks is not None:
                stop(self.asks)  # other threads of the work may still be asking
            if not isinstance(error, (Cancelled, ModelError, InvalidRequestError)):
                _LOG.exception("A run failed.")
        finally:
            self._scheduler.give_back(self._ticket)

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
        self._scheduler.pause(self._ticket, self._go_on)

    def cancel(self) -> None:
        """Ask the work to stop: what it asks of a service at once, else at its next progress."""
        self._cancel.set()
        if self._on_cancel is not None:
            self._on_cancel()
        elif self.asks is not None:
            stop(self.asks)

    def join(self, session: Session) -> None:
        """Let the job belong to a session, too."""
        with self._lock:
            self._sessions[session] = owner()

    def leave(self, session: Session) -> bool:
        """Take the job from a session, and say whether others have it; `cancel` it if none.

        Where it asks a service, others are those of the person who started it.
        """
        with self._lock:
            self._sessions.pop(session, None)
            others = any(
                other.is_open and (whose == self.owner or not self.is_paid)
                for other, whose in self._sessions.items()
            )
        if not others:
            self.cancel()
        return others

    @property
    def is_paid(self) -> bool:
        """Whether it asks a service; all else costs only time."""
        return self.asks is not None and not self.asks.capabilities.local

    @property
    def before(self) -> int:
        """How many turns of other jobs come before its own; 0 while it computes."""
        return self._scheduler.before(self._ticket)

    @property
    def computing(self) -> int | None:
        """How many jobs it waits for, those that compute now; None while it computes itself."""
        return None if self.done else self._scheduler.computing(self._ticket)

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

    @property
    def why(self) -> str:
        """Why it failed, in words that may be shown: those of an error in the program are not."""
        if isinstance(self.error, (ModelError, InvalidRequestError)):
            return str(self.error)
        return "An error in the program stopped this run."

    def wait(self, seconds: float) -> bool:
        """Wait a little, and say whether it is done: quick work needs no progress bar."""
        self._thread.join(seconds)
        return self.done


_JOBS: Final[weakref.WeakSet[Job[Any]]] = weakref.WeakSet()


def orphans() -> list[Job[Any]]:
    """Return one's own jobs that ask a service for pages of which none is open any more."""
    own = [job for job in list(_JOBS) if job.is_paid and job.owner == owner()]
    under_way = [job for job in own if not (job.done or job.cancelling)]
    return [job for job in under_way if not any(each.is_open for each in [*job._sessions])]


def _behind_pages() -> None:
    """Let pages compute before this thread, and before those that it starts.

    Only Linux has a priority of each thread; elsewhere the same call means the whole process.
    """
    if sys.platform == "linux":
        thread = threading.get_native_id()
        nice = os.getpriority(os.PRIO_PROCESS, thread)
        with contextlib.suppress(OSError):  # forbidden: then pages wait a little longer
            os.setpriority(os.PRIO_PROCESS, thread, nice + BEHIND)
