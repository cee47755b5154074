"""Any server that speaks OpenAI's completions or chat completions, over `requests`.

What a server can do differs from one to the next, and its name does not tell. Up to
`MOST_PROBES` small requests find it out, once a process for each server, model and key:

1. Completions that repeat a given text with the log-probability of each of its tokens
   ("echo") score given text: Algorithm 3. vLLM, SGLang and Fireworks do.
2. Otherwise completions, or 3. chat completions, may give the log-probabilities of what they
   sampled. OpenAI, Ollama and llama.cpp do.
4. Otherwise there are answers and nothing else.

A server that only chats gets a prompt as the one message of a user.

What is summed
--------------
*A given answer* (echo): the tokens behind the prompt in ``prompt + " " + answer``. A server
cannot be asked how likely it is to stop there, so the end is left out, for every answer. The
number then is the probability that a response *begins* so: "London" has the probability of
"London, UK" in it. Where the server reads some text as its end token (``</s>``,
``<|endoftext|>``, …), `end` names it, and the end is included for every answer. `revision` says
which.

*A sampled answer*: the tokens that the reply lists, up to the line break if it came to one. Some
servers list the token that ended the answer and some do not; it counts where it is listed.

Temperature
-----------
Some servers report the log-probabilities of their samples after dividing by the temperature.
The probe asks for the same next token at two temperatures; where the values differ, or cannot be
compared, `own_log_likelihoods` is false, since it must hold at every temperature. Nothing is
ever computed back. `next_token` and scores of given text are asked for at temperature 1.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from core.codec import shortened
from core.language_models.backends.openai.address import read_address, split_name
from core.language_models.backends.openai.http import (
    ABSENT,
    LEAST,
    LONGEST_WORDS,
    Rejected,
    Reply,
    Service,
    Tokens,
    is_uneven,
    tokens_of,
    top_of,
    total,
    until_line_break,
    used,
)
from core.language_models.base import (
    MAX_RESPONSE_TOKENS,
    Capabilities,
    LanguageModel,
    Response,
    series,
)
from core.language_models.errors import ModelError, NeedsKeyError, RefusedError, UnknownModelError
from core.language_models.stopping import current_stop
from core.language_models.usage import Meter
from core.settings import OPENAI_KEY, end_text, environment_key

MOST_PROBES = 4
PROBES = (
    "Q: What is the capital of France? A: Paris. Q: What is the capital of Italy? A:",
    "Q: Name a colour. A:",
)
TOP = 5  # likeliest next tokens; more is refused by some servers
CANDIDATES_A_CALL = 8
PAIRS_A_CALL = 32
MOST_SPLIT = 2


@dataclass(frozen=True)
class Abilities:
    """How to speak to a server, and what it does then.

    Attributes
    ----------
    chat : bool
        Chat completions instead of completions.
    echo : int or None
        How many tokens it insists on generating behind an echo; None if it does not echo.
    own : bool
        Whether it lists what it sampled with log-probabilities, at any temperature the same.
    top : mapping
        The likeliest next tokens of a probe; empty if it does not say.
    many : bool
        Whether it draws several candidates at once.
    plain : bool
        Whether it refuses seeds, stops and the like.
    scaled : bool or None
        Whether log-probabilities depend on the temperature; None if that is not known.
    limit : str
        What it calls the largest number of tokens.
    stated : str
        The model that it says it is.
    """

    chat: bool = False
    echo: int | None = None
    own: bool = False
    top: Mapping[str, float] = field(default_factory=dict)
    many: bool = False
    plain: bool = False
    scaled: bool | None = None
    limit: str = "max_tokens"
    stated: str = ""

    @property
    def path(self) -> str:
        """Where requests go, below the base URL."""
        return "/chat/completions" if self.chat else "/completions"


@dataclass
class _Endpoint:
    """What this process knows about one server, model and key."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    abilities: Abilities | None = None


_ENDPOINTS: dict[tuple[str, str, str], _Endpoint] = {}


