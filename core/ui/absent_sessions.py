"""Sessions whose browser has left, and when what they hold is dropped."""

import asyncio
import threading
import time
import weakref
from typing import Final

import streamlit as st
from streamlit import runtime
from streamlit.runtime.app_session import AppSession

from core.ui.memory import COST, MB, MEMORY, give_back
from core.ui.session import public
from core.ui.upload_places import PLACES

LOOK: Final = 1.0  # seconds between two looks at who is there
#: Seconds without a browser after which a visitor of a public demo loses the file: a phone that
#: changes its network is back by then.
PATIENCE: Final = 20.0
#: Bytes that absent visitors of a public demo may hold together: the largest file's table and what
#: was computed of it, or such a file on its way. Who brings files and leaves, again and again,
#: gets no more.
MOST: Final = 150 * MB
WITHIN: Final = 10.0  # seconds in which the thread that answers all closes a session


class AbsentSessions:
    """The sessions that hold something and are without a browser, who left first in front.

    What a session holds goes with the session. Less would not do: its fragments and buttons have
    tables, too. The browser that comes back opens another one, by its address.
    """

    def __init__(self) -> None:
        self._since: dict[str, float] = {}
        self._sessions: weakref.WeakValueDictionary[str, AppSession] = weakref.WeakValueDictionary()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: int | None = None

    async def watch(self) -> None:
        """Look after these sessions for as long as the server runs."""
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        while True:
            if self._look():
                await asyncio.to_thread(give_back)
            await asyncio.sleep(LOOK)

    async def make_way(self, size: int) -> None:
        """Let who is there go first: a file of so many bytes is read in their place."""
        if public():
            self._note()
            before = len(self._since)
            self._close_beyond(max(0, MOST - COST * size))
            if len(self._since) < before:
                await asyncio.to_thread(give_back)

    def make_room(self, size: int) -> None:
        """Close such sessions until so many bytes fit; in any thread."""
        if self._loop is None:
            return
        if threading.get_ident() == self._thread:
            self._close_until(size)
        else:
            closing = asyncio.run_coroutine_threadsafe(self._fill_to(size), self._loop)
            closing.result(WITHIN)
        give_back()

    def _look(self) -> bool:
        """Close who is away for too long, or holds too much; say whether anybody was."""
        self._note()
        before, now = len(self._since), time.monotonic()
        patience = PATIENCE if public() else st.get_option("server.disconnectedSessionTTL")
        for session in [s for s, since in self._since.items() if now - since > patience]:
            self._close(session)
        if public():
            self._close_beyond(MOST)
        return len(self._since) < before

    def _close_beyond(self, most: int) -> None:
        while self._since and sum(map(MEMORY.of, self._since)) > most:
            self._close(next(iter(self._since)))

    def _close_until(self, size: int) -> None:
        self._note()
        while self._since and MEMORY.total + size > MEMORY.limit():
            self._close(next(iter(self._since)))

    async def _fill_to(self, size: int) -> None:
        self._close_until(size)

    def _note(self) -> None:
        """Note who has left, and who is back; forget who holds nothing."""
        server, now, holders = runtime.get_instance(), time.monotonic(), MEMORY.sessions()
        for session in holders:
            if (whole := server.get_app_session(session)) is not None:
                self._sessions[session] = whole
        away = [session for session in holders if not server.is_active_session(session)]
        for session in away:
            self._since.setdefault(session, now)
        for session in self._since.keys() - set(away):
            del self._since[session]
        for session in PLACES.sessions():
            if not server.is_active_session(session):
                PLACES.forget(session)

    def _close(self, session: str) -> None:
        del self._since[session]
        for id in MEMORY.files_of(session):
            MEMORY.forget_file(session, id)
        whole = self._sessions.pop(session, None)  # before it is closed, or nobody has it any more
        runtime.get_instance().close_session(session)
        # A thread that has ended may hold on to what was drawn last, closed or not.
        if whole is not None:
            whole.session_state.clear()


ABSENT: Final = AbsentSessions()
