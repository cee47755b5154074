"""Confirming a policy on rows that nobody had looked at."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core.abstention import thresholds
from core.abstention.policy import Policy
from core.abstention.thresholds import Threshold
from core.data.tabular.labelled import Labelled
from core.studies.calibration.calibration import independent, rows


def halves(data: Labelled, seed: int = 0) -> tuple[Labelled, Labelled]:
    """Split the rows at random into one half to try settings on and one to confirm on.

    Rows of one query stay in the same half.
    """
    _, at = np.unique(data.questions, return_inverse=True)
    queries = int(at.max()) + 1
    second = np.zeros(queries, bool)
    second[np.random.default_rng(seed).permutation(queries)[: queries // 2]] = True
    return rows(data, ~second[at]), rows(data, second[at])


@dataclass(frozen=True)
class Confirmation:
    """What a finished policy did on rows that nobody had looked at."""

    observed: Threshold  # with the Clopper–Pearson bound of the error among the answered
    kept: bool  # whether that bound is at most the target
    policy: Policy
    confidence: float  # of the bound


def confirm(policy: Policy, untouched: Labelled, confidence: float) -> Confirmation:
    """Test one policy, chosen elsewhere, on untouched rows: one test, no correction.

    It tests what the policy's method bounds: the error among the answered, or, for conformal
    risk control, the share of all questions that is answered and wrong.
    """
    untouched = independent(untouched)
    doubts, correct = untouched.doubts[policy.score], untouched.correct[policy.score]
    threshold = thresholds.at(doubts, correct, policy.threshold)
    of_all = policy.method == "crc"
    trials = threshold.queries if of_all else threshold.answered
    bound = thresholds.clopper_pearson(threshold.errors, trials, confidence)
    threshold = replace(threshold, upper_bound=bound)
    return Confirmation(threshold, bound <= policy.target_error, policy, confidence)
