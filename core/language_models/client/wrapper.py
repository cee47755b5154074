"""A model around a model: what the layers between a study and a service have in common."""

import copy
from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.language_models.forms import Form
from core.language_models.language_model import LanguageModel, Response

T = TypeVar("T")


def _of_inner(name: str) -> Any:
    return property(attrgetter(f"inner.{name}"))


class Wrapper(LanguageModel):
    """Passes everything on to the model inside; a layer overrides what it changes."""

    name = _of_inner("name")
    canonical_name = _of_inner("canonical_name")
    revision = _of_inner("revision")
    capabilities = _of_inner("capabilities")
    form = _of_inner("form")
    forms = _of_inner("forms")
    answer_tokens = _of_inner("answer_tokens")
    system = _of_inner("system")
    meter = _of_inner("meter")
    speed = _of_inner("speed")

    def __init__(self, inner: LanguageModel) -> None:
        self.inner = inner

    def _around(self, inner: LanguageModel) -> Self:
        other = copy.copy(self)
        other.inner = inner
        return other

    def _make(self, request: Callable[[], T], texts: int = 1) -> T:
        """Make a request of the model inside, for so many texts."""
        return request()

    def with_limit(self, tokens: int) -> Self:
        """Return the same layer around the model inside, whose answers end elsewhere."""
        return self._around(self.inner.with_limit(tokens))

    def with_system(self, text: str) -> Self | None:
        """Return the same layer around the model inside, behind a system prompt if it can be."""
        inner = self.inner.with_system(text)
        return None if inner is None else self._around(inner)

    def in_form(self, form: Form) -> Self:
        """Return the same layer around the model inside, asked in a form."""
        return self._around(self.inner.in_form(form))

    def reads(self, question: str) -> str:
        """Return a question as the model inside is asked it."""
        return self.inner.reads(question)

    def sample(
        self, prompt: str, count: int, *, temperature: float = 1.0, seed: int = 0, first: int = 0
    ) -> list[Response]:
        """Draw responses; see `LanguageModel.sample`."""
        options: dict[str, Any] = {"temperature": temperature, "seed": seed, "first": first}
        return self._make(partial(self.inner.sample, prompt, count, **options), count)

    def likeliest(self, prompt: str, count: int) -> list[Response]:
        """Search for answers; see `LanguageModel.likeliest`."""
        return self.inner.likeliest(prompt, count)

    def log_likelihoods(
        self, prompts: Sequence[str], answers: Sequence[str]
    ) -> NDArray[np.float64]:
        """Score answers; see `LanguageModel.log_likelihoods`."""
        pairs = len(prompts) * len(answers)
        return self._make(partial(self.inner.log_likelihoods, prompts, answers), pairs)

    def next_token(self, prompt: str) -> dict[str, float]:
        """Return the likeliest next tokens; see `LanguageModel.next_token`."""
        return self._make(partial(self.inner.next_token, prompt))
