"""More answers: to a number, until they certify something, or with one setting moved."""

from dataclasses import replace

import streamlit as st

from core.studies.costs import computed_tokens, lasting
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.recording import Estimator
from core.studies.inspection.request import Request
from core.studies.inspection.stopping import is_settled
from core.ui.inspection.form import COMPARED_FOR, certify, draw_growth
from core.ui.inspection.stable import longer_chains, stable
from core.ui.model import current

MORE = (30, 100, 300)  # answers that one press compares


def more(inspection: Inspection) -> None:
    """Offer more answers of every kind: of the same question, and of settings and chains."""
    st.markdown("**Has enough been seen?**")
    _extend(inspection)
    if not inspection.refused:  # the policy in use decides nothing, and no other in its place
        stable(inspection)
    longer_chains(inspection)


def _extend(inspection: Inspection) -> None:
    """Extend the same evidence, to a number or until it certifies something."""
    request = inspection.recording.request
    settled = is_settled(inspection.recording, inspection.reading, inspection.policy)
    local = current().capabilities.local
    if inspection.recording.estimator is not Estimator.EXACT:
        st.text(
            "Nothing can be certified here: that takes exact likelihoods of whole answers, "
            "which this model does not report."
        )
        _more_answers(request)
        _say_how_long(request)
        return
    st.markdown(
        "The certified lower bound holds whatever answers were not seen, so you may stop at "
        "any time. It rises towards the model’s own mutual information, and stays "
        "near 0 for what the model knows."
    )
    with st.container(horizontal=True):
        _more_answers(request)
        st.button(
            "Compare until certified",
            key="certify",
            on_click=certify,
            args=(inspection.recording,),
            disabled=settled is not None or not local,
        )
    _say_how_long(request)
    if settled:
        st.text(settled)
    elif not local:
        st.text(
            "A service is asked for a fixed number of answers, after this page states the cost."
        )
    draw_growth(inspection.recording, inspection.reading, "growth")


def _more_answers(request: Request) -> None:
    with st.container(horizontal=True, width="content"):
        for samples in MORE:
            st.button(
                f"Compare up to {samples:d}",
                key=f"sample_{samples}",
                disabled=samples not in larger_numbers(request),
                on_click=compare,
                args=(samples,),
            )


def larger_numbers(request: Request) -> list[int]:
    """Return the larger k that are offered, as far as answers of this limit go."""
    return [samples for samples in MORE if request.samples < samples <= request.most_samples]


def compare(samples: int) -> None:
    """Compare up to so many answers to this question, with the next run of the page."""
    st.session_state["k"] = samples
    st.session_state[COMPARED_FOR] = st.session_state.get("q")


def _say_how_long(request: Request) -> None:
    times = [
        f"{samples} answers {takes}"
        for samples in larger_numbers(request)
        if (takes := lasting(computed_tokens(replace(request, samples=samples)), current()))
    ]
    if times:
        st.text(f"On this machine: {', '.join(times)}.")
