"""The one interface that every back end meets.

A back end draws answers to a prompt and, where it can, says how likely given answers
are. Everything above this floor (studies, command line, pages) knows only what stands
in this file; a new back end is one folder of `backends` and one line in `registry`.
"""

from __future__ import annotations

import copy
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from core.codec import HALVES, TURNS
from core.language_models.errors import ModelError
from core.language_models.forms import Form, unknown_form
from core.language_models.usage import Meter, Speed

MAX_RESPONSE_TOKENS = 32  # of an answer, where nobody chooses another limit
MOST_ANSWER_TOKENS = 256  # that may be chosen
MOST_TOKENS = 10**9  # no request uses more, whatever a service says
# Part of what a score was made with: another number where a seed gives other answers.
# 1: the seed alone; 2: the seed and the prompt, see `series`.
SAMPLING_RULE = 2


#: Characters of an answer. `MAX_RESPONSE_TOKENS` tokens are mostly below 200; a server that ignores
#: that limit would otherwise fill the database, and every answer is compared with every other.
#: With so many, the largest inspection that may be asked for opens again, also from a file.
LONGEST_ANSWER = 300


def longest_answer(tokens: int) -> int:
    """Return how many characters an answer of up to so many tokens may have."""
    return LONGEST_ANSWER * max(tokens, MAX_RESPONSE_TOKENS) // MAX_RESPONSE_TOKENS


def encodable(text: str) -> str:
    """Return text with a replacement sign for halves of characters.

    JSON can spell half a surrogate pair, and a service that cuts between two of them sends one.
    It can be written nowhere: no file, no database and no browser takes it.
    """
    return HALVES.sub("\N{REPLACEMENT CHARACTER}", text)


def prompt_seed(seed: int, prompt: str) -> int:
    """Return the seed of the random numbers for one prompt, at least 0 and below 2**32.

    No two prompts share them. Answers to different questions would not be independent
    otherwise, and every promise of a threshold rests on independent labelled questions.
    """
    digest = hashlib.sha256(f"{seed}\0{prompt}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4])


def token_count(value: Any) -> int:
    """Return how many tokens a service says were used; 0 where that can be no such number."""
    return value if type(value) is int and 0 < value <= MOST_TOKENS else 0


@dataclass(frozen=True)
class StoredAbilities:
    """What was found out about a model by asking it, which is remembered as text."""

    FORMAT: ClassVar[int] = 2  # of the text: another number where an older one would be misread

    def to_json(self) -> str:
        """Return text for `from_json`."""
        return json.dumps({"format": self.FORMAT} | asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self | None:
        """Read what `to_json` wrote; None where another version did."""
        try:
            saved = json.loads(text)
            if saved.pop("format") != cls.FORMAT:
                return None
            return cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in saved.items()})
        except (ValueError, TypeError, KeyError, AttributeError):
            return None


@dataclass(frozen=True)
class Capabilities:
    """What a back end can do; the estimator is chosen from this, never from a name."""

    # Whether `LanguageModel.log_likelihoods` works: exact scoring, hence Algorithm 3.
    scores_given_text: bool
    # Whether every `Response` says its own log-likelihood: chained Algorithm 1.
    own_log_likelihoods: bool = False
    next_token: bool = False  # whether `LanguageModel.next_token` works
    # Whether likelihoods include the end of the answer. Where they do not, that of “London” holds
    # “London, UK” as well, and nothing can be certified.
    whole_answers: bool = True
    searches: bool = False  # whether `LanguageModel.likeliest` works
    # Whether a seed determines what is drawn. A service that knows none draws anew.
    seeded: bool = True
    # Whether calls cost nothing but time: they are neither kept, budgeted nor tried again, and the
    # same seed and index give the same response again.
    local: bool = True
    candidates_a_call: int = 1000  # how many responses one request to the service can return
    pairs_a_call: int = 2000  # how many (prompt, answer) pairs one request to the service can score
    # How many more requests each prompt takes before its answers are scored.
    calls_a_prompt: int = 0
    # How many requests a pair takes at most, where the answer has characters of several tokens.
    calls_a_pair: int = 1
    tokens_a_pair: int = 1  # how many tokens scoring a pair generates at most
    thoughts: int = 0  # tokens of thoughts that an answer may take besides; they are paid for
    # How many questions a local model answers at a time, each in a thread of its own within
    # `beside`; 1 where that is no faster.
    questions_at_once: int = 1
    # Whether a hundred prompts take a moment, so that a curve can have every point.
    quick: bool = True
    limits_answers: bool = False  # whether `LanguageModel.with_limit` works
    reads_front: bool = True  # whether text in front of our prompts means anything to it
    # How many characters a service is sent in front of every prompt; they are paid for.
    in_front: int = 0
    notes: tuple[str, ...] = ()  # what a person has to know of its answers besides, in sentences


