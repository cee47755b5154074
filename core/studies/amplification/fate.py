"""What repeating does to answers, in a word for a curve and in a sentence for several.

Between two answers a model is sure, or both are alive: neither is more than four times as likely as
the other. What is known stays above that, what gives way falls below, and of many right
answers two drift about within.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.studies.amplification.curve import Amplification, between, in_words, percent

ALIVE: Final = (0.2, 0.8)  # shares of the right answer at which both are alive
MOVES: Final = 0.05  # by how much a median has to change to be said to drift


class Fate(StrEnum):
    """Where the right answer stands."""

    STAYS = "the right answer leads clearly"
    ALIVE = "both answers are alive"
    GIVES_WAY = "the repeated answer leads clearly"


def fate(share: float) -> Fate:
    """Return where the right answer stands that has this share of both."""
    low, high = ALIVE
    if share > high:
        return Fate.STAYS
    return Fate.GIVES_WAY if share < low else Fate.ALIVE


def last_fate(curve: Amplification) -> Fate:
    """Return where the right answer of a curve stands in the end; alive where nothing is known."""
    shares = [p.normalised_probability for p in curve.points]
    present = [share for share in shares if share is not None]
    return fate(present[-1]) if present else Fate.ALIVE


def quartiles(curves: Sequence[Amplification]) -> NDArray[np.float64]:
    """Return the quartiles of the normalised probability at every t.

    Parameters
    ----------
    curves : sequence of Amplification
        At least one, all over the same numbers of repetitions; NaN where one has no share.

    Returns
    -------
    ndarray of shape (3, points)
        The lower quartile, the median, the upper quartile.
    """
    shares = [[point.normalised_probability for point in curve.points] for curve in curves]
    return np.quantile(np.array(shares, float), [0.25, 0.5, 0.75], axis=0)


def happening(curves: Sequence[Amplification]) -> tuple[str, str]:
    """Say what repeating does to a group of questions, by their median: in short, and in numbers.

    Parameters
    ----------
    curves : sequence of Amplification
        At least one, all over the same numbers of repetitions.
    """
    median = quartiles(curves)[1]
    if np.isnan(median).any():
        return "No median", "At some numbers of repetitions neither answer was sampled."
    times = [point.repetitions for point in curves[0].points]
    first, last = percent(float(median[0])), percent(float(median[-1]))
    ends = fate(float(median[-1]))
    same = sum(last_fate(curve) is ends for curve in curves)
    goes = f"stays at {last}" if first == last else f"goes from {first} to {last}"
    return _course(median, times), (
        f"The right answer’s median share {goes}. After {in_words(times[-1])} {ends} in {same} "
        f"of {len(curves)}."
    )


def _course(median: NDArray[np.float64], times: Sequence[int]) -> str:
    """Return in a few words how a median goes."""
    fates = [fate(float(share)) for share in median]
    first, last = fates[0], fates[-1]
    if set(fates) == {first}:
        if first is Fate.ALIVE:
            return "Drifts, never dies" if np.ptp(median) >= MOVES else "Stands still"
        return "Stays" if first is Fate.STAYS else "Never led"
    if last is Fate.GIVES_WAY:
        if first is last:
            return "Never led for long"
        # The last time it gives way: it may have come back once or twice.
        at = max(i for i in range(1, len(fates)) if fates[i - 1] is not last)
        return (
            "Gives way at once"
            if times[at] == 1
            else f"Gives way {between(times[at - 1], times[at])}"
        )
    if first is last:
        away = "Falls" if Fate.GIVES_WAY in fates else "Wavers"
        return f"{away}, and comes back"
    if first is Fate.STAYS:
        return "Loses ground, and lives"
    return "Gains ground"
