"""From typing a question to its recording: settings, progress, cancelling.

Everything a person types stands in the address, so that a reload, or a colleague, sees
the same. A recording that was made, or is being made, is found again by its request.
"""

from __future__ import annotations

from typing import TypeVar

import streamlit as st

from core.charts import inspection as charts
from core.studies.inspection import Reading, growth
from core.studies.recording import MAX_QUERY_CHARACTERS, MAX_SAMPLES, Recording, Request
from core.studies.tour import EXAMPLES
from core.studies.verdict import default_threshold
from core.ui import figures
from core.ui.glossary import TERMS
from core.ui.jobs import Job
from core.ui.messages import problem
from core.ui.recordings import model, recordings
from core.uncertainty.similarity import SIMILARITIES

Number = TypeVar("Number", int, float)

ABOUT = {
    "k": TERMS["Samples k"],
    "temperature": TERMS["Temperature"],
    "seed": "The same seed draws the same answers again.",
    "gamma_1": TERMS["Stabilisation γ"],
    "gamma_2": TERMS["Stabilisation γ"],
}
LABELS = {
    "k": "Samples k",
    "temperature": "Temperature of the sampling",
    "seed": "Seed",
    "gamma_1": "Stabilisation γ₁",
    "gamma_2": "Stabilisation γ₂",
}
QUICK = 0.8  # seconds: an answer that comes sooner is shown without a progress bar


def ask() -> tuple[Request, Reading]:
    """Let the person type, and return what to ask and how to read it. All in the URL."""
    if samples := st.session_state.pop("next_samples", None):
        st.session_state["k"] = samples
    if st.query_params.get("q") == EXAMPLES["Known"]:  # Streamlit skips a default in the address
        st.session_state["q"] = EXAMPLES["Known"]
    line, press = st.columns([8, 1], vertical_alignment="bottom")
    query = line.text_input(
        "Question",
        EXAMPLES["Known"],
        max_chars=MAX_QUERY_CHARACTERS,
        key="q",
        bind="query-params",
        persist_state="session",
        placeholder="Type a question and press Enter",
    )
    press.button("Ask", type="primary", key="ask", width="stretch")  # as Enter does
    with st.container(horizontal=True, gap="small"):
        for name, question in EXAMPLES.items():
            st.button(
                name, key=f"example_{name}", help=question, on_click=_ask_for, args=(question,)
            )
    with st.expander("Settings", icon=":material/tune:"):
        asking, seeing = st.columns(2)
        with asking:
            st.caption("Changing these asks the model")
            samples = _number("k", 10, 1, MAX_SAMPLES, 1)
            temperature = _number("temperature", 0.9, 0.05, 2.0, 0.05)
            seed = _number("seed", 0, 0, 2**32 - 1, 1)
        with seeing:
            st.caption("Changing these asks nothing: the same answers are read again")
            similarity = st.selectbox(
                "Similarity of two answers",
                list(SIMILARITIES),
                key="similarity",
                bind="query-params",
                persist_state="session",
                help=TERMS["Similarity"],
            )
            threshold = st.slider(
                "Similarity threshold τ",
                0.05,
                1.0,
                0.25,
                0.05,
                key="tau",
                bind="query-params",
                persist_state="session",
                help=TERMS["Similarity threshold τ"],
            )
            gamma_1 = _number("gamma_1", 0.0, 0.0, 1.0, 0.01)
            gamma_2 = _number("gamma_2", 0.0, 0.0, 1.0, 0.01)
    return (
        Request(query or "", samples, temperature, seed),
        Reading(similarity, threshold, gamma_1, gamma_2),
    )


def _number(key: str, value: Number, low: Number, high: Number, step: Number) -> Number:
    return st.number_input(
        LABELS[key],
        low,
        high,
        value,
        step,
        key=key,
        help=ABOUT[key],
        bind="query-params",
        persist_state="session",
    )


def _ask_for(question: str) -> None:
    st.session_state["q"] = question


def record(request: Request, reading: Reading) -> Recording | None:
    """Return the recording, or None while the model is being asked and after a cancel."""
    made = recordings().find(request, model("embedded"))
    certifying = st.session_state.get("certifying")
    if certifying and certifying[0] == request:
        _watch(certifying[1], request, reading)
    ended = st.session_state.get("ended")
    if made:
        if ended and ended[0] == request:  # more was wanted, and failed: keep what there is
            problem(str(ended[1].error))
        return made
    if ended and ended[0] == request:  # cancelled or failed: nobody asks again but the person
        st.button("Ask again", on_click=st.session_state.pop, args=("ended",))
        return _outcome(ended[1])
    job = recordings().ask(request, model("embedded"))
    if not job.wait(QUICK):
        _watch(job, request, reading)
        return None
    return _outcome(job)


@st.fragment(run_every=0.5)
def _watch(job: Job[Recording], request: Request, reading: Reading) -> None:
    """Show how far a job is, let the person stop it, and redraw the page when it is done."""
    if job.done:
        st.session_state.pop("certifying", None)
        if job.error and not job.cancelled:
            st.session_state["ended"] = (request, job)
        elif job.partial:  # what was sampled on the way to a certificate is kept
            st.session_state["next_samples"] = job.partial.request.samples
        elif job.cancelled and (smaller := recordings().largest(request, model("embedded"))):
            st.session_state["next_samples"] = smaller  # back to what was on the screen
        elif job.cancelled:
            st.session_state["ended"] = (request, job)
        st.rerun()
    if job.partial:
        draw_growth(job.partial, reading, f"growing_{job.partial.request.samples}")
    st.progress(min(job.share, 1.0), job.stage)
    st.button("Cancel", on_click=job.cancel, key="cancel")


def _outcome(job: Job[Recording]) -> Recording | None:
    if job.cancelled:
        problem("Cancelled before the model had answered. Nothing was lost but the time.")
        return None
    if job.error:
        raise job.error
    return job.result


def draw_growth(recording: Recording, reading: Reading, key: str) -> None:
    """Show how the certified bound and the sampled mass grew with the samples."""
    points = growth(recording, reading)
    figures.draw(
        charts.growth(points, default_threshold().value, figures.palette()),
        key=key,
        alt_text=charts.growth_alt(points),
    )
