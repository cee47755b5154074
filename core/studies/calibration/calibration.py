"""Calibration: from labelled scores to a policy that keeps its promise, or a plain no.

`calibrate` turns labelled data and a target into a `Calibration`: the policy, the curves
behind it and what it does to the parts of the data. Nothing here asks a model.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.abstention import ledger, thresholds
from core.abstention.ledger import MOST_LOOKS, Look
from core.abstention.policy import Policy, pipeline_in
from core.abstention.thresholds import Threshold, Uncertifiable
from core.codec import list_of, one_line, percent
from core.data.datasets.predictions import UNGRADED, UngradedError, asks_for_grading, without_scores
from core.data.datasets.tables import holds_questions
from core.data.tabular import uploads
from core.data.tabular.columns import kinds
from core.data.tabular.directions import direction_in
from core.data.tabular.fingerprints import draws, fingerprints, same_answers
from core.data.tabular.headings import RULES
from core.data.tabular.label_meanings import Meaning, meanings_in, own_labels
from core.data.tabular.labelled_rows import Columns, LabelledRows, ScoreColumn, labelled_rows
from core.data.tabular.missing_columns import no_score, questions_alone, without_labels
from core.data.tabular.mixed_rows import RowFilter
from core.data.tabular.suggestions import label_columns, suggest
from core.data.tabular.suspicion import Claim
from core.data.tabular.uploads import Upload, UploadError
from core.studies.calibration.delta_spending import look_at
from core.studies.calibration.example import example_hashes
from core.studies.inspection.verdict import SCORE

BEST = "best of all scores"
MOST_NAMED = 5  # scores, in words
METHODS = {
    "ltt": "Learn-then-Test (promise)",
    "crc": "Conformal risk control (bounds errors among all questions)",
    "empirical": "Empirical rule of the paper (no promise)",
}


class CalibrationError(ValueError):
    """A target or a setting that cannot be calibrated for; the message says why."""


@dataclass(frozen=True)
class Target:
    """What a person wants."""

    error: float = 0.05  # α, in (0, 1)
    confidence: float = 0.9  # 1 − δ, in (0, 1)
    method: str = "ltt"  # a key of `METHODS`
    score: str = BEST  # a score of the data, named beforehand, or `BEST`
    # Among how many errors this one is chosen after a look at the labels. Learn-then-Test divides δ
    # by it, so that all of them are promised at once.
    targets_tried: int = 1
    # Which look at the labels this is: it may spend δ / 2^looks. 0 if all of δ is its own.
    looks: int = 0
    # Among how many scores this one is chosen, in one test or after a look at them. δ is divided by
    # it.
    scores_tried: int = 1

    def __post_init__(self) -> None:
        """Enforce the limits, whatever the screen in front of us allowed."""
        if not 0 < self.error < 1:
            raise CalibrationError(
                f"The target error is {self.error}; choose one between 0 and 1, such as 0.05."
            )
        if not 0 < self.confidence < 1:
            raise CalibrationError(
                f"The confidence is {self.confidence}; choose one between 0 and 1, such as 0.9."
            )
        if self.score_confidence >= 1:
            raise CalibrationError(
                "What this look may spend of δ is too little to compute with. Lower the "
                "confidence, or calibrate on other labels."
            )
        if self.method not in METHODS:
            raise CalibrationError(
                f"There is no method “{self.method}”. Choose one of: {', '.join(METHODS)}."
            )
        if self.score == BEST and self.method != "ltt":
            raise CalibrationError(
                "Only Learn-then-Test can choose the best of several scores and account for "
                "the choice. Name one score."
            )
        if self.targets_tried < 1 or (self.targets_tried > 1 and self.method != "ltt"):
            raise CalibrationError(
                "Only Learn-then-Test can choose among several targets and account for the choice."
            )

    @property
    def test_confidence(self) -> float:
        """The confidence of every test: a look's part of δ is divided by the number of targets."""
        return 1 - self.delta / self.targets_tried

    @property
    def score_confidence(self) -> float:
        """The same of one of several scores, which share what a test may spend."""
        return 1 - (1 - self.test_confidence) / self.scores_tried

    @property
    def delta(self) -> float:
        """What this look may spend of δ."""
        return math.ldexp(1 - self.confidence, -self.looks)  # which never overflows


