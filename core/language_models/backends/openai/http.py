"""Requests to an OpenAI-compatible server, what can go wrong with them, and how to read replies.

Every failure becomes one sentence of ours. No sentence, and no exception behind one, holds the
key: what `requests` raises does, so that nothing is ever raised while one of those is handled.
"""

import json
import math
import os
import re
import threading
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any

import requests
from urllib3.exceptions import NameResolutionError, NewConnectionError

from core.codec import one_line
from core.language_models import errors
from core.language_models.backends.openai.address import Address, unknown_host
from core.language_models.backends.openai.replies import (
    Reply,
    finish_of,
    join_parts,
    refusal_of,
    used_tokens,
)
from core.language_models.connections import LARGEST_REPLY, Fault, exceeds, exchange
from core.language_models.language_model import encodable
from core.language_models.stopping import TooLateError, at_least, in_time
from core.language_models.usage import Meter
from core.once import FORKED

# Seconds to connect, and between two pieces of a reply. What all of it may take, however small
# the pieces are, stands in `stopping`.
TIMEOUTS = 5.0, 60.0
LONGEST_WORDS = 200  # characters of a service's own words in a sentence of ours

ABSENT = {404, 405, 410, 501}  # there is no such service, or no such model
TRY_AGAIN = {408, 425, 429, *range(500, 600)} - ABSENT
TOO_LONG = re.compile(
    r"context.?(length|window|size)|too many tokens|(prompt|input) is too long"
    r"|maximum (input|prompt|sequence) length",
    re.IGNORECASE,
)

LOADING = re.compile(r"\b(loading|warming up|starting|not ready|initiali[sz]ing)\b", re.IGNORECASE)
# What services say to whoever has to pay first: no other request helps.
UNPAID = re.compile(r"insufficient.(quota|balance|credit|fund)|credit balance", re.IGNORECASE)
# What xAI and Google say with status 400 of a key.
WRONG_KEY = re.compile(r"\b(incorrect|invalid) api.?key\b|\bapi.?key (is )?(not |in)valid\b", re.I)
COOLING = re.compile(r"no deployments? available|cool.?down", re.IGNORECASE)  # of a proxy
# What llama.cpp says with status 500 of a grammar that it cannot follow: it never will.
GRAMMAR = re.compile(r"\bgrammar\b", re.IGNORECASE)
# What servers and chat templates say that know no such message, some with status 500.
NO_SYSTEM = re.compile(
    r"system (role|message|prompt)s?\b.{0,40}\b(not|un)|\bonly user\b|roles must alternate"
    r"|(unsupported|invalid|unknown) role.{0,20}system",
    re.IGNORECASE,
)
# What services call the filter that a prompt did not pass; OpenRouter and xAI with status 403.
FILTERED = re.compile(
    r"content_filter|content management policy|requires moderation"
    r"|\b(prompt|input|content|request) (was|is|has been) (flagged|blocked)|violates usage",
    re.IGNORECASE,
)
# The fields of a request, and what llama.cpp calls them in its refusals.
FIELDS = re.compile(
    r"(?<![\w\\])(chat_template_kwargs|reasoning_effort|generation_config"
    r"|repetition_penalty|repeat_penalty"
    r"|max_tokens|top_logprobs|n_probs|logprobs|temperature|min_p|top_k|top_p|stop|seed"
    r"|n_cmpl|n|model|prompt|messages)(?!\w)"
)
THEIRS = {"n_cmpl": "n", "n_probs": "top_logprobs"}
VERSIONED = re.compile(r"/v\d")  # an address that names an interface
SHORT_KEY = 8  # characters; fewer may be part of any word
LONG_KEY = 16  # of which so many in a row are no words of an answer
MOST_SAID = 20_000  # characters of a service's own words that are looked at


class Rejection(errors.RefusedError):
    """A refusal that may mean that something is not offered.

    `words` is what the service says, up to `MOST_SAID` characters, without the key; `named`, the
    fields of a request that it speaks of.
    """

    def __init__(self, message: str, status: int, words: str, named: tuple[str, ...]) -> None:
        super().__init__(message)
        self.status, self.words, self.named = status, words, named


@dataclass
class _Exchange:
    """How far one request has come, as the thread that makes it says."""

    session: requests.Session | None = None  # None until something may have been sent
    status: int = 0  # until a reply has begun
    waits: str | None = None
    data: bytes = b""
    silence: float = TIMEOUTS[1]  # seconds between two pieces


