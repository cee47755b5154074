"""What this session computed last, so that a rerun of a page computes only what has changed.

Streamlit's own caches hash what they are given, and share it between sessions. Here a large
table is recognised by being the very same object, and what was made of it belongs to one person.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

import streamlit as st

T = TypeVar("T")


def remembered(name: str, of: object, make: Callable[[], T], key: Hashable = None) -> T:
    """Return what was made of something under a name; make it anew when that has changed.

    Parameters
    ----------
    name : str
        One thing is kept under each name: the last.
    of : object
        What it is made of; another object, even an equal one, counts as a change.
    key : hashable, optional
        What else it depends on, compared as usual.
    """
    kept = st.session_state.get(f"remembered_{name}")
    if kept is None or kept[0] is not of or kept[1] != key:
        st.session_state[f"remembered_{name}"] = kept = (of, key, make())
    found: T = kept[2]
    return found
