"""What a policy decides on the rows of a run: counted, and no test of it.

A test pays for its look at the labels: `core.studies.calibration.holdout`.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.abstention import metrics, thresholds
from core.abstention.metrics import Bin
from core.abstention.policy import Policy, PolicyError, check_pipeline
from core.abstention.thresholds import Threshold
from core.codec import one_line
from core.data.tabular.csv_export import to_csv
from core.studies.evaluation.results import Results
from core.studies.inspection.pipeline import to_text
from core.uncertainty.scores import SCORES


@dataclass(frozen=True, eq=False)
class PolicyDecisions:
    """A policy on the rows of a run that count."""

    results: Results
    policy: Policy
    answers: NDArray[np.bool_]  # (n,): whether each row is answered
    observed: Threshold  # on one row of every question; without a bound
    other_errors: int  # how many of the answers on those rows are wrong by the other label
    by_source: tuple[Bin, ...]  # of those rows; empty where all are of one source


def decide(results: Results, policy: Policy) -> PolicyDecisions:
    """Decide on every row by a policy, and count what it answers wrongly.

    Raises `PolicyError` when another pipeline made the scores of the run, or the policy goes by
    another score.
    """
    if policy.score not in SCORES or policy.larger_is_surer:
        raise PolicyError(f"No run has the score “{one_line(policy.score)}” of this policy.")
    check_pipeline(policy, results.run.pipeline)
    if results.served:  # a policy serves the answers of its own score
        results = replace(results, served=None)
    doubts, correct = results.doubts[policy.score], results.correct[policy.score]
    _, first = np.unique(results.questions, return_index=True)
    threshold = thresholds.at_threshold(doubts[first], correct[first], policy.threshold)
    by_other = results.by_other_label.correct[policy.score]
    other = thresholds.at_threshold(doubts[first], by_other[first], policy.threshold)
    sources = results.sources[first]
    bins: list[Bin] = []
    if len(set(sources)) > 1:
        rows = doubts[first], correct[first], policy.threshold, by_other[first]
        bins = metrics.by_kind(sources, *rows)
        bins.sort(key=lambda each: (-each.queries, each.name))
    return PolicyDecisions(
        results, policy, doubts < policy.threshold, threshold, other.errors, tuple(bins)
    )


def decisions_csv(decided: PolicyDecisions) -> bytes:
    """Return every row with its doubt and the decision, as a disarmed CSV.

    Its headings and pipeline are those of `labelled_table`: whoever calibrates on it reads whose
    labels they are.
    """
    results, score = decided.results, decided.policy.score
    answers = results.answers(score)
    other, pipeline = results.by_other_label, to_text(results.run.pipeline)
    headings = ("id", "question", "source", "answer", score, "decision", f"{score}_correct")
    return to_csv(
        (*headings, f"{score}_correct_{other.match}", "pipeline"),
        (
            (
                *(id, query, source, answer),
                "" if math.isnan(doubt) else float(doubt),
                "answer" if answered else "abstain",
                *map(int, right),
                pipeline,
            )
            for id, query, source, answer, doubt, answered, *right in zip(
                *(results.ids, results.queries, results.sources, answers),
                *(results.doubts[score], decided.answers),
                *(results.correct[score], other.correct[score]),
                strict=True,
            )
        ),
    )
