"""What may be said of an answer, and why: it follows from what was certified, for what.

A `DecisionRule` is what a policy says here: λ, and what it promises. Without one nothing is
promised, and the answer is at most “Perhaps”. “Believe it.” takes more than a doubt below λ: the
answer has to *stand*, which means that telling the model another one hardly changes it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.abstention.policy import Belief, Policy
from core.codec import list_of, no_more, one_line
from core.studies.inspection.certificates import (
    SCORE,
    WEIGHTED,
    strictest_least_mass,
    usual_least_mass,
)
from core.uncertainty.no_answer import is_no_answer
from core.uncertainty.scores import SCORES, Score

LEAST_MASS_ALONE = 0.5  # when all answers say the same
MOST_TO_KEEP = 0.1  # of the largest M.I. possible: above, an answer changes the next one
WIDTH = 3.6  # λ: of the default one, all that M.I. of the 8 likeliest answers can be, ln 8
LEAST_KEPT = 0.5  # how likely a model that knows gives its only answer again, told others
# A promise of more errors, or with less confidence, is no reason to believe an answer.
LARGEST_ERROR, LEAST_CONFIDENCE = 0.1, 0.9
CERTIFIED = "certified_mutual_information"
INFORMED = (SCORE, WEIGHTED)  # the scores that hold M.I., and are raised with it
FLAT = ("semantic_entropy", "pair_covariance")  # which are 0 of a single answer, and not raised
NO_ANSWER = "It gives no answer."
DEFAULT = "Default policy."  # with what the origin of a bundled policy's rule begins


# What else a model was told that gives a single answer, and how likely it is to keep to it then.
Others = Sequence[tuple[str, float]]


class Decision(StrEnum):
    """What to do with the model's answer."""

    ANSWER = "answer"
    ABSTAIN = "abstain"
    TOO_LITTLE = "too little sampled"
    UNDECIDED = "undecided"


class Headline(StrEnum):
    """What stands above an answer; `Inspection.headline` chooses it.

    The values are those of JSON and the command line.
    """

    BELIEVE = "answer"
    PERHAPS = "perhaps"
    ABSTAIN = "abstain"
    TOO_LITTLE = "too little sampled"
    UNDECIDED = "undecided"
    UNTAUGHT = "not near anything this model was taught"


@dataclass(frozen=True)
class DecisionRule:
    """When to abstain, and what that promises."""

    # λ: abstain at this much doubt or more. Infinity answers whatever has a doubt.
    value: float
    least_mass: float  # the sampled mass below which a low score means nothing, in [0, 1]
    score: str = SCORE  # the score that is compared, a key of `SCORES`
    origin: str = ""  # where the numbers come from, as a sentence
    # The share of wrong answers among those served that is promised not to be exceeded; None where
    # nothing is promised.
    error: float | None = None
    belief: Belief | None = None  # what is promised of the answers that stand, beside that
    # How many labelled answers it serves that do not stand, and how many of these are wrong.
    perhaps: tuple[int, int] | None = None


@dataclass(frozen=True)
class Verdict:
    """A decision, the answer it is about, and why, in words and in numbers."""

    decision: Decision
    answer: str
    why: str
    rule: DecisionRule | None  # what decided; None where nothing is certified for this pipeline
    # Whether the certificate, the doubt and the answer allow to say “Believe it.”
    firm: bool = False
    measured: str = ""  # the numbers, which the scale of doubt shows

    @property
    def reason(self) -> str:
        """Why it is so, with the numbers."""
        return f"{self.why} {self.measured}".rstrip()

    @property
    def score(self) -> str:
        """The score whose answer this is, a key of `SCORES`."""
        return self.rule.score if self.rule else SCORE


