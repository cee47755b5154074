"""A server on this machine that speaks OpenAI's interface, with the embedded model behind it.

Every number it gives is the model's own: tokens, offsets, log-probabilities, draws. So what a
back end makes of them can be checked against the model in process. In `FLAVOURS` servers differ
in what they offer, as real ones do; the "chat template" is the user's message and nothing else.

A request's seed S stands for the draws of the series S >> 20 from the index S & (2**20 - 1) on:
those that `EmbeddedModel.sample` makes in process. `END` in a prompt is the end token. A stop
takes the whole token with it in which it stands, as that model's own line breaks do.
"""

import functools
import itertools
import json
import random
import select
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from core.language_models.backends.embedded.model import EmbeddedModel
from core.language_models.backends.llama.model import draw_tokens

END = "<|end|>"
FAULTS = ("busy", "busy for a while", "broken", "slow", "cut", "malformed", "empty", "choices")
SLOW = 0.05  # seconds
# Those that no client survives without trying again, on every flavour: "late" comes only after
# the client has hung up, "no choices" is an empty list, "numbers" leaves out a log-probability.
PASSING = (*(fault for fault in FAULTS if fault != "slow"), "late", "no choices", "numbers")
HELD = 240.0  # seconds that "late" waits at most, should a client never hang up
REMEMBERED = 4000  # computations

FLAVOURS = {  # what is offered, and which fields of a request are passed over
    "echo": ("/v1/completions", ()),  # vLLM
    "top": ("/v1/completions", ("echo",)),  # llama.cpp
    "none": ("/v1/completions", ("echo", "logprobs", "top_logprobs")),
    "chat-top": ("/v1/chat/completions", ()),  # OpenAI
    "chat-none": ("/v1/chat/completions", ("logprobs", "top_logprobs")),
}
FaultReporter = Iterator[str | None] | Callable[[str], str | None] | None

_numbers = itertools.count(1)

THOUGHT = "Let me see what the question is about and what I know of it " * 5


def faults(seed: int, share: float, kinds: tuple[str, ...] = FAULTS) -> Iterator[str | None]:
    """Yield for each request in turn what goes wrong with it: nothing, or one of `kinds`."""
    dice = random.Random(seed)
    while True:
        yield dice.choice(kinds) if dice.random() < share else None


def faults_by_request(
    seed: int, share: float, weights: dict[str, float]
) -> Callable[[str], str | None]:
    """Return what goes wrong with the nth try of a request, in whatever order they come.

    How often each kind of fault is chosen stands in `weights`.
    """
    tries: Counter[str] = Counter()

    def of(request: str) -> str | None:
        tries[request] += 1
        dice = random.Random(f"{seed} {tries[request]} {request}")
        if dice.random() >= share:
            return None
        return dice.choices(list(weights), list(weights.values()))[0]

    return of


@dataclass
class Exchange:
    """One request, and how it was answered: a fault, a status, or ``ok``."""

    path: str
    body: dict
    headers: dict
    port: int = 0  # of the connection it came by
    outcome: str = ""


@dataclass
class Server:
    """A running server. `exchanges` holds every request that came in, in order, but
    those of what there is: `listings`.

    `latency` and `faults` (see `serving`) may be changed while it runs. `watch` is called with
    each exchange twice: when it came in, and when its reply was sent.
    """

    base_url: str
    model: str
    exchanges: list[Exchange] = field(default_factory=list)
    listings: list[str] = field(default_factory=list)
    latency: float = 0.0
    faults: FaultReporter = None
    watch: Callable[[Exchange], None] = lambda exchange: None

    @property
    def name(self) -> str:
        """What `open_model` takes."""
        return f"openai:{self.rest}"

    @property
    def rest(self) -> str:
        return f"{self.model}@{self.base_url}"

    @property
    def bodies(self) -> list[dict]:
        return [exchange.body for exchange in self.exchanges]

    @property
    def outcomes(self) -> list[str]:
        return [exchange.outcome for exchange in self.exchanges]

    @property
    def delivered(self) -> list[Exchange]:
        """What was answered with all that was asked for, to a client that still listened."""
        return [e for e in self.exchanges if e.outcome in ("ok", "slow")]

    def paid(self) -> list[str]:
        """Return `delivered` as text to compare."""
        return [_identity(e) for e in self.delivered]


