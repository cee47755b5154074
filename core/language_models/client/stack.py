"""A model as a study should ask it: patient, within a budget, at once, and never twice.

The layers around a service, from the study inwards::

    study
      │   any number of answers, any block of (prompt, answer) pairs
    BatchingModel  `batch`    cuts a call into requests, and makes them at the same time
      │   one request each
    MeteredModel   `stack`    counts for one of several askers; only where there are several
    ObservedModel  `stack`    remembers what was answered, for who looks on
    CachingModel   `cache`    looks a request up; stores its answer before handing it on
    RetryingModel  `retry`    waits its turn, counts against the budget, tries again
      │   HTTP
    back end       `core.language_models.backends`

A local model has none of them: its calls cost nothing but time.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from core.language_models.client.batch import BatchingModel
from core.language_models.client.cache import CachingModel
from core.language_models.client.retry import RetryingModel, tell_nobody
from core.language_models.client.wrapper import Wrapper
from core.language_models.forms import Form
from core.language_models.language_model import LanguageModel, Response
from core.language_models.usage import Budget, Meter, Usage
from core.once import once
from core.store.calls import Calls

T = TypeVar("T")


def with_layers(
    model: LanguageModel,
    calls: Callable[[], Calls] | None,
    budget: Budget | None,
    tell: Callable[[str], None] = tell_nobody,
) -> LanguageModel:
    """Put the layers around a service; a local model is returned as it is.

    `calls` opens the call cache, only where there is something to keep; the requests are counted
    against the budget; `tell` is told in a sentence why it takes long, such as a model that is
    still being loaded. Raises `ModelError` when its abilities cannot be found out.
    """
    stored = once(calls) if calls else None
    if stored:
        model.remember_in(lambda: stored().services)
    patient = RetryingModel(model, budget, tell=tell)
    if patient.capabilities.local:
        return model
    return PreparedModel(patient, stored() if stored else None)


def limit(model: LanguageModel, most: Usage) -> None:
    """Allow a prepared service what was stated of a run, from now on and no more."""
    if isinstance(model, PreparedModel):
        model.budget.limit(most)


class PreparedModel(BatchingModel):
    """A service, prepared; `stop` ends what it still waits for."""

    def __init__(self, patient: RetryingModel, calls: Calls | None) -> None:
        super().__init__(
            ObservedModel(CachingModel(patient, calls, patient.budget.stop) if calls else patient)
        )
        self.budget = patient.budget

    @property
    def listener(self) -> ObservedModel:
        """What was answered so far."""
        return cast(ObservedModel, self.inner)


class ObservedModel(Wrapper):
    """Remembers what was answered, request by request, for who looks on meanwhile."""

    def __init__(self, inner: LanguageModel) -> None:
        super().__init__(inner)
        self._answers: dict[str, Counter[str]] = {}
        self._lock = threading.Lock()

    def in_form(self, form: Form) -> Self:
        """Return the same layer, which has heard nothing in that form."""
        return type(self)(self.inner.in_form(form))

    def counts(self, prompt: str) -> tuple[int, ...]:
        """Return how often each different sampled answer to a prompt came so far."""
        with self._lock:
            return tuple(self._answers.get(prompt, Counter()).values())

    def sample(
        self, prompt: str, count: int, *, temperature: float = 1.0, seed: int = 0, first: int = 0
    ) -> list[Response]:
        """Draw responses, and remember their texts."""
        responses = super().sample(prompt, count, temperature=temperature, seed=seed, first=first)
        with self._lock:
            if temperature > 0:  # the greedy answer is no sample
                self._answers.setdefault(prompt, Counter()).update(r.text for r in responses)
        return responses

    def score_together(
        self, blocks: Sequence[tuple[Sequence[str], Sequence[str]]]
    ) -> list[NDArray[np.float64]]:
        """Score blocks; see `LanguageModel.score_together`."""
        return self.inner.score_together(blocks)


def stop(model: LanguageModel) -> None:
    """End what a model is asked, from any thread: who cancels waits no more, and pays no more.

    Every call that is waiting or under way raises `StoppedError` within a moment, and so does
    every later one that the call cache cannot answer. Connections are shut; the service may
    charge for what it was already doing, and that counts. A reply that is there is saved.
    """
    if isinstance(model, PreparedModel):
        model.budget.close()


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

    def _make(self, request: Callable[[], T], texts: int = 1) -> T:
        with self.inner.meter.also(self._meter):
            return request()
