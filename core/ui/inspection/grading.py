"""Beside a question of the embedded world: what is true, and how well it was decided."""

from __future__ import annotations

import streamlit as st

from core.studies.inspection.grading import Judgement, said
from core.studies.inspection.verdict import Verdict


def truth(judgement: Judgement, verdict: Verdict) -> None:
    """Say what is true, how often the model was told so, and whether the verdict was good."""
    with st.container(key="truth", gap="xsmall"):
        for sentence in said(judgement, verdict):
            st.text(sentence)
