"""How sure a comparison of scores is: the paired bootstrap.

Every resample draws queries with replacement, the same for all scores, so that what is hard
about a query is hard for all of them and cancels in a difference. Rows of one query stay
together, for they are no independent evidence.

References
----------
.. [1] B. Efron, R. Tibshirani: An Introduction to the Bootstrap, 1993, chapters 13 and 16.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.abstention.blocks import checked

RESAMPLES = 2000

Floats = NDArray[np.float64]
Weights = NDArray[np.int64]


@dataclass(frozen=True)
class Interval:
    """A number with its percentile interval.

    Attributes
    ----------
    value : float
        On the rows as they are.
    lower, upper : float
        NaN where a resample has no value (all answers of one kind).
    """

    value: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Comparison:
    """The AUROC of several scores, and its difference from a reference score."""

    values: Mapping[str, Interval]
    differences: Mapping[str, Interval]


class Ranked:
    """One score's rows in rising order of doubt, ready to be weighed over and over.

    A resample is a weight for every row, a whole number: a row of weight 2 stands twice. So
    nothing is sorted again.
    """

    def __init__(self, scores: ArrayLike, correct: ArrayLike) -> None:
        doubt, wrong = checked(scores, correct)
        doubt = np.where(np.isnan(doubt), np.inf, doubt)
        order = np.argsort(doubt, kind="stable")
        is_wrong = wrong[order] == 1
        self._right, self._wrong = order[~is_wrong], order[is_wrong]
        right, bad = doubt[self._right], doubt[self._wrong]
        # For every wrong row: how many right ones have a smaller doubt, and how many no larger.
        self._below = np.searchsorted(right, bad, side="left")
        self._level = np.searchsorted(right, bad, side="right")

    def auroc(self, weights: Weights) -> float:
        """Return the weighted AUROC with half credit for ties; NaN for one class only."""
        right, wrong = _running(weights[self._right]), weights[self._wrong]
        pairs = right[-1] * wrong.sum()
        if not pairs:
            return float("nan")
        return float(wrong @ (right[self._below] + right[self._level]) / (2 * pairs))


def _running(weights: Weights) -> Weights:
    """Return the sums of the first 0, 1, 2, … weights."""
    sums = np.zeros(len(weights) + 1, np.int64)
    np.cumsum(weights, out=sums[1:])
    return sums


def resamples(clusters: ArrayLike, number: int = RESAMPLES, seed: int = 0) -> Iterator[Weights]:
    """Yield row weights: how often each row's query was drawn, of shape (n,).

    Parameters
    ----------
    clusters : array_like of shape (n,)
        What belongs together: the query of each row.
    """
    _, at = np.unique(np.asarray(clusters), return_inverse=True)
    queries = int(at.max()) + 1 if len(at) else 0
    rng = np.random.default_rng(seed)
    for _ in range(number):
        drawn = np.bincount(rng.integers(queries, size=queries), minlength=queries)
        # Where every query has one row, it does not matter which query is which.
        yield drawn if queries == len(at) else drawn[at]


def compare(
    scores: Mapping[str, ArrayLike],
    correct: Mapping[str, ArrayLike],
    clusters: ArrayLike,
    reference: str,
    *,
    confidence: float = 0.95,
    number: int = RESAMPLES,
    seed: int = 0,
    progress: Callable[[float], None] = lambda share: None,
) -> Comparison:
    """Compare the AUROC of scores on the same resamples [1]_.

    Parameters
    ----------
    scores, correct : mapping of str to array_like of shape (n,)
        Doubts, and whether the answer that each score serves is right.
    clusters : array_like of shape (n,)
        The query of each row.
    reference : str
        The score that all are subtracted from.
    progress : callable
        Told the share of resamples done; may raise to cancel.

    Returns
    -------
    Comparison
        Percentile intervals at the confidence, each by itself.

    Raises
    ------
    ValueError
        When shapes differ, or a correctness is neither 0 nor 1.
    """
    n = len(np.asarray(clusters))
    if any(len(np.asarray(each)) != n for each in scores.values()):
        raise ValueError(f"Give {n} scores, one for every query.")
    ranked = {name: Ranked(scores[name], correct[name]) for name in scores}
    names = list(ranked)
    whole = np.array([ranked[name].auroc(np.ones(n, np.int64)) for name in names])
    drawn = np.empty((number, len(names)))
    for i, weights in enumerate(resamples(clusters, number, seed)):
        if i % 50 == 0:
            progress(i / number)
        drawn[i] = [ranked[name].auroc(weights) for name in names]
    at = names.index(reference)
    return Comparison(
        {n: _interval(whole[j], drawn[:, j], confidence) for j, n in enumerate(names)},
        {
            n: _interval(whole[at] - whole[j], drawn[:, at] - drawn[:, j], confidence)
            for j, n in enumerate(names)
            if j != at
        },
    )


def _interval(value: float, drawn: Floats, confidence: float) -> Interval:
    tail = (1 - confidence) / 2
    lower, upper = np.quantile(drawn, [tail, 1 - tail])
    return Interval(float(value), float(lower), float(upper))
