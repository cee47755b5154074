"""How large k must be before the paper's theorem on the estimate says anything, and ours beside."""

from __future__ import annotations

from typing import Any, Final

from core.language_models.base import LanguageModel
from core.studies.inspection.request import InvalidRequestError
from core.studies.laboratory.experiment import Experiment, Field, Outcome, Values
from core.studies.laboratory.finite_samples import FiniteSamples, FiniteSamplesSettings, run
from core.studies.laboratory.sizes import by_powers, limits
from core.studies.progress import Progress
from core.uncertainty.confidence import CONFIDENCE

MOST_OUTSIDE: Final = 12  # values of δ_supp


def _shares(text: str) -> tuple[float, ...]:
    """Read the values of δ_supp that are tried."""
    try:
        shares = tuple(float(part) for part in text.replace(";", ",").split(",") if part.strip())
    except ValueError:
        shares = ()
    if not 1 <= len(shares) <= MOST_OUTSIDE or not all(0 <= share <= 0.5 for share in shares):
        raise InvalidRequestError(
            f"Give up to {MOST_OUTSIDE} numbers from 0 to 0.5, such as 0, 0.001, 0.01."
        )
    return shares


def _settings(values: Values) -> FiniteSamplesSettings:
    named: dict[str, Any] = dict(values)
    least, most, number = (named.pop(name) for name in ("smallest", "largest", "sizes"))
    outside = _shares(named.pop("outside"))
    return FiniteSamplesSettings(**named, draws=by_powers(least, most, number), outside=outside)


def _work(settings: FiniteSamplesSettings, model: LanguageModel, progress: Progress) -> Outcome:
    samples = run(settings, progress)
    return Outcome(samples.sentence, _columns(samples), _picture_content(samples))


def _columns(samples: FiniteSamples) -> dict[str, Any]:
    return {
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


def _picture_content(samples: FiniteSamples) -> dict[str, Any]:
    return {
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


EXPERIMENT = Experiment(
    name="finite_samples",
    title="When the theorem says something",
    about=(
        "Pairs of answers of a model that copies, in the shape of Zipf’s law, with a known mutual "
        "information. The theorem bounds it from below by the estimate with its own γ and the best "
        "of several effective supports; our certified bound takes the same number of draws."
    ),
    paper="Theorem 4.6",
    fields=(
        Field("answers", "Number of answers", 200, 2, 300, 10),
        Field("exponent", "Exponent of Zipf’s law", 1.0, 0.0, 10.0, 0.1),
        Field(
            "copying",
            "Probability of copying",
            0.7,
            0.0,
            0.999,
            0.05,
            help="With it, the first answer is repeated; else one like the first comes.",
        ),
        *limits(10, 10**9, 33, 10**12, 50),
        Field("samples", "Samples for each k", 3, 1, 100, 1, folded=True),
        Field(
            "outside",
            "Values of δ_supp",
            "0, 0.0001, 0.001, 0.01, 0.05",
            check=_shares,
            folded=True,
            help="The share of the probability outside the effective support; the best is taken.",
        ),
        Field("seed", "Seed", 0, 0, 2**32 - 1, 1, folded=True),
        Field("confidence", "Confidence", CONFIDENCE, 0.01, 0.999, 0.01, folded=True),
    ),
    settings=_settings,
    work=_work,
    quick=True,
)
