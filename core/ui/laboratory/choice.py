"""Which experiment is on the page, by its question, named in the address."""

from typing import Final

import streamlit as st

from core.codec import one_line
from core.reports.laboratory.catalogue import EXPERIMENTS, QUESTION_OF, QUESTIONS
from core.studies.laboratory.experiment import Experiment
from core.ui.messages import problem

EXPERIMENT: Final = "experiment"  # in the address
_SHOWN, _WHICH = "laboratory_shown", "laboratory_which"


def choice() -> Experiment | None:
    """Return the experiment that a person chose, and offer its neighbours; None at first."""
    address = st.query_params.get(EXPERIMENT) or st.session_state.get(_SHOWN)
    if address and address not in EXPERIMENTS:
        problem(f"There is no experiment “{one_line(address)}”. Choose one of these.")
        address = None
    st.session_state[_SHOWN] = address
    if address is None:
        return None
    if st.query_params.get(EXPERIMENT) != address:
        st.query_params[EXPERIMENT] = address  # somebody has come back from another page
    group = [experiment.name for experiment in QUESTIONS[QUESTION_OF[address]]]
    st.session_state[_WHICH] = address
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("All claims", key="claims", icon=":material/arrow_back:", on_click=show)
        if len(group) > 1:
            st.pills(
                "Experiment",
                group,
                required=True,
                key=_WHICH,
                format_func=lambda name: EXPERIMENTS[name].title,
                on_change=_change,
                label_visibility="collapsed",
            )
    return EXPERIMENTS[address]


def _change() -> None:
    show(st.session_state[_WHICH])


def show(name: str | None = None) -> None:
    """Show an experiment from now on, or all claims; the address names no setting of another."""
    st.session_state[_SHOWN] = name
    st.query_params.from_dict({EXPERIMENT: name} if name else {})
