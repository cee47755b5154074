"""What resamples of few right or wrong answers cannot show: the questions that were not seen.

A percentile of resamples knows the rows that there are. Of three wrong answers that are all doubted
most, no resample has one that is doubted least. So each row's question has a random weight of its
own, as of the Bayesian bootstrap [1]_, and one question more is as bad as can be, or as good. Of a
single kind of row this is Clopper and Pearson's interval; of numbers between limits, Learned-Miller
and Thomas' [2]_. The interval is wide: that is what so few answers say.

References
----------
.. [1] D. Rubin: The Bayesian Bootstrap, Annals of Statistics 9, 1981.
.. [2] E. Learned-Miller, P. Thomas: A New Confidence Interval for the Mean of a Bounded Random
   Variable, 2019, arXiv 1905.06208.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.abstention.blocks import Blocks

#: Right answers, and wrong ones, from which on the percentiles of resamples are taken.
ENOUGH = 100

Floats = NDArray[np.float64]


def random_weights(
    clusters: ArrayLike, number: int, seed: int = 0
) -> Iterator[tuple[Floats, float, float]]:
    """Yield row weights, of shape (n,), and those of a wrong and a right answer that were not seen.

    Parameters
    ----------
    clusters : array_like of shape (n,)
        The query of each row. One that was not seen has as many rows as the largest.
    """
    _, at, rows = np.unique(np.asarray(clusters), return_inverse=True, return_counts=True)
    rng = np.random.default_rng(seed)
    for _ in range(number):
        weights, (wrong, right) = rng.exponential(size=len(rows)), rng.exponential(size=2)
        yield weights[at], float(wrong * rows.max()), float(right * rows.max())


def extremes(ranks: Blocks, wrong: float, right: float) -> tuple[Floats, Floats, Blocks, Blocks]:
    """Return the least and the largest of each of `metrics.MEASURES`, and the worst and best order.

    Parameters
    ----------
    ranks : Blocks
        Of weighted rows.
    wrong, right : float
        The weights of a wrong and a right answer that were not seen. AUROC and PRR are of both
        kinds, so that each is misplaced, or in its place; the others need only the first answer.

    Returns
    -------
    least, largest : ndarray of shape (m,)
    worst, best : Blocks
        With the wrong or the right answer before all others.
    """
    worst, best = _before(ranks, wrong, wrong), _before(ranks, wrong, 0.0)
    worst_pair = _measures(*_after(worst, right, 0.0))
    best_pair = _measures(*_after(_before(ranks, right, 0.0), wrong, wrong))
    of_worst, of_best = (_measures(each.answered, each.errors) for each in (worst, best))
    pairs = np.array([True, False, False, True])
    least = np.where(pairs, worst_pair, of_best)
    return least, np.where(pairs, best_pair, of_worst), worst, best


def _before(ranks: Blocks, weight: float, errors: float) -> Blocks:
    """Return the order with answers of so much weight before all others."""
    answered = np.append(weight, ranks.answered + weight)
    wrong = np.append(errors, ranks.errors + errors)
    return Blocks(np.append(-np.inf, ranks.doubts), answered, wrong, answered[-1])


def _after(ranks: Blocks, weight: float, errors: float) -> tuple[Floats, Floats]:
    """Return what is answered, and what of it is wrong, with answers after all others."""
    answered, wrong = ranks.answered, ranks.errors
    return np.append(answered, answered[-1] + weight), np.append(wrong, wrong[-1] + errors)


def _measures(answered: NDArray[Any], errors: NDArray[Any]) -> Floats:
    """Return `metrics.MEASURES` of weights, which are sums of parts in place of queries."""
    size, bad = np.diff(answered, prepend=0.0), np.diff(errors, prepend=0.0)
    n, wrong = answered[-1], errors[-1]
    right = n - wrong
    share = bad / np.maximum(size, np.finfo(float).tiny)
    a, b, e = answered[:-1], answered[1:], errors[:-1]
    logs = np.log(np.divide(b, a, out=np.ones(len(a)), where=a > 0))
    aurc = (wrong + (e - a * share[1:]) @ logs) / n
    augrc = size @ (errors + errors - bad) / (2 * n**2)
    if not wrong or not right:
        return np.array([np.nan, aurc, augrc, np.nan])
    before = answered - size - (errors - bad)  # right ones
    auroc = bad @ (before + (size - bad) / 2) / (wrong * right)
    least = (wrong - right * np.log(n / right)) / n
    prr = (wrong / n - aurc) / (wrong / n - least)
    return np.array([min(auroc, 1.0), aurc, augrc, min(prr, 1.0)])  # above 1 by rounding
