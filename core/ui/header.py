"""What stands on every page: the model, the glossary, and what must be said about the database."""

from __future__ import annotations

import streamlit as st

from core.ui import glossary, model_picker
from core.ui.messages import problem, said_later
from core.ui.results import kept


def tools() -> None:
    """Offer the model picker and the glossary, and pass on notices of the database."""
    with st.container(horizontal=True, width="content"):
        model_picker.picker()
        glossary.button()
    if notice := kept().notice:
        problem(notice)
    said_later()
