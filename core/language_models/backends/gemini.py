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

Whether it says how likely its own answers are is found out by asking, once: most models refuse,
and that is kept like what other services can do. Where log-probabilities come, they are believed
if they spell the answer and do not change with the temperature.
"""

from __future__ import annotations

import copy
import json
import math
import re
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NoReturn, Self, TypeVar

import numpy as np
import requests
from numpy.typing import NDArray
from urllib3.exceptions import NewConnectionError

from core.codec import shortened
from core.language_models.base import (
    MAX_RESPONSE_TOKENS,
    Capabilities,
    LanguageModel,
    Response,
    said_tokens,
)
from core.language_models.connections import WatchedAdapter
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
)
from core.language_models.forms import EXAMPLES, Form, in_front, revision, unknown_form
from core.language_models.stopping import TooLateError, current_stop, in_time
from core.language_models.usage import Meter
from core.settings import GOOGLE_KEY, environment_key

# The SDK says on import that it is inactive, and google.api_core that this Python will be old
# one day. Both are known (requirements.txt), and nobody at a screen can do anything about them.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)
    import google.generativeai as genai
    from google.ai.generativelanguage import GenerativeServiceClient, ModelServiceClient
    from google.api_core.exceptions import GoogleAPICallError, GoogleAPIError
    from google.auth.api_key import Credentials
    from google.auth.exceptions import GoogleAuthError, RefreshError
    from google.protobuf.json_format import ParseError  # type: ignore[import-untyped]

HOST = "generativelanguage.googleapis.com"
TIMEOUT = 60.0  # seconds without a sign of life

CANDIDATES = 8  # what the service gives at most in one reply; some models give one only

# Thoughts count against the tokens a reply may have: with 32, a model that thinks would never
# get to its answer. This is the most that every model accepts; only what is used is paid for.
OUTPUT_TOKENS = 8192
# An answer then stops at its line break, and otherwise here. Google counts four characters a
# token, so this is what MAX_RESPONSE_TOKENS would have let through.
MAX_CHARACTERS = 4 * MAX_RESPONSE_TOKENS

NAME = r"[A-Za-z0-9][\w.-]*"  # of a model
MOST_LISTED = 1000

WORDS = 200  # characters of the service's own words in a message

STOP, MAX_TOKENS = 1, 2  # the finish reasons that come with an answer

# What went wrong, by the service's name for it (finish reasons and block reasons).
REASONS = {
    "SAFETY": "its safety filter",
    "RECITATION": "recitation of a protected text",
    "LANGUAGE": "unsupported language",
    "BLOCKLIST": "a blocked word",
    "PROHIBITED_CONTENT": "prohibited content",
    "SPII": "personal data",
}

# What can come out of the SDK's calls. It does not always wrap what `requests` raises; a reply
# that is no JSON is a ParseError or UnicodeDecodeError; and over JSON errors that are not of
# Google's form (a proxy's, say) it stumbles itself.
UNREADABLE = (ParseError, UnicodeDecodeError, AttributeError, TypeError)
FAULTS = (GoogleAPIError, GoogleAuthError, requests.RequestException, *UNREADABLE)

# Those that mean that a reply did come back, well or badly.
REPLIES = (
    GoogleAPICallError,
    RefreshError,
    requests.exceptions.ChunkedEncodingError,
    requests.exceptions.ContentDecodingError,
    *UNREADABLE,
)

PROBE = "Q: Name a colour. A:"
TOP = 5  # likeliest first tokens, which two temperatures are compared by
ALIKE = 0.05  # nats that they may differ by
FORMAT = 1  # of what is stored: another number where an older one would be misread

Reply = TypeVar("Reply")
_TURNS = [
    {"role": role, "parts": [{"text": text}]}
    for example in EXAMPLES
    for role, text in (("user", example.prompt), ("model", example.answer))
]


@dataclass(frozen=True)
class Abilities:
    """What was found out about a model.

    Attributes
    ----------
    candidates : int
        How many answers it gives a request.
    own : bool
        Whether it says how likely its answers are, at every temperature the same.
    """

    candidates: int = CANDIDATES
    own: bool = False

    def to_json(self) -> str:
        """Return text for `from_json`."""
        return json.dumps({"format": FORMAT} | asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self | None:
        """Read what `to_json` wrote; None where another version did."""
        try:
            saved = json.loads(text)
            return cls(**saved) if saved.pop("format") == FORMAT else None
        except (ValueError, KeyError, TypeError, AttributeError):
            return None


@dataclass
class _Known:
    """What is known of a model so far, in whatever form it is asked."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    abilities: Abilities | None = None
    stated: Any = None  # the service's description of the model


class _NoLikelihoods(RefusedError):
    """The model gives no log-probabilities."""


