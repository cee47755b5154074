"""Which experiment is on the page, by its question, named in the address."""

from __future__ import annotations

from typing import Final

import streamlit as st

from core.codec import one_line
from core.reports.laboratory.catalogue import EXPERIMENTS, QUESTIONS, question_of
from core.studies.laboratory.experiment import Experiment
from core.ui.messages import problem

EXPERIMENT: Final = "experiment"  # in the address
_SHOWN, _QUESTION, _WHICH = "laboratory_shown", "laboratory_question", "laboratory_which"


def choice() -> Experiment:
    """Let the person choose an experiment, and return it; the first one to begin with."""
    address = st.query_params.get(EXPERIMENT) or st.session_state.get(_SHOWN)
    if address and address not in EXPERIMENTS:
        problem(f"There is no experiment “{one_line(address)}”. Choose one of these.")
        address = None
    name = st.session_state[_SHOWN] = address or next(iter(EXPERIMENTS))
    if address and st.query_params.get(EXPERIMENT) != address:
        st.query_params[EXPERIMENT] = address  # somebody has come back from another page
    question = question_of(name)
    st.session_state[_QUESTION], st.session_state[_WHICH] = question, name
    st.pills(
        "Question",
        list(QUESTIONS),
        required=True,
        key=_QUESTION,
        on_change=_ask,
        label_visibility="collapsed",
    )
    if len(QUESTIONS[question]) > 1:
        names = [experiment.name for experiment in QUESTIONS[question]]
        st.segmented_control(
            "Experiment",
            names,
            required=True,
            key=_WHICH,
            format_func=_title,
            on_change=_change,
            label_visibility="collapsed",
        )
    return EXPERIMENTS[name]


def _title(name: str) -> str:
    return EXPERIMENTS[name].title


def _ask() -> None:
    _show(QUESTIONS[st.session_state[_QUESTION]][0].name)


def _change() -> None:
    _show(st.session_state[_WHICH])


def _show(name: str) -> None:
    """Show an experiment from now on; the address names no setting of another one."""
    st.session_state[_SHOWN] = name
    st.query_params.from_dict({EXPERIMENT: name})
