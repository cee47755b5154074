"""The rows behind a threshold: which answers it serves and which it withholds, right or wrong."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from core.data.tabular.labelled_rows import LabelledRows
from core.studies.calibration.calibration import Calibration

Table = Mapping[str, list[object]]


class RowSelection(StrEnum):
    """Some of the rows, by the decision and by whether their answer is right."""

    ANSWERED_WRONG = "Answered and wrong"
    ANSWERED_RIGHT = "Answered and right"
    WITHHELD_RIGHT = "Withheld and right"
    WITHHELD_WRONG = "Withheld and wrong"
    LABELS_DIFFER = "Labels differ"
    ALL = "All"


@dataclass(frozen=True)
class RowsByDoubt:
    """All labelled rows, the least doubtful first, and what a threshold does to them."""

    data: LabelledRows
    score: str
    # (n,): the places of the rows in the data, by rising doubt; those without one last.
    order: NDArray[np.int64]
    # answered, right: (n,): in that order.
    answered: NDArray[np.bool_]
    right: NDArray[np.bool_]

    def of(
        self, part: RowSelection, between: tuple[float, float] | None = None
    ) -> NDArray[np.int64]:
        """Return the places in the data of some rows, the least doubtful first.

        `between`: only rows whose score, in its own direction, is in this range.
        """
        selection = self._in(part)
        if between is not None:
            low, high = sorted(between)
            scores = self.data.numbers(self.score)[self.order]
            selection = selection & (scores >= low) & (scores <= high)
        return self.order[selection]

    def number(self, part: RowSelection) -> int:
        """Return how many rows there are of a kind."""
        return int(np.count_nonzero(self._in(part)))

    def _in(self, part: RowSelection) -> NDArray[np.bool_]:
        if part is RowSelection.ALL:
            return np.ones(len(self.order), bool)
        if part is RowSelection.LABELS_DIFFER:
            other = self.data.others.get(self.score)
            return self.right & False if other is None else other.right[self.order] != self.right
        answered = part in (RowSelection.ANSWERED_WRONG, RowSelection.ANSWERED_RIGHT)
        right = part in (RowSelection.ANSWERED_RIGHT, RowSelection.WITHHELD_RIGHT)
        return (self.answered == answered) & (self.right == right)


def by_doubt(calibration: Calibration, threshold: float) -> RowsByDoubt:
    """Return the labelled rows by rising doubt, and what λ, in the unit of the doubt, decides."""
    doubts = calibration.doubts
    order = np.argsort(doubts, kind="stable")
    return RowsByDoubt(
        calibration.data,
        calibration.score,
        order,
        (doubts < threshold)[order],
        calibration.correct[order],
    )


def ranks_near(rows: RowsByDoubt, answered: NDArray[np.int64], number: int) -> NDArray[np.int64]:
    """Return the ranks of rows near thresholds, rising: of right, wrong and all rows alike.

    `number` rows of each kind before and behind each threshold, which answers so many, (s,).
    """
    ranks = []
    for kind in (
        np.arange(len(rows.order)),
        np.flatnonzero(rows.right),
        np.flatnonzero(~rows.right),
    ):
        first = np.searchsorted(kind, answered)[:, None] + np.arange(-number, number)
        ranks.append(kind[first[(first >= 0) & (first < len(kind))]])
    return np.unique(np.concatenate(ranks))


def table(rows: RowsByDoubt, places: NDArray[np.int64]) -> Table:
    """Return rows as columns by heading: what was asked, answered and right, and what became of it.

    The score stands there in its own direction; a row without one has None.
    """
    data = rows.data
    answers = (rows.answered, "served", "withheld"), (rows.right, "right", "wrong")
    at = np.empty(len(rows.order), np.int64)
    at[rows.order] = np.arange(len(rows.order))
    decision, judged = (np.where(each[at[places]], yes, no).tolist() for each, yes, no in answers)
    columns: dict[str, list[object]] = {
        "row": (data.kept[places] + 1).tolist(),
        "question": data.queries[places].tolist(),
    }
    if data.answers is not None:
        columns["answer"] = data.answers[places].tolist()
    if data.truths is not None:
        columns["right answer"] = data.truths[places].tolist()
    numbers = data.numbers(rows.score)[places]
    columns["right or wrong"] = judged
    if other := data.others.get(rows.score):
        columns[other.rule or "by the other label"] = np.where(
            other.right[places], "right", "wrong"
        ).tolist()
    columns["score" if data.surer[rows.score] else "doubt"] = [
        None if np.isnan(number) else float(number) for number in numbers
    ]
    columns["decision"] = decision
    return columns


def question(data: LabelledRows, place: int) -> str | None:
    """Return a row's question; None where the file has none and its number stands for it."""
    text = str(data.queries[place])
    return None if text == str(int(data.kept[place]) + 1) else text
