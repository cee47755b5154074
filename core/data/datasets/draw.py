"""Random draws from a dataset that is larger than the memory, and random orders of it."""

import hashlib
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from core.data.datasets.questions import Question

MOST_IN_MEMORY: Final = 20_000  # questions that are ordered in the memory


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


def random_order(
    read: Callable[[], Iterable[Question]], number: int, seed: int = 0
) -> Iterator[Question]:
    """Yield all questions in a random order, which their ids and the seed decide.

    However many are taken, they are a random sample of all, so that a run that stops half way
    through a file sorted by difficulty says something of the whole file. About `MOST_IN_MEMORY`
    questions are in memory: of about `number` of them, `read` returns all once for each so many.
    """
    parts = max(-(-number // MOST_IN_MEMORY), 1)
    for part in range(parts):
        places = ((_place(question.id, seed), question) for question in read())
        chosen = [each for each in places if each[0] * parts >> 64 == part]
        yield from (question for _, question in sorted(chosen, key=lambda each: each[0]))


def _place(id: str, seed: int) -> int:
    content = f"{seed} {id}".encode(errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")
