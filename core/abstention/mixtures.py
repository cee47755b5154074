"""The paper's Figure 6: one threshold for questions with one right answer and with many.

Half of the questions calibrate a threshold, the other half shows what it does by the entropy of
the model's answers. A score that takes many right answers for doubt answers nothing where the
entropy is high.

References
----------
.. [1] Y. Abbasi Yadkori, I. Kuzborskij, A. György, C. Szepesvári: To Believe or Not to
   Believe Your LLM, 2024, arXiv 2406.02543, Section 6, Figure 6.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.abstention import thresholds
from core.abstention.metrics import ENTROPY_BINS, Bin, by_entropy, by_kind

ALL = "all"

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pool:
    """Questions of one kind, with what every score says of them."""

    queries: NDArray[Any]  # (n,): rows of one query stay in one half
    # doubts, correct: (n,): by score.
    doubts: Mapping[str, Floats]
    correct: Mapping[str, NDArray[np.bool_]]
    entropies: Floats  # (n,): of the model's answers, nats
    # (n,): by score, right by another rule, which finds no threshold; empty where there is none.
    other: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)


@dataclass(frozen=True)
class Bar:
    """What a threshold does to the test questions of one kind, over repetitions."""

    name: str  # an interval of entropy such as "0.5 to 1.0", or "all"
    queries: float  # how many there are, on average
    # recall, error: Means: the share that is answered, and the share of wrong ones among the
    # answered. NaN where no repetition has such a question, or answers one.
    recall: float
    # recall_spread, error_spread: two standard deviations over the repetitions; NaN where there are
    # fewer than two.
    recall_spread: float
    error: float
    error_spread: float
    other_error: float = math.nan  # the mean of the same by the other labels


@dataclass(frozen=True)
class Mixture:
    """One score under one rule."""

    score: str
    rule: str  # "empirical", the paper's, or "ltt", the one that promises
    # λ of every repetition; None where there was none, and nothing was answered.
    values: tuple[float | None, ...]
    bars: tuple[Bar, ...]  # by entropy, and last over all test questions


def mixtures(
    single: Pool,
    diverse: Pool,
    *,
    target_error: float,
    confidence: float = 0.9,
    each: int = 500,
    repetitions: int = 10,
    seed: int = 0,
) -> list[Mixture]:
    """Repeat: calibrate on some questions of both kinds, and test on as many others [1]_.

    Every score is tried by both rules. Raises `ValueError` when a pool has fewer than two queries.

    `single, diverse`: questions with mostly one right answer, and with many. They have the same
    scores.
    `target_error`: α: the largest share of wrong ones among the answered, on the calibration
    questions; of the rule that promises, what is promised, with the confidence.
    `each`: how many queries of each pool go into each half; half of the smaller pool at most.
    """
    fewest = min(len(set(pool.queries)) for pool in (single, diverse))
    if fewest < 2:
        raise ValueError("Give at least two queries of each kind: one calibrates, one tests.")
    each = min(each, fewest // 2)
    rng = np.random.default_rng(seed)
    halves = [
        tuple(
            _join(single, a, diverse, b)
            for a, b in zip(
                halves_of_pool(single, each, rng), halves_of_pool(diverse, each, rng), strict=True
            )
        )
        for _ in range(repetitions)
    ]
    results = []
    for score in single.doubts:
        for rule in ("empirical", "ltt"):
            values, seen = [], []
            for calibration, test in halves:
                rows = calibration.doubts[score], calibration.correct[score]
                outcome = (
                    thresholds.empirical(*rows, target_error=target_error)
                    if rule == "empirical"
                    else thresholds.learn_then_test(
                        *rows, target_error=target_error, confidence=confidence
                    )
                )
                values.append(outcome.value)
                seen.append(_bins(test, score, outcome.value))
            names = [name for name in (*ENTROPY_BINS, ALL) if any(name in bins for bins in seen)]
            bars = tuple(_bar(name, [bins.get(name) for bins in seen]) for name in names)
            results.append(Mixture(score, rule, tuple(values), bars))
    return results


def halves_of_pool(
    pool: Pool, each: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw rows to calibrate on and rows to test on: of `each` queries each, none in both."""
    names, at = np.unique(pool.queries, return_inverse=True)
    order = rng.permutation(len(names))
    calibration, test = order[:each], order[each : 2 * each]
    return np.flatnonzero(np.isin(at, calibration)), np.flatnonzero(np.isin(at, test))


def _join(one: Pool, rows: NDArray[np.int64], other: Pool, others: NDArray[np.int64]) -> Pool:
    def both(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([a[rows], b[others]])

    return Pool(
        both(one.queries, other.queries),
        {name: both(one.doubts[name], other.doubts[name]) for name in one.doubts},
        {name: both(one.correct[name], other.correct[name]) for name in one.correct},
        both(one.entropies, other.entropies),
        {name: both(one.other[name], other.other[name]) for name in one.other},
    )


def _bins(test: Pool, score: str, value: float | None) -> dict[str, Bin]:
    answers = -np.inf if value is None else value
    rows = test.doubts[score], test.correct[score], answers, test.other.get(score)
    every = by_kind(np.full(len(test.queries), ALL, object), *rows)
    return {b.name: b for b in (*by_entropy(test.entropies, *rows), *every)}


def _bar(name: str, bins: Sequence[Bin | None]) -> Bar:
    there = [b for b in bins if b is not None]
    queries = sum(b.queries for b in there) / len(bins)
    recall, recall_spread = _mean_and_spread([b.recall for b in there])
    error, error_spread = _mean_and_spread([b.error for b in there])
    by_other = [(b.other_errors, b.answered) for b in there if b.other_errors is not None]
    other, _ = _mean_and_spread([wrong / of for wrong, of in by_other if of])
    return Bar(name, queries, recall, recall_spread, error, error_spread, other)


def _mean_and_spread(values: Sequence[float]) -> tuple[float, float]:
    finite = np.array([value for value in values if not np.isnan(value)])
    mean = float(finite.mean()) if len(finite) else float("nan")
    spread = 2 * float(finite.std(ddof=1)) if len(finite) > 1 else float("nan")
    return mean, spread
