"""Questions with their right answers: the one shape that every dataset is read into.

As a file they are JSON lines: ``{"id": …, "query": …, "answers": [["Paris", "Paris, France"]],
"source": …}``. Files of others are read as well if their keys say what they are: see
`read_questions`. All text is hostile, and a file may be larger than the memory: it is read row
by row, and a row is measured before it is parsed.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeVar

from core.codec import encode, is_writable, one_line
from core.data.datasets.files import lines, object_of
from core.data.tabular.headings import GOLD_ANSWERS, QUERIES, SOURCES, plain_heading
from core.data.tabular.rows import UploadError, as_text
from core.outputs import replacing

T = TypeVar("T")

#: Gets a sentence about each row that cannot be used and is left out; without it, such a row ends
#: the reading.
Tell = Callable[[str], object] | None

MAX_QUESTIONS = 2_000_000  # their ids are held in memory, as none may appear twice
MAX_TEXT = 10_000  # characters of a question, or of a name of an answer
MAX_NAMES = 10_000  # of all answers to a question
MAX_ID = 200  # characters

IDS = ("id", "questionid", "qid")
MALFORMED = "malformed_before"


@dataclass(frozen=True)
class Question:
    """A question and what counts as right."""

    id: str  # Unique within a dataset, and the same in every run
    query: str  # what is asked
    # The right answers, each with all its accepted names, the usual one first. None: whatever is
    # answered is wrong, and only who abstains is right.
    answers: tuple[tuple[str, ...], ...]
    # The dataset, or the group within it ("triviaqa", "ambigqa multiple", "world by heart").
    source: str = ""
    # The passages that the answer is to be drawn from; no file of ours holds them.
    context: str = ""
    # How many rows were left out as malformed when its file was written; the last question says it.
    malformed_before: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Every name of every right answer."""
        return tuple(chain(*self.answers))


class MalformedRowError(UploadError):
    """A row that cannot be used, by its line."""


def write_questions(
    questions: Iterable[Question], path: str | os.PathLike[str], malformed: Callable[[], int] = int
) -> int:
    """Write questions as JSON lines, one at a time, and return how many there were.

    What is at `path` is replaced only when all are written.

    `malformed`: returns how many rows were left out, once all questions are there. The last line
    says it, so that a promise on these questions can.

    Raises `OSError` when the file cannot be written.
    """
    number, last = 0, None
    with replacing(path) as file:
        for question in questions:
            if last is not None:
                file.write(_line(last, last.malformed_before))
            number, last = number + 1, question
        if last is not None:
            file.write(_line(last, last.malformed_before + malformed()))
    return number


def _line(question: Question, malformed: int) -> bytes:
    row: dict[str, object] = {
        "id": question.id,
        "query": question.query,
        "answers": question.answers,
        "source": question.source,
    }
    return f"{encode(row | ({MALFORMED: malformed} if malformed else {}))}\n".encode()


def with_malformed(question: Question, row: Mapping[str, object]) -> Question:
    """Return a question of a row of ours with what the row says of malformed ones before it."""
    text = str(row.get(MALFORMED, ""))
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(MAX_QUESTIONS))
    return replace(question, malformed_before=int(text)) if is_number else question


def is_own(row: Mapping[str, object]) -> bool:
    """Return whether a JSON object has the keys that `write_questions` writes, and no others."""
    return [key for key in row if key != MALFORMED] == ["id", "query", "answers", "source"]


def places(unit: str) -> Callable[[int], str]:
    """Return what names rows that have no id, called once for each: several may stand on a line."""
    rows_on: Counter[int] = Counter()

    def place(number: int) -> str:
        rows_on[number] += 1
        more = f", item {rows_on[number]}" if rows_on[number] > 1 else ""
        return f"{unit} {number}{more}"

    return place


def read_questions(
    path: str | os.PathLike[str], tell: Tell = None, *, source: str = "", prefix: str = "line "
) -> Iterator[Question]:
    """Read questions from JSON lines, one at a time.

    Keys are recognised as the headings of an upload are: `query` or "question", `answers` or
    "answer", "aliases" and such. The answers may be a flat list of texts, each an answer of its
    own, or one text; an empty list says that no answer is right.

    Raises `MalformedRowError`, with its line, when a row cannot be used and nobody is told of it;
    `UploadError` when the file cannot be read, or has no question.

    `source`: of rows that name none.
    `prefix`: with the number of its line, the id of a row that has none.
    """

    def make(line: bytes, number: int) -> Question:
        return question_in(object_of(line, number), f"{prefix}{number}", source)

    return questions_from(lines(path), make, tell)


