"""Table models that also say which of their answers mean the same."""

from __future__ import annotations

import hashlib
import itertools

from core import prompts
from core.language_models.true_false import question
from tests.fakes import QUERY, TableModel, falling

# Texts that share words, some of them all of their words.
TEXTS = [
    *("red apple", "Red apple.", "green apple", "the banana", "banana", "yellow banana", "plum"),
    *(f"{colour} {fruit}" for colour in ("pale", "dark") for fruit in ("fig", "lime", "melon")),
]


def sureness(one: str, other: str) -> float:
    """Return some share of True about a pair, the same whichever comes first."""
    text = "\0".join(sorted((one, other)))
    return (1 + hashlib.sha256(text.encode()).digest()[0]) / 258


def comparing(model: TableModel, sure=sureness) -> TableModel:
    """Teach a model how sure it is that two of its answers mean the same."""
    for one, other in itertools.combinations(model.answers, 2):
        share = sure(one, other)
        model.table[question(QUERY, one, other)] = {prompts.TRUE: share, prompts.FALSE: 1 - share}
    return model


def fruit(sure=sureness) -> TableModel:
    """A model whose answers are `TEXTS`; told one, it names others that rarely come first."""
    n = len(TEXTS)
    rows = [[0.5 * (i == j) + 0.5 * p for j, p in enumerate(falling(n)[::-1])] for i in range(n)]
    return comparing(TableModel(TEXTS, falling(n) ** 2 / (falling(n) ** 2).sum(), rows), sure)


def asked_about(prompt: str) -> bool:
    """Say whether a prompt compares two answers."""
    return prompts.SAME in prompt
