"""A random draw from a dataset that is larger than the memory."""

from __future__ import annotations

import random
from collections.abc import Iterable

from core.data.datasets.questions import Question


def draw(questions: Iterable[Question], number: int, seed: int = 0) -> list[Question]:
    """Return so many questions, each choice of them equally likely, in their own order.

    A reservoir (Vitter 1985, Algorithm R): only the draw is in memory. The same questions in the
    same order give the same draw. There may be fewer questions than `number`.
    """
    # Of its methods, Python promises only this one to give the same numbers in later versions.
    uniform = random.Random(seed).random
    sample: list[tuple[int, Question]] = []
    for at, question in enumerate(questions):
        if at < number:
            sample.append((at, question))
        elif (place := int(uniform() * (at + 1))) < number:
            sample[place] = (at, question)
    return [question for _, question in sorted(sample, key=lambda each: each[0])]
