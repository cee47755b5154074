"""What a larger model answered to a question before: offered, and opened without asking it."""

import streamlit as st

from core.data.world.normal_form import normal_form
from core.reports.inspection.words import read_outcome, trust_recorded
from core.studies.evaluation.bundled import folders
from core.studies.evaluation.recorded_answers import (
    RecordedAnswer,
    recorded_answers,
    recorded_elsewhere,
    recording_title,
)
from core.studies.inspection.inspection import Inspection, display


def offer(inspection: Inspection) -> None:
    """Show the recorded answer to the question of an inspection with its verdict, if there is one.

    It is another one than this, and opens.
    """
    answer = recorded_elsewhere(inspection.recording)
    if answer is None:
        return
    outcome = read_outcome(answer.outcome)
    stamp = outcome.mark
    assert stamp is not None  # what is bundled is read by the program that wrote it
    of, same = (answer.provenance, normal_form(answer.question) == normal_form(inspection.query))
    words = "" if same else f", asked “{answer.question}”"
    with st.container(key="recorded", horizontal=True, vertical_alignment="center", gap="small"):
        st.text(f"Another model, {of.title}, recorded{words}:", width="content")
        with st.container(key=f"stamp_{stamp.style}_recorded", width="content"):
            st.text(stamp.label, width="content")
        st.text(display(outcome.answer), width="content")
        if outcome.why:
            st.text(f"({outcome.why})", width="content")
        if st.button("Open its inspection", key="open_recorded", icon=":material/history:"):
            show(answer)


def choice() -> RecordedAnswer | None:
    """Let the person choose one of all recorded questions, where there are any."""
    answers = {answer.question: answer for answer in recorded_answers()}
    if not answers:
        return None
    st.text(f"{recording_title()}: {trust_recorded()}")
    question = st.selectbox(
        "Recorded questions",
        list(answers),
        None,
        key="recorded_question",
        placeholder="Choose one: no model is asked",
        label_visibility="collapsed",
    )
    return None if question is None else answers[question]


def show(answer: RecordedAnswer) -> None:
    """Go to the inspection of a recorded answer."""
    from core.studies.evaluation.saved_run import Run  # Parquet takes long to load
    from core.ui.evaluation import row_inspection

    row_inspection.show(Run(folders()[answer.run]), answer.id)
