"""Amplification: what repeating an answer does to a model, and why."""

import streamlit as st

from core.language_models.errors import ModelError
from core.ui import saved_result
from core.ui.amplification.gallery import paper, world
from core.ui.amplification.mechanism import mechanism
from core.ui.amplification.question import your_question
from core.ui.amplification.saving import saved_curves
from core.ui.header import page_header
from core.ui.messages import problem

#: Tabs, by what earlier versions called them in addresses.
RENAMED = {
    "The embedded world": "Embedded world",
    "The paper’s questions": "The paper’s",
    "The mechanism": "Mechanism",
}


def page() -> None:
    """Draw the page: one curve typed by hand, the world by exposure, the paper's, the mechanism.

    A service is asked for no curve before its price was said and agreed to; see `curves`.
    """
    page_header(
        "What does repeating an answer do?",
        "**Mostly, the well known stands, the half known gives way.**",
        decides=False,
    )
    if result := saved_result.open_result("amplification"):
        saved_curves(result)
        return
    if (before := st.query_params.get("tab")) in RENAMED:
        st.session_state["tab"] = RENAMED[before]  # the address itself belongs to the tabs
    curve, by_band, published, why = st.tabs(
        ["Your question", "Embedded world", "The paper’s", "Mechanism"],
        key="tab",
        bind="query-params",
    )
    for tab, draw in (
        (curve, your_question),
        (by_band, world),
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
