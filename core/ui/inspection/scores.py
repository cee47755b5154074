"""All the scores in one table, each against its own threshold."""

from typing import Final

import streamlit as st

from core.reports.inspection.score_table import remarks, score_table
from core.reports.inspection.words import likely
from core.studies.costs import calls
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.recording import Recording
from core.ui.inspection.estimators import ladder
from core.ui.payment import spending

FULL: Final = 2.0  # times its threshold: from here a score's bar is full


def scores(inspection: Inspection) -> None:
    """Show all the scores, what each would have done, and what was seen."""
    columns = score_table(inspection)
    has_bound = "which is" in columns
    st.dataframe(
        columns,
        column_config={
            "doubt against λ": st.column_config.ProgressColumn(
                min_value=0.0,
                max_value=FULL,
                format="%.2f λ",
                help="The doubt as a multiple of the score’s own threshold λ. From 1 on, it "
                "abstains. The doubt of a probability p is −ln p.",
            )
        },
        hide_index=True,
        height="content",
        key="scores",
        alt="Every score with its value, the answer it would serve, and how it would decide",
    )
    st.caption(
        "Each score decides by its own threshold λ. A score that could not be certified never "
        "answers." + (" A single question proves little; see the model card." if has_bound else "")
    )
    st.text(f"Sampled mass: {inspection.sampled_mass:.1%} of the model’s probability.")
    for sentence in remarks(inspection):
        st.text(sentence)
    if more := likely(inspection):
        st.text(more)
    if inspection.verdict.rule:
        st.text(inspection.verdict.rule.origin)
    recording = inspection.recording
    st.text(f"Estimator: {recording.estimator.value}. {cost(recording)}")
    ladder(inspection)


def cost(recording: Recording) -> str:
    """Say what a recording took: of a service, or of this machine."""
    if recording.used is not None:
        return f"Used for all scores together: {spending(recording.used)}"
    return f"{calls(len(recording.calls))} to the model on this machine, for all scores together."
