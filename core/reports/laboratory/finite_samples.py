"""How large k must be before the paper's theorem on the estimate says anything, and ours beside."""

from typing import Any

from core.codec import no_more
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
    return Outcome(sentence(samples), columns, chart_data)


def sentence(samples: FiniteSamples) -> str:
    """Say what it shows, in a sentence or two."""
    last = samples.settings.draws[-1]
    says = [f"nothing up to k = {_silent(samples):,}"] if _silent(samples) else []
    says += [f"something at k = {samples.least:,}"] if samples.least else []
    text = (
        f"The mutual information is {samples.exact:.3f} nats. The theorem’s lower bound says "
        f"{' and '.join(says)}"
    )
    half = samples.least_certified
    ours = (
        f"has reached half of the exact value at k = {half:,}"
        if half
        else f"is {no_more(samples.certified[-1])} nats at k = {last:,}"
    )
    return f"{text}; the certified bound {ours}, without a confidence level."


def _silent(samples: FiniteSamples) -> int:
    """The largest k before `least`, or the largest of all; 0 if there is none."""
    draws = samples.settings.draws
    at = len(draws) if samples.least is None else draws.index(samples.least)
    return draws[at - 1] if at else 0


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
