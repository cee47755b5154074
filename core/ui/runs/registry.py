"""The jobs of this process by what they compute.

A page that is reloaded, or another person's, finds a job again here instead of starting, and
paying for, a second one.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from core.language_models.language_model import LanguageModel
from core.ui.runs.job import Job, T
from core.ui.session import owner, this_session

KEPT = 64  # finished jobs that stay


class Registry:
    """Jobs, found again by their key while they run and for a while after."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[Hashable, Job] = OrderedDict()
        self._lock = threading.Lock()

    def start(
        self,
        key: Hashable,
        work: Callable[[Job[T]], T],
        asks: LanguageModel | None = None,
        *,
        most: int | None = None,
    ) -> Job[T]:
        """Return the job under `key`; start one unless one is there that may still succeed.

        Either way it belongs to the session that asks. What somebody else pays for is joined only
        once it is there: it would end with their key, their budget or their cancel. The parameters
        are those of `Job`.

        Raises `BusyError` when there are too many already.
        """
        with self._lock:
            job = self._jobs.get(key)
            if (
                job is None
                or job.error is not None
                or job.cancelling
                or (job.is_paid and not job.done and job.owner != owner())
            ):
                job = self._jobs[key] = Job(work, asks, most=most)
            else:
                job.join(this_session())
            self._jobs.move_to_end(key)
            while len(self._jobs) > KEPT and (oldest := next(iter(self._jobs.items())))[1].done:
                del self._jobs[oldest[0]]
            return job