@dataclass(frozen=True)
class Calibration:
    """What came out."""

    data: LabelledRows
    target: Target
    score: str  # the score that the outcome is about: the named one, or the best
    outcome: Threshold | Uncertifiable
    policy: Policy | None  # None where nothing could be certified
    repeated: int = 0  # how many rows were left out because another row asks the same question
    # All that are known by now, of these labels or others; None where nobody counts them.
    looks: tuple[Look, ...] | None = None
    look: Look | None = None  # this one

    @property
    def doubts(self) -> NDArray[np.float64]:
        """The score's doubts."""
        return self.data.doubts[self.score]

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Whether the answer that the score serves is right."""
        return self.data.correct[self.score]

    @property
    def larger_is_surer(self) -> bool:
        """Whether the score is a confidence, which its doubts are the negatives of."""
        return self.data.surer[self.score]

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The score as the file has it: in its own direction."""
        return self.data.numbers(self.score)


def calibrate(
    data: LabelledRows, target: Target, *, looks: Sequence[Look] | None = None
) -> Calibration:
    """Find the threshold that a target asks for, on one row of every question.

    `looks`: what was looked at before, by anybody, on these labels or others: this is the next
    look, and spends its part of δ. All of δ where they are not given.

    Raises `CalibrationError` when the target's score is none of the data.
    """
    if target.score != BEST and target.score not in data.doubts:
        raise CalibrationError(
            f"There is no score “{target.score}” in the data. Choose one of: "
            f"{', '.join(data.doubts)}."
        )
    look, settings_tried = None, 1
    if looks is not None:
        look = look_at_target(data, target, looks)
        looks = (*looks, *([] if look in looks else [look]))
        settings_tried = 1 if target.method == "ltt" else look.place
    target = with_budget(data, target, look, looks or ())
    everything, data = len(data.kept), independent_rows(data)
    name, outcome = outcome_of(data, target)
    policy = None
    if isinstance(outcome, Threshold):
        policy = _policy(
            data,
            target,
            name,
            outcome,
            method=target.method,
            confidence=target.confidence if target.method == "ltt" else None,
            scores_tried=target.scores_tried,
            settings_tried=settings_tried,
            targets_tried=target.targets_tried,
            looks=target.looks if target.method == "ltt" else 0,
        )
    repeated = everything - len(data.kept)
    return Calibration(
        data, target, name, outcome, policy, repeated, None if looks is None else tuple(looks), look
    )


def outcome_of(data: LabelledRows, target: Target) -> tuple[str, Threshold | Uncertifiable]:
    """Return the score that a target takes, and what is certified of it on independent rows."""
    name, outcome = _paid_outcome(data, target)
    if name in data.one_kind and isinstance(outcome, Threshold):
        outcome = Uncertifiable(one_kind(data, name), None)
    return name, outcome


def independent_rows(data: LabelledRows) -> LabelledRows:
    """Return one row of every question, drawn at random; the data itself if none is repeated.

    Rows in another order give the same: to sort or to shuffle a file is no way to draw again.

    The exact tests take rows for independent draws. Several answers to one question are not:
    counted as if they were, they break the promise in two to three times as many calibrations
    as it allows. What one copy of an answer calls wrong is wrong in all.
    """
    number = len(data.kept)
    if len(np.unique(data.questions)) == number:
        return data
    answers, right = same_answers(data), {}
    for labels in data.correct.values():  # of several scores, perhaps the same
        right[id(labels)] = ~np.isin(answers, answers[~labels])
    data = replace(data, correct={name: right[id(each)] for name, each in data.correct.items()})
    order = np.argsort(draws(data))
    _, first = np.unique(data.questions[order], return_index=True)
    chosen = np.zeros(number, bool)
    chosen[order[first]] = True
    return rows(data, chosen)


