"""What a larger model answered to a question before: offered, and opened without asking it."""

from __future__ import annotations

import streamlit as st

from core.studies.evaluation.bundled import folders
from core.studies.evaluation.recorded import (
    RecordedAnswer,
    recorded_answers,
    recorded_elsewhere,
    recording_title,
)
from core.studies.inspection.inspection import Inspection


def offer(inspection: Inspection) -> None:
    """Offer the recorded answer to the question of an inspection, if there is another one."""
    answer = recorded_elsewhere(inspection.recording)
    if answer is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="recorded"):
        st.text(f"{answer.sentence}: {answer.question}", width="content")
        if st.button("Open its inspection", key="open_recorded", icon=":material/history:"):
            show(answer)


def choice() -> RecordedAnswer | None:
    """Let the person choose one of all recorded questions, where there are any."""
    answers = {answer.question: answer for answer in recorded_answers()}
    if not answers:
        return None
    st.text(recording_title())
    question = st.selectbox(
        "Recorded questions",
        list(answers),
        None,
        key="recorded_question",
        placeholder="Choose a question: its inspection opens, and no model is asked",
        label_visibility="collapsed",
    )
    return None if question is None else answers[question]


def show(answer: RecordedAnswer) -> None:
    """Go to the inspection of a recorded answer."""
    from core.studies.evaluation.reading import Run  # Parquet takes long to load
    from core.ui.evaluation import row_inspection

    row_inspection.show(Run(folders()[answer.run]), answer.id)
