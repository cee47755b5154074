"""All the scores in one table, each against its own threshold."""

from typing import Final

import streamlit as st

from core.reports.inspection.score_table import remarks, score_table
from core.reports.inspection.words import likely
from core.studies.costs import calls
from core.studies.inspection.estimators import TITLES, measures, table
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.recording import Estimator, Recording
from core.studies.inspection.taught_questions import WORLD_OF
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
        "Each score decides by its own threshold λ. A score that is not certified never "
        "answers." + (" A single question proves little; see the model card." if has_bound else "")
    )
    for sentence in remarks(inspection):
        st.text(sentence)
    if more := likely(inspection):
        st.text(more)
    if inspection.origin:
        st.text(inspection.origin)
    recording = inspection.recording
    st.text(f"Estimator: {recording.estimator.value}. {cost(recording)}")
    ladder(inspection)


def cost(recording: Recording) -> str:
    """Say what a recording took: of a service, or of this machine."""
    if recording.used is not None:
        return f"Used for all scores together: {spending(recording.used, recording.model)}"
    return f"{calls(len(recording.calls))} to the model on this machine, for all scores together."


def ladder(inspection: Inspection) -> None:
    """Show what was measured of every estimator, and say which one was used here."""
    used = inspection.recording.estimator
    measured = measures()
    st.markdown("**How good is this estimator?**")
    st.caption(
        f"The embedded model answered the same {measured.questions:d} questions with all its "
        "abilities, and with some switched off to test each estimator. Half of the "
        f"questions have one right answer, half have many; {measured.wrong:.0%} were answered "
        "wrongly. AUROC is the chance that a wrong answer has a larger doubt than a right "
        "one: 0.5 is guessing, 1 is perfect. Brackets: 95% intervals over the questions."
    )
    rows = table(measured)
    st.dataframe(
        {
            "measured": list(rows),
            **{
                f"{title} (used here)" if estimator is used else title: [
                    cells[i] for cells in rows.values()
                ]
                for i, (estimator, title) in enumerate(TITLES.items())
            },
        },
        column_config={"measured": st.column_config.Column(width=300)},
        hide_index=True,
        height="content",
        key="ladder",
        alt="How well each estimator ranks wrong answers, and what it costs",
    )
    if not inspection.recording.request.draws:
        st.text("Here the likeliest answers are compared. Those of the table were drawn.")
    if used is Estimator.PREFIX:
        st.text("Likelihoods of answers without their end, used here, were not measured.")
    if inspection.recording.model != WORLD_OF:
        st.text("The model in use here may differ.")
