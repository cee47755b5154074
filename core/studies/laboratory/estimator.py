"""Estimates and bounds of mutual information against the exact value (the paper's Appendix A).

Tuples are drawn from a Gibbs distribution, whose mutual information is known, by many seeds. Each
sample is estimated in every way there is, at several k. With the settings as they are, the first
seed draws exactly what the paper's listing draws, and Algorithm 1 returns what it returns.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np

from core.studies.laboratory.settings import (
    ExperimentSettings,
    confidence_setting,
    evenly,
    seed_setting,
    setting,
    sizes,
    within,
)
from core.studies.progress import Progress, silent
from core.uncertainty import entropies, gibbs, many_samples
from core.uncertainty.missing_mass import expected_missing_mass, stabilisers, theorem_bound
from core.uncertainty.mutual_information import from_counts
from core.uncertainty.validation import Floats, Integers

SpeltTuples = tuple[Integers, Integers, Integers | None]

LARGEST_N: Final = 10
MOST_SEEDS, MOST_DRAWS, MOST_SIZES = 1000, 10_000, 50
MOST_AT_ONCE: Final = 2_000_000  # draws of all seeds at one k, which are held in memory
MOST_SPELLINGS: Final = 9
#: Our adjustment of counts takes milliseconds a sample: so many seeds have it.
ADJUSTED_SEEDS: Final = 20


class Gamma(StrEnum):
    """How γ₁ and γ₂ are chosen."""

    NONE = "0"
    ONE_OVER_K = "1/k"
    THEOREM = "theorem"


GAMMAS: Final = {
    Gamma.NONE.value: "None.",
    Gamma.ONE_OVER_K.value: "As in the paper’s listing.",
    Gamma.THEOREM.value: "γ₁ = 1/(k 2ⁿ), γ₂ = γ₁ + n (1 − Z), with Z the sampled mass.",
}

#: What estimates the exact value, by what it is called.
ESTIMATES: Final = {
    "algorithm_1": "Algorithm 1",
    "algorithm_2": "Algorithm 2",
    "plug_in": "Counts, plug-in",
    "miller_madow": "Counts, Miller–Madow",
    "chao_wang_jost": "Counts, Chao–Wang–Jost",
    "adjusted": "Counts, adjusted for chance",
}
#: What bounds it, on average or with what is said.
BOUNDS: Final = {
    "certified": "The certified bound",
    "limit": "The lower limit",
    "lower": "L, not above it on average",
    "upper": "U, not below it on average",
    "theorem": "The theorem’s bound",
}
NEVER_ABOVE: Final = ("certified", "limit", "theorem")


def gamma_setting() -> Any:
    """Return the field of how γ₁ and γ₂ are chosen."""
    return setting(Gamma.ONE_OVER_K.value, "Stabilisation γ₁ and γ₂", options=GAMMAS, read=Gamma)


@dataclass(frozen=True)
class EstimatorSettings(ExperimentSettings):
    """What is drawn, and how it is estimated.

    Each spelling of an answer is as likely, and depends on nothing; with one, Algorithms 1 and 2
    are the same. The confidence is also that of the theorem's bound.
    """

    n: int = setting(4, "Coordinates n", gibbs.FEWEST, LARGEST_N, 1)
    temperature: float = setting(  # the paper's τ
        1.0,
        "Temperature of the Gibbs distribution",
        gibbs.COLDEST,
        10,
        0.1,
        help="The colder, the more the coordinates depend on each other.",
    )
    gamma: Gamma = gamma_setting()
    spellings: int = setting(
        1,
        "Spellings of each answer",
        1,
        MOST_SPELLINGS,
        1,
        help="With more than one, Algorithm 1 sees spellings, and Algorithm 2 clusters them.",
    )
    seeds: int = setting(200, "Seeds", 1, MOST_SEEDS, 10, help="So many samples for each k.")
    draws: tuple[int, ...] = sizes(evenly, 10, 1000, 20, MOST_DRAWS, MOST_SIZES, least=2)
    seed: int = seed_setting("First seed", 1, 2**32 - MOST_SEEDS)  # the paper's is 1
    confidence: float = confidence_setting("Confidence of the lower limit")

    def __post_init__(self) -> None:
        """Enforce the limits, also of what is held in memory at once."""
        super().__post_init__()
        at_once = self.seeds * max(self.draws)
        within("number of draws by all seeds", at_once, 1, MOST_AT_ONCE)


@dataclass(frozen=True)
class EstimatorRow:
    """How far one estimate or bound is off at one k."""

    name: str  # a key of `ESTIMATES` or `BOUNDS`
    # draws, samples: k, and of how many samples.
    draws: int
    samples: int
    # bias, spread, error: the mean difference from the exact value, the standard deviation, and the
    # root mean square of the difference, nats.
    bias: float
    spread: float
    error: float
    above: float  # in what share of the samples it is above the exact value


@dataclass(frozen=True, eq=False)
class EstimatorComparison:
    """Every estimate of every sample, beside the exact value."""

    settings: EstimatorSettings
    exact: float  # the mutual information of the Gibbs distribution, nats
    # (seeds, sizes): by the keys of `ESTIMATES` and `BOUNDS`, nats. Absent where there is none:
    # Algorithm 2 with one spelling only; the adjusted counts for n > 2, which are of pairs; the
    # theorem's bound with other γ than its own. The adjusted counts have `ADJUSTED_SEEDS` rows at
    # most.
    values: dict[str, Floats]
    sampled_mass: Floats  # (seeds, sizes): Z, of meanings

    def band(self, name: str) -> Floats:
        """Return the 5%, 50% and 95% quantile of a value at each k, (3, sizes), nats."""
        return np.quantile(self.values[name], [0.05, 0.5, 0.95], axis=0)

    def rows(self) -> tuple[EstimatorRow, ...]:
        """Return bias and spread of everything at every k."""
        return tuple(
            EstimatorRow(
                name,
                k,
                len(off),
                float(off.mean()),
                float(off.std()),
                float(np.sqrt((off**2).mean())),
                float((off > 1e-9).mean()),
            )
            for name, values in self.values.items()
            for k, off in zip(self.settings.draws, (values - self.exact).T, strict=True)
        )


def run(settings: EstimatorSettings, progress: Progress = silent) -> EstimatorComparison:
    """Draw, estimate and compare."""
    n, p = settings.n, np.exp(gibbs.log_probabilities(settings.n, settings.temperature))
    cumulative = p.cumsum() / p.sum()
    # The listing's own generator, so that its seed draws what it draws.
    generators = [np.random.RandomState(settings.seed + i) for i in range(settings.seeds)]
    spelling = np.random.default_rng(settings.seed)
    estimates: list[dict[str, Floats]] = []
    masses = []
    for done, k in enumerate(settings.draws):
        progress("Draw and estimate", done / len(settings.draws))
        uniform = np.stack([generator.random_sample(k) for generator in generators])
        indices = cumulative.searchsorted(uniform, side="right")
        sample = np.repeat(np.arange(settings.seeds), k)
        counts = np.bincount(sample * p.size + indices.ravel(), minlength=settings.seeds * p.size)
        counts = counts.reshape(settings.seeds, p.size)
        masses.append((counts > 0) @ p)
        spelt: SpeltTuples
        if settings.spellings > 1:
            spelt = _spelt_tuples(sample, indices.ravel(), settings, spelling)
        else:
            spelt = (*np.divmod(np.flatnonzero(counts), p.size), None)
        estimates.append(
            _estimates(counts, p, spelt, k, settings)
            | _count(counts.reshape(-1, *[2] * n))
            | _bounds(counts.reshape(-1, *[2] * n), p.reshape([2] * n), k, settings)
        )
        _add_theorem(estimates[-1], p, k, settings)
    progress("Draw and estimate", 1.0)
    order = [name for name in (*ESTIMATES, *BOUNDS) if name in estimates[0]]
    return EstimatorComparison(
        settings,
        gibbs.information(n, settings.temperature),
        {name: np.stack([at[name] for at in estimates], axis=1) for name in order},
        np.stack(masses, axis=1),
    )


def _spelt_tuples(
    sample: Integers, indices: Integers, settings: EstimatorSettings, rng: np.random.Generator
) -> SpeltTuples:
    """Return the distinct spelt tuples: their sample, state and spelling, each (u,)."""
    ways = settings.spellings**settings.n
    key = (sample * 2**settings.n + indices) * ways + rng.integers(ways, size=len(indices))
    key, spelling = np.divmod(np.unique(key), ways)
    return (*np.divmod(key, 2**settings.n), spelling)


def _estimates(
    counts: Integers, p: Floats, spelt: SpeltTuples, k: int, settings: EstimatorSettings
) -> dict[str, Floats]:
    """Return Algorithm 1 on spellings and, if there are several, Algorithm 2 on meanings."""
    n, ways = settings.n, settings.spellings
    bits = (gibbs.states(n) > 0).astype(np.int64)
    sample, state, spelling = spelt
    codes = bits[state]
    if spelling is not None:
        codes = codes * ways + spelling[:, None] // ways ** np.arange(n) % ways
    weights = p[state] / ways**n
    mass = np.asarray(np.bincount(sample, weights, settings.seeds), dtype=np.float64)
    values = {
        "algorithm_1": many_samples.algorithm_1(
            sample,
            codes,
            weights,
            samples=settings.seeds,
            **gammas(k, (2 * ways) ** n, mass, settings),
        )
    }
    if ways > 1:
        # Step 4: a meaning is as likely as all of its spellings that were drawn.
        merged = np.bincount(sample * p.size + state, weights, counts.size).astype(np.float64)
        at = np.flatnonzero(counts.ravel())
        values["algorithm_2"] = many_samples.algorithm_1(
            at // p.size,
            bits[at % p.size],
            merged[at],
            samples=settings.seeds,
            **gammas(k, 2**n, mass, settings),
        )
    return values


def gammas(
    k: int, support: int, mass: Floats, settings: EstimatorSettings
) -> dict[str, Floats | float]:
    """Return γ₁ and γ₂ at one k, of samples with these masses."""
    if settings.gamma is Gamma.NONE:
        return {}
    if settings.gamma is Gamma.ONE_OVER_K:
        return {"gamma_1": 1 / k, "gamma_2": 1 / k}
    return dict(zip(("gamma_1", "gamma_2"), stabilisers(k, support, settings.n, mass), strict=True))


def _count(counts: Integers) -> dict[str, Floats]:
    """Return what counts of meanings alone tell."""
    ways: dict[str, Callable[..., Floats]] = {
        "plug_in": entropies.plug_in,
        "miller_madow": entropies.miller_madow,
        "chao_wang_jost": entropies.chao_wang_jost,
    }
    values = {name: many_samples.information_of_counts(counts, of) for name, of in ways.items()}
    if counts.ndim == 3:
        few = counts[:ADJUSTED_SEEDS]
        values["adjusted"] = np.array([from_counts(c.sum(axis=1), c).value for c in few])
    return values


def _bounds(
    counts: Integers, table: Floats, k: int, settings: EstimatorSettings
) -> dict[str, Floats]:
    lower, upper = many_samples.between(counts, table)
    return {
        "certified": many_samples.certified_bounds(counts > 0, table),
        "limit": many_samples.limit(lower, k, settings.n, settings.confidence),
        "lower": lower,
        "upper": upper,
    }


def _add_theorem(values: dict[str, Floats], p: Floats, k: int, settings: EstimatorSettings) -> None:
    """Add the theorem's bound where the estimate has the theorem's γ: on meanings, all of them."""
    if settings.gamma is Gamma.THEOREM and settings.spellings == 1:
        values["theorem"] = theorem_bound(
            values["algorithm_1"],
            k,
            expected_missing=float(expected_missing_mass(p, k)),
            support=p.size,
            confidence=settings.confidence,
        )
