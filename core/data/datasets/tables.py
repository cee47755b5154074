"""Anybody's file of questions: JSON lines, a JSON array, CSV, Parquet or an Excel workbook.

Columns are recognised by their headings, as in an upload, or a person names them. A JSON file that
was uploaded has become a table by then, whose cells hold lists and objects as JSON.
"""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from core.data.datasets.answer_key import NO_QUESTIONS, AnswerKey, Cells, answer_key
from core.data.datasets.files import array, beginning, lines, object_of
from core.data.datasets.questions import (
    IDS,
    Question,
    Tell,
    is_own,
    places,
    question_in,
    questions_from,
    read_questions,
    with_malformed,
)
from core.data.tabular.columns import first
from core.data.tabular.isolation import parse_isolated
from core.data.tabular.rows import MAX_UPLOAD_BYTES
from core.data.tabular.uploads import Upload, UploadError

_BEGINNING = 5_000  # bytes
KEYS = (
    "Each row is read by its keys: the question by one such as “question”, what is right by one "
    "such as “answers”.",
)


class QuestionFile:
    """Anybody's file of questions, which can be read as often as it takes.

    A file of our own, and JSON that is larger than an upload may be, are read row by row; another
    one is read whole, as the page reads it. `meaning` is what the file is, and which of its columns
    means what, in words. `source` is that of questions that name none; `roles`, what a person says
    of columns, as arguments of `answer_key`.

    Raises `UploadError` as of `core.data.datasets.questions.read_questions`; also when no column
    holds questions, or none their right answers.
    """

    def __init__(self, path: str | os.PathLike[str], source: str = "", **roles: str | None) -> None:
        self._path, self._source = path, source
        begins = beginning(path, _BEGINNING)
        self._is_array = begins.startswith(b"[")
        self._upload: Upload | None = None
        self._key: AnswerKey | None = None
        self.meaning: tuple[str, ...] = ()
        has_roles = any(value is not None for value in roles.values())
        is_large = begins[:1] in (b"{", b"[") and Path(path).stat().st_size > MAX_UPLOAD_BYTES
        if is_large and has_roles:
            raise UploadError(
                f"{path} is read row by row, as it is larger than {MAX_UPLOAD_BYTES:,} bytes, and "
                "so by its keys alone: call them “question” and “answers”."
            )
        if is_large or (not has_roles and _is_own(path)):
            self.meaning = KEYS if is_large else ()
            return
        self._upload = _upload(path)
        self._key = answer_key(self._upload, **roles)
        if self._key is None:
            raise UploadError(NO_QUESTIONS)
        self.meaning = (*self._upload.notes, *self._key.sentences)

    def questions(self, tell: Tell = None) -> Iterator[Question]:
        """Yield the questions; the rest is as of `core.data.datasets.questions.read_questions`."""
        path, source = self._path, self._source
        if self._upload is not None:
            return uploaded_questions(self._upload, tell, key=self._key, source=source)
        if not self._is_array:
            return read_questions(path, tell, source=source)
        place_of = places("line")

        def make(row: dict[str, Any], line: int) -> Question:
            return question_in(row, place_of(line), source)

        return questions_from(array(path), make, tell)


def _is_own(path: str | os.PathLike[str]) -> bool:
    """Return whether the first row is of our own."""
    try:
        return any(is_own(object_of(line, number)) for number, line in islice(lines(path), 1))
    except ValueError:
        return False


def _upload(path: str | os.PathLike[str]) -> Upload:
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_UPLOAD_BYTES + 1)
    except OSError as error:
        raise UploadError(f"{path} cannot be read: {error.strerror}.") from error
    return parse_isolated(content, Path(path).name)


def holds_questions(upload: Upload) -> bool:
    """Say whether an upload has questions with right answers, by its headings."""
    return answer_key(upload) is not None


def uploaded_questions(
    upload: Upload, tell: Tell = None, *, key: AnswerKey | None = None, source: str = ""
) -> Iterator[Question]:
    """Yield the questions of an upload; of EVOUNA, rows that are marked improper are left out.

    `key` says where its questions are; if not given, the headings do. The rest is as of
    `core.data.datasets.questions.read_questions`, `UploadError` too; it is also raised when no
    column holds questions, or none their right answers.
    """
    key = key or answer_key(upload)
    if key is None:
        raise UploadError(NO_QUESTIONS)
    ids, place_of = first(upload, IDS), places(upload.unit)

    def make(row: tuple[int, Cells], number: int) -> Question | None:
        place, cells = row
        if key.make:  # where a dataset gives no ids, its rows are counted, whatever their lines are
            return key.make(cells, place)
        identifier = cells[ids].strip() if ids else ""
        return with_malformed(key.question_in(cells, identifier or place_of(number), source), cells)

    names = [str(name) for name in upload.table]
    columns = (upload.table[name] for name in names)
    rows: Iterator[Cells] = (
        dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)
    )
    numbered = zip(upload.lines.tolist(), enumerate(rows, 1), strict=True)
    return questions_from(numbered, make, tell, unit=upload.unit.capitalize())
