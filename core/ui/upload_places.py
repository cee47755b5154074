"""Places for files on a page: the gate lets through only what one of them waits for."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec

from core.ui.memory import MEMORY, trim
from core.ui.session import this_session

_MB: Final = 2**20  # as Streamlit counts


@dataclass(frozen=True)
class Place:
    """What a file must be to be taken."""

    endings: frozenset[str]  # of its name, in small letters, without the dot
    most: int  # Bytes


class UploadPlaces:
    """The places for files of every session's page, as long as it shows that page."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pages: dict[str, tuple[str, dict[str, Place]]] = {}

    def turn(self, session: str, page: str) -> None:
        """Say which page a session shows; the places of another one are no more."""
        with self._lock:
            if self._pages.get(session, ("", {}))[0] != page:
                self._pages[session] = page, {}

    def add(self, session: str, key: str, place: Place) -> None:
        """Say that the page of a session has this place."""
        with self._lock:
            self._pages.setdefault(session, ("", {}))[1][key] = place

    def of(self, session: str) -> list[Place]:
        """Return the places on the page of a session."""
        with self._lock:
            return list(self._pages.get(session, ("", {}))[1].values())

    def sessions(self) -> list[str]:
        """Return the sessions that have shown a page."""
        with self._lock:
            return list(self._pages)

    def forget(self, session: str) -> None:
        """Forget a session: when it comes back, its page is drawn anew."""
        with self._lock:
            self._pages.pop(session, None)


PLACES: Final = UploadPlaces()


def turn_to(page: str) -> None:
    """Say which page is drawn in this run, by its address."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is not None:
        PLACES.turn(context.session_id, page)


def file_field(
    label: str,
    types: Sequence[str],
    most: int | None = None,
    on_change: Callable[[], None] | None = None,
    *,
    key: str,
    help: str | None = None,
) -> UploadedFile | None:
    """Draw `st.file_uploader`, and have the gate let a file through for its place on this page.

    `most`: megabytes; by default `server.maxUploadSize`.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is not None:
        size = (most or st.get_option("server.maxUploadSize")) * _MB
        PLACES.add(context.session_id, key, Place(frozenset(map(str.lower, types)), size))
    return st.file_uploader(
        label, types, key=key, max_upload_size=most, on_change=on_change, help=help
    )


def move(session: str, id: str, size: int) -> None:
    """Hold a file that has just come here, and not in Streamlit's memory.

    Streamlit would copy it into every value of its widget, which live as long as their session.
    """
    files = runtime.get_instance().uploaded_file_mgr
    for record in files.get_files(session, [id]):
        MEMORY.add_file(session, id, size, record.data)
        assert isinstance(files, MemoryUploadedFileManager)
        files.add_file(session, UploadedFileRec(id, record.name, record.type, b""))


def content_of(file: UploadedFile) -> bytes:
    """Return the content of a file that was brought, until it is let go."""
    content = MEMORY.file(this_session().id, file.file_id)
    return file.getvalue() if content is None else content


def let_go(file: UploadedFile) -> None:
    """Drop the content of a file that is elsewhere now; it stays chosen on the page."""
    session = this_session().id
    if MEMORY.file(session, file.file_id) is not None:
        MEMORY.forget_file(session, file.file_id)
        trim()
