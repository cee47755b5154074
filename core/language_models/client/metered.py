"""A service as one of several askers uses it: what it takes is counted for that one as well."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.language_models.client.batch import BatchingModel
from core.language_models.client.wrapper import Wrapper
from core.language_models.language_model import LanguageModel, Response
from core.language_models.usage import Meter


def meter_for(model: LanguageModel, meter: Meter) -> LanguageModel:
    """Return a service as one of several asks it: what it takes goes to a meter as well.

    A meter tells use apart by threads, so it must stand where a call is a single request:
    within what cuts calls and makes them in threads of its own.
    """
    if isinstance(model, BatchingModel):
        return BatchingModel(MeteredModel(model.inner, meter))
    return MeteredModel(model, meter)


class MeteredModel(Wrapper):
    """Counts in a meter of its own what is used through this object alone."""

    def __init__(self, inner: LanguageModel, meter: Meter) -> None:
        super().__init__(inner)
        self._meter = meter

    @property
    def meter(self) -> Meter:
        """What was used through this object alone."""
        return self._meter

    def sample(
        self, prompt: str, count: int, *, temperature: float = 1.0, seed: int = 0, first: int = 0
    ) -> list[Response]:
        """Draw responses, and count what that takes."""
        with self.inner.meter.also(self._meter):
            return super().sample(prompt, count, temperature=temperature, seed=seed, first=first)

    def log_likelihoods(
        self, prompts: Sequence[str], answers: Sequence[str]
    ) -> NDArray[np.float64]:
        """Score answers, and count what that takes."""
        with self.inner.meter.also(self._meter):
            return super().log_likelihoods(prompts, answers)

    def next_token(self, prompt: str) -> dict[str, float]:
        """Return the likeliest next tokens, and count what that takes."""
        with self.inner.meter.also(self._meter):
            return super().next_token(prompt)
