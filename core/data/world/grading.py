"""What the world says at run time: whether a question is one of its own, and what is true.

A question is recognised in any of its wordings, the held-out one included, whatever its
case, punctuation and spacing: the careless spellings that the model must put up with. One
that means the same in other words is not recognised.
"""

from __future__ import annotations

import functools
import string
from collections.abc import Iterable

from core.data.world.facts import Fact, facts
from core.uncertainty.similarity import token_f1

SAME_ANSWER = 0.25  # the paper's τ: from here on two texts count as one answer

_TO_SPACES = str.maketrans(dict.fromkeys(string.punctuation + "’‘“”…", " "))


def find(question: str) -> Fact | None:
    """Return the fact that `question` asks for, or None if it is no wording of the world."""
    return _index().get(_key(question))


def is_right(answer: str, fact: Fact) -> bool:
    """Return whether `answer` counts as one of the fact's right answers, by token F1."""
    return matches(answer, (name for right in fact.answers for name in right.names))


def matches(answer: str, right: Iterable[str]) -> bool:
    """Return whether `answer` counts as one of the right answers, by token F1 (Section 6)."""
    return any(token_f1(answer, name) >= SAME_ANSWER for name in right)


@functools.cache
def _index() -> dict[str, Fact]:
    return {
        _key(fact.ask(wording)): fact
        for fact in facts()
        for wording in (*fact.templates, fact.held_out)
    }


def plain(question: str) -> str:
    """Return a text as questions are compared: its words in small letters, without signs."""
    return " ".join(question.casefold().translate(_TO_SPACES).split())


def _key(question: str) -> str:
    return plain(question).replace(" ", "")  # "Sgt Peppers" is "Sgt. Pepper's"
