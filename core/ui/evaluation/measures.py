"""The measures of a run with their intervals: computed once for the rows that are shown."""

from functools import partial

from core.studies.evaluation.results import RESAMPLES, Results, RunMeasures, affordable, measure_run
from core.ui.evaluation.bundled import measuring
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
