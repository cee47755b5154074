"""Behind a calibration: curves, bins, and all scores compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.abstention import intervals, metrics
from core.abstention import resampled_measures as resampling
from core.abstention.metrics import Bin, Curve
from core.abstention.thresholds import Threshold, Uncertifiable
from core.data.tabular.labelled_rows import LabelledRows
from core.studies.calibration.calibration import Calibration, outcome_of
from core.studies.progress import Progress, silent


def curves(data: LabelledRows) -> dict[str, Curve]:
    """Return every score's risk–coverage curve, exact and complete."""
    return {name: metrics.curve(data.doubts[name], data.correct[name]) for name in data.doubts}


def contradictions(data: LabelledRows) -> dict[str, float]:
    """Return the scores that the labels contradict: wrong answers look surer than right ones.

    By score, the AUROC of each that is three standard errors of a score that knows nothing below
    one half (Mann and Whitney, without ties, which only makes them smaller).
    """
    by_score = {}
    for name, doubts in data.doubts.items():
        present = ~np.isnan(doubts)
        right = data.correct[name][present]
        auroc = metrics.auroc(doubts[present], right)
        pairs = np.count_nonzero(right) * np.count_nonzero(~right)
        if pairs and 0.5 - auroc > 3 * np.sqrt((len(right) + 1) / (12 * pairs)):
            by_score[name] = auroc
    return by_score


@dataclass(frozen=True)
class BinDecisions:
    """What one score's own threshold does in every bin of entropy."""

    score: str
    threshold: float
    bins: tuple[Bin, ...]


def by_entropy(calibration: Calibration, others: Sequence[str] = ()) -> tuple[BinDecisions, ...]:
    """Return recall and error by entropy, each score that is certified at its own threshold."""
    data = calibration.data
    if data.entropies is None:
        return ()
    parts = []
    for name in dict.fromkeys([calibration.score, *others]):
        outcome = calibration.outcome
        if name != calibration.score:
            _, outcome = outcome_of(data, replace(calibration.target, score=name))
        if isinstance(outcome, Threshold):
            doubts, correct = data.doubts[name], data.correct[name]
            other = data.others[name].right if name in data.others else None
            bins = metrics.by_entropy(data.entropies, doubts, correct, outcome.value, other)
            parts.append(BinDecisions(name, outcome.value, tuple(bins)))
    return tuple(parts)


@dataclass(frozen=True)
class AurocComparison:
    """One score in the comparison."""

    score: str
    auroc: intervals.Interval
    difference: intervals.Interval | None  # the chosen score's AUROC minus this one's
    aurc: float
    outcome: Threshold | Uncertifiable


def compare(
    calibration: Calibration,
    progress: Progress = silent,
    *,
    resamples: int = intervals.RESAMPLES,
    resampled: dict[str, intervals.Comparison] | None = None,
) -> tuple[AurocComparison, ...]:
    """Compare all scores of the data with the chosen one, by the paired bootstrap.

    `resampled`: what earlier calls resampled of the same data, by the chosen score; what this one
    resamples is added. It does not depend on the target.
    """
    data, intervals_of = calibration.data, {} if resampled is None else resampled
    interval = intervals_of.get(calibration.score)
    if interval is None:
        interval = intervals_of[calibration.score] = resampling.compare(
            data.doubts,
            data.correct,
            data.questions,
            calibration.score,
            number=resamples,
            progress=lambda share: progress("Resampling the labelled rows", share),
        )
    target = replace(calibration.target, score=calibration.score)
    return tuple(
        AurocComparison(
            score=name,
            auroc=interval.values[name],
            difference=interval.differences.get(name),
            aurc=metrics.aurc(data.doubts[name], data.correct[name]),
            outcome=outcome_of(data, replace(target, score=name))[1],
        )
        for name in data.doubts
    )


def shares(calibration: Calibration, edges: int = 40) -> Mapping[str, NDArray[np.float64]]:
    """Return the histogram of the score in its own direction, right and wrong apart.

    "start", "end", "right", "wrong", each of shape (bins,). Missing and infinite scores are left
    out.
    """
    numbers = calibration.numbers
    finite = np.isfinite(numbers)
    values, right = numbers[finite], calibration.correct[finite]
    if not len(values):
        empty = np.zeros(0)
        return {"start": empty, "end": empty, "right": empty, "wrong": empty}
    low, high = float(values.min()), float(values.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    bounds = 2 * np.linspace(low / 2, high / 2, edges + 1)  # high - low may be too large
    bounds[0], bounds[-1] = low, high
    return {
        "start": bounds[:-1],
        "end": bounds[1:],
        "right": np.histogram(values[right], bounds)[0].astype(float),
        "wrong": np.histogram(values[~right], bounds)[0].astype(float),
    }