class OpenAICompatible(LanguageModel):
    """A model behind an address that speaks OpenAI's HTTP interface.

    Parameters
    ----------
    rest : str
        ``NAME@BASE_URL``, or the name of a model of OpenAI's own.
    key : str, optional
        By default ``OPENAI_API_KEY`` of the environment, where it may be used. Many local
        servers want none.
    end : str, optional
        The text that this server reads as its end token; see the module.

    Raises
    ------
    ModelError
        When the name or the address is none, or not permitted. No request is made.
    """

    def __init__(self, rest: str = "", key: str | None = None, *, end: str | None = None) -> None:
        self.name = f"openai:{rest}"
        self.meter = Meter()
        self._model, url = split_name(rest)
        address = read_address(url)
        if not key and address.may_have_our_key:
            key = environment_key(OPENAI_KEY)
            self.uses_environment_key = key is not None
        key = (key or "").strip()
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise NeedsKeyError("The key contains characters that no key has. Copy it again.")
        self._end = end or end_text()
        self._service = Service(address, key or None, self.meter)
        secret = hashlib.sha256(key.encode()).hexdigest()
        self._endpoint = _ENDPOINTS.setdefault((address.url, self._model, secret), _Endpoint())

    def __repr__(self) -> str:
        return f"OpenAICompatible({self.name.removeprefix('openai:')!r})"

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        """What the probe found; asks the server on first use."""
        found = self._abilities
        return Capabilities(
            scores_given_text=found.echo is not None,
            own_log_likelihoods=found.own,
            whole_answers=bool(self._end),
            next_token=bool(found.top),
            seeded=not found.plain,
            local=False,
            candidates_a_call=CANDIDATES_A_CALL if found.many else 1,
            pairs_a_call=PAIRS_A_CALL,
        )

    @property
    def revision(self) -> str:  # type: ignore[override]
        """How the server is spoken to, and which model it says it is."""
        found = self._abilities
        parts = ["chat completions" if found.chat else "completions"]
        if found.echo is not None:
            parts += ["echo", f"end token “{self._end}”" if self._end else "no end token"]
        if found.scaled:
            parts.append("log-probabilities scaled by temperature")
        if found.plain:
            parts.append("no seed, no stop")
        return "; ".join(filter(None, [", ".join(parts), found.stated]))

    # ---------------------------------------------------------------------- sampling

    def sample(
        self, prompt: str, count: int, *, temperature: float = 1.0, seed: int = 0, first: int = 0
    ) -> list[Response]:
        """Draw responses; see `LanguageModel.sample`.

        The greedy response is asked for once, however many are wanted. The seed that is sent
        leaves room to count up: vLLM gives each candidate of a request the next one, so that
        the same series comes back however it is cut into requests.
        """
        found = self._abilities
        own_seed = series(seed, prompt)
        size = CANDIDATES_A_CALL if found.many else 1
        drawn: list[Response] = []
        while len(drawn) < count:
            n = 1 if temperature == 0 else min(size, count - len(drawn))
            body = self._body(
                found,
                prompt,
                limit=MAX_RESPONSE_TOKENS,
                temperature=temperature,
                n=n,
                seed=own_seed * 2**20 + first + len(drawn),  # exact in JSON everywhere
                top=1 if found.own else None,
            )
            choices = self._service.choices(self._service.post(found.path, body), n)
            responses = [self._response(choice, found.own) for choice in choices]
            drawn += responses * count if temperature == 0 else responses
        return drawn

    def _response(self, choice: Reply, own: bool) -> Response:
        text = self._service.text(choice)
        kept, line_break, _ = text.lstrip().partition("\n")
        complete = bool(line_break) or choice.get("finish_reason") != "length"
        if not own:
            return Response(kept.strip(), complete)
        tokens = tokens_of(choice)
        if line_break:
            tokens = until_line_break(tokens)
        # An empty answer may have no tokens, where the one that ended it is not listed.
        none_needed = not text and not is_uneven(choice)
        log_likelihood = total(tokens) if tokens or none_needed else None
        if log_likelihood is None:
            raise self._service.spoilt("a reply without its log-probabilities")
        return Response(kept.strip(), complete, log_likelihood)

    def next_token(self, prompt: str) -> dict[str, float]:
        """Return the likeliest next tokens; see `LanguageModel.next_token`."""
        found = self._abilities
        if not found.top:
            return super().next_token(prompt)
        body = self._body(found, prompt, limit=1, temperature=1.0, top=TOP)
        del body["stop"]  # a line break is a next token like any other
        top = top_of(self._service.choices(self._service.post(found.path, body), 1)[0], TOP)
        if not top:
            raise self._service.spoilt("a reply without its log-probabilities")
        return top

    # ----------------------------------------------------------------------- scoring

    def log_likelihoods(
        self, prompts: Sequence[str], answers: Sequence[str]
    ) -> NDArray[np.float64]:
        """Score every answer under every prompt; see `LanguageModel.log_likelihoods`.

        The end of an answer counts only where `end` was given; see the module. Each request
        also echoes its prompts alone: how many tokens of a text are the prompt's is read off
        that, since the offsets that servers report are shifted by marks at the beginning and
        by characters of several tokens.

        Notes
        -----
        Where a token straddles the border of prompt and answer, so that up to `MOST_SPLIT` of
        the prompt's last tokens are other ones in the whole, the value is that of the whole
        text minus that of the prompt. Where more differs, or that is no logarithm of a
        probability, the text is refused: nothing exact can be said about it.

        Raises
        ------
        ModelError
            Also when a text comes back changed, or `end` is not a token of the server.
        """
        found = self._abilities
        if found.echo is None:
            raise ModelError(f"{self.name} does not report how likely given answers are.")
        result = np.empty((len(prompts), len(answers)))
        pairs = [(i, j) for i in range(len(prompts)) for j in range(len(answers))]
        for start in range(0, len(pairs), PAIRS_A_CALL):
            block = pairs[start : start + PAIRS_A_CALL]
            asked = list(dict.fromkeys(i for i, _ in block))
            texts = [prompts[i] for i in asked]
            texts += [f"{prompts[i]} {answers[j]}{self._end}" for i, j in block]
            echoed = self._echo(texts, found.echo)
            alone = dict(zip(asked, echoed, strict=False))
            for (i, j), whole in zip(block, echoed[len(asked) :], strict=True):
                result[i, j] = self._behind(alone[i], whole)
        return result

    def _echo(self, texts: Sequence[str], generated: int) -> list[Tokens]:
        """Return the tokens of texts as the server reads them, without what it generated."""
        reply = self._service.post("/completions", self._echo_body(texts, generated))
        choices = self._service.choices(reply, len(texts))
        if any(map(is_uneven, choices)):
            raise self._service.spoilt("a wrong number of log-probabilities")
        listed = [tokens_of(choice) for choice in choices]
        behind = sum(map(len, listed)) - used(reply, "prompt_tokens")
        if generated and behind:  # a token each; some do not list one that ends the text
            if behind != len(texts) and used(reply, "prompt_tokens"):
                raise self._changed()
            listed = [tokens[:-1] for tokens in listed]
        return listed

    def _behind(self, prompt: Tokens, whole: Tokens) -> float:
        """Return the log-probability of what stands behind the prompt in `whole`."""
        if self._end and (not whole or whole[-1][0] != self._end):
            raise RefusedError(
                f"{self._service.host} does not read “{self._end}” as one token. Name its own end "
                "token, or none."
            )
        border = 0
        while border < min(len(prompt), len(whole)) and prompt[border][0] == whole[border][0]:
            border += 1
        # A server that cuts texts off shares no beginning with them, or nothing is behind it.
        if border < max(1, len(prompt) - MOST_SPLIT) or border == len(whole):
            raise self._changed()
        both, before = total(whole[border:]), total(prompt[border:])
        if both is None or before is None or both > before:
            raise self._changed()
        return both - before

    def _changed(self) -> RefusedError:
        return RefusedError(
            f"{self._service.host} does not echo the text unchanged, token by token, so it "
            "cannot be scored. Rephrase the question, or choose another server for exact "
            "scores."
        )

    # --------------------------------------------------------------------- abilities

    @property
    def _abilities(self) -> Abilities:
        with current_stop().holding(self._endpoint.lock):  # another one may be finding out
            if self._endpoint.abilities is None:
                self._endpoint.abilities = _Probe(self).run()
            return self._endpoint.abilities

    def _body(
        self,
        how: Abilities,
        prompt: str,
        *,
        limit: int,
        temperature: float,
        n: int = 1,
        seed: int = 0,
        top: int | None = None,
    ) -> Reply:
        body: Reply = {"model": self._model, "temperature": temperature, how.limit: limit}
        if how.chat:
            body["messages"] = [{"role": "user", "content": prompt}]
        else:
            body["prompt"] = prompt
        if how.plain:
            return body
        body |= {"top_p": 1.0, "stop": ["\n"], "seed": seed}
        if n > 1:
            body["n"] = n
        if top is not None:
            body |= {"logprobs": True, "top_logprobs": top} if how.chat else {"logprobs": top}
        return body

    def _echo_body(self, texts: Sequence[str], generated: int) -> Reply:
        return {
            "model": self._model,
            "prompt": list(texts),
            "echo": True,
            "logprobs": 1,
            "max_tokens": generated,
            "temperature": 1.0,
        }


