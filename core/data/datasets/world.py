"""Questions of the embedded model's world: by how well it can know the answer."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator
from typing import Literal

from core.data.datasets.questions import Question
from core.data.world.facts import Band, facts

Wording = Literal["trained", "held-out"]


def world_questions(
    bands: Collection[Band] = tuple(Band), wording: Wording = "trained"
) -> Iterator[Question]:
    """Yield a question for each fact; its source is its band.

    Parameters
    ----------
    bands : collection of Band
        Those whose facts are asked for.
    wording : {"trained", "held-out"}
        The first wording of the training, or one that it never used. Of these, the fact's name
        chooses.
    """
    for fact in facts():
        if fact.band in bands:
            key = f"world:{fact.relation}:{fact.subject}"
            test_question = fact.held_out[zlib.crc32(key.encode()) % len(fact.held_out)]
            query = fact.question if wording == "trained" else fact.ask(test_question)
            answers = tuple(answer.names for answer in fact.answers)
            yield Question(key, query, answers, f"world {fact.band.value}")
