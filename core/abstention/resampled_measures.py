"""Every measure and every curve of several scores on the same resamples, in one pass.

With the paper's Figure 5 and its bootstrap band: a resample is drawn and counted once for each
score. Of few right or wrong answers, a resample has a worst and a best value, as
`core.abstention.bayesian_bootstrap` says.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.abstention import intervals
from core.abstention.bayesian_bootstrap import ENOUGH, extremes, random_weights
from core.abstention.metrics import MEASURES, Harmonic, measures

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ResampledMeasures:
    """Measures and curves of several scores, on the rows as they are and on every resample."""

    scores: tuple[str, ...]
    values: Floats  # (s, m): on the rows as they are; of each score by each of `MEASURES`
    # least, largest: (r, s, m): on every resample; one array where there are enough rows.
    least: Floats
    largest: Floats
    # recalls, precision: (p,): the points of each score's curve, on the rows as they are.
    recalls: Mapping[str, Floats]
    precision: Mapping[str, Floats]
    # worst, best: (r, p): the precision of each resample there; likewise.
    worst: Mapping[str, Floats]
    best: Mapping[str, Floats]
    pairs: Mapping[str, int]  # of a wrong and a right answer that have no question in common
    queries: int

    @property
    def number(self) -> int:
        """How many resamples there are."""
        return len(self.least)

    @property
    def is_of_few(self) -> bool:
        """Whether there are fewer than `bayesian_bootstrap.ENOUGH` right or wrong answers."""
        return self.least is not self.largest

    def interval(self, score: str, measure: str, confidence: float = 0.95) -> intervals.Interval:
        """Return a measure with its interval; NaN where there are no resamples.

        Where resamples do not differ, an AUROC has exact limits, and other measures have none.
        """
        at = self.scores.index(score), MEASURES.index(measure)
        if self.is_of_few:
            ends = self.least[:, *at], self.largest[:, *at]
            return intervals.of_few(float(self.values[at]), *ends, confidence)
        span = intervals.SHARE if measure == "auroc" else None
        resampled = self.values[at], self.least[:, *at]
        return intervals.interval(*resampled, confidence, span=span, pairs=self.pairs[score])

    def difference(
        self, score: str, other: str, measure: str, confidence: float = 0.95
    ) -> intervals.Interval:
        """Return by how much a measure of one score exceeds that of another, with its interval."""
        value, least, largest = self._differences(score, other, measure)
        if self.is_of_few:
            return intervals.of_few(value, least, largest, confidence)
        span = intervals.DIFFERENCE if measure == "auroc" else None
        pairs = min(self.pairs[score], self.pairs[other])
        return intervals.interval(value, least, confidence, span=span, pairs=pairs)

    def p_value(self, score: str, other: str, measure: str) -> float:
        """Return how often chance alone would part two scores so far, by the resamples.

        Twice the share of resamples in which the difference is on the other side of 0, or none;
        the rows as they are count as a resample, so that it is never 0. NaN where a resample has
        no value, or there is none.
        """
        value, least, largest = self._differences(score, other, measure)
        if not len(least) or np.isnan(least + largest).any() or math.isnan(value):
            return math.nan
        sides = np.count_nonzero(least <= 0), np.count_nonzero(largest >= 0)
        p_value = float(min(1.0, 2 * (min(sides) + 1) / (len(least) + 1)))
        if measure == "auroc" and not self.is_of_few and np.ptp(least) < intervals.ALIKE:
            pairs = min(self.pairs[score], self.pairs[other])
            return max(p_value, intervals.constant_p_value(value, pairs))
        return p_value

    def band(self, score: str, confidence: float = 0.95) -> intervals.ConfidenceBand:
        """Return a score's precision by recall with its band, each point by itself."""
        worst, best = self.worst[score], self.best[score]
        lower, upper = np.full((2, worst.shape[1]), np.nan)
        some = ~np.isnan(worst).all(axis=0)
        if some.any():
            tail = (1 - confidence) / 2
            lower[some] = np.nanquantile(worst[:, some], tail, axis=0)
            upper[some] = np.nanquantile(best[:, some], 1 - tail, axis=0)
        for at in np.flatnonzero(lower == upper):  # only right answers, or only wrong ones
            answered = max(int(self.recalls[score][at] * self.queries), 1)
            span = intervals.SHARE if lower[at] in intervals.SHARE else None
            lower[at], upper[at] = intervals.limits_of_constant(
                float(lower[at]), span, answered, tail
            )
        return intervals.ConfidenceBand(self.recalls[score], self.precision[score], lower, upper)

    def _differences(self, score: str, other: str, measure: str) -> tuple[float, Floats, Floats]:
        one, two = self.scores.index(score), self.scores.index(other)
        at = MEASURES.index(measure)
        value = self.values[one, at] - self.values[two, at]
        low, high = self.least[:, :, at], self.largest[:, :, at]
        return float(value), low[:, one] - high[:, two], high[:, one] - low[:, two]


