"""Google's Gemini through its SDK `google-generativeai`: answers to sample, no text to score.

The SDK gets no further updates, so all of it stays in this file. It wants care:

- Its `configure` and `GenerativeModel` share one key for the whole process. Here every
  instance has its own clients (those the SDK itself would make), with its own key in them.
- It tries some failures again by itself, up to ten minutes. Here nothing is tried twice:
  retries are the business of the layer above, which can be cancelled and has a budget.
- Its limits of time begin anew with every byte. Here a request is left when its time is over
  (`stopping`), which takes connections of ours.
- It knows neither a seed nor a limit of thinking, and not which part of an answer is a thought. So
  its types describe the request, and `http` sends it.

What the service does to an answer before it arrives cannot all be switched off: most models apply
a top-k of their own (`revision` says which), some think for a while at least.
The prompt is sent as the one message of a chat; there is no way to have a text continued. In the
form with examples they are turns of before, the same in every request, so that the service can
keep what it read of them.

Whether it says how likely its answers are is asked once, and kept; most models refuse. Where
log-probabilities come, they are believed if they spell the answer and do not change with the
temperature.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import requests
from numpy.typing import NDArray

from core.language_models import errors
from core.language_models.backends.gemini import http
from core.language_models.backends.gemini.abilities import THINKING, Abilities, Facts
from core.language_models.backends.gemini.description import KEY_VARIABLE
from core.language_models.backends.gemini.faults import (
    FaultReporter,
    NoFieldError,
    name_of,
    reason_for,
)
from core.language_models.backends.gemini.http import same, shorten, spells, tokens, total
from core.language_models.connections import Fault, WatchedAdapter, exchange
from core.language_models.forms import EXAMPLES, Form, in_front, revision, unknown_form
from core.language_models.keys import environment_key
from core.language_models.language_model import (
    MAX_RESPONSE_TOKENS,
    Capabilities,
    LanguageModel,
    Response,
    prompt_seed,
    token_count,
)
from core.language_models.stopping import TooLateError, at_least, current_stop, in_time
from core.language_models.usage import CHARACTERS_A_TOKEN, Meter

# The SDK says on import that it is inactive, and google.api_core that this Python will be old
# one day. Both are known (requirements.txt), and nobody at a screen can do anything about them.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)
    import google.generativeai as genai
    from google.ai.generativelanguage import ModelServiceClient
    from google.api_core.exceptions import GoogleAPICallError, GoogleAPIError
    from google.auth.exceptions import GoogleAuthError, RefreshError

    from core.language_models.backends.gemini.key import Key, checked_key

HOST = "generativelanguage.googleapis.com"
TIMEOUT = 60.0  # seconds without a sign of life

# Thoughts count against the tokens a reply may have: with 32, a model that thinks would never
# get to its answer. This is the most that every model accepts.
OUTPUT_TOKENS = 8192

NAME = r"[A-Za-z0-9][\w.-]*"  # of a model
MOST_LISTED = 1000

# The faults of a call to which no reply came back, and those of them to which one did. Any other
# comes of a reply: one that is no JSON, or an error that is not of Google's form (a proxy's, say),
# over which the SDK stumbles.
NO_REPLY = (GoogleAPIError, GoogleAuthError, requests.RequestException)
REPLIES = (
    GoogleAPICallError,
    RefreshError,
    requests.exceptions.ChunkedEncodingError,
    requests.exceptions.ContentDecodingError,
)

PROBE = "Q: Name a colour. A:"
TOP = 5  # likeliest first tokens, which two temperatures are compared by

T = TypeVar("T")
_TURNS = [
    {"role": role, "parts": [{"text": text}]}
    for example in EXAMPLES
    for role, text in (("user", example.prompt), ("model", example.answer))
]


class _BlockedPromptError(errors.RefusedError):
    """The service answers no such prompt; the message says why in a few words."""


class Gemini(LanguageModel):
    """A Gemini model of Google's API.

    Raises `UnknownModelError` when `model` cannot be the name of one; `NeedsKeyError` when there is
    no key, or what there is cannot be one.

    `model`: as Google names it, ``gemini-2.5-flash``; ``models/`` may stand in front.
    `key`: by default the environment variable ``GOOGLE_API_KEY``, where it may be used.
    `endpoint`: ``host:port`` of another server that speaks the same API over plain HTTP; for tests.
    `timeout`: seconds without a sign of life after which a request is given up.
    """

    form = Form.CHAT
    forms = (Form.CHAT, Form.CHAT_WITH_EXAMPLES)

    def __init__(
        self,
        model: str = "",
        *,
        key: str | None = None,
        endpoint: str | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        self.name = f"gemini:{model}"
        short = model.removeprefix("models/")
        if not re.fullmatch(NAME, short, re.ASCII):
            raise errors.UnknownModelError(
                f"“{self.name}” is not the name of a Gemini model; write, for example, "
                "gemini:gemini-2.5-flash."
            )
        self.meter = Meter()
        self.uses_environment_key = key is None
        self._key = checked_key((environment_key(KEY_VARIABLE) or "") if key is None else key)
        self._model = f"models/{short}"
        self._host = endpoint or HOST
        self._timeout = timeout
        self._facts = Facts()
        typed = not self.uses_environment_key
        self._faults = FaultReporter(self.name, self._host, self._key, typed, timeout)
        client: dict[str, Any] = {
            "credentials": Key(self._key),
            "transport": "rest",  # gRPC would keep threads of its own, and knows no local server
            "client_options": {"api_endpoint": f"http://{endpoint}" if endpoint else HOST},
        }
        self._describing = ModelServiceClient(**client)
        transport: Any = self._describing.transport
        for scheme in ("http://", "https://"):
            transport._session.mount(scheme, WatchedAdapter())
        base = f"http://{endpoint}" if endpoint else f"https://{HOST}"
        self._answers = http.Answers(f"{base}/v1beta/{self._model}:generateContent", self._key)

    @property
    def revision(self) -> str:  # type: ignore[override]  # read when it is first wanted
        """How the model is spoken to, and the version that the service states.

        The first access asks the service; when that fails, the next asks again.

        Raises `ModelError`, as for `sample`.
        """
        with current_stop().holding(self._facts.lock):  # another thread may be asking
            stated = self._description()
        abilities = self._abilities
        # Of answers of the usual limit; the limit is no part of the revision.
        cut = CHARACTERS_A_TOKEN * MAX_RESPONSE_TOKENS
        limit = self._limit(MAX_RESPONSE_TOKENS, abilities)
        parts = [f"chat, {limit} tokens, cut at {cut} characters"]
        parts += [] if abilities.thinking is None else [f"thoughts up to {abilities.thinking}"]
        parts += [f"without {', '.join(abilities.without)}"] if abilities.without else []
        parts += [f"version {stated.version}"] if stated.version else []
        parts += [f"top-k {stated.top_k}"] if stated.top_k else []
        parts += abilities.alias_of(self._model)
        parts += [f"at {self._host}"] if self._host != HOST else []
        parts += ["own log-probabilities"] if abilities.own else []
        examples = EXAMPLES if self.form.has_examples else ()
        usual = "; ".join(parts)
        return revision(usual, self.form, examples) if examples else usual

    def _description(self) -> Any:
        """Return what the service says of the model; asks once."""
        if self._facts.stated is None:
            self._facts.stated = self._ask(
                lambda: genai.get_base_model(
                    self._model, client=self._describing, request_options=self._options()
                )
            )
        return self._facts.stated

    def _limit(self, answer_tokens: int, able: Abilities) -> int:
        """Return how many tokens an answer may take with its thoughts: the price holds them."""
        stated = token_count(getattr(self._facts.stated, "output_token_limit", 0))
        return min(answer_tokens + able.thoughts, stated or OUTPUT_TOKENS, OUTPUT_TOKENS)

    def in_form(self, form: Form) -> Gemini:
        """Return the same model, asked in a form; see `LanguageModel.in_form`."""
        if form not in self.forms:
            raise unknown_form(self.name, self.forms)
        other = copy.copy(self)
        other.form = form
        return other

    def with_system(self, text: str) -> Gemini:
        """Return the same model behind a system prompt; see `LanguageModel.with_system`."""
        other = copy.copy(self)
        other.system = text
        return other

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        """What the probe found; asks the service on first use."""
        abilities = self._abilities
        only = self._facts.stated.top_k if self._facts.stated else None
        return Capabilities(
            scores_given_text=False,
            own_log_likelihoods=abilities.own,
            seeded=False,
            local=False,
            candidates_a_call=abilities.candidates,
            thoughts=abilities.thoughts,
            in_front=len(in_front()) if self.form.has_examples else 0,
            limits_answers=True,
            notes=(f"It draws from its {only} likeliest tokens only.",) if only else (),
        )

    @property
    def _abilities(self) -> Abilities:
        with current_stop().holding(self._facts.lock):
            if self._facts.abilities is None:
                stored = self._memory().get(self.canonical_name) if self._memory else None
                self._facts.abilities = Abilities.from_json(stored) if stored else None
            return self._facts.abilities or self._find_out()[0]

    def probe(self) -> list[str]:
        """Find out anew what the model can do; return what was asked, a line each."""
        with current_stop().holding(self._facts.lock):
            return self._find_out()[1]

    def _find_out(self) -> tuple[Abilities, list[str]]:
        """Ask for log-probabilities, and where they come, at another temperature as well.

        And for as many answers at once as the service gives: what a run costs depends on it.
        """
        self._facts.thoughts = 0
        self._description()  # it says how long an answer may be
        log: list[str] = []
        able, batch = Abilities(own=True, thinking=THINKING[0], thoughts=OUTPUT_TOKENS), None
        while batch is None:
            what = f"{able.candidates} answers" if able.candidates > 1 else "an answer"
            if able.own:
                what += " with log-probabilities"
            try:
                batch = self._candidates(PROBE, able.candidates, 1.0, able, top=TOP)
                log.append(f"{what}: answered")
            except errors.SmallerRequestsError:
                log.append(f"{what}: one comes")
                able = replace(able, candidates=1)
            except NoFieldError as refusal:
                log.append(f"{what}: refused ({refusal})")
                less = able.less(refusal.name)
                if less is None:
                    raise
                able = less
        if able.own:
            at_one, again = self._first_tokens(batch[0]), {}
            if at_one:
                again = self._first_tokens(self._candidates(PROBE, 1, 0.5, able, top=TOP)[0])
                own = same(at_one, again)
                log.append(f"the same at temperature 0.5: {'as' if own else 'not as'} likely")
            able = replace(able, own=bool(at_one) and same(at_one, again))
        allowed = 2 * (able.thinking or 0)  # a limit of thoughts is not kept to the token
        able = replace(
            able,
            thoughts=allowed if self._facts.thoughts <= allowed else OUTPUT_TOKENS,
            stated=self._facts.named,
        )
        self._learn(able)
        return able, log

    @staticmethod
    def _first_tokens(candidate: http.Reply) -> dict[str, float]:
        """Return the likeliest tokens that an answer could begin with; {} where none is said."""
        about = http.entry(candidate.get("logprobsResult"))
        first = list(tokens(http.entries(about.get("chosenCandidates"))))
        places = http.entries(about.get("topCandidates"))
        if not (first and places and spells(first, http.text_of(candidate))):
            return {}
        return dict(tokens(http.entries(places[0].get("candidates"))))

    def _learn(self, abilities: Abilities) -> None:
        self._facts.abilities = abilities
        if self._memory:
            self._memory().put(self.canonical_name, abilities.to_json())

    def sample(
        self, prompt: str, count: int, *, temperature: float = 1.0, seed: int = 0, first: int = 0
    ) -> list[Response]:
        """Draw responses; see `LanguageModel.sample`. What a seed gives is not promised.

        One request for up to `capabilities.candidates_a_call` responses, with one exception:
        some models give one candidate a request, and only say so when they are asked for
        more. `capabilities` says 1 from then on, and larger calls are turned down, for whoever
        made them to cut them: an answer must not be lost because the next one failed.

        The tokens of a reply are not known one by one. A response therefore ends at its line
        break, or else between two words at the limit, which leaves it incomplete. An
        answer without a character is a response like any other.

        Raises `SmallerRequestsError` when the model gives one response a request, and more are
        wanted; `NeedsKeyError`, `UnknownModelError` and `PromptTooLongError` when the service does
        not accept the key, the model's name or the prompt's length; `CreditError` when the day's
        quota is used up; `RefusedError` when it does not accept the request (a prompt or an answer
        that it blocks, or thinking that used up all tokens, is a response with a `refusal`);
        `TemporaryError` when it is worth another try; `UnreachableError` when there is no way to
        the service.
        """
        abilities = self._abilities  # another thread may find out more meanwhile
        most = abilities.candidates
        if most == 1 < count:
            raise self._one_a_request()
        responses: list[Response] = []
        while len(responses) < count:
            number = min(count - len(responses), most)
            place = first + len(responses)
            try:
                batch = self._candidates(
                    prompt, number, temperature, abilities, seed=_seed(seed, prompt, place)
                )
            except _BlockedPromptError as error:
                responses += [Response("", False, refusal=str(error))] * number
                continue
            except errors.SmallerRequestsError:  # only when more than one was wanted
                self._learn(replace(abilities, candidates=1))
                raise
            except NoFieldError as refusal:
                less = abilities.less(refusal.name)
                if less is None:
                    raise
                self._learn(less)
                if refusal.name != "logprobs":
                    raise errors.RefusedError(
                        f"{refusal} Ask again: it is left out then."
                    ) from None
                raise errors.RefusedError(
                    f"{self.name} no longer says how likely its answers are. Ask again: they are "
                    "counted then."
                ) from None
            responses += [self._response(candidate, abilities) for candidate in batch]
        return responses

    def _candidates(
        self,
        prompt: str,
        count: int,
        temperature: float,
        able: Abilities,
        *,
        top: int = 1,
        seed: int = 0,
    ) -> list[http.Reply]:
        """Draw answers with one request, with log-probabilities of `top` tokens where they come.

        Fewer may come, one at least.
        """
        before = _TURNS if self.form.has_examples else []
        likelihoods = {"response_logprobs": True, "logprobs": top} if able.own else {}
        message = genai.protos.GenerateContentRequest(
            model=self._model,
            contents=[*before, {"role": "user", "parts": [{"text": prompt}]}],
            generation_config={
                "candidate_count": count,
                "temperature": temperature,
                "top_p": 1.0,
                "max_output_tokens": self._limit(self.answer_tokens, able),
                "stop_sequences": ["\n"],
                **likelihoods,
            },
        )
        fields = type(message).to_json(message, always_print_fields_with_no_presence=False)
        body = json.loads(fields)
        config = body["generationConfig"] | {"temperature": temperature, "seed": seed}
        if able.thinking is not None:
            config["thinkingConfig"] = {"thinkingBudget": able.thinking}
        del body["model"]  # it stands in the address
        if self.system:
            body["systemInstruction"] = {"parts": [{"text": self.system}]}
        body["generationConfig"] = {
            name: value for name, value in config.items() if name not in able.without
        }
        reply = self._ask(
            lambda: self._answers.post(body, at_least(self._timeout)), several=count > 1
        )
        candidates = http.entries(reply.get("candidates"))
        usage = http.entry(reply.get("usageMetadata"))
        prompt_tokens, *others = (
            token_count(usage.get(f"{name}TokenCount"))
            for name in ("prompt", "candidates", "thoughts", "total")
        )
        response_tokens = token_count(max(sum(others[:2]), others[2] - prompt_tokens))
        self.meter.add(
            prompt_tokens=prompt_tokens,
            response_tokens=response_tokens,
            unreported=not (prompt_tokens and response_tokens),
        )
        beyond = response_tokens - len(candidates) * MAX_RESPONSE_TOKENS
        thoughts = -(-max(others[1], beyond) // max(len(candidates), 1))
        self._facts.thoughts = max(self._facts.thoughts, thoughts)
        name = http.model_of(reply)
        if able.stated is None:
            self._facts.named = name
        elif name != able.stated:
            if self._memory:
                self._memory().put(self.canonical_name, None)
            raise self._faults.another_model(name, able.stated)
        if reason := http.entry(reply.get("promptFeedback")).get("blockReason"):
            reasons = genai.protos.GenerateContentResponse.PromptFeedback.BlockReason
            raise _BlockedPromptError(f"{reason_for(reasons, reason)}, of the prompt")
        if len(candidates) == 1 < count:  # older models take the number and ignore it
            raise self._one_a_request()
        if not 0 < len(candidates) <= count:
            raise errors.TemporaryError(
                f"{self.name} sent {len(candidates)} answers instead of {count}. "
                "Try again in a moment."
            )
        return candidates

    def _one_a_request(self) -> errors.SmallerRequestsError:
        return errors.SmallerRequestsError(f"{self.name} gives one answer a request.")

    def _response(self, candidate: http.Reply, abilities: Abilities) -> Response:
        reasons = genai.protos.Candidate.FinishReason
        reason = candidate.get("finishReason")
        ending = name_of(reasons, reason)
        if ending not in ("STOP", "MAX_TOKENS"):
            return Response("", False, refusal=reason_for(reasons, reason))
        text, whole = http.text_of(candidate).strip(), ending == "STOP"
        if not (text or whole):
            self._learn(replace(abilities, thoughts=OUTPUT_TOKENS))
            return Response("", False, refusal="its thoughts took all tokens")
        line, rest, _ = text.partition("\n")
        line = line.rstrip()
        short = shorten(line, limit := self.answer_tokens)
        complete = short == line and (whole or bool(rest))
        if not abilities.own:
            return Response(short, complete, limit=limit)
        answer_tokens = list(
            tokens(
                http.entries(http.entry(candidate.get("logprobsResult")).get("chosenCandidates"))
            )
        )
        if text and not spells(answer_tokens, text):
            raise errors.TemporaryError(
                f"{self.name} sent an answer without its log-probabilities. Try again in a moment."
            )
        return Response(short, complete, total(answer_tokens, len(short)), limit=limit)

    def log_likelihoods(
        self, prompts: Sequence[str], answers: Sequence[str]
    ) -> NDArray[np.float64]:
        """Raise: Gemini says of no text how likely it is."""
        raise errors.ModelError(f"{self.name} does not report how likely given answers are.")

    def model_names(self) -> tuple[str, ...]:
        """Return the names of all models that answer, in their order in the alphabet."""
        request = genai.protos.ListModelsRequest(page_size=MOST_LISTED)
        reply = self._ask(lambda: self._describing.list_models(request, **self._options()))
        names = {
            model.name.removeprefix("models/")
            for model in next(iter(reply.pages)).models
            if "generateContent" in model.supported_generation_methods
        }
        return tuple(sorted(name for name in names if re.fullmatch(NAME, name, re.ASCII)))

    def _options(self) -> genai.types.RequestOptions:
        return genai.types.RequestOptions(retry=None, timeout=at_least(self._timeout))

    def _ask(self, call: Callable[[], T], several: bool = False) -> T:
        """Make one request; its faults become a sentence without the key.

        The error is raised outside of the `except`: what the SDK raised holds the request
        with its headers, and must not hang on to ours as its context.
        """
        current_stop().check()
        self.meter.begin()
        try:
            reply = in_time(partial(exchange, call))
        except (errors.StoppedError, KeyboardInterrupt):
            self.meter.add(requests=1)  # it may be charged for
            raise
        except TooLateError:
            failure: errors.ModelError = errors.SilentError(
                f"{self.name} took too long to answer. Try again later."
            )
        else:
            fault = reply.error if isinstance(reply, Fault) else None
            self.meter.add(requests=isinstance(fault, REPLIES) or not isinstance(fault, NO_REPLY))
            if not isinstance(reply, Fault):
                return reply
            failure = self._faults.sentence(reply.error, several)
        raise failure


def _seed(seed: int, prompt: str, place: int) -> int:
    """Return a seed as the service takes it, another one for each answer of a series."""
    digest = hashlib.sha256(f"{prompt_seed(seed, prompt)} {place}".encode()).digest()
    return int.from_bytes(digest[:4]) >> 1
