"""Is the promise kept? ``python -m benchmarks.promise``: calibrations on laws that we know.

Scores and errors are drawn from two laws whose true error at every threshold is known in
closed form: one with many exact zeros, one without ties. A promise is broken when the true
error among the answered exceeds the target. The tests hold the same simulations to their
stated error rates.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import special

from core.abstention.thresholds import Threshold, empirical, learn_then_test

REPETITIONS = 1000


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


def main() -> None:
    print(f"{REPETITIONS} calibrations each, confidence 90 %\n")
    print(f"{'law':<8}{'target':>7}{'labels':>8}{'broken':>9}{'answered':>10}{'rule broken':>13}")
    for name, law in {"zeros": LAW_1, "no ties": LAW_2}.items():
        for alpha in (0.05, 0.15):
            for n in (300, 1000):
                certify = partial(learn_then_test, target_error=alpha, confidence=0.9)
                answered, wrong = simulate(law, n, certify)
                rule = simulate(law, n, partial(empirical, target_error=alpha))
                print(
                    f"{name:<8}{alpha:>7}{n:>8}{violated(answered, wrong, alpha):>9.3f}"
                    f"{answered.mean():>10.3f}{violated(*rule, alpha):>13.3f}"
                )


if __name__ == "__main__":
    main()
