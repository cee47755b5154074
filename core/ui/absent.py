"""What sessions hold whose browser has left: when it is dropped."""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from typing import Final

import streamlit as st
from streamlit import runtime
from streamlit.runtime.app_session import AppSession

from core.ui.memory import MB, MEMORY
from core.ui.messages import LATER
from core.ui.session import REMEMBERED, public
from core.ui.uploaders import PLACES
from core.ui.uploads import TABLES

LOOK: Final = 1.0  # seconds between two looks at who is there
#: Seconds without a browser after which a visitor of a public demo loses the file: a phone that
#: changes its network is back by then.
PATIENCE: Final = 20.0
#: Bytes that absent visitors of a public demo may hold together: the largest file's table and what
#: was computed of it. Who brings files and leaves, again and again, gets no more.
MOST: Final = 150 * MB
DROPPED: Final = (
    "The connection to your browser was lost for a while, and the file that you brought was removed "
    "to make room. Upload it again."
)


class Absent:
    """The sessions that hold something, and since when each is without a browser."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._since: dict[str, float] = {}
        self._sessions: dict[str, weakref.ref[AppSession]] = {}

    def look(self) -> None:
        """See who is there; drop what those hold who are away for too long, or hold too much."""
        if not runtime.exists():
            return
        with self._lock:
            self._note()
            now = time.monotonic()
            patience = PATIENCE if public() else st.get_option("server.disconnectedSessionTTL")
            for session in list(self._since):
                if now - self._since[session] > patience:
                    self._drop(session)
            if public():
                while sum(map(MEMORY.of, self._since)) > MOST:
                    self._drop(next(iter(self._since)))

    def make_room(self, size: int) -> None:
        """Drop what absent sessions hold, who left first in front, until so many bytes fit."""
        if not runtime.exists():
            return
        with self._lock:
            self._note()
            for session in list(self._since):
                if MEMORY.total + size <= MEMORY.limit():
                    return
                self._drop(session)

    def _note(self) -> None:
        """Note who has left, and who is back; forget who holds nothing."""
        server, now = runtime.get_instance(), time.monotonic()
        holders = dict.fromkeys(MEMORY.sessions())
        for session in holders:
            if server.is_active_session(session):
                self._since.pop(session, None)
                if (whole := server.get_app_session(session)) is not None:
                    self._sessions[session] = weakref.ref(whole)
            else:
                self._since.setdefault(session, now)
        for session in [*self._since, *self._sessions]:
            if session not in holders:
                self._since.pop(session, None)
                self._sessions.pop(session, None)
        for session in PLACES.sessions():
            if not server.is_active_session(session):
                PLACES.forget(session)

    def _drop(self, session: str) -> None:
        """Drop the files of a session, their tables, and all that was computed of them."""
        self._since.pop(session, None)
        whole = self._sessions.pop(session, lambda: None)()
        runtime.get_instance().uploaded_file_mgr.remove_session_files(session)
        for id in MEMORY.files_of(session):
            MEMORY.forget_file(session, id)
        if whole is None:
            return
        state = whole.session_state
        tables = [name for name in TABLES if name in state]
        for name in [*tables, *(name for name in [REMEMBERED] if name in state)]:
            del state[name]
        if tables:
            state[LATER] = DROPPED


ABSENT: Final = Absent()


async def watch() -> None:
    """Look after absent sessions for as long as the server runs."""
    while True:
        ABSENT.look()
        await asyncio.sleep(LOOK)
