"""Confirming a policy on rows that nobody had looked at."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.abstention import ledger, thresholds
from core.abstention.codebook import EVERY_ROW
from core.abstention.policy import Policy, PolicyError, check_rows
from core.abstention.thresholds import USUAL_CONFIDENCE, Threshold
from core.codec import one_line
from core.data.tabular import fingerprints
from core.data.tabular.headings import plain_heading
from core.data.tabular.labelled_rows import LabelledRows
from core.studies.calibration.calibration import (
    CalibrationError,
    independent_rows,
    one_kind,
    other_errors,
    rows,
)
from core.studies.calibration.delta_spending import look_at, other_batches


def halves(data: LabelledRows, seed: int = 0) -> tuple[LabelledRows, LabelledRows]:
    """Split queries at random into one half to try settings on and one to confirm on."""
    order = np.argsort(fingerprints.draws(data))
    _, first, at = np.unique(data.questions[order], return_index=True, return_inverse=True)
    queries = len(first)  # by the least number of its rows each, wherever they stand in the table
    shuffled = np.argsort(first)[np.random.default_rng(seed).permutation(queries)]
    second = np.zeros(queries, bool)
    second[shuffled[: queries // 2]] = True
    in_second = np.zeros(len(order), bool)
    in_second[order] = second[at]
    return rows(data, ~in_second), rows(data, in_second)


@dataclass(frozen=True)
class Confirmation:
    """What a finished policy did on rows that nobody had looked at."""

    observed: Threshold  # with the Clopper–Pearson bound of the error among the answered
    keeps_target: bool  # whether that bound is at most the target
    policy: Policy
    confidence: float  # of either bound
    lower_bound: float  # of the same error, exact, too
    other_errors: int | None = None  # by labels of another rule; None without such labels
    look: ledger.Look | None = None  # at labels; None where nobody counts them
    batches: int = 0  # of other labels on which policies of this score were tested before
    label: str = ""  # the column that said which answers are right; "" where nobody knows

    @property
    def exceeds_target(self) -> bool:
        """Whether more than the target is wrong, at that confidence."""
        return self.lower_bound > self.policy.target_error


def confirm(policy: Policy, untouched: LabelledRows, confidence: float) -> Confirmation:
    """Test one policy, chosen elsewhere, on untouched rows: one test, no correction.

    It tests what the policy's method bounds: the error among the answered, or, for conformal
    risk control, the share of all questions that is answered and wrong.
    """
    untouched = independent_rows(untouched)
    doubts, correct = untouched.doubts[policy.score], untouched.correct[policy.score]
    threshold = thresholds.at_threshold(doubts, correct, policy.threshold)
    of_all = policy.method == "crc"
    trials = threshold.queries if of_all else threshold.answered
    bound = thresholds.clopper_pearson(threshold.errors, trials, confidence)
    lower = 1 - thresholds.clopper_pearson(trials - threshold.errors, trials, confidence)
    threshold = replace(threshold, upper_bound=bound)
    others = other_errors(untouched, policy.score, policy.threshold)
    return Confirmation(threshold, bound <= policy.target_error, policy, confidence, lower, others)


def confirm_on(policy: Policy, data: LabelledRows, earlier: Sequence[ledger.Look]) -> Confirmation:
    """Test a policy on new labelled rows, as the next look at them after `earlier` ones.

    Raises `CalibrationError` when looks at these labels have spent δ, or all labels are of one
    kind; `PolicyError` when rows made the policy or may have, as where questions have no names to
    know them by or a look at what made it has their scores and answers, or they do not name its
    pipeline.
    """
    if not policy.rows:
        raise PolicyError(ledger.MAYBE_OWN)
    check_rows(policy, [data.pipeline])
    if reason := _why_not_new(policy, data):
        raise PolicyError(reason)
    one_each = independent_rows(data)
    others = map(fingerprints.of_questions, fingerprints.sentences(one_each.queries))
    numbers = (fingerprints.fingerprints(one_each, policy.score), *others)
    own = int(np.count_nonzero(np.logical_or.reduce([_own_rows(policy, of) for of in numbers])))
    if data.sha256 == policy.data:
        own = len(one_each.kept)
    if own:
        raise PolicyError(ledger.no_test(own, len(one_each.kept)))
    if ledger.cannot_tell(len(policy.row_hashes), policy.labels, len(one_each.kept)):
        raise PolicyError(ledger.TOO_FEW)
    if _are_its_own(policy, data, earlier):
        raise PolicyError(ledger.UNDER_OTHER_QUESTIONS)
    if policy.score in data.one_kind:
        raise CalibrationError(one_kind(data, policy.score))
    return confirm_half(policy, data, earlier)


def confirm_half(
    policy: Policy, data: LabelledRows, earlier: Sequence[ledger.Look]
) -> Confirmation:
    """Test a policy on rows held back of its own table, as the next look at them.

    Raises `CalibrationError` when looks at these labels have spent δ.
    """
    what = ["policy", policy.method, policy.threshold, policy.target_error, policy.confidence]
    look = look_at(data, [policy.score], what, f"policy: {one_line(policy.score)}", earlier)
    if look.place > ledger.MOST_LOOKS:
        raise CalibrationError(ledger.no_budget(look.place))
    delta = (1 - (policy.confidence or USUAL_CONFIDENCE)) / 2**look.place
    batches, book = other_batches(look, earlier), data.codebooks.get(policy.score)
    label = book.label if book else ""
    return replace(confirm(policy, data, 1 - delta), look=look, batches=batches, label=label)


def _are_its_own(policy: Policy, data: LabelledRows, earlier: Sequence[ledger.Look]) -> bool:
    """Return whether a look at just the rows that made a policy shares cells with these rows."""
    own = policy.row_hashes
    return any(
        ledger.asks_the_same(each.rows, own).all() and ledger.asks_the_same(own, each.rows).all()
        for each in ledger.related_looks(ledger.NO_ROWS, earlier, *data.contents)
    )


def _own_rows(policy: Policy, rows: ledger.Rows) -> NDArray[np.bool_]:
    """Return of every row whether its question made the policy, (n,).

    A policy made of more than `MOST_KEPT` questions knows these only: if one of them is here, all
    count as its own.
    """
    own = ledger.asks_the_same(rows, policy.row_hashes)
    return own | (own.any() and policy.labels > ledger.MOST_KEPT)


def _why_not_new(policy: Policy, data: LabelledRows) -> str:
    """Say why a row that made a policy would not be recognised here, or no row is like it; or "".

    Scores and row numbers do not tell: they change with a rounding, a column or the order.
    """
    own, book = policy.codebook, data.codebooks.get(policy.score)
    if own and own.question == EVERY_ROW:
        return ledger.UNNAMED_OWN
    if without := int(fingerprints.names_no_question(data).sum()):
        return ledger.no_names(without, len(data.kept))
    if own and book and plain_heading(own.question) != plain_heading(book.question):
        return ledger.other_names(own.question, book.question)
    if not (own and book):
        return ""
    return next(filter(None, (own.misfit(dict([pair]), math.nan) for pair in book.only)), "")
