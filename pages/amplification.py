"""Amplification: what repeating an answer does to a model, and why."""

import streamlit as st

from core.language_models.errors import ModelError
from core.ui import history
from core.ui.amplification.gallery import paper, world
from core.ui.amplification.mechanism import mechanism
from core.ui.amplification.question import your_question
from core.ui.amplification.saving import kept_curves
from core.ui.header import page_header
from core.ui.messages import problem


def page() -> None:
    """Draw the page: one curve typed by hand, two galleries, and the mechanism."""
    page_header(
        "What does repeating an answer do?",
        "Repeat one answer in the prompt, then ask. **What the model knows stays, however "
        "often the prompt says otherwise. What it half knows changes at once. Of many right "
        "answers, each keeps a share.** Mutual information measures this effect.",
    )
    if result := history.opened("amplification"):
        kept_curves(result.payload)
        return
    curve, published, by_band, why = st.tabs(
        ["Your question", "The paper’s questions", "The embedded world", "The mechanism"],
        key="tab",
        bind="query-params",
    )
    for tab, draw in (
        (curve, your_question),
        (published, paper),
        (by_band, world),
        (why, mechanism),
    ):
        if tab.open:
            with tab:
                try:
                    draw()
                except ModelError as error:
                    problem(str(error))


page()
