"""How likely given answers are: the half of an OpenAI-compatible model that scores."""

import json
import math
import threading
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.language_models.backends.openai import echo, grammar, input_logprobs
from core.language_models.backends.openai.abilities import OpenAIAbilities
from core.language_models.backends.openai.http import GRAMMAR, Rejection, Service
from core.language_models.backends.openai.probe import Probe
from core.language_models.backends.openai.replies import LEAST, Reply, Tokens
from core.language_models.errors import ModelError, UnscorableError
from core.language_models.forms import in_front
from core.language_models.language_model import LanguageModel
from core.language_models.stopping import current_stop

PAIRS_A_CALL = 32
MOST_ALONE = 1000  # prompts whose tokens are kept


@dataclass
class Endpoint:
    """What this process knows about one server, model and key."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    abilities: OpenAIAbilities | None = None  # None until they are known
    # Whether they are from another process, and the server has not been seen to be the same.
    recalled: bool = False
    # When its weights were last seen to be those of the abilities, by `time.monotonic`.
    last_look: float = -math.inf
    probe: Probe | None = None  # one that broke off
    # Those of answers, where the server was asked for them.
    tokens: dict[str, list[int]] = field(default_factory=dict)
    # Answers of which some tokens are only parts of characters.
    parted: set[str] = field(default_factory=set)
    # Those of prompts, where they are asked for one by one.
    alone: dict[str, Tokens] = field(default_factory=dict)


class Scoring(LanguageModel):
    """Scores answers in whatever way its server has; a subclass makes the requests."""

    _model: str
    _service: Service
    _endpoint: Endpoint
    _behind_examples: bool

    @property
    @abstractmethod
    def _abilities(self) -> OpenAIAbilities: ...

    @abstractmethod
    def _body(self, abilities: OpenAIAbilities, prompt: str, **options: Any) -> Reply: ...

    @abstractmethod
    def _end(self, abilities: OpenAIAbilities) -> str: ...

    @abstractmethod
    def _post(
        self, abilities: OpenAIAbilities, path: str, body: Reply, *, beside: bool = False
    ) -> Reply: ...

    def log_likelihoods(
        self, prompts: Sequence[str], answers: Sequence[str]
    ) -> NDArray[np.float64]:
        """Score every answer under every prompt; see `LanguageModel.log_likelihoods`.

        The end of an answer counts only where it is known; see the module. Each request
        also echoes its prompts alone: how many tokens of a text are the prompt's is read off
        that, since the offsets that servers report are shifted by marks at the beginning and
        by characters of several tokens. NaN stands where a text comes back changed.

        Raises `ModelError`, also when `end` is not a token of the server.
        """
        abilities = self._abilities
        if abilities.forced or self._one_by_one(abilities):
            score = self._forced_likelihood if abilities.forced else self._given_likelihood
            values = [_or_nan(partial(score, abilities, p, a)) for p in prompts for a in answers]
            return np.array(values).reshape(len(prompts), len(answers))
        if not (abilities.echo or abilities.given):
            raise ModelError(f"{self.name} does not report how likely given answers are.")
        end = self._end(abilities)
        if self._behind_examples:
            prompts = [in_front() + prompt for prompt in prompts]
        result = np.empty((len(prompts), len(answers)))
        pairs = [(i, j) for i in range(len(prompts)) for j in range(len(answers))]
        for start in range(0, len(pairs), PAIRS_A_CALL):
            block = pairs[start : start + PAIRS_A_CALL]
            contexts = list(dict.fromkeys(i for i, _ in block))
            texts = [prompts[i] for i in contexts]
            texts += [_whole(prompts[i], answers[j], end) for i, j in block]
            echoed = self._read(abilities, texts)
            alone = dict(zip(contexts, echoed, strict=False))
            for (i, j), text in zip(block, echoed[len(contexts) :], strict=True):
                empty = not (answers[j] or end)  # every text begins so: that says nothing
                most = 0 if abilities.given else echo.MOST_SPLIT
                score_of = partial(echo.behind, self._service, alone[i], text, end, most)
                result[i, j] = LEAST if empty else _or_nan(score_of)
        return result

    def _read(self, abilities: OpenAIAbilities, texts: Sequence[str]) -> list[Tokens]:
        if abilities.given:
            return self._given_tokens(
                abilities, input_logprobs.request(abilities.given, texts), len(texts)
            )
        reply = self._post(abilities, "/completions", echo.request(self._model, texts))
        return echo.tokens(self._service, reply, texts)

    def _given_tokens(self, abilities: OpenAIAbilities, body: Reply, count: int) -> list[Tokens]:
        """Return the tokens that a request of `input_logprobs` asks for."""
        beside = not abilities.chat
        path = input_logprobs.PATH if beside else abilities.path
        reply = self._post(abilities, path, body, beside=beside)
        token_lists = input_logprobs.read(abilities.given, reply, self._end(abilities))
        if len(token_lists) != count:
            raise self._service.reply_error("a text without its log-probabilities")
        if beside:  # it has no field of OpenAI's for what was used
            self.meter.add(prompt_tokens=sum(map(len, token_lists)))
        return token_lists

    @staticmethod
    def _one_by_one(abilities: OpenAIAbilities) -> bool:
        """Whether each text is a request, those of prompts alone as well."""
        return abilities.given in (input_logprobs.PROMPT_LOGPROBS, input_logprobs.PREFILL)

    def _given_likelihood(self, abilities: OpenAIAbilities, prompt: str, answer: str) -> float:
        """Return how likely an answer is, where each text is a request."""
        end = self._end(abilities)
        if not (answer or end):  # every text begins so: that says nothing
            return LEAST
        if abilities.chat:
            body = self._body(abilities, prompt, limit=1, temperature=1.0)
            before, whole = (
                input_logprobs.continuation(body, None),
                input_logprobs.continuation(body, answer + end),
            )
        else:
            text = in_front() + prompt if self._behind_examples else prompt
            before = input_logprobs.request(abilities.given, [text])
            whole = input_logprobs.request(abilities.given, [_whole(text, answer, end)])
        alone_counts, name = self._endpoint.alone, json.dumps([before, end])
        with current_stop().holding(self._endpoint.lock):  # another one may be asking
            if name not in alone_counts:
                tokens = self._given_tokens(abilities, before, 1)[0]
                while len(alone_counts) >= MOST_ALONE:
                    del alone_counts[next(iter(alone_counts))]  # the oldest
                alone_counts[name] = tokens
            alone = alone_counts[name]
        both = self._given_tokens(abilities, whole, 1)[0]
        return echo.behind(self._service, alone, both, end, most_split=0)

    def _forced_likelihood(self, abilities: OpenAIAbilities, prompt: str, answer: str) -> float:
        """Return how likely an answer is that the server is made to say."""
        tokens = self._tokens(answer)
        body = self._body(abilities, prompt, limit=1, temperature=1.0)
        if answer in self._endpoint.parted:
            return self._place_by_place(abilities, body, tokens)
        try:
            reply = self._post(abilities, abilities.path, grammar.request(body, tokens))
        except Rejection as error:
            if not GRAMMAR.search(error.words):
                raise
            raise UnscorableError(str(error)) from None
        return min(math.fsum(grammar.token_log_probabilities(self._service, reply, tokens)), 0.0)

    def _place_by_place(
        self, abilities: OpenAIAbilities, body: Reply, tokens: Sequence[int]
    ) -> float:
        """Return how likely an answer is, by a request for each of its tokens and its end."""
        line_break = self._tokens("\n")[-1]
        values = []
        for place, token in enumerate([*tokens, None]):
            at_place = grammar.request_at(body, tokens[:place], line_break)
            reply = self._post(abilities, abilities.path, at_place)
            values.append(grammar.log_probability_at(self._service, reply, token))
        return min(math.fsum(values), 0.0)

    def _tokens(self, answer: str) -> list[int]:
        """Return the tokens of an answer behind a prompt; asked for once."""
        counts = self._endpoint.tokens
        with current_stop().holding(self._endpoint.lock):  # another one may be asking
            if answer and answer not in counts:
                text = f" {answer}" if answer.strip() else answer
                tokens = grammar.tokens_behind(self._service, grammar.BEFORE, text)
                if grammar.is_parted(self._service, tokens, grammar.BEFORE + text):
                    self._endpoint.parted.add(answer)
                counts[answer] = tokens
        return counts.get(answer, [])


def _or_nan(score: Callable[[], float]) -> float:
    """Return a score; NaN where this one answer has none."""
    try:
        return score()
    except UnscorableError:
        return math.nan


def _whole(prompt: str, answer: str, end: str) -> str:
    """Return a prompt with an answer; there is no space in front of an empty one."""
    return f"{prompt} {answer}{end}" if answer else f"{prompt}{end}"
