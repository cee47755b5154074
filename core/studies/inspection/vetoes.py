"""What forbids to serve an answer however small its doubt is, each as a sentence.

A doubt is computed from the answers that are there, and from nothing else. Where they are few
of those given, no answers at all, or cannot all count, it is small for another reason than that
the model knows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, combinations

import numpy as np

from core.codec import one_line
from core.language_models.language_model import Response
from core.studies.inspection.certificates import strictest_least_mass
from core.studies.inspection.recording import EXACT, UNLIKELY, Recording
from core.studies.inspection.verdict import LEAST_KEPT, MOST_TO_KEEP, largest_that_stands
from core.uncertainty.evidence import Evidence
from core.uncertainty.logarithms import entropy
from core.uncertainty.no_answer import is_no_answer
from core.uncertainty.same_answer import contradict, form_of, same_answer
from core.uncertainty.similarity import JUDGE, SAME_ANSWER, tokens

MOST_MISSING = 0.1  # of the answers: with more, those that are there may not speak for all
AT_ODDS = 0.05  # of what was found: so much of two answers counted as one is no slip
SILENCE = "nothing at all"
_YES = ("true", "correct", "ja", "oui", "si", "sim", "tak", "да", "evet", "是", "对", "はい")
_NO = (
    *("false", "incorrect", "nein", "nee", "nej", "non", "nao", "nie"),
    *("нет", "否", "不是", "いいえ"),
)
_SIDES = dict.fromkeys(_YES, True) | dict.fromkeys(_NO, False)


def veto(
    recording: Recording, evidence: Evidence, answer: str, similarity: str, *, certified: bool
) -> str | None:
    """Return why `answer` is not served, or None where nothing is against it.

    `certified`: whether a policy decides that promises something of such answers by its labels.
    """
    return next(_vetoes(recording, evidence, answer, similarity, certified), None)


def _vetoes(
    recording: Recording, evidence: Evidence, answer: str, similarity: str, certified: bool
) -> Iterator[str]:
    yield from _mergers(evidence, similarity)
    yield from _missing(recording)
    yield from _silent(recording.question, evidence)
    alone = evidence.log_first[_place(evidence, answer)]
    rare = -math.inf if certified else evidence.log_first.max() + math.log(LEAST_KEPT)
    if alone < rare or np.isneginf(alone):
        yield f"“{one_line(answer)}” mostly came after other answers."
    if certified:
        return
    plain = evidence.unstabilised.value
    if evidence.parameters.gammas and plain > largest_that_stands(evidence.answers):
        yield f"Without γ, M.I. is {plain:.3f} nats, and γ alone makes no answer stand."
    if (seen := _seen_again(evidence)) < strictest_least_mass():
        yield f"With an answer in the prompt, {1 - seen:.1%} of what it says was not compared."
    yield from _opposites(evidence)
    if answer in {each.text for each in recording.samples if not each.complete}:
        yield "A cut answer may go on in several ways."


def remainder(evidence: Evidence, answer: str) -> float:
    """Return how much of an answer's probability is left where the model is told its other ones.

    On average over these, each as often as the model gives it; 1 where there are none, or M.I.,
    whatever γ makes of it, is at most a tenth of what it could be, the entropy of the first.
    """
    if evidence.unstabilised.value <= MOST_TO_KEEP * entropy(evidence.log_first):
        return 1.0
    place, first = _place(evidence, answer), np.exp(evidence.log_first)
    after = np.exp(evidence.log_second_given_first[:, place])
    if evidence.row_masses is not None:
        after = after * np.minimum(evidence.row_masses, 1.0)
    own, first[place] = first[place], 0.0
    return float(first @ after / first.sum() / own) if own and first.any() else 1.0


def _place(evidence: Evidence, answer: str) -> int:
    """Return the cluster of a text that is served: the greedy one may be no centre."""
    texts = evidence.responses
    return int(evidence.labels[texts.index(answer)]) if answer in texts else 0


def _mergers(evidence: Evidence, similarity: str) -> Iterator[str]:
    """Say which answers of one cluster cannot be one, where both count.

    Of what the model itself compared, only numbers, signs, negations and dates speak against it:
    it may know that two names are one's.
    """
    differ = contradict if similarity == JUDGE else lambda a, b: not same_answer(a, b)
    ours = "" if similarity == SAME_ANSWER else "the similarity “same answer”, or "
    shares = np.exp(evidence.log_marginal - evidence.log_marginal.max())
    shares, texts = shares / shares.sum(), evidence.responses
    pairs = [*combinations(np.flatnonzero(shares > AT_ODDS), 2)]
    for place, centre in enumerate(evidence.centres):  # many may be unlike it, each of them rare
        own = np.flatnonzero(evidence.labels == place)
        unlike = [other for other in own if differ(texts[centre], texts[other])]
        if shares[unlike].sum() > AT_ODDS:
            pairs.append((centre, unlike[0]))
    for first, second in pairs:
        a, b = texts[first], texts[second]
        if evidence.labels[first] == evidence.labels[second] and differ(a, b):
            yield (
                f"“{one_line(a)}” and “{one_line(b)}” count as one answer here, and they are not "
                f"the same. Choose {ours}a τ nearer 1."
            )


def _missing(recording: Recording) -> Iterator[str]:
    """Say that too many answers are missing to serve one of the others."""
    gaps = {why: count for why, count in recording.gaps.items() if why != UNLIKELY}
    of = len(recording.samples)
    if recording.estimator in EXACT:  # which knows how likely it is to say nothing
        of -= gaps.pop(SILENCE, 0)
    yield from _too_many(gaps, of, "answers")
    seconds = [*chain.from_iterable(recording.seconds)]
    yield from _too_many(_gaps_of(seconds), len(seconds), "second answers")


def _gaps_of(responses: Sequence[Response]) -> dict[str, int]:
    reasons = (each.refusal and f"withheld: {each.refusal}" for each in responses if not each.text)
    return dict(Counter(why or SILENCE for why in reasons).most_common())


def _too_many(gaps: dict[str, int], of: int, what: str) -> Iterator[str]:
    if (missing := sum(gaps.values())) > MOST_MISSING * of:
        yield f"{missing:,} of {of:,} {what} are missing: {', '.join(gaps)}."


def _silent(question: str, evidence: Evidence) -> Iterator[str]:
    """Say that much of what it says is no answer, whether it is told one or not."""
    words = tokens(question)
    for place, text in enumerate(evidence.centre_texts):
        none = is_no_answer(text) or tokens(text) == words
        share = float(np.exp(max(evidence.log_first[place], evidence.log_second[place])))
        if none and share > MOST_MISSING:
            yield f"{share:.0%} of its answers are “{one_line(text)}”, which is none."


def _seen_again(evidence: Evidence) -> float:
    """Return how likely it gives one of its answers again, told one of them, in [0, 1]."""
    if evidence.row_masses is not None:
        return float(np.exp(evidence.log_first) @ np.minimum(evidence.row_masses, 1.0))
    return float(np.exp(evidence.log_second[np.isfinite(evidence.log_first)]).sum())


def _opposites(evidence: Evidence) -> Iterator[str]:
    """Say that it gives two answers of which only one can be right."""
    weighty = np.flatnonzero(np.exp(evidence.log_first) > MOST_MISSING)
    texts = [evidence.centre_texts[place] for place in weighty]
    for one, other in combinations(texts, 2):
        if _is_denied(one, other):
            yield f"“{one_line(one)}” and “{one_line(other)}” exclude each other."


def _is_denied(one: str, other: str) -> bool:
    """Whether one answer says yes and the other no, or one is the other with a “not”."""
    forms = form_of(one), form_of(other)
    says_yes = {_SIDES.get(form.one_word, form.hard.yes) for form in forms}
    negations = {form.hard.negations for form in forms}
    return says_yes == {True, False} or (len(negations) > 1 and contradict(one, other))