def read(
    content: bytes,
    name: str,
    scores: Sequence[str] = (),
    correct: str | None = None,
    larger_is_surer: bool | None = None,
    meanings: Mapping[str, Meaning] | None = None,
    parse: Callable[[bytes, str], Upload] = uploads.parse,
    group: str | None = None,
    question: str | None = None,
    vouched: Sequence[str] = (),
    graded: Callable[[Upload], Upload] | None = None,
    filters: Sequence[RowFilter] = (),
) -> LabelledRows:
    """Read a labelled file, guessing what is not said about its columns.

    Raises `UnknownMixtureError` when rows are of several models, filters or epochs, and nothing
    says which of them count; `UnknownDirectionError` when neither a heading nor `larger_is_surer`
    says which way a score points; `UnreadLabelsError` when a label says neither right nor wrong,
    and nothing is said of its meaning; `UploadError` when the file cannot be read, or lacks what it
    takes.

    `larger_is_surer`: of every score; by default, what its heading says.
    `meanings`: what values of the labels mean; "" is the empty cell.
    `parse`: for a file that a stranger may have written,
    `core.data.tabular.isolation.parse_isolated`.
    `group, question`: the column of groups, and the one that says which question a row asks: "" if
    there is none, or each row asks another; guessed if None.
    `vouched`: scores that a person vouches for: `core.data.tabular.suspicion`.
    `graded`: makes the labels of a table, of predictions beside references.
    `filters`: which rows count, of those of several models, filters or epochs.
    """
    upload = parse(content, name)
    if graded:
        upload = graded(upload)
    elif not correct and asks_for_grading(upload):
        raise UngradedError(UNGRADED)
    guess = suggest(upload)
    if graded and not guess.scores and not scores:
        raise UploadError(without_scores(upload))
    if not (scores or guess.scores) and holds_questions(upload):
        raise UploadError(questions_alone(upload))
    columns = choice(upload, guess, scores, correct, larger_is_surer)
    if group is not None:
        columns = replace(columns, source=group or None)
    if question is not None:
        columns = replace(columns, query=question)
    if meanings:
        names = [name for name in columns.labels if name in upload.table.columns]
        columns = replace(columns, meant=meanings_in(upload, names, meanings))
    if strange := [name for name in vouched if name not in {s.column for s in columns.scores}]:
        raise UploadError(f"“{one_line(strange[0])}” is no score here, so nobody can vouch for it.")
    claims = tuple((score, claim) for score in vouched for claim in Claim)
    return labelled_rows(upload, replace(columns, vouched=claims, filters=tuple(filters)))


def choice(
    upload: Upload,
    guess: Columns,
    scores: Sequence[str],
    correct: str | None,
    larger_is_surer: bool | None,
) -> Columns:
    """Return a guess at the columns with what a person says in its place."""
    guessed = {score.column: score for score in guess.scores}
    if not (scores or guessed):
        raise UploadError(no_score(upload, bool(correct)))
    labels = label_columns(upload, kinds(upload))
    names = []
    for name in scores or guessed:
        label = correct or (guessed[name].correct if name in guessed else None)
        if label in RULES and label not in upload.table.columns:
            label = own_labels(upload, name).get(label, label)
        if label is None and len(labels) == 1 and name not in guessed:
            label = labels[0]
        if label is None and not labels:
            raise UploadError(without_labels(upload, name))
        surer = larger_is_surer
        if surer is None and name in upload.table.columns:
            surer = direction_in(upload, name)
        names.append(ScoreColumn(name, surer, label))
    return replace(guess, scores=tuple(names))


def usual_score(data: LabelledRows, names: Sequence[str] = (), method: str = "ltt") -> str:
    """Return the score that is calibrated: the wanted one, or the best of several wanted.

    If none is wanted, the best of several where the method can pay for the choice: whoever has a
    run's rows may have seen what each score is worth. Else, and of the bundled example, the mutual
    information where the data has it.
    """
    if names:
        return names[0] if len(names) == 1 else BEST
    is_example = data.sha256 in example_hashes()
    if len(data.doubts) > 1 and method == "ltt" and not (is_example and SCORE in data.doubts):
        return BEST
    return SCORE if SCORE in data.doubts else next(iter(data.doubts))


def look_at_target(data: LabelledRows, target: Target, earlier: Sequence[Look]) -> Look:
    """Return which look a target is. All errors of a list of prices are one look.

    Where results of these rows were shown, the best of all scores takes the place of that look at
    the usual target alone: another can be read off the curves.
    """
    names = list(data.doubts) if target.score == BEST else [target.score]
    is_list = target.targets_tried > 1
    what = [target.method, target.confidence, "list" if is_list else target.error]
    shown = list_of([one_line(name) for name in names], most=MOST_NAMED)
    about = f"{shown}: {'price list' if is_list else f'at most {percent(target.error)}'}"
    is_usual = (target.error, target.confidence) == (Target.error, Target.confidence)
    is_best = target.score == BEST and not is_list and is_usual
    return look_at(data, names, what, about, earlier, is_best=is_best, shown=list(data.doubts))


def with_budget(
    data: LabelledRows, target: Target, look: Look | None, looks: Sequence[Look]
) -> Target:
    """Return a target with what a look at it, after others, may spend; all of δ without one."""
    tried = 1
    if target.method == "ltt":
        shown = ledger.scores_to_choose(look, looks) if look else 1
        tried = len(data.doubts) if target.score == BEST else shown
    return replace(target, looks=look.place if look else target.looks, scores_tried=tried)


