"""What abstaining costs and what it saves, as curves and as numbers.

All of it is computed over distinct doubts: tied queries are answered together, and where a
number depends on the order of tied queries it is the mean over all orders. A missing doubt
(NaN) is the largest of all.

References
----------
.. [1] Y. Abbasi Yadkori, I. Kuzborskij, A. György, C. Szepesvári: To Believe or Not to
   Believe Your LLM, 2024, arXiv 2406.02543, Section 6 (precision, recall, entropy bins).
.. [2] Y. Geifman, R. El-Yaniv: Selective Classification for Deep Neural Networks, 2017,
   arXiv 1705.08500 (risk–coverage).
.. [3] J. Traub, T. Bungert, C. Lüth, M. Baumgartner, K. Maier-Hein, L. Maier-Hein, P. Jäger:
   Overcoming Common Flaws in the Evaluation of Selective Classification Systems, 2024,
   arXiv 2407.01032.
.. [4] A. Malinin, M. Gales: Uncertainty Estimation in Autoregressive Structured Prediction, 2021,
   arXiv 2002.07650; over risk and coverage as in LM-Polygraph (E. Fadeeva et al., 2023,
   arXiv 2311.07383).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from core.abstention.blocks import Blocks, all_blocks, blocks, checked_rows


@dataclass(frozen=True)
class Curve(Blocks):
    """What every possible threshold does; one entry per distinct doubt, from strict to loose."""

    @property
    def coverage(self) -> NDArray[np.float64]:
        """The share of all queries that is answered: recall, in the paper's sense [1]_."""
        return self.answered / self.queries

    @property
    def selective_error(self) -> NDArray[np.float64]:
        """The share of wrong ones among the answered: risk."""
        return self.errors / self.answered

    @property
    def precision(self) -> NDArray[np.float64]:
        """The share of right ones among the answered."""
        return 1 - self.selective_error

    def below(self, thresholds: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how many queries each threshold answers, and how many of these are wrong.

        Answered is what lies below it. Both have the thresholds' shape.
        """
        at = np.searchsorted(self.doubts, thresholds)
        return np.append(0, self.answered)[at], np.append(0, self.errors)[at]

    def band(self, confidence: float = 0.9) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the two-sided Clopper–Pearson interval of the risk at every point.

        It holds at each point by itself, not for the curve as a whole.
        """
        tail = (1 - confidence) / 2
        right = self.answered - self.errors
        lower = np.zeros(len(right))
        upper = np.ones(len(right))
        some, not_all = self.errors > 0, right > 0
        lower[some] = special.betaincinv(self.errors[some], right[some] + 1, tail)
        upper[not_all] = special.betaincinv(self.errors[not_all] + 1, right[not_all], 1 - tail)
        return lower, upper

    def outline(self, points: int = 400) -> Curve:
        """Return the curve with at most about so many points, for drawing only.

        The first, the last and evenly spread shares are kept, and each kept point is exact.
        """
        if len(self.doubts) <= points:
            return self
        at = np.linspace(self.answered[0], self.answered[-1], points)
        keep = np.unique(np.searchsorted(self.answered, at))
        return Curve(self.doubts[keep], self.answered[keep], self.errors[keep], self.queries)


def curve(scores: ArrayLike, correct: ArrayLike) -> Curve:
    """Return the risk–coverage curve [2]_, which is the paper's precision–recall curve [1]_.

    Its first point is the smallest block that can be answered: with M.I. that is often all
    the exact zeros at once. Parameters as in `core.abstention.blocks.blocks`.
    """
    return Curve(**vars(blocks(scores, correct)))


#: What one number says of a score. AUROC: how well the doubt finds wrong answers, in [0, 1]: the
#: probability that a wrong answer has a larger doubt than a right one, equal doubts counting half.
#: AURC: the area under the risk–coverage curve, in [0, 1], lower is better: the mean, over
#: answering the 1, 2, … n surest queries, of the share of wrong ones among them. AUGRC: that under
#: the generalised curve [3]_, in [0, 1/2], lower is better: its risk is the share of all queries
#: that is answered and wrong, so that a wrong answer counts by how many queries are no surer. PRR:
#: the prediction–rejection ratio [4]_, at most 1: how much of the way from a random order to the
#: best, all right ones first, a score goes by AURC.
MEASURES: Final = ("auroc", "aurc", "augrc", "prr")


class Harmonic:
    """The sums 1 + 1/2 + … + 1/n, as many as were needed yet."""

    def __init__(self) -> None:
        self._sums = np.zeros(1)

    def __call__(self, up_to: int) -> NDArray[np.float64]:
        """Return the sums of no number, one, … and at least so many."""
        if len(self._sums) <= up_to:
            self._sums = np.append(0.0, np.cumsum(1 / np.arange(1, 2 * up_to + 1)))
        return self._sums


def measures(ranks: Blocks, harmonic: Harmonic | None = None) -> tuple[float, float, float, float]:
    """Return all of `MEASURES`, those never answered being one block; NaN where there is none.

    All are missing where there is no query, AUROC and PRR where all answers are of one kind. Within
    tied queries the expected errors grow in a straight line, so that their part of the AURC is a
    sum of a constant and of one over the number answered.
    """
    n = ranks.queries
    if not n:
        return (math.nan,) * 4
    answered, errors = ranks.answered, ranks.errors
    size, bad = np.diff(answered, prepend=0), np.diff(errors, prepend=0)
    before, wrong_before = answered - size, errors - bad
    sums = (harmonic or Harmonic())(n)
    share = bad / np.maximum(size, 1)
    of_ties = (wrong_before - before * share) @ (sums[answered] - sums[before])
    aurc = float((bad.sum() + of_ties) / n)
    augrc = float(size @ (errors + wrong_before) / (2 * n**2))
    wrong = int(errors[-1])
    right = n - wrong
    if not wrong or not right:
        return math.nan, aurc, augrc, math.nan
    good = size - bad
    below = before - wrong_before + good / 2
    auroc = float(bad @ below / (wrong * right))
    best = float(wrong - right * (sums[n] - sums[right])) / n
    chance = wrong / n
    return auroc, aurc, augrc, (chance - aurc) / (chance - best)


def auroc(scores: ArrayLike, correct: ArrayLike) -> float:
    """Return how well a doubt finds wrong answers; NaN where all are of one kind."""
    return measures(all_blocks(scores, correct))[0]


def share_of_ties(scores: ArrayLike, correct: ArrayLike) -> float:
    """Return the share of pairs of a wrong and a right answer, of which an AUROC counts half."""
    ranks = all_blocks(scores, correct)
    bad = np.diff(ranks.errors, prepend=0)
    good = np.diff(ranks.answered, prepend=0) - bad
    return float(bad @ good / max(bad.sum() * good.sum(), 1))


def aurc(scores: ArrayLike, correct: ArrayLike) -> float:
    """Return the area under the risk–coverage curve, the mean over all orders of tied queries."""
    return measures(all_blocks(scores, correct))[1]


@dataclass(frozen=True)
class Bin:
    """What a threshold does to the queries of one kind."""

    name: str  # an interval such as "0.5–1.0", or a group
    queries: int
    answered: int
    errors: int
    other_errors: int | None = None  # by the labels of another rule, where there are some

    @property
    def recall(self) -> float:
        """The share answered, in the paper's sense."""
        return self.answered / self.queries if self.queries else float("nan")

    @property
    def error(self) -> float:
        """The share of wrong ones among the answered; NaN where none is."""
        return self.errors / self.answered if self.answered else float("nan")


ENTROPY_EDGES = (0.5, 1.0, 1.5, 2.0)  # nats; ten samples have an entropy of at most 2.3
ENTROPY_BINS = (
    f"below {ENTROPY_EDGES[0]}",
    *(f"{a} to {b}" for a, b in itertools.pairwise(ENTROPY_EDGES)),
    f"{ENTROPY_EDGES[-1]} or more",
)


def by_entropy(
    entropies: ArrayLike,
    scores: ArrayLike,
    correct: ArrayLike,
    threshold: float,
    other: ArrayLike | None = None,
) -> list[Bin]:
    """Return recall and error by the entropy of the model's answers: the paper's test [1]_.

    A score that takes many right answers for doubt answers nothing where entropy is high. Queries
    without a semantic entropy, nats, are left out. `threshold` is λ; `other` is as of `by_kind`.
    """
    entropy = np.asarray(entropies, float)
    at = np.digitize(entropy, ENTROPY_EDGES)
    names = np.array([*ENTROPY_BINS, ""], object)
    kind = names[np.where(np.isnan(entropy), len(ENTROPY_BINS), at)]
    bins = by_kind(kind, scores, correct, threshold, other)
    return [b for name in ENTROPY_BINS for b in bins if b.name == name]


def by_kind(
    kinds: ArrayLike,
    scores: ArrayLike,
    correct: ArrayLike,
    threshold: float,
    other: ArrayLike | None = None,
) -> list[Bin]:
    """Return what a threshold does to the queries of each kind, such as each group.

    A promise holds for the mix it was calibrated on; this shows how the parts differ.

    `other`: whether the answers are right by another rule, (n,).
    """
    doubt, wrong = checked_rows(scores, correct)
    by_other = None if other is None else checked_rows(scores, other)[1]
    # Looked up and not sorted, which would keep other threads waiting for as long as it takes.
    every = np.asarray(kinds, object).tolist()
    names = sorted(set(every))
    place = {name: number for number, name in enumerate(names)}
    at = np.fromiter(map(place.__getitem__, every), np.int64, len(every))
    answered = doubt < threshold  # a missing doubt is not below anything
    queries = np.bincount(at, minlength=len(names))
    counted = [answered, answered * wrong, *([] if by_other is None else [answered * by_other])]
    counts = [np.bincount(at, each, minlength=len(names)) for each in counted]
    return [
        Bin(str(name), int(number), *map(int, row))
        for name, number, row in zip(names, queries, np.transpose(counts), strict=True)
    ]
