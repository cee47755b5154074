"""The measures of a run with their intervals: computed once for the rows that are shown.

A run that comes with the program is the same for all: read and measured once a process. What a
person filters is their own, and so are other runs: of these, nothing leaves the session.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from core.once import once
from core.studies.evaluation.bundled import FOLDER
from core.studies.evaluation.results import (
    RESAMPLES,
    Results,
    RunMeasures,
    affordable,
    measure_run,
    read_results,
)
from core.studies.evaluation.saved_run import Run
from core.ui.runs.job import Job
from core.ui.runs.registry import Registry
from core.ui.runs.widget import offer_run, run, run_of
from core.ui.session import memory_of

PLACE = "results_measures"
INTERVALS = f"Compute intervals with {RESAMPLES:,d} resamples"


def measures(results: Results) -> tuple[RunMeasures, bool]:
    """Return the measures of all scores, and whether their intervals are still on the way.

    Resampling many rows takes long: that is done when somebody asks for it.
    """
    number = affordable(len(results), len(results.scores))
    # Other rows are other rows even where they are equal: to compare them would take longer.
    key = memory_of("results_wanted", results, object)
    measured = run(
        PLACE,
        key,
        lambda: measuring(
            results, lambda job: measure_run(results, number or RESAMPLES, job.progress)
        ),
        on_press=not number,
        cancelled="Cancelled.",
    )
    if measured is not None:
        return measured, False
    offer_run(INTERVALS, "results_intervals", PLACE, key)
    this = run_of(PLACE, key)
    plain = memory_of("results_plain", results, partial(measure_run, results, 0))
    return plain, this is not None and this.running


JOBS: Final = Registry()  # at most one a bundled run


def is_bundled(run: Run) -> bool:
    """Say whether a run comes with the program."""
    return run.folder.parent == FOLDER


@once
def rows_of(folder: Path) -> Results:
    """Return all rows of a bundled run that count: one object for everybody."""
    return read_results(Run(folder))


def is_bundled_whole(rows: Results) -> bool:
    """Say whether these are all rows of a bundled run, unfiltered."""
    return is_bundled(rows.run) and rows is rows_of(rows.run.folder)


def measuring(rows: Results, work: Callable[[Job[RunMeasures]], RunMeasures]) -> Job[RunMeasures]:
    """Start measuring rows; find the job that does, or has, where they are everybody's."""
    return JOBS.start(rows, work) if is_bundled_whole(rows) else Job(work)
