"""What stands on every page: the model, the glossary, and what must be said about the database."""

from __future__ import annotations

import streamlit as st

from core.ui import glossary, models
from core.ui.keeping import kept
from core.ui.messages import problem, said_later


def tools() -> None:
    """Offer the model picker and the glossary, and pass on notices of the database."""
    with st.container(horizontal=True, width="content"):
        models.picker()
        glossary.button()
    if notice := kept().notice:
        problem(notice)
    said_later()
