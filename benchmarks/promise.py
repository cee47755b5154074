"""Is the promise kept? ``python -m benchmarks.promise``: calibrations on laws that we know.

Scores and errors are drawn from laws whose true error at every threshold is known in closed
form: one with many exact zeros, one without ties, and two where the score says nothing. A promise
is broken when the true error among the answered exceeds the target. Where nothing can be certified
and it says that about N more labels would do, N more are drawn and all are calibrated on. The tests
hold the same simulations to their stated error rates. The last ones begin with a model and a seed.
"""

from functools import partial

import numpy as np
from scipy import special

from benchmarks.shared import half_known
from core.abstention.thresholds import Threshold, certifies, empirical, learn_then_test
from core.studies.evaluation.local import Task, local
from core.studies.inspection.certificates import usual_least_mass
from core.studies.inspection.request import Reading, Request
from core.studies.inspection.verdict import SCORE

REPETITIONS = 1000
CHAINS = 100  # of a model's answers, and not of a law of scores: they take longer


class Mixture:
    """Score 0 for some, else Beta(a, b); wrong with probability base + slope · score^power."""

    def __init__(self, zeros, a, b, base, slope, power):
        self.zeros, self.a, self.b = zeros, a, b
        self.base, self.slope, self.power = base, slope, power

    def draw(self, rng, n):
        doubts = np.where(rng.random(n) < self.zeros, 0, rng.beta(self.a, self.b, n))
        return doubts, rng.random(n) >= self.base + self.slope * doubts**self.power

    def truth(self, value):
        """Return the shares of queries that are answered, and answered wrongly, at λ."""
        x = min(value, 1.0)
        below = (1 - self.zeros) * special.betainc(self.a, self.b, x)
        moment = special.beta(self.a + self.power, self.b) / special.beta(self.a, self.b)
        moment *= (1 - self.zeros) * special.betainc(self.a + self.power, self.b, x)
        answered = below + (self.zeros if value > 0 else 0)
        return answered, self.base * answered + self.slope * moment


LAW_1 = Mixture(0.4, 1.2, 1.6, 0.02, 0.75, 1)
LAW_2 = Mixture(0.0, 1.5, 2.0, 0.01, 0.8, 2)
FLAT = Mixture(0.0, 1, 1, 0.03, 0, 1)
FLAT_ABOVE = Mixture(0.0, 1, 1, 0.0505, 0, 1)  # no threshold can keep a promise of 5%
SETTINGS = [
    *((name, law, alpha, n)
      for name, law in {"many zeros": LAW_1, "no ties": LAW_2}.items()
      for alpha in (0.05, 0.15)
      for n in (300, 1000)),
    *((name, law, 0.05, n)
      for name, law in {"3% wrong": FLAT, "5.05% wrong": FLAT_ABOVE}.items()
      for n in (300, 1000, 5000)),
]  # fmt: skip


def simulate(law, n, method):
    """Return true answered and true answered-and-wrong shares, 0 where nothing is certified."""
    truths = np.zeros((REPETITIONS, 2))
    for i in range(REPETITIONS):
        found = method(*law.draw(np.random.default_rng((n, i)), n))
        if isinstance(found, Threshold):
            truths[i] = law.truth(found.value)
    return truths.T


def violated(answered, wrong, alpha):
    return np.mean(wrong > alpha * answered)


def advised(law, n, method, repetitions=REPETITIONS):
    """Return how often nothing is certified, a number of labels is advised, and then suffices."""
    failed = said = met = 0
    for i in range(repetitions):
        rng = np.random.default_rng((n, i))
        doubts, correct = law.draw(rng, n)
        found = method(doubts, correct)
        if isinstance(found, Threshold):
            continue
        failed += 1
        if found.labels_needed is None:
            continue
        said += 1
        more = law.draw(rng, found.labels_needed)
        again = method(np.append(doubts, more[0]), np.append(correct, more[1]))
        met += isinstance(again, Threshold)
    return failed, said, met


GROUPS = ((0.7, Mixture(0.0, 1, 1, 0.02, 0, 1)), (0.3, FLAT_ABOVE))  # shares of the questions


def promised_by_group(n, repetitions=REPETITIONS):
    """Return how often the promise is said to hold for each of `GROUPS`: the second cannot.

    The target is 5%, the confidence 90%, and λ is certified on all rows together.
    """
    promised = np.zeros(len(GROUPS), int)
    for i in range(repetitions):
        rng = np.random.default_rng((n, i))
        group = rng.choice(len(GROUPS), n, p=[share for share, _ in GROUPS])
        drawn = [law.draw(rng, n) for _, law in GROUPS]
        doubts, correct = (np.choose(group, values) for values in zip(*drawn, strict=True))
        found = learn_then_test(doubts, correct, target_error=0.05, confidence=0.9)
        if isinstance(found, Threshold):
            promised += [
                certifies(
                    *(doubts[group == g], correct[group == g], found.value),
                    target_error=0.05,
                    confidence=1 - 0.1 / len(GROUPS),
                )
                for g in range(len(GROUPS))
            ]
    return promised / repetitions


def certified_from_the_seed_on(n, repetitions):
    """Return how often a threshold is certified that breaks its promise, from the model's seed on.

    Questions are drawn, asked with five draws at temperature 1 under a seed of their own, scored
    and calibrated on. Of those with a doubt of 0, 8% are wrong: no threshold can keep 5%.
    """
    certified = 0
    for seed in range(repetitions):
        model, asked = half_known.drawn(seed, n)
        task = Task(model, Request("any", 5, 1.0, seed), Reading(), usual_least_mass())
        rows = list(local(iter(asked), task, lambda _: None))
        doubts = np.array([row.values[SCORE] for row in rows], float)
        correct = [row.is_right(SCORE) for row in rows]
        found = learn_then_test(doubts, correct, target_error=0.05, confidence=0.9)
        certified += isinstance(found, Threshold)
    return certified / repetitions


def main() -> None:
    print(f"{REPETITIONS:,} calibrations each, confidence 90%\n")
    print("| law | target | labels | broken | answered | “N more” | met | rule broken |")
    print("| --- | --: | --: | --: | --: | --: | --: | --: |")
    for name, law, alpha, n in SETTINGS:
        certify = partial(learn_then_test, target_error=alpha, confidence=0.9)
        answered, wrong = simulate(law, n, certify)
        _, said, met = advised(law, n, certify)
        rule = simulate(law, n, partial(empirical, target_error=alpha))
        print(
            f"| {name} | {alpha:.0%} | {n:,} | {violated(answered, wrong, alpha):.3f} | "
            f"{answered.mean():.3f} | {said / REPETITIONS:.3f} | "
            f"{f'{met / said:.2f}' if said else '–'} | {violated(*rule, alpha):.3f} |"
        )
    print("\nBy group, for a target of 5%: 70% of the questions with 2% wrong, 30% with 5.05%\n")
    print("| labels | promised for the first | promised for the second |")
    print("| --: | --: | --: |")
    for n in (300, 1000, 5000):
        first, second = promised_by_group(n)
        print(f"| {n:,} | {first:.3f} | {second:.3f} |")
    print("\nFrom the model's seed to the threshold; at most .1 is promised\n")
    print("| labels | broken |")
    print("| --: | --: |")
    for n in (200, 500):
        print(f"| {n:,} | {certified_from_the_seed_on(n, CHAINS):.3f} |")


if __name__ == "__main__":
    main()
