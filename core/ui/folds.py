"""Parts of a page that are computed only while they are open."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st


def fold(label: str, draw: Callable[[], None], *, key: str, icon: str) -> None:
    """Draw a label to press, and beneath it, while it is open, what `draw` draws.

    What is in it costs nothing before somebody wants to see it. The session remembers under
    `key` whether it is open.
    """
    opened = st.expander(label, icon=icon, key=key, on_change="rerun")
    if opened.open:
        with opened:
            draw()
