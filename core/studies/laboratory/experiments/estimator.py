"""Every estimate beside the exact value: the paper's Appendix A, with all that may be chosen."""

from __future__ import annotations

import numpy as np

from core.studies.laboratory.estimator import (
    BOUNDS,
    ESTIMATES,
    EstimatorComparison,
    EstimatorSettings,
    run,
)
from core.studies.laboratory.experiment import Experiment, Outcome, columns_of

NAMES = {**ESTIMATES, **BOUNDS}


def _outcome(comparison: EstimatorComparison) -> Outcome:
    rows = comparison.rows()
    columns = columns_of(
        rows,
        draws="k",
        samples="samples",
        bias="bias, nats",
        spread="spread, nats",
        error="root mean square error, nats",
        above="share above the exact value",
    )
    chart_data = {
        "exact": comparison.exact,
        "k": comparison.settings.draws,
        "bands": {NAMES[name]: comparison.band(name) for name in comparison.values},
        "bounds": [NAMES[name] for name in comparison.values if name in BOUNDS],
        "error": {
            NAMES[name]: np.sqrt(((values - comparison.exact) ** 2).mean(axis=0))
            for name, values in comparison.values.items()
            if name in ESTIMATES
        },
    }
    named = {"estimate": [NAMES[row.name] for row in rows]}
    return Outcome(comparison.sentence, named | columns, chart_data)


EXPERIMENT = Experiment(
    name="estimator",
    title="Estimates beside the exact value",
    about=(
        "Tuples are drawn from a Gibbs distribution over {−1, 1}ⁿ, whose mutual information is "
        "known, and estimated in every way there is, by many seeds. Seed 1 draws what the paper’s "
        "listing draws."
    ),
    paper="Appendix A; Algorithms 1 and 2; Theorem 4.6",
    settings=EstimatorSettings,
    work=lambda settings, _, progress: _outcome(run(settings, progress)),
    quick=True,
)
