"""What takes a moment with little data and long with much: at once, or as a run with a Cancel."""

from collections.abc import Callable, Hashable

from core.studies.progress import Progress, silent
from core.ui.runs.job import Job, T
from core.ui.runs.widget import forget, run
from core.ui.session import memory_of

#: Rows × scores that a page computes itself: some hundredths of a second of a processor, of the
#: fifth that the thread of a page may compute while all other visitors wait for it.
SMALL = 100_000


def result_of(
    name: str,
    of: object,
    make: Callable[[Progress], T],
    key: Hashable = None,
    *,
    large: bool,
    refuses: type[Exception] | tuple[type[Exception], ...] = (),
) -> T | None:
    """Return what is made of something, made once as by `core.ui.session.memory_of`.

    What is large, as it may take longer than the thread of a page may compute, is made by a job
    that takes its turn, shows how far it is and can be cancelled. None is returned while it is on
    its way, and where it was cancelled: the page says so.

    `make` is given where to report progress; a job pauses and is cancelled there. What is wrong it
    says by an exception that `refuses` names, which is raised again at every look; it is not tried
    again.
    """

    def attempt(progress: Progress) -> tuple[T | None, Exception | None]:
        try:
            return make(progress), None
        except refuses as error:
            return None, error

    if large:
        # Something else is something else even where it is equal: to compare it takes long.
        this = memory_of(f"{name}_of", of, object), key
        outcome = run(
            name, this, lambda: Job(lambda job: attempt(job.progress)), cancelled="Cancelled."
        )
    else:
        forget(name)
        outcome = memory_of(name, of, lambda: attempt(silent), key)
    if outcome is None:
        return None
    result, refusal = outcome
    if refusal is not None:
        raise refusal.with_traceback(None)
    return result
