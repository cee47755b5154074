"""Find the default thresholds: ``python -m benchmarks.default_threshold [--write]``.

Asks the embedded model every question of its world once, in a training wording, and 200
questions nobody can answer (invented entities and nonsense). Then

- the least sampled mass is the smallest of a few round numbers at which, together with λ,
  at most 5 % of the unanswerable questions are answered;
- λ is the paper's empirical rule: the largest threshold at which at most 5 % of the
  answered questions of the world are answered wrongly (midway to the next doubt);
- every other score's threshold is found by the same rule, for the comparison of their
  decisions beside the truth.

They are chosen and judged on the same questions, so they are defaults and no guarantees.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

import numpy as np

from benchmarks._measuring import (
    SCORE,
    UNANSWERABLE,
    Row,
    Wording,
    measure,
    opened,
    questions,
    unanswerable,
)
from core.data import world
from core.studies.verdict import DEFAULTS_FILE
from core.uncertainty.scores import SCORES

TARGET_ERROR = 0.05
UNANSWERABLE_QUESTIONS = 200
MASSES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)


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


def thresholds(rows: Sequence[Row]) -> dict[str, float]:
    """Return every score's own threshold by the same rule, the sampled mass left aside."""
    return {
        name: empirical_threshold(
            np.array([row.doubt[name] for row in rows]),
            np.array([row.correct[name] for row in rows]),
        )
        for name in SCORES
    }


def choose(answerable: Sequence[Row], unanswerable: Sequence[Row]) -> tuple[float, float]:
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
    model = opened()
    answerable = measure(questions(Wording.TRAINING))
    nobody_can = measure(unanswerable(UNANSWERABLE_QUESTIONS))
    threshold, least = choose(answerable, nobody_can)
    threshold, least = round(threshold, 3), round(least, 3)

    print(f"λ = {threshold} nats, least sampled mass = {least}\n")
    print(f"{'band':<14}{'questions':>10}{'answered':>10}{'of these wrong':>16}{'too little':>12}")
    total = answered_wrong = answered_all = 0
    for band in [*world.Band, UNANSWERABLE]:
        rows = [r for r in answerable + nobody_can if r.band == band]
        answered = [r for r in rows if r.answered(threshold, least)]
        wrong = sum(not r.correct[SCORE] for r in answered)
        print(
            f"{band:<14}{len(rows):>10}{len(answered):>10}{wrong:>16}"
            f"{sum(not r.says_something(least) for r in rows):>12}"
        )
        if band != UNANSWERABLE:
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
    own = {name: round(value, 4) for name, value in thresholds(answerable).items()}
    own[SCORE] = threshold
    if options.write:
        found = {
            "threshold": threshold,
            "least_mass": least,
            "score": SCORE,
            "thresholds": {n: round(t, 4) for n, t in thresholds(answerable).items()}
            | {SCORE: threshold},
            "model": model.name,
            "revision": model.revision,
            "origin": origin,
        }
        DEFAULTS_FILE.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
