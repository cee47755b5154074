"""Whether one score finds wrong answers better than another, tested on the same labels.

References
----------
.. [1] E. DeLong, D. DeLong, D. Clarke-Pearson: Comparing the Areas under Two or More Correlated
   Receiver Operating Characteristic Curves: A Nonparametric Approach, Biometrics 44, 1988.
.. [2] X. Sun, W. Xu: Fast Implementation of DeLong's Algorithm for Comparing the Areas Under
   Correlated Receiver Operating Characteristic Curves, IEEE Signal Processing Letters 21, 2014.
.. [3] S. Holm: A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of
   Statistics 6, 1979.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from core.abstention.blocks import checked_rows
from core.abstention.intervals import constant_p_value


@dataclass(frozen=True)
class Delong:
    """DeLong's test of two AUROCs on the same labels."""

    # first, second: the two AUROCs.
    first: float
    second: float
    # The standard error of their difference; NaN where fewer than two answers are right, or fewer
    # than two wrong.
    error: float
    p_value: float  # Two-sided, of the two being equal; NaN likewise
    pairs: int = 0  # of a wrong and a right answer that have no row in common


def delong(first: ArrayLike, second: ArrayLike, correct: ArrayLike) -> Delong:
    """Test whether two doubts, (n,), find the same wrong answers equally well [1]_.

    It holds for independent rows: give each query once. Where two scores serve different answers,
    and so have labels of their own, compare them by `resampled_measures.compare`. A missing
    doubt (NaN) is the largest; `correct` is for both. Raises `ValueError` when the shapes differ,
    or a correctness is neither 0 nor 1.
    """
    wrongs, rights = zip(*(_placements(doubts, correct) for doubts in (first, second)), strict=True)
    m, n = len(wrongs[0]), len(rights[0])
    areas = [float(placed.mean()) if m and n else math.nan for placed in wrongs]
    if min(m, n) < 2:
        return Delong(areas[0], areas[1], math.nan, math.nan)
    # A wrong answer's share differs from score to score, and so does a right one's.
    variance = np.var(wrongs[0] - wrongs[1], ddof=1) / m + np.var(rights[0] - rights[1], ddof=1) / n
    error, difference = math.sqrt(variance), areas[0] - areas[1]
    if error:
        p_value = float(2 * special.ndtr(-abs(difference) / error))
    else:  # every row says the same, which says nothing of how rows vary
        p_value = constant_p_value(difference, min(m, n))
    return Delong(areas[0], areas[1], error, p_value, min(m, n))


def _placements(
    doubts: ArrayLike, correct: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return for every wrong answer the share of right ones below it, and the other way round.

    Equal doubts count half; by mid-ranks [2]_. Both have the AUROC as their mean.
    """
    doubt, wrong = checked_rows(doubts, correct)
    doubt, is_wrong = np.where(np.isnan(doubt), np.inf, doubt), wrong == 1
    rank = _midranks(doubt)
    bad, good = doubt[is_wrong], doubt[~is_wrong]
    above = rank[is_wrong] - _midranks(bad)
    below = len(bad) - (rank[~is_wrong] - _midranks(good))
    return above / max(len(good), 1), below / max(len(bad), 1)


def _midranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ranks from 1, of equal values their mean; SciPy's takes seconds to load."""
    _, place, number = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(number) - (number - 1) / 2)[place])


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return p-values adjusted for their number [3]_: reject those at most at the level.

    The probability of rejecting any true hypothesis is then at most the level, however the tests
    depend on each other. A missing one (NaN) stays missing and does not count.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, float)
    order = np.argsort(p, kind="stable")[: np.count_nonzero(~np.isnan(p))]
    adjusted = np.full(p.shape, np.nan)
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return adjusted
