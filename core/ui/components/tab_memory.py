"""What stood in this tab of the browser before its session began.

A reload is another session, and so is what a page gets from a server that was started again.
"""

from hashlib import sha256
from typing import Any, Final

import streamlit as st

from core.ui.components.registration import nothing, script
from core.ui.session import person

LONGEST_NAME: Final = 500  # characters of a model's name
mount = script("tab_memory")


def remember(place: str, value: str, *, chosen: bool, most: int, lines: bool) -> str | None:
    """Let the tab remember a text; return the one before, if this session has none.

    `chosen`: whether a person chose it in this session. `most`: characters, and `lines`: whether
    there may be several, of what is taken back.
    """
    place = place_of(place)
    key = f"{place}_before_session"
    before = None if chosen else text_of(st.session_state.get(key), most, lines=lines)
    # In a list, for the reason that `registration` has.
    data = [{"place": place, "value": value, "chosen": chosen, "before": before}]
    mount(key=key, data=data, on_before_change=nothing)
    return before


def remember_field(key: str, most: int) -> None:
    """Have the tab remember what is typed in a field, and fill it in again; call it before it."""
    filled = f"{key}_is_filled"
    text = st.session_state.get(key) or ""
    chosen = bool(text) or filled in st.session_state
    before = remember(key, text, chosen=chosen, most=most, lines=True)
    if chosen or before:
        st.session_state[filled] = True  # once emptied by a person, it stays empty
    if before:
        st.session_state[key] = before


def place_of(name: str) -> str:
    """Return where the tab keeps a text: who signs in to it has places of their own."""
    return f"{name}_{sha256(who.encode()).hexdigest()[:12]}" if (who := person()) else name


def text_of(value: Any, most: int, *, lines: bool) -> str | None:
    """Return the text that a browser sends; whatever else a stranger's sends is none."""
    text = value.get("before") if isinstance(value, dict) else None
    if not isinstance(text, str) or not 0 < len(text) <= most:
        return None
    return text if lines or text.isprintable() else None
