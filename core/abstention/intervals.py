"""How sure a comparison of scores is: the paired bootstrap.

Every resample draws queries with replacement, the same for all scores, so that what is hard
about a query is hard for all of them and cancels in a difference. Rows of one query stay
together, for they are no independent evidence.

References
----------
.. [1] B. Efron, R. Tibshirani: An Introduction to the Bootstrap, 1993, chapters 13 and 16.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.abstention.blocks import Blocks, checked_rows

RESAMPLES = 2000
ALIKE = 1e-9  # values that differ by rounding alone
SHARE, DIFFERENCE = (0.0, 1.0), (-1.0, 1.0)  # what one pair of rows says of an AUROC, or of two

Floats = NDArray[np.float64]
Weights = NDArray[np.int64]


@dataclass(frozen=True)
class Interval:
    """A number with its interval."""

    value: float  # on the rows as they are
    # lower, upper: NaN where a resample has no value (all answers of one kind).
    lower: float
    upper: float


@dataclass(frozen=True)
class Comparison:
    """One measure of several scores, and its difference from a reference score."""

    values: Mapping[str, Interval]
    differences: Mapping[str, Interval]


class RankedRows:
    """One score's rows in rising order of doubt, ready to be weighed over and over.

    A resample is a weight for every row, a whole number: a row of weight 2 stands twice. So
    nothing is sorted again.
    """

    def __init__(self, scores: ArrayLike, correct: ArrayLike) -> None:
        doubt, wrong = checked_rows(scores, correct)
        doubt = np.where(np.isnan(doubt), np.inf, doubt)
        order = np.argsort(doubt, kind="stable")
        self._order, self._is_wrong = order, wrong[order]
        rising = doubt[order]
        self._last = np.flatnonzero(np.append(rising[1:] != rising[:-1], len(rising) > 0))
        self._doubts = rising[self._last]
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

    def blocks(self, weights: NDArray[Any]) -> Blocks:
        """Return the weighted rows as `all_blocks` has them; a block may be empty.

        Weights of shape (d, n), of several draws, have sums of shape (d, b).
        """
        reordered = weights[..., self._order]
        answered, errors = (
            np.cumsum(each, axis=-1)[..., self._last]
            for each in (reordered, reordered * self._is_wrong)
        )
        return Blocks(self._doubts, answered, errors, int(reordered.sum()))


def precision_at(ranks: Blocks, recalls: Floats) -> Floats:
    """Return the precision where so large a share of all queries is answered, (r,).

    The mean over all orders of tied queries; NaN where fewer queries have a score. `ranks` are of
    all queries; those never answered are one last block, or left out.
    """
    scored = np.count_nonzero(ranks.doubts < np.inf)
    answered, sums = (
        np.concatenate(([0.0], each[:scored])) for each in (ranks.answered, ranks.errors)
    )
    position = recalls * ranks.queries
    errors = np.interp(position, answered, sums)
    # A share as a float may lie above the last query by its rounding.
    there = (position > 0) & (position <= answered[-1] * (1 + 1e-12))
    wrong = np.full(position.shape, np.nan)
    np.divide(errors, position, out=wrong, where=there)
    return 1 - wrong


def _running(weights: Weights) -> Weights:
    sums = np.zeros(len(weights) + 1, np.int64)
    np.cumsum(weights, out=sums[1:])
    return sums


def resamples(clusters: ArrayLike, number: int = RESAMPLES, seed: int = 0) -> Iterator[Weights]:
    """Yield row weights, (n,): how often each row's query, (n,), was drawn."""
    _, at = np.unique(np.asarray(clusters), return_inverse=True)
    queries = int(at.max()) + 1 if len(at) else 0
    rng = np.random.default_rng(seed)
    for _ in range(number):
        multiplicities = np.bincount(rng.integers(queries, size=queries), minlength=queries)
        # Where every query has one row, it does not matter which query is which.
        yield multiplicities if queries == len(at) else multiplicities[at]


