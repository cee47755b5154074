"""The one interface that every back end meets, and the registry that opens them by name.

A back end draws answers to a prompt and, where it can, says how likely given answers
are. Everything above this floor (studies, command line, pages) knows only what stands
in this file; a new back end is one file beside it and one line in `BACK_ENDS`.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

MAX_RESPONSE_TOKENS = 32


class ModelError(Exception):
    """Something a person can act on went wrong with a model; the message says what."""


class UnknownModelError(ModelError):
    """The name does not name a back end."""


class PromptTooLongError(ModelError):
    """The prompt does not fit into the model's context."""


class BrokenModelError(ModelError):
    """The model's own files are missing or not the ones that were shipped."""


@dataclass(frozen=True)
class Capabilities:
    """What a back end can do; the estimator is chosen from this, never from a name.

    Attributes
    ----------
    scores_given_text : bool
        Whether `LanguageModel.log_likelihoods` works: exact scoring, hence Algorithm 3.
    seeded : bool
        Whether the same seed and index give the same response again.
    """

    scores_given_text: bool
    seeded: bool


@dataclass(frozen=True)
class Response:
    """One answer as the model gave it.

    Attributes
    ----------
    text : str
        Stripped of white space; it ended at the end token, a line break or
        `MAX_RESPONSE_TOKENS` tokens.
    complete : bool
        False when it was cut off before its end.
    """

    text: str
    complete: bool


class LanguageModel(ABC):
    """A language model: the distribution Q of the paper, to draw from and to evaluate."""

    name: str
    revision: str  # identifies the exact weights or server model; part of every result
    capabilities: Capabilities

    @abstractmethod
    def sample(
        self,
        prompt: str,
        count: int,
        *,
        temperature: float = 1.0,
        seed: int = 0,
        first: int = 0,
    ) -> list[Response]:
        """Draw `count` responses to `prompt`, those with the indices `first`, `first` + 1, ….

        Parameters
        ----------
        temperature : float
            0 gives the greedy response; 1 draws from Q itself.
        seed : int
            Together with the index it determines a response, so that asking for more
            later extends the same series.

        Raises
        ------
        ModelError
            With a sentence that can be shown to a person.
        """

    @abstractmethod
    def log_likelihoods(
        self, prompts: Sequence[str], answers: Sequence[str]
    ) -> NDArray[np.float64]:
        """Return ln Q(answer | prompt) for every prompt and every answer, in one batch.

        Values are at temperature 1, in nats, at most 0, and include the end token of
        every answer. An answer stands behind its prompt after one space.

        Returns
        -------
        ndarray of shape (len(prompts), len(answers))

        Raises
        ------
        ModelError
            Also when `capabilities.scores_given_text` is false.
        """


# Name before the colon -> where the class stands. Imported on first use: no back end's
# dependencies are loaded for the sake of another.
BACK_ENDS = {"embedded": "core.language_models.embedded.model:EmbeddedModel"}


def open_model(name: str) -> LanguageModel:
    """Open a model by the name used on the command line and in results.

    Raises
    ------
    UnknownModelError
        When no back end has that name.
    """
    kind, _, rest = name.partition(":")
    if kind not in BACK_ENDS:
        known = ", ".join(BACK_ENDS)
        raise UnknownModelError(f"There is no model called “{name}”. Known models: {known}.")
    module, _, attribute = BACK_ENDS[kind].partition(":")
    back_end = getattr(importlib.import_module(module), attribute)
    return cast(LanguageModel, back_end(rest) if rest else back_end())
