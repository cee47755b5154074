"""How often verdicts on one question agree: ``python -m benchmarks.agreement``.

Questions of the world are inspected under many seeds, with ten drawn answers as in the paper, and
once with the likeliest answers, which no seed changes. Either way decides by a threshold of its
own, certified on other questions for the same target. Of each band are printed: how often two
seeds give the same decision, and how often the likeliest answers give the one that most seeds do.
"""

import argparse
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.shared.measuring import (
    SCORE,
    Question,
    Row,
    Wording,
    in_parallel,
    inspect,
    measure,
    opened,
    questions,
)
from core.abstention.thresholds import Threshold, learn_then_test
from core.data.world.facts import Band
from core.studies.inspection.certificates import usual_least_mass
from core.studies.inspection.request import Sampling

SEEDS = 20
A_BAND = 60
CALIBRATED_ON = 1000


def threshold(rows: Sequence[Row], least_mass: float) -> float:
    """Return λ: at most 5% wrong among the answered, with 90% confidence."""
    found = learn_then_test(
        np.array([row.decisive(least_mass) for row in rows]),
        np.array([row.correct[SCORE] for row in rows]),
        target_error=0.05,
        confidence=0.9,
    )
    if not isinstance(found, Threshold):
        raise SystemExit(found.reason)
    return found.value


def of_seeds(question: Question) -> list[Row]:
    """Inspect one question with drawn answers, once a seed."""
    return [
        inspect(question, opened(), sampling=Sampling.DRAWN, seed=seed) for seed in range(SEEDS)
    ]


def agreement(answered: NDArray[np.bool_]) -> float:
    """Return the chance that two different seeds decide alike, over questions (n, seeds)."""
    n = answered.shape[1]
    yes = answered.sum(axis=1)
    return float(np.mean((yes * (yes - 1) + (n - yes) * (n - yes - 1)) / (n * (n - 1))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--band", type=int, default=A_BAND, help="questions of each band")
    options = parser.parse_args()
    least = usual_least_mass()
    every = [q for q in questions(Wording.TRAINING)]
    order = np.random.default_rng(6).permutation(len(every))
    others, rest = order[:CALIBRATED_ON], order[CALIBRATED_ON:]
    calibrated = [every[i] for i in others]
    of_drawn = threshold(measure(calibrated, sampling=Sampling.DRAWN), least)
    of_likeliest = threshold(measure(calibrated), least)
    print(f"λ of drawn answers {of_drawn:.3f}, of the likeliest {of_likeliest:.3f} nats\n")
    print(f"{'band':<14}{'questions':>10}{'two seeds agree':>17}{'as most seeds':>15}")
    for band in Band:
        asked = [every[i] for i in rest if every[i].band == band][: options.band]
        drawn = np.array(
            [
                [row.answered(of_drawn, least) for row in rows]
                for rows in in_parallel(of_seeds, asked)
            ]
        )
        likeliest = np.array([row.answered(of_likeliest, least) for row in measure(asked)])
        same = float(np.mean(likeliest == (2 * drawn.sum(axis=1) > SEEDS)))
        print(f"{band:<14}{len(asked):>10}{agreement(drawn):>17.1%}{same:>15.1%}")


if __name__ == "__main__":
    main()
