"""A service on this machine that speaks Gemini's REST, with the embedded model behind it.

It keeps the real one's habits as far as a client can notice them: the key in a header, which
may be wrong; numbers for the reasons; 400 for what it does not know; quotas that say how long
to wait. `FAULTS` lists what can be asked of it instead of a good reply.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from core.language_models.backends.embedded.model import EmbeddedModel
from core.language_models.language_model import LanguageModel, Response

NAME = "embedded-1"
KEY = "AIzaTest-not-a-key_0123456789"
SEED = 11
VERSION, TOP_K = "001", 64

# As the service writes them; an older one wrote the SDK's numbers.
STOP, MAX_TOKENS, SAFETY, RECITATION, OTHER = "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", 5
NEWER = "MISSING_THOUGHT_SIGNATURE"
BLOCKED_FOR_SAFETY = 1
KNOWN = {"candidateCount", "stopSequences", "maxOutputTokens", "temperature", "topP", "topK"}
KNOWN |= {"responseLogprobs", "logprobs", "seed", "thinkingConfig"}

MINUTE = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"
DAY = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
QUOTA = (
    "You exceeded your current quota, please check your plan and billing details. For more "
    "information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits. \n* "
    "Quota exceeded for metric: generativelanguage.googleapis.com/"
    "generate_content_free_tier_requests, limit: 10\nPlease retry in 31.25s."
)


def _error(code: int, status: str, message: str, *details: dict[str, Any]) -> tuple[int, Any]:
    error = {"code": code, "message": message, "status": status}
    return code, {"error": error | ({"details": details} if details else {})}


def _detail(kind: str, **fields: Any) -> dict[str, Any]:
    return {"@type": f"type.googleapis.com/google.rpc.{kind}", **fields}


def _quota(which: str, *more: dict[str, Any]) -> tuple[int, Any]:
    failure = _detail("QuotaFailure", violations=[{"quotaId": which}])
    return _error(429, "RESOURCE_EXHAUSTED", QUOTA, failure, *more)


INVALID_KEY = _error(
    400,
    "INVALID_ARGUMENT",
    "API key not valid. Please pass a valid API key.",
    _detail("ErrorInfo", reason="API_KEY_INVALID", domain="googleapis.com"),
)
SUSPENDED = "Permission denied: Consumer 'api_key:{key}' has been suspended."

# A fault is a reply with a status of its own: (status, body), a body that is no JSON as bytes …
ERRORS: dict[str, tuple[int, Any]] = {
    "key": INVALID_KEY,
    "unauthenticated": _error(401, "UNAUTHENTICATED", "Request had invalid authentication."),
    "suspended": _error(403, "PERMISSION_DENIED", SUSPENDED),
    "key at the border": (400, b"x" * 180 + b" {key} is what you sent"),
    "unknown model": _error(404, "NOT_FOUND", "models/x is not found for API version v1beta."),
    "too long": _error(
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
    "region": _error(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
    "quota": _quota(MINUTE, _detail("RetryInfo", retryDelay="31s")),
    "quota in words": _quota(MINUTE),
    "quota of the day": _quota(DAY, _detail("RetryInfo", retryDelay="31s")),
    "no quota": _error(429, "RESOURCE_EXHAUSTED", QUOTA.replace("limit: 10", "limit: 0")),
    "quota without more": _error(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted."),
    "500": _error(500, "INTERNAL", "An internal error has occurred."),
    "503": _error(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
    "page": (502, b"<html><title>Bad gateway</title></html>"),
    "foreign error": (500, ["of", "some", "proxy"]),
    "malformed": (200, b'{"candidates": [{"content"'),
    "no text": (200, b"\xff\xfe\xfa"),
}
# … or something that happens to a good one.
CHANGED = {
    "blocked", "none", "fewer", "one", "empty", "thinking", "cut", "safety", "recitation",
    "other", "newer", "second line", "long line",
}  # fmt: skip
FAULTS = {*ERRORS, *CHANGED, "slow", "cut off", "dropped"}

LONG = "it is " * 40  # more than fit
HELD = 20.0  # seconds that "slow" waits at most, should nobody close the server


class Remembered(dict[str, str]):
    """What was found out about services, as `core.language_models.language_model.Memory` has it."""

    put, forget = dict.__setitem__, dict.__delitem__


@dataclass(frozen=True)
class Received:
    """One request as it came in."""

    method: str
    path: str
    key: str | None
    body: dict[str, Any]


@dataclass
class Service:
    """How a server behaves, and what a test sees of it while it runs.

    Answer number i of its life is number i of `SEED`, whoever asks for it.
    """

    model: LanguageModel = field(default_factory=EmbeddedModel)
    latency: float = 0.0  # seconds before every reply
    # What happens to the requests in turn; None, and all behind the last, are good replies.
    faults: Iterable[str | None] = ()
    key: str | Collection[str] | None = None  # what is accepted; by default every key
    candidates: int = 8  # that a request may ask for
    logprobs: bool = False  # whether it says how likely its answers are
    scaled: bool = False  # and divides by the temperature before
    thoughts: int = 0  # tokens of thinking that every reply says it used
    shows: bool = False  # and begins with as a part of its own
    budgets: tuple[int, ...] = (0, 128)  # what thinking can be limited to
    refuses: tuple[str, ...] = ()  # fields of a request
    limit: int = 8192  # tokens of an answer
    version: str = NAME  # the model that replies name
    endpoint: str = ""  # host:port
    received: list[Received] = field(default_factory=list)  # in the order of arrival
    delivered: int = 0  # answers that were sent without a fault
    together: int = 0  # requests that were being answered at the same time, at most
    drawn: int = 0

    def __post_init__(self) -> None:
        self.keys = {self.key} if isinstance(self.key, str) else self.key
        self.faults = iter(self.faults)
        self.lock, self.closing, self._now = threading.Lock(), threading.Event(), 0

    @property
    def generated(self) -> int:
        """How many requests asked for answers."""
        return sum(request.method == "POST" for request in self.received)

    def open(
        self, name: str = NAME, key: str = KEY, *, known: bool = True, **options: Any
    ) -> LanguageModel:
        """Return a `Gemini` that speaks to this server, and knows already what that can do."""
        from core.language_models.backends.gemini.model import Abilities, Gemini

        model = Gemini(name, key=key, endpoint=self.endpoint, **options)
        if known:
            able = Abilities(own=self.logprobs, thinking=0)
            found = Remembered({model.canonical_name: able.to_json()})
            model.remember_in(lambda: found)
        return model

    @contextlib.contextmanager
    def arrival(self, request: Received) -> Iterator[str | None]:
        """Note a request and yield the fault that is its turn."""
        with self.lock:
            self.received.append(request)
            self._now += 1
            self.together = max(self.together, self._now)
            fault = next(self.faults, None)
        assert fault is None or fault in FAULTS, fault
        try:
            yield fault
        finally:
            with self.lock:
                self._now -= 1

    # ----------------------------------------------------------------------- replies

    def reply(self, request: Received, fault: str | None) -> tuple[int, Any]:
        if fault in ERRORS:
            return ERRORS[fault]
        if not request.key:
            return _error(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers.")
        if self.keys is not None and request.key not in self.keys:
            return INVALID_KEY
        if re.fullmatch(r"/v1beta/models(\?.*)?", request.path):
            other = {"name": "models/embedder", "supportedGenerationMethods": ["embedContent"]}
            return 200, {"models": [other, self.description()]}
        asked = re.fullmatch(r"/v1beta/models/([^/:?]+)(:generateContent)?(\?.*)?", request.path)
        if not asked or bool(asked[2]) != (request.method == "POST") or asked[1] != NAME:
            return _error(404, "NOT_FOUND", f"{request.path} is not found for API version v1beta.")
        if request.method == "GET":
            return 200, self.description()
        return self.generate(request.body, fault)

    def description(self) -> dict[str, Any]:
        return {
            "name": f"models/{NAME}",
            "version": VERSION,
            "displayName": "The embedded model",
            "inputTokenLimit": 512,
            "outputTokenLimit": self.limit,
            "supportedGenerationMethods": ["generateContent"],
            "topK": TOP_K,
            "thinking": True,  # newer than the SDK, which must not stumble over it
        }

    def generate(self, body: dict[str, Any], fault: str | None) -> tuple[int, Any]:
        settings = dict(body.get("generationConfig", {}))
        count, temperature = settings.get("candidateCount", 1), settings.get("temperature", 1.0)
        wrong = None
        if unknown := settings.keys() - KNOWN:
            wrong = f'Invalid JSON payload received. Unknown name "{min(unknown)}"'
        elif refused := [name for name in self.refuses if name in settings]:
            wrong = f"{refused[0]} is not supported for models/{NAME}"
        elif (b := settings.get("thinkingConfig")) and b["thinkingBudget"] not in self.budgets:
            wrong = (
                f"Budget {b['thinkingBudget']} is invalid. This model only works in thinking mode."
            )
        elif settings.get("maxOutputTokens", 1) > self.limit:
            wrong = "Unable to submit request because it has a maxOutputTokens of too many."
        elif count > self.candidates:
            wrong = "Multiple candidates is not enabled for this model"
        elif not 0 <= temperature <= 2:
            wrong = "Temperature must be in the range [0.0, 2.0]."
        elif "responseLogprobs" in settings and not self.logprobs:
            wrong = f"Logprobs is not enabled for models/{NAME}"
        if wrong:
            return _error(400, "INVALID_ARGUMENT", wrong)
        prompt = "".join(part["text"] for part in body["contents"][-1]["parts"])
        usage = {"promptTokenCount": len(prompt.split())}
        if fault == "blocked":
            feedback = {"blockReason": BLOCKED_FOR_SAFETY}
            return 200, {"promptFeedback": feedback, "usageMetadata": usage}
        candidates = self.candidates_to(prompt, count, temperature, fault)
        if "responseLogprobs" not in settings:
            for candidate in candidates:
                del candidate["logprobsResult"]
        texts = [part["text"] for c in candidates for part in c["content"].get("parts", ())]
        usage["candidatesTokenCount"] = sum(len(text.split()) for text in texts)
        usage["thoughtsTokenCount"] = self.thoughts
        usage["totalTokenCount"] = sum(usage.values())
        return 200, {"candidates": candidates, "usageMetadata": usage, "modelVersion": self.version}

    def candidates_to(
        self, prompt: str, count: int, temperature: float, fault: str | None
    ) -> list[dict[str, Any]]:
        with self.lock:  # every answer has an index of its own, whoever asks
            drawn = self.model.sample(
                prompt, count, temperature=temperature, seed=SEED, first=self.drawn
            )
            self.drawn += count
        found = []
        for index, answer in enumerate(drawn):
            reason = STOP if answer.complete else MAX_TOKENS
            text, reason = _changed(answer.text, reason, fault)
            thought = [{"text": "**Considering** the question…\n", "thought": True}]
            parts = [*thought * self.shows, *([{"text": text}] if text else [])]
            content = {"role": "model"} | ({"parts": parts} if parts else {})
            said = self.likelihoods(prompt, answer, temperature) if self.logprobs else None
            found.append(
                {"content": content, "finishReason": reason, "index": index, "logprobsResult": said}
            )
        return found[: {"none": 0, "one": 1, "fewer": max(count - 1, 0)}.get(fault or "", count)]

    def likelihoods(self, prompt: str, answer: Response, temperature: float) -> dict[str, Any]:
        """Say how likely an answer is, as one token; and others in its place."""
        heat = temperature if self.scaled else 1.0
        texts = [answer.text, *(response.text for response in self.model.likeliest(prompt, 3))]
        values = self.model.log_likelihoods([prompt], texts)[0] / heat
        chosen, *likeliest = zip(texts, values.tolist(), strict=True)
        return {
            "chosenCandidates": [{"token": chosen[0], "logProbability": chosen[1]}],
            "topCandidates": [
                {"candidates": [{"token": t, "logProbability": v} for t, v in likeliest]}
            ],
        }


NO_TEXT = {"safety": SAFETY, "recitation": RECITATION, "other": OTHER, "newer": NEWER}
NO_TEXT |= {"empty": STOP, "thinking": MAX_TOKENS}


def _changed(text: str, reason: int, fault: str | None) -> tuple[str, int]:
    if fault in NO_TEXT:
        return "", NO_TEXT[fault]
    if fault == "cut":
        return text, MAX_TOKENS
    if fault == "second line":
        return f"\n {text} \nand more", MAX_TOKENS
    if fault == "long line":
        return f"{text} {LONG}", STOP
    return text, reason


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet
    server: _Server

    def do_GET(self) -> None:
        service = self.server.service
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        request = Received(self.command, self.path, self.headers.get("x-goog-api-key"), body)
        with service.arrival(request) as fault:
            if service.latency:
                time.sleep(service.latency)
            if fault == "slow":
                service.closing.wait(HELD)
            if fault in {"slow", "dropped"}:
                self.close_connection = True
                return
            status, content = service.reply(request, fault)
            if fault is None and status == 200:
                with service.lock:
                    service.delivered += len(content.get("candidates", ()))
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        raw = raw.replace(b"{key}", (request.key or "").encode())
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=UTF-8")
        self.send_header("Content-Length", str(len(raw)))
        if fault == "503":
            self.send_header("Retry-After", "7")
        self.end_headers()
        if fault == "cut off":
            raw = raw[: len(raw) // 2]
            self.close_connection = True
        self.wfile.write(raw)

    do_POST = do_GET

    def log_message(self, format: str, *arguments: Any) -> None:
        pass  # nobody reads it, and pytest would show it


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    service: Service


@contextlib.contextmanager
def serving(**options: Any) -> Iterator[Service]:
    """Run a `Service` with some options as long as the block lasts."""
    service = Service(**options)
    server = _Server(("127.0.0.1", 0), _Handler)
    server.service = service
    service.endpoint = f"127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def gemini(*, known: bool = True, **options: Any) -> Iterator[LanguageModel]:
    """Run a server (see `serving`) and yield a `Gemini` that speaks to it."""
    with serving(**options) as service:
        yield service.open(known=known)
