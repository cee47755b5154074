"""How large k must be before the paper's theorem on the estimate says anything.

Theorem 4.6 bounds the mutual information from below by the estimate of Algorithm 1. Here it is
tried on a model that copies, whose mutual information is known, with the γ that it asks for, beside
our certified bound.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.studies.inspection.request import InvalidRequestError
from core.studies.laboratory.settings import (
    ExperimentSettings,
    by_powers,
    confidence_setting,
    seed_setting,
    setting,
    sizes,
)
from core.studies.progress import Progress, silent
from core.uncertainty import missing_mass as mass
from core.uncertainty.certified_bound import certified_lower_bound
from core.uncertainty.joint import from_table
from core.uncertainty.many_samples import algorithm_1
from core.uncertainty.validation import Floats, Integers

MOST_OUTSIDE: Final = 12  # values of δ_supp


def _shares(text: str) -> tuple[float, ...]:
    try:
        shares = tuple(float(part) for part in text.replace(";", ",").split(",") if part.strip())
    except ValueError:
        shares = ()
    return _possible(shares)


def _possible(shares: tuple[float, ...]) -> tuple[float, ...]:
    if not 1 <= len(shares) <= MOST_OUTSIDE or not all(0 <= share <= 0.5 for share in shares):
        raise InvalidRequestError(
            f"Give up to {MOST_OUTSIDE} numbers from 0 to 0.5, such as 0, 0.001, 0.01."
        )
    return tuple(sorted(set(shares)))


@dataclass(frozen=True)
class FiniteSamplesSettings(ExperimentSettings):
    """Pairs of answers of a model that copies, in the shape of Zipf's law."""

    answers: int = setting(200, "Number of answers", 2, 300, 10)  # |X|
    exponent: float = setting(1.0, "Exponent of Zipf’s law", 0, 10, 0.1)
    copying: float = setting(
        0.7,
        "Probability of copying",
        0,
        0.999,
        0.05,
        help="With it, the first answer is repeated; else one like the first comes.",
    )
    draws: tuple[int, ...] = sizes(by_powers, 10, 10**9, 33, 10**12, 50)
    samples: int = setting(3, "Samples for each k", 1, 100, 1, folded=True)
    outside: tuple[float, ...] = setting(  # 0 takes all pairs for X̃
        "0, 0.0001, 0.001, 0.01, 0.05",
        "Values of δ_supp",
        read=_shares,
        help="The share of the probability outside the effective support; the best is taken.",
        folded=True,
    )
    seed: int = seed_setting()
    confidence: float = confidence_setting()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "outside", _possible(self.outside))

    @property
    def law(self) -> tuple[Floats, Floats]:
        """Q of a first answer, (m,), and of a second after each, (m, m)."""
        weights = np.arange(1.0, self.answers + 1) ** -self.exponent
        first = weights / weights.sum()
        return first, self.copying * np.eye(len(first)) + (1 - self.copying) * first


@dataclass(frozen=True, eq=False)
class FiniteSamples:
    """What Theorem 4.6 says at each k, and the certified bound beside it; (sizes,) in nats."""

    settings: FiniteSamplesSettings
    exact: float  # the mutual information, nats
    expected_missing: Floats  # E U_k, exactly
    # outside, support, gamma_1, gamma_2, estimate, bound: of the δ_supp that gives the highest
    # bound on average: |X̃|, both γ, Î_k(γ₁, γ₂), and the lower bound, means over the samples.
    # Where the bound is not above 0, it says nothing.
    outside: Floats
    support: Floats
    gamma_1: Floats
    gamma_2: Floats
    estimate: Floats
    bound: Floats
    certified: Floats  # Our bound, from k first answers and the scores of all of them after each

    @property
    def least(self) -> int | None:
        """The first k at which the theorem says anything; None if none of them."""
        return self._first(self.bound > 0)

    @property
    def least_certified(self) -> int | None:
        """The first k at which the certified bound is half of the exact value; None if none."""
        return self._first(self.certified >= self.exact / 2)

    def _first(self, is_true: NDArray[np.bool_]) -> int | None:
        return self.settings.draws[int(np.argmax(is_true))] if is_true.any() else None


def run(settings: FiniteSamplesSettings, progress: Progress = silent) -> FiniteSamples:
    """Find out how large k must be before Theorem 4.6 says anything about a model that copies.

    The best of several X̃ is taken, each the likeliest pairs; a person who may choose only one gets
    no more.
    """
    first, rows = settings.law
    table = first[:, None] * rows
    p = table.ravel()
    supports = _supports(p, settings.outside)
    k = np.array(settings.draws)
    expected = mass.expected_missing_mass(p, k)
    rng = np.random.default_rng(settings.seed)
    with np.errstate(divide="ignore"):
        log_first, log_rows = np.log(first), np.log(rows)
    estimates, certified = [], []
    for done, draws in enumerate(settings.draws):
        progress("Draw pairs", done / len(k))
        counts = rng.multinomial(draws, p, size=settings.samples)
        missing = float(expected[done])
        estimates.append(
            max(_mean_bound(counts, p, draws, missing, settings, one) for one in supports)
        )
        seen = [np.flatnonzero(c) for c in rng.multinomial(draws, first, size=settings.samples)]
        ours = [certified_lower_bound(log_first[s], log_rows[np.ix_(s, s)]) for s in seen]
        certified.append(np.mean(ours))
    progress("Draw pairs", 1.0)
    bound, outside, support, gamma_1, gamma_2, estimate = np.array(estimates).T
    with np.errstate(divide="ignore"):
        exact = from_table(np.log(table)).value
    return FiniteSamples(
        settings,
        exact,
        expected,
        outside,
        support,
        gamma_1,
        gamma_2,
        estimate,
        bound,
        np.array(certified),
    )


def _supports(p: Floats, outside: Sequence[float]) -> list[tuple[float, int]]:
    """Return δ_supp and |X̃| of the likeliest cells for each share that may be outside."""
    left = np.maximum(0.0, 1 - np.cumsum(np.sort(p)[::-1]))
    supports = []
    for share in outside:
        size = len(p) if share == 0 else int(np.argmax(left <= share)) + 1
        supports.append((float(left[size - 1]) if share else 0.0, size))
    return supports


def _mean_bound(
    counts: Integers,
    p: Floats,
    draws: int,
    missing: float,
    settings: FiniteSamplesSettings,
    support: tuple[float, int],
) -> tuple[float, float, float, float, float, float]:
    """Return the theorem's mean bound with one X̃, and what it was made of."""
    outside, size = support
    sample, cell = np.nonzero(counts)
    weights = p[cell]
    sampled = np.asarray(np.bincount(sample, weights), dtype=np.float64)
    gamma_1, gamma_2 = mass.stabilisers(draws, size, 2, sampled)
    estimate = algorithm_1(
        sample,
        np.stack(np.divmod(cell, settings.answers), axis=1),
        weights,
        samples=len(counts),
        gamma_1=gamma_1,
        gamma_2=gamma_2,
    )
    bound = mass.theorem_bound(
        estimate,
        draws,
        expected_missing=missing,
        support=size,
        outside=outside,
        confidence=settings.confidence,
    )
    means = (float(x.mean()) for x in (bound, gamma_2, estimate))
    mean_bound, mean_gamma_2, mean_estimate = means
    return mean_bound, outside, float(size), gamma_1, mean_gamma_2, mean_estimate
