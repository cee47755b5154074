"""How often two graders of the same answers differ."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Disagreement:
    """The share of answers that two graders label differently."""

    rows: int  # Labelled by both
    # first_alone, second_alone: right by one grader and wrong by the other.
    first_alone: int
    second_alone: int
    # lower, upper: Two-sided Clopper–Pearson interval of the share at `CONFIDENCE`, for independent
    # rows.
    lower: float
    upper: float

    @property
    def share(self) -> float:
        """Between 0 and 1; NaN where no row has both labels."""
        return (self.first_alone + self.second_alone) / self.rows if self.rows else float("nan")


def disagreement(first: ArrayLike, second: ArrayLike) -> Disagreement:
    """Compare the labels of two graders.

    `first`, `second`: of shape (n,); 1 right, 0 wrong, NaN where a grader gave no label: such rows
    do not count.
    """
    one, other = np.asarray(first, float), np.asarray(second, float)
    both = ~np.isnan(one) & ~np.isnan(other)
    rows = int(both.sum())
    first_alone = int((one[both] > other[both]).sum())
    second_alone = int((one[both] < other[both]).sum())
    differ, tail = first_alone + second_alone, (1 - CONFIDENCE) / 2
    lower = float(special.betaincinv(differ, rows - differ + 1, tail)) if differ else 0.0
    upper = float(special.betaincinv(differ + 1, rows - differ, 1 - tail)) if differ < rows else 1.0
    return Disagreement(rows, first_alone, second_alone, lower, upper)
