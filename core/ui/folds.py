"""Parts of a page that are computed only while they are open."""

from collections.abc import Callable

import streamlit as st


def fold(label: str, draw: Callable[[], None], *, key: str, icon: str) -> None:
    """Draw a label to press, and beneath it, while it is open, what `draw` draws.

    What is in it costs nothing before somebody wants to see it. The session remembers under
    `key` whether it is open.
    """
    # Streamlit forgets the state of what a run did not draw, such as one that waits for a model.
    remembered = _memory(key)
    if key not in st.session_state:
        st.session_state[key] = bool(st.session_state.get(remembered))
    opened = st.expander(label, icon=icon, key=key, on_change="rerun")
    st.session_state[remembered] = opened.open
    if opened.open:
        with opened:
            draw()


def close(key: str) -> None:
    """Have a fold closed from the next run of the page on."""
    st.session_state.pop(key, None)  # a run that has drawn it may not set it
    st.session_state[_memory(key)] = False


def _memory(key: str) -> str:
    return f"{key}_was_open"
