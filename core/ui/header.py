"""The head of every page: its title and lead, the model, the glossary, and pending notices."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.ui import glossary, model_address, model_picker, policy_badge
from core.ui.messages import problem, say_later
from core.ui.runs import chip
from core.ui.storage import storage


def page_header(title: str, lead: str = "", *, decides: bool = True) -> DeltaGenerator:
    """Draw the title and the lead, offer the model picker and the glossary, and pass on notices.

    `decides`: whether the page has use for the policy.
    Returns the place of the policy's badge, for a page whose settings it may not fit.
    """
    policy_badge.follow()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title(title, width="stretch")
        with st.container(horizontal=True, width="content", key="chips"):
            chip.draw()
            model_picker.picker()
            with (policy := st.empty()):
                if decides:
                    policy_badge.badge()
            glossary.button()
    model_address.follow()
    with st.container():  # what comes and goes moves no field: Streamlit would unbind its address
        model_picker.opening()
    if lead:
        st.markdown(lead)
    with st.container():
        if storage().why:
            _until_it_opens()
        elif notice := storage().notice:
            problem(notice)
        say_later()
        if not model_picker.before():
            model_address.write()
    return policy


@st.fragment(run_every=2.0)
def _until_it_opens() -> None:
    """Say why the database cannot be opened, and draw the page anew once it is."""
    if not storage().why:
        st.rerun()
    problem(storage().notice or "")
