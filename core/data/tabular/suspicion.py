"""Scores that look as no score should: nothing is promised on them until a person vouches."""

import re
from collections.abc import Collection
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from core.codec import count_of, one_line
from core.data.tabular.directions import is_of_probability
from core.data.tabular.label_words import heading_words
from core.data.tabular.rows import UploadError

EACH = 10  # right and wrong answers from which on it is no chance that a score parts them all
_MISTAKES = 0.02  # of the rarer ones, right or wrong: a label that somebody mended, or copied badly
_SHARE = 0.05  # of the numbers, in each of two scales
_GAP = 5.0  # no number between 1 and this, where a heading does not say that they are shares
#: What a score is called that compares an answer with the right one, or is about that one.
_OF_RIGHT_ANSWERS = re.compile(
    r"\b(gold(en)?|references?|ground ?truth|oracle|target|rouge\w*|bleu\w*|bleurt|meteor|"
    r"bert ?score|f1|em|(exact|fuzzy|string|partial) ?match|match( score| value)?$|chr ?f\w*|"
    r"wer|cer|levenshtein|"
    r"edit distance|bem|human|annotators?|context (recall|precision)|"
    r"(answer|factual) similarity)\b|"
    r"^((answer|factual|response|final) )?(correctness|accuracy)( score)?$"
)
_SO = (
    ", which no new question brings along. Choose another score, or say that it was made without "
    "them."
)


class Claim(StrEnum):
    """What a person vouches for, as it goes on after the score's name."""

    ONE_SCALE = "has numbers of one scale"
    BLIND = "was made without a look at the right answers"


class SuspiciousScoreError(UploadError):
    """A score for which nobody vouches.

    `claim` is what a person would have to vouch for; `reading`, what the table was read as, a
    sentence each, as far as `labelled_rows` came.
    """

    def __init__(self, score: str, claim: Claim, why: str) -> None:
        super().__init__(why)
        self.score, self.claim = score, claim
        self.reading: tuple[str, ...] = ()


def vouched_claims(
    name: str,
    numbers: NDArray[np.float64],
    larger_is_surer: bool,
    right: NDArray[np.bool_],
    vouched: Collection[Claim],
) -> tuple[str, ...]:
    """Refuse a score of two scales, too good or named after right answers, unless one vouches.

    Returns what the promise rests on because a person said it, a sentence each. A number that is
    missing is NaN. Raises `SuspiciousScoreError`.
    """
    there = ~np.isnan(numbers)
    numbers, right = numbers[there], right[there]
    reasons = {
        Claim.ONE_SCALE: _mixed_scales(name, numbers, larger_is_surer),
        Claim.BLIND: _without_mistake(name, numbers if larger_is_surer else -numbers, right)
        or _by_right_answers(name),
    }
    suspicions = [claim for claim, why in reasons.items() if why]
    for claim in suspicions:
        if claim not in vouched:
            raise SuspiciousScoreError(name, claim, reasons[claim])
    return tuple(f"As you said, “{one_line(name)}” {claim}." for claim in suspicions)


def _by_right_answers(name: str) -> str:
    if not (word := _OF_RIGHT_ANSWERS.search(heading_words(name))):
        return ""
    return (
        f"“{one_line(name)}” has a name (“{word[0]}”) as if it was made from the right answers{_SO}"
    )


def _without_mistake(name: str, sureness: NDArray[np.float64], right: NDArray[np.bool_]) -> str:
    rights, wrongs = sureness[right], sureness[~right]
    is_copy = len(right) >= 2 * EACH and len(np.unique(sureness)) == 2  # of 0 and 100, say
    if min(len(rights), len(wrongs)) < (1 if is_copy else EACH):
        return ""
    numbers = f"{len(rights):,} right answers from {len(wrongs):,} wrong ones"
    so = f"A score this good is mostly the label itself, or was made from the right answers{_SO}"
    fewest = int(_MISTAKES * min(len(rights), len(wrongs)))
    _, at = np.unique(sureness, return_inverse=True)
    below, wrongs_below = np.cumsum(np.bincount(at))[:-1], np.cumsum(np.bincount(at, ~right))[:-1]
    mistakes = (below - wrongs_below) + (len(wrongs) - wrongs_below)  # by a cut above each value
    if mistakes.min(initial=len(right)) <= fewest:
        return f"“{one_line(name)}” separates {numbers} {_with(mistakes.min(), 1)}. {so}"
    if (len(right) - mistakes).min(initial=len(right)) <= fewest:
        return (
            f"“{one_line(name)}” separates {numbers} {_with(len(right) - mistakes.max(), 0)}, with "
            f"the wrong ones as the surer ones: the labels may be the other way around. {so}"
        )
    return ""


def _with(mistakes: float, area: int) -> str:
    if not mistakes:
        return f"without a mistake (AUROC {area})"
    return f"with {count_of(int(mistakes), 'mistake')}"


def _mixed_scales(name: str, numbers: NDArray[np.float64], larger_is_surer: bool) -> str:
    if not len(numbers) or numbers.min() < 0 or numbers.max() > 100:
        return ""
    shares, percents = (numbers > 0) & (numbers < 1), numbers > 1
    if not shares.any() or not percents.any():
        return ""
    if not (larger_is_surer and is_of_probability(name)):  # a doubt of that name is −ln p
        least = min(shares.mean(), percents.mean())
        if least < _SHARE or numbers[percents].min() < _GAP:
            return ""
    examples = f"{numbers[shares][0]:g} and {numbers[percents][0]:g}"
    return (
        f"“{one_line(name)}” seems to mix two scales, as it has {examples}: 0 to 1, and percent. A "
        "threshold would take them for one. Write all of it in one scale; or say so if it is in "
        "one."
    )