def _paid_outcome(data: LabelledRows, target: Target) -> tuple[str, Threshold | Uncertifiable]:
    """Return the outcome, and what trying again would cost where nothing is certified."""
    if target.looks > MOST_LOOKS:
        return target.score if target.score != BEST else next(iter(data.doubts)), Uncertifiable(
            ledger.no_budget(target.looks), None
        )
    name, outcome = _outcome(data, target)
    if not target.looks or target.method != "ltt" or isinstance(outcome, Threshold):
        return name, outcome
    after = replace(target, looks=target.looks + 1)
    if outcome.labels_needed is not None:  # they have to do for the look that follows
        planned = _outcome(data, after)[1]
        outcome = planned if isinstance(planned, Uncertifiable) else outcome
    costs = ledger.prices(target.looks, 1 - target.confidence, target.error)
    return name, replace(outcome, reason=f"{outcome.reason} {costs}")


def _outcome(data: LabelledRows, target: Target) -> tuple[str, Threshold | Uncertifiable]:
    if target.score == BEST:
        return thresholds.best_of(
            data.doubts, data.correct, target_error=target.error, confidence=target.test_confidence
        )
    rows = data.doubts[target.score], data.correct[target.score]
    if target.method == "ltt":
        outcome = thresholds.learn_then_test(
            *rows, target_error=target.error, confidence=target.score_confidence
        )
    elif target.method == "crc":
        outcome = thresholds.conformal_risk_control(*rows, target_error=target.error)
    else:
        outcome = thresholds.empirical(*rows, target_error=target.error)
    return target.score, outcome


def one_kind(data: LabelledRows, score: str) -> str:
    """Say why labels of one kind promise nothing: nobody has seen how they mark the other."""
    label, other = ("right", "wrong") if data.correct[score].all() else ("wrong", "right")
    return (
        f"Every label of “{one_line(score)}” is {label}. Without one that is {other}, nothing "
        "shows how this file marks such answers, so nothing is promised. Check the labels, "
        "and add rows of both kinds."
    )


def move_threshold(calibration: Calibration, value: float) -> Policy:
    """Return the policy with λ chosen by hand: what it does is observed.

    Within the gap between two labelled scores, λ decides every labelled row as before. All tests
    saw just this, so the promise holds on; beyond, nothing is promised.
    """
    threshold = thresholds.at_threshold(calibration.doubts, calibration.correct, value)
    policy = calibration.policy
    if policy is None:
        about = calibration.data, calibration.target, calibration.score
        return _policy(
            *about, threshold, method="by hand", confidence=None, scores_tried=1, settings_tried=1
        )
    if policy.has_guarantee and threshold.answered == policy.answered:
        own = policy.belief
        own = own and replace(own, threshold=min(own.threshold, value))
        return replace(policy, threshold=value, belief=own)
    by_other = other_errors(calibration.data, calibration.score, value)
    return policy.with_threshold(value, threshold.answered, threshold.errors, by_other)


def _policy(
    data: LabelledRows, target: Target, score: str, threshold: Threshold, **promised: Any
) -> Policy:
    return Policy(
        score=score,
        threshold=threshold.value,
        target_error=target.error,
        upper_bound=None if math.isnan(threshold.upper_bound) else threshold.upper_bound,
        labels=threshold.queries,
        answered=threshold.answered,
        errors=threshold.errors,
        data=data.sha256,
        pipeline=pipeline_in(data.pipeline),
        larger_is_surer=data.surer[score],
        left_out=data.left_out,
        selection=data.selection,
        rows=ledger.to_text(fingerprints(data, score)),
        codebook=data.codebooks.get(score),
        other_errors=other_errors(data, score, threshold.value),
        **promised,
    )


def other_errors(data: LabelledRows, score: str, value: float) -> int | None:
    """Return how many of the answered are wrong by the labels of another rule, where some are."""
    if score not in data.others:
        return None
    return int(np.count_nonzero((data.doubts[score] < value) & ~data.others[score].right))


def rows(data: LabelledRows, chosen: NDArray[np.bool_]) -> LabelledRows:
    """Return some of the rows."""
    some = replace(
        data,
        queries=data.queries[chosen],
        sources=data.sources[chosen],
        doubts={name: values[chosen] for name, values in data.doubts.items()},
        correct={name: values[chosen] for name, values in data.correct.items()},
        entropies=None if data.entropies is None else data.entropies[chosen],
        kept=data.kept[chosen],
        answers=None if data.answers is None else data.answers[chosen],
        truths=None if data.truths is None else data.truths[chosen],
        numbered=data.questions[chosen],
        others={
            name: replace(each, right=each.right[chosen]) for name, each in data.others.items()
        },
    )
    if "row_numbers" in vars(data):  # computed already
        vars(some)["row_numbers"] = data.row_numbers[chosen]
    return some
