"""A small model of questions known by heart and half known, for promises from the seed on."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core import prompts
from core.data.datasets.questions import Question
from core.language_models.language_model import Capabilities, LanguageModel, Response, prompt_seed

FIRST, OTHER = "the first", "another"
KNOWN_SHARE, WRONG_OF_KNOWN, WRONG_OF_HALF_KNOWN = 0.7, 0.02, 0.5


class HalfKnown(LanguageModel):
    """Knows some questions by heart, and half knows the others.

    Of a half-known question, a third of all draws of five are five times the same answer. Told the
    other answer, it mostly stays with the first: such questions then have a doubt of 0, too.
    """

    name, revision = "half known", "1"
    capabilities = Capabilities(scores_given_text=True)

    def __init__(self, known: Sequence[bool]) -> None:
        self.table: dict[str, dict[str, float]] = {}
        for i, by_heart in enumerate(known):
            query = question(i)
            self.table[prompts.iterative(query)] = _row(1.0 if by_heart else 0.8)
            for told, kept in ((FIRST, 0.95), (OTHER, 0.6)):
                row = _row(1.0 if by_heart else kept)
                self.table[prompts.iterative(query, [told])] = row
                asked = prompts.self_verification(query, told)
                self.table[asked] = {prompts.TRUE: 0.5, prompts.FALSE: 0.5}

    def sample(
        self, prompt: str, count: int, *, temperature: float = 1.0, seed: int = 0, first: int = 0
    ) -> list[Response]:
        p = self.table[prompt][FIRST]
        if temperature > 0:
            p = p ** (1 / temperature)
            p /= p + (1 - self.table[prompt][FIRST]) ** (1 / temperature)
        own = prompt_seed(seed, prompt)
        drawn = [np.random.default_rng([own, first + i]).random() < p for i in range(count)]
        return [Response(FIRST if it or not temperature else OTHER, True) for it in drawn]

    def log_likelihoods(
        self, prompts: Sequence[str], answers: Sequence[str]
    ) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return np.log(
                [[self.table[prompt][answer] for answer in answers] for prompt in prompts]
            )


def _row(first: float) -> dict[str, float]:
    return {FIRST: first, OTHER: 1 - first}


def question(i: int) -> str:
    return f"Question {i}?"


def drawn(seed: int, count: int) -> tuple[HalfKnown, list[Question]]:
    """Draw questions and right answers: most known, 2% of these and half of the others wrongly."""
    rng = np.random.default_rng(seed)
    known = rng.random(count) < KNOWN_SHARE
    wrong = rng.random(count) < np.where(known, WRONG_OF_KNOWN, WRONG_OF_HALF_KNOWN)
    right = (OTHER if each else FIRST for each in wrong)
    questions = [Question(str(i), question(i), ((name,),)) for i, name in enumerate(right)]
    return HalfKnown(known.tolist()), questions
