"""Whether a policy’s file agrees with itself, and its numbers can prove what it promises."""

import math
from collections.abc import Mapping
from typing import Any

from core.abstention.ledger import LABEL
from core.abstention.policy import Policy, PolicyError, own_direction, to_dict
from core.codec import count_of, percent


def check_promise(policy: Policy) -> None:
    """Check that the labels of a policy can prove what it promises by Learn-then-Test.

    Each look at the labels, and each score and target tried, must be paid for out of δ, and its
    rows must be as many, and as right, as it counts. No file is signed:
    one that is edited so that all of it agrees is believed.

    Raises `PolicyError` when they cannot.
    """
    rows = policy.row_hashes
    right = int((rows & LABEL).astype(bool).sum())
    # Rows that a number stands for together would hide how many were right.
    is_whole = len(rows) == policy.labels
    if (
        len(rows) > policy.labels
        or (is_whole and policy.errors > len(rows) - right)
        or (is_whole and policy.answered - policy.errors > right)
    ):
        raise PolicyError(
            f"This policy names {count_of(len(rows), 'row')}, {right:,} of them right, which "
            f"contradicts that of {policy.labels:,} it answers {policy.answered:,}, "
            f"{policy.errors:,} wrongly. Somebody has changed it: calibrate again."
        )
    trials = policy.labels if policy.method == "crc" else policy.answered
    if policy.upper_bound is not None and policy.upper_bound * trials < policy.errors - 1e-9:
        raise PolicyError(
            "This policy’s upper bound is below the share that was wrong. Somebody has changed it: "
            "calibrate again."
        )
    if policy.method == "crc" and (policy.errors + 1) / (policy.labels + 1) > policy.target_error:
        raise PolicyError(
            f"This policy promises at most {percent(policy.target_error)} answered and wrong, and "
            f"{policy.errors:,} of {policy.labels:,} were. Somebody has "
            "changed it: calibrate again."
        )
    if policy.method != "ltt":
        return
    from core.abstention.thresholds import p_values  # SciPy takes long to load

    tried = policy.scores_tried * policy.targets_tried
    tests = 2**policy.looks * tried
    delta = math.ldexp(
        (1 - (policy.confidence or 0)) / tried, -policy.looks
    )  # which never overflows
    bound = policy.upper_bound
    # The bound is at δ or at what of it a look, a score or a walk may spend: never at far less.
    if bound is not None and p_values(policy.answered, policy.errors, bound) < delta / 100:
        raise PolicyError(
            f"This policy’s upper bound of {percent(bound)} is not that of {policy.errors:,} wrong "
            f"among {policy.answered:,} answered. Somebody has changed it: calibrate again."
        )
    promises = [(policy.target_error, policy.answered, policy.errors)]
    if policy.belief:
        own = policy.belief
        promises.append((own.target_error, own.answered, own.errors))
    for error, answered, errors in promises:
        if p_values(answered, errors, error) > delta * (1 + 1e-9):
            paid = f", after {tests:,} tests" if tests > 1 else ""
            raise PolicyError(
                f"This policy promises at most {percent(error)} wrong, and {errors:,} of "
                f"{answered:,} answered questions were wrong, which cannot prove that{paid}. "
                "Somebody has changed it: calibrate again."
            )


def check_agreement(policy: Policy, content: Mapping[str, object]) -> None:
    """Refuse the file of a policy that contradicts itself; older ones say less.

    Raises `PolicyError`.
    """
    book, own = policy.codebook, to_dict(policy)
    rules = [own["rule"]]
    if math.isfinite(policy.threshold):  # as earlier versions rounded it
        limit = own_direction(policy.threshold, policy.larger_is_surer)
        rules.append(f"{own['rule'].rpartition(' ')[0]} {limit:.6g}")
    answer_if = own["answer_if"]
    pairs: list[tuple[str, str, Any, Any]] = [
        ("answer_if", "threshold", content.get("answer_if", answer_if), answer_if),
        ("rule", "threshold", content.get("rule", own["rule"]) in rules, True),
    ]
    if book:
        pairs += [
            ("codebook", "score", book.score, policy.score),
            ("codebook", "larger_is_surer", book.larger_is_surer, policy.larger_is_surer),
            ("codebook", "labels", max(book.rows, policy.labels), book.rows),  # one a question
        ]
    for one, other, here, there in pairs:
        if here != there:
            raise PolicyError(
                f"The policy’s “{one}” and “{other}” contradict each other, so somebody has "
                "changed one of them. Download the policy again, or choose λ on Calibration."
            )
