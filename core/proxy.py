"""A guard behind the interface of chat completions: programs ask it as they ask a model.

A reply carries the decision, its reason and what is promised in a field of its own, ``believe``.
What the guard cannot decide on is refused: a policy holds for one question asked in one way.
"""

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from typing import Any, Final

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from core.codec import list_of, one_line
from core.guard import Abstention, Answer, Guard, ask_beside
from core.hosts import LOCAL, is_host_allowed, is_origin_allowed
from core.language_models.client.concurrency import questions_at_once
from core.language_models.stopping import Stop

MAX_BODY: Final = 1_000_000  # bytes; a question takes some thousands
MOST_WAITING: Final = 64  # questions, those that are being answered among them
LOOK: Final = 0.2  # seconds between two looks at whether the asker is still there
WITHHELD: Final = "No answer: it is withheld. The field “believe” says why."
#: What programs send by themselves, and the guard does not follow: a policy has its own settings.
NOT_FOLLOWED: Final = frozenset(
    (
        *("temperature", "top_p", "seed", "presence_penalty", "frequency_penalty"),
        *("max_tokens", "max_completion_tokens", "user", "safety_identifier", "metadata", "store"),
    )
)
#: What else may be sent, if it says what is done anyway.
USUAL: Final[dict[str, Any]] = {
    "n": 1,
    "logit_bias": {},
    "top_logprobs": 0,
    "response_format": {"type": "text"},
    "modalities": ["text"],
    "tool_choice": "none",
    "function_call": "none",
}
REFUSED: Final = {
    "stream": "An answer is decided on as a whole, so it cannot be streamed. Leave out “stream”.",
    "tools": "Calls of tools cannot be decided on. Leave out “tools”.",
    "n": "One question has one answer. Leave out “n”.",
}
NOT_WHOLE: Final = "The request is no JSON object. Send one with “model” and “messages”."
ONE_QUESTION: Final = (
    "The guard decides on one question: send one message of the user, with nothing but text, and "
    "one of the system before it if there is one. Earlier turns would ask in another way than its "
    "policy was calibrated for."
)
BROKEN_OFF: Final = "The request broke off."
TWICE: Final = "The request has an object with a key twice. Give each key once."
BUSY: Final = "Too many questions are waiting. Ask again later."
BROKEN: Final = "The guard failed, so no answer is served. Its log says why."
WRONG_NAME: Final = (
    "This server does not answer under this name. If you run it, add --allowed-host NAME."
)
WRONG_PAGE: Final = (
    "A page of another site asked for this, so it is refused. If you run this server and trust "
    "that page, add --allowed-host with its name."
)


