"""What a page says while the server cannot be reached: `connection.js` does so in the browser."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_mounted = st.components.v2.component(
    "believe_connection", js=Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
)


def watch() -> None:
    """Watch the connection to the server; nothing is seen while it holds."""
    _mounted(key="connection")
