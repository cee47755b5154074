"""Models whose belief depends on nothing but how often they are told an answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from core.language_models.base import Capabilities, LanguageModel, Response
from core.language_models.errors import ModelError

TOLD = "answer to question Q is "


def times_told(prompt: str) -> int:
    """How many answers a prompt tells."""
    return prompt.count(TOLD)


class Turning(LanguageModel):
    """Scores: of two answers the first loses `pull` nats to the second at every repetition.

    Both together have the probability `mass`; before any repetition the first has `known`
    of it. `samples` is what it says when it is sampled, in turn. Every number of repetitions
    that it was asked about is kept in `asked`, one tuple a call.
    """

    revision = "1"
    capabilities = Capabilities(scores_given_text=True, seeded=True)

    def __init__(
        self,
        known: float = 0.8,
        pull: float = 0.1,
        *,
        mass: float = 0.9,
        samples: Sequence[str] = ("one", "two"),
    ) -> None:
        self.name = f"turning {known} {pull} {mass} {samples}"
        self.known, self.pull, self.mass, self.samples = known, pull, mass, samples
        self.asked: list[tuple[int, ...]] = []

    def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
        return [Response(self.samples[(first + i) % len(self.samples)], True) for i in range(count)]

    def log_likelihoods(self, prompts, answers):
        times = np.array([times_told(prompt) for prompt in prompts])
        self.asked.append(tuple(times.tolist()))
        odds = np.log(self.known / (1 - self.known)) - self.pull * times
        pair = np.column_stack([-np.logaddexp(0, -odds), -np.logaddexp(0, odds)])
        # Whatever comes behind the two has next to nothing.
        rest = np.full((len(times), max(0, len(answers) - 2)), -50.0)
        return np.log(self.mass) + np.column_stack([pair, rest])[:, : len(answers)]


class Counted(LanguageModel):
    """Cannot score: `says` gives the texts that it says in turn after so many repetitions.

    How many answers it has given is kept in `calls`.
    """

    revision = "1"
    capabilities = Capabilities(scores_given_text=False, seeded=True)

    def __init__(self, says: Callable[[int], Sequence[str]], name: str = "counted") -> None:
        self.name, self.says, self.calls = name, says, 0

    def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
        self.calls += count
        texts = self.says(times_told(prompt))
        return [Response(texts[(first + i) % len(texts)], True) for i in range(count)]

    def log_likelihoods(self, prompts, answers):
        raise ModelError("This model does not say how likely an answer is.")
