"""The gate in front of Streamlit: who is let in, and how much they may bring.

It compares the names of `server.allowedHosts` with what a browser sends, and asks nobody else.
Streamlit would also trust its machine's outer address, and would learn that over plain HTTP from
whoever answers: in a café that is the network.
"""

import re
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse
from starlette.routing import Match, Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import file_util, net_util, runtime
from streamlit.runtime import runtime_util

from core.hosts import is_host_allowed, is_origin_allowed
from core.once import once
from core.ui import frame
from core.ui.absent_sessions import ABSENT
from core.ui.memory import MB, MEMORY, FullError, resident
from core.ui.messages import tell
from core.ui.upload_places import PLACES, Place, move

HEALTH: Final = "health"
_ALIVE: Final = "_stcore/health"  # says “ok”: probes ask for it under the machine's address
_UPLOAD: Final = re.compile(r"_stcore/upload_file/([^/]+)/([^/]+)")
#: Handshakes of one address a minute. A class of 200 behind one address, or behind a proxy that
#: names no other, may open its pages at once, and some of them again.
HANDSHAKES: Final = 300
MINUTE: Final = 60.0  # seconds
ADDRESSES: Final = 10_000  # whose handshakes are counted: some 2 MB
#: Bytes of a message to a browser. A preview of 200 rows and columns takes 32 MB at the very most.
#: A message from a browser has at most `server.maxMessageSize`: .streamlit/config.toml has the
#: reason.
LARGEST_REPLY: Final = 50 * MB
FRAMING: Final = 2**20  # bytes of a request beyond those of the file in it, as Streamlit has it
STEP: Final = 2**20  # bytes for which room is made at a time: asking the system takes a while
HEAD: Final = 8_192  # bytes in which the file's name must stand
#: Of the largest raw files that its page takes, a session may have so many here at once: the page
#: has places for two. They go once they are read.
FILES_OF_A_SESSION: Final = 2
_FILE_NAME: Final = re.compile(rb'[;\s]filename="((?:[^"\\\r\n]|\\.)*)"')

WRONG_NAME: Final = (
    "This server does not answer under this name. If you run it, add the name to "
    "server.allowedHosts; docs/security.md says how."
)
WRONG_PAGE: Final = (
    "A page of another site asked for this, so it is refused. If you run this server and its own "
    "page asked, add the page's name to server.allowedHosts; docs/security.md says how."
)
TOO_OFTEN: Final = (
    "Too many sessions were opened from this address. Wait a minute, then reload the page."
)
NOT_FOUND: Final = "No page has this address. The first page is at /{}."
NOT_WANTED: Final = (
    "This page has no place for a file. Open a page that has one, and choose it there."
)
WRONG_KIND: Final = "This page takes no such file. Choose one with an ending that it names."
TOO_LARGE: Final = "The file is too large for this page: it takes at most {:d} MB."
TOO_MANY: Final = (
    "Your files on this page are too large together. Remove one, or wait until it is read."
)


@dataclass(frozen=True)
class Refusal:
    """Why a request is not answered as it wishes."""

    status: int  # of HTTP
    sentence: str  # for the person


class Handshakes:
    """How many handshakes each address made in its minute: at most `most`.

    So many `addresses` are remembered; the clock returns seconds.
    """

    def __init__(
        self,
        most: int = HANDSHAKES,
        addresses: int = ADDRESSES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most, self._addresses, self._clock = most, addresses, clock
        self._minutes: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._minutes)

    def allows(self, client: str) -> bool:
        """Count a handshake; say whether it is within the limit."""
        address, now = _network(client), self._clock()
        since, number = self._minutes.pop(address, (now, 0))
        if now - since >= MINUTE:
            since, number = now, 0
        self._minutes[address] = since, number + 1
        if len(self._minutes) > self._addresses:
            self._minutes.popitem(last=False)
        return number < self._most


