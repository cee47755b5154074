"""Answers as replies hold them, and whether the log-probabilities beside them can be believed."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.language_models.usage import CHARACTERS_A_TOKEN

ALIKE = 0.05  # nats that a token may differ by from one temperature to another


def shorten(line: str, limit: int) -> str:
    """Cut a line between two words where it is longer than `limit` tokens would be."""
    most = CHARACTERS_A_TOKEN * limit
    if len(line) <= most:
        return line
    words = line[: most + 1].rsplit(maxsplit=1)
    return words[0] if len(words) > 1 else line[:most]


def tokens(listed: Any) -> Iterator[tuple[str, float]]:
    """Yield tokens with their log-probabilities; rounding may bring one above 0."""
    for one in listed:
        token, value = one.get("token"), one.get("logProbability", 0.0)
        if isinstance(token, str) and type(value) in (int, float):
            yield token, min(float(value), 0.0)


def spells(tokens: Sequence[tuple[str, float]], text: str) -> bool:
    """Whether tokens are those of an answer, all with log-probabilities that are numbers."""
    spelt = "".join(token for token, _ in tokens).strip()
    return spelt.startswith(text.strip()) and all(math.isfinite(value) for _, value in tokens)


def total(tokens: Sequence[tuple[str, float]], length: int) -> float:
    """Return ln of the probability of an answer: of its first line, of so many characters.

    The token that ends it counts where it is listed.
    """
    seen, values = "", []
    for token, value in tokens:
        if len(seen.rstrip()) > length:  # behind an answer that was cut
            break
        seen = (seen + token).lstrip()
        values.append(value)
        if "\n" in seen:
            break
    return math.fsum(values)


def same(at_one: Mapping[str, float], at_half: Mapping[str, float]) -> bool:
    """Whether tokens are as likely at temperature 0.5: else they were divided by it."""
    both = [(at_one[token], at_half[token]) for token in at_one if token in at_half]
    apart = max(one for one, _ in both) - min(one for one, _ in both) if both else 0.0
    return apart > 2 * ALIKE and all(abs(one - half) <= ALIKE for one, half in both)