class Service:
    """One server and one key; used by many threads at once."""

    def __init__(
        self, address: Address, key: str | None, meter: Meter, *, typed: bool = True
    ) -> None:
        self.address, self.meter = address, meter
        self._key, self._typed = key, typed  # by a person, or out of the environment
        self._idle: list[requests.Session] = []  # connections outlive the threads that made them
        self._lock, self._process = threading.Lock(), os.getpid()
        self._pinned: tuple[str | None] | None = None  # None until the name was looked up

    @property
    def host(self) -> str:
        """The server as sentences name it."""
        return self.address.host

    def post(self, path: str, body: Reply, *, beside: bool = False, free: bool = False) -> Reply:
        """Send a request and return the JSON of its reply.

        A path that is not one of OpenAI's stands `beside` their ``/v1``; its reply may be a list,
        which becomes the field "data". One is `free`, not counted, if no model computes anything.

        Raises `TemporaryError` for what may pass, `Rejection` for what may not be offered.
        """
        return self._ask("POST", path, body, beside=beside, free=free)

    def get(self, path: str, *, beside: bool = False) -> Reply:
        """Return the JSON that stands at an address, as `post` does; it is never counted."""
        return self._ask("GET", path, None, beside=beside, free=True)

    def _ask(
        self,
        method: str,
        path: str,
        body: Reply | None,
        *,
        beside: bool = False,
        free: bool = False,
    ) -> Reply:
        if os.getpid() != self._process:
            raise errors.ModelError(FORKED)
        base = self.address.url.removesuffix("/v1") if beside else self.address.url
        content = None if body is None else json.dumps(body, allow_nan=False).encode()
        meter = Meter() if free else self.meter
        meter.begin()
        exchange = _Exchange(silence=at_least(TIMEOUTS[1]))
        failure: errors.ModelError | None = None
        try:
            fault = in_time(partial(self._exchange, method, f"{base}{path}", content, exchange))
        except (errors.StoppedError, KeyboardInterrupt):
            meter.add(requests=exchange.session is not None)  # it may be charged for
            raise
        except TooLateError:
            failure = self._silent()
        else:
            failure = self._failure(fault.error) if fault else None
        meter.add(requests=exchange.status > 0)
        if failure:
            raise failure
        if exchange.session:
            self._idle.append(exchange.session)
        status, waits, data = exchange.status, exchange.waits, exchange.data
        if excess := exceeds(data):
            raise errors.RefusedError(
                f"{self.host} sent {excess}. Check that the address is that of a language model."
            )
        parsed = parsed_reply(data, lists=beside or method == "GET")  # as Together lists its models
        if not 200 <= status < 300:
            raise self._refusal(status, waits, parsed, data)
        if parsed is None:
            if data.lstrip().startswith((b"data:", b"event:")):
                raise errors.OtherModelError(  # it will go on
                    f"{self.host} streams its replies, though nothing asks for that. Switch "
                    "streaming off there, or choose another server."
                )
            if not beside and parsed_reply(data, lists=True):
                raise self._other_interface()
            raise self.reply_error("a reply that is cut off or not JSON")
        if parsed.get("error") and "choices" not in parsed:  # some say 200 and mean another
            code = parsed["error"].get("code") if isinstance(parsed["error"], dict) else None
            raise self._refusal(_status(code), waits, parsed, data)
        prompt, answers = used_tokens(parsed)
        unreported = "choices" in parsed and not (prompt and answers)
        meter.add(prompt_tokens=prompt, response_tokens=answers, unreported=unreported)
        return parsed

    def _exchange(
        self, method: str, url: str, content: bytes | None, transfer: _Exchange
    ) -> Fault | None:
        """Send a request and read the reply, in a thread that may be left alone with it."""
        transfer.session = self._session()
        return exchange(partial(_transfer, transfer.session, method, url, content, transfer))

    def _session(self) -> requests.Session:
        """Return a session that no other thread uses."""
        with self._lock:
            if self._pinned is None:
                self._pinned = (self.address.look_up(),)
            if self._idle:
                return self._idle.pop()
        return self.address.connect(self._pinned[0], self._key)

    def _failure(self, error: Exception) -> errors.ModelError:
        """Say why no reply came."""
        if isinstance(error, requests.exceptions.SSLError):
            return errors.UnreachableError(
                f"{self.host} has no certificate that this machine trusts. Check the address, and "
                "whether it is http:// or https://."
            )
        if isinstance(error, requests.exceptions.ProxyError):
            return errors.UnreachableError(
                f"The proxy of this machine does not lead to {self.host}. Check its settings."
            )
        reason = getattr(error.args[0], "reason", None) if error.args else None
        if isinstance(reason, NameResolutionError):
            return errors.UnreachableError(unknown_host(self.host))
        if isinstance(reason, NewConnectionError):
            return errors.UnreachableError(
                f"No server answers at {self.host}. Check the address, and that the server runs."
            )
        if isinstance(error, requests.exceptions.Timeout):
            return self._silent()
        return errors.TemporaryError(f"The connection to {self.host} broke. Try again.")

    def _silent(self) -> errors.SilentError:
        return errors.SilentError(f"{self.host} took too long to answer. Try again later.")

    def _refusal(
        self, status: int, waits: str | None, parsed: Reply | None, data: bytes
    ) -> errors.ModelError:
        """Say why the reply is not what was asked for."""
        explanation, field = _words(parsed, data)
        words = self.without_key(explanation)
        shown = one_line(words, LONGEST_WORDS)
        is_of_key = status == 401 or (status == 400 and WRONG_KEY.search(words))
        if is_of_key or (status == 403 and not FILTERED.search(words)):
            variable = self.address.key_variable
            if self._key:
                error = errors.refused_key(self.host, variable, typed=self._typed)
                says = f" It says: “{shown}”." if status == 403 and shown else ""  # of a country
                return errors.NeedsKeyError(f"{error}{says}")
            return errors.NeedsKeyError(
                f"{self.host} needs a key. Set {variable}, or type the key."
            )
        if 300 <= status < 400:
            return errors.RefusedError(
                f"{self.host} redirects to another address. Give that address."
            )
        if status == 402 or UNPAID.search(words):
            return errors.CreditError(
                f"{self.host} wants to be paid first: “{shown}”. Answers received are saved; add "
                "credit there, or give another key."
            )
        if status == 503 and LOADING.search(words):
            return errors.LoadingError(f"{self.host} is still loading its model. Try again later.")
        for_good = GRAMMAR.search(words) or NO_SYSTEM.search(words)
        if COOLING.search(words) or (status in TRY_AGAIN and not for_good):
            busy = "received too many requests" if status == 429 else f"failed (status {status})"
            says = f": “{shown}”" if shown and not shown.startswith("<") else ""  # a page
            sentence = f"{self.host} {busy}{says}. Try again later."
            return errors.TemporaryError(sentence, _seconds(waits))
        if TOO_LONG.search(words):
            return errors.PromptTooLongError(
                f"The prompt does not fit into the model: “{shown}”. Shorten the question or "
                "repeat fewer answers."
            )
        return Rejection(
            f"{self.host} refused the request (status {status}): “{shown}”. Check the model and "
            "the question.",
            status,
            words,
            _fields_named(f"{field} {explanation}"),
        )

    def without_key(self, text: str) -> str:
        """Return a service's own words on one line, without the key if they repeat it.

        A key below `SHORT_KEY` characters, such as “k” for servers that want any, is removed
        only where it is a word.
        """
        text = self._leave_key_out("".join(c if c.isprintable() else " " for c in text[:MOST_SAID]))
        key = self._key or ""
        if 0 < len(key) < SHORT_KEY:
            text = re.sub(rf"(?<![\w-]){re.escape(key)}(?![\w-])", "…", text)
        return " ".join(text.split())

    def _leave_key_out(self, text: str, least: int = SHORT_KEY) -> str:
        """Return text without any `least` characters of the key in a row, spaces between or not.

        A shorter key stays.
        """
        key = self._key or ""
        if len(key) < least:
            return text
        places = [place for place, c in enumerate(text) if not c.isspace() and c.isprintable()]
        letters = "".join(text[place] for place in places)
        shown = list(text)
        for start in range(len(letters) - least + 1):
            if letters[start : start + least] in key:
                first, last = places[start], places[start + least - 1]
                shown[first : last + 1] = "\ud800" * (last + 1 - first)  # no reply has it
        return re.sub("\ud800+", "…", "".join(shown))

    def reply_error(self, what: str) -> errors.TemporaryError:
        """Return the error for a reply that cannot be used, and may be better next time."""
        return errors.TemporaryError(f"{self.host} sent {what}. Try again.")

    def _other_interface(self) -> errors.ModelError:
        """Return the error for a good reply that is not of OpenAI's interface."""
        if VERSIONED.search(self.address.url):
            return self.reply_error("a reply without answers")
        return errors.RefusedError(
            f"{self.host} answers, but not as OpenAI’s interface does. Base URLs mostly end in "
            f"/v1: try {self.address.url}/v1."
        )

    def choices(self, reply: Reply, count: int | None = None) -> list[Reply]:
        """Return the reply's choices in their order; `count` of them, if that is given."""
        choices = reply.get("choices")
        if not isinstance(choices, list) or not all(isinstance(c, dict) for c in choices):
            raise self._other_interface()
        if not choices or len(choices) != (count or len(choices)):
            raise self.reply_error("a wrong number of answers")
        indices = [choice.get("index") for choice in choices]
        if sorted(i for i in indices if type(i) is int) == list(range(len(choices))):
            choices.sort(key=lambda choice: choice["index"])
        for choice in choices:
            join_parts(choice)
        return choices

    def model_of(self, reply: Reply) -> str:
        """Return the model that a server says it is, or ""; not its machine's fingerprint."""
        stated = reply.get("model")
        return one_line(self.without_key(stated), LONGEST_WORDS) if isinstance(stated, str) else ""

    def text(self, choice: Reply) -> str:
        """Return the text of a choice, of completions or of chat completions, without the key.

        Words of a key that is none, such as “no-key-required”, may stand in an answer: more of
        it must be repeated than in an error.
        """
        text, message = choice.get("text"), choice.get("message")
        if isinstance(message, dict):
            text = message.get("content") or ""
        if text is None and refusal_of(choice):
            return ""
        if not isinstance(text, str):
            raise self.reply_error("a reply without text")
        if choice.get("error") or finish_of(choice) == "error":  # OpenRouter's, of a provider
            raise self.reply_error("an answer that a fault broke off")
        return self._leave_key_out(text, min(max(len(self._key or ""), SHORT_KEY), LONG_KEY))


