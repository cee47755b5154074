"""One experiment on the page: its pictures on one side, its settings on the other."""

import streamlit as st

from core.reports.laboratory.catalogue import EXPERIMENTS
from core.studies.laboratory.experiment import AskedModel
from core.ui.laboratory.results import about_model, behind, beside, results
from core.ui.laboratory.run import attempt
from core.ui.laboratory.settings import values_of


def bench(name: str) -> None:
    """Draw an experiment: what it is, what is found with the settings, and what is behind it."""
    experiment = EXPERIMENTS[name]
    st.header(experiment.title, anchor=False)
    st.markdown(experiment.about)
    # On a phone the columns come one below the other: first what was found.
    seen, chosen = st.columns([3, 1], gap="medium")
    with chosen:
        st.subheader("Settings", anchor=False)
        values = values_of(name)
        asks = st.container()
        st.caption(f"In the paper: {experiment.paper}.")
    if values is None:
        with seen:
            st.text("Correct the settings to see what they show.")
        return
    with seen:
        model, finding = attempt(experiment, values)
        if finding is not None:
            results(finding)
    with asks:
        st.text(about_model(experiment.model_for(values), model))
    if experiment.model_for(values) is AskedModel.CHOSEN:
        beside(experiment, model)
    if finding is not None:
        behind(finding, model)
