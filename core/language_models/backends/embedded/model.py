"""The embedded model as a `LanguageModel`: vocabulary, sampling and scoring in batches."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file
from threadpoolctl import ThreadpoolController
from tokenizers import Tokenizer

from core.language_models import search
from core.language_models.backends.embedded import FOLDER
from core.language_models.backends.llama.runtime import Llama, Segment
from core.language_models.base import (
    MAX_RESPONSE_TOKENS,
    Capabilities,
    LanguageModel,
    Response,
    series,
)
from core.language_models.errors import BrokenModelError, PromptTooLongError

# How many answer tokens one block of `log_likelihoods` holds: large enough to keep the
# matrix products busy, small enough for their results to stay near the processor.
BLOCK_TOKENS = 1024

F = TypeVar("F", bound=Callable[..., Any])


@functools.cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


def _one_thread(method: F) -> F:
    """Run a method with one thread in NumPy's matrix library.

    The matrices here are small, and on a busy machine that library's threads wait for each
    other in busy loops: the same call then takes up to thirty times as long.
    """

    @functools.wraps(method)
    def limited(*arguments: Any, **options: Any) -> Any:
        with _libraries().limit(limits=1, user_api="blas"):
            return method(*arguments, **options)

    return cast(F, limited)


FILES = ("config.json", "model.safetensors", "tokenizer.json")  # each has its hash beside it


class EmbeddedModel(LanguageModel):
    """The small transformer that ships with Believe, served by NumPy.

    Raises
    ------
    BrokenModelError
        When a file is missing or differs from the one that was trained.
    """

    name = "embedded"
    capabilities = Capabilities(scores_given_text=True, searches=True)

    def __init__(self, folder: str | Path = FOLDER) -> None:
        self.revision, self.llama, self.tokenizer, self.end = _load(Path(folder))
        # A response ends at the end token, and at any token with a line break in it.
        texts = self.tokenizer.decode_batch([[i] for i in range(len(self.llama.embeddings))])
        self.stops = np.array(["\n" in text for text in texts])
        self.stops[self.end] = True

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text; nothing in it is ever read as the end token."""
        return self.tokenizer.encode(text).ids

    # ---------------------------------------------------------------------- sampling

    @_one_thread
    def sample(
        self, prompt: str, count: int, *, temperature: float = 1.0, seed: int = 0, first: int = 0
    ) -> list[Response]:
        """Draw responses; see `LanguageModel.sample`. One batch for all of them."""
        tokens = self._prompt_tokens(prompt)
        hidden, past = self.llama.forward(np.array([tokens]))
        log_probabilities = self.llama.log_softmax(hidden[:, -1])  # (1, V)
        log_probabilities = np.repeat(log_probabilities, count, axis=0)
        own_seed = series(seed, prompt)
        drawers = [np.random.default_rng([own_seed, first + i]) for i in range(count)]
        drawn: list[list[int]] = [[] for _ in range(count)]
        complete = np.zeros(count, bool)
        alive = np.arange(count)
        own: Segment | None = None
        for length in range(1, MAX_RESPONSE_TOKENS + 1):
            uniform = np.array([drawers[i].random() for i in alive])
            token = _draw(log_probabilities, uniform, temperature)
            ended = self.stops[token]
            complete[alive[ended]] = True
            for i, t in zip(alive[~ended], token[~ended], strict=True):
                drawn[i].append(int(t))
            alive = alive[~ended]
            if not len(alive) or length == MAX_RESPONSE_TOKENS:
                break
            own = own.take(~ended) if own else None
            before = [past, own] if own else [past]
            hidden, step = self.llama.forward(token[~ended][:, None], before)
            own = own.extended(step) if own else step
            log_probabilities = self.llama.log_softmax(hidden[:, -1])
        return [
            Response(self.tokenizer.decode(ids).strip(), bool(done))
            for ids, done in zip(drawn, complete, strict=True)
        ]

    @_one_thread
    def likeliest(self, prompt: str, count: int) -> list[Response]:
        """Search for answers; see `LanguageModel.likeliest`. All beginnings in one batch."""
        hidden, past = self.llama.forward(np.array([self._prompt_tokens(prompt)]))
        own: Segment | None = None

        def extend(rows: NDArray[np.int64], tokens: NDArray[np.int64]) -> NDArray[np.float32]:
            nonlocal own
            before = [past] if own is None else [past, own.take(rows)]
            hidden, step = self.llama.forward(tokens[:, None], before)
            own = step if own is None else before[1].extended(step)
            return self.llama.log_softmax(hidden[:, -1])

        found = search.likeliest(
            self.llama.log_softmax(hidden[:, -1])[0],
            extend,
            count=count,
            ends=[self.end],
            is_stop=lambda tokens: self.stops[tokens],
            text_of=lambda tokens: self.tokenizer.decode(tokens).strip(),
        )
        return [Response(text, True, min(value, 0.0)) for text, value in found]

    # ----------------------------------------------------------------------- scoring

    @_one_thread
    def log_likelihoods(
        self, prompts: Sequence[str], answers: Sequence[str]
    ) -> NDArray[np.float64]:
        """Score every answer under every prompt; see `LanguageModel.log_likelihoods`.

        What all prompts share is computed once, the rest of each prompt once, and only
        the answers row by row. Prompts that repeat an answer ever more often share more with
        the longest of them than with each other; they branch off it.
        """
        if not prompts or not answers:
            return np.zeros((len(prompts), len(answers)))
        targets = [[*self.encode(f" {answer}"), self.end] for answer in answers]
        longest = max(map(len, targets))
        tokens = [self._prompt_tokens(prompt, room=longest) for prompt in prompts]
        trunk, shared = _trunk(tokens)
        past: Segment | None = None
        if len(trunk):
            past = self.llama.forward(np.array([trunk]))[1]
        result = np.empty((len(prompts), len(answers)))
        own = max(len(t) - s for t, s in zip(tokens, shared, strict=True))
        rows = max(1, BLOCK_TOKENS // max(len(answers) * longest, own))
        columns = max(1, BLOCK_TOKENS // longest)
        for block in _blocks(len(prompts), rows):
            rest = [t[s:] for t, s in zip(tokens[block], shared[block], strict=True)]
            before = () if past is None else (_left_at(past, shared[block]),)
            opening, segment = self._read_prompts(rest, before)
            for part in _blocks(len(answers), columns):
                result[block, part] = self._score(targets[part], opening, (*before, segment))
        return result

    # --------------------------------------------------------------------- attention

    @_one_thread
    def attention(self, prompt: str) -> tuple[list[tuple[int, int]], NDArray[np.float32]]:
        """Return how the prompt's last position attends to every token of the prompt.

        Returns
        -------
        spans : list of (int, int)
            Where each token begins and ends in the prompt, in characters.
        weights : ndarray of shape (layers, heads, tokens)
            Each head's weights sum to 1.
        """
        encoded = self.tokenizer.encode(prompt)
        weights: list[NDArray[np.float32]] = []
        self.llama.forward(np.array([self._prompt_tokens(prompt)]), attention=weights)
        return list(encoded.offsets), np.concatenate(weights)

    def _read_prompts(
        self, rest: list[list[int]], past: tuple[Segment, ...]
    ) -> tuple[NDArray[np.float32], Segment]:
        """Run the prompts' own ends; return the log-probabilities of what comes next."""
        padded, lengths = _pad(rest)
        hidden, segment = self.llama.forward(padded, past)
        last = hidden[np.arange(len(rest)), lengths - 1]  # (prompts, W)
        return self.llama.log_softmax(last), Segment(segment.keys, segment.values, lengths)

    def _score(
        self, targets: list[list[int]], opening: NDArray[np.float32], past: tuple[Segment, ...]
    ) -> NDArray[np.float64]:
        """Return ln Q of every target behind every prompt, of shape (prompts, targets)."""
        prompts = len(opening)
        padded, lengths = _pad([t[:-1] for t in targets])  # the end token predicts nothing
        total = opening[:, [t[0] for t in targets]].astype(np.float64)
        hidden, _ = self.llama.forward(np.tile(padded, (prompts, 1)), past)
        following, _ = _pad([t[1:] for t in targets])
        real = np.tile(np.arange(padded.shape[1]) < lengths[:, None], (prompts, 1))
        scored = np.zeros(real.shape)
        scored[real] = self.llama.log_probability(
            hidden[real], np.tile(following, (prompts, 1))[real]
        )
        return total + scored.sum(axis=1).reshape(prompts, len(targets))

    def _prompt_tokens(self, prompt: str, room: int = MAX_RESPONSE_TOKENS) -> list[int]:
        tokens = self.encode(prompt)
        limit = self.llama.context_length - room
        if len(tokens) > limit:
            raise PromptTooLongError(
                f"The prompt has {len(tokens):,} tokens and the embedded model has room for "
                f"{limit:,}. Shorten the question or repeat fewer answers."
            )
        return tokens


def _draw(
    log_probabilities: NDArray[np.float32], uniform: NDArray[np.float64], temperature: float
) -> NDArray[np.int64]:
    """Draw a token a row by inverting its distribution function; 0 is the likeliest."""
    if temperature == 0:
        return log_probabilities.argmax(axis=1)
    scaled = log_probabilities.astype(np.float64) / temperature
    cumulative = np.exp(scaled - scaled.max(axis=1, keepdims=True)).cumsum(axis=1)
    below = cumulative < uniform[:, None] * cumulative[:, -1:]
    return below.sum(axis=1)


def _trunk(prompts: Sequence[list[int]]) -> tuple[list[int], NDArray[np.int64]]:
    """Return what is computed once, and how much of it each prompt begins with.

    Either the prefix of all, or, where that saves half of the work, the longest prompt.
    """
    common = _common_prefix(prompts)
    longest = max(prompts, key=len)
    branching = np.array([min(_common_prefix([p, longest]), len(p) - 1) for p in prompts])
    rest = max(len(p) - b for p, b in zip(prompts, branching.tolist(), strict=True))
    # What is left of the prompts is padded to the longest of it.
    with_prefix = common + len(prompts) * (len(longest) - common)
    with_longest = int(branching.max()) + len(prompts) * rest
    if 2 * with_longest < with_prefix:
        return longest[: int(branching.max())], branching
    return longest[:common], np.full(len(prompts), common)


def _left_at(trunk: Segment, lengths: NDArray[np.int64]) -> Segment:
    """Return a trunk that each row leaves at its own place; one place where all agree."""
    places = lengths if len({*lengths.tolist()}) > 1 else lengths[:1]
    return Segment(trunk.keys, trunk.values, places)


def _common_prefix(sequences: Sequence[list[int]]) -> int:
    """Return how many leading tokens all sequences share, leaving each at least one."""
    low, high = min(sequences), max(sequences)  # these two differ soonest
    length = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    return min(length, min(map(len, sequences)) - 1)


def _pad(sequences: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    lengths = np.array([len(s) for s in sequences])
    padded = np.zeros((len(sequences), lengths.max()), int)
    for row, sequence in zip(padded, sequences, strict=True):
        row[: len(sequence)] = sequence
    return padded, lengths


def _blocks(total: int, size: int) -> Iterator[slice]:
    return (slice(start, min(start + size, total)) for start in range(0, total, size))


@functools.cache
def _load(folder: Path) -> tuple[str, Llama, Tokenizer, int]:
    """Read a model folder once a process, after checking every file against its hash."""
    try:
        lines = (folder / "SHA256SUMS").read_text().splitlines()
        sums = {name: digest for digest, name in (line.split() for line in lines)}
        for name in FILES:
            if hashlib.sha256((folder / name).read_bytes()).hexdigest() != sums.get(name):
                raise BrokenModelError(
                    f"The embedded model’s file {name} is not the one that was trained. "
                    "Restore it from the repository, or train it again with `make train`."
                )
        config = json.loads((folder / "config.json").read_text())
        weights = load_file(folder / "model.safetensors")
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except (OSError, ValueError, SafetensorError) as error:
        raise BrokenModelError(
            f"The embedded model in {folder} cannot be read ({type(error).__name__}). "
            "Restore it from the repository, or train it with `make train`."
        ) from error
    tokenizer.encode_special_tokens = True
    revision = sums["model.safetensors"][:12]
    return revision, Llama(weights, config), tokenizer, int(config["eos_token_id"])
