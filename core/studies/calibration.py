"""Calibration: from labelled scores to a policy that keeps its promise, or a plain no.

`calibrate` turns labelled data and a target into a `Calibration`: the policy, the curves
behind it and what it does to the parts of the data. Nothing here asks a model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.abstention import intervals, metrics, thresholds
from core.abstention.drift import Drift, drift
from core.abstention.metrics import Bin, Curve
from core.abstention.policy import Pipeline, Policy, check_pipeline
from core.abstention.thresholds import Threshold, Uncertifiable
from core.data.tabular import uploads
from core.data.tabular.columns import column_of
from core.data.tabular.csv_export import to_csv
from core.data.tabular.labelled import (
    Columns,
    Labelled,
    Score,
    doubts_of,
    labelled,
    larger_is_surer_in,
    pipelines_of,
    suggest,
)
from core.data.tabular.labels import Meaning, meant_by
from core.data.tabular.uploads import Upload, UploadError, shortened
from core.studies.pipeline import from_text
from core.studies.progress import Progress, silent
from core.studies.verdict import SCORE

BEST = "best of all scores"
METHODS = {
    "ltt": "Learn-then-Test (guarantee)",
    "crc": "Conformal risk control (bounds something else)",
    "empirical": "Empirical rule of the paper (no guarantee)",
}
REPEATED = (
    "{:,} rows ask a question that another row asks too. One row of each question counts, drawn "
    "at random: several answers to one question are no independent evidence."
)


class CalibrationError(ValueError):
    """A target or a setting that cannot be calibrated for; the message says why."""


@dataclass(frozen=True)
class Target:
    """What a person wants.

    Attributes
    ----------
    error : float
        α, in (0, 1).
    confidence : float
        1 − δ, in (0, 1).
    method : str
        A key of `METHODS`.
    score : str
        A score of the data, named beforehand, or `BEST`.
    """

    error: float = 0.05
    confidence: float = 0.9
    method: str = "ltt"
    score: str = BEST

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
        if self.method not in METHODS:
            raise CalibrationError(
                f"There is no method “{self.method}”. Choose one of: {', '.join(METHODS)}."
            )
        if self.score == BEST and self.method != "ltt":
            raise CalibrationError(
                "Only Learn-then-Test can choose the best of several scores and say what the "
                "choice costs. Name one score."
            )


@dataclass(frozen=True)
class Calibration:
    """What came out.

    Attributes
    ----------
    data : Labelled
    target : Target
    score : str
        The score that the outcome is about: the named one, or the best.
    outcome : Threshold or Uncertifiable
    policy : Policy or None
        None where nothing could be certified.
    repeated : int
        How many rows were left out because another row asks the same question.
    """

    data: Labelled
    target: Target
    score: str
    outcome: Threshold | Uncertifiable
    policy: Policy | None
    repeated: int = 0

    @property
    def doubts(self) -> NDArray[np.float64]:
        """The score's doubts."""
        return self.data.doubts[self.score]

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Whether the answer that the score serves is right."""
        return self.data.correct[self.score]


def calibrate(data: Labelled, target: Target, *, settings_tried: int = 1) -> Calibration:
    """Find the threshold that a target asks for, on one row of every question.

    Parameters
    ----------
    settings_tried : int
        How many settings were tried on these rows by now; the policy says so.

    Raises
    ------
    CalibrationError
        When the target's score is none of the data.
    """
    if target.score != BEST and target.score not in data.doubts:
        raise CalibrationError(
            f"There is no score “{target.score}” in the data. Choose one of: "
            f"{', '.join(data.doubts)}."
        )
    everything, data = len(data.kept), independent(data)
    name, outcome = _outcome(data, target)
    if name in data.one_kind and isinstance(outcome, Threshold):
        outcome = Uncertifiable(_one_kind(data, name), None)
    policy = None
    if isinstance(outcome, Threshold):
        best_of = len(data.doubts) if target.score == BEST else 1
        policy = Policy(
            score=name,
            threshold=outcome.value,
            method=target.method,
            target_error=target.error,
            confidence=target.confidence if target.method == "ltt" else None,
            upper_bound=None if math.isnan(outcome.upper_bound) else outcome.upper_bound,
            labels=outcome.queries,
            answered=outcome.answered,
            errors=outcome.errors,
            data=data.sha256,
            pipeline=pipeline_of_data(data),
            larger_is_surer=data.surer[name],
            scores_tried=best_of,
            settings_tried=settings_tried,
            left_out=data.left_out,
        )
    return Calibration(data, target, name, outcome, policy, everything - len(data.kept))


def independent(data: Labelled, seed: int = 0) -> Labelled:
    """Return one row of every question, drawn at random; the data itself if none is repeated.

    The exact tests take rows for independent draws. Several answers to one question are not:
    counted as if they were, they break the promise in two to three times as many calibrations
    as it allows.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(data.kept))
    _, first = np.unique(data.queries[order], return_index=True)
    if len(first) == len(order):
        return data
    chosen = np.zeros(len(order), bool)
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
) -> Labelled:
    """Read a labelled file, guessing what is not said about its columns.

    Parameters
    ----------
    meanings : mapping of str to Meaning, optional
        What values of the labels mean; "" is the empty cell.
    parse : callable
        For a file that a stranger may have written, `core.data.tabular.isolation.parse_isolated`.

    Raises
    ------
    UnreadLabelsError
        When a label says neither right nor wrong, and nothing is said of its meaning.
    UploadError
        When the file cannot be read, or lacks what it takes.
    """
    upload = parse(content, name)
    columns = chosen(upload, suggest(upload), scores, correct, larger_is_surer)
    if meanings:
        names = [name for name in columns.labels if name in upload.table.columns]
        columns = replace(columns, meant=meant_by(upload, names, meanings))
    return labelled(upload, columns)


