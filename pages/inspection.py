"""Inspection: ask one question, read the verdict, and look at everything behind it."""

from typing import Any, Final

import streamlit as st

from core.charts import inspection as charts
from core.language_models.base import ModelError
from core.studies.inspection import Inspection, Reading, is_settled, read
from core.studies.recording import InvalidRequestError, Request
from core.studies.verdict import Decision
from core.ui import figures, frame
from core.ui.asking import ask, draw_growth, record
from core.ui.details import details
from core.ui.matrices import matrices
from core.ui.messages import problem
from core.ui.recordings import model, recordings
from core.uncertainty.scores import SCORES

frame.require_app()

# The line below a score is its possible range; 236 pixels hold the longest title.
SCORE_CARD: Final[dict[str, Any]] = {
    "delta_color": "off",
    "delta_arrow": "off",
    "border": True,
    "width": 236,
}


def inspect() -> None:
    """Draw the page, from the question down to the details."""
    st.title("Can I believe this answer?")
    st.markdown(
        "Ask a question. The model answers it several times, is told each of its own answers, "
        "and is asked again. **Doubt that turns an answer is ignorance; doubt that does not is "
        "many right answers.**"
    )
    try:
        request, reading = ask()
        recording = record(request, reading)
        inspection = read(recording, reading) if recording else None
    except (InvalidRequestError, ModelError) as error:
        problem(str(error))
        return
    if inspection is None:
        return
    verdict(inspection)
    scores(inspection)
    clusters(inspection)
    matrices(inspection)
    more(inspection)
    details(inspection)


# -------------------------------------------------------------------------- the verdict

HEADLINES: Final = {
    Decision.ANSWER: ":green[:material/check_circle: Answer]",
    Decision.ABSTAIN: ":red[:material/block: Abstain]",
    Decision.TOO_LITTLE: ":orange[:material/help: Too little sampled to say]",
}


def verdict(inspection: Inspection) -> None:
    """Say first what to do with the answer, and why."""
    found = inspection.verdict
    with st.container(border=True, key="verdict"):
        left, right = st.columns([3, 2], gap="large")
        with left:
            st.subheader(HEADLINES[found.decision], anchor=False)
            st.caption("The model’s answer")
            st.code(charts.shown(found.answer), language=None, wrap_lines=True)
            st.text(found.reason)
        with right:
            st.markdown("**Doubt about a second answer**")
            figures.draw(
                charts.doubt(inspection, figures.palette()),
                key="doubt",
                alt_text=charts.doubt_alt(inspection),
            )
            st.caption("Dashed line: the threshold λ. Thick tick: what is certified.")


def scores(inspection: Inspection) -> None:
    """Show what was seen and all the scores, each with its unit and range."""
    st.subheader("Scores")
    with st.container(horizontal=True, key="scores"):
        st.metric(
            "Sampled mass",
            f"{inspection.sampled_mass:.1%}",
            help="The share of the model’s whole probability that the sampled answers hold. "
            "Scores over a small share mean little.",
            delta="0 to 100 %",
            **SCORE_CARD,
        )
        for name, info in SCORES.items():
            score = inspection.scores[name]
            value = "–" if score.value is None else f"{score.value:.3f}"
            st.metric(
                info.title,
                value if info.unit == "probability" else f"{value} nats",
                help=f"{info.symbol}: {info.explanation} {info.reference}.",
                delta=info.range,
                **SCORE_CARD,
            )
    st.text(inspection.caveat or inspection.verdict.threshold.origin)


# ----------------------------------------------------------------------------- clusters


def clusters(inspection: Inspection) -> None:
    """Show what counts as one answer: bars, and every text behind them."""
    st.subheader("Clusters")
    figures.draw(
        charts.clusters(inspection, figures.palette()),
        key="clusters",
        alt_text=charts.clusters_alt(inspection),
    )
    if len(inspection.clusters) > charts.MOST_BARS:
        st.text(f"The {charts.MOST_BARS} likeliest are drawn; the table has all.")
    st.dataframe(
        {
            "answer": [charts.shown(c.text) for c in inspection.clusters],
            "probability": [c.probability for c in inspection.clusters],
            "share of all probability": [c.mass for c in inspection.clusters],
            "samples": [c.samples for c in inspection.clusters],
            "distinct texts": [len(c.members) for c in inspection.clusters],
        },
        hide_index=True,
        key="cluster_table",
        alt="Every cluster with its probability, samples and number of texts",
    )
    with st.expander("Members of each cluster, with log-likelihoods"):
        members = [(c.text, *member) for c in inspection.clusters for member in c.members]
        st.dataframe(
            {
                "cluster": [charts.shown(m[0]) for m in members],
                "text": [charts.shown(m[1]) for m in members],
                "log-likelihood (nats)": [m[2] for m in members],
                "samples": [m[3] for m in members],
            },
            hide_index=True,
            key="members",
        )


# ------------------------------------------------------------------------- sampling more


def more(inspection: Inspection) -> None:
    """Extend the same evidence, to a number or until it certifies something."""
    st.subheader("Has enough been seen?")
    request = inspection.recording.request
    settled = is_settled(inspection.recording, inspection.reading)
    st.markdown(
        "The **certified lower bound** holds whatever was not sampled, so you may sample until "
        "you are content. It rises towards the model’s own mutual information, and stays near "
        "0 for what the model knows."
    )
    with st.container(horizontal=True):
        for samples in (30, 100, 300):
            st.button(
                f"Sample {samples}",
                key=f"sample_{samples}",
                disabled=request.samples >= samples,
                on_click=lambda k=samples: st.session_state.update(k=k),
            )
        st.button(
            "Sample until certified",
            key="certify",
            type="primary",
            on_click=_certify,
            args=(request, inspection.reading),
            disabled=settled is not None,
        )
    if settled:
        st.text(settled)
    draw_growth(inspection.recording, inspection.reading, "growth")


def _certify(request: Request, reading: Reading) -> None:
    job = recordings().certify(request, model("embedded"), reading)
    st.session_state["certifying"] = (request, job)


inspect()