def rule_of(policy: Policy, origin: str = "") -> DecisionRule:
    """Return how a policy decides here; a promise of other errors than of answers is none.

    Nor is one of answers that stand where another score than M.I. decides: only M.I. says which do.

    Nothing decides where less was seen than any calibration here takes: its pipeline differs.
    """
    least_mass = max(usual_least_mass(), policy.pipeline.least_mass if policy.pipeline else 0.0)
    promises = policy.method == "ltt" and (policy.confidence or 0) >= LEAST_CONFIDENCE
    belief = policy.belief if promises and policy.score == SCORE else None
    return DecisionRule(
        policy.threshold,
        least_mass,
        policy.score,
        f"{origin}{policy.sentence}",
        policy.target_error if promises else None,
        belief,
        (policy.answered - belief.answered, policy.errors - belief.errors) if belief else None,
    )


def enough_seen(sampled_mass: float, clusters: int, least_mass: float) -> bool:
    """Say whether a score over the answers that were found means anything.

    A score is normalised over what was found, so over a sliver of the probability it
    says nothing in either direction. A single cluster makes every mutual information 0,
    whatever the model knows: there it takes half of the probability.
    """
    return sampled_mass >= (least_mass if clusters > 1 else max(least_mass, LEAST_MASS_ALONE))


def repeat_probability(others: Others) -> float:
    """Return how likely a model gives its only answer again after others, on average; else 1."""
    return sum(share for _, share in others) / len(others) if others else 1.0


def surprise(others: Others) -> float:
    """Return how far a model turns from its only answer when told others, nats; 0 if it keeps it.

    With a single answer, mutual information is 0 whatever the model knows, because it was only
    told what it had said. So it is told others as well. It is −ln of `repeat_probability`, where
    that is below `LEAST_KEPT`.
    """
    share = repeat_probability(others)
    return 0.0 if share >= LEAST_KEPT else -math.log(max(share, sys.float_info.min))


def least_share(limit: float) -> float:
    """Return how likely a single answer is given again, at least, where its doubt is below λ."""
    return min(LEAST_KEPT, math.exp(-limit))


