"""Our Learn-then-Test against MAPIE's: ``PYTHONPATH=. python -m benchmarks.calibration``.

MAPIE has an environment of its own (requirements/bench.txt). Both get the same rows and give
the same guarantee: with 90% confidence, a precision of 90% or more among the answered, by
fixed-sequence testing of every distinct score. MAPIE has one sequence, from a start that we give
it, and all of δ for it; ours keeps a quarter of δ for a second one, in case the first stops before
the middle. So either may answer more. Timed is the same work only: MAPIE's
`calibrate` on predictions that are there already, and `learn_then_test` on the scores. The
exit status is 1 if a target is missed.

Four things of MAPIE 1.6 to know:

- It begins at the strictest candidate whatever that is. One answered query can certify
  nothing, so of *all* distinct scores it certifies none; it is given those from our start on.
- It counts errors as ⌈n · (1 − precision)⌉, which float error turns into one more for many
  pairs of counts: its p-values are then too large, which is safe, and its walk may stop early.
- It looks at the labels to see at which end its sequence is to begin. Here the error rises with the
  doubt, and the end is clear. A score that says nothing is not compared: its end would be chance,
  which no guarantee allows for.
- A candidate that accepts nobody makes its p-value NaN, which stops the walk; none is given.
"""

import sys
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.ratios import Ratio, best_of, each, report
from core.abstention.blocks import blocks
from core.abstention.thresholds import (
    EARLIEST_SHARE,
    Threshold,
    Uncertifiable,
    fewest_labels,
    labels_for_power,
    learn_then_test,
    p_values,
)
from core.data.tabular.labelled_rows import LabelledRows
from core.studies.calibration.calibration import Target
from core.studies.calibration.price_list import TARGETS, price_list

try:
    from mapie.risk_control import BinaryClassificationController, precision
except ImportError:
    BinaryClassificationController = precision = None

TARGET_ERROR, CONFIDENCE = 0.1, 0.9
DRAWS = 50
SPEED_UP = Ratio("Certifying on 10,000 rows, MAPIE / ours", least=100)
#: The list of prices tests seven targets on rows that it sorts once, and drops repeated questions.
LIST = Ratio(f"The list of {len(TARGETS)} targets on 10,000 rows / one certification", most=20)
#: Sorting costs a logarithm, and a million rows no longer fit the processor's caches;
#: quadratic cost would make this ratio a hundred.
GROWTH = Ratio("Certifying, a row of a million / of ten thousand", most=4)
RATIOS = (SPEED_UP, LIST, GROWTH)
ROUNDS = 3


