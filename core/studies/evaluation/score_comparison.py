"""Whether one score is better than another on the rows of a run, and how sure that is.

Scores that serve the same answers share their labels: their AUROCs are compared by DeLong's
test, where there are enough. Others, and other measures, are compared by the paired bootstrap.
The p-values of all comparisons with one score are adjusted for their number by Holm's method; those
of the score that leads are multiplied by it, for the rows chose that score.

References
----------
.. [1] J. Hsu: Simultaneous Confidence Intervals for All Distances from the "Best", Annals of
   Statistics 9, 1981.
"""

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from typing import Final, Literal

import numpy as np
from scipy import special

from core.abstention.intervals import DIFFERENCE, Interval, limits_of_constant
from core.abstention.significance import Delong, delong, holm
from core.studies.evaluation.results import CONFIDENCE, RunMeasures
from core.studies.inspection.certificates import DECIDES, certified_model
from core.uncertainty.validation import Floats

Test = Literal["DeLong", "paired bootstrap"]

LEVEL: Final = 0.05  # of an adjusted p-value, below which a difference counts as shown
FEWEST_OF_A_KIND: Final = (
    10  # right answers, and wrong ones: of fewer, no score leads by more than luck
)
#: Right answers, and wrong ones, from which on DeLong's 95% interval holds in .93 to .96 of
#: simulations; of 3 wrong ones it does in .79.
ENOUGH_FOR_DELONG: Final = 50
LARGER_IS_BETTER: Final = {"auroc": True, "aurc": False, "augrc": False, "prr": True}


@dataclass(frozen=True)
class ScoreComparison:
    """One score held against another by one measure."""

    score: str
    other: str
    measure: str
    values: tuple[float, float]  # of the score, and of the other
    difference: Interval  # the score's value minus the other's; NaN where nothing can be said
    test: Test  # {"DeLong", "paired bootstrap"}
    # p_value, adjusted: Two-sided; by itself, and adjusted for all comparisons with this score.
    p_value: float
    adjusted: float = math.nan

    @property
    def is_significant(self) -> bool:
        """Whether the two differ by more than chance."""
        return self.adjusted < LEVEL

    @property
    def better(self) -> bool:
        """Whether the score is ahead, by however little."""
        return (self.difference.value > 0) == LARGER_IS_BETTER[self.measure]


def compare(
    measured: RunMeasures, score: str, measure: str = "auroc"
) -> tuple[ScoreComparison, ...]:
    """Hold every other score of a run against one, by one of `metrics.MEASURES`.

    None whose weights some of these questions chose: no test holds where it had to do well.
    What the leading score is held against is that of `lead`: a page says one thing of two scores.
    """
    best = lead(measured) if measure == "auroc" else None
    if best is not None and best.score == score:
        return best.others
    names = _comparable(measured)
    others = [other for other in names if score in names and other != score]
    return adjust([_compare(measured, score, other, measure) for other in others])


def _comparable(measured: RunMeasures) -> list[str]:
    return [name for name in measured.results.scores if name not in measured.results.unfit_scores]


@dataclass(frozen=True)
class BestScore:
    """The score to use, and whether it is shown to be the best.

    It has the largest AUROC; or Inspection decides by it, and none is shown to be better.
    """

    score: str
    #: See `auroc_of`: it was chosen as the largest of so many.
    widened: Interval
    rivals: tuple[str, ...]  # those that chance may have put behind it, or ahead
    better: tuple[str, ...]  # those that are shown to be
    #: Against each other score, at a confidence of 1 − .05/(k − 1).
    others: tuple[ScoreComparison, ...]
    is_largest: bool  # whether its AUROC is

    @property
    def beats_chance(self) -> bool:
        """Whether it is shown to find wrong answers at all."""
        return self.widened.lower > 0.5


def ranking(measured: RunMeasures) -> tuple[str, ...]:
    """Return the scores with an AUROC, the largest first, whose weights no question here chose."""
    values = {name: measured.interval(name, "auroc").value for name in _comparable(measured)}
    return tuple(
        sorted((name for name in values if math.isfinite(values[name])), key=lambda n: -values[n])
    )


