"""Answer, abstain, or say that too little was seen: the decision and its plain reason.

The default is a policy like any other: certified by `benchmarks/default_policy.py` on labelled
questions of the embedded world, for the default settings and one of the models in the box. Any
other model is decided by the embedded model's, and told that nothing is promised for it.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from core.abstention.policy import Policy, policy_from_dict
from core.codec import shortened
from core.once import once
from core.uncertainty.scores import SCORES, Score

LEAST_MASS_ALONE = 0.5  # when all answers say the same
MOST_TO_KEEP = 0.1  # of the largest M.I. possible: above, an answer changes the next one
LEAST_KEPT = 0.5  # how likely a model that knows gives its only answer again, told others
EMBEDDED, SMOLLM2 = "embedded", "smollm2"  # the models with default policies of their own
SCORE, CERTIFIED = "mutual_information", "certified_mutual_information"


# What else a model was told that gives a single answer, and how likely it is to keep to it then.
Others = Sequence[tuple[str, float]]


class Decision(StrEnum):
    """What to do with the model's answer."""

    ANSWER = "answer"
    ABSTAIN = "abstain"
    TOO_LITTLE = "too little sampled"


@dataclass(frozen=True)
class DecisionRule:
    """When to abstain.

    Attributes
    ----------
    value : float
        λ: abstain at this much doubt or more. Infinity answers whatever has a doubt.
    least_mass : float
        The sampled mass below which a low score means nothing, in [0, 1].
    score : str
        The score that is compared, a key of `SCORES`.
    origin : str
        Where the numbers come from, as a sentence.
    """

    value: float
    least_mass: float
    score: str = SCORE
    origin: str = ""


@dataclass(frozen=True)
class Verdict:
    """A decision, the answer it is about, and one sentence why."""

    decision: Decision
    answer: str
    reason: str
    threshold: DecisionRule


def defaults_file(model: str) -> Path:
    """Return where a model's default policies are bundled; the embedded model's without any."""
    known = model if model in (EMBEDDED, SMOLLM2) else EMBEDDED
    return Path(__file__).parent / "default_policies" / f"{known}.json"


@once
def _policies_in(file: Path) -> dict[str, Policy | None]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return {name: None if found[name] is None else policy_from_dict(found[name]) for name in SCORES}


def default_policies(model: str = EMBEDDED) -> dict[str, Policy | None]:
    """Return the bundled policy of every score, by the keys of `SCORES`.

    All of a model are certified on the same questions for the same error and confidence; None
    where a score could not be: by it, one would never answer.
    """
    return _policies_in(defaults_file(model))


def default_policy(model: str = EMBEDDED) -> Policy:
    """Return the policy that decides unless a person brings another."""
    policy = default_policies(model)[SCORE]
    if policy is None:
        raise ValueError("The bundled default policy is missing: it must be certified.")
    return policy


def default_threshold(model: str = EMBEDDED) -> DecisionRule:
    """Return how the default policy decides."""
    policy = default_policy(model)
    return replace(threshold_of(policy), origin=f"Default policy. {policy.sentence}")


def default_thresholds(model: str = EMBEDDED) -> dict[str, float]:
    """Return every score's default threshold for a model; −∞ answers nothing."""
    return {
        name: -math.inf if policy is None else policy.threshold
        for name, policy in default_policies(model).items()
    }


def threshold_of(policy: Policy) -> DecisionRule:
    """Return how a policy decides here."""
    least_mass = policy.pipeline.least_mass if policy.pipeline else 0.0
    return DecisionRule(policy.threshold, least_mass, policy.score, policy.sentence)


def enough_seen(sampled_mass: float, clusters: int, least_mass: float) -> bool:
    """Say whether a score over the answers that were found means anything.

    A score is normalised over what was found, so over a sliver of the probability it
    says nothing in either direction. A single cluster makes every mutual information 0,
    whatever the model knows: there it takes half of the probability.
    """
    return sampled_mass >= (least_mass if clusters > 1 else max(least_mass, LEAST_MASS_ALONE))


def kept(others: Others) -> float:
    """Return how likely a model gives its only answer again after others, on average; else 1."""
    return sum(share for _, share in others) / len(others) if others else 1.0


def surprise(others: Others) -> float:
    """Return how far a model turns from its only answer when told others, nats; 0 if it keeps it.

    With a single answer, mutual information is 0 whatever the model knows, because it was only
    told what it had said. So it is told others as well. It is −ln of what is `kept`, where that
    is below `LEAST_KEPT`.
    """
    share = kept(others)
    return 0.0 if share >= LEAST_KEPT else -math.log(max(share, sys.float_info.min))


def doubt_of(
    scores: Mapping[str, Score],
    name: str,
    sampled_mass: float,
    clusters: int,
    least_mass: float,
    others: Others = (),
) -> float | None:
    """Return the doubt that a threshold is compared with; None abstains.

    It is missing where too little was seen, whatever the score says. Mutual information is
    raised to what is certified and to the `surprise`, where the estimate lies below them.
    Policies are calibrated on exactly this, so that what they promise holds for what `decide`
    does.
    """
    return (
        raised_doubt(scores, name, others)
        if enough_seen(sampled_mass, clusters, least_mass)
        else None
    )