def _transfer(
    session: requests.Session, method: str, url: str, content: bytes | None, exchange: _Exchange
) -> None:
    with session.request(
        method,
        url,
        data=content,
        headers=None if content is None else {"Content-Type": "application/json"},
        timeout=(TIMEOUTS[0], exchange.silence),
        allow_redirects=False,
        stream=True,
    ) as reply:
        exchange.status, exchange.waits = reply.status_code, reply.headers.get("Retry-After")
        for piece in reply.iter_content(65536):
            exchange.data += piece
            if len(exchange.data) > LARGEST_REPLY:
                break


def _words(parsed: Reply | None, data: bytes) -> tuple[str, str]:
    """Return what a service says about its refusal, its code included; and the field, if any."""
    words: Any = parsed.get("error", parsed) if parsed else None
    field = words.get("param") if isinstance(words, dict) else None
    if isinstance(words, dict) and isinstance(words.get("message"), str):
        code = words.get("code")
        words = f"{words['message']} ({code})" if isinstance(code, str) else words["message"]
    if not isinstance(words, str):
        words = data[:MOST_SAID].decode("utf-8", "replace")
    return words, field if isinstance(field, str) else ""


def _fields_named(words: str) -> tuple[str, ...]:
    """Return the fields of a request that a text speaks of, in its order."""
    names = [THEIRS.get(name, name) for name in FIELDS.findall(words[:MOST_SAID])]
    return tuple(dict.fromkeys(names))


def _status(code: Any) -> int:
    """Return the status that an error in a reply of status 200 says it has; by default 400."""
    return code if isinstance(code, int) and 100 <= code < 600 else 400


def parsed_reply(data: bytes, *, lists: bool = False) -> Reply | None:
    """Return the object that a reply is; a list, where those are taken, as its field "data"."""
    try:
        parsed = _writable(json.loads(data))
    except (ValueError, RecursionError):
        return None
    if lists and isinstance(parsed, list):
        return {"data": parsed}
    return parsed if isinstance(parsed, dict) else None


def _writable(parsed: Any) -> Any:
    """Return parsed JSON in which no text has half a character."""
    if isinstance(parsed, str):
        return encodable(parsed)
    if isinstance(parsed, list):
        for place, item in enumerate(parsed):  # a second list would take as much memory again
            parsed[place] = _writable(item)
    if isinstance(parsed, dict):
        return {encodable(name): _writable(value) for name, value in parsed.items()}
    return parsed


def _seconds(waits: str | None) -> float | None:
    """Read a Retry-After: seconds, or a date."""
    try:
        seconds = float(waits or "")
    except ValueError:
        try:
            seconds = parsedate_to_datetime(waits or "").timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None
