"""Another estimate from sampled pairs: ``python -m benchmarks.sampled_pairs [--half 100]``.

A model that says how likely its own answers are tells M.I. in two ways: by Algorithm 2, adjusted
for chance, which is what Believe does; and as the entropy of the second answers, estimated from how
often each came (Chao, Wang and Jost, 2013), less their mean surprise, -ln Q(b|a), which is right on
average at temperature 1. Two tables compare them, and the smaller of both, with the truth:

- on models whose M.I. is known, 100 samples of 100 pairs each: those of `benchmarks.bounds`;
- on the questions of the ladder, from 100 pairs at temperature 1, with M.I. of the exact
  likelihoods of the same 100 first answers: how well each ranks wrong answers, and mean and root
  mean square of the error.

The last line says why the two tables disagree. Some minutes on two idle cores.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.bounds import LAWS, Law, copying
from benchmarks.ladder import HALF, chosen
from benchmarks.shared.limited import Limited
from benchmarks.shared.measuring import Question, Wording, in_parallel, opened, questions
from core.abstention.metrics import auroc
from core.data.world import grading
from core.data.world.facts import Band
from core.studies.inspection.inspection import evidence_of
from core.studies.inspection.recorder import FEWEST_CHAINS, record
from core.studies.inspection.request import Reading, Request
from core.uncertainty.entropies import chao_wang_jost
from core.uncertainty.sampled_evidence import Chain, from_chains

TIMES = 100
RARE = 20.0  # nats: what came, and no sample of any size will show again
NAMES = ("adjusted Algorithm 2", "entropy less surprise", "the smaller")

Floats = NDArray[np.float64]


def estimates(
    adjusted: float, seconds: Sequence[str], surprise: Floats
) -> tuple[float, float, float]:
    """Return M.I. as told by `NAMES`, nats, from the second answers and -ln Q of each."""
    other = float(chao_wang_jost(list(Counter(seconds).values())) - surprise.mean())
    return adjusted, other, min(adjusted, other)


# ------------------------------------------------------------------------------ known laws


def drawn(law: Law, rng: np.random.Generator) -> list[Chain]:
    """Draw pairs from a law, as a service would say them."""
    names = [f"answer{i}" for i in range(len(law.first))]
    first = rng.choice(len(names), FEWEST_CHAINS, p=law.first)
    second = [rng.choice(len(names), p=law.rows[a]) for a in first]
    return [
        (names[a], names[b], float(np.log(law.first[a])), float(np.log(law.rows[a, b])))
        for a, b in zip(first, second, strict=True)
    ]


def errors(law: Law) -> Floats:
    """Return what the estimates of many samples are off by, (times, 3), nats."""
    rng = np.random.default_rng(20240604)
    found = []
    for _ in range(TIMES):
        chains = drawn(law, rng)
        evidence = from_chains(chains, greedy="", greedy_log_likelihood=None)
        seconds, surprise = [b for _, b, *_ in chains], -np.array([q for *_, q in chains])
        found.append(estimates(evidence.mutual_information.value, seconds, surprise))
    return np.array(found) - law.information


# ------------------------------------------------------------------ the ladder's questions


@dataclass(frozen=True)
class Row:
    """One question: the estimates, the truth (nats), and what came of it."""

    estimates: tuple[float, float, float]  # by `NAMES`
    # M.I. of the exact likelihoods of the same first answers.
    exact: float
    # Whether the answer that M.I. would serve is right.
    right: bool
    single: bool  # whether the question has one right answer only
    # What the second answers with a surprise above `RARE` add to their mean surprise, nats.
    rare: float


def row(question: Question) -> Row:
    """Ask one question for pairs, and for exact likelihoods."""
    assert question.fact is not None
    model = opened()
    request = Request(question.text, FEWEST_CHAINS, 1.0, question.seed)
    made = record(request, Limited(model, own_log_likelihoods=True, next_token=True))
    evidence = evidence_of(made, Reading())
    seconds = [second for after in made.seconds for second in after]
    surprise = -np.array([second.log_likelihood for second in seconds], dtype=np.float64)
    return Row(
        estimates(evidence.mutual_information.value, [second.text for second in seconds], surprise),
        evidence_of(record(request, model), Reading()).mutual_information.value,
        grading.is_right(evidence.likeliest_second, question.fact),
        question.band != Band.MANY_ANSWERS,
        float(np.where(surprise > RARE, surprise, 0.0).mean()),
    )


def table(found: Sequence[Row]) -> dict[str, list[str]]:
    """Return what was measured on the ladder's questions, a cell for each of `NAMES`."""
    values, exact = np.array([r.estimates for r in found]), np.array([r.exact for r in found])
    right, single = np.array([r.right for r in found]), np.array([r.single for r in found])
    cells: dict[str, list[str]] = {}
    for part, at in {
        "the mixture": np.full(len(found), True),
        "one right answer": single,
        "many right answers": ~single,
    }.items():
        if part != "many right answers":  # hardly ever wrong
            ranked = [auroc(column[at], right[at]) for column in values.T]
            cells[f"AUROC, {part}"] = [f"{value:.3f}" for value in ranked]
        off = values[at] - exact[at, None]
        cells[f"less exact M.I., {part}, nats"] = [error(column) for column in off.T]
    return cells


def error(off: Floats) -> str:
    """Return the mean and the root mean square of what was off, nats."""
    return f"{off.mean():+.2f} ({np.sqrt(np.mean(off**2)):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", type=int, default=HALF, help="questions of either kind")
    options = parser.parse_args()
    print(f"| | {' | '.join(NAMES)} |\n| --- | --: | --: | --: |")
    for name, (answers, share) in LAWS.items():
        law = copying(answers, share)
        cells = " | ".join(error(column) for column in errors(law).T)
        print(f"| {name} ({law.information:.2f}) | {cells} |", flush=True)
    found = in_parallel(row, chosen(questions(Wording.TRAINING), options.half))
    for name, row_of in table(found).items():
        print(f"| {name} | {' | '.join(row_of)} |")
    rare = np.mean([r.rare for r in found])
    print(f"Second answers above {RARE:g} nats add {rare:.2f} nats to the mean surprise.")


if __name__ == "__main__":
    main()
