"""Ask a model many questions, some at the same time, in the order they were given."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from core.language_models.client.concurrency import questions_at_once, stream
from core.language_models.client.wrapper import Wrapper
from core.language_models.errors import ModelError
from core.language_models.language_model import LanguageModel, Response
from core.studies.inspection.request import InvalidRequestError
from core.studies.progress import Progress

A = TypeVar("A")
T = TypeVar("T")

Seldom = Callable[[], None]


def of_each(
    model: LanguageModel, items: Sequence[A], work: Callable[[A, Seldom], T], progress: Progress
) -> list[T]:
    """Return what `work` makes of every item, in their order, asking the model.

    It is given an item, and a function to call between two requests, which raises when nobody wants
    the result any more: `progress` may raise, see
    :func:`core.language_models.client.concurrency.stream`.

    Raises `InvalidRequestError` when there is no item.
    """
    if not items:
        raise InvalidRequestError("There is no question. Give at least one.")
    results: dict[int, T] = {}

    def say() -> None:
        progress(f"{len(results)} of {len(items)} questions done", len(results) / len(items))

    def one(place: int, go_on: Seldom) -> tuple[int, T]:
        with model.beside():
            return place, work(items[place], go_on)

    for place, result in stream(
        range(len(items)), one, workers=questions_at_once(model.capabilities), tick=say
    ):
        results[place] = result
    say()
    return [results[place] for place in range(len(items))]


class AskingOnce(Wrapper):
    """Asks no greedy answer and no score twice: draws of one question have most in common.

    Of a model on this machine, in one form, behind one system prompt, with one limit of tokens.
    """

    def __init__(self, inner: LanguageModel) -> None:
        super().__init__(inner)
        self._greedy: dict[str, list[Response]] = {}  # of prompts
        self._scores: dict[tuple[str, str], float] = {}  # of prompts and answers

    def sample(
        self, prompt: str, count: int, *, temperature: float = 1.0, seed: int = 0, first: int = 0
    ) -> list[Response]:
        """Draw responses; see `LanguageModel.sample`."""
        if temperature:
            return super().sample(prompt, count, temperature=temperature, seed=seed, first=first)
        if prompt not in self._greedy:
            self._greedy[prompt] = self.inner.sample(prompt, 1, temperature=0.0)
        return self._greedy[prompt] * count

    def log_likelihoods(
        self, prompts: Sequence[str], answers: Sequence[str]
    ) -> NDArray[np.float64]:
        """Score answers; see `LanguageModel.log_likelihoods`."""
        return self.score_together([(prompts, answers)])[0]

    def score_together(
        self, blocks: Sequence[tuple[Sequence[str], Sequence[str]]]
    ) -> list[NDArray[np.float64]]:
        """Score blocks, only the pairs that were never scored."""
        missing: list[tuple[list[str], tuple[str, ...]]] = []
        for prompts, answers in blocks:
            lacking: dict[tuple[str, ...], list[str]] = {}
            for prompt in prompts:
                if new := tuple(a for a in answers if (prompt, a) not in self._scores):
                    lacking.setdefault(new, []).append(prompt)
            missing += [(behind, new) for new, behind in lacking.items()]
        for (prompts, answers), table in zip(
            missing, self.inner.score_together(missing) if missing else (), strict=True
        ):
            for prompt, row in zip(prompts, table.tolist(), strict=True):
                self._scores |= {(prompt, a): v for a, v in zip(answers, row, strict=True)}
        return [
            np.array([[self._scores[p, a] for a in answers] for p in prompts]).reshape(
                len(prompts), len(answers)
            )
            for prompts, answers in blocks
        ]


def must_score(model: LanguageModel) -> None:
    """Refuse a model that does not say how likely given, whole answers are."""
    able = model.capabilities
    if not (able.scores_given_text and able.whole_answers):
        raise ModelError(
            f"{model.name} does not score given, whole answers, so its distribution cannot be "
            "compared with anything. Choose a model that does, such as the embedded one."
        )