def questions_from(
    rows: Iterable[tuple[int, T]],
    make: Callable[[T, int], Question | None],
    tell: Tell = None,
    *,
    unit: str = "Line",
) -> Iterator[Question]:
    """Yield what `make` makes of rows, no id twice.

    Each row has the number by which it is named; `unit` is what the numbers count. `make` returns
    None for one that is left out on purpose; a `ValueError` of it says what is wrong with the row.
    See `read_questions` for the rest.

    Raises `MalformedRowError` when a row cannot be used and nobody is told;
    `UploadError` when there is no question, or there are more than `MAX_QUESTIONS`.
    """
    ids: set[str] = set()
    for number, row in rows:
        try:
            question = make(row, number)
            if question is None:
                continue
            if question.id in ids:
                raise ValueError(f"the id “{one_line(question.id)}” appears more than once.")
        except ValueError as error:
            # The errors of a parser name the line themselves.
            named = isinstance(error, UploadError)
            problem = str(error) if named else f"{unit} {number}: {error}"
            if tell is None:
                raise MalformedRowError(problem) from error
            tell(problem)
            continue
        ids.add(question.id)
        if len(ids) > MAX_QUESTIONS:
            raise UploadError(
                f"The dataset has more than {MAX_QUESTIONS:,} questions, the most that can be "
                "read; split it."
            )
        yield question
    if not ids:
        raise UploadError("The dataset has no question with a right answer.")


def question_of(
    *,
    id: object,
    query: object,
    answers: Iterable[Iterable[object]],
    source: object = "",
    unanswerable: bool = False,
) -> Question:
    """Return a question out of what a file held, with white space around its texts removed.

    Names that are empty or repeated are left out, and so are answers without a name.

    `unanswerable`: whether the file says that no answer is right; else a missing one is a mistake.

    Raises `ValueError` when a part is missing, no text or number, or too long: the sentence says
    which.
    """
    key, text = _text(id, "id", MAX_ID), _text(query, "question")
    if not key:
        raise ValueError("the id is empty.")
    if not text:
        raise ValueError("there is no question.")
    right: dict[tuple[str, ...], None] = {}
    number = 0
    for answer in answers:
        names: dict[str, None] = {}
        for name in answer:
            number += 1
            if number > MAX_NAMES:
                raise ValueError(
                    f"the answers have more than {MAX_NAMES:,} names, the most that can be read."
                )
            names.setdefault(_text(name, "name of an answer"))
        names.pop("", None)
        if names:
            right.setdefault(tuple(names))
    if not right and not unanswerable:
        raise ValueError("there is no right answer.")
    return Question(key, text, tuple(right), _text(source, "source", MAX_ID))


def group(names: object) -> list[list[object]]:
    """Return answers by their names: a list within a list holds the names of one answer."""
    if names is None:
        return []
    if not isinstance(names, list):
        return [[names]]
    return [item if isinstance(item, list) else [item] for item in names]


def _text(value: object, what: str, longest: int = MAX_TEXT) -> str:
    """Return a text or a number as a text that can be written; None is ""."""
    if not isinstance(value, str):
        if value is not None and not isinstance(value, int | float):
            raise ValueError(f"the {what} is no text.")
        value = as_text(value)
    text = value.strip()
    if len(text) > longest:
        raise ValueError(
            f"the {what} has more than {longest:,} characters, the most that can be read."
        )
    if not is_writable(text):
        raise ValueError(f"the {what} contains half of a character, such as \\ud800.")
    return text


def question_in(row: Mapping[str, Any], id: str, source: str = "") -> Question:
    """Return the question in a JSON object whose keys say what they are, as headings do.

    `id, source`: of a row that names none.

    Raises `ValueError` as of `question_of`.
    """
    fields: dict[str, Any] = {}
    for key, value in row.items():
        fields.setdefault(plain_heading(key), value)

    def first(names: Iterable[str]) -> Any:
        return next((fields[name] for name in names if name in fields), None)

    identifier, answers = first(IDS), first(GOLD_ANSWERS)
    question = question_of(
        id=id if identifier is None else identifier,
        query=first(QUERIES),
        answers=group(answers),
        source=first(SOURCES) or source,
        unanswerable=answers == [],
    )
    return with_malformed(question, row)
