"""What the model says next after each answer that it was told: the idea in rows of bars.

If all rows are alike, what the model is told does not matter to it: it knows. If every row has a
shape of its own, it says what it was told.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.studies.inspection.inspection import Inspection

MOST: Final = 8  # answers that are told, and answers whose shares are told apart


def chance(share: float, is_counted: bool, digits: int | None = None) -> str:
    """Return a probability in short: only a share of draws is 0% or 100%."""
    if is_counted and share in (0.0, 1.0):
        return f"{share:.0%}"
    if share < 0.001:
        return "< 0.1%"
    usual = 1 if share < 0.1 or share > 0.99 else 0
    return "> 99.9%" if share > 0.999 else f"{share:.{usual if digits is None else digits}%}"


@dataclass(frozen=True)
class AnswerRow:
    """The model's next answers under one prompt."""

    after: str | None  # the answer in the prompt; None where there is none
    # The probability of each of `ConditionalRows.answers`, in [0, 1]; what is missing to 1 is
    # anything else.
    says: tuple[float, ...]

    @property
    def rest(self) -> float:
        """The probability of anything else."""
        return max(0.0, 1 - sum(self.says))


@dataclass(frozen=True)
class ConditionalRows:
    """The rows of a question, the first of them told nothing."""

    answers: tuple[str, ...]  # the likeliest answers, the likeliest first, `MOST` of them at most
    rows: tuple[AnswerRow, ...]
    is_counted: bool  # whether they are shares of draws


def conditional_rows(inspection: Inspection) -> ConditionalRows:
    """Return what the model says when it is told nothing, and after each of its answers.

    With a single answer, it was told others instead, where they are known.
    """
    evidence, clusters = inspection.evidence, inspection.clusters[:MOST]
    answers = tuple(cluster.text for cluster in clusters)
    is_counted = evidence.row_masses is None
    rows = [AnswerRow(None, tuple(cluster.mass for cluster in clusters))]
    if inspection.others:
        rows += [AnswerRow(text, (share,)) for text, share in inspection.others[:MOST]]
        return ConditionalRows(answers, tuple(rows), is_counted)
    after: NDArray[np.float64] = np.exp(evidence.log_second_given_first)
    if evidence.row_masses is not None:
        after = after * np.minimum(evidence.row_masses, 1.0)[:, None]
    rows += [
        AnswerRow(text, tuple(map(float, row[:MOST])))
        for text, row in zip(answers, after, strict=False)
        if row.any()  # it never came first: nobody told it
    ]
    return ConditionalRows(answers, tuple(rows), is_counted)