def chosen(
    upload: Upload,
    guess: Columns,
    scores: Sequence[str],
    correct: str | None,
    larger_is_surer: bool | None,
) -> Columns:
    """Return a guess at the columns with what a person says in its place."""
    guessed = {score.column: score for score in guess.scores}
    wanted = []
    for name in scores or guessed:
        label = correct or (guessed[name].correct if name in guessed else None)
        if label is None:
            raise UploadError(
                f"Nothing says which column tells whether the answers of “{shortened(name)}” are "
                "right; name it."
            )
        surer = larger_is_surer
        if surer is None and name in guessed and label == guessed[name].correct:
            surer = guessed[name].larger_is_surer
        if surer is None and {name, label} <= {*upload.table.columns}:
            surer = larger_is_surer_in(upload, name, label)
        wanted.append(Score(name, bool(surer), label))
    return replace(guess, scores=tuple(wanted))


def preferred(data: Labelled, wanted: Sequence[str] = (), method: str = "ltt") -> str:
    """Return the score that is calibrated: the wanted one, or the best of several wanted.

    If none is wanted, the mutual information where the data has it; else, of several, the best
    where the method can pay for the choice.
    """
    if wanted:
        return wanted[0] if len(wanted) == 1 else BEST
    if SCORE in data.doubts:
        return SCORE
    return BEST if len(data.doubts) > 1 and method == "ltt" else next(iter(data.doubts))


def _outcome(data: Labelled, target: Target) -> tuple[str, Threshold | Uncertifiable]:
    if target.score == BEST:
        return thresholds.best_of(
            data.doubts, data.correct, target_error=target.error, confidence=target.confidence
        )
    rows = data.doubts[target.score], data.correct[target.score]
    if target.method == "ltt":
        found = thresholds.learn_then_test(
            *rows, target_error=target.error, confidence=target.confidence
        )
    elif target.method == "crc":
        found = thresholds.conformal_risk_control(*rows, target_error=target.error)
    else:
        found = thresholds.empirical(*rows, target_error=target.error)
    return target.score, found


def _one_kind(data: Labelled, score: str) -> str:
    """Say why labels of one kind promise nothing: nobody has seen how they mark the other."""
    said, other = ("right", "wrong") if data.correct[score].all() else ("wrong", "right")
    return (
        f"Every label of “{shortened(score)}” says {said}. Without one that says {other} nothing "
        "shows that this file marks such answers at all, so nothing is promised. Check the labels, "
        "and bring rows of both kinds."
    )


def pipeline_of_data(data: Labelled) -> Pipeline | None:
    """Return the pipeline that the data says it was scored by, if it does."""
    return from_text(data.pipeline)


# ------------------------------------------------------------------- looking at the outcome


def curves(data: Labelled) -> dict[str, Curve]:
    """Return every score's risk–coverage curve, exact and complete."""
    return {name: metrics.curve(data.doubts[name], data.correct[name]) for name in data.doubts}


