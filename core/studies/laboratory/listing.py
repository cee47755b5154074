"""The twelve panels of the paper's listing: Algorithm 1 beside the exact value (Appendix A).

Three numbers of coordinates at four temperatures. Every panel begins with the same seed, as the
listing does.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from core.studies.laboratory.estimator import (
    MOST_DRAWS,
    MOST_SIZES,
    EstimatorSettings,
    Floats,
    Gamma,
    gamma_setting,
    gammas,
)
from core.studies.laboratory.settings import ExperimentSettings, evenly, seed_setting, sizes
from core.studies.progress import Progress, silent
from core.uncertainty import gibbs, many_samples

TEMPERATURES: Final = (0.01, 0.1, 1.0, 10.0)  # the listing's, as are these
COORDINATES: Final = (2, 4, 8)


@dataclass(frozen=True)
class ListingSettings(ExperimentSettings):
    """What every panel is drawn with; the listing's own values are the usual ones."""

    gamma: Gamma = gamma_setting()
    draws: tuple[int, ...] = sizes(evenly, 10, 1000, 20, MOST_DRAWS, MOST_SIZES, least=2)
    seed: int = seed_setting("Seed", 1)


@dataclass(frozen=True, eq=False)
class Panel:
    """One panel."""

    n: int  # how many coordinates a tuple has
    temperature: float  # of the Gibbs distribution
    exact: float  # its mutual information, nats
    estimates: Floats  # (sizes,): Algorithm 1 at each k, nats


def panels(settings: ListingSettings, progress: Progress = silent) -> tuple[Panel, ...]:
    """Return the panels, a temperature after the other."""
    grid = [(n, temperature) for temperature in TEMPERATURES for n in COORDINATES]
    results = []
    for place, (n, temperature) in enumerate(grid):
        progress("Estimating", place / len(grid))
        exact = gibbs.information(n, temperature)
        results.append(Panel(n, temperature, exact, _estimates(n, temperature, settings)))
    progress("Estimating", 1.0)
    return tuple(results)


def _estimates(n: int, temperature: float, settings: ListingSettings) -> Floats:
    p = np.exp(gibbs.log_probabilities(n, temperature))
    codes = (gibbs.states(n) > 0).astype(np.int64)
    cumulative = p.cumsum() / p.sum()
    # The listing's own generator, so that its seed draws what it draws.
    generator = np.random.RandomState(settings.seed)
    own = EstimatorSettings(n=n, temperature=temperature, gamma=settings.gamma, seeds=1)
    estimates = []
    for k in settings.draws:
        states = np.unique(cumulative.searchsorted(generator.random_sample(k), side="right"))
        one = np.zeros(len(states), np.int64)
        (estimate,) = many_samples.algorithm_1(
            one,
            codes[states],
            p[states],
            samples=1,
            **gammas(k, p.size, p[states].sum(keepdims=True), own),
        )
        estimates.append(estimate)
    return np.array(estimates)
