"""Questions in a table that somebody uploaded: our own headings, or the shape of a known dataset.

A JSON file has become a table by then, whose cells hold lists and objects as JSON
(`core.data.tabular.uploads`). So it is recognised by its headings, as other tables are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from core.data.datasets.ambigqa import ambigqa_question
from core.data.datasets.questions import (
    IDS,
    OnMalformed,
    Question,
    ignore,
    question_of,
    questions_from,
)
from core.data.datasets.triviaqa import judged_question, official_question
from core.data.tabular.columns import first
from core.data.tabular.gold_questions import gold_columns
from core.data.tabular.uploads import Upload, UploadError

Cells = Mapping[str, str]
Make = Callable[[Cells, int], Question | None]

NO_QUESTIONS: Final = (
    "The file has no column of questions with one of right answers; call them “question” and "
    "“answers”."
)


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
    shape = next((make for theirs, make in _SHAPES if theirs <= {*upload.table}), None)
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


def _plain(upload: Upload) -> Make | None:
    """Return what reads a row by headings such as “question” and “answers”."""
    columns = gold_columns(upload)
    if columns is None:
        return None
    ids, unit = first(upload, IDS), upload.unit

    def make(row: Cells, number: int) -> Question:
        identifier = row[ids].strip() if ids else ""
        return question_of(
            id=identifier or f"{unit} {number}",
            query=row[columns.question],
            answers=columns.answers_in(row[columns.answer]),
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
