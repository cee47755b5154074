"""How quick the estimators are: ``python -m benchmarks.estimators``.

Three questions, each on one thread: how much quicker is Algorithm 1 than its formula
written out in Python; does its cost grow in proportion to the number of tuples; and how
much quicker is the similarity of all pairs than one pair after the other? The exit status
is 1 if a target is missed. Both sides of a comparison must give the same numbers.
"""

import itertools
import math
import random
import sys
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.ratios import Ratio, best_of, each, report
from core.uncertainty.mutual_information import from_tuples
from core.uncertainty.similarity import TOKEN_F1, pairwise, token_f1

ALGORITHM_1 = Ratio("Algorithm 1 on 2,000 pairs of strings, in loops / ours", least=300)
PAIRWISE = Ratio("Token F1 of 1,000 answers, pair after pair / ours", least=20)
#: A million tuples no longer fit the processor's caches, which costs more than the sort's
#: logarithm; quadratic cost would make these ratios a thousand.
GROWTH = {
    kind: Ratio(f"Algorithm 1, a tuple of {kind}: of a million / of a thousand", most=10)
    for kind in ("strings", "integers")
}
RATIOS = (ALGORITHM_1, PAIRWISE, *GROWTH.values())
ROUNDS = 3

Pairs = list[tuple[str, str]]


def algorithm_1_written_out(pairs: Pairs, probabilities: list[float], gamma: float) -> float:
    """Algorithm 1 as the paper prints it, sum by sum."""
    total = sum(probabilities)
    joint = [p / total for p in probabilities]
    estimate = 0.0
    for i, pair in enumerate(pairs):
        product = 1.0
        for j, answer in enumerate(pair):
            product *= sum(joint[t] for t, other in enumerate(pairs) if other[j] == answer)
        estimate += joint[i] * math.log((joint[i] + gamma) / (product + gamma))
    return estimate


def distinct_pairs(count: int) -> Pairs:
    """Return `count` distinct pairs of answers in random order."""
    answers = [f"answer number {i}" for i in range(math.isqrt(count - 1) + 1)]
    pairs = list(itertools.islice(itertools.product(answers, answers), count))
    random.Random(0).shuffle(pairs)  # so that equal answers do not stand together
    return pairs


def random_log_probabilities(count: int) -> NDArray[np.float64]:
    """Return the logarithms of `count` random probabilities that sum to 1."""
    return np.log(np.random.default_rng(0).dirichlet(np.ones(count)))


def algorithm_1() -> bool:
    """2,000 distinct pairs of strings."""
    pairs, log_p = distinct_pairs(2000), random_log_probabilities(2000)
    probabilities = np.exp(log_p).tolist()
    gamma = 1 / len(pairs)
    ours = from_tuples(pairs, log_p, gamma_1=gamma, gamma_2=gamma).value
    written_out = algorithm_1_written_out(pairs, probabilities, gamma)
    if not math.isclose(ours, written_out, rel_tol=1e-9):
        raise AssertionError(f"Different estimates: {ours} and {written_out}.")
    return compare(
        ALGORITHM_1,
        lambda: algorithm_1_written_out(pairs, probabilities, gamma),
        lambda: from_tuples(pairs, log_p, gamma_1=gamma, gamma_2=gamma),
    )


def growth() -> bool:
    """From a thousand to a million distinct pairs, as strings and as integers."""
    measured = {}
    for kind, ratio in GROWTH.items():
        per_tuple = {}
        for k in (10**3, 10**4, 10**5, 10**6):
            log_p = random_log_probabilities(k)
            if kind == "strings":
                tuples: Pairs | NDArray[np.int64] = distinct_pairs(k)
            else:
                side = math.isqrt(k - 1) + 1
                shuffled = np.random.default_rng(0).permutation(side * side)[:k]
                tuples = np.stack(np.divmod(shuffled, side), axis=1)
            work = partial(from_tuples, tuples, log_p)
            per_tuple[k] = [best_of(3, work) / k for _ in range(ROUNDS)]
        times = "   ".join(f"{k:>9,}: {1e6 * min(took):5.2f} µs" for k, took in per_tuple.items())
        print(f"Time per tuple of {kind:<9} {times}")
        measured[ratio] = each(per_tuple[10**6], per_tuple[10**3])
    return report(measured)


def similarity() -> bool:
    """1,000 responses of one to five words out of two hundred."""
    rng = random.Random(0)
    words = [f"word{i}" for i in range(200)]
    texts = [" ".join(rng.choices(words, k=rng.randint(1, 5))) for _ in range(1000)]
    pairs = list(itertools.combinations_with_replacement(range(len(texts)), 2))

    def one_by_one() -> None:
        for i, j in pairs:
            token_f1(texts[i], texts[j])

    matrix = pairwise(texts, TOKEN_F1)
    if any(matrix[i, j] != token_f1(texts[i], texts[j]) for i, j in pairs[::97]):
        raise AssertionError("pairwise differs from token_f1.")
    return compare(PAIRWISE, one_by_one, partial(pairwise, texts, TOKEN_F1))


def compare(ratio: Ratio, written_out: Callable[[], object], ours: Callable[[], object]) -> bool:
    """Measure one comparison, taking turns; return whether it meets its target."""
    slow, fast = [], []
    for _ in range(ROUNDS):
        slow.append(best_of(1, written_out))
        fast.append(best_of(10, ours))
    print(f"written out {1e3 * min(slow):.1f} ms, ours {1e3 * min(fast):.2f} ms")
    return report({ratio: each(slow, fast)})


def main() -> int:
    """Run everything; return 0 if every target is met, else 1."""
    met = [algorithm_1(), similarity(), growth()]
    print("All targets met." if all(met) else "A target was missed.")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
