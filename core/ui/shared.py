"""What the sessions of this process share, and what a public demo keeps apart.

On a person's own machine everything that was computed serves every window. Where
``BELIEVE_PUBLIC=1`` says that strangers share a server, each session has its own, and it ends
with the session.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

import streamlit as st

from core.settings import is_public

T = TypeVar("T")


def public() -> bool:
    """Say whether strangers share this server."""
    return is_public()


def shared(name: str, make: Callable[[], T]) -> T:
    """Return the one thing of a name: of this process, or of this session in a public demo."""
    key = f"_shared_{name}"
    if public():
        if key not in st.session_state:
            st.session_state[key] = make()
        return cast(T, st.session_state[key])
    lock, everything = _of_this_process()
    with lock:
        if key not in everything:
            everything[key] = make()
        return cast(T, everything[key])


@st.cache_resource(show_spinner=False)
def _of_this_process() -> tuple[threading.Lock, dict[str, Any]]:
    return threading.Lock(), {}
