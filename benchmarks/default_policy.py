"""Certify the default policies: ``python -m benchmarks.default_policy [--write]``.

Asks the embedded model every question of its world once, in a training wording, and 200
questions nobody can answer (invented entities and nonsense). Then

- 1,000 of the world's questions, drawn at random, become the bundled labelled example;
- every score gets a policy by Learn-then-Test on them, at most 5 % wrong among the answered
  with 90 % confidence: the code behind the page Calibration, on the same file;
- before that, the least sampled mass is set to the smallest of a few round numbers at which
  the policy of the mutual information answers at most 5 % of the unanswerable questions. The
  policy by which it is chosen is calibrated on the example's labels, so the policy says how
  many settings were tried on these rows;
- the other questions of the world, which no threshold has seen, show what the promise is
  worth on them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from benchmarks._measuring import (
    SCORE,
    UNANSWERABLE,
    Question,
    Row,
    Wording,
    in_parallel,
    measure,
    opened,
    questions,
    unanswerable,
)
from core.abstention.policy import to_dict
from core.abstention.thresholds import Threshold as Certified
from core.abstention.thresholds import learn_then_test
from core.data.tabular import uploads
from core.data.tabular.labelled import labelled, suggest
from core.data.world import facts as world
from core.studies.calibration import scoring
from core.studies.calibration.calibration import Calibration, Target, calibrate
from core.studies.calibration.example import EXAMPLE
from core.studies.calibration.scoring import Gold, Scored
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.verdict import DEFAULTS_FILE
from core.uncertainty.scores import SCORES

TARGET = Target(error=0.05, confidence=0.9, method="ltt", score=SCORE)
UNANSWERABLE_QUESTIONS = 200
EXAMPLE_QUESTIONS = 1000
MASSES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)


def drawn(total: int) -> np.ndarray:
    """Return which questions become the example, of shape (total,)."""
    chosen = np.zeros(total, bool)
    chosen[np.random.default_rng(4).permutation(total)[:EXAMPLE_QUESTIONS]] = True
    return chosen


def choose(answerable: Sequence[Row], nobody_can: Sequence[Row]) -> tuple[float, float, int]:
    """Return λ, the least mass, and how many were tried."""
    for tried, least in enumerate(MASSES, 1):
        found = learn_then_test(
            np.array([row.decisive(least) for row in answerable]),
            np.array([row.correct[SCORE] for row in answerable]),
            target_error=TARGET.error,
            confidence=TARGET.confidence,
        )
        if isinstance(found, Certified):
            answered = sum(row.answered(found.value, least) for row in nobody_can)
            if answered <= TARGET.error * len(nobody_can):
                return found.value, least, tried
    raise SystemExit("No least mass keeps the unanswerable questions from being answered.")


def gold(question: Question) -> Gold:
    """Return a question of the world with its right answers."""
    fact = question.fact
    assert fact is not None
    names = tuple(name for answer in fact.answers for name in answer.names)
    return Gold(question.text, names, question.band)


def _scored(item: tuple[Gold, float]) -> Scored:
    gold, least_mass = item
    request = usual_request(gold.query, opened().capabilities)
    return scoring.score(gold, opened(), request, least_mass=least_mass)


def example(asked: Sequence[Question], least_mass: float) -> bytes:
    """Ask the questions as the page would, and return the table that it would."""
    scored = in_parallel(_scored, [(gold(question), least_mass) for question in asked])
    request = usual_request(asked[0].text, opened().capabilities)
    return scoring.table(scored, opened(), request, least_mass=least_mass)


def certified(content: bytes, tried: int) -> dict[str, Calibration]:
    """Calibrate every score on the example, each named beforehand, and say what was tried."""
    upload = uploads.parse(content, EXAMPLE.name)
    data = labelled(upload, suggest(upload))
    found = {name: calibrate(data, replace(TARGET, score=name)) for name in SCORES}
    return {
        name: replace(c, policy=c.policy and replace(c.policy, settings_tried=tried))
        for name, c in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="make the result the default")
    options = parser.parse_args()
    asked = questions(Wording.TRAINING)
    rows, nobody_can = measure(asked), measure(unanswerable(UNANSWERABLE_QUESTIONS))
    chosen = drawn(len(rows))
    seen = [row for row, taken in zip(rows, chosen, strict=True) if taken]
    others = [row for row, taken in zip(rows, chosen, strict=True) if not taken]
    _, least, tried = choose(seen, nobody_can)
    content = example([q for q, taken in zip(asked, chosen, strict=True) if taken], least)
    found = certified(content, tried)
    for name, calibration in found.items():
        policy = calibration.policy
        if policy is None:
            print(f"{name}: no policy. {calibration.outcome}")
        else:
            print(
                f"{name}: λ = {policy.threshold:.4f}, answers {policy.answered} of "
                f"{policy.labels}, {policy.errors} of them wrongly"
            )
    policy = found[SCORE].policy
    if policy is None:
        raise SystemExit("The default policy could not be certified.")
    print(f"\nleast sampled mass = {least}; on the {len(others)} other questions of the world:\n")
    print(f"{'band':<14}{'questions':>10}{'answered':>10}{'of these wrong':>16}{'too little':>12}")
    for band in [*world.Band, "all", UNANSWERABLE]:
        part = [r for r in others + nobody_can if band in (r.band, "all" * (r.fact_known))]
        answered = [r for r in part if r.answered(policy.threshold, least)]
        wrong = sum(not r.correct[SCORE] for r in answered)
        print(
            f"{band:<14}{len(part):>10}{len(answered):>10}{wrong:>16}"
            f"{sum(not r.says_something(least) for r in part):>12}"
        )
    if options.write:
        EXAMPLE.parent.mkdir(exist_ok=True)
        EXAMPLE.write_bytes(content)
        policies = {n: c.policy and to_dict(c.policy) for n, c in found.items()}
        DEFAULTS_FILE.write_text(json.dumps(policies, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