def rank_correlation(
    x: ArrayLike,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    number: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """Return Spearman's rank correlation of pairs, (n,), with its bootstrap interval [1]_.

    Equal values share their mean rank, so that values that are only known to be large may all be
    given the same large one. NaN where all values of one kind are equal; so are the interval's
    ends where they are in a resample. With `groups`, each rank is taken less the mean rank of its
    group: what groups have in common, and by what they differ, has no part in the correlation.
    """
    pairs = np.stack([np.asarray(x, float), np.asarray(y, float)])  # (2, n)
    n = pairs.shape[1]
    group = np.zeros(n, int)
    if groups is not None:
        group = np.unique(np.asarray(groups), return_inverse=True)[1]
    at = np.random.default_rng(seed).integers(n, size=(number, n))
    correlation = _spearman(pairs[:, at], group[at])
    return interval(_spearman(pairs[:, None], group[None])[0], correlation)


def _spearman(pairs: Floats, groups: Weights) -> Floats:
    """Return the correlation of ranks within groups of many samples, (samples,).

    `pairs` is of shape (2, samples, n), `groups` of (samples, n).
    """
    from scipy.stats import rankdata  # takes long to load

    ranks = rankdata(pairs, axis=-1)
    cell = (groups + np.arange(len(groups))[:, None] * (groups.max() + 1)).ravel()
    size = np.maximum(np.bincount(cell), 1)
    for row in ranks:
        row -= (np.bincount(cell, row.ravel()) / size)[cell].reshape(row.shape)
    spread = np.sqrt(np.square(ranks).sum(axis=-1).prod(axis=0))
    spread[spread < 1e-9] = 0  # nothing varies but by rounding
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(spread > 0, ranks.prod(axis=0).sum(axis=-1) / spread, np.nan)


@dataclass(frozen=True)
class ConfidenceBand:
    """Precision by recall in the paper’s sense, with its band."""

    recalls: Floats  # (r,): Shares of all queries that are answered
    # (r,): of the rows as they are: the share of right ones among the answered. NaN where fewer
    # queries have a score.
    precision: Floats
    # lower, upper: (r,): each point by itself; of those resamples that answer so many.
    lower: Floats
    upper: Floats


def interval(
    value: float,
    values: Floats,
    confidence: float = 0.95,
    *,
    span: tuple[float, float] | None = None,
    pairs: int = 0,
) -> Interval:
    """Return a number with its percentile interval; without ends where nothing was drawn.

    Where all resamples are alike, as those of a perfect AUROC are, they say nothing of others: then
    the ends are those of `limits_of_constant`, and there are none without a span, the least and the
    largest value of one pair of rows, whose mean the number is. `pairs` have no row in common.
    """
    if not len(values):
        return Interval(float(value), float("nan"), float("nan"))
    tail = (1 - confidence) / 2
    if np.ptp(values) < ALIKE:
        return Interval(float(value), *limits_of_constant(float(value), span, pairs, tail))
    lower, upper = np.quantile(values, [tail, 1 - tail])
    return Interval(float(value), float(lower), float(upper))


def of_few(value: float, least: Floats, largest: Floats, confidence: float = 0.95) -> Interval:
    """Return a number between quantiles of its least and largest values in the resamples."""
    if not len(least) or np.isnan(value):
        return Interval(float(value), float("nan"), float("nan"))
    tail = (1 - confidence) / 2
    lower, upper = float(np.quantile(least, tail)), float(np.quantile(largest, 1 - tail))
    return Interval(float(value), min(lower, float(value)), max(upper, float(value)))


def limits_of_constant(
    value: float, span: tuple[float, float] | None, pairs: int, tail: float
) -> tuple[float, float]:
    """Return exact limits of a mean of which every observation was the same; NaN without a span.

    If the mean is A, one observation is `value` with probability (A − low) / (value − low) at most,
    and all of n are with that to the power of n. Of shares this is Clopper and Pearson's limit.
    `span` is what one of the n independent `pairs` can be; `tail`, the probability that a limit is
    wrong, each by itself.
    """
    if span is None or not pairs:
        return float("nan"), float("nan")
    low, high = span
    reach = tail ** (1 / pairs)
    return low + (value - low) * reach, high - (high - value) * reach


def constant_p_value(difference: float, pairs: int) -> float:
    """Return how often a mean of 0 would show only one and the same difference of two AUROCs.

    Twice the largest probability of all n pairs, each between −1 and 1.
    """
    return min(1.0, 2 * (1 + abs(difference)) ** -pairs)


def independent_pairs(correct: ArrayLike, clusters: ArrayLike) -> int:
    """Return how many pairs of a wrong and a right answer have no question in common."""
    right, of = np.asarray(correct, bool), np.asarray(clusters)
    return min(len(np.unique(of[right])), len(np.unique(of[~right])))
