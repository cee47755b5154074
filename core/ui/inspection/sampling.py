"""Has enough been seen? More samples, to a number or until they certify something."""

import streamlit as st

from core.language_models.errors import ModelError
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.recording import Estimator
from core.studies.inspection.request import Reading, Request
from core.studies.inspection.stopping import is_settled
from core.ui.glossary import TERMS
from core.ui.inspection.form import draw_growth
from core.ui.inspection.recordings import recordings
from core.ui.messages import later
from core.ui.model import asked, current


def more(inspection: Inspection) -> None:
    """Extend the same evidence, to a number or until it certifies something."""
    st.subheader("Has enough been seen?", help=TERMS["Certified mutual information"])
    request = inspection.recording.request
    settled = is_settled(inspection.recording, inspection.reading)
    local = current().capabilities.local
    if inspection.recording.estimator is not Estimator.EXACT:
        st.text(
            "Nothing can be certified here: that takes exact likelihoods of whole answers, which "
            "this model does not say."
        )
        _more_samples(request)
        return
    st.markdown(
        "The **certified lower bound** holds whatever was not sampled, so you may sample until "
        "you are content. It rises towards the model’s own mutual information, and stays near "
        "0 for what the model knows."
    )
    with st.container(horizontal=True):
        _more_samples(request)
        st.button(
            "Sample until certified",
            key="certify",
            on_click=_certify,
            args=(request, inspection.reading),
            disabled=settled is not None or not local,
        )
    if settled:
        st.text(settled)
    elif not local:
        st.text("A service is asked for a number of samples at a time, with the cost said first.")
    draw_growth(inspection.recording, inspection.reading, "growth")


def _more_samples(request: Request) -> None:
    with st.container(horizontal=True, width="content"):
        for samples in (30, 100, 300):
            st.button(
                f"Sample {samples}",
                key=f"sample_{samples}",
                disabled=request.samples >= samples,
                on_click=lambda k=samples: st.session_state.update(k=k),
            )


def _certify(request: Request, reading: Reading) -> None:
    try:
        model = asked()
        if model.capabilities.local:  # whatever a browser sends: nobody said what else costs
            job = recordings().certify(request, model, reading)
            st.session_state["certifying"] = (request, job)
    except ModelError as error:
        later(str(error))
