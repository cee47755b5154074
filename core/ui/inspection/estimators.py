"""Beside the estimator: how well each one ranks wrong answers, and what it costs."""

import streamlit as st

from core.studies.inspection.estimators import TITLES, measures, table
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.recording import Estimator
from core.studies.inspection.taught import WORLD_OF


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
