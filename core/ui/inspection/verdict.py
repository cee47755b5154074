"""The verdict: what to do with the answer, and why."""

from typing import Final

import streamlit as st

from core.charts import inspection as charts
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.recording import Estimator
from core.studies.inspection.taught import Taught
from core.studies.inspection.verdict import Decision
from core.ui import figures, frame
from core.ui.glossary import TERMS
from core.ui.inspection.form import ask_instead

HEADLINES: Final = {
    Decision.ANSWER: ":green[:material/check_circle: Answer]",
    Decision.ABSTAIN: ":red[:material/block: Abstain]",
    Decision.TOO_LITTLE: ":orange[:material/help: Too little sampled to say]",
}


# No tick above what the model was not taught: the decision stands beneath, and small.
NOT_TAUGHT: Final = ":orange[:material/travel_explore: Not something this model was taught]"
BENEATH: Final = {
    Decision.ANSWER: "By its doubt alone, it would be answered.",
    Decision.ABSTAIN: "By its doubt alone, too, it would not be answered.",
    Decision.TOO_LITTLE: "Besides, too little was sampled to say.",
}


def verdict(inspection: Inspection) -> None:
    """Say first what to do with the answer, and why."""
    found = inspection.verdict
    with st.container(border=True, key="verdict"):
        left, right = st.columns([3, 2], gap="large")
        with left:
            if inspection.taught is not None and inspection.taught.outside:
                st.subheader(NOT_TAUGHT, anchor=False)
                st.caption(BENEATH[found.decision])
            else:
                st.subheader(HEADLINES[found.decision], anchor=False)
            if inspection.taught is not None:
                _beside_what_was_taught(inspection.taught)
            if inspection.wanted is not None:
                asked_for = inspection.recording.request.samples
                st.markdown(
                    f":orange[:material/warning: **Only k = {asked_for:d}: a verdict takes "
                    f"{inspection.wanted:d}.**]"
                )
            st.caption("The model’s answer")
            st.code(charts.shown(found.answer), language=None, wrap_lines=True)
            st.text(found.reason)
            if inspection.caveat:
                st.text(inspection.caveat)
            for note in inspection.recording.notes:
                st.text(note)
        with right:
            st.markdown("**Doubt about a second answer**", help=TERMS["Epistemic uncertainty"])
            figures.draw(
                charts.doubt, inspection, key="doubt", alt_text=charts.doubt_alt(inspection)
            )
            st.caption(
                "Dashed line: the threshold λ. Thick tick: the certified bound."
                if inspection.recording.estimator is Estimator.EXACT
                else "Dashed line: the threshold λ."
            )


def _beside_what_was_taught(taught: Taught) -> None:
    """Say what a question that is not recognised has to do with what the model was taught."""
    if taught.recognised:
        return
    if taught.did_you_mean and taught.question:
        with st.container(horizontal=True, vertical_alignment="center", key="did_you_mean"):
            st.text(taught.did_you_mean)
            st.button(
                "Ask this",
                key="ask_nearest",
                icon=":material/subdirectory_arrow_right:",
                on_click=ask_instead,
                args=(taught.question,),
            )
    if taught.sentence:
        st.text(taught.sentence)
    st.page_link(frame.questions(), label="What can I ask?", icon=":material/travel_explore:")
