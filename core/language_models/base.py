"""The one interface that every back end meets, and the registry that opens them by name.

A back end draws answers to a prompt and, where it can, says how likely given answers
are. Everything above this floor (studies, command line, pages) knows only what stands
in this file; a new back end is one file beside it and one line in `BACK_ENDS`.
"""

from __future__ import annotations

import importlib
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

MAX_RESPONSE_TOKENS = 32
MOST_TOKENS = 10**9  # no request uses more, whatever a service says

_HALVES = re.compile("[\ud800-\udfff]")


def whole(text: str) -> str:
    """Return text with a replacement sign for halves of characters.

    JSON can spell half a surrogate pair, and a service that cuts between two of them sends one.
    It can be written nowhere: no file, no database and no browser takes it.
    """
    return _HALVES.sub("\N{REPLACEMENT CHARACTER}", text)


def said_tokens(value: Any) -> int:
    """Return how many tokens a service says were used; 0 where that can be no such number."""
    return value if type(value) is int and 0 < value <= MOST_TOKENS else 0


class ModelError(Exception):
    """Something a person can act on went wrong with a model; the message says what."""


class UnknownModelError(ModelError):
    """The name does not name a back end."""


class PromptTooLongError(ModelError):
    """The prompt does not fit into the model's context."""


class BrokenModelError(ModelError):
    """The model's own files are missing or not the ones that were shipped."""


class NeedsKeyError(ModelError):
    """The service wants a key: there is none, or it was not accepted."""


class RefusedError(ModelError):
    """The service answered, and will not answer this: blocked, or not allowed."""


class UnreachableError(ModelError):
    """The service could not be reached, or went on failing."""


class BudgetError(ModelError):
    """The calls that the person allowed are used up."""


class NotSavedError(ModelError):
    """An answer could not be saved, so that nothing more is asked, or paid for."""


class StoppedError(BudgetError):
    """A person stopped the run. What was under way is left; the service may charge for it."""


class SmallerRequestsError(ModelError):
    """One request was asked for too much; the model's `capabilities` now say how much it takes."""