class _Key(Credentials):
    """A key that cannot be renewed: the SDK would send a request up to three times on 401."""

    def refresh(self, request: Any) -> NoReturn:
        raise RefreshError("The key was not accepted.")


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
        self._key = _checked((environment_key(GOOGLE_KEY) or "") if key is None else key)
        self._model = f"models/{short}"
        self._host = endpoint or HOST
        self._timeout = timeout
        self._known = _Known()
        client: dict[str, Any] = {
            "credentials": _Key(self._key),
            "transport": "rest",  # gRPC would keep threads of its own, and knows no local server
            "client_options": {"api_endpoint": f"http://{endpoint}" if endpoint else HOST},
        }
        self._generating = GenerativeServiceClient(**client)
        self._describing = ModelServiceClient(**client)
        for made in (self._generating, self._describing):
            transport: Any = made.transport
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
        known = self._known
        with current_stop().holding(known.lock):  # another thread may be asking
            if known.stated is None:
                known.stated = self._ask(
                    lambda: genai.get_base_model(
                        self._model, client=self._describing, request_options=self._options()
                    )
                )
        stated = known.stated
        parts = [f"chat, {OUTPUT_TOKENS} tokens, cut at {MAX_CHARACTERS} characters"]
        parts += [f"version {stated.version}"] if stated.version else []
        parts += [f"top-k {stated.top_k}"] if stated.top_k else []
        parts += [f"at {self._host}"] if self._host != HOST else []
        parts += ["own log-probabilities"] if self._abilities.own else []
        examples = EXAMPLES if self.form.has_examples else ()
        usual = "; ".join(parts)
        return revision(usual, self.form, examples) if examples else usual

    def asked_in(self, form: Form) -> Gemini:
        """Return the same model, asked in a form; see `LanguageModel.asked_in`."""
        if form not in self.forms:
            raise unknown_form(self.name, self.forms)
        other = copy.copy(self)
        other.form = form
        return other

    # --------------------------------------------------------------------- abilities

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        """What the probe found; asks the service on first use."""
        found, stated = self._abilities, self._known.stated
        only = stated.top_k if stated else None
        return Capabilities(
            scores_given_text=False,
            own_log_likelihoods=found.own,
            seeded=False,
            local=False,
            candidates_a_call=found.candidates,
            in_front=len(in_front()) if self.form.has_examples else 0,
            notes=(f"It draws from its {only} likeliest tokens only.",) if only else (),
        )

    @property
    def _abilities(self) -> Abilities:
        with current_stop().holding(self._known.lock):
            if self._known.abilities is None:
                kept = self._memory().get(self.known_as) if self._memory else None
                self._known.abilities = Abilities.from_json(kept) if kept else None
            return self._known.abilities or self._find_out()[0]

    def probe(self) -> list[str]:
        """Find out anew what the model can do; return what was asked, a line each."""
        with current_stop().holding(self._known.lock):
            return self._find_out()[1]

    def _find_out(self) -> tuple[Abilities, list[str]]:
        """Ask for log-probabilities, and where they come, at another temperature as well."""
        log = ["an answer with its log-probabilities"]
        own = False
        try:
            at_one = self._first_tokens(1.0)
            log[0] += ": answered" if at_one else ": answered without any that can be used"
            if at_one:
                own = _same(at_one, self._first_tokens(0.5))
                log.append(f"the same at temperature 0.5: {'as' if own else 'not as'} likely")
        except _NoLikelihoods as refusal:
            log[-1] += f": refused ({refusal})"
        found = Abilities(own=own)
        self._learn(found)
        return found, log

    def _first_tokens(self, temperature: float) -> dict[str, float]:
        """Return the likeliest tokens that an answer could begin with; {} where none is said."""
        (candidate,) = self._candidates(PROBE, 1, temperature, top=TOP)
        text = "".join(part.text for part in candidate.content.parts)
        said = list(_tokens(candidate.logprobs_result.chosen_candidates))
        if not said or not _spells(said, text) or not candidate.logprobs_result.top_candidates:
            return {}
        return dict(_tokens(candidate.logprobs_result.top_candidates[0].candidates))

    def _learn(self, found: Abilities) -> None:
        self._known.abilities = found
        if self._memory:
            self._memory().put(self.known_as, found.to_json())

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
            When it blocks the prompt or an answer, when thinking used up all tokens, when the
            day's quota is used up, and when it does not accept the request.
        TemporaryError
            When it is worth another try.
        UnreachableError
            When there is no way to the service.
        """
        found = self._abilities  # another thread may find out more meanwhile
        most = found.candidates
        if most == 1 < count:
            raise self._one_a_request()
        responses: list[Response] = []
        while len(responses) < count:
            wanted = min(count - len(responses), most)
            try:
                top = 1 if found.own else None
                drawn = self._candidates(prompt, wanted, temperature, top=top)
            except SmallerRequestsError:  # only when more than one was wanted
                self._learn(replace(found, candidates=1))
                raise
            except _NoLikelihoods:
                self._learn(replace(found, own=False))
                raise RefusedError(
                    f"{self.name} no longer says how likely its answers are. Ask again: they are "
                    "counted then."
                ) from None
            responses += [self._response(candidate, found) for candidate in drawn]
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
        told = said_tokens(usage.prompt_token_count)
        self.meter.add(
            prompt_tokens=told,
            # The SDK has no field for thoughts; they are paid for, and part of the total.
            response_tokens=said_tokens(
                max(usage.candidates_token_count, usage.total_token_count - told)
            ),
        )
        if message.prompt_feedback.block_reason:
            reasons = genai.protos.GenerateContentResponse.PromptFeedback.BlockReason
            raise RefusedError(
                f"{self.name} blocked the prompt: "
                f"{_reason(reasons, message.prompt_feedback.block_reason)}. Rephrase the "
                "question, or choose another model."
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

    def _response(self, candidate: Any, found: Abilities) -> Response:
        if candidate.finish_reason not in (STOP, MAX_TOKENS):
            reasons = genai.protos.Candidate.FinishReason
            raise RefusedError(
                f"{self.name} stopped an answer: {_reason(reasons, candidate.finish_reason)}. "
                "Rephrase the question, or choose another model."
            )
        text = "".join(part.text for part in candidate.content.parts).strip()
        whole = candidate.finish_reason == STOP
        if not (text or whole):
            raise RefusedError(
                f"{self.name} used all {OUTPUT_TOKENS:,} tokens it may use for thinking, "
                "without an answer. Ask a simpler question, or choose a model that thinks less."
            )
        line, rest, _ = text.partition("\n")
        line = line.rstrip()
        short = _shorten(line)
        complete = short == line and (whole or bool(rest))
        if not found.own:
            return Response(short, complete)
        said = list(_tokens(candidate.logprobs_result.chosen_candidates))
        if text and not _spells(said, text):
            raise TemporaryError(
                f"{self.name} sent an answer without its log-probabilities. Try again in a moment."
            )
        return Response(short, complete, _total(said, len(short)))

    def log_likelihoods(
        self, prompts: Sequence[str], answers: Sequence[str]
    ) -> NDArray[np.float64]:
        """Raise: Gemini says of no text how likely it is."""
        raise ModelError(f"{self.name} does not report how likely given answers are.")

    def listed(self) -> tuple[str, ...]:
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
            reply = in_time(call)
        except (StoppedError, KeyboardInterrupt):
            self.meter.add(requests=1)  # it may be charged for
            raise
        except TooLateError:
            failure: ModelError = SilentError(
                f"{self.name} took too long to answer. Try again later."
            )
        except FAULTS as error:
            self.meter.add(requests=isinstance(error, REPLIES))
            failure = self._failure(error, several)
        else:
            self.meter.add(requests=1)
            return reply
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
            case requests.ConnectionError() if _no_way(error):
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
        says = f" It says: “{shortened(words, WORDS)}”" if words else ""
        code = int(error.code or 0)
        reasons = [str(info.get("reason", "")) for info in _details(error, "ErrorInfo")]
        if code in (401, 403) or any(reason.startswith("API_KEY") for reason in reasons):
            return self._bad_key(says)
        if code == 404:
            return UnknownModelError(
                f"Google has no model for {self.name}, or not for this key. Check the name, for "
                f"example gemini:gemini-2.5-flash.{says}"
            )
        if code == 429 and any("PerDay" in quota for quota in _quotas(error)):
            return RefusedError(
                f"The day’s quota for {self.name} is used up. Continue tomorrow, or choose "
                f"another model or key.{says}"
            )
        if code == 429:
            return TemporaryError(
                f"{self.name} received too many requests at once. Try again in a moment.{says}",
                _retry_after(error, words),
            )
        if code >= 500 or code == 408:
            return TemporaryError(
                f"{self.name} has a fault (status {code}). Try again in a moment.{says}",
                _retry_after(error, words),
            )
        if several and "candidate" in words.lower():
            return SmallerRequestsError(words)
        if "logprob" in words.lower():
            return _NoLikelihoods(shortened(words, WORDS))
        if code == 413 or _too_much(words):
            return PromptTooLongError(
                f"The prompt is too long for {self.name}. Shorten the question or repeat fewer "
                f"answers.{says}"
            )
        return RefusedError(f"{self.name} did not accept the request (status {code}).{says}")

    def _bad_key(self, says: str = "") -> NeedsKeyError:
        return NeedsKeyError(
            f"{self.name} did not accept the key. Check GOOGLE_API_KEY, or make a new key.{says}"
        )

    def _words(self, error: GoogleAPICallError) -> str:
        """Return what the service says, without the key; nothing where it is a page of HTML."""
        sent: Any = getattr(error.response, "request", None)
        opening = f"{sent.method} {sent.url}: " if sent else ""
        words = str(error.message).removeprefix(opening).replace(self._key, "[key]")
        return "" if words.lstrip().startswith("<") else " ".join(words.split())


def offered(url: str, key: str | None = None) -> tuple[str, ...]:
    """Return the names of Google’s models; `url` is ``host:port`` of another server, for tests."""
    names = Gemini("any", key=key, endpoint=url or None).listed()
    if not names:
        raise ModelError("Google lists no models for this key. Type the name of one.")
    return names


def _tokens(listed: Any) -> Iterator[tuple[str, float]]:
    """Yield tokens with their log-probabilities; rounding may bring one above 0."""
    for one in listed:
        yield one.token, min(float(one.log_probability), 0.0)


def _spells(tokens: Sequence[tuple[str, float]], text: str) -> bool:
    """Whether tokens are those of an answer, all with log-probabilities that are numbers."""
    spelt = "".join(token for token, _ in tokens).strip()
    return spelt.startswith(text.strip()) and all(math.isfinite(value) for _, value in tokens)


def _total(tokens: Sequence[tuple[str, float]], length: int) -> float:
    """Return ln of the probability of an answer: of its first line, of so many characters.

    The token that ends it counts where it is listed.
    """
    seen, values = "", []
    for token, value in tokens:
        if len(seen.rstrip()) > length:  # behind an answer that was cut
            break
        seen = (seen + token).lstrip()
        values.append(value)
        if "\n" in seen:
            break
    return math.fsum(values)


def _same(at_one: Mapping[str, float], at_half: Mapping[str, float]) -> bool:
    """Whether tokens are as likely at temperature 0.5: else they were divided by it."""
    both = [(at_one[token], at_half[token]) for token in at_one if token in at_half]
    apart = max(one for one, _ in both) - min(one for one, _ in both) if both else 0.0
    return apart > 2 * ALIKE and all(abs(one - half) <= ALIKE for one, half in both)


def _too_much(words: str) -> bool:
    """Whether the service says that the prompt is too long; in one pass, whatever it says."""
    measured = re.search(r"token count|payload size", words)
    return measured is not None and " exceeds" in words[measured.end() :]


def _checked(key: str) -> str:
    """Return a key that can stand in a header: the error of one that cannot would show it."""
    key = key.strip()
    if not key:
        raise NeedsKeyError(
            "Gemini needs a key: type one, or set the environment variable GOOGLE_API_KEY. Google "
            "gives keys at https://aistudio.google.com/apikey."
        )
    if not re.fullmatch(r"[!-~]+", key):
        raise NeedsKeyError(
            "The key for Gemini contains characters that no key has. Copy it again."
        )
    return key


def _shorten(line: str) -> str:
    """Cut a line between two words where it is longer than `MAX_CHARACTERS`."""
    if len(line) <= MAX_CHARACTERS:
        return line
    words = line[: MAX_CHARACTERS + 1].rsplit(maxsplit=1)
    return words[0] if len(words) > 1 else line[:MAX_CHARACTERS]


def _reason(names: Any, number: int) -> str:
    try:
        name = names(number).name
    except ValueError:  # newer than the SDK
        name = f"{number}"
    return REASONS.get(name, f"“{name}”")


def _no_way(error: requests.ConnectionError) -> bool:
    """Whether there was no connection at all, rather than one that broke off."""
    if isinstance(error, requests.exceptions.SSLError | requests.exceptions.ProxyError):
        return True
    reason = getattr(error.args[0] if error.args else None, "reason", None)
    return isinstance(reason, NewConnectionError)


def _details(error: GoogleAPICallError, kind: str) -> list[dict[str, Any]]:
    found = [d for d in error.details if isinstance(d, dict)]
    return [d for d in found if str(d.get("@type", "")).endswith(f"google.rpc.{kind}")]


def _quotas(error: GoogleAPICallError) -> list[str]:
    failures = _details(error, "QuotaFailure")
    violations = [v for failure in failures for v in failure.get("violations") or []]
    return [str(v.get("quotaId", "")) for v in violations if isinstance(v, dict)]


def _retry_after(error: GoogleAPICallError, words: str) -> float | None:
    """Return the seconds to wait: from the details, the words or the header."""
    delays = [str(d.get("retryDelay", "")) for d in _details(error, "RetryInfo")]
    delays += re.findall(r"retry in ([\d.]+s)", words)
    headers = getattr(error.response, "headers", {})
    delays += [f"{headers.get('Retry-After', '')}s"]
    for delay in delays:
        if re.fullmatch(r"\d+(\.\d+)?s", delay):
            return float(delay[:-1])
    return None