@dataclass(frozen=True)
class Response:
    """One answer as the model gave it."""

    # Stripped of white space; it ended at the end token, a line break or `limit` tokens. Halves of
    # characters are replaced, see `encodable`, and controls of direction left out. It has at most
    # `longest_answer` characters: a back end that says how likely its answers are cuts them itself,
    # since only it knows how likely a part of one is.
    text: str
    complete: bool  # False when it was cut off before its end
    # The sum of its tokens' log-probabilities at temperature 1, nats, where the back end reports
    # it.
    log_likelihood: float | None = None
    # why the service gave no answer this time, in a few words of ours, “its safety filter”; "" of
    # an answer. Then there is no text.
    refusal: str = ""
    # The limit under which it was given, in tokens.
    limit: int = field(default=MAX_RESPONSE_TOKENS, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Make the text one that can be written, from whichever service or cache it comes."""
        object.__setattr__(self, "text", TURNS.sub("", encodable(self.text)))
        if len(self.text) > (longest := longest_answer(self.limit)):
            object.__setattr__(self, "text", self.text[:longest].rstrip())
            object.__setattr__(self, "complete", False)
            object.__setattr__(self, "log_likelihood", None)  # that of the whole

    @property
    def overlong(self) -> bool:
        """Whether the text was cut here, maybe between two words, because it was too long."""
        return len(self.text) >= longest_answer(self.limit) - 1 and not self.complete


def notes_on_cut(responses: Iterable[Response]) -> tuple[str, ...]:
    """Say how many answers were cut, if any: a server may send what nobody asked for."""
    cut = [response.limit for response in responses if response.overlong]
    if not cut:
        return ()
    were = "answer was" if len(cut) == 1 else "answers were"
    return (
        f"{len(cut):,} {were} longer than {longest_answer(max(cut)):,} characters, and cut there: "
        "the server ignores how long an answer may be.",
    )


def shared_beginning(able: Capabilities, one: str, other: str) -> str:
    """Say that an answer's likelihood holds another's; "" where ends are scored, or none begins."""
    short, long = sorted((one, other), key=len)
    if able.whole_answers or not long.startswith(short):
        return ""
    return (
        f"This server leaves out the end of answers, so “{short}” is never less likely than "
        f"“{long}”. Choose answers of which none begins the other."
    )


class Memory(Protocol):
    """Where what was found out about services is kept from one process to the next."""

    def get(self, name: str) -> str | None:
        """Return what is kept of a model; None if nothing is."""

    def put(self, name: str, abilities: str | None) -> None:
        """Keep this of a model, or nothing, and no longer what was kept before."""


class LanguageModel(ABC):
    """A language model: the distribution Q of the paper, to draw from and to evaluate."""

    name: str  # part of every result and policy, as the revision is
    revision: str  # identifies the exact weights, or the model of a server
    capabilities: Capabilities
    uses_environment_key: bool = False  # nobody typed its key
    form: Form = Form.PLAIN  # how it is asked; part of the revision
    answer_tokens: int = MAX_RESPONSE_TOKENS  # of an answer, at most; no part of the revision
    forms: tuple[Form, ...] = ()  # that a person may choose; none where there is no choice
    system: str = ""  # the system prompt in a turn of its own; no part of the revision
    _memory: Callable[[], Memory] | None = None

    @property
    def canonical_name(self) -> str:
        """The name under which answers are saved: one for all ways to write it."""
        return self.name

    @cached_property
    def meter(self) -> Meter:
        """What it has used since it was opened."""
        return Meter()

    @cached_property
    def speed(self) -> Speed:
        """How fast it computes here; nothing is measured of a service."""
        return Speed()

    def in_form(self, form: Form) -> LanguageModel:
        """Return the same model, asked in a form, or raise `ModelError`."""
        if form is self.form:
            return self
        raise unknown_form(self.name, [self.form])

    def with_limit(self, tokens: int) -> LanguageModel:
        """Return the same model, whose answers end after so many tokens at the latest.

        A back end with `Capabilities.limits_answers` cuts its answers at `answer_tokens`, and
        writes that into each `Response`.

        Raises `ModelError` when it cannot be asked so.
        """
        if tokens == self.answer_tokens:
            return self
        if not self.capabilities.limits_answers:
            raise ModelError(f"{self.name} gives answers of {self.answer_tokens} tokens at most.")
        other = copy.copy(self)
        other.__dict__ |= {"meter": self.meter, "speed": self.speed, "answer_tokens": tokens}
        return other

    def with_system(self, text: str) -> LanguageModel | None:
        """Return the same model behind a system prompt in a turn of its own.

        None where it is not asked in a chat, or its chat has no such turn.
        """
        return None

    def reads(self, question: str) -> str:
        """Return a question as the model is asked it: some do not tell all spellings apart."""
        return question

    def beside(self) -> AbstractContextManager[None]:
        """Ask beside other threads that do the same, until the end of the block.

        A call may then wait for theirs, to be computed with them. What it returns depends on
        them by rounding alone.
        """
        return nullcontext()

    @abstractmethod
    def sample(
        self, prompt: str, count: int, *, temperature: float = 1.0, seed: int = 0, first: int = 0
    ) -> list[Response]:
        """Draw `count` responses to `prompt`, those with the indices `first`, `first` + 1, ….

        A temperature of 0 gives the greedy response; 1 draws from Q itself. The seed, together with
        the prompt and the index, determines a response (see `prompt_seed`), so that asking for more
        later extends the same series.

        Raises `ModelError` with a sentence that can be shown to a person.
        """

    def remember_in(self, memory: Callable[[], Memory]) -> None:
        """Save what takes requests to find out; `memory` opens the place, when it is needed."""
        self._memory = memory

    def probe(self) -> list[str]:
        """Find out anew what the model can do; return what was asked, a line each.

        Raises `ModelError` with a sentence for the person.
        """
        return []

    def likeliest(self, prompt: str, count: int) -> list[Response]:
        """Return the `count` likeliest whole answers to `prompt`, distinct, the likeliest first.

        Fewer where the model has, or the search finds, fewer; no random number is used.

        Raises `ModelError`, also when `capabilities.searches` is false.
        """
        raise ModelError(f"{self.name} cannot be searched for its likeliest answers.")

    @abstractmethod
    def log_likelihoods(
        self, prompts: Sequence[str], answers: Sequence[str]
    ) -> NDArray[np.float64]:
        """Return ln Q(answer | prompt) for every prompt and every answer, in one batch.

        Values are at temperature 1, in nats, at most 0, and include the end token of every answer.
        An answer stands behind its prompt after one space. Of shape (len(prompts), len(answers));
        NaN where a service cannot say it of one answer behind one prompt.

        Raises `ModelError`, also when `capabilities.scores_given_text` is false.
        """

    def score_together(
        self, blocks: Sequence[tuple[Sequence[str], Sequence[str]]]
    ) -> list[NDArray[np.float64]]:
        """Return `log_likelihoods` of several blocks of prompts and answers, cheaper if it can."""
        return [self.log_likelihoods(*block) for block in blocks]

    def next_token(self, prompt: str) -> dict[str, float]:
        """Return ln p of the likeliest next tokens, by their text as the service writes it.

        At temperature 1, nats. What is missing is at most as probable as the least listed.

        Raises `ModelError`, also when `capabilities.next_token` is false.
        """
        raise ModelError(f"{self.name} does not report how likely its next words are.")
