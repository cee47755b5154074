"""Do new queries look like those a policy was calibrated on? Their scores tell in part.

A promise holds for queries drawn like the calibration ones and scored by the same
pipeline. New scores without labels cannot show that the errors are the same; they can show
that the scores are not.

References
----------
.. [1] J. L. Hodges: The Significance Probability of the Smirnov Two-Sample Test, 1958.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.codec import count_of, percent

FALSE_ALARMS = 0.02  # where nothing has changed, of all tests together at most
FEWEST = 20  # new scores: with fewer, even a large change goes unseen


@dataclass(frozen=True)
class Drift:
    """How new scores differ from the calibration scores."""

    # Whether one of three tests rejects, each at a third of `FALSE_ALARMS`: the two-sample
    # Kolmogorov–Smirnov test of the scores [1]_, which errs towards 1 with ties; Fisher's exact
    # test that as many scores are exactly 0, where the model was never moved at all; and the same
    # test that as many are missing.
    drifted: bool
    too_few: bool  # whether there are too few new scores for "no difference" to mean anything
    sentence: str  # what this means, for a person: what differs, and all p-values


@dataclass(frozen=True)
class _Test:
    """What was compared, what was seen, and the p-value of its being the same."""

    subject: str
    seen: str
    p: float

    @property
    def rejects(self) -> bool:
        return self.p < FALSE_ALARMS / 3


def drift(calibration: ArrayLike, new: ArrayLike) -> Drift:
    """Compare new, unlabelled scores with the calibration scores.

    `calibration`, `new`: of shape (n,), (m,); doubts of one score, one for every row; NaN is
    missing, and an infinite doubt as good as missing, as neither is ever answered.

    Raises `ValueError` when one of the two has no row, or the calibration no score.
    """
    before, now = (np.asarray(x, float) for x in (calibration, new))
    scores_before, scores_now = before[before < np.inf], now[now < np.inf]
    if not len(scores_before) or not len(now):
        raise ValueError("There are no scores to compare.")
    tests = [_shares("missing scores", ~(before < np.inf), ~(now < np.inf))]
    if len(scores_now):
        tests = [
            _distributions(scores_before, scores_now),
            _shares("zeros", scores_before == 0, scores_now == 0),
            *tests,
        ]
    drifted = any(test.rejects for test in tests)
    too_few = len(scores_now) < FEWEST
    what = f"{count_of(len(now), 'new row')}, against {len(before):,} of the calibration: "
    return Drift(drifted, too_few, what + _finding(tests, too_few))


def _distributions(before: NDArray[np.float64], now: NDArray[np.float64]) -> _Test:
    from scipy.stats import ks_2samp  # takes long to load

    p = float(ks_2samp(before, now).pvalue)
    return _Test("the distribution of the scores", f"Kolmogorov–Smirnov p = {p:.2g}", p)


def _shares(what: str, before: NDArray[np.bool_], now: NDArray[np.bool_]) -> _Test:
    from scipy.stats import fisher_exact

    table = [[int(x.sum()), int((~x).sum())] for x in (before, now)]
    p = float(fisher_exact(table).pvalue)
    seen = f"{what} {percent(before.mean())} → {percent(now.mean())} (p = {p:.2g})"
    return _Test(f"the share of {what}", seen, p)


def _finding(tests: list[_Test], too_few: bool) -> str:
    seen = ", ".join(test.seen for test in tests)
    if different := [test.subject for test in tests if test.rejects]:
        return (
            f"they differ in {' and in '.join(different)} ({seen}). The questions are not like "
            "those of the calibration, so its promise does not cover them. Label some and "
            "recalibrate."
        )
    if too_few:
        return f"too few scores to see a difference ({seen}). Compare at least {FEWEST}."
    return (
        f"no difference is visible ({seen}). This does not prove that the errors are the same; "
        "only labels can."
    )
