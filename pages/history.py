"""History: every inspection, curve and policy that was kept, to be opened again exactly."""

import streamlit as st

from core.ui.header import tools
from core.ui.history import chosen, listed


def history() -> None:
    """Draw the page: a search, the list, and what can be done with the chosen one."""
    st.title("History")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            "What was asked and calculated before, newest first. Opening one asks no model: it "
            "is shown exactly as it was kept.",
            width="stretch",
        )
        tools()
    found = listed()
    if found is not None:
        chosen(found)


history()
