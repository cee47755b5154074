"""Beside a question of the embedded world: what is true, and how well it was decided."""

from __future__ import annotations

import streamlit as st

from core.studies.inspection.grading import Judgement, sentences
from core.studies.inspection.inspection import Inspection


def truth(judgement: Judgement, inspection: Inspection) -> None:
    """Say what is true, how often the model was told so, and whether the verdict was good."""
    with st.container(key="truth", gap="xsmall"):
        for sentence in sentences(judgement, inspection):
            st.text(sentence)
