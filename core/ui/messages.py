"""Messages whose text may come from a model, an upload or a back end.

Streamlit's coloured boxes read Markdown, in which ``$5 and $6`` becomes mathematics and an
image is fetched from wherever it points. Only constants go into the box; the rest is plain.
"""

from __future__ import annotations

from typing import Final

import streamlit as st

LATER: Final = "problem_later"  # in the state of a session


def problem(text: str) -> None:
    """Say what went wrong, in plain text."""
    with st.container(border=True, horizontal=True):
        st.badge("Problem", icon=":material/error:", color="red")
        st.text(text)


def notice(text: str) -> None:
    """Say what happened that nobody has to mend, in plain text."""
    with st.container(border=True):
        st.text(text)


def later(text: str) -> None:
    """Say what went wrong when the page is drawn next: what is called before that cannot."""
    st.session_state[LATER] = text


def said_later() -> None:
    """Say what is waiting to be said."""
    if text := st.session_state.pop(LATER, None):
        problem(text)
