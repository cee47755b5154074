"""The embedded model measured: ``python -m benchmarks.embedded_model``.

By exposure band: how often the served answer is wrong, mutual information, its certified
lower bound, sampled mass, and what repeating a wrong answer (or, for many answers, another
right one) does. Then how
well each score ranks wrong answers (AUROC, ties count half): on single-label questions,
and on the paper's mixture of those with many-answer questions of entropy above 0.7.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from benchmarks.default_threshold import Row, measure
from core import prompts
from core.data import world
from core.data.world import Band, Fact
from core.language_models.base import LanguageModel, open_model
from core.uncertainty.scores import SCORES

REPETITIONS = (0, 1, 10, 100)
FACTS_A_BAND = 40  # for the repetitions; drawn with a fixed seed


def auroc(doubt: np.ndarray, wrong: np.ndarray) -> float:
    """Return P(doubt of a wrong answer > doubt of a right one), ties counting half."""
    ranks = rankdata(doubt)
    positives, negatives = wrong.sum(), (~wrong).sum()
    if not positives or not negatives:
        return float("nan")
    return float((ranks[wrong].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def repeated(model: LanguageModel, fact: Fact, wrong: str) -> np.ndarray:
    """Return P(right) / (P(right) + P(wrong)) after each number of repetitions."""
    asked = [prompts.iterative(fact.question, [wrong] * t) for t in REPETITIONS]
    likelihoods = model.log_likelihoods(asked, [fact.answers[0].text, wrong])
    return 1 / (1 + np.exp(likelihoods[:, 1] - likelihoods[:, 0]))


def rival(fact: Fact, facts: list[Fact], rng: np.random.Generator) -> str:
    """Return the answer to repeat: the misconception, or another right or wrong one."""
    if fact.band is Band.MANY_ANSWERS:
        return fact.answers[1].text
    if fact.misconception:
        return fact.misconception
    others = [f for f in facts if f.relation == fact.relation and f is not fact]
    return others[rng.integers(len(others))].answers[0].text


def ranking(rows: list[Row], title: str) -> None:
    """Print how well each score, and the bare sampled mass as a control, ranks errors."""
    print(f"\n{title}: {len(rows)} questions")
    print(f"{'score':<32}{'wrong':>8}{'AUROC':>8}")
    for name, info in SCORES.items():
        doubt = np.array([row.doubt[name] for row in rows])
        wrong = np.array([not row.correct[name] for row in rows])
        print(f"{info.title:<32}{wrong.mean():>8.1%}{auroc(doubt, wrong):>8.3f}")
    wrong = np.array([not row.correct["mutual_information"] for row in rows])
    mass = np.array([-row.mass for row in rows])
    print(f"{'(sampled mass, a control)':<32}{wrong.mean():>8.1%}{auroc(mass, wrong):>8.3f}")


def main() -> None:
    model = open_model("embedded")
    rng = np.random.default_rng(0)
    rows, unanswerable = measure(model)
    facts = list(world.facts())

    print(
        f"{'band':<14}{'questions':>10}{'T0 wrong':>10}{'M.I. wrong':>11}{'M.I.':>7}"
        f"{'M.I. ≥':>8}{'S.E.':>7}{'mass':>7}   median share of the right answer at "
        + ", ".join(map(str, REPETITIONS))
    )
    for band in [*Band, "unanswerable"]:
        part = [r for r in rows + unanswerable if r.band == band]

        def mean(name: str, part: list[Row] = part) -> float:
            return float(np.mean([r.doubt[name] for r in part]))

        def wrong(name: str, part: list[Row] = part) -> float:
            return float(np.mean([not r.correct[name] for r in part]))

        chosen = [f for f in facts if f.band == band]
        chosen = [chosen[i] for i in rng.permutation(len(chosen))[:FACTS_A_BAND]]
        curves = [repeated(model, f, rival(f, facts, rng)) for f in chosen]
        medians = np.median(curves, axis=0) if curves else []
        print(
            f"{band:<14}{len(part):>10}{wrong('greedy_probability'):>10.1%}"
            f"{wrong('mutual_information'):>11.1%}{mean('mutual_information'):>7.3f}"
            f"{mean('certified_mutual_information'):>8.3f}{mean('semantic_entropy'):>7.2f}"
            f"{np.mean([r.mass for r in part]):>7.2f}   " + "  ".join(f"{m:.3f}" for m in medians)
        )

    single = [r for r in rows if r.band != Band.MANY_ANSWERS]
    many = [r for r in rows if r.band == Band.MANY_ANSWERS and r.entropy > 0.7]
    ranking(single, "Single-label questions")
    half = [single[i] for i in rng.permutation(len(single))[: len(many)]]
    ranking(half + many, "Half single-label, half many-answer with entropy above 0.7")


if __name__ == "__main__":
    main()