def lead(measured: RunMeasures) -> BestScore | None:
    """Return which score finds the wrong answers best, and how sure that is; None without AUROCs.

    A score whose weights these questions chose is not among them: here it had to do well.
    The leader is chosen by the data. It is wrongly called the best only if it is shown to be ahead
    of the one that truly is, which it meets in one of k − 1 comparisons: so each p-value is taken
    k − 1 times [1]_.
    """
    names = ranking(measured)
    if not names:
        return None
    leader = _lead(measured, names[0], names)
    model = certified_model(measured.results.run.pipeline.revision)
    if model and DECIDES[model] in leader.rivals:
        of = _lead(measured, DECIDES[model], names)
        if of.beats_chance and not of.better:
            return of
    return leader


def _agreeing(of: ScoreComparison) -> ScoreComparison:
    """Return a comparison whose interval reaches 0 unless its p-value shows a difference.

    A quantile lies between two resamples, which the p-value counts.
    """
    if of.is_significant:
        return of
    value, lower, upper = astuple(of.difference)
    return replace(of, difference=Interval(value, min(lower, 0.0), max(upper, 0.0)))


def auroc_of(measured: RunMeasures, score: str, names: Sequence[str]) -> Interval:
    """Return the AUROC of one of some scores, its interval so wide that all hold together."""
    confidence = 1 - (1 - CONFIDENCE) / len(names)
    return measured.resampled.interval(score, "auroc", confidence)


def _lead(measured: RunMeasures, score: str, names: Sequence[str]) -> BestScore:
    """Hold a score against the others of some names, the one with the largest AUROC first."""
    others = [name for name in measured.results.scores if name in names and name != score]
    together = 1 - (1 - CONFIDENCE) / max(len(others), 1)
    by = [_compare(measured, score, other, "auroc", together) for other in others]
    every = tuple(
        _agreeing(replace(each, adjusted=float(np.minimum(1, each.p_value * len(by)))))
        for each in by
    )
    shown = [each for each in every if each.is_significant]
    return BestScore(
        score,
        auroc_of(measured, score, names),
        tuple(each.other for each in every if each not in shown),
        tuple(each.other for each in shown if not each.better),
        every,
        is_largest=score == names[0],
    )


def adjust(comparisons: Sequence[ScoreComparison]) -> tuple[ScoreComparison, ...]:
    """Return comparisons, p-values adjusted for their number; an unknown one shows nothing."""
    p_values = adjusted_p_values(
        [each.p_value for each in comparisons], [each.difference.value for each in comparisons]
    )
    return tuple(
        replace(each, adjusted=float(p)) for each, p in zip(comparisons, p_values, strict=True)
    )


def adjusted_p_values(p_values: Sequence[float], differences: Sequence[float]) -> Floats:
    """Return p-values of differences adjusted for their number by Holm's method; NaN if unknown.

    One that is unknown counts as 1 where there is a difference.
    """
    unknown = np.isnan(p_values)
    counted = np.where(unknown & ~np.isnan(differences), 1.0, p_values)
    return np.where(unknown, math.nan, holm(counted)) if len(counted) else counted


def _compare(
    measured: RunMeasures, score: str, other: str, measure: str, confidence: float = CONFIDENCE
) -> ScoreComparison:
    results, resampled = measured.results, measured.resampled
    values = tuple(resampled.interval(name, measure).value for name in (score, other))
    share_labels = np.array_equal(results.correct[score], results.correct[other])
    if measure == "auroc" and share_labels and results.has_independent_rows:
        by = delong(results.doubts[score], results.doubts[other], results.correct[score])
        if by.pairs >= ENOUGH_FOR_DELONG:
            difference = of_test(by, confidence)
            return ScoreComparison(
                *(score, other, measure, (by.first, by.second)), difference, "DeLong", by.p_value
            )
    return ScoreComparison(
        *(score, other, measure, (values[0], values[1])),
        resampled.difference(score, other, measure, confidence),
        "paired bootstrap",
        resampled.p_value(score, other, measure),
    )


def of_test(by: Delong, confidence: float = CONFIDENCE) -> Interval:
    """Return the difference of two AUROCs with its interval, an exact one where no row differs."""
    difference = by.first - by.second
    if by.error == 0:
        limits = limits_of_constant(difference, DIFFERENCE, by.pairs, (1 - confidence) / 2)
        return Interval(difference, *limits)
    return normal(difference, by.error, confidence)


def normal(value: float, error: float, confidence: float = CONFIDENCE) -> Interval:
    """Return a number with the interval that its standard error gives."""
    reach = float(special.ndtri((1 + confidence) / 2)) * error
    return Interval(value, value - reach, value + reach)
