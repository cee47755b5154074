"""What a person asks for: the question and how answers are found, and how they are read."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from numbers import Integral

from core import prompts
from core.abstention.policy import SHARED_DRAWS, USUAL_LIMIT
from core.codec import TURNS, is_writable
from core.language_models import meaning
from core.language_models.language_model import MOST_ANSWER_TOKENS, LanguageModel
from core.uncertainty.evidence import Hyperparameters
from core.uncertainty.similarity import COMPARISONS

MAX_SAMPLES = 300
#: Different answers of an inspection: every one is compared with every other, the longer the
#: dearer, and the matrices have as many rows. So many hold 300 answers with one after each, and 32
#: that are counted with 30 after each; of the longest, they take three seconds of a processor and
#: 300 MB.
MOST_TEXTS = 1_000
MAX_QUERY_CHARACTERS = 2000
MAX_FRONT_CHARACTERS = 20_000  # of a system prompt, and of a context


def most_samples(answer_tokens: int) -> int:
    """Return the largest k: longer answers can be saved and compared if there are fewer."""
    return MAX_SAMPLES * USUAL_LIMIT // max(answer_tokens, USUAL_LIMIT)


class InvalidRequestError(ValueError):
    """A request outside the limits; the message says what is wrong and how to mend it."""


def check_model_and_budget(model: object, budget: object) -> None:
    """Raise `InvalidRequestError` unless a program names or brings a model, and a budget."""
    if not isinstance(model, str | LanguageModel):
        raise InvalidRequestError(
            "`model` is neither a name, such as “embedded”, nor a LanguageModel. Give one of them."
        )
    if not isinstance(budget, int) or isinstance(budget, bool) or budget < 1:
        raise InvalidRequestError(
            "`budget` is the most requests to a service: give a whole number from 1."
        )


class Sampling(StrEnum):
    """How the answers are found that are compared."""

    LIKELIEST = "likeliest"
    DRAWN = "drawn"
    SHARED = SHARED_DRAWS


@dataclass(frozen=True)
class Request:
    """What determines a recording: the same request makes the same recording again."""

    # White space around it is dropped, and what would turn the rest of a line: nobody means it, and
    # the model would see it.
    query: str
    # k, the number of responses drawn, or of the likeliest answers that are wanted at most, 1 to
    # `MAX_SAMPLES`.
    samples: int = 10
    # Of the drawing only, 0.01 to 2; likelihoods are always at temperature 1. 1 where nothing is
    # drawn.
    temperature: float = 0.9
    seed: int = 0  # at least 0; 0 where nothing is drawn
    judged: bool = False  # whether the model is also asked which answers mean the same
    # The paper draws; only a model that can be searched has likeliest answers.
    sampling: Sampling = Sampling.DRAWN
    # The limit of an answer, 1 to `MOST_ANSWER_TOKENS`; a line break ends it, too.
    answer_tokens: int = USUAL_LIMIT
    # In front of every prompt, as `prompts.front` writes it: a system prompt, and the passages that
    # an answer is to be drawn from. White space around them is dropped.
    system: str = ""
    context: str = ""
    claim: bool = False  # whether `query` asks if a statement is true; see `prompts.truth`
    # What a person typed, where `query` is a taught wording of it. It determines nothing.
    typed: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Tidy the question and enforce the limits, whatever the screen in front allowed."""
        object.__setattr__(self, "sampling", Sampling(self.sampling))
        if self.sampling is Sampling.LIKELIEST:
            object.__setattr__(self, "temperature", 1.0)
            object.__setattr__(self, "seed", 0)
        if not all(isinstance(text, str) for text in (self.query, self.system, self.context)):
            raise InvalidRequestError("A question, a context and a system prompt are texts.")
        object.__setattr__(self, "query", TURNS.sub("", self.query).strip())
        if not self.query:
            raise InvalidRequestError("There is no question. Type one and ask again.")
        if len(self.query) > MAX_QUERY_CHARACTERS:
            raise InvalidRequestError(
                f"The question has {len(self.query):,} characters; at most "
                f"{MAX_QUERY_CHARACTERS:,} are allowed. Shorten it."
            )
        if not is_writable(self.query):
            raise InvalidRequestError(
                "The question contains characters that are not valid Unicode. Type it again."
            )
        for name, what in (("system", "system prompt"), ("context", "context")):
            text = getattr(self, name).strip()
            object.__setattr__(self, name, text)
            if len(text) > MAX_FRONT_CHARACTERS or not is_writable(text):
                raise InvalidRequestError(
                    f"The {what} has more than {MAX_FRONT_CHARACTERS:,} characters, or is no valid "
                    "Unicode. Give a shorter part of it."
                )
        if not 1 <= self.samples <= MAX_SAMPLES:
            raise InvalidRequestError(
                f"The number of answers k is {self.samples}; choose one from 1 to {MAX_SAMPLES}."
            )
        whole = isinstance(self.answer_tokens, Integral)
        if not whole or not 1 <= self.answer_tokens <= MOST_ANSWER_TOKENS:
            raise InvalidRequestError(
                f"The limit of an answer is {self.answer_tokens} tokens; choose one from 1 to "
                f"{MOST_ANSWER_TOKENS}."
            )
        if self.samples > self.most_samples:
            raise InvalidRequestError(
                f"{self.samples} answers of up to {self.answer_tokens} tokens are too much text to "
                f"compare. Choose at most {self.most_samples} answers, or shorter ones."
            )
        if not 0.01 <= self.temperature <= 2:
            raise InvalidRequestError(
                f"The temperature is {self.temperature}; choose one from 0.01 to 2."
            )
        if not 0 <= self.seed < 2**32:
            raise InvalidRequestError(
                f"The seed is {self.seed}; choose a whole number from 0 to 4,294,967,295."
            )

    @property
    def front(self) -> str:
        """What stands in front of every prompt."""
        return prompts.front(self.system, self.context)

    @property
    def most_samples(self) -> int:
        """The largest k with this limit of an answer."""
        return most_samples(self.answer_tokens)

    @property
    def draws(self) -> bool:
        """Whether answers are drawn at random, so that one of them can come several times."""
        return self.sampling is not Sampling.LIKELIEST


@dataclass(frozen=True)
class Reading(Hyperparameters):
    """How a recording is read: everything that can be moved without asking the model.

    The similarity is a key of `COMPARISONS`; by `JUDGE`, the recording must have been judged. Or a
    model that is open: see `core.language_models.meaning`. The threshold τ is in (0, 1]; γ in [0,
    1].
    """

    def __post_init__(self) -> None:
        """Enforce the limits, whatever the screen in front of us allowed."""
        if self.similarity not in COMPARISONS and not meaning.compares(self.similarity):
            names = ", ".join(COMPARISONS)
            raise InvalidRequestError(
                f"There is no similarity called “{self.similarity:.60}”. Choose one of: {names}."
            )
        if not 0 < self.threshold <= 1:
            raise InvalidRequestError(
                f"The similarity threshold τ is {self.threshold}; choose one above 0, at most 1."
            )
        if not (0 <= self.gamma_1 <= 1 and 0 <= self.gamma_2 <= 1):
            raise InvalidRequestError("γ₁ and γ₂ must lie between 0 and 1.")
