"""What Back and Forward of the browser go to: one entry for each question, one for each page.

Streamlit brings back what stands in the address of an entry, but has no setting for when an entry
is made: `browser_history.js` decides that, in the browser.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_mounted = st.components.v2.component(
    "believe_browser_history", js=Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
)


def keep() -> None:
    """Make one entry for each question and each page; nothing of it is seen."""
    _mounted(key="browser_history")
