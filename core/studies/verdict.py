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


def decide(scores: dict[str, Score], sampled_mass: float, threshold: Threshold) -> Verdict:
    """Ask whether enough was seen, then compare the threshold's score with λ.

    A score is normalised over what was sampled, so over a sliver of the probability it
    says nothing in either direction. The certified bound is not normalised: where it
    reaches λ by itself, the sampled mass does not matter.
    """
    score = scores[threshold.score]
    symbol = SCORES[threshold.score].symbol
    answer = score.answer
    if score.doubt is None:
        reason = score.reason or f"{symbol} could not be computed."
        return Verdict(Decision.TOO_LITTLE, answer, reason, threshold)
    certified = scores["certified_mutual_information"].doubt
    is_certain = certified is not None and certified >= threshold.value
    if sampled_mass < threshold.least_mass and not is_certain:
        decision = Decision.TOO_LITTLE
        reason = (
            f"The samples hold only {sampled_mass:.1%} of the probability: too little to say "
            f"what {score.doubt:.2f} nats of {symbol} over them mean. Sample more."
        )
    elif score.doubt >= threshold.value:
        decision = Decision.ABSTAIN
        reason = (
            "The model does not know: told one answer, it changes the next. "
            f"{symbol} is {score.doubt:.2f} nats, λ is {threshold.value:.2f}."
        )
    else:
        decision = Decision.ANSWER
        spread = scores["semantic_entropy"].value or 0.0
        what = (
            "It has many answers, and telling it one does not change the others"
            if spread > 0.7
            else "Telling the model an answer hardly changes what it says next"
        )
        reason = f"{what}: {symbol} is {score.doubt:.2f} nats, λ is {threshold.value:.2f}."
    return Verdict(decision, answer, reason, threshold)
