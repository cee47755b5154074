"""The Bayesian bootstrap for few right or wrong answers, with the questions that were not seen.

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

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.abstention.blocks import Blocks

#: Right answers, and wrong ones, from which on the percentiles of resamples are taken.
ENOUGH = 100
CELLS = 10_000  # weights that are computed on at once: more are no faster

Floats = NDArray[np.float64]


def random_weights(
    clusters: ArrayLike, number: int, seed: int = 0
) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Yield row weights, and those of a wrong and a right answer that were not seen.

    Of shapes (d, n), (d,) and (d,): some draws at a time, all of them together `number`.
    `clusters`, (n,), is the query of each row. One that was not seen has as many rows as the
    largest.
    """
    _, at, rows = np.unique(np.asarray(clusters), return_inverse=True, return_counts=True)
    rng = np.random.default_rng(seed)
    together = max(1, min(50, CELLS // len(at)))
    for start in range(0, number, together):
        weights = rng.exponential(size=(min(together, number - start), len(rows) + 2))
        wrong, right = weights[:, -2:].T * rows.max()
        yield weights[:, at], wrong, right


def extremes(
    ranks: Blocks, wrong: Floats, right: Floats
) -> tuple[Floats, Floats, list[Blocks], list[Blocks]]:
    """Return the least and the largest of each of `metrics.MEASURES`, and the worst and best order.

    Of d draws: the measures (d, m), and the blocks of each draw with the wrong or the right answer
    before all others. The sums of `ranks`, of weighted rows, are (d, b). `wrong` and `right`, (d,),
    weigh a wrong and a right answer that were not seen. AUROC and PRR are of both kinds, so that
    each is misplaced, or in its place; the others need only the first answer.
    """
    # Four orders: two of pairs, which have the other answer after all others, and two without it.
    parts = np.zeros((2, 4, len(wrong), len(ranks.doubts) + 2))  # of all, and of the wrong
    parts[0, ..., 0] = wrong, right, wrong, wrong
    parts[1, ::2, :, 0] = wrong
    parts[0, :2, :, -1] = right, wrong
    parts[1, 1, :, -1] = wrong
    parts[..., 1:-1] = np.diff([ranks.answered, ranks.errors], prepend=0.0)[:, None]
    sums = parts.cumsum(axis=-1)
    worst_pair, best_pair, of_worst, of_best = _measures(*parts, *sums)
    doubts = np.append(-np.inf, ranks.doubts)
    worst, best = (
        [Blocks(doubts, each[0, :-1], each[1, :-1], each[0, -1]) for each in draws]
        for draws in sums[:, 2:].transpose(1, 2, 0, 3)
    )
    pairs = np.array([True, False, False, True])
    least = np.where(pairs, worst_pair, of_best)
    return least, np.where(pairs, best_pair, of_worst), worst, best


def _measures(size: Floats, bad: Floats, answered: Floats, errors: Floats) -> Floats:
    """Return `metrics.MEASURES` of weights in place of queries: the last axis, which was of blocks.

    `size`, `bad`: all weights of a block and those of the wrong; `answered`, `errors`: their sums.
    """
    n, wrong = answered[..., -1], errors[..., -1]
    right = n - wrong
    share = bad / np.maximum(size, np.finfo(float).tiny)
    a, b, e = answered[..., :-1], answered[..., 1:], errors[..., :-1]
    logs = np.log(np.divide(b, a, out=np.ones_like(a), where=a > 0))
    aurc = (wrong + ((e - a * share[..., 1:]) * logs).sum(axis=-1)) / n
    augrc = (size * (errors + errors - bad)).sum(axis=-1) / (2 * n**2)
    before = answered - size - (errors - bad)  # right ones
    with np.errstate(invalid="ignore", divide="ignore"):  # without a wrong or a right one: NaN
        auroc = (bad * (before + (size - bad) / 2)).sum(axis=-1) / (wrong * right)
        least = (wrong - right * np.log(n / right)) / n
        prr = (wrong / n - aurc) / (wrong / n - least)
    pairs = np.minimum([auroc, prr], 1.0)  # above 1 by rounding
    auroc, prr = np.where((wrong > 0) & (right > 0), pairs, np.nan)
    return np.stack([auroc, aurc, augrc, prr], axis=-1)
