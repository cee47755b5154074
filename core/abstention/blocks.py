"""Queries in the order in which a growing threshold answers them, tied doubts together.

A threshold answers every query whose doubt is below it, so queries of the same doubt are
answered together or not at all. Mutual information makes many exact zeros; splitting them
by the order of rows would invent an order that no threshold can follow.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Blocks:
    """The distinct doubts in rising order, with what answering up to each would mean."""

    # (b,): the distinct doubts, rising. Missing and infinite ones are left out: they are never
    # answered, as no λ is above them.
    doubts: NDArray[np.float64]
    # answered, errors: (b,): how many queries have at most this doubt, and how many of these are
    # wrong.
    answered: NDArray[np.int64]
    errors: NDArray[np.int64]
    queries: int  # all rows, those without a doubt that could be answered included

    @property
    def finite(self) -> int:
        """How many queries have a finite score."""
        return int(self.answered[-1]) if len(self.answered) else 0

    def threshold_after(self, block: int) -> float:
        """Return λ midway between a block's doubt and the next one; ∞ after the last.

        Answering "doubt < λ" then answers this block and all before it, and no other.
        """
        if block + 1 == len(self.doubts):
            return float("inf")
        here, following = self.doubts[block], self.doubts[block + 1]
        middle = here / 2 + following / 2
        # Two neighbouring floats have nothing between them, and −∞ has no middle.
        return float(middle if here < middle <= following else following)


def blocks(doubts: ArrayLike, correct: ArrayLike) -> Blocks:
    """Sort queries by doubt and count, per distinct doubt, the answered and the wrong.

    Of doubts, (n,), larger means "doubt more"; NaN is missing, and an infinite one as good as
    missing. `correct`, (n,), is whether the answer that this score serves is right, 0 or 1. Raises
    `ValueError` when the shapes differ, or a correctness is neither 0 nor 1.
    """
    doubt, wrong = checked_rows(doubts, correct)
    answerable = doubt < np.inf
    return _counts(doubt[answerable], wrong[answerable], len(doubt))


def all_blocks(doubts: ArrayLike, correct: ArrayLike) -> Blocks:
    """Count as `blocks` does, with all that is never answered as one last block."""
    doubt, wrong = checked_rows(doubts, correct)
    return _counts(np.where(np.isnan(doubt), np.inf, doubt), wrong, len(doubt))


def _counts(doubt: NDArray[np.float64], wrong: NDArray[np.int64], queries: int) -> Blocks:
    order = np.argsort(doubt, kind="stable")
    doubt, wrong = doubt[order], wrong[order]
    last = np.flatnonzero(np.append(doubt[1:] != doubt[:-1], len(doubt) > 0))
    return Blocks(doubt[last], last + 1, np.cumsum(wrong)[last], queries)


def checked_rows(
    doubts: ArrayLike, correct: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return doubts as floats and the wrong ones as 1, or raise `ValueError` with what is amiss."""
    doubt, right = np.asarray(doubts, float), np.asarray(correct)
    if doubt.ndim != 1 or doubt.shape != right.shape:
        raise ValueError(
            f"Give one correctness for every score: there are {doubt.shape} scores and "
            f"{right.shape} labels."
        )
    if not ((right == 0) | (right == 1)).all():
        raise ValueError("Correctness must be 1 (right) or 0 (wrong) in every row.")
    return doubt, 1 - right.astype(np.int64)
