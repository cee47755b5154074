"""Certify the default policies: ``python -m benchmarks.default_policy [--model M] [--write]``.

Asks the embedded model every question of its world once, in a training wording, and 200
questions nobody can answer (invented entities and nonsense). Then

- 1,000 of the world's questions, drawn at random, become the bundled labelled example;
- every score gets a policy by Learn-then-Test on them, at most 5% wrong among the answered
  with 90% confidence: the code behind the page Calibration, on the same file;
- before that, the least sampled mass is set to the smallest of a few round numbers at which
  the policy of the mutual information answers at most 5% of the unanswerable questions. The
  policy by which it is chosen is calibrated on the example's labels, so the policy says how
  many settings were tried on these rows;
- the other questions of the world, which no threshold has seen, show what the promise is
  worth on them.

With ``--model smollm2`` the same 1,000 questions are put to SmolLM2 in the form that suits it,
which takes over an hour of processor time. It knows little of this world: half of the probability
must be seen, and of a few round errors the smallest that can be certified is promised. The policy
says how many were tried. ``--again`` asks nothing, and certifies on the bundled example.
"""

from __future__ import annotations

import argparse
import functools
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
from core import outputs
from core.abstention.policy import Policy, to_dict
from core.abstention.thresholds import Threshold as Certified
from core.abstention.thresholds import learn_then_test
from core.data.tabular import uploads
from core.data.tabular.labelled import labelled, suggest
from core.data.world import facts as world
from core.language_models.base import LanguageModel
from core.language_models.registry import open_model
from core.language_models.trial import in_its_form
from core.studies.calibration import scoring
from core.studies.calibration.calibration import Calibration, Target, calibrate
from core.studies.calibration.example import example_of
from core.studies.calibration.scoring import Gold, Scored
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.verdict import (
    EMBEDDED,
    LEAST_MASS_ALONE,
    SMOLLM2,
    defaults_file,
)
from core.uncertainty.scores import SCORES

TARGET = Target(error=0.05, confidence=0.9, method="ltt", score=SCORE)
# Pairs of a least mass (eight from 2% to 80%) and an error that were looked at on SmolLM2's labels
# before half of the probability was settled on: so many settings its policy owns up to.
LOOKED_AT = {EMBEDDED: 1, SMOLLM2: 60}
ERRORS = {EMBEDDED: (TARGET.error,), SMOLLM2: (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)}
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


@functools.cache
def answering(name: str) -> LanguageModel:
    """Open a model once a process, in the form that suits it."""
    return opened() if name == EMBEDDED else in_its_form(open_model(name))[0]


def _scored(gold: Gold, name: str, least_mass: float) -> Scored:
    model = answering(name)
    return scoring.score(
        gold, model, usual_request(gold.query, model.capabilities), least_mass=least_mass
    )


def example(asked: Sequence[Question], name: str, least_mass: float) -> bytes:
    """Ask a model the questions as the page would, and return the table that it would."""
    work = functools.partial(_scored, name=name, least_mass=least_mass)
    scored = in_parallel(work, [gold(question) for question in asked])
    request = usual_request(asked[0].text, answering(name).capabilities)
    return scoring.table(scored, answering(name), request, least_mass=least_mass)


def certified(content: bytes, target: Target, tried: int) -> dict[str, Calibration]:
    """Calibrate every score on the example, each named beforehand, and say what was tried."""
    upload = uploads.parse(content, "example.csv")
    data = labelled(upload, suggest(upload))
    found = {name: calibrate(data, replace(target, score=name)) for name in SCORES}
    return {
        name: replace(c, policy=c.policy and replace(c.policy, settings_tried=tried))
        for name, c in found.items()
    }


def certify(content: bytes, name: str, tried: int, *, write: bool) -> Policy:
    """Certify a model's policies on its example, print them, and make them its default."""
    for number, error in enumerate(ERRORS[name], tried):
        tried_here = max(number, LOOKED_AT[name])
        found = certified(content, replace(TARGET, error=error), tried_here)
        if found[SCORE].policy:
            break
    for score, calibration in found.items():
        print(f"{score}: {_outcome(calibration)}")
    if write:
        outputs.write(example_of(name), content)
        policies = {n: c.policy and to_dict(c.policy) for n, c in found.items()}
        text = json.dumps(policies, indent=2, ensure_ascii=False) + "\n"
        outputs.write(defaults_file(name), text)
    policy = found[SCORE].policy
    if policy is None:
        raise SystemExit("The default policy could not be certified.")
    return policy


def _outcome(calibration: Calibration) -> str:
    policy = calibration.policy
    if policy is None:
        return f"no policy. {calibration.outcome}"
    return (
        f"λ = {policy.threshold:.4f}, answers {policy.answered} of {policy.labels}, "
        f"{policy.errors} of them wrongly"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=EMBEDDED, choices=ERRORS)
    parser.add_argument("--again", action="store_true", help="certify on what was asked before")
    parser.add_argument("--write", action="store_true", help="make the result the default")
    options = parser.parse_args()
    asked = questions(Wording.TRAINING)
    chosen = drawn(len(asked))
    labelled_questions = [q for q, taken in zip(asked, chosen, strict=True) if taken]
    if options.again:
        certify(example_of(options.model).read_bytes(), options.model, 1, write=options.write)
        return
    if options.model != EMBEDDED:
        content = example(labelled_questions, options.model, LEAST_MASS_ALONE)
        certify(content, options.model, 1, write=options.write)
        return
    rows, nobody_can = measure(asked), measure(unanswerable(UNANSWERABLE_QUESTIONS))
    seen = [row for row, taken in zip(rows, chosen, strict=True) if taken]
    others = [row for row, taken in zip(rows, chosen, strict=True) if not taken]
    _, least, tried = choose(seen, nobody_can)
    content = example(labelled_questions, EMBEDDED, least)
    policy = certify(content, EMBEDDED, tried, write=options.write)
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


if __name__ == "__main__":
    main()