@contextmanager
def serving(
    flavour: str = "echo",
    *,
    model: EmbeddedModel | None = None,
    latency: float = 0.0,
    faults: FaultReporter = None,
    key: str | None = None,
    refuses: tuple[str, ...] = (),
    least_tokens: int = 0,
    slots: int = 1000,
    fixed_temperature: bool = False,
    before: Callable[[str, dict], tuple[int, dict, bytes] | None] | None = None,
    after: Callable[[dict], dict] | None = None,
    port: int = 0,
    tls=None,
    models: object = None,
    tags: object = None,
    memory: dict | None = None,
    **written,
) -> Iterator[Server]:
    """Run a server until the end of the block.

    `latency`: seconds before each reply.
    `faults`: see `faults` and `faults_by_request`.
    `key`: what it wants; another key is refused, and repeated in the refusal.
    `refuses`: fields of a request that are answered with status 400.
    `least_tokens`: what `max_tokens` must at least be.
    `slots`: what `n` may at most be, as for llama-server.
    `fixed_temperature`: no temperature but 1 is taken, as by OpenAI's models that reason.
    `before`: answers instead, with status, headers and body, unless it returns None.
    `after`: changes a reply before it is sent.
    `tls`: an `ssl.SSLContext`.
    `models`: what ``GET /v1/models`` replies; by default the one it has.
    `tags`: what Ollama's ``GET /api/tags`` replies.
    `memory`: where replies are kept, for requests that are equal to an earlier one.
    `written`: how it answers, see `_Desk`.
    """
    computed: dict = _by_shipped if model is None else {}
    model = model or _shipped()
    name = f"embedded-{next(_numbers)}"
    desk = _Desk(model, **written, computed=computed)
    offered, passed_over = FLAVOURS[flavour]
    lock, gone = threading.Lock(), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1  # head and body in one packet

        exchange: Exchange | None = None  # the last one

        def handle_one_request(self) -> None:
            try:
                super().handle_one_request()
            except ConnectionError:
                # Closed before the reply was read to its end; after that, it ends in silence.
                if self.exchange:
                    self.exchange.outcome = "late"
                raise

        def do_GET(self) -> None:
            server.listings.append(self.path)
            found = {"object": "list", "data": [{"id": name}]} if models is None else models
            status, text = 200, json.dumps(found).encode()
            sent = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if key is not None and sent != key:
                status, text = 401, _error(f"Incorrect API key provided: {sent}")
            elif self.path == "/api/tags" and tags is not None:
                text = json.dumps(tags).encode()
            elif self.path != "/v1/models" or models == "none":
                status, text = 404, _error("Not Found")
            elif models == "broken":
                status, text = 500, _error("Internal error")
            elif models == "forbidden":
                status, text = 403, _error("Missing scopes: api.model.read")
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            data = self.rfile.read(length)
            if len(data) < length or gone.is_set():  # the client is gone, or we are
                self.close_connection = True
                return
            body = json.loads(data)
            exchange = Exchange(self.path, body, dict(self.headers), self.client_address[1])
            self.exchange = exchange
            with lock:
                server.exchanges.append(exchange)
                fault = self.fault(exchange)
            server.watch(exchange)
            time.sleep(server.latency + SLOW * (fault == "slow"))
            status, headers, reply = self.reply(exchange, fault)
            if self.hung_up(HELD if fault == "late" else 0.0):
                exchange.outcome = "late"
                self.close_connection = True
                return
            exchange.outcome = exchange.outcome or fault or "ok"  # before anybody has the reply
            self.send_response(status)
            for field_name, value in headers.items():
                self.send_header(field_name, value)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.close_connection = self.close_connection or fault == "cut"
            try:
                self.wfile.write(reply[: len(reply) // 2] if fault == "cut" else reply)
                self.wfile.flush()
            except ConnectionError:
                exchange.outcome = "late"
                self.close_connection = True
            server.watch(exchange)

        def fault(self, exchange: Exchange) -> str | None:
            if callable(server.faults):
                return server.faults(_identity(exchange))
            return next(server.faults) if server.faults else None

        def hung_up(self, seconds: float) -> bool:
            """Whether the client closes the connection within some seconds."""
            if tls or not select.select([self.connection], [], [], seconds)[0]:
                return False
            try:
                return self.connection.recv(1, socket.MSG_PEEK) == b""
            except ConnectionError:
                return True

        def reply(self, exchange: Exchange, fault: str | None) -> tuple[int, dict, bytes]:
            if before and (answer := before(self.path, exchange.body)):
                exchange.outcome = str(answer[0])
                return answer
            if fault in BROKEN:
                return BROKEN[fault]
            if wrong := self.wrong(exchange.body):
                exchange.outcome = str(wrong[0])
                return wrong[0], {}, _error(wrong[1])
            asked = {k: v for k, v in exchange.body.items() if k not in passed_over}
            reply = desk.answer(asked, chat="chat" in offered)
            if memory is not None:
                reply = memory.setdefault(_identity(exchange), reply)
            if after or fault == "numbers":  # which change what the desk remembers
                reply = deepcopy(reply)
            reply["model"] = f"{name}-{model.revision}"
            if fault == "choices":
                reply["choices"] = (reply["choices"] * 2)[: len(reply["choices"]) + 1]
            if fault == "no choices":
                reply["choices"] = []
            if fault == "numbers":
                _leave_one_out(reply["choices"])
            text = json.dumps(after(reply) if after else reply)
            return 200, {}, (text[:-20] + "}" if fault == "malformed" else text).encode()

        def wrong(self, body: dict) -> tuple[int, str] | None:
            sent = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if key is not None and sent != key:
                return 401, f"Incorrect API key provided: {sent}"
            if self.path != offered:
                return 404, "Not Found"
            if body["model"] != name:
                return 404, f"The model `{body['model']}` does not exist."
            if refused := [name for name in refuses if name in body]:
                return 400, f"Unsupported parameter: '{refused[0]}' is not supported."
            if body.get("n", 1) > slots:
                return 400, "n_cmpl cannot be greater than the number of slots, please increase -np"
            if fixed_temperature and body.get("temperature", 1) != 1:
                return 400, (
                    f"Unsupported value: 'temperature' does not support {body['temperature']} with "
                    "this model. Only the default (1) value is supported."
                )
            if body.get("max_tokens", 16) < max(least_tokens, 0 if body.get("echo") else 1):
                return 400, f"max_tokens must be at least 1, got {body['max_tokens']}."
            limit = model.llama.context_length
            longest = max(len(desk.encode(text)) for text in _prompts(body))
            if longest + body.get("max_tokens", 16) > limit:
                return 400, f"This model's maximum context length is {limit} tokens."
            return None

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            if not isinstance(sys.exception(), ConnectionError):  # clients may go at any time
                super().handle_error(request, client_address)

    httpd = Quiet(("127.0.0.1", port), Handler)
    httpd.daemon_threads = True
    if tls:
        httpd.socket = tls.wrap_socket(httpd.socket, server_side=True)
    scheme = "https" if tls else "http"
    server = Server(
        f"{scheme}://127.0.0.1:{httpd.server_port}/v1", name, latency=latency, faults=faults
    )
    thread = threading.Thread(target=httpd.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        gone.set()  # for connections that stay open
        httpd.shutdown()
        thread.join()
        httpd.server_close()


def _error(message: str) -> bytes:
    return json.dumps({"error": {"message": message, "type": "invalid_request_error"}}).encode()


def _identity(exchange: Exchange) -> str:
    """Return a request as text: the same for the next server, whose model has another name."""
    body = {name: value for name, value in exchange.body.items() if name != "model"}
    return json.dumps([exchange.path, body], sort_keys=True)


def _leave_one_out(choices: list[dict]) -> None:
    """Take a log-probability away from the last choice; all of them where there are none."""
    listed = choices[-1].get("logprobs") or {}
    values = listed.get("token_logprobs") or listed.get("content")
    if not values:
        choices.clear()
    elif isinstance(values[-1], dict):
        values[-1] |= {"logprob": None, "top_logprobs": []}
    else:
        values.pop()


def _prompts(body: dict) -> list[str]:
    if "messages" in body:
        return [body["messages"][-1]["content"]]
    prompt = body["prompt"]
    return [prompt] if isinstance(prompt, str) else prompt


BROKEN = {
    "busy": (429, {}, _error("Rate limit reached")),
    "busy for a while": (429, {"Retry-After": "0.01"}, _error("Rate limit reached")),
    "broken": (500, {}, _error("The server had an error")),
    "empty": (200, {}, b""),
}


@functools.cache
def _shipped() -> EmbeddedModel:
    return EmbeddedModel()


_by_shipped: dict = {}  # computed by all servers with the shipped model
_writing = threading.Lock()


def _likeliest(row: np.ndarray, number: int) -> list[int]:
    """Return the likeliest tokens, the first first; sorting the others would take longest."""
    some = np.argpartition(-row, number)[:number] if number < len(row) else np.arange(len(row))
    return [int(token) for token in some[np.argsort(-row[some])]]


def _once(memory: dict, what: tuple, compute: Callable):
    """Return what was computed before; a patient client asks again, and for eight at once."""
    result = memory.get(what)
    if result is None:
        result = compute()
        with _writing:
            while len(memory) >= REMEMBERED:
                del memory[next(iter(memory))]  # the oldest
            memory[what] = result
    return result


@dataclass
class _Desk:
    """Answers requests with what the model says."""

    model: EmbeddedModel
    scaled: bool = False  # log-probabilities are those after dividing by the temperature
    lists_end: bool = True  # the token that ended a response is listed
    n: bool = True  # this field is heeded
    stops: bool = True  # and this one
    written: str | None = None  # log-probabilities as ``lists`` (for completions) or ``content``
    greedy: bool = False  # whatever temperature it is told, as transformers serve
    filters: bool = False  # unless it is told otherwise, as llama-server
    echo_error: float = 0.0  # of each echoed log-probability, as of llama-cpp-python
    thinks: str | None = None  # in a field of its own (``field``) or between tags (``tags``)
    quiet: str | None = None  # the field of a request that switches thinking off
    opening: str = ""  # listed as the first token of every text; it shifts offsets
    computed: dict = field(default_factory=dict)
    listings: dict = field(default_factory=dict)

    def encode(self, text: str) -> list[int]:
        parts = [self.model.encode(part) for part in text.split(END)]
        return [*parts[0], *(t for part in parts[1:] for t in (self.model.end, *part))]

    def decode(self, tokens: list[int]) -> str:
        """Return what a reader sees: the end token is no text."""
        return self.model.tokenizer.decode([t for t in tokens if t != self.model.end])

    def token_text(self, token: int) -> str:
        return END if token == self.model.end else self.model.tokenizer.decode([token])

    def log_probabilities(self, tokens: list[int]) -> np.ndarray:
        """ln P(next token) behind every prefix of `tokens`, of shape (length, vocabulary)."""
        hidden, _ = self.model.llama.forward(np.array([tokens]))
        return self.model.llama.log_softmax(hidden[0])

    def next(self, tokens: list[int], drawn: list[int], past: list):
        """Return the next token's distribution of shape (1, vocabulary), and the new past."""

        def compute():
            hidden, segment = self.model.llama.forward(np.array([drawn[-1:] or tokens]), past)
            return self.model.llama.log_softmax(hidden[:, -1]), [*past, segment]

        return _once(self.computed, (*tokens, "then", *drawn), compute)

    def answer(self, body: dict, chat: bool) -> dict:
        number = body.get("logprobs")  # in a chat, whether any are wanted
        if chat:
            number = body.get("top_logprobs", 5) if number else None
        choices, used, made = [], 0, 0
        for prompt in _prompts(body):
            tokens = self.encode(prompt)
            used += len(tokens) + bool(self.opening)
            for candidate in range(body.get("n", 1) if self.n else 1):
                drawn, text, finish = self.draw(tokens, body, candidate)
                made += len(drawn)
                logprobs = None
                if number is not None:
                    heat = body.get("temperature") if self.scaled else None
                    what = (prompt, number, body.get("echo"), heat, finish, *(t for t, _ in drawn))
                    write = partial(self.write, tokens, drawn, body, finish, number, chat)
                    logprobs = _once(self.listings, what, write)
                text = prompt + text if body.get("echo") else text
                message = {"role": "assistant", "content": text}
                if self.thinks and self.quiet not in body:
                    message, finish = self.thought(body, text, finish)
                said = {"message": message} if chat else {"text": text}
                about = {"index": len(choices), "logprobs": logprobs, "finish_reason": finish}
                choices.append(said | about)
        usage = {"prompt_tokens": used, "completion_tokens": made, "total_tokens": used + made}
        kind = "chat.completion" if chat else "text_completion"
        return {"object": kind, "choices": choices, "usage": usage}

    def thought(self, body: dict, text: str, finish: str) -> tuple[dict, str]:
        """Return the answer behind a thought; none where the thought takes all tokens."""
        ended = body.get("max_tokens", 10**6) - len(THOUGHT.split()) > 0
        text, finish = (text, finish) if ended else ("", "length")
        message = {"role": "assistant", "content": text}
        if self.thinks == "field":
            return message | {"reasoning_content": THOUGHT}, finish
        tagged = f"<think>\n{THOUGHT}" + ("\n</think>\n\n" if ended else "")
        if "\n" in body.get("stop", []):
            return message | {"content": "<think>"}, "stop"
        return message | {"content": tagged + text}, finish

    def draw(self, tokens: list[int], body: dict, candidate: int):
        """Draw one response: tokens, each with the distribution it came from; text; reason."""
        temperature, seed = body.get("temperature", 1.0), body.get("seed")
        temperature = 0 if self.greedy else temperature
        source = None if seed is None else [seed >> 20, (seed & (2**20 - 1)) + candidate]
        drawer = np.random.default_rng(source)
        drawn: list[tuple[int, np.ndarray]] = []
        past: list = []
        for _ in range(body.get("max_tokens", 16)):
            row, past = self.next(tokens, [t for t, _ in drawn], past)
            kept = row
            if self.filters and body.get("min_p", 0.05):
                kept = np.where(row >= row.max() + np.log(0.05), row, -np.inf)
            height = np.array([drawer.random()])
            token = int(draw_tokens(kept, height, temperature, np.zeros(1, int))[0])
            drawn.append((token, self.reported(row[0], temperature)))
            text = self.decode([t for t, _ in drawn])
            if token == self.model.end:
                return drawn, text, "stop"
            if self.stops and any(stop in text for stop in body.get("stop", [])):
                return drawn, self.decode([t for t, _ in drawn[:-1]]), "stop"
        return drawn, self.decode([t for t, _ in drawn]), "length"

    def reported(self, row: np.ndarray, temperature: float) -> np.ndarray:
        if not self.scaled or temperature == 0:
            return row
        row = row.astype(np.float64) / temperature
        return row - np.log(np.exp(row - row.max()).sum()) - row.max()

    def write(self, prompt, drawn, body, finish, number, chat) -> dict:
        """Write the log-probabilities of what was drawn, behind those of an echoed prompt."""
        listed = list(drawn)
        if body.get("echo"):
            rows = self.log_probabilities(prompt)
            listed = [*zip(prompt, [None, *rows[:-1]], strict=True), *listed]
        if not self.lists_end and finish == "stop":
            listed = listed[:-1]
        tokens = [self.token_text(token) for token, _ in listed]
        values = [None if row is None else float(row[token]) for token, row in listed]
        if body.get("echo"):
            values = [value and value - self.echo_error for value in values]
        tops: list[list[tuple[str, float]] | None] = []
        for token, row in listed:
            if row is None:
                tops.append(None)
                continue
            best = _likeliest(row, number)
            if token not in best and not chat:  # as vLLM does
                best.append(token)
            tops.append([(self.token_text(t), float(row[t])) for t in best])
        if (self.written or ("content" if chat else "lists")) == "content":
            entries = zip(tokens, values, tops, strict=True)
            return {
                "content": [
                    {
                        "token": token,
                        "logprob": value,
                        "top_logprobs": [{"token": t, "logprob": v} for t, v in top or []],
                    }
                    for token, value, top in entries
                ]
            }
        if self.opening and listed and listed[0][1] is None:
            tokens, values, tops = [self.opening, *tokens], [None, *values], [None, *tops]
            values[1] = -1.0
        return {
            "tokens": tokens,
            "token_logprobs": values,
            "top_logprobs": [dict(reversed(top)) if top else None for top in tops],
            "text_offset": list(itertools.accumulate(map(len, tokens), initial=0))[:-1],
        }
