"""A page that is open when its theme changes: `colours.js` has it drawn in the new colours."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_mounted = st.components.v2.component(
    "believe_colours", js=Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
)


def follow() -> None:
    """Run the page again whenever its theme changes: the server writes colours into charts."""
    _mounted(key="colours", on_changed_change=_nothing)


def _nothing() -> None:
    """Streamlit wants a callback for every name that a component may send."""
