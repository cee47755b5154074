"""Which model answered in this tab of the browser before its session began.

A reload is another session, and so is what a page gets from a server that was started again.
"""

from typing import Any, Final

import streamlit as st

from core.ui.components.registration import nothing, script

_KEY: Final = "model_before_session"
LONGEST: Final = 500  # characters of a name
_mounted = script("model_before")


def remember(name: str, *, chosen: bool) -> str | None:
    """Let the tab remember the model in use; return the one before, if this session has none.

    `chosen`: whether a person chose it in this session.
    """
    before = None if chosen else name_of(st.session_state.get(_KEY))
    # In a list, for the reason that `registration` has.
    data = [{"name": name, "chosen": chosen, "before": before}]
    _mounted(key=_KEY, data=data, on_before_change=nothing)
    return before


def name_of(value: Any) -> str | None:
    """Return the name that a browser sends; whatever else a stranger's sends is none."""
    name = value.get("before") if isinstance(value, dict) else None
    is_name = isinstance(name, str) and name.isprintable() and 0 < len(name) <= LONGEST
    return str(name) if is_name else None
