"""What every target costs: how much is answered if at most so many may be wrong.

Somebody who looks at several targets and takes the one that can be promised has chosen after
looking. So the whole list is one family: each target is tested at δ divided by their number, and
with the stated confidence all that the list promises holds at once, whichever row is taken and
for whatever reason.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from core.abstention.thresholds import Threshold, for_each_target
from core.data.tabular.labelled_rows import LabelledRows
from core.studies.calibration.calibration import BEST, Target, independent_rows

TARGETS: Final = (0.02, 0.05, 0.06, 0.08, 0.1, 0.15, 0.2)


@dataclass(frozen=True)
class TargetPrice:
    """What one target costs."""

    error: float  # the target: the share of answered questions that may be wrong
    score: str | None  # the score that it is about; None where this target cannot be promised
    threshold: Threshold | None  # None where this target cannot be promised


def list_entry(target: Target, error: float) -> Target:
    """Return what a row of the list tests: its error, at its share of a target's δ."""
    return replace(target, error=error, method="ltt", targets_tried=len(TARGETS))


def price_list(data: LabelledRows, target: Target) -> tuple[TargetPrice, ...]:
    """Return the price of each of `TARGETS`, tested as one family by Learn-then-Test.

    Each row is what `calibrate` finds for `list_entry`.

    `target`: says the confidence and the score, and what it may spend, as of `with_budget`; its own
    error and method do not count.
    """
    data = independent_rows(data)
    scores = list(data.doubts) if target.score == BEST else [target.score]
    tried = max(len(scores), target.scores_tried)
    confidence = replace(list_entry(target, target.error), scores_tried=tried).score_confidence
    best = [TargetPrice(error, None, None) for error in TARGETS]
    for score in scores:
        rows = data.doubts[score], data.correct[score]
        prices = for_each_target(*rows, target_errors=TARGETS, confidence=confidence)
        for place, threshold in enumerate(prices):
            before = best[place].threshold
            if threshold and (before is None or threshold.answered > before.answered):
                best[place] = replace(best[place], score=score, threshold=threshold)
    # Labels of one kind promise nothing: nobody has seen how they mark the other.
    return tuple(
        TargetPrice(each.error, None, None) if each.score in data.one_kind else each
        for each in best
    )


def smallest(prices: Sequence[TargetPrice]) -> TargetPrice | None:
    """Return the smallest target that can be promised, if any can."""
    return next((price for price in prices if price.threshold is not None), None)
