"""Answer, abstain, or say that too little was seen: the decision and its plain reason.

The threshold λ is a default, found by `benchmarks/default_threshold.py` on the embedded
model's own questions. It carries no guarantee; what it was found on stands beside it.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from core.uncertainty.scores import SCORES, Score

LEAST_MASS_ALONE = 0.5  # when all samples say the same
DEFAULTS_FILE = Path(__file__).parent / "default_threshold.json"


class Decision(StrEnum):
    """What to do with the model's answer."""

    ANSWER = "answer"
    ABSTAIN = "abstain"
    TOO_LITTLE = "too little sampled"


@dataclass(frozen=True)
class Threshold:
    """When to abstain.

    Attributes
    ----------
    value : float
        λ, nats: abstain at this much doubt or more.
    least_mass : float
        The sampled mass below which a low score means nothing, in [0, 1].
    score : str
        The score that is compared, a key of `SCORES`.
    origin : str
        Where the numbers come from, as a sentence.
    """

    value: float
    least_mass: float
    score: str = "mutual_information"
    origin: str = ""


@dataclass(frozen=True)
class Verdict:
    """A decision, the answer it is about, and one sentence why."""

    decision: Decision
    answer: str
    reason: str
    threshold: Threshold


@functools.cache
def default_threshold() -> Threshold:
    """Return the threshold that was found on the embedded model's questions."""
    found = json.loads(DEFAULTS_FILE.read_text(encoding="utf-8"))
    return Threshold(found["threshold"], found["least_mass"], found["score"], found["origin"])


@functools.cache
def default_thresholds() -> dict[str, float]:
    """Return the default threshold of every score's doubt, by the keys of `SCORES`."""
    found = json.loads(DEFAULTS_FILE.read_text(encoding="utf-8"))["thresholds"]
    return {name: float(found[name]) for name in SCORES}


def enough_seen(sampled_mass: float, clusters: int, least_mass: float) -> bool:
    """Say whether a score over what was sampled means anything.

    A score is normalised over what was sampled, so over a sliver of the probability it
    says nothing in either direction. A single cluster makes every mutual information 0,
    whatever the model knows: there it takes half of the probability.
    """
    return sampled_mass >= (least_mass if clusters > 1 else max(least_mass, LEAST_MASS_ALONE))


def decide(
    scores: dict[str, Score], sampled_mass: float, clusters: int, threshold: Threshold
) -> Verdict:
    """Compare what is certain, then ask whether enough was seen, then compare the score.

    The certified bound is not normalised, and γ does not touch it: where it reaches λ by
    itself, neither the sampled mass nor the score matters.
    """
    score = scores[threshold.score]
    symbol = SCORES[threshold.score].symbol
    answer = score.answer
    if score.doubt is None:
        reason = score.reason or f"{symbol} could not be computed."
        return Verdict(Decision.TOO_LITTLE, answer, reason, threshold)
    certified = scores["certified_mutual_information"].doubt
    if certified is not None and certified >= threshold.value:
        decision = Decision.ABSTAIN
        reason = (
            "The model does not know: told one answer, it changes the next. Certainly "
            f"{SCORES['certified_mutual_information'].symbol} {certified:.3f} nats, λ is "
            f"{threshold.value:.3f}."
        )
    elif not enough_seen(sampled_mass, clusters, threshold.least_mass):
        decision = Decision.TOO_LITTLE
        reason = (
            f"The samples hold only {sampled_mass:.1%} of the probability: too little to say "
            f"what {score.doubt:.3f} nats of {symbol} over them mean. Sample more."
        )
    elif score.doubt >= threshold.value:
        decision = Decision.ABSTAIN
        reason = (
            "The model does not know: told one answer, it changes the next. "
            f"{symbol} is {score.doubt:.3f} nats, λ is {threshold.value:.3f}."
        )
    else:
        decision = Decision.ANSWER
        spread = scores["semantic_entropy"].value or 0.0
        what = (
            "It has many answers, and telling it one does not change the others"
            if spread > 0.7
            else "Telling the model an answer hardly changes what it says next"
        )
        reason = f"{what}: {symbol} is {score.doubt:.3f} nats, λ is {threshold.value:.3f}."
    return Verdict(decision, answer, reason, threshold)
