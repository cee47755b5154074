"""Toolbars of charts and tables as one tab stop each: `toolbars.js` does so in the browser."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_mounted = st.components.v2.component(
    "believe_toolbars", js=Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
)


def shorten() -> None:
    """Make every toolbar one tab stop; arrow keys lead on to its other buttons."""
    _mounted(key="toolbars")
