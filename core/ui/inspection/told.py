"""The main picture: what the model says after each answer that it was told."""

from __future__ import annotations

import streamlit as st

from core.studies.inspection.inspection import Inspection
from core.studies.inspection.told import told_rows
from core.ui.components.rows import rows
from core.ui.glossary import TERMS


def told(inspection: Inspection) -> None:
    """Draw a bar for every answer in the prompt, and say how to read them."""
    st.header("What it says after it is told an answer", help=TERMS["Answer in the prompt"])
    found = told_rows(inspection)
    rows(found, key="told")
    if len(found.answers) == 1 and len(found.rows) > 1:
        st.caption(
            "Only one answer was found, so it was told others: if its own keeps most of the "
            "probability, it knows."
        )
    else:
        st.caption(
            "If all rows are alike, what it is told does not matter: it knows. If each row says "
            "what it was told (orange), it does not know."
        )
