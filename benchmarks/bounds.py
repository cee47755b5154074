"""What samples say for sure and what with 90% confidence: ``python -m benchmarks.bounds``.

Models whose M.I. is known: answer i comes first with a weight of i^-0.7, and after one was told,
it is repeated with a certain probability; otherwise an answer like the first comes. K first
answers are drawn from each, a thousand times, and scored after each other. The table holds means
in nats of

- the certified lower bound;
- L, the information between a draw and the answer after it;
- the lower limit with 90% confidence, where all draws are scored;
- the same where only the six likeliest distinct draws are;
- U, the mean logarithm of how much likelier each row's own second answer is than after the other
  draws: above M.I. on average, but a limit of nothing (see docs/method.md).

Last, how often the limit exceeds M.I.: at most 10% is promised. The exit status is 1 if it is
more. About a minute.
"""

import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.uncertainty.certified_bound import certified_lower_bound
from core.uncertainty.confidence_limit import (
    CONFIDENCE,
    empirical_information,
    lower_confidence_limit,
)
from core.uncertainty.joint import from_table

DRAWS = (10, 30, 60, 100)
LAWS = {
    "copies .9 of 200": (200, 0.9),
    "copies .3 of 200": (200, 0.3),
    "copies .9 of 30": (30, 0.9),
    "copies .3 of 30": (30, 0.3),
    "knows 200": (200, 0.0),
}
TIMES = 1000
FEW = 6  # texts that are scored

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Law:
    """Q of a first answer, (m,), and of a second after each, (m, m)."""

    first: Floats
    rows: Floats

    @property
    def information(self) -> float:
        """The exact M.I., nats."""
        return from_table(np.log(self.first[:, None] * self.rows)).value


def copying(answers: int, share: float) -> Law:
    """Return a model that repeats what it is told with a probability of `share` or more."""
    weights = np.arange(1.0, answers + 1) ** -0.7
    first = weights / weights.sum()
    return Law(first, share * np.eye(answers) + (1 - share) * first)


@dataclass(frozen=True)
class Bounds:
    """What K draws say, nats; the module says what each is."""

    certified: float
    mean: float
    limit: float
    limit_of_few: float
    upper: float


def bounds(law: Law, drawn: NDArray[np.int64], rng: np.random.Generator) -> Bounds:
    """Return every bound of one sample, (K,) numbers of answers."""
    texts, counts = np.unique(drawn, return_counts=True)
    log_first, log_rows = np.log(law.first[texts]), np.log(law.rows[np.ix_(texts, texts)])
    few = np.argsort(-log_first, kind="stable")[:FEW]
    return Bounds(
        certified_lower_bound(log_first, log_rows),
        empirical_information(counts, log_rows),
        lower_confidence_limit(counts, log_rows),
        lower_confidence_limit(counts[few], log_rows[np.ix_(few, few)], draws=len(drawn)),
        upper(law, drawn, rng),
    )


def upper(law: Law, drawn: NDArray[np.int64], rng: np.random.Generator) -> float:
    """Return the mean of ln [Q(y_i|a_i) / mean over j ≠ i of Q(y_i|a_j)], y_i drawn after a_i."""
    seconds = [rng.choice(len(law.first), p=law.rows[answer]) for answer in drawn]
    after = law.rows[np.ix_(drawn, seconds)]
    own = np.diag(after)
    others = (1 - np.eye(len(drawn))) * after
    return float(np.log(own / (others.sum(axis=0) / (len(drawn) - 1))).mean())


def simulated(law: Law, draws: int) -> list[Bounds]:
    """Return the bounds of many samples."""
    rng = np.random.default_rng([20240604, draws])
    samples = rng.choice(len(law.first), p=law.first, size=(TIMES, draws))
    return [bounds(law, drawn, rng) for drawn in samples]


def main() -> int:
    """Print the table; return 0 if the promise holds, else 1."""
    print("| model (M.I.) | K | certified | L | at 90% | of six texts | U | too high |")
    print("| --- | --: | --: | --: | --: | --: | --: | --: |")
    held = True
    for name, (answers, share) in LAWS.items():
        law = copying(answers, share)
        for draws in DRAWS:
            found = simulated(law, draws)
            of = np.array([(b.certified, b.mean, b.limit, b.limit_of_few, b.upper) for b in found])
            too_high = float((of[:, 2:4].max(axis=1) > law.information + 1e-10).mean())
            held &= too_high <= 1 - CONFIDENCE
            cells = " | ".join(f"{value:.2f}" for value in of.mean(axis=0))
            print(f"| {name} ({law.information:.2f}) | {draws} | {cells} | {too_high:.1%} |")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