class TemporaryError(ModelError):
    """Worth another try: too many requests, a fault of the server, a dropped connection.

    Attributes
    ----------
    retry_after : float or None
        Seconds that the service asked to wait, if it did.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class SilentError(TemporaryError):
    """Nothing came within the time that a reply may take; another try takes as long."""


@dataclass(frozen=True)
class Capabilities:
    """What a back end can do; the estimator is chosen from this, never from a name.

    Attributes
    ----------
    scores_given_text : bool
        Whether `LanguageModel.log_likelihoods` works: exact scoring, hence Algorithm 3.
    seeded : bool
        Whether the same seed and index give the same response again.
    own_log_likelihoods : bool
        Whether every `Response` says its own log-likelihood: chained Algorithm 1.
    next_token : bool
        Whether `LanguageModel.next_token` works.
    whole_answers : bool
        Whether likelihoods include the end of the answer. Where they do not, that of “London”
        holds “London, UK” as well, and nothing can be certified.
    local : bool
        Whether calls cost nothing but time: they are neither kept, budgeted nor tried again.
    candidates_a_call : int
        How many responses one request to the service can return.
    pairs_a_call : int
        How many (prompt, answer) pairs one request to the service can score.
    """

    scores_given_text: bool
    seeded: bool
    own_log_likelihoods: bool = False
    next_token: bool = False
    whole_answers: bool = True
    local: bool = True
    candidates_a_call: int = 1000
    pairs_a_call: int = 2000


@dataclass(frozen=True)
class Response:
    """One answer as the model gave it.

    Attributes
    ----------
    text : str
        Stripped of white space; it ended at the end token, a line break or
        `MAX_RESPONSE_TOKENS` tokens. Halves of characters are replaced; see `whole`.
    complete : bool
        False when it was cut off before its end.
    log_likelihood : float or None
        The sum of its tokens' log-probabilities at temperature 1, nats, where the back end
        reports it.
    """

    text: str
    complete: bool
    log_likelihood: float | None = None

    def __post_init__(self) -> None:
        """Make the text one that can be written, from whichever service or cache it comes."""
        object.__setattr__(self, "text", whole(self.text))


@dataclass(frozen=True)
class Used:
    """What something has really used of a service.

    Attributes
    ----------
    requests : int
        Calls, tries that failed included; 0 where everything was kept from before.
    prompt_tokens, response_tokens : int
        As the service counts them; 0 where it does not say.
    """

    requests: int = 0
    prompt_tokens: int = 0
    response_tokens: int = 0

    def __add__(self, other: Used) -> Used:
        """Return what both have used."""
        return Used(
            self.requests + other.requests,
            self.prompt_tokens + other.prompt_tokens,
            self.response_tokens + other.response_tokens,
        )

    def __sub__(self, other: Used) -> Used:
        """Return what was used since a meter said `other`."""
        return Used(
            self.requests - other.requests,
            self.prompt_tokens - other.prompt_tokens,
            self.response_tokens - other.response_tokens,
        )


@dataclass
class Meter:
    """What a model has really used since it was opened; back ends add to it.

    Attributes
    ----------
    requests : int
        Requests that reached the service and came back, well or badly.
    prompt_tokens, response_tokens : int
        As the service counts them; 0 where it does not say.
    """

    requests: int = 0
    prompt_tokens: int = 0
    response_tokens: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)
    _too: threading.local = field(default_factory=threading.local, repr=False, compare=False)

    @property
    def used(self) -> Used:
        """What the meter says now."""
        with self._lock:
            return Used(self.requests, self.prompt_tokens, self.response_tokens)

    @contextmanager
    def also(self, other: Meter) -> Iterator[None]:
        """Count in another meter as well whatever this thread adds to this one meanwhile.

        So one run's use is told from another's, though both ask the same model at once.
        """
        self._too.meter = other
        try:
            yield
        finally:
            self._too.meter = None

    @contextmanager
    def allowed_by(self, take: Callable[[], None]) -> Iterator[None]:
        """Let `take` allow every request that this thread begins meanwhile; it may raise.

        So what a back end asks of its own accord is counted before it is asked.
        """
        self._too.take = take
        try:
            yield
        finally:
            self._too.take = None

    def begin(self) -> None:
        """Hear from a back end that a request is about to be made.

        Raises
        ------
        BudgetError
            When it is not allowed.
        """
        take: Callable[[], None] | None = getattr(self._too, "take", None)
        if take:
            take()

    def add(self, requests: int = 0, prompt_tokens: int = 0, response_tokens: int = 0) -> None:
        """Count what one request used; calls come from several threads."""
        with self._lock:
            self.requests += requests
            self.prompt_tokens += prompt_tokens
            self.response_tokens += response_tokens
        other: Meter | None = getattr(self._too, "meter", None)
        if other:
            other.add(requests, prompt_tokens, response_tokens)


class LanguageModel(ABC):
    """A language model: the distribution Q of the paper, to draw from and to evaluate."""

    name: str
    revision: str  # identifies the exact weights or server model; part of every result
    capabilities: Capabilities
    uses_environment_key: bool = False  # that of whoever runs the program; nobody typed it

    @cached_property
    def meter(self) -> Meter:
        """What it has used since it was opened."""
        return Meter()

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

    def next_token(self, prompt: str) -> dict[str, float]:
        """Return ln p of the likeliest next tokens, by their text as the service writes it.

        At temperature 1, nats. What is missing is at most as probable as the least listed.

        Raises
        ------
        ModelError
            Also when `capabilities.next_token` is false.
        """
        raise ModelError(f"{self.name} does not say how likely its next words are.")


# Name before the colon -> where the class stands. Imported on first use: no back end's
# dependencies are loaded for the sake of another.
SERVICES = ("openai", "gemini")  # kinds whose calls may cost money
BACK_ENDS = {
    "embedded": "core.language_models.embedded.model:EmbeddedModel",
    "gemini": "core.language_models.gemini:Gemini",
    "openai": "core.language_models.openai_compatible:OpenAICompatible",
    "hf": "core.language_models.huggingface:HuggingFace",
}


def open_model(name: str, key: str | None = None) -> LanguageModel:
    """Open a model by the name used on the command line and in results.

    Parameters
    ----------
    name : str
        ``embedded``, ``gemini:NAME``, ``openai:NAME@BASE_URL`` or ``hf:PATH_OR_NAME``.
    key : str, optional
        For a service; by default the environment's, where it may be used.

    Raises
    ------
    UnknownModelError
        When no back end has that name.
    ModelError
        With a sentence, when the model cannot be opened.
    """
    kind, _, rest = name.partition(":")
    if kind not in BACK_ENDS:
        known = ", ".join(BACK_ENDS)
        raise UnknownModelError(f"There is no model called “{name}”. Known models: {known}.")
    module, _, attribute = BACK_ENDS[kind].partition(":")
    back_end = getattr(importlib.import_module(module), attribute)
    options = {"key": key} if key else {}
    return cast(LanguageModel, back_end(rest, **options) if rest else back_end(**options))
