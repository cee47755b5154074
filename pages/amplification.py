"""Amplification: what repeating an answer does to a model, and why."""

import streamlit as st

from core.language_models.errors import ModelError
from core.ui import saved_result
from core.ui.amplification import form
from core.ui.amplification.gallery import paper, world
from core.ui.amplification.mechanism import mechanism
from core.ui.amplification.question import your_question
from core.ui.amplification.saving import saved_curves
from core.ui.header import page_header
from core.ui.messages import problem

OWN = "Your question"


def page() -> None:
    """Draw the page: the world by exposure, one curve typed by hand, the paper's, the mechanism."""
    page_header(
        "What does repeating an answer do?",
        "Repeat one answer in the prompt, then ask. **What the model knows stays, however "
        "often the prompt says otherwise. What it half knows changes at once. Of many right "
        "answers, each keeps a share.** Mutual information measures this effect.",
    )
    if result := saved_result.open_result("amplification"):
        saved_curves(result)
        return
    if form.in_address() and "tab" not in {*st.query_params, *st.session_state}:
        st.session_state["tab"] = OWN
    by_band, curve, published, why = st.tabs(
        ["The embedded world", OWN, "The paper’s questions", "The mechanism"],
        key="tab",
        bind="query-params",
    )
    for tab, draw in (
        (by_band, world),
        (curve, your_question),
        (published, paper),
        (why, mechanism),
    ):
        if tab.open:
            with tab:
                try:
                    draw()
                except ModelError as error:
                    problem(str(error))


page()