class Gate:
    """Stands before an ASGI application, Streamlit's, and refuses what must not reach it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._handshakes = Handshakes()
        self._sessions = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the application does, or refuse with a sentence."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await PlainTextResponse(refusal.sentence, refusal.status)(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._open(scope, receive, send)
        elif below(scope) == HEALTH:
            await JSONResponse(self._health(), headers={"Cache-Control": "no-cache"})(
                scope, receive, send
            )
        elif scope["method"] == "GET" and self._is_page(scope):
            await HTMLResponse(_page(), headers={"Cache-Control": "no-cache"})(scope, receive, send)
        elif scope["method"] in {"PUT", "DELETE"} and (upload := _UPLOAD.fullmatch(below(scope))):
            await self._upload(upload[1], upload[2], scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers, names = Headers(scope=scope), st.get_option("server.allowedHosts")
        host = headers.get("host")
        if below(scope) != _ALIVE and not is_host_allowed(host, names):
            return Refusal(HTTPStatus.FORBIDDEN, WRONG_NAME)
        if not all(is_origin_allowed(o, host, names) for o in headers.getlist("origin")):
            return Refusal(HTTPStatus.FORBIDDEN, WRONG_PAGE)
        if scope["type"] == "websocket":
            client = scope.get("client") or ("",)
            if not self._handshakes.allows(client[0]):
                return Refusal(HTTPStatus.TOO_MANY_REQUESTS, TOO_OFTEN)
        elif scope["method"] in {"GET", "HEAD"} and not has_content(scope):
            return Refusal(HTTPStatus.NOT_FOUND, NOT_FOUND.format(_base()))
        return None

    async def _open(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a handshake through, as one of the page that Streamlit itself has served.

        Streamlit lets every page of its own `Host` in, and asks the network about others.
        """
        if origin := Headers(scope=scope).get("origin"):
            host = urlsplit(origin).netloc.encode("latin-1")
            others = [(name, value) for name, value in scope["headers"] if name != b"host"]
            scope = dict(scope, headers=[*others, (b"host", host)])
        self._sessions += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._sessions -= 1

    def _is_page(self, scope: Scope) -> bool:
        """Say whether the address ends with a page; Home's says where the server is by itself."""
        name, path = below(scope), scope["raw_path"].decode("latin-1")
        return bool(name) and name in pages() and path.endswith(f"/{name}") and "//" not in path

    def _health(self) -> dict[str, bool | int | None]:
        used = resident()
        return {
            "ok": runtime.exists(),
            "sessions": self._sessions,
            "process_mb": None if used is None else used // MB,
            "held_mb": MEMORY.total // MB,
            "budget_mb": MEMORY.limit() // MB,
        }

    async def _upload(
        self, session: str, id: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Let a file through for which the page of a session has a place, and count it."""
        if scope["method"] == "DELETE":  # here, too
            forget = partial(MEMORY.forget_file, session, id)
            await self._app(scope, receive, noting(send, forget))
            return
        places = PLACES.of(session)
        if not places:
            refusal = Refusal(HTTPStatus.FORBIDDEN, NOT_WANTED)
            await PlainTextResponse(refusal.sentence, refusal.status)(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "")
        await ABSENT.make_way(int(length) if length.isdecimal() and len(length) < 12 else 0)
        body = Body(receive, session, id, places)

        try:
            await self._app(scope, body.receive, noting(send, body.keep))
        finally:
            body.close()


def noting(send: Send, note: Callable[[], None]) -> Send:
    """Return what sends a reply, and first notes that the request has come off."""

    async def send_noting(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 204:
            note()
        await send(message)

    return send_noting


class Body:
    """A file on its way, counted as it comes. A refusal ends the request with its sentence.

    `receive` returns the next part; one of the places must take the file.
    """

    def __init__(self, receive: Receive, session: str, id: str, places: list[Place]) -> None:
        self._receive, self._session, self._id, self._places = receive, session, id, places
        self._size = self._charged = 0
        self._head = b""
        self._most: int | None = None  # until the name is there
        self._is_held = False

    async def receive(self) -> Message:
        """Return the next part of the request.

        Raises `HTTPException` when no place takes the file, it is too large, or there is no room
        for it.
        """
        message = await self._receive()
        if message["type"] == "http.request":
            self._count(message.get("body", b""), more=message.get("more_body", False))
        return message

    def keep(self) -> None:
        """Hold the file, which is here whole now."""
        move(self._session, self._id, self._charged)
        self._is_held = True

    def close(self) -> None:
        """Note that the request has ended."""
        if not self._is_held:
            MEMORY.release(self._session, self._charged)

    def _count(self, part: bytes, *, more: bool) -> None:
        if self._most is None:
            self._head += part[:HEAD]
            if b"\r\n\r\n" in self._head or len(self._head) >= HEAD or not more:
                self._most = self._most_of(self._head)
        size = self._size + len(part)
        most = self._most or max(place.most for place in self._places)
        if size > most + FRAMING:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LARGE.format(most // 2**20))
        others = MEMORY.files_of(self._session)
        others.pop(self._id, None)
        largest = max(place.most for place in self._places) + FRAMING
        if size + sum(others.values()) > FILES_OF_A_SESSION * largest:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_MANY)
        self._size = size
        if size <= self._charged:
            return
        step = max(STEP, size - self._charged)
        try:
            MEMORY.charge(self._session, step)
        except FullError as error:
            self._refuse(HTTPStatus.INSUFFICIENT_STORAGE, str(error))
        self._charged += step

    def _most_of(self, head: bytes) -> int:
        """Return the bytes that a file of the name in the head of a request may have."""
        name = _FILE_NAME.search(head.partition(b"\r\n\r\n")[0])
        ending = name[1].decode("utf-8", "replace").rpartition(".")[2].lower() if name else ""
        fitting = [place.most for place in self._places if ending in place.endings]
        if not fitting:
            self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, WRONG_KIND)
        return max(fitting)

    def _refuse(self, status: int, sentence: str) -> None:
        self.tell(sentence)
        raise HTTPException(status, sentence)

    def tell(self, sentence: str) -> None:
        """Show a sentence on the page that sends the file."""
        whole = runtime.get_instance().get_app_session(self._session)
        if whole is not None:
            tell(self._session, sentence)
            whole.request_rerun(whole._client_state)  # the page as it is


def has_content(scope: Scope) -> bool:
    """Say whether an address is that of a page, of a file, or of something that Streamlit answers.

    For any other, Streamlit sends the first page, and calls that a success.
    """
    path = below(scope)
    if path == HEALTH or path in pages() or path in _files():
        return True
    if scope["path"].startswith("//"):  # which Streamlit refuses itself
        return True
    routes = (route for route in scope["app"].routes if not isinstance(route, Mount))
    return any(route.matches(scope)[0] is Match.FULL for route in routes)


def below(scope: Scope) -> str:
    """Return the path of a request below that of the server, without slashes at its ends."""
    path, base = scope["path"].strip("/"), _base()
    if not base:
        return path
    return path[len(base) :].strip("/") if f"{path}/".startswith(f"{base}/") else "//"


def _base() -> str:
    return (st.get_option("server.baseUrlPath") or "").strip("/")


@once
def pages() -> frozenset[str]:
    """Return the addresses of the pages; Home's is empty."""
    names = {page.stem for page in frame.PAGES.glob("*.py")}
    return frozenset(names - {"home"} | {""})


@once
def _page() -> str:
    """Return what Streamlit sends for each page, with the address of its server.

    By itself, it looks for the server below the address of the page first, in vain.
    """
    names = "|".join(sorted(pages() - {""}))
    here = f"location.href.split(/[?#]/)[0].replace(/\\/({names})$/, '/')"
    html = Path(file_util.get_static_dir(), "index.html").read_text("utf-8")
    script = f"<script>window.__streamlit = {{ BACKEND_BASE_URL: {here} }}</script>"
    return html.replace("<head>", f"<head>{script}", 1)


@once
def _files() -> frozenset[str]:
    folder = Path(file_util.get_static_dir())
    return frozenset(
        file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()
    )


def _network(client: str) -> str:
    """Return an address; of IPv6 the network that one person has."""
    try:
        address = ip_address(client)
    except ValueError:
        return client
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return str(ip_network((int(address) >> 64 << 64, 64)))
    return client


def ask_nobody() -> None:
    """Take from Streamlit what asks the network for this machine's addresses, and tell its limits.

    The limit of its messages is one for both directions; what browsers send is held by the server
    of HTTP, which has read it by now.
    """
    for name in ("get_external_ip", "get_internal_ip"):
        setattr(net_util, name, lambda: None)
    runtime_util._max_message_size_bytes = LARGEST_REPLY
