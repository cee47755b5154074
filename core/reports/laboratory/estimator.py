"""Every estimate beside the exact value: the paper's Appendix A, with all that may be chosen."""

import numpy as np

from core.codec import count_of
from core.studies.laboratory.estimator import (
    BOUNDS,
    ESTIMATES,
    NEVER_ABOVE,
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
    return Outcome(sentence(comparison), named | columns, chart_data)


def sentence(comparison: EstimatorComparison) -> str:
    """Say what it shows, in a sentence or two."""
    at = {row.name: row for row in comparison.rows() if row.draws == comparison.settings.draws[-1]}
    name = "algorithm_2" if "algorithm_2" in at else "algorithm_1"
    ours = at[name]
    text = (
        f"With {ours.draws:,} draws and γ = {comparison.settings.gamma}, {ESTIMATES[name]} is off "
        f"by {with_sign(ours.bias)} nats on average (spread {ours.spread:.3f}) from the exact "
        f"{comparison.exact:.3f} nats"
    )
    if name == "algorithm_2":
        text += f", Algorithm 1 on the spellings by {with_sign(at['algorithm_1'].bias)}"
    counts = [row for key, row in at.items() if ESTIMATES.get(key, "").startswith("Counts")]
    best = min(counts, key=lambda row: row.error)
    text += f"; the best estimate from counts by {with_sign(best.bias)}"
    total = comparison.sampled_mass.size
    broken = [
        f"{BOUNDS[key].lower()} in {np.sum(comparison.values[key] > comparison.exact + 1e-9):,}"
        for key in NEVER_ABOVE
        if key in comparison.values
    ]
    return f"{text}. Above the exact value, of {count_of(total, 'sample')}: {', '.join(broken)}."


def with_sign(value: float) -> str:
    """Return a difference as a person reads it: with its sign, a true minus; 0 has none."""
    rounded = round(value, 3)
    return f"{rounded:+.3f}".replace("-", "−") if rounded else "0.000"


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
