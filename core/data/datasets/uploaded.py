"""Questions in a table that somebody uploaded: our own headings, or the shape of a known dataset.

A JSON file has become a table by then, whose cells hold lists and objects as JSON
(`core.data.tabular.uploads`). So it is recognised by its headings, as other tables are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from pyarrow import compute

from core.codec import list_of, one_line
from core.data.datasets.ambigqa import ambigqa_question
from core.data.datasets.questions import (
    IDS,
    OnMalformed,
    Question,
    ignore,
    places,
    question_of,
    questions_from,
)
from core.data.datasets.triviaqa import judged_question, official_question
from core.data.tabular.columns import (
    GOLD_ANSWERS,
    SOURCES,
    Cell,
    column_of,
    first,
    is_question_heading,
    parse_list,
    question_column,
)
from core.data.tabular.labels import display
from core.data.tabular.uploads import Upload, UploadError

_CHOICE: Final = re.compile("[A-H]")
_MOST_CHOICES: Final = 8
_RESULT: Final = "#### "
_FIRST: Final = 3  # rows in words
Cells = Mapping[str, str]
Make = Callable[[Cells, int], Question | None]

NO_QUESTIONS: Final = (
    "The file has no column of questions with one of right answers; call them “question” and "
    "“answers”."
)


@dataclass(frozen=True)
class _Columns:
    """Where a table has questions and their right answers.

    Attributes
    ----------
    question, answer : str
        Their columns.
    source : str or None
        The column of groups, if there is one.
    separator : str or None
        What separates the answers in a cell that is no list.
    choices : tuple of str
        Columns of choices, where every right answer is the heading of one: they belong to the
        question.
    reasons : bool
        Whether every answer ends in “#### ” and what counts, after the way to it.
    """

    question: str
    answer: str
    source: str | None
    separator: str | None
    choices: tuple[str, ...] = ()
    reasons: bool = False

    def query_of(self, row: Cells) -> str:
        """Return what is asked: the question, with its choices."""
        choices = (f"\n{name}: {row[name]}" for name in self.choices)
        return row[self.question] + "".join(choices)

    def answers_of(self, row: Cells) -> list[list[str]]:
        """Return the right answers: a list within a list holds the names of one."""
        cell = row[self.answer]
        if self.choices:
            return [[row[cell.strip()], cell]] if cell.strip() else []
        return [[cell.rpartition(_RESULT)[2]]] if self.reasons else self._answers_in(cell)

    def _answers_in(self, cell: str) -> list[list[str]]:
        parts = parse_list(cell)
        if parts is None:
            return [[part] for part in (cell.split(self.separator) if self.separator else [cell])]
        names = map(parse_list, parts)
        return [[part] if n is None else n for part, n in zip(parts, names, strict=True)]


def _columns(upload: Upload) -> _Columns | None:
    """Return the columns of questions and right answers; None if one is missing.

    Answers are lists, or texts separated by | or else ; if any cell of the column contains that.
    """
    question, answer = question_column(upload), first(upload, GOLD_ANSWERS)
    if question is None or answer is None or not is_question_heading(question):
        return None
    cells = column_of(upload, answer)
    plain = cells.distinct.filter(pa.array(~cells.has(Cell.LIST)))
    separator = next(
        (s for s in "|;" if compute.any(compute.match_substring(plain, s)).as_py()), None
    )
    there = cells.distinct.filter(pa.array(~cells.has(Cell.BLANK)))
    choices = {text.strip() for text in there.to_pylist()} if len(there) <= _MOST_CHOICES else set()
    letters = [str(name) for name in upload.table if _CHOICE.fullmatch(str(name))]
    return _Columns(
        question,
        answer,
        first(upload, SOURCES),
        separator,
        choices=tuple(letters) if choices and choices <= {*letters} else (),
        reasons=bool(compute.all(compute.match_substring(there, _RESULT)).as_py()),
    )


def reading_of(upload: Upload) -> tuple[str, ...]:
    """Return what is asked and what counts as right, in words, with the first rows."""
    columns = None if _shape(upload) else _columns(upload)
    if columns is None:
        return ()
    lines = [f"Question: “{one_line(columns.question)}”; right: “{one_line(columns.answer)}”."]
    for row in upload.table.head(_FIRST).to_dict("records"):
        cells = {str(name): str(cell) for name, cell in row.items()}
        right = [display(names[0]) for names in columns.answers_of(cells) if names]
        answers = list_of(right, "or") if right else "no answer"
        lines.append(f"{display(columns.query_of(cells))} Right: {answers}.")
    return tuple(lines)


def holds_questions(upload: Upload) -> bool:
    """Say whether an upload has questions with right answers, by its headings."""
    return _shape(upload) is not None or _columns(upload) is not None


def uploaded_questions(
    upload: Upload,
    on_malformed: OnMalformed = "refuse",
    tell: Callable[[str], object] = ignore,
) -> Iterator[Question]:
    """Yield the questions of an upload.

    Parameters
    ----------
    upload : Upload
        With columns of questions and right answers, or a file of AmbigNQ, TriviaQA or EVOUNA;
        of the last, rows that are marked improper are left out.
    on_malformed, tell
        As of `core.data.datasets.questions.read_questions`.

    Raises
    ------
    UploadError
        As of `core.data.datasets.questions.read_questions`; also when no column holds questions,
        or none their right answers.
    """
    shape = _shape(upload)
    plain = _plain(upload)
    if shape is None and plain is None:
        raise UploadError(NO_QUESTIONS)

    def make(row: tuple[int, Cells], number: int) -> Question | None:
        place, cells = row
        # Where a dataset gives no ids, its readers count its rows, whatever their lines are.
        return shape(cells, place) if shape else plain(cells, number) if plain else None

    names = [str(name) for name in upload.table]
    columns = (upload.table[name] for name in names)
    rows: Iterator[Cells] = (
        dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)
    )
    numbered = zip(upload.lines.tolist(), enumerate(rows, 1), strict=True)
    return questions_from(numbered, make, on_malformed, tell, unit=upload.unit.capitalize())


def _shape(upload: Upload) -> Make | None:
    """Return what reads a row of a known dataset."""
    return next((make for theirs, make in _SHAPES if theirs <= {*upload.table}), None)


def _plain(upload: Upload) -> Make | None:
    """Return what reads a row by headings such as “question” and “answers”."""
    columns = _columns(upload)
    if columns is None:
        return None
    ids, place_of = first(upload, IDS), places(upload.unit)

    def make(row: Cells, number: int) -> Question:
        identifier = row[ids].strip() if ids else ""
        return question_of(
            id=identifier or place_of(number),
            query=columns.query_of(row),
            answers=columns.answers_of(row),
            source=row[columns.source] if columns.source else "",
        )

    return make


def _ambignq(row: Cells, number: int) -> Question:
    return ambigqa_question({**row, "annotations": _json(row["annotations"])}, number)


def _triviaqa(row: Cells, number: int) -> Question:
    answer = {
        "Value": row["Answer.Value"],
        "Aliases": _json(row.get("Answer.Aliases") or "[]"),
        "HumanAnswers": _json(row.get("Answer.HumanAnswers") or "[]"),
    }
    return official_question({**row, "Answer": answer}, number)


def _evouna(row: Cells, number: int) -> Question | None:
    return judged_question({**row, "improper": row["improper"] == "true"}, number, "drop")


#: The headings that tell a dataset, and what reads its rows.
_SHAPES: Final[tuple[tuple[frozenset[str], Make], ...]] = (
    (frozenset({"id", "question", "annotations"}), _ambignq),
    (frozenset({"QuestionId", "Question", "Answer.Value"}), _triviaqa),
    (frozenset({"question", "golden_answer", "improper"}), _evouna),
)


def _json(cell: str) -> Any:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError) as error:
        raise ValueError("a cell that should hold JSON does not.") from error