def resample(
    scores: Mapping[str, ArrayLike],
    correct: Mapping[str, ArrayLike],
    clusters: ArrayLike,
    recalls: Mapping[str, Floats] | None,
    *,
    number: int = intervals.RESAMPLES,
    seed: int = 0,
    progress: Callable[[float], None] = lambda share: None,
) -> ResampledMeasures:
    """Resample queries, and measure every score on the same ones each time.

    `scores, correct`, (n,): doubts, and whether the answer that each score serves is right.
    `clusters`, (n,): the query of each row.
    `recalls`, (p,): by score: shares of all queries, in (0, 1], at which its curve is wanted. None
    measures the AUROC alone, in a fraction of the time.
    `number`: of resamples; 0 for the rows as they are alone.
    `progress`: told the share of resamples done; may raise to cancel.

    Raises `ValueError` when shapes differ, or a correctness is neither 0 nor 1.
    """
    rows = np.asarray(clusters)
    if any(np.shape(scores[name]) != rows.shape for name in scores):
        raise ValueError(f"Give {len(rows)} scores, one for every query.")
    names = tuple(scores)
    ranked = [intervals.RankedRows(scores[name], correct[name]) for name in names]
    harmonic, ones = Harmonic(), np.ones(len(rows), np.int64)
    whole = [each.blocks(ones) for each in ranked]
    values = np.reshape([measures(each, harmonic) for each in whole], (-1, len(MEASURES)))
    if recalls is None:
        values = values[:, :1]
    points = {name: np.zeros(0) if recalls is None else recalls[name] for name in names}
    pairs = {name: intervals.independent_pairs(correct[name], rows) for name in names}
    shape = number, *values.shape
    least = largest = np.empty(shape)
    worst = best = {name: np.empty((number, len(points[name]))) for name in names}
    if len(rows) and min(pairs.values(), default=ENOUGH) < ENOUGH:
        largest, best = np.empty(shape), {name: np.empty_like(worst[name]) for name in names}
        done = 0
        for masses, wrong, right in random_weights(rows, number, seed):
            progress(done / number)
            here = slice(done, done := done + len(masses))
            for j, name in enumerate(names):
                ranks = ranked[j].blocks(masses)
                low, high, *orders = extremes(ranks, wrong, right)
                least[here, j], largest[here, j] = low[:, : shape[2]], high[:, : shape[2]]
                for each, some in zip((worst, best), orders, strict=True):
                    if points[name].size:
                        each[name][here] = [
                            intervals.precision_at(order, points[name]) for order in some
                        ]
    else:
        for i, weights in enumerate(intervals.resamples(rows, number, seed)):
            if i % 50 == 0:
                progress(i / number)
            for j, name in enumerate(names):
                if recalls is None:
                    least[i, j] = ranked[j].auroc(weights)
                    continue
                ranks = ranked[j].blocks(weights)
                least[i, j] = measures(ranks, harmonic)
                worst[name][i] = intervals.precision_at(ranks, points[name])
    return ResampledMeasures(
        names,
        values,
        least,
        largest,
        points,
        {
            name: intervals.precision_at(each, points[name])
            for name, each in zip(names, whole, strict=True)
        },
        worst,
        best,
        pairs,
        len(np.unique(rows)),
    )


def compare(
    scores: Mapping[str, ArrayLike],
    correct: Mapping[str, ArrayLike],
    clusters: ArrayLike,
    reference: str,
    **options: Any,
) -> intervals.Comparison:
    """Compare scores by AUROC with the reference; the other parameters are those of `resample`.

    The 95% intervals are each by itself.
    """
    bootstrap = resample(scores, correct, clusters, None, **options)
    others = [name for name in scores if name != reference]
    return intervals.Comparison(
        {name: bootstrap.interval(name, "auroc") for name in scores},
        {name: bootstrap.difference(reference, name, "auroc") for name in others},
    )
