"""Scores that look as no score should: nothing is promised on them until a person vouches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.codec import one_line
from core.data.tabular.directions import is_of_probability
from core.data.tabular.rows import UploadError

_SHARE = 0.05  # of the numbers, in each of two scales
_GAP = 5.0  # no number between 1 and this, where a heading does not say that they are shares


class SuspiciousScoreError(UploadError):
    """A score for which nobody vouches."""

    def __init__(self, score: str, why: str) -> None:
        super().__init__(why)
        self.score = score


def refuse_suspicious(name: str, numbers: NDArray[np.float64]) -> None:
    """Refuse a score that mixes two scales.

    Parameters
    ----------
    numbers : ndarray of shape (n,)
        NaN is missing.

    Raises
    ------
    SuspiciousScoreError
    """
    if why := _mixed_scales(name, numbers[~np.isnan(numbers)]):
        raise SuspiciousScoreError(name, why)


def _mixed_scales(name: str, numbers: NDArray[np.float64]) -> str:
    if not len(numbers) or numbers.min() < 0 or numbers.max() > 100:
        return ""
    shares, percents = (numbers > 0) & (numbers < 1), numbers > 1
    if not shares.any() or not percents.any():
        return ""
    if not is_of_probability(name):
        least = min(shares.mean(), percents.mean())
        if least < _SHARE or numbers[percents].min() < _GAP:
            return ""
    examples = f"{numbers[shares][0]:g} and {numbers[percents][0]:g}"
    return (
        f"“{one_line(name)}” seems to mix two scales, as it has {examples}: 0 to 1, and percent. A "
        "threshold would take them for one. Write all of it in one scale; or say so if it is in "
        "one."
    )
