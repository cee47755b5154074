"""Do new queries look like those a policy was calibrated on? Their scores tell in part.

A guarantee holds for queries drawn like the calibration ones and scored by the same
pipeline. New scores without labels cannot show that the errors are the same; they can show
that the scores are not.

References
----------
.. [1] J. L. Hodges: The Significance Probability of the Smirnov Two-Sample Test, 1958.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

SIGNIFICANCE = 0.01  # of each of the two tests
FEWEST = 20  # new scores: with fewer, even a large change goes unseen


@dataclass(frozen=True)
class Drift:
    """How new scores differ from the calibration scores.

    Attributes
    ----------
    drifted : bool
        Whether either test rejects at 1 %: the two-sample Kolmogorov–Smirnov test [1]_, which
        errs towards 1 with ties, or Fisher's exact test that the shares of scores that are
        exactly 0, where the model was never moved at all, are equal.
    sentence : str
        What this means, for a person, with both p-values.
    """

    drifted: bool
    sentence: str


def drift(calibration: ArrayLike, new: ArrayLike) -> Drift:
    """Compare new, unlabelled scores with the calibration scores.

    Parameters
    ----------
    calibration, new : array_like of shape (n,), (m,)
        Doubts of one score; missing ones are left out.

    Raises
    ------
    ValueError
        When one of the two has no score.
    """
    before, now = (np.asarray(x, float) for x in (calibration, new))
    before, now = before[~np.isnan(before)], now[~np.isnan(now)]
    if not len(before) or not len(now):
        raise ValueError("There are no scores to compare: every one is missing.")
    p = float(stats.ks_2samp(before, now).pvalue)
    zero = [int(np.count_nonzero(x == 0)) for x in (before, now)]
    sizes = [len(before), len(now)]
    table = [[z, n - z] for z, n in zip(zero, sizes, strict=True)]
    zeros_p = float(stats.fisher_exact(table).pvalue)
    shares = [z / n for z, n in zip(zero, sizes, strict=True)]
    drifted = min(p, zeros_p) < SIGNIFICANCE
    return Drift(drifted, _sentence(sizes, shares, p, zeros_p, drifted))


def _sentence(
    sizes: list[int], shares: list[float], p: float, zeros_p: float, drifted: bool
) -> str:
    what = f"The {sizes[1]:,} new scores, against {sizes[0]:,} of the calibration: "
    tests = f"Kolmogorov–Smirnov p = {p:.2g}, zeros {shares[0]:.0%} → {shares[1]:.0%} (p = "
    tests += f"{zeros_p:.2g})"
    if drifted:
        return (
            f"{what}they are distributed differently ({tests}). The questions are not like "
            "those of the calibration, so its guarantee does not cover them. Label some and "
            "recalibrate."
        )
    if sizes[1] < FEWEST:
        return f"{what}too few to see a difference ({tests}). Compare at least {FEWEST}."
    return (
        f"{what}no difference is visible ({tests}). This does not prove that the errors are "
        "the same; only labels can."
    )