def moved(calibration: Calibration, value: float) -> Policy:
    """Return the policy with λ chosen by hand: what it does is observed, nothing promised."""
    found = thresholds.at(calibration.doubts, calibration.correct, value)
    if calibration.policy is not None:
        return calibration.policy.moved(value, found.answered, found.errors)
    data, target = calibration.data, calibration.target
    return Policy(
        score=calibration.score,
        threshold=value,
        method="by hand",
        target_error=target.error,
        confidence=None,
        upper_bound=None,
        labels=found.queries,
        answered=found.answered,
        errors=found.errors,
        data=data.sha256,
        pipeline=pipeline_of_data(data),
        larger_is_surer=data.surer[calibration.score],
        left_out=data.left_out,
    )


@dataclass(frozen=True)
class Binned:
    """What one score's own threshold does in every bin of entropy."""

    score: str
    threshold: float
    bins: tuple[Bin, ...]


def by_entropy(calibration: Calibration, others: Sequence[str] = ()) -> tuple[Binned, ...]:
    """Return recall and error by entropy, each score at its own threshold for the target.

    Scores that cannot be certified are left out: they answer nothing.
    """
    data = calibration.data
    if data.entropies is None:
        return ()
    found = []
    for name in dict.fromkeys([calibration.score, *others]):
        own = calibration
        if name != calibration.score:
            own = calibrate(data, replace(calibration.target, score=name))
        if own.policy is not None:
            bins = metrics.by_entropy(data.entropies, own.doubts, own.correct, own.policy.threshold)
            found.append(Binned(name, own.policy.threshold, tuple(bins)))
    return tuple(found)


def by_source(calibration: Calibration, value: float, most: int = 30) -> tuple[Bin, ...]:
    """Return what a threshold does to each source, the largest first, at most so many."""
    bins = metrics.by_kind(calibration.data.sources, calibration.doubts, calibration.correct, value)
    return tuple(sorted(bins, key=lambda b: (-b.queries, b.name))[:most])


@dataclass(frozen=True)
class Compared:
    """One score in the comparison."""

    score: str
    auroc: intervals.Interval
    difference: intervals.Interval | None  # the chosen score's AUROC minus this one's
    aurc: float
    outcome: Threshold | Uncertifiable


def compare(
    calibration: Calibration, progress: Progress = silent, *, resamples: int = intervals.RESAMPLES
) -> tuple[Compared, ...]:
    """Compare all scores of the data with the chosen one, by the paired bootstrap."""
    data = calibration.data
    found = intervals.compare(
        data.doubts,
        data.correct,
        data.queries,
        calibration.score,
        number=resamples,
        progress=lambda share: progress("Resampling the labelled rows", share),
    )
    target = replace(calibration.target, score=calibration.score)
    return tuple(
        Compared(
            score=name,
            auroc=found.values[name],
            difference=found.differences.get(name),
            aurc=metrics.aurc(data.doubts[name], data.correct[name]),
            outcome=calibrate(data, replace(target, score=name)).outcome,
        )
        for name in data.doubts
    )


# ------------------------------------------------------------- confirming on untouched rows


