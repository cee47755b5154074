"""Predictions beside references: which columns they are, and which rules call them right.

A row is compared as a run's rows are: by the rule "same answer", with the question's words earning
nothing, or by the paper's token F1. Where no answer is right, any prediction is wrong.
"""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.abstention.agreement import Disagreement, disagreement
from core.abstention.codebook import PERSON
from core.codec import one_line
from core.data.datasets.answer_key import AnswerKey, answer_key
from core.data.tabular.columns import (
    column_of,
    columns_named,
    kinds,
    parse_list,
    question_column,
    question_numbers,
    word_of,
)
from core.data.tabular.grading import RIGHT, WRONG, Grader, Grading, with_labels
from core.data.tabular.headings import RIGHT_ANSWERS, is_question_heading
from core.data.tabular.label_words import GRADED_BY
from core.data.tabular.labelled_rows import complaint
from core.data.tabular.suggestions import label_columns, suggest
from core.data.tabular.uploads import Upload, UploadError
from core.data.thoughts import answer_in
from core.data.world.grading import matches, matches_by_f1

# Headings are compared without case, white space, _ and -. The first that is found is taken.
_PREDICTIONS = (
    *("prediction", "predicted", "predictedanswer", "pred", "modelanswer", "modelresponse"),
    *("modeloutput", "response", "generatedanswer", "generation", "actualoutput", "completion"),
    *("output", "llmanswer", "filteredresps", "resps", "vorhersage", "predicción"),
)
_ANSWER = "answer"  # the model's where another column is the reference, else the reference
#: References only where their words are among the predicted ones: elsewhere they are labels.
_LABELS = ("label", "goldlabel", "truelabel", "truth")
UNGRADED = (
    "The file has predictions beside references, and no column says which predictions are right."
)
LONGEST = 10_000  # characters of a prediction that is compared
STEP = 200  # rows between two reports of progress


class UngradedError(UploadError):
    """A table of predictions beside references, of which nothing says which are right."""


@dataclass(frozen=True)
class PredictionColumns:
    """Where a table has predictions and references."""

    prediction: str
    key: AnswerKey  # where the references are; its question is empty if the table has none


@dataclass(frozen=True)
class Predictions:
    """Every row's question, prediction and references."""

    columns: PredictionColumns
    queries: Sequence[str]  # (n,): empty where there is none
    texts: Sequence[str]  # (n,): what was predicted; "" is an answer that is right nowhere
    # (n,): every accepted name; empty where no answer is right, None where nobody can compare.
    names: Sequence[tuple[str, ...] | None]
    ungradable: tuple[str, ...]  # the rows that cannot be compared, and why
    questions: NDArray[np.int64]  # (n,): which question each row asks, as a number


def predictions_in(
    upload: Upload,
    prediction: str | None = None,
    reference: str | None = None,
    question: str | None = None,
) -> PredictionColumns | None:
    """Return where a table has predictions and references; None if one is missing.

    `prediction, reference, question`: what a person says; of the rest, headings and cells do. An
    empty question is none.

    Raises `UploadError` when a column does not exist, or the prediction is the reference.
    """
    names = [str(name) for name in upload.table]
    for name in filter(None, (prediction, reference, question)):
        if name not in names:
            raise UploadError(
                f"There is no column “{one_line(name)}” in this file; choose another one."
            )
    if prediction and prediction == reference:
        raise UploadError(
            f"“{one_line(prediction)}” is chosen both as prediction and as reference; choose two "
            "columns."
        )
    if prediction is None:
        gold = columns_named(upload, RIGHT_ANSWERS) or ([reference] if reference else [])
        options = columns_named(upload, [*_PREDICTIONS, *([_ANSWER] if gold else [])])
        prediction = next((name for name in options if name != reference), None)
    if prediction is None:
        return None
    reference = reference or _reference(upload, prediction)
    if reference is None:
        return None
    if question is None:
        question = question_column(upload) or ""
        question = question if is_question_heading(question) else ""
    question = "" if question in (prediction, reference) else question
    key = answer_key(upload, question=question or prediction, answers=reference)
    return None if key is None else PredictionColumns(prediction, replace(key, question=question))


def _reference(upload: Upload, prediction: str) -> str | None:
    named = columns_named(upload, [*RIGHT_ANSWERS, _ANSWER])
    if (first := next((name for name in named if name != prediction), None)) is not None:
        return first
    predicted = {word_of(text) for text in column_of(upload, prediction).texts}
    for name in columns_named(upload, _LABELS):
        if name != prediction and {word_of(text) for text in column_of(upload, name).texts} & (
            predicted - {""}
        ):
            return name
    return None


def asks_for_grading(upload: Upload) -> bool:
    """Say whether predictions stand beside references, and no other column says which are right."""
    if upload.grading:
        return False
    columns = predictions_in(upload)
    if columns is None:
        return False
    compared = {columns.prediction, *columns.key.answers}
    guess = {score.correct for score in suggest(upload).scores} - {None}
    return not (guess | {*label_columns(upload, kinds(upload))}) - compared


