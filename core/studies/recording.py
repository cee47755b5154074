"""What a model was asked and what it said: everything an inspection costs, and no more.

A `Recording` is made once, by asking the model. Everything a person can move afterwards
(similarity, τ, γ, the threshold λ) is applied to the recording and asks nothing. Samples
carry an index, so a recording can be extended, and its first k samples are exactly the
recording that k samples would have made.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from core import prompts
from core.language_models.base import LanguageModel, Response
from core.studies.progress import Progress, silent

MAX_SAMPLES = 300
MAX_QUERY_CHARACTERS = 2000

# How many (prompt, answer) pairs one scoring call holds. Small enough that progress moves
# and a person can cancel; an inspection with ten samples is always a single call.
PAIRS_A_CALL = 2000


T = TypeVar("T")


class InvalidRequestError(ValueError):
    """A request outside the limits; the message says what is wrong and how to mend it."""


@dataclass(frozen=True)
class Request:
    """What determines a recording: the same request makes the same recording again.

    Attributes
    ----------
    query : str
        White space around it is dropped: nobody means it, and the model would see it.
    samples : int
        k, the number of responses drawn, 1 to `MAX_SAMPLES`.
    temperature : float
        Of the sampling only, 0.01 to 2; likelihoods are always at temperature 1.
    seed : int
        At least 0.
    """

    query: str
    samples: int = 10
    temperature: float = 0.9
    seed: int = 0

    def __post_init__(self) -> None:
        """Tidy the question and enforce the limits, whatever the screen in front allowed."""
        object.__setattr__(self, "query", self.query.strip())
        if not self.query:
            raise InvalidRequestError("There is no question. Type one and ask again.")
        if len(self.query) > MAX_QUERY_CHARACTERS:
            raise InvalidRequestError(
                f"The question has {len(self.query):,} characters; at most "
                f"{MAX_QUERY_CHARACTERS:,} are possible. Shorten it."
            )
        if any("\ud800" <= character <= "\udfff" for character in self.query):
            raise InvalidRequestError(
                "The question contains characters that are no valid Unicode. Type it again."
            )
        if not 1 <= self.samples <= MAX_SAMPLES:
            raise InvalidRequestError(
                f"The number of samples is {self.samples}; choose one from 1 to {MAX_SAMPLES}."
            )
        if not 0.01 <= self.temperature <= 2:
            raise InvalidRequestError(
                f"The temperature is {self.temperature}; choose one from 0.01 to 2."
            )
        if not 0 <= self.seed < 2**32:
            raise InvalidRequestError(
                f"The seed is {self.seed}; choose a whole number from 0 to 4,294,967,295."
            )


@dataclass(frozen=True)
class Call:
    """One call to the model: what for, how many texts it drew or scored, how long it took."""

    purpose: str
    sequences: int
    seconds: float


@dataclass(frozen=True)
class Recording:
    """A model's samples for one query, and its likelihoods of every one under every prompt.

    Attributes
    ----------
    request : Request
    model, revision : str
        Which model answered, and exactly which weights.
    samples : tuple of Response
        The k responses in the order of their indices.
    greedy : Response
        The response at temperature 0.
    greedy_log_likelihood : float
        ln Q(greedy | F_0), nats.
    texts : tuple of str, of length r
        The distinct samples, first seen first.
    log_likelihoods : ndarray of shape (r + 1, r)
        Nats. Row 0 is ln Q(text | F_0); row 1 + i is ln Q(text | F_1 with text i told).
    verification : ndarray of shape (r, 2)
        ln Q("True") and ln Q("False") under the True/False prompt about each text.
    calls : tuple of Call
    """

    request: Request
    model: str
    revision: str
    samples: tuple[Response, ...]
    greedy: Response
    greedy_log_likelihood: float
    texts: tuple[str, ...]
    log_likelihoods: NDArray[np.float64]
    verification: NDArray[np.float64]
    calls: tuple[Call, ...] = field(default=(), compare=False)

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each distinct text was sampled, of shape (r,)."""
        drawn = [sample.text for sample in self.samples]
        return np.array([drawn.count(text) for text in self.texts])

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Whether each distinct text ended by itself, of shape (r,)."""
        cut = {sample.text for sample in self.samples if not sample.complete}
        return np.array([text not in cut for text in self.texts])

    def first(self, samples: int) -> Recording:
        """Return the recording that the first `samples` samples alone would have made."""
        kept = self.samples[:samples]
        r = len(dict.fromkeys(sample.text for sample in kept))
        return replace(
            self,
            request=replace(self.request, samples=len(kept)),
            samples=kept,
            texts=self.texts[:r],
            log_likelihoods=self.log_likelihoods[: r + 1, :r],
            verification=self.verification[:r],
        )


def record(
    request: Request,
    model: LanguageModel,
    progress: Progress = silent,
    *,
    previous: Recording | None = None,
) -> Recording:
    """Ask the model everything an inspection needs.

    Parameters
    ----------
    previous : Recording, optional
        A recording by the same model of the same query, temperature and seed: it is
        extended, and nothing it holds is asked again.

    Raises
    ------
    ModelError
        With a sentence for the person.
    Cancelled
        Out of `progress`.
    """
    if previous and replace(previous.request, samples=request.samples) != request:
        raise ValueError("Only a recording of the same query, temperature and seed can grow.")
    if previous and (previous.model, previous.revision) != (model.name, model.revision):
        raise ValueError("Only a recording of the same model can grow.")
    if previous and previous.request.samples >= request.samples:
        return previous.first(request.samples)
    clock = _Clock(list(previous.calls) if previous else [])
    query = request.query
    first_prompt = prompts.iterative(query)

    progress("Sampling answers", 0.0)
    samples = previous.samples if previous else ()
    missing = request.samples - len(samples)
    samples += tuple(
        clock.time(
            "sample",
            missing,
            lambda: model.sample(
                first_prompt,
                missing,
                temperature=request.temperature,
                seed=request.seed,
                first=len(samples),
            ),
        )
    )
    greedy = (
        previous.greedy
        if previous
        else clock.time("greedy", 1, lambda: model.sample(first_prompt, 1, temperature=0.0))[0]
    )

    known = previous.texts if previous else ()
    texts = tuple(dict.fromkeys(sample.text for sample in samples))
    matrix = np.empty((len(texts) + 1, len(texts)))
    told = [first_prompt, *(prompts.iterative(query, [text]) for text in texts)]
    old, new = slice(0, len(known)), slice(len(known), len(texts))
    if previous:
        matrix[: len(known) + 1, old] = previous.log_likelihoods
        _score(model, clock, progress, told[: len(known) + 1], texts[new], matrix, 0, len(known))
        _score(model, clock, progress, told[len(known) + 1 :], texts, matrix, len(known) + 1, 0)
    else:
        _score(model, clock, progress, told, texts, matrix, 0, 0)

    progress("Asking the model to verify its answers", 0.0)
    verification = np.empty((len(texts), 2))
    if previous:
        verification[old] = previous.verification
    questions = [prompts.self_verification(query, text) for text in texts[new]]
    if questions:
        verification[new] = clock.time(
            "verify",
            2 * len(questions),
            lambda: model.log_likelihoods(questions, [prompts.TRUE, prompts.FALSE]),
        )
    return Recording(
        request=request,
        model=model.name,
        revision=model.revision,
        samples=samples,
        greedy=greedy,
        greedy_log_likelihood=_greedy_log_likelihood(
            model, clock, first_prompt, greedy, texts, matrix, previous
        ),
        texts=texts,
        log_likelihoods=matrix,
        verification=verification,
        calls=tuple(clock.calls),
    )


def _score(
    model: LanguageModel,
    clock: _Clock,
    progress: Progress,
    told: Sequence[str],
    answers: Sequence[str],
    matrix: NDArray[np.float64],
    row: int,
    column: int,
) -> None:
    """Fill `matrix` from (row, column) with every answer under every prompt."""
    if not answers:
        return
    size = max(1, PAIRS_A_CALL // len(answers))
    for start in range(0, len(told), size):
        progress("Telling the model each answer, and asking again", start / len(told))
        block = told[start : start + size]
        matrix[row + start : row + start + len(block), column : column + len(answers)] = clock.time(
            "score",
            len(block) * len(answers),
            partial(model.log_likelihoods, block, answers),
        )


def _greedy_log_likelihood(
    model: LanguageModel,
    clock: _Clock,
    first_prompt: str,
    greedy: Response,
    texts: Sequence[str],
    matrix: NDArray[np.float64],
    previous: Recording | None,
) -> float:
    """Look the greedy response's likelihood up where it was sampled, else ask for it."""
    if previous:
        return previous.greedy_log_likelihood
    if greedy.text in texts:
        return float(matrix[0, texts.index(greedy.text)])
    scored = clock.time("score", 1, lambda: model.log_likelihoods([first_prompt], [greedy.text]))
    return float(scored[0, 0])


class _Clock:
    """Times calls to the model and keeps the list of them."""

    def __init__(self, calls: list[Call]) -> None:
        self.calls = calls

    def time(self, purpose: str, sequences: int, call: Callable[[], T]) -> T:
        started = time.perf_counter()
        result = call()
        self.calls.append(Call(purpose, sequences, time.perf_counter() - started))
        return result
