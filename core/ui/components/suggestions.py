"""Questions that a field completes while a person types, in the browser alone."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

_mounted = st.components.v2.component(
    "believe_suggestions", js=Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
)


def suggest(field: str, questions: Sequence[str], *, key: str) -> None:
    """Complete what is typed into the text field of this label; with no questions, nothing."""
    # In a list, for the reason that `registered` has.
    _mounted(key=key, data=[{"field": field, "texts": list(questions)}])