def halves(data: Labelled, seed: int = 0) -> tuple[Labelled, Labelled]:
    """Split the rows at random into one half to try settings on and one to confirm on.

    Rows of one query stay in the same half.
    """
    _, at = np.unique(data.queries, return_inverse=True)
    queries = int(at.max()) + 1
    second = np.zeros(queries, bool)
    second[np.random.default_rng(seed).permutation(queries)[: queries // 2]] = True
    return rows(data, ~second[at]), rows(data, second[at])


def rows(data: Labelled, chosen: NDArray[np.bool_]) -> Labelled:
    """Return some of the rows."""
    return replace(
        data,
        queries=data.queries[chosen],
        sources=data.sources[chosen],
        doubts={name: values[chosen] for name, values in data.doubts.items()},
        correct={name: values[chosen] for name, values in data.correct.items()},
        entropies=None if data.entropies is None else data.entropies[chosen],
        kept=data.kept[chosen],
    )


@dataclass(frozen=True)
class Confirmation:
    """What a finished policy did on rows that nobody had looked at.

    Attributes
    ----------
    observed : Threshold
        With the Clopper–Pearson bound of the error among the answered.
    kept : bool
        Whether that bound is at most the target.
    sentence : str
    """

    observed: Threshold
    kept: bool
    sentence: str


def confirm(policy: Policy, untouched: Labelled, confidence: float) -> Confirmation:
    """Test one policy, chosen elsewhere, on untouched rows: one test, no correction.

    It tests what the policy's method bounds: the error among the answered, or, for conformal
    risk control, the share of all questions that is answered and wrong.
    """
    untouched = independent(untouched)
    doubts, correct = untouched.doubts[policy.score], untouched.correct[policy.score]
    found = thresholds.at(doubts, correct, policy.threshold)
    of_all = policy.method == "crc"
    trials = found.queries if of_all else found.answered
    bound = thresholds.clopper_pearson(found.errors, trials, confidence)
    found = replace(found, upper_bound=bound)
    kept = bound <= policy.target_error
    what = (
        "of all questions are answered and wrong" if of_all else "of answered questions are wrong"
    )
    return Confirmation(
        found,
        kept,
        f"On {found.queries:,} held-out rows it answered {found.answered:,}, of which "
        f"{found.errors:,} wrongly: with {100 * confidence:.6g}% confidence at most {bound:.1%} "
        f"{what}, {'within' if kept else 'above'} the target of "
        f"{100 * policy.target_error:.6g}%."
        + ("" if kept else " This does not disprove the policy; it fails to confirm it."),
    )


# ------------------------------------------------------------------------------ taking along


def decisions(data: Labelled, policy: Policy) -> bytes:
    """Return a disarmed CSV: every labelled row with its score and the decision."""
    doubts = data.doubts[policy.score]
    sign = -1.0 if policy.larger_is_surer else 1.0
    correct = data.correct[policy.score]
    return to_csv(
        ("row", "query", "source", policy.score, "decision", "correct"),
        (
            (
                int(row) + 1,
                str(query),
                str(source),
                "" if math.isnan(doubt) else float(0.0 + sign * doubt),
                "answer" if doubt < policy.threshold else "abstain",
                int(right),
            )
            for row, query, source, doubt, right in zip(
                data.kept, data.queries, data.sources, doubts, correct, strict=True
            )
        ),
    )


@dataclass(frozen=True)
class NewScores:
    """Scores without labels, and what a policy decides on them.

    Attributes
    ----------
    doubts : ndarray of shape (n,)
        NaN where there is none: abstain.
    answered : int
    """

    policy: Policy
    upload: Upload
    doubts: NDArray[np.float64]

    @property
    def answers(self) -> NDArray[np.bool_]:
        """Whether each row is answered."""
        return self.doubts < self.policy.threshold

    @property
    def answered(self) -> int:
        """How many rows are answered."""
        return int(self.answers.sum())


def new_scores(upload: Upload, policy: Policy) -> NewScores:
    """Read the policy's score out of a table without labels.

    Raises
    ------
    CalibrationError
        When the score's column is missing.
    PolicyError
        When the table says of any row that another pipeline made its score.
    UploadError
        When the column holds no numbers.
    """
    if policy.score not in upload.table.columns:
        raise CalibrationError(
            f"There is no column “{policy.score}” in {upload.name}. Give the scores the heading "
            "they had in the calibration."
        )
    for made_by in map(from_text, pipelines_of(upload)):
        if made_by is not None:
            check_pipeline(policy, made_by)
    return NewScores(policy, upload, doubts_of(upload, policy.score, policy.larger_is_surer))


def drift_from(calibration: Calibration, fresh: NewScores) -> Drift:
    """Compare new scores with those of the calibration.

    Raises
    ------
    CalibrationError
        When there is no score to compare.
    """
    try:
        return drift(calibration.doubts, fresh.doubts)
    except ValueError as error:
        raise CalibrationError(str(error)) from error


def new_decisions(fresh: NewScores) -> bytes:
    """Return the new table as a disarmed CSV with a column `decision` at its end."""
    table = fresh.upload.table
    decisions = np.where(fresh.answers, "answer", "abstain")
    columns = (_cells(fresh.upload, name) for name in table.columns)
    return to_csv((*table.columns, "decision"), zip(*columns, decisions, strict=True))


def _cells(upload: Upload, name: str) -> Iterator[str | float]:
    """Return a column's cells; negative numbers as numbers, for as text they would be disarmed."""
    column = column_of(upload, name)
    cells: list[str | float] = [
        number if text.startswith("-") and number is not None and not math.isnan(number) else text
        for text, number in zip(column.texts, column.parsed(), strict=True)
    ]
    return (cells[code] for code in column.codes)


def shares(calibration: Calibration, edges: int = 40) -> Mapping[str, NDArray[np.float64]]:
    """Return the histogram of doubts, right and wrong apart.

    Returns
    -------
    mapping
        "start", "end", "right", "wrong", each of shape (bins,). Missing and infinite doubts
        are left out.
    """
    doubts = calibration.doubts
    finite = np.isfinite(doubts)
    values, right = doubts[finite], calibration.correct[finite]
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