def read_predictions(upload: Upload, columns: PredictionColumns) -> Predictions:
    """Return every row as it will be compared."""
    key = columns.key
    used = dict.fromkeys(filter(None, [key.question, columns.prediction, *key.answers]))
    used |= dict.fromkeys(filter(None, [*key.choices, key.letters, key.unanswerable]))
    cells = (upload.table[name] for name in used)
    queries: list[str] = []
    names: list[tuple[str, ...] | None] = []
    without: dict[str, list[int]] = {}
    for number, row in enumerate(zip(*cells, strict=True)):
        row_cells = dict(zip(used, row, strict=True))
        try:
            query, names_of_row = key.comparison_of(row_cells)
            if len(row_cells[columns.prediction]) > LONGEST:
                raise ValueError(f"the prediction has more than {LONGEST:,} characters.")
        except ValueError as error:
            query, names_of_row = row_cells.get(key.question, ""), None
            without.setdefault(str(error).rstrip("."), []).append(number)
        queries.append(query)
        names.append(names_of_row)
    flags = np.zeros(len(names), bool)
    ungradable: list[str] = []
    for why, rows in without.items():
        flags[:] = False
        flags[rows] = True
        ungradable += complaint(upload, flags, why, "not compared")
    numbers = np.arange(len(names), dtype=np.int64)
    if key.question:
        numbers = question_numbers(upload.table[key.question].to_numpy(object))
    texts = [_only(text.strip()) for text in upload.table[columns.prediction]]
    return Predictions(columns, queries, texts, names, tuple(ungradable), numbers)


def _only(text: str) -> str:
    """Return the one text in a list, as an evaluation harness logs it; else the text itself.

    Without the thoughts in front: they name what is not answered, too.
    """
    while (items := parse_list(text)) is not None and len(items) == 1:
        text = items[0].strip()
    return answer_in(text).strip()


def grade(
    rows: Predictions, grader: Grader, progress: Callable[[str, float], object] = lambda _, __: None
) -> NDArray[np.float64]:
    """Return a rule's grades, (n,): 1 right, 0 wrong, NaN none; each different row once."""
    labels = np.full(len(rows.texts), math.nan)
    verdicts: dict[tuple[str, str, tuple[str, ...]], bool] = {}
    for number, (query, text, names) in enumerate(
        zip(rows.queries, rows.texts, rows.names, strict=True)
    ):
        if number % STEP == 0:
            progress("Comparing predictions with references", number / len(labels))
        if names is None:
            continue
        each = query, text, names
        if each not in verdicts:
            verdicts[each] = bool(text) and (
                matches(text, names, query)
                if grader is Grader.SAME_ANSWER
                else matches_by_f1(text, names)
            )
        labels[number] = verdicts[each]
    return labels


def differences(
    rows: Predictions, first: NDArray[np.float64], second: NDArray[np.float64]
) -> Disagreement:
    """Compare two graders on one row of every question, drawn at random."""
    order = np.random.default_rng(0).permutation(len(first))
    order = order[~np.isnan(first[order]) & ~np.isnan(second[order])]
    chosen = order[np.unique(rows.questions[order], return_index=True)[1]]
    return disagreement(first[chosen], second[chosen])


def row_hashes(rows: Predictions) -> list[str]:
    """Return what tells each row by its texts, (n,): equal rows of any file have the same."""
    texts = zip(rows.queries, rows.texts, rows.names, strict=True)
    return [hashlib.blake2b(repr(each).encode(), digest_size=16).hexdigest() for each in texts]


def labelling_order(rows: Predictions, hashes: Sequence[str]) -> NDArray[np.int64]:
    """Return in which order rows are labelled, each different one once: at random.

    So those that are labelled by the time a person stops are a random part of all. First comes one
    row of every question, for no more of them counts.
    """
    order = np.random.default_rng(0).permutation(len(hashes))
    _, first = np.unique(np.asarray(hashes, object)[order].astype(str), return_index=True)
    order = order[np.sort(first)]
    _, of_question = np.unique(rows.questions[order], return_index=True)
    repeats = np.ones(len(order), bool)
    repeats[of_question] = False
    return order[np.argsort(repeats, kind="stable")]


def with_grades(
    upload: Upload, rows: Predictions, grader: str, labels: Mapping[str, NDArray[np.float64]]
) -> Upload:
    """Return a table with a grader's labels, compared with those of other graders that have any.

    Raises `UploadError` when no row has a label.
    """
    own = labels[grader]
    if np.isnan(own).all():
        raise UploadError(" ".join(["No row can be compared.", *rows.ungradable]))
    key = rows.columns.key
    grading = Grading(
        f"{GRADED_BY}{grader}",
        grader,
        key.question,
        rows.columns.prediction,
        key.answers,
        () if grader == PERSON else rows.ungradable,
        tuple(
            (other, differences(rows, own, theirs))
            for other, theirs in labels.items()
            if other != grader and not np.isnan(theirs).all()
        ),
    )
    return with_labels(upload, grading, own)


def predictions_of(
    upload: Upload,
    prediction: str | None = None,
    reference: str | None = None,
    question: str | None = None,
) -> Predictions:
    """Return every row with predictions beside references, or raise `UploadError`."""
    columns = predictions_in(upload, prediction, reference, question)
    if columns is None:
        raise UploadError(
            "The file has no column of predictions beside one of references. Say which they are, "
            "or call them “prediction” and “reference”."
        )
    return read_predictions(upload, columns)


def without_scores(upload: Upload) -> str:
    """Say what came of a grading, and that its table has nothing to calibrate."""
    grading = upload.grading
    if grading is None:
        return ""
    column = column_of(upload, grading.label)
    right, wrong = (int(column.of_word(word).sum()) for word in (RIGHT, WRONG))
    return (
        f"Of {right + wrong:,} predictions {right:,} are right by {grading.grader}. "
        f"{' '.join(grading.sentences[1:])} The file has no column of scores, so there is nothing "
        "to find a threshold for: add one that says how sure each prediction is."
    )
