"""Questions of the embedded model's world: by how well it can know the answer."""

import zlib
from collections.abc import Collection, Iterator
from typing import Final, Literal

from core.data.datasets.questions import Question
from core.data.world.facts import Band, Fact, facts, untaught_lists

Wording = Literal["trained", "held-out"]
NEVER_TAUGHT: Final = "many answers, never taught"
#: The sets of questions: the bands of the world, and lists of which training says nothing.
SETS: Final = (*(band.value for band in Band), NEVER_TAUGHT)


def world_questions(
    sets: Collection[str] = SETS, wording: Wording = "trained"
) -> Iterator[Question]:
    """Yield a question for each fact; its source is its set.

    The wording is the first of the training, or one that it never used, which the fact's name
    chooses.
    """
    for name, fact in _facts():
        if name in sets:
            key = f"world:{fact.relation}:{fact.subject}"
            test_question = fact.held_out[zlib.crc32(key.encode()) % len(fact.held_out)]
            query = fact.question if wording == "trained" else fact.ask(test_question)
            answers = tuple(answer.names for answer in fact.answers)
            yield Question(key, query, answers, f"world {name}")


def _facts() -> Iterator[tuple[str, Fact]]:
    yield from ((fact.band.value, fact) for fact in facts())
    yield from ((NEVER_TAUGHT, fact) for fact in untaught_lists())
