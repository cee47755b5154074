"""How large k must be before the paper's theorem on the estimate says anything, and ours beside."""

from __future__ import annotations

from typing import Any

from core.studies.laboratory.experiment import Experiment, Outcome
from core.studies.laboratory.finite_samples import FiniteSamples, FiniteSamplesSettings, run


def _outcome(samples: FiniteSamples) -> Outcome:
    columns: dict[str, Any] = {
        "k": samples.settings.draws,
        "E U, exactly": samples.expected_missing,
        "δ_supp": samples.outside,
        "size of the effective support": samples.support.astype(int),
        "γ₁": samples.gamma_1,
        "γ₂": samples.gamma_2,
        "estimate Î, nats": samples.estimate,
        "the theorem’s bound, nats": samples.bound,
        "the certified bound, nats": samples.certified,
    }
    chart_data = {
        "k": samples.settings.draws,
        "exact": samples.exact,
        "bound": samples.bound,
        "estimate": samples.estimate,
        "certified": samples.certified,
        "missing": samples.expected_missing,
        "gamma_2": samples.gamma_2,
        "outside": samples.outside,
        "least": samples.least,
        "half": samples.least_certified,
    }
    return Outcome(samples.sentence, columns, chart_data)


EXPERIMENT = Experiment(
    name="finite_samples",
    title="When the theorem says something",
    about=(
        "Pairs of answers of a model that copies, in the shape of Zipf’s law, with a known mutual "
        "information. The theorem bounds it from below by the estimate with its own γ and the best "
        "of several effective supports; our certified bound takes the same number of draws."
    ),
    paper="Theorem 4.6",
    settings=FiniteSamplesSettings,
    work=lambda settings, _, progress: _outcome(run(settings, progress)),
    quick=True,
)
