"""Examples as chips, the same on every page: the one that is on the screen is marked."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import streamlit as st

from core.studies.examples import IN_SHORT

T = TypeVar("T")
_CHOSEN = "example_question"


def examples(offered: Mapping[str, T], now: T | None, use: Callable[[T], None]) -> None:
    """Offer examples by their names, those in `IN_SHORT` by these.

    `now`: what is on the screen, none of them or one; `use`: is told which a person wants.
    """
    st.session_state[_CHOSEN] = next((name for name, each in offered.items() if each == now), None)

    def choose() -> None:
        if name := st.session_state[_CHOSEN]:
            use(offered[name])

    st.radio(
        "Examples",
        list(offered),
        index=None,
        format_func=lambda name: IN_SHORT.get(name, name),
        key=_CHOSEN,
        horizontal=True,
        on_change=choose,
        label_visibility="collapsed",
    )
