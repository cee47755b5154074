"""What one threshold does in each group of the data, and in which groups its promise holds.

A promise for all questions says nothing about a part of them: all answered questions of a small
group can be wrong. So every group has a test of its own, at the one threshold; thresholds of
their own would be of no use where a policy decides, for there nobody says a question's group.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.abstention import metrics, thresholds
from core.abstention.ledger import Look
from core.abstention.metrics import Bin
from core.abstention.policy import Policy
from core.codec import one_line
from core.data.tabular.columns import text_numbers
from core.studies.calibration.calibration import Calibration
from core.studies.calibration.delta_spending import look_at

MOST_GROUPS = 50  # with more, a share of δ for each would be too little to show anything


@dataclass(frozen=True)
class Group(Bin):
    """What a policy does to the questions of one group."""

    # Whether what the policy promises for all questions holds for this group by itself.
    promised: bool = False


@dataclass(frozen=True)
class ByGroup:
    """What is promised for the groups."""

    groups: tuple[Group, ...]  # the largest first, `MOST_GROUPS` at most
    policy: Policy | None  # whose promise it is; None without one
    number: int  # of all groups; 0 where all rows are of one
    look: Look | None = None  # what they are paid by; None where looks are not counted


def by_group(calibration: Calibration) -> ByGroup:
    """Return what the policy does in each group, and where its promise holds.

    Every group is certified by Learn-then-Test on its own rows, at δ divided by the number of
    groups (and of scores and targets, where one of several was chosen), so that with the policy's
    confidence all these promises hold together. Where looks are counted, the groups are a look of
    their own, so that they and the promise for all share δ. There are none without a policy, or
    where all rows are of one group.
    """
    policy, data = calibration.policy, calibration.data
    group_of = text_numbers(data.sources)
    rows = np.bincount(group_of)
    if policy is None or len(rows) < 2:
        return ByGroup((), policy, 0)
    tested = policy.method == "ltt" and len(rows) <= MOST_GROUPS
    target, look = calibration.target, None
    if tested and calibration.looks is not None:
        look = _look(calibration, calibration.looks)
        target = replace(target, looks=look.place)
    groups, other = [], data.others.get(calibration.score)
    for number in np.argsort(-rows, kind="stable")[:MOST_GROUPS]:
        chosen = group_of == number
        doubts, correct = calibration.doubts[chosen], calibration.correct[chosen]
        by_other = None if other is None else other.right[chosen]
        (each,) = metrics.by_kind(data.sources[chosen], doubts, correct, policy.threshold, by_other)
        promised = tested and thresholds.certifies(
            doubts,
            correct,
            policy.threshold,
            target_error=policy.target_error,
            confidence=1 - (1 - target.test_confidence) / (len(rows) * policy.scores_tried),
        )
        groups.append(Group(**vars(each), promised=promised))
    return ByGroup(tuple(groups), policy, len(rows), look)


def _look(calibration: Calibration, earlier: Sequence[Look]) -> Look:
    data, target, score = calibration.data, calibration.target, calibration.score
    kinds = sorted(zip(data.queries.tolist(), data.sources.tolist(), strict=True))
    what = ["groups", target.confidence, target.error, kinds]
    return look_at(data, [score], what, f"{one_line(score)}: groups", earlier)
