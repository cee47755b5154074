"""Any causal language model that transformers can run: ``hf:PATH_OR_NAME``.

A special token that is written out in a text is text; only the marks of the model's own chat
template are read as such, where it is asked as in a chat. Where the weights come from stands in
`loading`, how they are run in `runner`.
"""

import copy
import threading
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from core.language_models import search
from core.language_models.backends.huggingface.loading import open_files
from core.language_models.backends.huggingface.runner import Network, Past, Tensor
from core.language_models.chat_template import SYSTEM, around
from core.language_models.errors import ModelError, PromptTooLongError
from core.language_models.forms import Example, Form, Frame, in_front, too_small
from core.language_models.framed_model import FramedModel, common_prefix
from core.language_models.language_model import (
    MAX_RESPONSE_TOKENS,
    Capabilities,
    Response,
    prompt_seed,
)
from core.language_models.usage import Meter, Speed
from core.prompts import ANSWER, iterative

# The last digits of a number depend on how many rows its batch has. Responses are therefore
# drawn in whole blocks of this many indices: each depends on its own index alone, to the bit.
ROWS_A_DRAW = 16

TRIAL = "What is the capital of France?"
LIKELIEST = 20  # how many tokens `next_token` lists

# Line breaks are among a model's ends if they come at least this often for one end token.
LEAST_BREAKS = 0.01


