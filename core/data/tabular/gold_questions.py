"""Questions with their right answers and no scores yet: what a model can be asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyarrow import compute

from core.codec import one_line
from core.data.tabular.columns import (
    RIGHT_ANSWERS,
    SOURCES,
    Cell,
    column_of,
    first,
    parse_list,
    question_column,
)
from core.data.tabular.labelled import LEFT_OUT, complaint
from core.data.tabular.suggestions import suggest
from core.data.tabular.uploads import Upload

MAX_GOLD = 2000  # questions: each is asked of a model
#: An "answer" beside gold answers is what a model said.
GOLD_ANSWERS = (*RIGHT_ANSWERS, "answer")


@dataclass(frozen=True)
class GoldQuestions:
    """Questions with their right answers, to be asked of a model.

    Attributes
    ----------
    name, sha256 : str
        Of the file.
    questions : tuple of str
    answers : tuple of tuple of str
        For each question, at least one.
    sources : tuple of str
        "" where there is none.
    problems : tuple of str
        What was left out, a sentence each.
    """

    name: str
    sha256: str
    questions: tuple[str, ...]
    answers: tuple[tuple[str, ...], ...]
    sources: tuple[str, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True)
class GoldColumns:
    """Where a table has questions and their right answers.

    Attributes
    ----------
    question, answer : str
        Their columns.
    source : str or None
        The column of groups, if there is one.
    separator : str or None
        What separates the answers in a cell that is no list.
    """

    question: str
    answer: str
    source: str | None
    separator: str | None

    def answers_in(self, cell: str) -> list[list[str]]:
        """Return the answers in a cell: a list within its list holds the names of one."""
        parts = parse_list(cell)
        if parts is None:
            return [[part] for part in (cell.split(self.separator) if self.separator else [cell])]
        names = map(parse_list, parts)
        return [[part] if n is None else n for part, n in zip(parts, names, strict=True)]


def gold_columns(upload: Upload) -> GoldColumns | None:
    """Return the columns of questions and right answers; None if one is missing.

    Answers are lists, or texts separated by | or else ; if any cell of the column contains that.
    """
    question, answer = question_column(upload), first(upload, GOLD_ANSWERS)
    if question is None or answer is None:
        return None
    cells = column_of(upload, answer)
    plain = cells.distinct.filter(pa.array(~cells.has(Cell.LIST)))
    separator = next(
        (s for s in "|;" if compute.any(compute.match_substring(plain, s)).as_py()), None
    )
    return GoldColumns(question, answer, first(upload, SOURCES), separator)


def gold_questions(
    upload: Upload, progress: Callable[[str, float], None] = lambda stage, share: None
) -> GoldQuestions | None:
    """Return questions with right answers, if that is what the upload holds.

    It does if it has a column of questions and one of answers (`gold_columns`), and no score with
    labels. None also if no row has both a question and an answer. `progress` may raise to stop.
    """
    columns = None if suggest(upload).scores else gold_columns(upload)
    if columns is None:
        return None
    question, answer, source = columns.question, columns.answer, columns.source
    cells = upload.table[answer].to_numpy(object)
    queries = upload.table[question].to_numpy(object)
    every = np.arange(len(cells))
    sources = column_of(upload, source)[every] if source else [""] * len(cells)
    rows: list[tuple[str, tuple[str, ...], str]] = []
    without_question, without_answer = np.zeros((2, len(cells)), bool)
    more = 0
    for row, (query, cell) in enumerate(zip(queries, cells, strict=True)):
        if len(rows) == MAX_GOLD:
            more = len(cells) - row
            break
        progress("Reading the questions", row / len(cells))
        stripped = (name.strip() for names in columns.answers_in(cell) for name in names)
        answers = tuple(dict.fromkeys(name for name in stripped if name))
        without_question[row] = not query.strip()
        without_answer[row] = not answers
        if query.strip() and answers:
            rows.append((query.strip(), answers, str(sources[row])))
    if not rows:
        return None
    problems = [
        *complaint(upload, without_question, f"“{one_line(question)}” is empty", LEFT_OUT),
        *complaint(upload, without_answer, f"“{one_line(answer)}” has no answer", LEFT_OUT),
    ]
    if more:
        problems.append(
            f"Only the first {MAX_GOLD:,} questions are used, and {more:,} more "
            f"{'row is' if more == 1 else 'rows are'} not; split the file to use others."
        )
    questions, right, origins = zip(*rows, strict=True)
    return GoldQuestions(upload.name, upload.sha256, questions, right, origins, tuple(problems))
