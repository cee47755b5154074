"""A Llama as a `LanguageModel`: sampling, search and scoring in batches, whatever its weights."""

import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController
from tokenizers import Tokenizer

from core.language_models import search
from core.language_models.backends.llama.passes import Pass, Passes
from core.language_models.backends.llama.runtime import Llama, Segment
from core.language_models.errors import PromptTooLongError
from core.language_models.forms import Frame, too_small
from core.language_models.framed_model import common_prefix
from core.language_models.language_model import (
    MAX_RESPONSE_TOKENS,
    Capabilities,
    LanguageModel,
    Response,
    prompt_seed,
)
from core.once import once

# How many answer tokens one block of `log_likelihoods` holds: large enough to keep the
# matrix products busy, small enough for their results to stay near the processor.
BLOCK_TOKENS = 1024

END = -1  # in place of a token: any of those that end an answer

QUESTIONS_AT_ONCE = 64  # so that enough passes gather while others are computed


class LlamaModel(LanguageModel):
    """A network, its vocabulary, and how it is asked.

    The tokenizer's `encode` never reads a text as one of the end tokens. These end a text, and so
    does a token with a line break behind any text; the `scored_ends` count as the end of an answer
    in its likelihood, by default all of them.
    """

    title: str  # what sentences call it
    capabilities = Capabilities(
        scores_given_text=True,
        searches=True,
        questions_at_once=QUESTIONS_AT_ONCE,
        limits_answers=True,
    )

    def __init__(
        self,
        llama: Llama,
        tokenizer: Tokenizer,
        end_tokens: Sequence[int],
        scored_ends: Sequence[int] | None = None,
    ) -> None:
        _hold_to_one_thread()
        self.llama, self.tokenizer = llama, tokenizer
        size = len(llama.embeddings)
        texts = tokenizer.decode_batch([[i] for i in range(size)], skip_special_tokens=False)
        # White space and line breaks in front of an answer are no answer and no end.
        self.stops_at_once = np.array(["\n" in text.lstrip() for text in texts])
        self.stops = np.array(["\n" in text for text in texts])
        self.is_blank = np.array([not text.strip() for text in texts])
        self.stops_at_once[list(end_tokens)] = self.stops[list(end_tokens)] = True
        self.is_blank[list(end_tokens)] = False
        self.ends = np.array(np.flatnonzero(self.stops) if scored_ends is None else scored_ends)
        self._passes = Passes(llama, self.ends, self.speed)
        self.frame = Frame()
        self._before: tuple[Segment, ...] = ()  # what the frame's first part became
        self._search = threading.local()  # of this thread: the last prompt, and its greedy answer

    def put_in(self, frame: Frame) -> None:
        """Put a frame around every prompt; what stands in front is read once, now.

        Raises `PromptTooLongError` when it leaves no room for a prompt.
        """
        around = len(frame.before) + len(frame.after)
        if around + MAX_RESPONSE_TOKENS >= self.llama.context_length:
            raise too_small(self.name, self.form)
        self.frame = frame
        self._before = (_read(self.llama, tuple(frame.before)),) if frame.before else ()

    def beside(self) -> AbstractContextManager[None]:
        """Share passes with other threads; see `LanguageModel.beside`."""
        return self._passes.beside()

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text; nothing in it is ever read as the end token."""
        return self.tokenizer.encode(text).ids

    def encode_prompt(self, prompt: str) -> list[int]:
        """Return all tokens that are read for a prompt: its own, and those around it."""
        return [*self.frame.before, *self._prompt_tokens(prompt)]

    def sample(
        self, prompt: str, count: int, *, temperature: float = 1.0, seed: int = 0, first: int = 0
    ) -> list[Response]:
        """Draw responses; see `LanguageModel.sample`. Those that agree so far are one row."""
        if temperature == 0 and (greedy := self._greedy_of_search(prompt)):
            return [greedy] * count
        tokens = self._prompt_tokens(prompt)
        log_probabilities, past = self._next(np.array([tokens]), self._before)  # (1, V)
        rows = np.zeros(count, int)
        own_seed = prompt_seed(seed, prompt)
        drawers = [np.random.default_rng([own_seed, first + i]) for i in range(count)]
        sequences: list[list[int]] = [[] for _ in range(count)]
        complete = np.zeros(count, bool)
        begun = np.zeros(count, bool)
        alive = np.arange(count)
        own: Segment | None = None
        for length in range(1, self.answer_tokens + 1):
            uniform = np.array([drawers[i].random() for i in alive])
            token = draw_tokens(log_probabilities, uniform, temperature, rows)
            ended = np.where(begun[alive], self.stops[token], self.stops_at_once[token])
            begun[alive] |= ~self.is_blank[token]
            complete[alive[ended]] = True
            for i, t in zip(alive[~ended], token[~ended], strict=True):
                sequences[i].append(int(t))
            alive = alive[~ended]
            if not len(alive) or length == self.answer_tokens:
                break
            different = rows[~ended] * len(self.stops) + token[~ended]
            different, rows = np.unique(different, return_inverse=True)
            parents, following = np.divmod(different, len(self.stops))
            own = own.take(parents) if own else None
            before = [*self._before, past, *([own] if own else [])]
            log_probabilities, step = self._next(following[:, None], before)
            own = own.plus(step) if own else step
        return [
            Response(self.tokenizer.decode(ids).strip(), bool(done), limit=self.answer_tokens)
            for ids, done in zip(sequences, complete, strict=True)
        ]

    def likeliest(self, prompt: str, count: int) -> list[Response]:
        """Search for answers; see `LanguageModel.likeliest`. All beginnings in one batch.

        The greedy answer goes along, as a row more where it is none of them; mostly it ends there.
        """
        opening, past = self._next(np.array([self._prompt_tokens(prompt)]), self._before)
        own: Segment | None = None
        greedy = GreedyPath(self.stops, self.stops_at_once, self.is_blank, opening[0])

        def extend(rows: NDArray[np.int64], tokens: NDArray[np.int64]) -> NDArray[np.float32]:
            nonlocal own
            count = len(rows)
            rows, tokens = greedy.join(rows, tokens)
            own_rows = own.take(rows) if own else None
            before = [*self._before, past, *([own_rows] if own_rows else [])]
            log_probabilities, step = self._next(tokens[:, None], before)
            own = own_rows.plus(step) if own_rows else step
            greedy.go_on(log_probabilities)
            return log_probabilities[:count]

        sequences = search.likeliest(
            opening[0],
            extend,
            count=count,
            limit=(limit := self.answer_tokens),
            ends=self.ends,
            is_stop=lambda tokens: self.stops[tokens],
            text_of=lambda tokens: self.tokenizer.decode(tokens).strip(),
        )
        before = (past, own.take([greedy.row])) if own and not greedy.ended else (past,)
        self._search.greedy = (self.frame, limit, prompt), greedy, before
        return [Response(t, True, min(value, 0.0), limit=limit) for t, value in sequences]

    def _greedy_of_search(self, prompt: str) -> Response | None:
        """Return the greedy answer where this thread's last search began it, once."""
        of, greedy, before = self._search.__dict__.pop("greedy", ((None, 0, ""), None, ()))
        limit = self.answer_tokens
        if greedy is None or of[0] is not self.frame or of[1:] != (limit, prompt):
            return None
        while not greedy.ended and len(greedy.tokens) + 1 < limit:
            _, token = greedy.join(np.empty(0, int), np.empty(0, int))
            log_probabilities, step = self._next(token[:, None], [*self._before, *before])
            before = (before[0], before[1].plus(step) if len(before) > 1 else step)
            greedy.go_on(log_probabilities)
        tokens = greedy.tokens if greedy.ended else [*greedy.tokens, greedy.next][:limit]
        complete = greedy.ended and len(greedy.tokens) < limit
        return Response(self.tokenizer.decode(tokens).strip(), complete, limit=limit)

    def log_likelihoods(
        self, prompts: Sequence[str], answers: Sequence[str]
    ) -> NDArray[np.float64]:
        """Score every answer under every prompt; see `LanguageModel.log_likelihoods`.

        What all prompts share is computed once, the rest of each prompt once, and only
        the answers row by row. Prompts that repeat an answer ever more often share more with
        the longest of them than with each other; they branch off it.
        """
        return self.score_together([(prompts, answers)])[0]

    def score_together(
        self, blocks: Sequence[tuple[Sequence[str], Sequence[str]]]
    ) -> list[NDArray[np.float64]]:
        """Score blocks in the same passes; see `LanguageModel.score_together`."""
        return self._passes.in_step([self._scoring(*block) for block in blocks])

    def _scoring(
        self, prompts: Sequence[str], answers: Sequence[str]
    ) -> Generator[Pass, Pass, NDArray[np.float64]]:
        """Want the passes of `log_likelihoods` one after the other, and return what it does."""
        if not prompts or not answers:
            return np.zeros((len(prompts), len(answers)))
        targets = [[*self.encode(self.frame.lead + answer), END] for answer in answers]
        longest = max(map(len, targets))
        tokens = [self._prompt_tokens(prompt, room=longest) for prompt in prompts]
        trunk, shared = common_trunk(tokens)
        past: Segment | None = None
        if len(trunk):
            nothing = np.empty(0, int)  # is asked for but what the trunk becomes
            past = (yield Pass(np.array([trunk]), self._before, nothing)).segment
        result = np.empty((len(prompts), len(answers)))
        own = max(len(t) - s for t, s in zip(tokens, shared, strict=True))
        rows = max(1, BLOCK_TOKENS // max(len(answers) * longest, own))
        columns = max(1, BLOCK_TOKENS // longest)
        for block in _blocks(len(prompts), rows):
            rest = [t[s:] for t, s in zip(tokens[block], shared[block], strict=True)]
            before = self._before
            if past is not None:
                before = (*before, branched_trunk(past, shared[block]))
            opening, segment = yield from self._read_prompts(rest, before)
            for part in _blocks(len(answers), columns):
                result[block, part] = yield from self._score(
                    targets[part], opening, (*before, segment)
                )
        return result

    def attention(
        self, prompt: str, states: list[NDArray[np.float32]] | None = None
    ) -> tuple[list[tuple[int, int]], NDArray[np.float32]]:
        """Return how the prompt's last position attends to every token of the prompt.

        `states`: filled with one array a layer, (tokens, W): what comes into it, not yet
        normalised. The last row is the last position's, which may stand behind the prompt.

        Returns where each token begins and ends in the prompt, in characters, and the weights,
        (layers, heads, tokens): each head's sum to 1, with those on what stands around the prompt.
        """
        head, tail = self.frame.head, self.frame.tail
        weights: list[NDArray[np.float32]] = []
        tokens = np.array([self._prompt_tokens(prompt)])
        self.llama.forward(tokens, self._before, attention=weights, states=states)
        begin, end = len(head), len(head) + len(prompt)
        offsets = self.tokenizer.encode(head + prompt + tail).offsets
        own = [i for i, (start, stop) in enumerate(offsets) if stop > begin and start < end]
        spans = [(max(offsets[i][0], begin), min(offsets[i][1], end)) for i in own]
        columns = len(self.frame.before) + np.array(own, int)
        return (
            [(start - begin, stop - begin) for start, stop in spans],
            np.concatenate(weights)[:, :, columns],
        )

    def _next(
        self, tokens: NDArray[np.int64], past: Sequence[Segment]
    ) -> tuple[NDArray[np.float32], Segment]:
        """Run tokens, (B, L); return ln p of what comes next, (B, V), and what they became."""
        rows, length = tokens.shape
        done = self._passes.run(Pass(tokens, past, np.arange(rows) * length + length - 1))
        return done.log_p, done.segment

    def _read_prompts(
        self, rest: list[list[int]], past: tuple[Segment, ...]
    ) -> Generator[Pass, Pass, tuple[NDArray[np.float32], Segment]]:
        """Run the prompts' own ends; return ln p of what comes next, `END` in the last column."""
        padded, lengths = _pad(rest)
        rows, length = padded.shape
        done = yield Pass(padded, past, np.arange(rows) * length + lengths - 1)
        opening, segment = done.log_p, done.segment
        ended = np.logaddexp.reduce(opening[:, self.ends], axis=1)
        opening = np.concatenate([opening, ended[:, None]], axis=1)
        return opening, Segment(segment.keys, segment.values, lengths)

    def _score(
        self, targets: list[list[int]], opening: NDArray[np.float32], past: tuple[Segment, ...]
    ) -> Generator[Pass, Pass, NDArray[np.float64]]:
        """Return ln Q of every target behind every prompt, of shape (prompts, targets)."""
        prompts = len(opening)
        padded, lengths = _pad([t[:-1] for t in targets])  # the end predicts nothing
        total = opening[:, [t[0] for t in targets]].astype(np.float64)
        following, _ = _pad([t[1:] for t in targets])
        real = np.tile(np.arange(padded.shape[1]) < lengths[:, None], (prompts, 1))
        answers = np.tile(padded, (prompts, 1)), np.tile(following, (prompts, 1))[real]
        scored = np.zeros(real.shape)
        scored[real] = (yield Pass(answers[0], past, np.flatnonzero(real), answers[1])).log_p
        return total + scored.sum(axis=1).reshape(prompts, len(targets))

    def _prompt_tokens(self, prompt: str, room: int = 0) -> list[int]:
        tokens = self.encode(self.frame.head + prompt + self.frame.tail)
        around = len(self.frame.before) + len(self.frame.after)
        limit = max(0, self.llama.context_length - (room or self.answer_tokens) - around)
        if len(tokens) > limit:
            raise PromptTooLongError(
                f"The prompt has {len(tokens):,} tokens and {self.title} has room for "
                f"{limit:,}. Shorten the question or repeat fewer answers."
            )
        return [*tokens, *self.frame.after]


class GreedyPath:
    """The greedy answer, which goes along with the beginnings of a search.

    `stops`, `stops_at_once` and `is_blank`, (V,), are as of `LlamaModel`; `opening`, (V,), is ln p
    of the first token. `tokens` are those read so far, `next` the one that follows, which may have
    `ended` the answer, and `row` its place among the rows of the last pass.
    """

    def __init__(
        self,
        stops: NDArray[np.bool_],
        stops_at_once: NDArray[np.bool_],
        is_blank: NDArray[np.bool_],
        opening: NDArray[np.float32],
    ) -> None:
        self.stops, self.stops_at_once, self.is_blank = stops, stops_at_once, is_blank
        self.tokens: list[int] = []
        self.row = self.next = 0
        self.ended = self._begun = False
        self._meet(opening)

    def join(
        self, rows: NDArray[np.int64], tokens: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows that go on, each with its token, itself among them until it ends."""
        if self.ended:
            return rows, tokens
        here = np.flatnonzero((rows == self.row) & (tokens == self.next))
        if len(here):
            self.row = int(here[0])
            return rows, tokens
        rows, tokens = np.append(rows, self.row), np.append(tokens, self.next)
        self.row = len(rows) - 1
        return rows, tokens

    def go_on(self, log_probabilities: NDArray[np.float32]) -> None:
        """Read its token in a pass that it joined; ln p of what follows each row, (B, V)."""
        if not self.ended:
            self.tokens.append(self.next)
            self._meet(log_probabilities[self.row])

    def _meet(self, log_probabilities: NDArray[np.float32]) -> None:
        self.next = int(log_probabilities.argmax())
        self.ended = bool((self.stops if self._begun else self.stops_at_once)[self.next])
        self._begun = self._begun or not self.is_blank[self.next]


@once
def _hold_to_one_thread() -> None:
    """Hold NumPy's matrix library to one thread from now on; see `runtime`'s products.

    Not call by call: with several threads here, only the first could set that, and would free it
    while the others are still computing.
    """
    ThreadpoolController().limit(limits=1, user_api="blas")


@once
def _read(llama: Llama, tokens: tuple[int, ...]) -> Segment:
    """Read what stands in front of every prompt, once a process."""
    return llama.forward(np.array([tokens]))[1]


def draw_tokens(
    log_probabilities: NDArray[np.float32],
    uniform: NDArray[np.float64],
    temperature: float,
    rows: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Draw a token of each of `rows` by inverting its distribution function; 0 is the likeliest."""
    if temperature == 0:
        return log_probabilities.argmax(axis=1)[rows]
    scaled = log_probabilities.astype(np.float64) / temperature
    cumulative = np.exp(scaled - scaled.max(axis=1, keepdims=True)).cumsum(axis=1)
    places = zip(rows, uniform * cumulative[rows, -1], strict=True)
    return np.array([cumulative[row].searchsorted(height) for row, height in places], int)


def common_trunk(prompts: Sequence[list[int]]) -> tuple[list[int], NDArray[np.int64]]:
    """Return what is computed once, and how much of it each prompt begins with.

    Either the prefix of all, or, where that saves half of the work, the longest prompt.
    """
    common = common_prefix(prompts)
    longest = max(prompts, key=len)
    branching = np.array([min(common_prefix([p, longest]), len(p) - 1) for p in prompts])
    rest = max(len(p) - b for p, b in zip(prompts, branching.tolist(), strict=True))
    # What is left of the prompts is padded to the longest of it.
    with_prefix = common + len(prompts) * (len(longest) - common)
    if 2 * (int(branching.max()) + len(prompts) * rest) < with_prefix:
        return longest[: int(branching.max())], branching
    return longest[:common], np.full(len(prompts), common)


def branched_trunk(trunk: Segment, lengths: NDArray[np.int64]) -> Segment:
    """Return a trunk that each row leaves at its own place; one place where all agree."""
    places = lengths if len({*lengths.tolist()}) > 1 else lengths[:1]
    return Segment(trunk.keys, trunk.values, places)


def _pad(sequences: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    lengths = np.array([len(s) for s in sequences])
    padded = np.zeros((len(sequences), lengths.max()), int)
    for row, sequence in zip(padded, sequences, strict=True):
        row[: len(sequence)] = sequence
    return padded, lengths


def _blocks(total: int, size: int) -> Iterator[slice]:
    return (slice(start, min(start + size, total)) for start in range(0, total, size))
