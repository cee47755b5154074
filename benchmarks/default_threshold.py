"""Find the default threshold: ``python -m benchmarks.default_threshold [--write]``.

Asks the embedded model every question of its world once, in a wording chosen by a fixed
seed, and 200 questions nobody can answer (invented entities and nonsense). Then

- the least sampled mass is the smallest of a few round numbers at which, together with λ,
  at most 5 % of the unanswerable questions are answered;
- λ is the paper's empirical rule: the largest threshold at which at most 5 % of the
  answered questions of the world are answered wrongly (midway to the next doubt).

It is chosen and judged on the same questions, so it is a default and no guarantee.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass

import numpy as np

from core.data import world
from core.language_models.base import LanguageModel, open_model
from core.studies.inspection import Reading, evidence_of
from core.studies.recording import Request, record
from core.studies.verdict import DEFAULTS_FILE, enough_seen
from core.uncertainty.scores import SCORES
from core.uncertainty.similarity import token_f1
from training.corpus import Author

TARGET_ERROR = 0.05
UNANSWERABLE = 200
MASSES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)
SCORE = "mutual_information"


@dataclass(frozen=True)
class Row:
    """One question: its band, doubt, sampled mass, and whether the served answer is right."""

    band: str
    doubt: dict[str, float]
    mass: float
    clusters: int
    correct: dict[str, bool]
    entropy: float

    def says_something(self, least: float) -> bool:
        """Whether enough was sampled for a verdict."""
        return enough_seen(self.mass, self.clusters, least)

    def answered(self, threshold: float, least: float) -> bool:
        """Whether the verdict would be to answer."""
        highest = max(self.doubt[SCORE], self.doubt["certified_mutual_information"])
        return self.says_something(least) and highest < threshold


def ask(model: LanguageModel, question: str, accepted: list[str], band: str, seed: int) -> Row:
    """Inspect one question and compare every score's served answer with the truth."""
    evidence = evidence_of(record(Request(question, seed=seed), model), Reading())
    scores = {name: info.function(evidence) for name, info in SCORES.items()}
    return Row(
        band=band,
        doubt={name: s.doubt if s.doubt is not None else np.inf for name, s in scores.items()},
        mass=evidence.sampled_mass,
        clusters=len(evidence.centres),
        correct={
            name: any(token_f1(s.answer, name_) >= 0.25 for name_ in accepted)
            for name, s in scores.items()
        },
        entropy=scores["semantic_entropy"].value or 0.0,
    )


def measure(model: LanguageModel, seed: int = 0) -> tuple[list[Row], list[Row]]:
    """Return the rows of the world's questions and of the unanswerable ones."""
    rng = np.random.default_rng(seed)
    answerable = [
        ask(
            model,
            fact.ask(fact.templates[rng.integers(3)]),
            [name for answer in fact.answers for name in answer.names],
            fact.band.value,
            seed=i,
        )
        for i, fact in enumerate(world.facts())
    ]
    author = Author(world.facts(), seed=10_000 + seed)
    unanswerable = [
        ask(model, author.unknown_question(formless=i % 2 == 0)[0], [], "unanswerable", seed=i)
        for i in range(UNANSWERABLE)
    ]
    return answerable, unanswerable


def empirical_threshold(doubt: np.ndarray, correct: np.ndarray) -> float:
    """Return the largest λ at which answering doubt < λ errs on at most `TARGET_ERROR`."""
    order = np.argsort(doubt, kind="stable")
    doubt, wrong = doubt[order], np.cumsum(~correct[order])
    error = wrong / np.arange(1, len(doubt) + 1)
    last_of_tie = np.append(doubt[1:] > doubt[:-1], True)
    allowed = np.flatnonzero((error <= TARGET_ERROR) & last_of_tie)
    if not len(allowed):
        return 0.0
    best = allowed[-1]
    upper = doubt[best + 1] if best + 1 < len(doubt) else doubt[best] + 1
    return float((doubt[best] + upper) / 2)


def choose(answerable: list[Row], unanswerable: list[Row]) -> tuple[float, float]:
    """Return (λ, least mass)."""
    for least in MASSES:
        seen = [row for row in answerable if row.says_something(least)]
        threshold = empirical_threshold(
            np.array([row.doubt[SCORE] for row in seen]),
            np.array([row.correct[SCORE] for row in seen]),
        )
        answered = [r for r in unanswerable if r.answered(threshold, least)]
        if len(answered) <= TARGET_ERROR * len(unanswerable):
            return threshold, least
    raise SystemExit("No least mass keeps the unanswerable questions from being answered.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="make the result the default")
    options = parser.parse_args()
    model = open_model("embedded")
    answerable, unanswerable = measure(model)
    threshold, least = choose(answerable, unanswerable)
    threshold, least = round(threshold, 3), round(least, 3)

    print(f"λ = {threshold} nats, least sampled mass = {least}\n")
    print(f"{'band':<14}{'questions':>10}{'answered':>10}{'of these wrong':>16}{'too little':>12}")
    total = answered_wrong = answered_all = 0
    for band in [*world.Band, "unanswerable"]:
        rows = [r for r in answerable + unanswerable if r.band == band]
        answered = [r for r in rows if r.answered(threshold, least)]
        wrong = sum(not r.correct[SCORE] for r in answered)
        print(
            f"{band:<14}{len(rows):>10}{len(answered):>10}{wrong:>16}"
            f"{sum(not r.says_something(least) for r in rows):>12}"
        )
        if band != "unanswerable":
            total += len(rows)
            answered_all += len(answered)
            answered_wrong += wrong
    origin = (
        f"λ = {threshold} nats is a default, not a guarantee: with the default settings, on "
        f"{total} questions of the embedded model's world it answered {answered_all}, of "
        f"which {answered_wrong} wrongly ({answered_wrong / max(answered_all, 1):.1%}); it was "
        "chosen on these same questions."
    )
    print(f"\n{origin}")
    if options.write:
        found = {
            "threshold": threshold,
            "least_mass": least,
            "score": SCORE,
            "model": model.name,
            "revision": model.revision,
            "origin": origin,
        }
        DEFAULTS_FILE.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