def raised_doubt(scores: Mapping[str, Score], name: str, others: Others = ()) -> float | None:
    """Return the doubt of `doubt_of`, whether or not enough was seen to compare it."""
    doubt = scores[name].doubt
    if doubt is None or name != SCORE:
        return doubt
    certified = scores[CERTIFIED].doubt
    return max(doubt, surprise(others), -math.inf if certified is None else certified)


def decide(
    scores: Mapping[str, Score],
    sampled_mass: float,
    clusters: int,
    threshold: DecisionRule,
    others: Others = (),
) -> Verdict:
    """Compare what is certain, then ask whether enough was seen, then compare the score.

    The certified bound is not normalised, and γ does not touch it: where it reaches λ by
    itself, neither the sampled mass nor the estimate matters. It answers exactly when
    `doubt_of` is below λ.
    """
    name = threshold.score
    score, info = scores[name], SCORES[name]
    if score.doubt is None:
        reason = score.reason or f"{info.symbol} could not be computed."
        return Verdict(Decision.TOO_LITTLE, score.answer, reason, threshold)
    digits = 3 if f"{score.doubt:.3f}" != f"{threshold.value:.3f}" else 5
    measured = f"{info.symbol} is {_shown(name, score.doubt, digits)}"
    limit = _shown(name, threshold.value, digits)
    certified = scores[CERTIFIED].doubt
    if name == SCORE and certified is not None and certified >= threshold.value:
        decision = Decision.ABSTAIN
        reason = (
            "The model does not know: given one answer in the prompt, it changes the next. The "
            f"certified lower bound, {certified:.3f} nats, is at least λ = {threshold.value:.3f}."
        )
    elif not enough_seen(sampled_mass, clusters, threshold.least_mass):
        decision = Decision.TOO_LITTLE
        article = "an" if info.symbol[0] in "MS" else "a"  # M and S begin with a vowel's sound
        reason = (
            f"The answers found cover only {sampled_mass:.1%} of the model’s probability, too "
            f"little to interpret {article} {info.symbol} of {_shown(name, score.doubt)}. Compare "
            "more answers."
        )
    elif score.doubt >= threshold.value:
        decision = Decision.ABSTAIN
        why = (
            "The model does not know: given one answer in the prompt, it changes the next."
            if name == SCORE
            else "The doubt is too large."
        )
        reason = f"{why} {measured}, at least λ = {limit}."
    elif name == SCORE and surprise(others) >= threshold.value:
        decision = Decision.ABSTAIN
        reason = (
            f"The model does not keep to its only answer. {_kept(others)}, a doubt of "
            f"{_shown(name, surprise(others))} (−ln p), at least λ = {limit}."
        )
    else:
        decision = Decision.ANSWER
        spread = scores["semantic_entropy"].value or 0.0
        largest = math.log(max(clusters, 1))
        what = "The doubt is small enough"
        if name == SCORE and (clusters == 1 or score.doubt <= MOST_TO_KEEP * largest):
            what = _kept_to(spread, clusters, others)
        elif name == SCORE:
            what = "An answer given in the prompt changes the next one, though less than λ allows"
        reason = f"{what}: {measured}, below λ = {limit}."
        if name == SCORE and clusters > 1 and threshold.value > largest:
            reason += (
                f" With {clusters} answers M.I. cannot exceed {largest:.3f} nats, so this λ "
                "withholds none of them."
            )
    if decision is not Decision.TOO_LITTLE and _is_close(score.doubt, threshold.value):
        reason += " This is a close call."
    return Verdict(decision, score.answer, reason, threshold)


def _is_close(doubt: float, limit: float) -> bool:
    """Whether another setting might well have decided otherwise: within a tenth of λ."""
    return math.isfinite(limit) and abs(doubt - limit) <= 0.1 * abs(limit)


def _kept_to(spread: float, clusters: int, others: Others) -> str:
    """Say what the model keeps to, whatever it is told, by how many answers it has."""
    if spread > 0.7:
        return (
            "The model has several answers, and one given in the prompt does not change the others"
        )
    if clusters > 1:
        return "An answer given in the prompt hardly changes the next one"
    if others:
        return f"The model keeps to its only answer. {_kept(others)}"
    return "The model gives a single answer, and was told no other"


def _kept(others: Others) -> str:
    """Say what else the model was told, and how likely it then is to give its own answer."""
    *most, last = (f"“{shortened(text)}”" for text, _ in others)
    told = f"{', '.join(most)} or {last}" if most else last
    return f"Told {told}, it gives its own again with a probability of {kept(others):.2f}"


def _shown(name: str, doubt: float, digits: int = 3) -> str:
    """Return a doubt with its unit; of a probability it is −ln p."""
    value = "∞" if math.isinf(doubt) else f"{doubt:z.{digits}f}"
    suffix = {"nats": " nats", "probability": " (−ln p)"}
    return value + suffix.get(SCORES[name].unit, "")
