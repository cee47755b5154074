"""How the server answers: every reply tells the browser what a page of Believe may do.

Streamlit sends no such headers, and has no setting for them.
"""

import asyncio
import gc
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.language_models.backends.llama.passes import one_at_a_time
from core.ui import gate, log_limits
from core.ui.absent_sessions import ABSENT
from core.ui.memory import MEMORY

SCRIPT: Final = Path(__file__).with_name("script.py")
POLICY: Final = {
    "default-src": "'self' data: blob:",  # whatever is on a page, it asks no other host
    # Streamlit's page has a script of one line in it, and hands the browser a component's script
    # as a blob. Nothing may be evaluated.
    "script-src": "'self' 'unsafe-inline' blob:",
    "worker-src": "'self' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    # In a frame of a stranger's page, a click meant for that page could spend money here.
    "frame-ancestors": "'self'",
}
HEADERS: Final = {
    "Content-Security-Policy": "; ".join(f"{name} {allowed}" for name, allowed in POLICY.items()),
    "X-Frame-Options": "SAMEORIGIN",  # for browsers that do not know frame-ancestors
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # the address holds the question
}
OPEN_AFTER = 0.5  # seconds: the server listens a moment after it says that it is ready


class SecurityHeaders:
    """Adds `HEADERS` to every reply of an ASGI application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the application does, with the headers on top."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._app(scope, receive, send_with_headers)


MIDDLEWARE: Final = [Middleware(SecurityHeaders), Middleware(gate.Gate)]


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[dict[str, Any] | None]:
    """Leave cores to the pages, set the limits, and open the browser where there is one.

    Streamlit does the latter only where it has no headers.
    """
    one_at_a_time()
    gate.ask_nobody()
    gc.freeze()  # what is here stays, and need not be searched for garbage
    MEMORY.make_room = ABSENT.make_room
    watching = asyncio.create_task(ABSENT.watch())
    if not st.get_option("server.headless"):
        asyncio.get_running_loop().call_later(OPEN_AFTER, webbrowser.open, address())
    try:
        with log_limits.limits():
            yield None
    finally:
        watching.cancel()


def address() -> str:
    """Return the address of this server as a browser of this machine opens it."""
    host = st.get_option("server.address") or "localhost"
    if host in {"0.0.0.0", "::"}:  # all interfaces, this machine's own among them
        host = "localhost"
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    path = (st.get_option("server.baseUrlPath") or "").strip("/")
    host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{host}:{st.get_option('server.port')}/{path}"
