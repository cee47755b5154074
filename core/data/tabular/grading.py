"""Labels that were made here, of predictions beside references: a column like any other's.

Who made them belongs to what was read, and to what is promised: a program's label says what the
program says, which need not be true.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from core.abstention.agreement import CONFIDENCE, Disagreement
from core.codec import count_of, list_of, one_line
from core.data.tabular.label_words import GRADED_BY, heading_words

if TYPE_CHECKING:
    from core.data.tabular.uploads import Upload

RIGHT, WRONG, NO_LABEL = "right", "wrong", ""
SKIP: Final = "skip"  # of a row of which a person cannot tell
VALUES: Final = {RIGHT: 1.0, WRONG: 0.0, SKIP: np.nan}
#: Words of a heading that name what makes labels: a judge, or a rule that compares texts.
_PROGRAMS: Final = re.compile(
    r"\b(judges?|judged|graders?|auto(mat(ed|ic|ically))?|acc|exact ?match|em|f1|match(es)?|"
    r"includes|pattern|g eval|rouge\w*|bleu|bert ?score)\b"
)
_PEOPLE: Final = re.compile(
    r"\b(humans?|persons?|people|experts?|manual\w*|annotat\w*|reviewers?)\b"
)
#: Who grades where no rule does.
BY_HAND: Final = "person"
BY_MODEL: Final = "model"


class Grader(StrEnum):
    """Who says whether a prediction is right."""

    SAME_ANSWER = "same-answer"
    PAPER = "paper"


#: As a sentence names them.
NAMES: Final = {
    Grader.SAME_ANSWER: "the rule “same answer”",
    Grader.PAPER: "the paper’s rule (token F1 ≥ 0.25)",
}


@dataclass(frozen=True)
class Grading:
    """How the labels of a table were made."""

    label: str  # the column that has them
    grader: str  # who made them, as a sentence names it
    question: str  # the column of questions; empty if there is none
    prediction: str
    references: tuple[str, ...]
    ungradable: tuple[str, ...] = ()  # rows without a label, and why, a sentence each
    # With other graders, as a sentence names them, on one row of every question.
    disagreements: tuple[tuple[str, Disagreement], ...] = ()

    @property
    def columns(self) -> frozenset[str]:
        """The columns that were compared."""
        return frozenset({self.prediction, *self.references})

    @property
    def sentences(self) -> tuple[str, ...]:
        """How the labels were made, in words."""
        beside = list_of([f"“{one_line(name)}”" for name in self.references])
        first = f"Labels: made by {self.grader}, of “{one_line(self.prediction)}” beside {beside}."
        differ = (comparison(self.grader, other, of) for other, of in self.disagreements)
        return (first, *differ, *self.ungradable)


def comparison(grader: str, other: str, of: Disagreement) -> str:
    """Return how often two graders differ, in words."""
    if not of.rows:
        return f"No row has a label of {grader} and one of {other}."
    differ = of.first_alone + of.second_alone
    return (
        f"{grader[0].upper()}{grader[1:]} and {other} differ on {of.share:.1%} of "
        f"{count_of(of.rows, 'question')} ({differ:,}; {CONFIDENCE:.0%} interval {of.lower:.1%} to "
        f"{of.upper:.1%}): {of.first_alone:,} right by the first alone, {of.second_alone:,} by the "
        "second alone."
    )


def with_labels(upload: Upload, grading: Grading, labels: NDArray[np.float64]) -> Upload:
    """Return a table with labels, (n,), 1 right, 0 wrong, NaN none, and how they were made."""
    texts = np.where(np.isnan(labels), NO_LABEL, np.where(labels == 1, RIGHT, WRONG))
    label = label_heading(upload, grading.label)
    table = upload.table.assign(**{label: texts.astype(object)}).astype({label: "str"})
    columns = {name: column for name, column in upload.columns.items() if name != label}
    return replace(upload, table=table, grading=replace(grading, label=label), columns=columns)


def grader_in(heading: str) -> str:
    """Return who made the labels of a column, by its heading; empty if it does not say it."""
    if heading.casefold().startswith(GRADED_BY):
        return one_line(heading[len(GRADED_BY) :])
    words = heading_words(heading)
    by_program = _PROGRAMS.search(words) and not _PEOPLE.search(words)
    return f"a judge or a rule, as “{one_line(heading)}” says" if by_program else ""


def label_heading(upload: Upload, heading: str) -> str:
    """Return a heading that no column of the file has."""
    more = (f"{heading} ({number})" for number in itertools.count(2))
    return next(n for n in itertools.chain([heading], more) if n not in upload.table.columns)
