"""Anybody's file of questions: JSON lines, a JSON array, CSV, Parquet or an Excel workbook.

Columns are recognised by their headings, as in an upload. JSON is read row by row; a table of
another kind is read whole, within the limits of uploads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from core.data.datasets.files import array, beginning
from core.data.datasets.questions import (
    OnMalformed,
    Question,
    ignore,
    places,
    question_in,
    questions_from,
    read_questions,
)
from core.data.datasets.uploaded import reading_of, uploaded_questions
from core.data.tabular.isolation import parse_isolated
from core.data.tabular.rows import MAX_BYTES, UploadError


def read_file(
    path: str | os.PathLike[str],
    on_malformed: OnMalformed = "refuse",
    tell: Callable[[str], object] = ignore,
    note: Callable[[str], object] = ignore,
) -> Iterator[Question]:
    """Yield the questions of a file, whatever its kind.

    In JSON and in cells with a list, each text is an answer, and a list within the list holds the
    names of one. Other cells may separate answers by | or ;.

    Parameters
    ----------
    path, on_malformed, tell
        As of `core.data.datasets.questions.read_questions`.
    note : callable
        Gets a sentence about each thing that the file left open.

    Raises
    ------
    UploadError
        As of `core.data.datasets.questions.read_questions`; also when no column holds questions,
        or none their right answers.
    """
    begins = beginning(path, 1000)
    if begins.startswith(b"{"):
        return read_questions(path, on_malformed, tell)
    if begins.startswith(b"["):
        place_of = places("line")

        def make(row: dict[str, Any], line: int) -> Question:
            return question_in(row, place_of(line))

        return questions_from(array(path), make, on_malformed, tell)
    return _from_table(path, on_malformed, tell, note)


def _from_table(
    path: str | os.PathLike[str],
    on_malformed: OnMalformed,
    tell: Callable[[str], object],
    note: Callable[[str], object],
) -> Iterator[Question]:
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UploadError(f"{path} cannot be read: {error.strerror}.") from error
    upload = parse_isolated(content, Path(path).name)
    for line in (*upload.notes, *reading_of(upload)):
        note(line)
    yield from uploaded_questions(upload, on_malformed, tell)
