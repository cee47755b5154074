"""TriviaQA without its evidence: the official files, and the 2,000 rows that EVOUNA judged.

The official JSON is one object of 600 MB and more, whose list “Data” is read row by row. EVOUNA
(QA-Eval) is a list of objects; its aliases are one text, joined by “/”.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from core.data.datasets.files import array, beginning
from core.data.datasets.questions import Question, Tell, question_of, questions_from

Improper = Literal["drop", "keep"]

SOURCE = "triviaqa"
IMPROPER = f"{SOURCE} improper"


def read_triviaqa(
    path: str | os.PathLike[str],
    tell: Tell = None,
    *,
    improper: Improper = "drop",
    dropped: Callable[[], object] = lambda: None,
) -> Iterator[Question]:
    """Yield the questions of a file of TriviaQA or EVOUNA, whichever it is.

    Of the official answer all aliases count, and what people answered: as its own evaluation
    does. Normalised aliases add nothing, since answers are compared without case and articles.
    Rows of EVOUNA whose question or answer is wrong by its own mark have the source `IMPROPER`, or
    are dropped, and `dropped` is called for each.

    The rest, and what it raises, is as of `core.data.datasets.questions.read_questions`.
    """
    if beginning(path, 1000).startswith(b"{"):
        yield from questions_from(array(path, "Data"), official_question, tell)
        return

    def convert(row: tuple[int, dict[str, Any]], _: int) -> Question | None:
        number, item = row
        question = judged_question(item, number, improper)
        if question is None:
            dropped()
        return question

    rows = ((line, (number, item)) for number, (line, item) in enumerate(array(path), 1))
    yield from questions_from(rows, convert, tell)


def judged_question(item: Mapping[str, Any], number: int, improper: Improper) -> Question | None:
    """Return the question in an object of EVOUNA; None for an improper one that is dropped.

    `number`: which object of the file it is, from 1: EVOUNA gives no ids.

    Raises `ValueError` when there is none: the sentence says why.
    """
    if item.get("improper") is True and improper == "drop":
        return None
    return question_of(
        id=f"{SOURCE}:{number}",
        query=item.get("question"),
        answers=[_text(item.get("golden_answer"), "golden_answer").split("/")],
        source=IMPROPER if item.get("improper") is True else SOURCE,
    )


def official_question(item: Mapping[str, Any], _: int) -> Question:
    """Return the question of an official object; `ValueError` says why there is none."""
    answer = item.get("Answer")
    if not isinstance(answer, dict):
        raise ValueError("there is no right answer: “Answer” is missing.")
    names = [answer.get("Value")]
    for key in ("Aliases", "HumanAnswers"):
        more = answer.get(key, [])
        if not isinstance(more, list):
            raise ValueError(f"“{key}” is no list.")
        names += more
    return question_of(
        id=item.get("QuestionId"), query=item.get("Question"), answers=[names], source=SOURCE
    )


def _text(value: object, key: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"“{key}” is no text.")
    return value
