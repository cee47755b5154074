"""Counter-answers: what a model is told that is not its own answer.

An inspection tells them to a model that gives a single answer, and Home to any. A text of the
model is one only if a person would take it for an answer: whole, of the kind of the model's own,
and not a word of the question. Of the embedded model's world all answers are known by kind.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from rapidfuzz.distance import OSA

from core.data.world import grading
from core.data.world.facts import Fact, answers_beside, answers_of_its_kind, every_answer, names_of
from core.data.world.nearest import nearest
from core.studies.inspection.taught_questions import WORLD_OF
from core.uncertainty.no_answer import is_no_answer
from core.uncertainty.same_answer import form_of, same_answer
from core.uncertainty.similarity import tokens

#: How many counter-answers a single answer is tried with.
OTHERS: Final = 3

_GLUED = re.compile(r"[^\W\d_]\d|\d[^\W\d_]")  # "Leonardo2"
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|s)\b")  # "5th", "1920s"
_NUMBER = re.compile(r"\b\d")
_LIMITS = {"<", ">", "<=", ">="}
_SHORT = 4  # letters: of shorter words "Fe" and "He" differ as much as two answers do


def alike(text: str, texts: Sequence[str]) -> list[str]:
    """Return the texts that give the same answer as a text."""
    return [other for other in texts if same_answer(text, other)]


def may_be_one(text: str, texts: Sequence[str]) -> bool:
    """Whether each of the texts holds all words of a text, or has none besides.

    So they may be one answer in several wordings, where no rule can tell.
    """
    own = set(tokens(text.casefold()))
    return all(own <= words or words <= own for words in (set(tokens(t.casefold())) for t in texts))


def contradicts(text: str, query: str, answer: str) -> bool:
    """Return whether a text says something else than an answer, as far as words tell.

    Words of the question do not, nor all words of the answer, with others or without, nor what only
    rules answers out: “not London”, “more than 7”.
    """
    words, own, others = (set(tokens(each.casefold())) for each in (text, answer, query))
    is_part = bool(words) and (words <= others or words <= own or set() < own <= words)
    parts = form_of(text).hard
    has_limits = parts.negations or parts.hedges or _LIMITS & {*parts.signs}
    rules_out = has_limits and parts.yes is None
    return not (is_part or rules_out or is_no_answer(text) or alike(answer, [text]))


def counter_answers(
    query: str, model: str, answer: str, texts: Sequence[str], *, most: int = OTHERS
) -> list[str]:
    """Return what to tell a model that answers `answer`, the best first; maybe nothing.

    The embedded model's world knows what people take for the answer, which comes first, and which
    answers are of its kind: they fill up what `texts`, what it said besides, the likeliest first,
    lack.
    """
    fact = _fact(query) if model == WORLD_OF else None
    taken = set(_names_of(answer, model))
    chosen: list[str] = []
    for text in _order(texts, model, fact, answer):
        if len(chosen) == most:
            break
        if text not in taken and all(is_whole(text, query, own) for own in (answer, *chosen)):
            chosen.append(text)
            taken |= _names_of(text, model)
    return chosen


def _names_of(answer: str, model: str) -> frozenset[str]:
    return names_of(answer) if model == WORLD_OF else frozenset([answer])


def _fact(query: str) -> Fact | None:
    """Return the fact of the world that is asked for, or whose question is near."""
    if (fact := grading.find(query)) is not None:
        return fact
    closest = nearest(query)
    return closest.fact if closest is not None and closest.near else None


def _order(texts: Sequence[str], model: str, fact: Fact | None, answer: str) -> Iterator[str]:
    numeric = bool(_NUMBER.search(answer))  # numbers are a kind of their own
    if model != WORLD_OF:
        yield from (text for text in texts if bool(_NUMBER.search(text)) == numeric)
        return
    if fact is None:
        of_its_kind = answers_beside(names_of(answer))
    else:
        of_its_kind = answers_of_its_kind(fact)
        if fact.misconception:
            yield fact.misconception
    numbers = {text for text in texts if numeric and _NUMBER.search(text)} & every_answer()
    yield from (text for text in texts if text in of_its_kind or text in numbers)
    yield from of_its_kind


def is_whole(text: str, query: str, answer: str) -> bool:
    """Return whether a text is an answer of its own beside `answer`, and no slip of it.

    It is none if it says that there is none, is words of the question, has a digit glued to its
    letters where the answer has none, or if one of its words is a beginning or a misspelling of one
    of the answer's.
    """
    words = tokens(text)
    return (
        any(map(str.isalnum, text))
        and not is_no_answer(text)
        and not set(words) <= set(tokens(query))
        and not alike(answer, [text])
        and (_glue(answer) or not _glue(text))
        and not any(_slips(word, own) for word in words for own in tokens(answer))
    )


def _glue(text: str) -> bool:
    return bool(_GLUED.search(_ORDINAL.sub("", text)))


def _slips(word: str, own: str) -> bool:
    if min(len(word), len(own)) < _SHORT or not (word.isalpha() or own.isalpha()):
        return False
    return word.startswith(own) or own.startswith(word) or OSA.distance(word, own) <= 1
