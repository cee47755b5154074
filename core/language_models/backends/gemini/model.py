"""Google's Gemini through its SDK `google-generativeai`: answers to sample, no text to score.

The SDK gets no further updates, so all of it stays in this file. It wants care:

- Its `configure` and `GenerativeModel` share one key for the whole process. Here every
  instance has its own clients (those the SDK itself would make), with its own key in them.
- It tries some failures again by itself, up to ten minutes. Here nothing is tried twice:
  retries are the business of the layer above, which can be cancelled and has a budget.
- Its limits of time begin anew with every byte. Here a request is left when its time is over
  (`stopping`), which takes connections of ours.
- It knows neither a seed nor a limit of thinking, so neither is sent.

What the service does to an answer before it arrives cannot be switched off through the SDK:
most models apply a top-k of their own (`revision` says which), some think before they answer.
The prompt is sent as the one message of a chat; there is no way to have a text continued. In the
form with examples they are turns of before, the same in every request, so that the service can
keep what it read of them.

Whether it says how likely its answers are is asked once, and kept; most models refuse. Where
log-probabilities come, they are believed if they spell the answer and do not change with the
temperature.
"""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import requests
from numpy.typing import NDArray

from core.codec import one_line
from core.language_models.backends.gemini.abilities import Abilities, Facts
from core.language_models.backends.gemini.answers import (
    MAX_CHARACTERS,
    same,
    shorten,
    spells,
    tokens,
    total,
)
from core.language_models.backends.gemini.description import KEY_VARIABLE
from core.language_models.backends.gemini.refusals import (
    details,
    no_way,
    quotas,
    reason_for,
    retry_after,
    too_much,
)
from core.language_models.base import Capabilities, LanguageModel, Response, token_count
from core.language_models.connections import Fault, WatchedAdapter, exchange
from core.language_models.errors import (
    ModelError,
    NeedsKeyError,
    PromptTooLongError,
    RefusedError,
    SilentError,
    SmallerRequestsError,
    StoppedError,
    TemporaryError,
    UnknownModelError,
    UnreachableError,
    refused_key,
)
from core.language_models.forms import EXAMPLES, Form, in_front, revision, unknown_form
from core.language_models.keys import environment_key
from core.language_models.stopping import TooLateError, current_stop, in_time
from core.language_models.usage import Meter

# The SDK says on import that it is inactive, and google.api_core that this Python will be old
# one day. Both are known (requirements.txt), and nobody at a screen can do anything about them.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)
    import google.generativeai as genai
    from google.ai.generativelanguage import GenerativeServiceClient, ModelServiceClient
    from google.api_core.exceptions import GoogleAPICallError, GoogleAPIError
    from google.auth.exceptions import GoogleAuthError, RefreshError

    from core.language_models.backends.gemini.key import Key, checked_key

HOST = "generativelanguage.googleapis.com"
TIMEOUT = 60.0  # seconds without a sign of life

# Thoughts count against the tokens a reply may have: with 32, a model that thinks would never
# get to its answer. This is the most that every model accepts; only what is used is paid for.
OUTPUT_TOKENS = 8192

NAME = r"[A-Za-z0-9][\w.-]*"  # of a model
MOST_LISTED = 1000

WORDS = 200  # characters of the service's own words in a message

STOP, MAX_TOKENS = 1, 2  # the finish reasons that come with an answer

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

Reply = TypeVar("Reply")
_TURNS = [
    {"role": role, "parts": [{"text": text}]}
    for example in EXAMPLES
    for role, text in (("user", example.prompt), ("model", example.answer))
]


class _NoLikelihoods(RefusedError):
    """The model gives no log-probabilities."""


class _BlockedPromptError(RefusedError):
    """The service answers no such prompt; the message says why in a few words."""