class HuggingFace(FramedModel):
    """A causal language model of the Hugging Face hub, or of a folder in its format.

    The name is a folder, or one of the hub such as ``Qwen/Qwen2.5-0.5B``; the key a token of the
    hub, for gated and private models, by default ``HF_TOKEN``; the device ``cpu``, ``cuda`` or
    ``cuda:1``, by default a GPU if there is one.

    Raises `ModelError` with a sentence, when it cannot be opened.
    """

    capabilities = Capabilities(
        scores_given_text=True,
        own_log_likelihoods=True,
        next_token=True,
        searches=True,
        limits_answers=True,
    )

    def __init__(
        self, name: str = "", *, key: str | None = None, device: str | None = None
    ) -> None:
        self.name = f"hf:{name}"
        self.meter = Meter()
        opened = open_files(name, key, device)
        self.weights_revision = opened.revision
        self._tokenizer = opened.tokenizer
        self._lock = threading.Lock()  # a tokenizer is not for two at once
        self.end_tokens = opened.end_tokens
        self._stops: dict[int, bool] = {}
        plain, marked = self.encode(ANSWER), list(self._tokenizer.encode(ANSWER))
        places = (i for i in range(len(marked)) if marked[i : i + len(plain)] == plain)
        self._marks = marked[: next(places, 0)]  # but not what some put behind a text
        self._own_space = self.encode(f"{ANSWER} a") != plain + self.encode(" a")
        config = opened.network.config.get_text_config()
        self._context: int | None = getattr(config, "max_position_embeddings", None)
        self.frame = Frame(self._marks)
        self.speed = Speed()
        trial = self.encode_prompt(iterative(TRIAL))[: self._context]
        self.network = Network(self.name, opened.network, opened.device, trial, self.speed)
        self.capabilities = replace(self.capabilities, quick=opened.device.type != "cpu")
        self.set_form(Form.PLAIN)

    def put_in(self, frame: Frame) -> None:
        """Put a frame around every prompt; see `FramedModel.put_in`."""
        self.frame = frame
        around = len(frame.before) + len(frame.after)
        if self._context is not None and around + MAX_RESPONSE_TOKENS >= self._context:
            raise too_small(self.name, self.form)
        self._before: Past | None = None
        if self.form is not Form.PLAIN and frame.before:  # marks alone are read in a moment
            with self.network.at_work():
                self._before = self.network.read(self.network.tensor([frame.before]))[1]
        self._ends = self.network.tensor(self._usual_ends())

    def text_frame(self, examples: Sequence[Example]) -> Frame:
        """Return the marks in front and the examples; see `FramedModel.text_frame`."""
        return Frame([*self._marks, *(self.encode(in_front(examples)) if examples else ())])

    def turn_frame(self, template: str, examples: Sequence[Example]) -> Frame:
        """Return the tokenizer's turns; see `FramedModel.turn_frame`."""
        tokenizer = self._tokenizer
        marks = {name: getattr(tokenizer, name, None) or "" for name in ("bos_token", "eos_token")}
        before, after = around(template, marks, examples, system=bool(self.system))
        with self._lock:
            *opening, front, behind = (
                list(tokenizer.encode(text, add_special_tokens=False))
                for text in (*before.split(SYSTEM), after)
            )
        system = self.encode(self.system)  # in which no mark is one
        return Frame([*chain(*opening), *system, *front], behind, lead="")

    @property
    def template(self) -> str | None:
        """That of the tokenizer; of several, the default."""
        template = getattr(self._tokenizer, "chat_template", None)
        if isinstance(template, dict):  # several, by their names
            template = template.get("default")
        return template if isinstance(template, str) else None

    def encode_prompt(self, prompt: str) -> list[int]:
        """Return a prompt's tokens, with all that stands around it."""
        return [*self.frame.before, *self.encode(prompt), *self.frame.after]

    def encode_answer(self, answer: str) -> list[int]:
        """Return the tokens of an answer, as they stand behind any prompt.

        They are encoded by themselves, behind a space or as a turn of its own, so that no token
        straddles the border. Where a tokenizer puts a space of its own before every text, they
        are what the answer adds to the tokens of ``A:``, with which all prompts end.
        """
        if self._own_space and self.frame.lead:
            before, both = self.encode(ANSWER), self.encode(f"{ANSWER} {answer}")
            if both[: len(before)] == before:
                return both[len(before) :]
        return self.encode(self.frame.lead + answer)

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text; “<|end|>” in a question is text, and ends nothing."""
        with self._lock:
            return list(
                self._tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
            )

    def decode(self, tokens: Sequence[int], *, special: bool = False) -> str:
        """Return the text of tokens, without special ones unless they are asked for."""
        with self._lock:
            text = self._tokenizer.decode(
                list(tokens), skip_special_tokens=not special, clean_up_tokenization_spaces=False
            )
        return str(text)

    def _prompt_tokens(self, prompt: str, room: int) -> list[int]:
        tokens = self.encode_prompt(prompt)
        if not tokens:
            raise ModelError("The prompt is empty. Write one.")
        if self._context is not None and len(tokens) > self._context - room:
            raise PromptTooLongError(
                f"The prompt has {len(tokens):,} tokens and {self.name} has room for "
                f"{max(0, self._context - room):,}. Shorten the question or repeat fewer answers."
            )
        return tokens

    def _read(self, tokens: list[int]) -> tuple[Tensor, Past]:
        """Read a text from its beginning; what stands in front of every prompt was read before."""
        network, before = self.network, len(self.frame.before)
        if self._before is None or len(tokens) <= before:
            return network.read(network.tensor([tokens]))
        return network.read(network.tensor([tokens[before:]]), copy.deepcopy(self._before))

    def stops_at(self, token: int) -> bool:
        """Whether a response ends with this token: an end token, or one with a line break."""
        if token not in self._stops:
            self._stops[token] = token in self.end_tokens or "\n" in self.decode([token])
        return self._stops[token]

    def _usual_ends(self) -> list[int]:
        """Return the tokens that end an answer.

        They are the model's end tokens; and line breaks as well where it is not unlikely to
        end a line instead, as those are that never were taught to answer.
        """
        ends = sorted(self.end_tokens)
        # All of the text where the context has no limit: [-0:] is everything.
        finished = self.encode_prompt(iterative(TRIAL)) + self.encode_answer("Paris")
        likeliest = dict(self._next_tokens(finished[-(self._context or 0) :]))
        stops = [value for token, value in likeliest.items() if self.stops_at(token)]
        ended = np.exp([likeliest.get(token, -np.inf) for token in ends]).sum()
        if np.exp(stops).sum() <= (1 + LEAST_BREAKS) * ended:
            return ends
        return list(filter(self.stops_at, range(self.network.vocabulary)))

    def sample(
        self, prompt: str, count: int, *, temperature: float = 1.0, seed: int = 0, first: int = 0
    ) -> list[Response]:
        """Draw responses in batches; see `LanguageModel.sample`.

        Every index has its own stream of uniform numbers, and a number becomes a token by
        inverting the distribution over the tokens in the order of their ids. A runtime of the
        same weights that draws in this way draws the same responses, unless a number falls
        between two roundings of the same sum (for float32, about once in a million tokens).
        At temperature 0 the lowest id wins a tie.

        A response is what was said before the token that ended it (nothing of that token
        belongs to it); its log-likelihood includes that token.
        """
        tokens = self._prompt_tokens(prompt, self.answer_tokens)
        if count < 1:
            return []
        network = self.network
        own_seed = prompt_seed(seed, prompt)
        responses: list[Response] = []
        with network.at_work():
            opening, past = self._read(tokens)
            rows = min(ROWS_A_DRAW, network.rows(len(tokens) + self.answer_tokens, 1))
            start = first - first % ROWS_A_DRAW
            total = first + count - start
            total += -total % ROWS_A_DRAW

            def draw(part: slice) -> None:
                indices = range(start + part.start, start + part.stop)
                drawers = [np.random.default_rng([own_seed, index]) for index in indices]
                responses.extend(self._draw(opening, copy.deepcopy(past), drawers, temperature))

            if temperature == 0:  # the same for every index
                draw(slice(0, 1))
                responses *= count
            else:
                network.in_blocks(total, rows, draw)
                responses = responses[first - start :][:count]
        self.meter.add(requests=1, prompt_tokens=len(tokens))
        return responses

    def _draw(
        self, opening: Tensor, past: Past, drawers: list[np.random.Generator], temperature: float
    ) -> list[Response]:
        """Draw a response with every generator behind one prompt; `past` is used up."""
        network, count = self.network, len(drawers)
        sequences: list[list[int]] = [[] for _ in range(count)]
        complete = np.zeros(count, bool)
        log_likelihoods = np.zeros(count)
        alive = np.arange(count)
        past.take(network.tensor([0] * count))
        logits = opening.repeat(count, 1, 1)  # (rows, 1, V)
        limit = self.answer_tokens
        for length in range(1, limit + 1):
            log_probabilities = network.numbers(logits[:, -1].float().log_softmax(dim=-1))
            uniform = np.array([drawers[i].random() for i in alive])
            tokens = self._pick(log_probabilities, uniform, temperature)
            chosen = log_probabilities.gather(1, tokens[:, None])[:, 0]
            log_likelihoods[alive] += chosen.cpu().numpy()
            for i, token in zip(alive, tokens.tolist(), strict=True):
                sequences[i].append(token)
                # White space and line breaks in front of an answer are no answer and no end.
                blank = token not in self.end_tokens and not self.decode(sequences[i]).strip()
                complete[i] = self.stops_at(token) and not blank
            going_on = np.flatnonzero(~complete[alive])
            if not len(going_on) or length == limit:
                break
            if len(going_on) < len(alive):
                rows = network.tensor(going_on)
                tokens, past, alive = tokens[rows], past.take(rows), alive[going_on]
            logits, past = network.read(tokens[:, None], past)
        self.meter.add(response_tokens=sum(map(len, sequences)))
        return [
            Response(self.decode(ids[:-1] if done else ids).strip(), bool(done), own, limit=limit)
            for ids, done, own in zip(sequences, complete, log_likelihoods.tolist(), strict=True)
        ]

    def _pick(
        self, log_probabilities: Tensor, uniform: NDArray[np.float64], temperature: float
    ) -> Tensor:
        """Draw a token a row by inverting its distribution function; 0 is the likeliest."""
        network = self.network
        if temperature == 0:
            # NumPy says which of several maxima it returns, PyTorch does not.
            return network.tensor(log_probabilities.cpu().numpy().argmax(axis=1))
        scaled = log_probabilities.double() / temperature
        cumulative = (scaled - scaled.amax(dim=1, keepdim=True)).exp().cumsum(dim=1)
        levels = network.tensor(uniform)[:, None] * cumulative[:, -1:]
        return network.torch.searchsorted(cumulative, levels)[:, 0]

    def likeliest(self, prompt: str, count: int) -> list[Response]:
        """Search for answers; see `LanguageModel.likeliest`. All beginnings in one batch."""
        tokens = self._prompt_tokens(prompt, self.answer_tokens)
        network = self.network
        with network.at_work():
            opening, past = self._read(tokens)

            def extend(rows: NDArray[np.int64], tokens: NDArray[np.int64]) -> NDArray[np.float64]:
                nonlocal past
                behind = past.take(network.tensor(rows))
                logits, past = network.read(network.tensor(tokens[:, None]), behind)
                return network.numbers(logits[:, -1].float().log_softmax(dim=-1)).numpy()

            sequences = search.likeliest(
                network.numbers(opening[0, -1].float().log_softmax(dim=-1)).numpy(),
                extend,
                count=count,
                limit=(limit := self.answer_tokens),
                ends=self._ends.cpu().numpy(),
                is_stop=lambda tokens: np.array([self.stops_at(t) for t in tokens.tolist()], bool),
                text_of=lambda tokens: self.decode(tokens).strip(),
            )
        self.meter.add(requests=1, prompt_tokens=len(tokens))
        return [Response(text, True, min(value, 0.0), limit=limit) for text, value in sequences]

    def log_likelihoods(
        self, prompts: Sequence[str], answers: Sequence[str]
    ) -> NDArray[np.float64]:
        """Score every answer under every prompt; see `LanguageModel.log_likelihoods`.

        What is summed: ln p of every token of `encode_answer`, and of the end behind them.
        The end is the end token, or any of them where a model has several. A model that was
        not taught to answer ends a line instead; whether this one does is tried once, when it
        is opened, and then every token with a line break counts as an end, too, behind every
        answer: whatever would have ended the response.

        What all prompts share is run once, the rest of each prompt once, and only the answers
        row by row. Prompts share a batch when they are equally long.
        """
        result = np.empty((len(prompts), len(answers)))
        if not result.size:
            return result
        targets = [self.encode_answer(answer) for answer in answers]
        longest = max(map(len, targets)) + 1  # the end
        tokens = [self._prompt_tokens(prompt, longest) for prompt in prompts]
        network = self.network
        with network.at_work():
            shared = common_prefix(tokens) if len(tokens) > 1 else 0
            past = self._read(tokens[0][:shared])[1] if shared else None
            for group in _equally_long(tokens):
                rows = network.rows(len(tokens[group[0]]) + longest, longest)

                def score(part: slice, group: NDArray[np.int64] = group, rows: int = rows) -> None:
                    rest = [tokens[i][shared:] for i in group[part]]
                    result[group[part]] = self._score_prompts(rest, past, targets, rows)

                network.in_blocks(len(group), max(1, rows // len(answers)), score)
        self.meter.add(
            requests=1,
            prompt_tokens=sum(map(len, tokens)),
            response_tokens=len(prompts) * sum(map(len, targets)),
        )
        return np.minimum(network.numbers(result), 0)  # a certainty can be rounded to 1e-7

    def _score_prompts(
        self, rest: list[list[int]], shared: Past | None, targets: list[list[int]], rows: int
    ) -> NDArray[np.float64]:
        """Score all targets behind prompts of one length, of shape (prompts, targets)."""
        network = self.network
        before = None
        if shared is not None:
            before = copy.deepcopy(shared).take(network.tensor([0] * len(rest)))
        opening, past = network.read(network.tensor(rest), before)
        result = np.empty((len(rest), len(targets)))

        def score(part: slice) -> None:
            result[:, part] = self.score(targets[part], opening, past)

        network.in_blocks(len(targets), max(1, rows // len(rest)), score)
        return result

    def score(self, targets: list[list[int]], opening: Tensor, past: Past) -> NDArray[np.float64]:
        """Return ln Q of every target behind every prompt, of shape (prompts, targets)."""
        network, prompts, longest = self.network, len(opening), max(map(len, targets))
        padded = np.zeros((len(targets), longest + 1), int)
        for row, target in zip(padded, targets, strict=True):
            row[: len(target)] = target
        # B rows: all targets behind the first prompt, all behind the second, …
        tokens = network.tensor(padded).repeat(prompts, 1)  # (B, L + 1)
        lengths = network.tensor([len(target) for target in targets]).repeat(prompts)  # (B,)
        rows = network.tensor(np.repeat(np.arange(prompts), len(targets)))
        steps = [self._step(opening[rows], tokens[:, :1])]
        if longest:
            behind = copy.deepcopy(past).take(rows)
            logits, _ = network.read(tokens[:, :-1], behind, keep=longest)
            steps.append(self._step(logits, tokens[:, 1:]))
        log_probabilities, ended = network.torch.cat(steps, dim=2).double()  # (B, L + 1) each
        inside = network.tensor(np.arange(longest + 1)) < lengths[:, None]
        total = (log_probabilities * inside).sum(dim=1) + ended.gather(1, lengths[:, None])[:, 0]
        return np.asarray(total.cpu().numpy().reshape(prompts, len(targets)))

    def _step(self, logits: Tensor, following: Tensor) -> Tensor:
        """Return ln p of what follows and of the end: (B, L, V) and (B, L) to (2, B, L)."""
        logits = logits.float()
        log_probabilities = logits.gather(-1, following[..., None])[..., 0]
        ended = logits[..., self._ends].logsumexp(dim=-1)
        return self.network.torch.stack([log_probabilities, ended]) - logits.logsumexp(dim=-1)

    def next_token(self, prompt: str) -> dict[str, float]:
        """Return ln p of the 20 likeliest next tokens; see `LanguageModel.next_token`.

        Tokens that are written alike are one entry: their probabilities are added.
        """
        tokens = self._prompt_tokens(prompt, 1)
        result: dict[str, float] = {}
        for token, value in self._next_tokens(tokens):
            text = self.decode([token], special=True)
            result[text] = float(np.logaddexp(result.get(text, -np.inf), value))
        self.meter.add(requests=1, prompt_tokens=len(tokens))
        return result

    def _next_tokens(self, tokens: list[int]) -> list[tuple[int, float]]:
        network = self.network
        with network.at_work():
            logits, _ = self._read(tokens)
            log_probabilities = network.numbers(logits[0, -1].float().log_softmax(dim=-1))
            best = log_probabilities.topk(min(LIKELIEST, len(log_probabilities)))
            return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))


def _equally_long(sequences: list[list[int]]) -> list[NDArray[np.int64]]:
    lengths = np.array([len(sequence) for sequence in sequences])
    return [np.flatnonzero(lengths == length) for length in np.unique(lengths)]
