"""Where repeating leaves the right answer of a curve, and the quartiles of several.

Between two answers a model is sure, or both are alive: neither is more than four times as likely as
the other. What is known stays above that, what gives way falls below, and of many right
answers two drift about within.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.studies.amplification.curve import Amplification, Point

ALIVE: Final = (0.2, 0.8)  # shares of the right answer at which both are alive


class Fate(StrEnum):
    """Where the right answer stands."""

    STAYS = "stays"
    ALIVE = "alive"
    GIVES_WAY = "gives way"


def fate(share: float) -> Fate:
    """Return where the right answer stands that has this share of both."""
    low, high = ALIVE
    if share > high:
        return Fate.STAYS
    return Fate.GIVES_WAY if share < low else Fate.ALIVE


def fates_at(point: Point) -> set[Fate]:
    """Return where the right answer may stand at a point, as far as its interval allows."""
    shares = (point.normalised_probability, point.lower, point.upper)
    return {fate(share) for share in shares if share is not None}


def last_fate(curve: Amplification) -> Fate:
    """Return where the right answer of a curve stands in the end; alive where nobody can tell."""
    may_be = fates_at(curve.informative[-1]) if curve.informative else set()
    return may_be.pop() if len(may_be) == 1 else Fate.ALIVE


def quartiles(curves: Sequence[Amplification]) -> NDArray[np.float64]:
    """Return the quartiles of the normalised probability at every t, (3, points).

    `curves`: at least one, all over the same numbers of repetitions; NaN where one has no share.
    """
    shares = [[point.normalised_probability for point in curve.points] for curve in curves]
    return np.quantile(np.array(shares, float), [0.25, 0.5, 0.75], axis=0)
