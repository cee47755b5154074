"""Questions with their right answers and no scores yet: what a model can be asked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.codec import shortened
from core.data.tabular.columns import (
    QUERIES,
    RIGHT_ANSWERS,
    SOURCES,
    column_of,
    first,
    parse_list,
)
from core.data.tabular.labelled import LEFT_OUT, complaint, suggest
from core.data.tabular.uploads import Upload

MAX_GOLD = 2000  # questions: each is asked of a model


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


def gold_questions(upload: Upload) -> GoldQuestions | None:
    """Return questions with right answers, if that is what the upload holds.

    It does if it has a column of questions and one of answers, and no score with labels. Answers
    are lists, or texts separated by | or else ; if any cell of the column contains that. None
    also if no row has both a question and an answer.
    """
    # An "answer" beside gold answers is what a model said.
    question, answer = first(upload, QUERIES), first(upload, (*RIGHT_ANSWERS, "answer"))
    source = first(upload, SOURCES)
    if question is None or answer is None or suggest(upload).scores:
        return None
    cells = upload.table[answer].to_numpy(object)
    asked_for = upload.table[question].to_numpy(object)
    lists = column_of(upload, answer).where(lambda text: parse_list(text) is not None)
    plain = [text for text, is_list in zip(cells, lists, strict=True) if not is_list]
    separator = next((s for s in "|;" if any(s in text for text in plain)), None)
    every = np.arange(len(cells))
    sources = column_of(upload, source)[every] if source else [""] * len(cells)
    found: list[tuple[str, tuple[str, ...], str]] = []
    without_question, without_answer = np.zeros((2, len(cells)), bool)
    more = 0
    for row, (asked, told) in enumerate(zip(asked_for, cells, strict=True)):
        if len(found) == MAX_GOLD:
            more = len(cells) - row
            break
        answers = _answers(told, separator)
        without_question[row] = not asked.strip()
        without_answer[row] = not answers
        if asked.strip() and answers:
            found.append((asked.strip(), answers, str(sources[row])))
    if not found:
        return None
    problems = [
        *complaint(upload, without_question, f"“{shortened(question)}” is empty", LEFT_OUT),
        *complaint(upload, without_answer, f"“{shortened(answer)}” has no answer", LEFT_OUT),
    ]
    if more:
        problems.append(
            f"Only the first {MAX_GOLD:,} questions are used, and {more:,} more "
            f"{'row is' if more == 1 else 'rows are'} not; split the file to use others."
        )
    questions, right, origins = zip(*found, strict=True)
    return GoldQuestions(upload.name, upload.sha256, questions, right, origins, tuple(problems))


def _answers(text: str, separator: str | None) -> tuple[str, ...]:
    parts = parse_list(text)
    if parts is None:
        parts = text.split(separator) if separator else [text]
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
