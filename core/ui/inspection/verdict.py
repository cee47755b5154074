"""The verdict: what to do with the answer, and why."""

from typing import Final

import streamlit as st

from core.charts import inspection as charts
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.recording import Estimator
from core.studies.inspection.verdict import Decision
from core.ui import figures
from core.ui.glossary import TERMS

HEADLINES: Final = {
    Decision.ANSWER: ":green[:material/check_circle: Answer]",
    Decision.ABSTAIN: ":red[:material/block: Abstain]",
    Decision.TOO_LITTLE: ":orange[:material/help: Too little sampled to say]",
}


def verdict(inspection: Inspection) -> None:
    """Say first what to do with the answer, and why."""
    found = inspection.verdict
    with st.container(border=True, key="verdict"):
        left, right = st.columns([3, 2], gap="large")
        with left:
            st.subheader(HEADLINES[found.decision], anchor=False)
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