def doubt_of(
    scores: Mapping[str, Score],
    name: str,
    sampled_mass: float,
    clusters: int,
    least_mass: float,
    others: Others = (),
) -> float | None:
    """Return the doubt that a threshold is compared with; None abstains.

    It is missing where too little was seen, whatever the score says. Mutual information, also in
    the weighted doubt, is raised to what is certified and to the `surprise`, where the estimate
    lies below them.
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
    if doubt is None or name not in INFORMED:
        return doubt
    information, certified = scores[SCORE].doubt, scores[CERTIFIED].doubt
    assert information is not None  # the weighted doubt has a part of each
    raised = max(information, surprise(others), -math.inf if certified is None else certified)
    return raised if name == SCORE else doubt + (raised - information)


def decide(
    scores: Mapping[str, Score],
    sampled_mass: float,
    clusters: int,
    rule: DecisionRule | None,
    others: Others = (),
    *,
    veto: str | None = None,
    remainder: float = 1.0,
) -> Verdict:
    """Compare what is certain, then ask whether enough was seen, then compare the score.

    The certified bound is not normalised, and γ does not touch it: where it reaches λ by
    itself, neither the sampled mass nor the estimate matters. With a rule, it answers exactly
    when `doubt_of` is below λ, no `veto` forbids it (a sentence), and the text is an answer.
    Without, nothing is certified: then an answer that stands is served without a promise, if half
    of its probability is the `remainder` where the model is told its other answers.
    """
    score = scores[rule.score if rule else SCORE]
    if score.doubt is None:
        symbol = SCORES[rule.score if rule else SCORE].symbol
        reason = score.reason or f"{symbol} could not be computed."
        return Verdict(Decision.TOO_LITTLE, score.answer, reason, rule)
    about = _About(scores, sampled_mass, clusters, others, remainder)
    decision, why, measured, firm = about.by_rule(rule) if rule else about.without_rule()
    if is_no_answer(score.answer) and decision in (Decision.ANSWER, Decision.UNDECIDED):
        decision, veto = Decision.ANSWER, NO_ANSWER
    if decision is Decision.ANSWER and veto:
        decision, why, measured, firm = Decision.UNDECIDED, veto, "", False
    return Verdict(decision, score.answer, why, rule, firm, measured)


def stands(scores: Mapping[str, Score], clusters: int, others: Others = ()) -> bool:
    """Say whether telling the model another answer hardly changes the next one.

    Of several answers, M.I. and its certified bound are at most `MOST_TO_KEEP` of the largest
    possible. A single one was told others, and is kept to; so is one that may be single, in several
    wordings.
    """
    keeps = repeat_probability(others) >= LEAST_KEPT
    if clusters == 1 or not keeps:
        return bool(others) and keeps
    doubt = scores[SCORE].doubt
    certified = scores[CERTIFIED].doubt or 0.0
    return doubt is not None and max(doubt, certified) <= largest_that_stands(clusters)


def largest_that_stands(clusters: int) -> float:
    """Return the largest M.I. at which one of several answers, two at least, stands; nats."""
    return MOST_TO_KEEP * math.log(max(clusters, 2))


def scale_end(limit: float, doubt: float, *, least: float = 0.3) -> float:
    """Return where the scale of doubt ends: behind `WIDTH` λ and a doubt up to 5 λ, in its unit."""
    most = 5 * limit if limit > 0 else math.inf
    return 1.08 * max(WIDTH * limit if limit > 0 else least, min(doubt, most))


def belief_limit(
    scores: Mapping[str, Score], clusters: int, rule: DecisionRule | None, others: Others = ()
) -> float | None:
    """Return the doubt up to which an answer may be believed, nats.

    Of several, it is their M.I.; of a single one 0, for it is kept or it is not. None where none
    can be, whatever its doubt, or where another score decides.
    """
    single = clusters == 1
    if rule is None or rule.belief is None or rule.score != SCORE or (single and not others):
        return None
    promises = rule.error is not None and rule.error <= LARGEST_ERROR
    withholds = single or rule.value <= largest_doubt(scores, SCORE)
    if not (promises and withholds) or repeat_probability(others) < LEAST_KEPT:
        return None
    return min(0.0 if single else largest_that_stands(clusters), rule.belief.threshold)


def largest_doubt(scores: Mapping[str, Score], name: str) -> float:
    """Return the doubt of a model that only repeats what it is told: M.I. is the entropy then."""
    spread, doubt, information = (scores[s].doubt for s in ("semantic_entropy", name, SCORE))
    if name not in INFORMED or spread is None or doubt is None or information is None:
        return math.inf
    return spread + doubt - information


@dataclass(frozen=True)
class _About:
    """What was seen of one question.

    Each method decides, and returns why in words, what was measured, and how firmly.
    """

    scores: Mapping[str, Score]
    sampled_mass: float
    clusters: int
    others: Others
    remainder: float

    def by_rule(self, rule: DecisionRule) -> tuple[Decision, str, str, bool]:
        name, limit = rule.score, rule.value
        doubt = self._doubt(name)
        if name == WEIGHTED:  # M.I. in it counts for what is certified, or known of its only answer
            doubt = raised_doubt(self.scores, name, self.others) or doubt
        digits = digits_apart(doubt, limit)
        measured = f"{SCORES[name].symbol} is {_display(name, doubt, digits)}"
        at_least = f"at least λ = {_display(name, limit, digits)}"
        close = " The doubt is near the limit." if _is_close(doubt, limit) else ""
        certified = self.scores[CERTIFIED].doubt
        if name in INFORMED and certified is not None and certified >= limit:
            digits = 3 if float(no_more(certified)) >= float(f"{limit:.3f}") else 5
            bound = (
                f"The certified lower bound, {no_more(certified, digits)} nats, is at least "
                f"λ = {limit:.{digits}f}."
            )
            return Decision.ABSTAIN, _FOLLOWS + close, bound, False
        if not enough_seen(self.sampled_mass, self.clusters, rule.least_mass):
            return Decision.TOO_LITTLE, *self._too_little(name), False
        if doubt >= limit:
            why = _FOLLOWS if name == SCORE else "The doubt is too large."
            parts = self._parts(doubt) if name == WEIGHTED else ""
            return Decision.ABSTAIN, f"{why}{parts}{close}", f"{measured}, {at_least}.", False
        if name == SCORE and surprise(self.others) >= limit:
            why = f"{_repeats(self.others)}, so it does not know.{close}"
            turned = _display(name, surprise(self.others))
            return Decision.ABSTAIN, why, f"The doubt is {turned} (−ln p), {at_least}.", False
        held_back = self._objection(rule)
        what = self._what_it_keeps() if name in INFORMED else "The doubt is small enough"
        if name in FLAT and self.clusters == 1:
            what = "A single answer was found, so this doubt is 0 whatever it is told"
        why = " ".join(filter(None, (f"{what}.{close}", held_back)))
        below = f"{measured}, below λ = {_display(name, limit, digits)}."
        return Decision.ANSWER, why, below, held_back is None

    def without_rule(self) -> tuple[Decision, str, str, bool]:
        """Decide by what every answer has to meet, where nothing is certified."""
        most = largest_that_stands(self.clusters)
        certified = self.scores[CERTIFIED].doubt
        if certified is not None and certified > most:
            bound = (
                f"The certified lower bound, {no_more(certified)} nats, is more than a tenth of "
                "the largest M.I. possible."
            )
            return Decision.ABSTAIN, _FOLLOWS, bound, False
        if not enough_seen(self.sampled_mass, self.clusters, strictest_least_mass()):
            return Decision.TOO_LITTLE, *self._too_little(SCORE), False
        what, measured = self._what_it_keeps(), f"M.I. is {_display(SCORE, self._doubt(SCORE))}."
        if self._keeps():
            return Decision.ANSWER, f"{what}.", measured, False
        unknown = f"{what}. How much of that is too much, nobody measured."
        return Decision.UNDECIDED, unknown, measured, False

    def _keeps(self) -> bool:
        """Say whether an answer stands, and not only because all others are rare.

        M.I. is small then, though it may be all that it could be: the model follows each of them.
        """
        keeps = stands(self.scores, self.clusters, self.others)
        return keeps and self.remainder >= LEAST_KEPT

    def _doubt(self, name: str) -> float:
        doubt = self.scores[name].doubt
        assert doubt is not None  # `decide` has looked
        return doubt

    def _parts(self, doubt: float) -> str:
        """Say how much of a weighted doubt is M.I., and what the rest is."""
        information = raised_doubt(self.scores, SCORE, self.others) or 0.0
        return (
            f" M.I. is {information:z.3f} nats of it, self-verification and the probability that "
            f"was not seen {doubt - information:z.3f}."
        )

    def _too_little(self, name: str) -> tuple[str, str]:
        return (
            f"The answers found cover only {self.sampled_mass:.1%} of the model’s probability, "
            "too little to judge.",
            f"{SCORES[name].symbol} is {_display(name, self._doubt(name))}.",
        )

    def _objection(self, rule: DecisionRule) -> str | None:
        """Say why an answer below λ is no more than a “Perhaps”; None where nothing is against it.

        An empty sentence: what follows from its numbers, the report says.
        """
        if rule.error is None:
            sure = f"{LEAST_CONFIDENCE:.0%} confidence"
            return f"Nothing promises with {sure} that answers are right{SO_PERHAPS}"
        if rule.error > LARGEST_ERROR:
            return ""
        most = largest_doubt(self.scores, rule.score)
        if self.clusters > 1 and rule.value > most:
            return (
                "Even if it only repeated what it is told, its doubt would be "
                f"{_display(rule.score, most)} at most, below the limit{SO_PERHAPS}"
            )
        if not self._keeps():
            return ""
        if rule.belief is None:
            return f"This policy promises nothing of answers that stand{SO_PERHAPS}"
        doubt = raised_doubt(self.scores, rule.score, self.others)
        if doubt is None or doubt >= rule.belief.threshold:
            return (
                "Too many of the answers with so much doubt are wrong: to believe one takes less "
                f"than {_display(rule.score, rule.belief.threshold)}."
            )
        return None

    def _what_it_keeps(self) -> str:
        """Say what the model keeps to, whatever it is told, by how many answers it has."""
        if self.clusters == 1:
            if not self.others:
                return "The model gives a single answer, and was told no other"
            return _repeats(self.others)
        if not self._keeps():
            return "Telling the model another answer changes what it says"
        if (self.scores["semantic_entropy"].value or 0.0) > MANY:
            return (
                f"Several of its {self.clusters} answers may be right: told one, it goes on giving "
                "the others"
            )
        return "Telling the model its other answers hardly changes what it says"


_FOLLOWS = "What the model is told changes what it says, so it does not know."
SO_PERHAPS = ", so “Perhaps”."
MANY = 0.7  # nats of semantic entropy: above, a model has several answers; ln 2 are two alike


def digits_apart(doubt: float, *limits: float | None, least: int = 3) -> int:
    """Return how many digits tell a doubt from each limit, so that no 0.581 lies below 0.581."""
    for digits in (least, 3):
        if f"{doubt:.{digits}f}" not in {f"{x:.{digits}f}" for x in limits if x is not None}:
            return digits
    return 5


def _is_close(doubt: float, limit: float) -> bool:
    """Whether another setting might well have decided otherwise: within a tenth of λ."""
    return math.isfinite(limit) and abs(doubt - limit) <= 0.1 * abs(limit)


def _repeats(others: Others) -> str:
    """Say what else the model was told, and how likely it then says something else."""
    names = list_of([f"“{one_line(text)}”" for text, _ in others], "or", most=len(others))
    mean, (other, least) = repeat_probability(others), min(others, key=lambda pair: pair[1])
    sentence = f"Told {names}, the model says something else {change_in_words(mean)} of the time"
    if len(others) == 1:
        return sentence
    worst = (
        f", told “{one_line(other)}” {change_in_words(least)}" if least < LEAST_KEPT <= mean else ""
    )
    return f"{sentence} on average{worst}"


def change_in_words(share: float) -> str:
    """Return how likely another answer is, no less than it is, where its own has that `share`."""
    return f"{(1000 - math.floor(1000 * share)) / 10:.3g}%" if share >= 0.01 else "more than 99%"


def beside_limit(
    doubt: float, limit: float, belief: float | None = None, share: float | None = None
) -> str:
    """Return a doubt beside the limit that gave its word: λ or, where it is believed, `belief`.

    `share`: how likely a single answer is given again; its doubt is how likely another one is.
    """
    if share is not None:
        least = LEAST_KEPT if belief is not None else least_share(limit)
        sign = "≤" if share >= least else ">"
        return f"doubt {change_in_words(share)} {sign} limit {change_in_words(least)}"
    sign = "≤" if belief is not None else "≥" if doubt >= limit else "<"
    border = limit if belief is None else belief
    digits = digits_apart(doubt, border, least=2)
    return f"doubt {doubt:.{digits}f} {sign} limit {border:.{digits}f}".replace("-", "−")


def _display(name: str, doubt: float, digits: int = 3) -> str:
    """Return a doubt with its unit; of a probability it is −ln p."""
    value = "∞" if math.isinf(doubt) else f"{doubt:z.{digits}f}"
    suffix = {"nats": " nats", "probability": " (−ln p)"}
    return value + suffix.get(SCORES[name].unit, "")
