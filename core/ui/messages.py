"""Messages whose text may come from a model, an upload or a back end.

Streamlit's coloured boxes read Markdown, in which ``$5 and $6`` becomes mathematics and an
image is fetched from wherever it points. Only constants go into the box; the rest is plain.
"""

from __future__ import annotations

import streamlit as st


def problem(text: str) -> None:
    """Say what went wrong, in plain text."""
    with st.container(border=True, horizontal=True):
        st.badge("Not done", icon=":material/error:", color="red")
        st.text(text)
