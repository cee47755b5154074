"""Every estimate beside the exact value: the paper's Appendix A, with all that may be chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.language_models.base import LanguageModel
from core.studies.laboratory.estimator import (
    BOUNDS,
    ESTIMATES,
    LARGEST_N,
    MOST_DRAWS,
    MOST_SEEDS,
    MOST_SIZES,
    MOST_SPELLINGS,
    EstimatorComparison,
    EstimatorSettings,
    Gamma,
    run,
)
from core.studies.laboratory.experiment import Experiment, Field, Outcome, Values, columns_of
from core.studies.laboratory.sizes import evenly, limits
from core.studies.progress import Progress
from core.uncertainty.confidence import CONFIDENCE

NAMES = {**ESTIMATES, **BOUNDS}
GAMMAS = {
    Gamma.NONE.value: "None.",
    Gamma.ONE_OVER_K.value: "As in the paper’s listing.",
    Gamma.THEOREM.value: "γ₁ = 1/(k 2ⁿ), γ₂ = γ₁ + n (1 − Z), with Z the sampled mass.",
}


def _settings(values: Values) -> EstimatorSettings:
    named: dict[str, Any] = dict(values)
    least, most, number = (named.pop(name) for name in ("smallest", "largest", "sizes"))
    return EstimatorSettings(**named, draws=evenly(least, most, number))


def _work(settings: EstimatorSettings, model: LanguageModel, progress: Progress) -> Outcome:
    comparison = run(settings, progress)
    return Outcome(comparison.sentence, _columns(comparison), _picture_content(comparison))


def _columns(comparison: EstimatorComparison) -> dict[str, Any]:
    rows = comparison.rows()
    return {
        "estimate": [NAMES[row.name] for row in rows],
        **columns_of(
            rows,
            draws="k",
            samples="samples",
            bias="bias, nats",
            spread="spread, nats",
            error="root mean square error, nats",
            above="share above the exact value",
        ),
    }


def _picture_content(comparison: EstimatorComparison) -> dict[str, Any]:
    return {
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


EXPERIMENT = Experiment(
    name="estimator",
    title="Estimates beside the exact value",
    about=(
        "Tuples are drawn from a Gibbs distribution over {−1, 1}ⁿ, whose mutual information is "
        "known, and estimated in every way there is, by many seeds. Seed 1 draws what the paper’s "
        "listing draws."
    ),
    paper="Appendix A; Algorithms 1 and 2; Theorem 4.6",
    fields=(
        Field("n", "Coordinates n", 4, 2, LARGEST_N, 1),
        Field(
            "temperature",
            "Temperature of the Gibbs distribution",
            1.0,
            0.01,
            10.0,
            0.1,
            help="The colder, the more the coordinates depend on each other.",
        ),
        Field(
            "gamma",
            "Stabilisation γ₁ and γ₂",
            Gamma.ONE_OVER_K.value,
            options=GAMMAS,
        ),
        Field(
            "spellings",
            "Spellings of each answer",
            1,
            1,
            MOST_SPELLINGS,
            1,
            help="With more than one, Algorithm 1 sees spellings, and Algorithm 2 clusters them.",
        ),
        Field("seeds", "Seeds", 200, 1, MOST_SEEDS, 10, help="So many samples for each k."),
        *limits(10, 1000, 20, MOST_DRAWS, MOST_SIZES, least=2),
        Field("seed", "First seed", 1, 0, 2**32 - MOST_SEEDS, 1, folded=True),
        Field(
            "confidence",
            "Confidence of the lower limit",
            CONFIDENCE,
            0.01,
            0.999,
            0.01,
            folded=True,
        ),
    ),
    settings=_settings,
    work=_work,
    quick=True,
)
