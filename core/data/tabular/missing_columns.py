"""A table without a column of scores or of labels: which were looked at, and why none is one."""

from typing import Final

import numpy as np

from core.codec import list_of, one_line, quotes
from core.data.tabular.columns import HOLDS, Cell, ColumnKind, column_of, kinds, question_column
from core.data.tabular.headings import RIGHT_ANSWERS, is_question_heading, plain_heading
from core.data.tabular.label_meanings import series_in, such_as
from core.data.tabular.suggestions import label_columns
from core.data.tabular.uploads import Upload

MOST: Final = 8  # columns that are named


def no_score(upload: Upload, has_labels: bool = False) -> str:
    """Say which columns were looked at for a score, why none is taken for one, and what to add.

    `has_labels`: whether a person has named the column of labels.
    """
    more = "" if has_labels else ", and the labels with --correct COLUMN"
    numbers = [name for name, kind in kinds(upload).items() if kind is ColumnKind.NUMBER]
    these = f" These have numbers: {quotes(numbers)}." if numbers else ""
    return f"{why_no_score(upload, has_labels)}{these} Name one with --score COLUMN{more}."


def why_no_score(upload: Upload, has_labels: bool = False) -> str:
    """Say which columns were looked at for a score, and why none is taken for one."""
    looks = kinds(upload)
    labels = label_columns(upload, looks)
    if not labels and ColumnKind.NUMBER in looks.values() and not has_labels:
        return (
            "No column is taken for a score while none says whether answers are right. "
            f"{_why_no_labels(upload)}"
        )
    reasons = [
        f"“{one_line(name)}” ({_no_score(upload, name, looks[name], labels)})" for name in looks
    ]
    return f"No column is taken for a score. Looked at: {list_of(reasons, most=MOST)}."


def without_labels(upload: Upload, score: str) -> str:
    """Say that nothing tells whether a score's answers are right, why not, and what to add."""
    return (
        f"No column says whether the answers of “{one_line(score)}” are right. "
        f"{_why_no_labels(upload)} Name one with --correct COLUMN, and what its values mean "
        "with --meaning VALUE=right, wrong or out."
    )


def questions_alone(upload: Upload) -> str:
    """Say that a file of questions has no score, and what to do."""
    return (
        f"{of_questions(upload)} If one is, name it with --score COLUMN. Else have a model asked: "
        "python -m core dataset file FILE --out questions.jsonl, then python -m core evaluate "
        "questions.jsonl --out RUN --labelled scored.csv, and calibrate on scored.csv."
    )


def of_questions(upload: Upload) -> str:
    """Say that a file has questions and which labels, and no score."""
    labels = label_columns(upload, kinds(upload))
    too = f" and labels in {quotes([*labels])}" if labels else ""
    return f"The file has questions with right answers{too}, and no column taken for a score."


def _why_no_labels(upload: Upload) -> str:
    reasons = [f"“{one_line(name)}” ({_no_label(upload, name)})" for name in kinds(upload)]
    return (
        "No column is taken for labels of right and wrong. Looked at: "
        f"{list_of(reasons, most=MOST)}."
    )


def _no_score(upload: Upload, name: str, kind: ColumnKind, labels: tuple[str, ...]) -> str:
    if name in labels:
        return "it says what is right"
    if name == question_column(upload) or is_question_heading(name):
        return "it names the question"
    if plain_heading(name) in RIGHT_ANSWERS:
        return "it has the right answers"
    if kind is ColumnKind.NUMBER:
        return "its heading names, counts or times a row, or compares with the right answer"
    if series := series_in(upload, name):
        return f"{HOLDS[kind]};{series.rstrip('.')}"
    return f"{HOLDS[kind]}{such_as(upload, name)}"


def _no_label(upload: Upload, name: str) -> str:
    if is_question_heading(name):
        return "it names the question"
    column = column_of(upload, name)
    says = int(np.count_nonzero(column.where(Cell.RIGHT | Cell.WRONG)))
    if column.kind is ColumnKind.LABEL:
        return "its heading does not say that 1 or “yes” is about an answer"
    if says:
        return f"{says:,} of {len(upload.table):,} cells say right or wrong, the others do not"
    return f"{HOLDS[column.kind]}{such_as(upload, name)}"
