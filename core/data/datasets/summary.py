"""What the questions of a dataset are, in words: before they are asked, and with the run."""

from collections.abc import Iterator

import pyarrow as pa

from core.codec import count_of, list_of
from core.data.datasets.questions import Question
from core.data.tabular.columns import question_keys
from core.data.tabular.label_meanings import display

FIRST = 3  # questions
MOST_NAMED = 3  # right answers of each
MOST_LEFT_OUT = 20  # rows of which it is said why
_PORTION = 10_000


class DatasetSummary:
    """Counts questions on their way, and keeps the first of them."""

    def __init__(self) -> None:
        self.number = 0
        self._unanswerable = 0
        self._first: list[str] = []
        self._waiting: list[str] = []
        self._different: set[int] = set()

    def add(self, question: Question) -> None:
        """Count a question."""
        self.number += 1
        self._unanswerable += not question.answers
        self._waiting.append(question.query)
        if len(self._first) < FIRST:
            right = [display(names[0]) for names in question.answers[:MOST_NAMED]]
            more = len(question.answers) - len(right)
            right += [f"{more:,} more"] if more else []
            answer = f"right: {list_of(right, 'or')}" if right else "any answer is wrong"
            self._first.append(f"{display(question.query)}, {answer}.")
        if len(self._waiting) == _PORTION:
            self._part()

    @property
    def sentences(self) -> tuple[str, ...]:
        """How many there are, how many of them differ, and the first."""
        self._part()
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        different = len(self._different)
        of_them = f", {different:,} of them different" if self.number > 1 else ""
        yield f"{count_of(self.number, 'question')}{of_them}."
        if number := self._unanswerable:
            has = "question has" if number == 1 else "questions have"
            yield f"{number:,} {has} no right answer: any answer is wrong, and abstaining is right."
        yield from self._first

    def _part(self) -> None:
        keys = question_keys(pa.array(self._waiting, pa.large_string()))
        self._different.update(map(hash, keys.to_pylist()))
        self._waiting.clear()


def omissions(problems: list[str], number: int) -> tuple[str, ...]:
    """Say which rows are left out: the first by their problems, and how many in all."""
    lines = [f"Left out: {problem}" for problem in problems[:MOST_LEFT_OUT]]
    return (*lines, *([f"{count_of(number, 'malformed row')} left out."] if number else ()))


def extent(finished: int, number: int, *, at_random: bool) -> tuple[str, ...]:
    """Say which of so many questions a run has finished, if not all.

    `at_random`: whether they were asked in a random order; several at a time, and of these the
    quickest are finished first.
    """
    if finished >= number:
        return ()
    done = f"{finished:,} of {count_of(number, 'question')}"
    if at_random:
        return (f"Asked: {done}, at random; slow ones may be missing.",)
    return (f"The file’s first {done}.",)