class _Probe:
    """Finds out how to speak to a server, in at most `MOST_PROBES` requests."""

    def __init__(self, model: OpenAICompatible) -> None:
        self.model, self.service = model, model._service
        self.left = MOST_PROBES
        self.rejected: list[Rejected] = []

    def run(self) -> Abilities:
        """Try the best first; see the module."""
        echo, absent = self.echo()
        completions = None if absent else self.sampling(Abilities(echo=echo))
        if completions and (completions.own or echo is not None):
            return self.scaling(completions)
        if echo is None:
            chat = self.sampling(Abilities(chat=True))
            if chat and chat.own:
                return self.scaling(chat)
            if found := completions or chat:
                return found
        no_chat = self.rejected[-1].status in ABSENT
        if not (absent and no_chat) and (found := self.plain(echo, echo is None and not no_chat)):
            return found
        raise self.failed()

    def ask(self, path: str, body: Reply) -> Reply | None:
        """Make a request; None if it is rejected, or none is left."""
        if not self.left:
            return None
        self.left -= 1
        try:
            return self.service.post(path, body)
        except Rejected as error:
            self.rejected.append(error)
            return None

    def echo(self) -> tuple[int | None, bool]:
        """Return `Abilities.echo`, and whether there are no completions at all."""
        for generated in (0, 1):
            reply = self.ask("/completions", self.model._echo_body(PROBES, generated))
            if reply is not None:
                return (generated if self.is_echo(reply) else None), False
            if self.rejected[-1].status in ABSENT:
                return None, True
            if "max_" not in self.rejected[-1].words:  # it was not the number of tokens
                break
        return None, False

    def is_echo(self, reply: Reply) -> bool:
        """Whether both texts came back, with the log-probabilities of their tokens."""
        choices = self.service.choices(reply)
        return len(choices) == len(PROBES) and all(
            self.service.text(choice).startswith(text)
            and len(tokens_of(choice)) > 2
            and total(tokens_of(choice)[1:]) is not None
            for choice, text in zip(choices, PROBES, strict=True)
        )

    def sampling(self, how: Abilities) -> Abilities | None:
        """Sample twice at once, with log-probabilities; None if that is rejected."""
        body = self.model._body(how, PROBES[0], limit=1, temperature=1.0, n=2, top=TOP)
        reply = self.ask(how.path, body)
        if reply is None:
            return None
        choices = self.service.choices(reply)
        listed = [tokens_of(choice) for choice in choices]
        return replace(
            how,
            own=all(tokens and total(tokens) is not None for tokens in listed),
            top=top_of(choices[0], TOP),
            many=len(choices) == 2,
            stated=self.stated(reply),
        )

    def scaling(self, how: Abilities) -> Abilities:
        """Compare the log-probabilities of one next token at two temperatures."""
        scaled = None
        if how.top:
            body = self.model._body(how, PROBES[0], limit=1, temperature=0.5, top=TOP)
            if reply := self.ask(how.path, body):
                scaled = _is_scaled(how.top, top_of(self.service.choices(reply)[0], TOP))
        return replace(how, own=how.own and scaled is False, scaled=scaled)

    def plain(self, echo: int | None, chat: bool) -> Abilities | None:
        """Ask for an answer and nothing else; None if that is rejected as well."""
        newer = "max_completion_tokens" in self.rejected[-1].words
        limit = "max_completion_tokens" if newer else Abilities.limit
        how = Abilities(chat=chat, echo=echo, plain=True, limit=limit)
        reply = self.ask(how.path, self.model._body(how, PROBES[0], limit=1, temperature=1.0))
        return replace(how, stated=self.stated(reply)) if reply else None

    def stated(self, reply: Reply) -> str:
        """Return the model that a server says it is.

        Not its fingerprint, which differs from one of its machines to the next.
        """
        stated = reply.get("model")
        if not isinstance(stated, str):
            return ""
        return shortened(self.service.without_key(stated), LONGEST_WORDS)

    def failed(self) -> ModelError:
        """Say why no way of asking works."""
        host, words = self.service.host, shortened(self.rejected[-1].words, LONGEST_WORDS)
        if all(error.status in ABSENT for error in self.rejected):
            if any("model" in error.words.lower() for error in self.rejected):
                return UnknownModelError(
                    f"{host} offers no model called “{self.model._model}”: “{words}”. Check "
                    "its name."
                )
            return UnknownModelError(
                f"{self.service.address.url} offers no completions. Check the base URL: it often "
                "ends in /v1."
            )
        return RefusedError(f"{host} refused every kind of request: “{words}”. Check the model.")


def _is_scaled(at_one: Mapping[str, float], at_half: Mapping[str, float]) -> bool | None:
    """Whether tokens lie twice as far apart at temperature 0.5; None if that cannot be seen."""
    both = [t for t in at_one if t in at_half and min(at_one[t], at_half[t]) > LEAST]
    both.sort(key=lambda token: at_one[token])
    if not both or at_one[both[-1]] - at_one[both[0]] < 0.1:
        return None
    gaps = [top[both[-1]] - top[both[0]] for top in (at_one, at_half)]
    return gaps[1] > 1.5 * gaps[0]
