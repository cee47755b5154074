"""A model around a model: what the layers between a study and a service have in common."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from core.language_models.forms import Form
from core.language_models.language_model import Capabilities, LanguageModel, Response
from core.language_models.usage import Meter, Speed


class Wrapper(LanguageModel):
    """Passes everything on to the model inside; a layer overrides what it changes."""

    def __init__(self, inner: LanguageModel) -> None:
        self.inner = inner

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the model inside."""
        return self.inner.name

    @property
    def canonical_name(self) -> str:
        """The name under which answers of the model inside are kept."""
        return self.inner.canonical_name

    @property
    def revision(self) -> str:  # type: ignore[override]
        """The revision of the model inside."""
        return self.inner.revision

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        """What the model inside can do."""
        return self.inner.capabilities

    @property
    def form(self) -> Form:  # type: ignore[override]
        """The form in which the model inside is asked."""
        return self.inner.form

    @property
    def forms(self) -> tuple[Form, ...]:  # type: ignore[override]
        """The forms of the model inside."""
        return self.inner.forms

    @property
    def answer_tokens(self) -> int:  # type: ignore[override]
        """The limit of an answer of the model inside."""
        return self.inner.answer_tokens

    def with_limit(self, tokens: int) -> Self:
        """Return the same layer around the model inside, whose answers end elsewhere."""
        other = copy.copy(self)
        other.inner = self.inner.with_limit(tokens)
        return other

    @property
    def system(self) -> str:  # type: ignore[override]
        """The system prompt of the model inside."""
        return self.inner.system

    def with_system(self, text: str) -> Self | None:
        """Return the same layer around the model inside, behind a system prompt if it can be."""
        inner = self.inner.with_system(text)
        if inner is None:
            return None
        other = copy.copy(self)
        other.inner = inner
        return other

    def reads(self, question: str) -> str:
        """Return a question as the model inside is asked it."""
        return self.inner.reads(question)

    def in_form(self, form: Form) -> Self:
        """Return the same layer around the model inside, asked in a form."""
        other = copy.copy(self)
        other.inner = self.inner.in_form(form)
        return other

    @property
    def meter(self) -> Meter:
        """What the model inside has really used."""
        return self.inner.meter

    @property
    def speed(self) -> Speed:
        """How fast the model inside computes."""
        return self.inner.speed

    def sample(
        self, prompt: str, count: int, *, temperature: float = 1.0, seed: int = 0, first: int = 0
    ) -> list[Response]:
        """Draw responses; see `LanguageModel.sample`."""
        return self.inner.sample(prompt, count, temperature=temperature, seed=seed, first=first)

    def likeliest(self, prompt: str, count: int) -> list[Response]:
        """Search for answers; see `LanguageModel.likeliest`."""
        return self.inner.likeliest(prompt, count)

    def log_likelihoods(
        self, prompts: Sequence[str], answers: Sequence[str]
    ) -> NDArray[np.float64]:
        """Score answers; see `LanguageModel.log_likelihoods`."""
        return self.inner.log_likelihoods(prompts, answers)

    def next_token(self, prompt: str) -> dict[str, float]:
        """Return the likeliest next tokens; see `LanguageModel.next_token`."""
        return self.inner.next_token(prompt)