@dataclass(frozen=True)
class Rows:
    """Distinct confidences in (0, 1), and whether the answers are right."""

    confidences: NDArray[np.float64]
    correct: NDArray[np.bool_]

    def certified(self) -> Threshold | Uncertifiable:
        """Certify with Believe; a doubt is the negative of a confidence."""
        return learn_then_test(
            -self.confidences, self.correct, target_error=TARGET_ERROR, confidence=CONFIDENCE
        )

    def ours(self) -> Threshold:
        """Certify with Believe rows that can be."""
        found = self.certified()
        if not isinstance(found, Threshold):
            raise AssertionError(found.reason)
        return found

    def controller(self, candidates: NDArray[np.float64]):
        """Return MAPIE's controller, which finds its predictions ready."""
        predictions = np.stack([1 - self.confidences, self.confidences], axis=1)
        return BinaryClassificationController(
            predict_function=lambda _: predictions,
            risk=precision,
            target_level=1 - TARGET_ERROR,
            confidence_level=CONFIDENCE,
            list_predict_params=candidates,
            fwer_method="fixed_sequence",
        )

    def mapies(self, candidates: NDArray[np.float64]):
        """Certify with MAPIE; it warns that a risk on real rows is not monotonic."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.controller(candidates).calibrate(self.confidences, self.correct)


def rows(count: int, seed: int = 0) -> Rows:
    """Return rows of which the surer two thirds are right nine times in ten."""
    rng = np.random.default_rng(seed)
    doubts = (rng.permutation(count) + 0.5) / count
    return Rows(1 - doubts, rng.random(count) >= 0.3 * doubts)


def from_our_start(data: Rows) -> NDArray[np.float64]:
    """Return the confidences, rising, up to the one at which our tests begin."""
    count = len(data.confidences)
    powerful = labels_for_power(TARGET_ERROR / 2, TARGET_ERROR, CONFIDENCE) or count
    start = max(fewest_labels(TARGET_ERROR, CONFIDENCE), min(powerful, EARLIEST_SHARE * count))
    return np.sort(data.confidences)[: count - int(np.ceil(start)) + 1]


# --------------------------------------------------------------------------- measuring


def peak(work: Callable[[], object]) -> int:
    """Return the most bytes that `work` holds at once, as Python and NumPy report them."""
    tracemalloc.start()
    work()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def agreement(data: Rows, candidates: NDArray[np.float64]) -> bool:
    """Say whether both answer the same of these rows, or why MAPIE answers fewer."""
    ours, mapies = data.ours(), data.mapies(candidates)
    # MAPIE answers a confidence at or above its threshold.
    answered = int(np.count_nonzero(data.confidences >= mapies.best_predict_param))
    known = blocks(-data.confidences, data.correct)
    tested = slice(len(data.confidences) - len(candidates), None)
    exact = p_values(known.answered[tested], known.errors[tested], TARGET_ERROR)[::-1]
    off = np.abs(mapies.p_values[:, 0] - exact) > 1e-9
    print(f"  answered: ours {ours.answered:,}, MAPIE {answered:,}; p-values of MAPIE that are "
          f"off: {off.sum():,} of {len(off):,}, each too large: "
          f"{bool((mapies.p_values[off, 0] > exact[off]).all())}")  # fmt: skip
    if answered == ours.answered:
        return True
    # Where it stopped must be where its own p-value is off.
    stopped = len(candidates) - (answered - known.answered[tested][0]) - 2
    print(f"  MAPIE stops at {answered + 1:,} answered, where p is {exact[stopped]:.4f} and it has "
          f"{mapies.p_values[stopped, 0]:.4f} (δ = {1 - CONFIDENCE:.1f})")  # fmt: skip
    return answered < ours.answered and bool(off[stopped])


def against_mapie() -> bool:
    """1,000 and 10,000 rows with distinct scores, all of them candidates from our start on."""
    held = True
    for count in (1_000, 10_000):
        data = rows(count)
        candidates = from_our_start(data)
        slow, fast = [], []
        for _ in range(ROUNDS):
            slow.append(best_of(1, partial(data.mapies, candidates)))
            fast.append(best_of(20, data.ours))
        large, small = peak(partial(data.mapies, candidates)), peak(data.ours)
        print(f"{count:>9,} rows, {len(candidates):,} candidates: MAPIE takes "
              f"{min(slow) / min(fast):,.0f} times as long and {large / small:,.0f} times the "
              "memory (tracemalloc)")  # fmt: skip
        held &= agreement(data, candidates)
    whole = rows(1_000)
    none = whole.mapies(np.sort(whole.confidences)).best_predict_param is None
    print(f"With all 1,000 scores as candidates MAPIE certifies {'nothing' if none else 'some'}.")
    return report({SPEED_UP: each(slow, fast)}) and held


def answered_by_mapie(data: Rows) -> int:
    """Return how many rows MAPIE answers, of the candidates from our start on; 0 for none."""
    threshold = data.mapies(from_our_start(data)).best_predict_param
    return 0 if threshold is None else int(np.count_nonzero(data.confidences >= threshold))


def answered_by_us(data: Rows) -> int:
    """Return how many rows we answer; 0 where nothing is certified."""
    found = data.certified()
    return found.answered if isinstance(found, Threshold) else 0


def over_many_draws() -> None:
    """Say who answers more of 1,000 rows, how often and on average."""
    draws = [rows(1_000, seed) for seed in range(DRAWS)]
    ours = np.array([answered_by_us(data) for data in draws])
    mapies = np.array([answered_by_mapie(data) for data in draws])
    more, fewer = np.count_nonzero(ours > mapies), np.count_nonzero(ours < mapies)
    print(f"Of {DRAWS} draws of 1,000 rows ours answers more in {more}, MAPIE in {fewer}; "
          f"on average {ours.mean():.0f} and {mapies.mean():.0f} rows.")  # fmt: skip


def growth() -> bool:
    """Ours alone, from ten thousand to a million rows with distinct scores."""
    few, many = rows(10**4), rows(10**6)
    first = [best_of(20, few.ours) / 10**4 for _ in range(ROUNDS)]
    last = [best_of(2, many.ours) / 10**6 for _ in range(ROUNDS)]
    return report({GROWTH: each(last, first)})


def of_the_list() -> bool:
    """The list of prices for 10,000 rows, in certifications of one target."""
    data = rows(10_000)
    count = len(data.correct)
    texts = np.array([f"question {row}" for row in range(count)], object)
    read = LabelledRows(
        name="rows",
        sha256="",
        queries=texts,
        sources=np.full(count, "", object),
        doubts={"confidence": -data.confidences},
        correct={"confidence": data.correct},
        entropies=None,
        surer={"confidence": True},
        pipeline="",
        kept=np.arange(count),
        problems=(),
    )
    target = Target(TARGET_ERROR, CONFIDENCE, score="confidence")
    whole = [best_of(7, partial(price_list, read, target)) for _ in range(ROUNDS)]
    one = [best_of(20, data.ours) for _ in range(ROUNDS)]
    return report({LIST: each(whole, one)})


def main() -> int:
    """Run everything; return 0 if every target is met, else 1."""
    if BinaryClassificationController is None:
        sys.exit("This comparison needs MAPIE: requirements/bench.txt says how to install it.")
    met = [against_mapie(), growth(), of_the_list()]
    over_many_draws()
    print("All targets met." if all(met) else "A target was missed.")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
