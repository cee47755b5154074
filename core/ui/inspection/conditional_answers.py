"""The main picture: what the model says after each answer that it was told."""

import streamlit as st

from core.studies.inspection.conditional_rows import conditional_rows
from core.studies.inspection.inspection import Inspection
from core.ui.components.rows import rows
from core.ui.glossary import TERMS


def conditional_answers(inspection: Inspection) -> None:
    """Draw a bar for every answer in the prompt."""
    st.header("What it says after it is told an answer", help=TERMS["Answer in the prompt"])
    rows(conditional_rows(inspection), key="told")