class RefusedRequestError(Exception):
    """A request that gets no decision, as this interface words it."""

    def __init__(
        self,
        sentence: str,
        status: int = HTTPStatus.BAD_REQUEST,
        parameter: str | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(sentence)
        self.status, self.parameter, self.code = status, parameter, code


def proxy(guard: Guard, *, seconds: float, names: Sequence[str] = LOCAL) -> Starlette:
    """Return an ASGI application that answers by a guard.

    What is not decided within `seconds`, waiting in line included, is withheld. `names` are those
    under which it is reached; see `is_origin_allowed`.
    """
    desk = _Desk(guard, seconds)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        desk.close()

    return Starlette(
        routes=[
            Route("/v1/chat/completions", desk.complete, methods=["POST"]),
            Route("/v1/models", desk.models),
        ],
        middleware=[Middleware(_Gate, names=names)],
        exception_handlers={
            RefusedRequestError: _refusal,
            HTTPException: _no_such_thing,
            Exception: _failure,
        },
        lifespan=lifespan,
    )


class _Gate:
    """Lets in who means this server, and no page of another site."""

    def __init__(self, app: ASGIApp, names: Sequence[str]) -> None:
        self._app, self._names = app, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            host, origins = headers.get("host"), headers.getlist("origin")
            sentence = None if is_host_allowed(host, self._names) else WRONG_NAME
            if not all(is_origin_allowed(origin, host, self._names) for origin in origins):
                sentence = WRONG_PAGE
            if sentence:
                await _error(sentence, HTTPStatus.FORBIDDEN)(scope, receive, send)
                return
        await self._app(scope, receive, send)


class _Desk:
    """Takes requests, and has the guard answer as many at a time as its model gains from."""

    def __init__(self, guard: Guard, seconds: float) -> None:
        self._guard, self._seconds = guard, seconds
        self._began = int(time.time())
        self._waiting = 0
        self._pool = ThreadPoolExecutor(questions_at_once(guard.model.capabilities))

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def models(self, _: Request) -> Response:
        about = {"object": "model", "created": self._began, "owned_by": "believe"}
        return JSONResponse({"object": "list", "data": [{"id": self._guard.model.name, **about}]})

    async def complete(self, request: Request) -> Response:
        turns, passed_over = _question(await _body(request), self._guard.model.name)
        if self._waiting >= MOST_WAITING:
            raise RefusedRequestError(
                BUSY, HTTPStatus.TOO_MANY_REQUESTS, code="rate_limit_exceeded"
            )
        self._waiting += 1
        try:
            outcome = await self._decision(*turns, request)
        finally:
            self._waiting -= 1
        return JSONResponse(_reply(outcome, self._guard.model.name, passed_over))

    async def _decision(
        self, system: str | None, question: str, request: Request
    ) -> Answer | Abstention:
        """Ask the guard until the time is over, or nobody waits any more."""
        stop = Stop()
        ask = partial(ask_beside, stop, self._guard, question, system=system)
        until = time.monotonic() + self._seconds
        work = asyncio.get_running_loop().run_in_executor(self._pool, ask)
        try:
            while time.monotonic() < until:
                done, _ = await asyncio.wait([work], timeout=min(LOOK, self._seconds))
                if done:
                    return work.result()
                if await request.is_disconnected():
                    break
        finally:
            stop.set()
            work.cancel()
        return Abstention(question, f"It was not decided within {self._seconds:g} seconds.")


async def _body(request: Request) -> dict[str, Any]:
    content = bytearray()
    try:
        async for part in request.stream():
            content += part
            if len(content) > MAX_BODY:
                sentence = f"The request has more than {MAX_BODY:,} bytes. {ONE_QUESTION}"
                raise RefusedRequestError(sentence, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    except ClientDisconnect:
        raise RefusedRequestError(BROKEN_OFF) from None
    try:
        body = json.loads(bytes(content), object_pairs_hook=_with_each_key_once)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise RefusedRequestError(NOT_WHOLE)
    return body


def _with_each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; of two values of a key, a program in front may have looked at the other."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise RefusedRequestError(TWICE)
    return entries


def _is_nothing(value: object) -> bool:
    """Whether a parameter is sent without saying anything; 0 says something, and so may {}."""
    return value is None or value is False or value in ("", [])


def _question(body: dict[str, Any], model: str) -> tuple[tuple[str | None, str], list[str]]:
    """Return the system prompt and question of a request, and the parameters not followed."""
    if body.get("model") != model:
        sentence = f"This server guards the model “{model}” alone. Name it as “model”."
        raise RefusedRequestError(sentence, HTTPStatus.NOT_FOUND, "model", "model_not_found")
    meant = {
        name
        for name, value in body.items()
        if not (_is_nothing(value) or (name in USUAL and value == USUAL[name]))
    }
    for name in sorted(meant - NOT_FOLLOWED - {"model", "messages"}):
        word = one_line(name)
        sentence = REFUSED.get(name, f"“{word}” cannot be decided on. Leave it out.")
        raise RefusedRequestError(sentence, parameter=word, code="unsupported_parameter")
    messages = body.get("messages")
    turns = [_turn(message) for message in messages] if isinstance(messages, list) else []
    ignored = sorted(name for name in NOT_FOLLOWED if body.get(name) is not None)
    match turns:
        case [("user", text)]:
            return (None, text), ignored
        case [("system" | "developer", system), ("user", text)]:
            return (system, text), ignored
    raise RefusedRequestError(ONE_QUESTION, parameter="messages", code="unsupported_value")


def _turn(message: object) -> tuple[str, str] | None:
    """Return who says what in a message; None where that is not all, or no text."""
    match message:
        case {"role": str(who), "content": str(text), **others} if not any(others.values()):
            return who, text
        case {"content": [{"type": "text", "text": str(text), **others}], **front}:
            return None if any(others.values()) else _turn({**front, "content": text})
    return None


def _reply(outcome: Answer | Abstention, model: str, passed_over: list[str]) -> dict[str, Any]:
    refusal = None if outcome else WITHHELD
    about = {"promise": None, **outcome.to_dict(), "not_followed": passed_over}
    del about["question"]  # the asker has it, and it may hold what JSON cannot
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": refusal or str(outcome),
                    "refusal": refusal,
                },
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "believe": about,
    }


def _error(
    sentence: str, status: int, parameter: str | None = None, code: str | None = None
) -> Response:
    kind = "server_error" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_request_error"
    about = {"message": sentence, "type": kind, "param": parameter, "code": code}
    return JSONResponse({"error": about}, status)


def _refusal(_: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedRequestError)
    return _error(str(error), error.status, error.parameter, error.code)


def _no_such_thing(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    addresses = ["GET /v1/models", "POST /v1/chat/completions"]
    return _error(f"{error.detail}: there is {list_of(addresses)}.", error.status_code)


def _failure(_: Request, __: Exception) -> Response:
    return _error(BROKEN, HTTPStatus.INTERNAL_SERVER_ERROR)