class Gemini(LanguageModel):
    """A Gemini model of Google's API.

    Parameters
    ----------
    model : str
        As Google names it, ``gemini-2.5-flash``; ``models/`` may stand in front.
    key : str, optional
        By default the environment variable ``GOOGLE_API_KEY``, where it may be used.
    endpoint : str, optional
        ``host:port`` of another server that speaks the same API over plain HTTP; for tests.
    timeout : float
        Seconds without a sign of life after which a request is given up.

    Raises
    ------
    UnknownModelError
        When `model` cannot be the name of one.
    NeedsKeyError
        When there is no key, or what there is cannot be one.
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
            raise UnknownModelError(
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
        client: dict[str, Any] = {
            "credentials": Key(self._key),
            "transport": "rest",  # gRPC would keep threads of its own, and knows no local server
            "client_options": {"api_endpoint": f"http://{endpoint}" if endpoint else HOST},
        }
        self._generating = GenerativeServiceClient(**client)
        self._describing = ModelServiceClient(**client)
        for limiter in (self._generating, self._describing):
            transport: Any = limiter.transport
            for scheme in ("http://", "https://"):
                transport._session.mount(scheme, WatchedAdapter())

    @property
    def revision(self) -> str:  # type: ignore[override]  # read when it is first wanted
        """How the model is spoken to, and the version that the service states.

        The first access asks the service, once in the life of an instance; when that fails,
        the next access asks again.

        Raises
        ------
        ModelError
            As for `sample`.
        """
        memory = self._facts
        with current_stop().holding(memory.lock):  # another thread may be asking
            if memory.stated is None:
                memory.stated = self._ask(
                    lambda: genai.get_base_model(
                        self._model, client=self._describing, request_options=self._options()
                    )
                )
        stated = memory.stated
        parts = [f"chat, {OUTPUT_TOKENS} tokens, cut at {MAX_CHARACTERS} characters"]
        parts += [f"version {stated.version}"] if stated.version else []
        parts += [f"top-k {stated.top_k}"] if stated.top_k else []
        parts += [f"at {self._host}"] if self._host != HOST else []
        parts += ["own log-probabilities"] if self._abilities.own else []
        examples = EXAMPLES if self.form.has_examples else ()
        usual = "; ".join(parts)
        return revision(usual, self.form, examples) if examples else usual

    def in_form(self, form: Form) -> Gemini:
        """Return the same model, asked in a form; see `LanguageModel.in_form`."""
        if form not in self.forms:
            raise unknown_form(self.name, self.forms)
        other = copy.copy(self)
        other.form = form
        return other

    # --------------------------------------------------------------------- abilities

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        """What the probe found; asks the service on first use."""
        abilities, stated = self._abilities, self._facts.stated
        only = stated.top_k if stated else None
        return Capabilities(
            scores_given_text=False,
            own_log_likelihoods=abilities.own,
            seeded=False,
            local=False,
            candidates_a_call=abilities.candidates,
            in_front=len(in_front()) if self.form.has_examples else 0,
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
        """Ask for log-probabilities, and where they come, at another temperature as well."""
        log = ["an answer with its log-probabilities"]
        own = False
        try:
            at_one = self._first_tokens(1.0)
            log[0] += ": answered" if at_one else ": answered without any that can be used"
            if at_one:
                own = same(at_one, self._first_tokens(0.5))
                log.append(f"the same at temperature 0.5: {'as' if own else 'not as'} likely")
        except _NoLikelihoods as refusal:
            log[-1] += f": refused ({refusal})"
        abilities = Abilities(own=own)
        self._learn(abilities)
        return abilities, log

    def _first_tokens(self, temperature: float) -> dict[str, float]:
        """Return the likeliest tokens that an answer could begin with; {} where none is said."""
        (candidate,) = self._candidates(PROBE, 1, temperature, top=TOP)
        text = "".join(part.text for part in candidate.content.parts)
        first = list(tokens(candidate.logprobs_result.chosen_candidates))
        if not first or not spells(first, text) or not candidate.logprobs_result.top_candidates:
            return {}
        return dict(tokens(candidate.logprobs_result.top_candidates[0].candidates))

    def _learn(self, abilities: Abilities) -> None:
        self._facts.abilities = abilities
        if self._memory:
            self._memory().put(self.canonical_name, abilities.to_json())

    # ---------------------------------------------------------------------- sampling

    def sample(
        self, prompt: str, count: int, *, temperature: float = 1.0, seed: int = 0, first: int = 0
    ) -> list[Response]:
        """Draw responses; see `LanguageModel.sample`. The service takes no seed.

        One request for up to `capabilities.candidates_a_call` responses, with one exception:
        some models give one candidate a request, and only say so when they are asked for
        more. `capabilities` says 1 from then on, and larger calls are turned down, for whoever
        made them to cut them: an answer must not be lost because the next one failed.

        The tokens of a reply are not known one by one. A response therefore ends at its line
        break, or else between two words at `MAX_CHARACTERS`, which leaves it incomplete. An
        answer without a character is a response like any other.

        Raises
        ------
        SmallerRequestsError
            When the model gives one response a request, and more are wanted.
        NeedsKeyError, UnknownModelError, PromptTooLongError
            When the service does not accept the key, the model's name or the prompt's length.
        RefusedError
            When the day's quota is used up, and when it does not accept the request. A prompt or
            an answer that it blocks, or thinking that used up all tokens, is a response with a
            `refusal`.
        TemporaryError
            When it is worth another try.
        UnreachableError
            When there is no way to the service.
        """
        abilities = self._abilities  # another thread may find out more meanwhile
        most = abilities.candidates
        if most == 1 < count:
            raise self._one_a_request()
        responses: list[Response] = []
        while len(responses) < count:
            number = min(count - len(responses), most)
            try:
                top = 1 if abilities.own else None
                batch = self._candidates(prompt, number, temperature, top=top)
            except _BlockedPromptError as error:
                responses += [Response("", False, refusal=str(error))] * number
                continue
            except SmallerRequestsError:  # only when more than one was wanted
                self._learn(replace(abilities, candidates=1))
                raise
            except _NoLikelihoods:
                self._learn(replace(abilities, own=False))
                raise RefusedError(
                    f"{self.name} no longer says how likely its answers are. Ask again: they are "
                    "counted then."
                ) from None
            responses += [self._response(candidate, abilities) for candidate in batch]
        return responses

    def _candidates(
        self, prompt: str, count: int, temperature: float, top: int | None = None
    ) -> list[Any]:
        """Draw answers with one request, and with log-probabilities where `top` is given."""
        likelihoods = {} if top is None else {"response_logprobs": True, "logprobs": top}
        before = _TURNS if self.form.has_examples else []
        request = genai.protos.GenerateContentRequest(
            model=self._model,
            contents=[*before, {"role": "user", "parts": [{"text": prompt}]}],
            generation_config={
                "candidate_count": count,
                "temperature": temperature,
                "top_p": 1.0,
                "max_output_tokens": OUTPUT_TOKENS,
                "stop_sequences": ["\n"],
                **likelihoods,
            },
        )
        reply = self._ask(
            lambda: self._generating.generate_content(request, **self._options()), several=count > 1
        )
        message: Any = type(reply).pb(reply)  # plain numbers, also for reasons newer than the SDK
        usage = message.usage_metadata
        prompt_tokens = token_count(usage.prompt_token_count)
        self.meter.add(
            prompt_tokens=prompt_tokens,
            # The SDK has no field for thoughts; they are paid for, and part of the total.
            response_tokens=token_count(
                max(usage.candidates_token_count, usage.total_token_count - prompt_tokens)
            ),
        )
        if message.prompt_feedback.block_reason:
            reasons = genai.protos.GenerateContentResponse.PromptFeedback.BlockReason
            raise _BlockedPromptError(
                f"{reason_for(reasons, message.prompt_feedback.block_reason)}, of the prompt"
            )
        if len(message.candidates) == 1 < count:  # older models take the number and ignore it
            raise self._one_a_request()
        if len(message.candidates) != count:
            raise TemporaryError(
                f"{self.name} sent {len(message.candidates)} answers instead of {count}. "
                "Try again in a moment."
            )
        return list(message.candidates)

    def _one_a_request(self) -> SmallerRequestsError:
        return SmallerRequestsError(f"{self.name} gives one answer a request.")

    def _response(self, candidate: Any, abilities: Abilities) -> Response:
        if candidate.finish_reason not in (STOP, MAX_TOKENS):
            reasons = genai.protos.Candidate.FinishReason
            return Response("", False, refusal=reason_for(reasons, candidate.finish_reason))
        text = "".join(part.text for part in candidate.content.parts).strip()
        whole = candidate.finish_reason == STOP
        if not (text or whole):
            return Response("", False, refusal="its thoughts took all tokens")
        line, rest, _ = text.partition("\n")
        line = line.rstrip()
        short = shorten(line)
        complete = short == line and (whole or bool(rest))
        if not abilities.own:
            return Response(short, complete)
        answer_tokens = list(tokens(candidate.logprobs_result.chosen_candidates))
        if text and not spells(answer_tokens, text):
            raise TemporaryError(
                f"{self.name} sent an answer without its log-probabilities. Try again in a moment."
            )
        return Response(short, complete, total(answer_tokens, len(short)))

    def log_likelihoods(
        self, prompts: Sequence[str], answers: Sequence[str]
    ) -> NDArray[np.float64]:
        """Raise: Gemini says of no text how likely it is."""
        raise ModelError(f"{self.name} does not report how likely given answers are.")

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

    # ------------------------------------------------------------------------ faults

    def _options(self) -> genai.types.RequestOptions:
        return genai.types.RequestOptions(retry=None, timeout=self._timeout)

    def _ask(self, call: Callable[[], Reply], several: bool = False) -> Reply:
        """Make one request; its faults become a sentence without the key.

        The error is raised outside of the `except`: what the SDK raised holds the request
        with its headers, and must not hang on to ours as its context.
        """
        current_stop().check()
        self.meter.begin()
        try:
            reply = in_time(partial(exchange, call))
        except (StoppedError, KeyboardInterrupt):
            self.meter.add(requests=1)  # it may be charged for
            raise
        except TooLateError:
            failure: ModelError = SilentError(
                f"{self.name} took too long to answer. Try again later."
            )
        else:
            fault = reply.error if isinstance(reply, Fault) else None
            self.meter.add(requests=isinstance(fault, REPLIES) or not isinstance(fault, NO_REPLY))
            if not isinstance(reply, Fault):
                return reply
            failure = self._failure(reply.error, several)
        raise failure

    def _failure(self, error: Exception, several: bool) -> ModelError:
        match error:
            case GoogleAPICallError():
                return self._refusal(error, several)
            case GoogleAuthError():
                return self._bad_key()
            case requests.Timeout():
                return SilentError(
                    f"{self.name} did not answer within {self._timeout:g} seconds. "
                    "Try again in a moment."
                )
            case requests.ConnectionError() if no_way(error):
                return UnreachableError(
                    f"{self._host} cannot be reached ({type(error).__name__}). Check the "
                    "connection of this computer."
                )
            case requests.RequestException():
                return TemporaryError(
                    f"The connection to {self._host} broke off. Try again in a moment."
                )
        return TemporaryError(
            f"{self._host} sent a reply that cannot be read. Try again in a moment."
        )

    def _refusal(self, error: GoogleAPICallError, several: bool) -> ModelError:
        """Translate a reply whose status is an error."""
        words = self._words(error)
        says = f" It says: “{one_line(words, WORDS)}”" if words else ""
        code = int(error.code or 0)
        reasons = [str(info.get("reason", "")) for info in details(error, "ErrorInfo")]
        if code in (401, 403) or any(reason.startswith("API_KEY") for reason in reasons):
            return self._bad_key(says)
        if code == 404:
            return UnknownModelError(
                f"Google has no model for {self.name}, or not for this key. Check the name, for "
                f"example gemini:gemini-2.5-flash.{says}"
            )
        if code == 429 and any("PerDay" in quota for quota in quotas(error)):
            return RefusedError(
                f"The day’s quota for {self.name} is used up. Continue tomorrow, or choose "
                f"another model or key.{says}"
            )
        if code == 429:
            return TemporaryError(
                f"{self.name} received too many requests at once. Try again in a moment.{says}",
                retry_after(error, words),
            )
        if code >= 500 or code == 408:
            return TemporaryError(
                f"{self.name} has a fault (status {code}). Try again in a moment.{says}",
                retry_after(error, words),
            )
        if several and "candidate" in words.lower():
            return SmallerRequestsError(words)
        if "logprob" in words.lower():
            return _NoLikelihoods(one_line(words, WORDS))
        if code == 413 or too_much(words):
            return PromptTooLongError(
                f"The prompt is too long for {self.name}. Shorten the question or repeat fewer "
                f"answers.{says}"
            )
        return RefusedError(f"{self.name} did not accept the request (status {code}).{says}")

    def _bad_key(self, says: str = "") -> NeedsKeyError:
        error = refused_key(self.name, KEY_VARIABLE, typed=not self.uses_environment_key)
        return NeedsKeyError(f"{error}{says}")

    def _words(self, error: GoogleAPICallError) -> str:
        """Return what the service says, without the key; nothing where it is a page of HTML."""
        sent: Any = getattr(error.response, "request", None)
        opening = f"{sent.method} {sent.url}: " if sent else ""
        words = str(error.message).removeprefix(opening).replace(self._key, "[key]")
        return "" if words.lstrip().startswith("<") else " ".join(words.split())
