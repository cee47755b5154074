"""Inspection: ask one question, read the verdict, and look at everything behind it."""

from collections.abc import Hashable
from functools import partial
from typing import Any, Final

import streamlit as st

from core.charts import inspection as charts
from core.language_models.errors import ModelError
from core.studies.amplification.gallery import propose
from core.studies.costs import calls
from core.studies.inspection.inspection import Inspection, read
from core.studies.inspection.recording import Estimator, Recording
from core.studies.inspection.request import InvalidRequestError, Request
from core.studies.inspection.serialise import from_json
from core.studies.inspection.stopping import is_settled
from core.studies.inspection.verdict import Decision
from core.ui import figures, frame, history
from core.ui.calibration import policy
from core.ui.glossary import TERMS
from core.ui.header import tools
from core.ui.inspection.details import details
from core.ui.inspection.estimators import ladder
from core.ui.inspection.form import ask, certify, draw_growth, record
from core.ui.inspection.grading import truth
from core.ui.inspection.matrices import matrices
from core.ui.messages import problem
from core.ui.model import current, embedded
from core.ui.payment import spent
from core.ui.results import keeper, save_inspection
from core.uncertainty.scores import SCORES

frame.require_app()

# The line below a score is its possible range.
SCORE_CARD: Final[dict[str, Any]] = {
    "delta_color": "off",
    "delta_arrow": "off",
    "border": True,
}


def inspect() -> None:
    """Draw the page, from the question down to the details."""
    st.title("Can I believe this answer?")
    st.markdown(
        "Ask a question. The model answers it several times; then it is told one of its answers, "
        "and asked again. **If that changes what it says, it does not know. If it does not, the "
        "model knows one answer, or many.**"
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        if current() is embedded():
            st.caption(
                "The model here is small and comes with the program: it knows a few thousand "
                "facts, some by heart, some badly, and makes up the rest. It is there to be "
                "doubted.",
                width="stretch",
            )
        else:
            st.text(current().name, width="stretch")
        tools()
    policy.banner()
    try:
        kept = history.opened("inspection")
        if kept is not None:
            inspection = from_json(kept.payload)
        else:
            request, reading = ask()
            kept_by_the_job = keeper(reading, policy.in_use(), asked_for=is_asked_for())
            recording = record(request, reading, kept_by_the_job)
            if recording is None:
                return
            inspection = read(recording, reading, policy=policy.in_use())
            keep(inspection)
    except (InvalidRequestError, ModelError) as error:
        problem(str(error))
        return
    verdict(inspection)
    truth(inspection)
    scores(inspection)
    clusters(inspection)
    matrices(inspection)
    amplified(inspection)
    if kept is None:
        more(inspection)
    details(inspection)
    if kept is None:
        id = st.session_state.get("kept_views", {}).get(view(inspection))
        history.permalink(id, partial(keep_view, inspection))


def keep(inspection: Inspection) -> None:
    """Keep a new inspection as it is first read; what nobody asked or paid for is not kept."""
    request = inspection.recording.request
    made = (inspection.recording.model, inspection.recording.revision, request)
    wanted = inspection.recording.used is not None or is_asked_for()
    if not wanted or st.session_state.get("kept_inspection") == made:
        return
    st.session_state["kept_inspection"] = made
    keep_view(inspection)


def is_asked_for() -> bool:
    """Say whether a person asked the question, which also stands here as an example."""
    return "q" in st.query_params or bool(st.session_state.get("ask"))


def keep_view(inspection: Inspection) -> None:
    """Keep an inspection as it is read and decided now, and remember under which id."""
    kept = st.session_state.get("kept_views", {})
    st.session_state["kept_views"] = {**kept, view(inspection): save_inspection(inspection)}


def view(inspection: Inspection) -> Hashable:
    """Return what tells one view of a recording from all others."""
    recording = inspection.recording
    made = (recording.model, recording.revision, recording.request)
    return (*made, inspection.reading, inspection.verdict.threshold)


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
            if inspection.caveat:
                st.text(inspection.caveat)
        with right:
            st.markdown("**Doubt about a second answer**", help=TERMS["Epistemic uncertainty"])
            figures.draw(
                charts.doubt(inspection, figures.palette()),
                key="doubt",
                alt_text=charts.doubt_alt(inspection),
            )
            st.caption(
                "Dashed line: the threshold λ. Thick tick: what is certified."
                if inspection.recording.estimator is Estimator.EXACT
                else "Dashed line: the threshold λ."
            )


def scores(inspection: Inspection) -> None:
    """Show what was seen and all the scores, each with its unit and range."""
    st.subheader("Scores")
    cards = iter([*st.columns(4), *st.columns(4)])
    counted = inspection.recording.estimator is Estimator.COUNTED
    with next(cards):
        st.metric(
            "Sampled mass",
            f"{inspection.sampled_mass:.1%}",
            help=TERMS["Sampled mass"],
            delta="estimated from counts" if counted else "0 to 100 %",
            **SCORE_CARD,
        )
    for name, info in SCORES.items():
        score = inspection.scores[name]
        value = "–" if score.value is None else f"{score.value:z.3f}"
        with next(cards):
            st.metric(
                info.title,
                f"{value} nats" if info.unit == "nats" and score.value is not None else value,
                help=f"{info.symbol}: {info.explanation} {info.reference}.",
                delta=f"0 to ln(clusters) = {inspection.largest_information:.2f}"
                if info.unit == "nats"
                else info.range,
                **SCORE_CARD,
            )
    st.text(inspection.verdict.threshold.origin)
    recording = inspection.recording
    st.text(f"Estimator: {recording.estimator.value}. {cost(recording)}")
    ladder(inspection)
    with st.expander("What each score would serve"):
        st.dataframe(
            {
                "score": [info.title for info in SCORES.values()],
                "symbol": [info.symbol for info in SCORES.values()],
                "value": [inspection.scores[name].value for name in SCORES],
                "unit": [info.unit for info in SCORES.values()],
                "doubt (larger: doubt more)": [inspection.scores[n].doubt for n in SCORES],
                "answer it would serve": [
                    charts.shown(inspection.scores[name].answer) for name in SCORES
                ],
            },
            hide_index=True,
            key="served",
        )


def cost(recording: Recording) -> str:
    """Say what a recording took: of a service, or of this machine."""
    if recording.used is not None:
        return f"Used for all scores together: {spent(recording.used)}"
    return f"{calls(len(recording.calls))} to the model on this machine, for all scores together."


# ----------------------------------------------------------------------------- clusters


def clusters(inspection: Inspection) -> None:
    """Show what counts as one answer: bars, and every text behind them."""
    st.subheader("Clusters", help=TERMS["Cluster"])
    figures.draw(
        charts.clusters(inspection, figures.palette()),
        key="clusters",
        alt_text=charts.clusters_alt(inspection),
    )
    counted = inspection.recording.estimator is Estimator.COUNTED
    if not counted:
        st.caption(
            "Probabilities are the model’s own likelihoods, not counts: how often a text "
            "happened to be drawn does not change them."
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
        column_config={
            "probability": st.column_config.NumberColumn(format="%.4f"),
            "share of all probability": st.column_config.NumberColumn(format="%.4f"),
        },
        hide_index=True,
        key="cluster_table",
        alt="Every cluster with its probability, samples and number of texts",
    )
    with st.expander(
        "Members of each cluster, with shares"
        if counted
        else "Members of each cluster, with log-likelihoods"
    ):
        members = [(c.text, *member) for c in inspection.clusters for member in c.members]
        st.dataframe(
            {
                "cluster": [charts.shown(m[0]) for m in members],
                "text": [charts.shown(m[1]) for m in members],
                inspection.likelihoods_are: [m[2] for m in members],
                "samples": [m[3] for m in members],
            },
            hide_index=True,
            key="members",
        )


# ------------------------------------------------------------------------- sampling more


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
            on_click=certify,
            args=(inspection.recording,),
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


def amplified(inspection: Inspection) -> None:
    """Offer to repeat one of its answers, ever more often."""
    if st.button("What does repeating an answer do here?", key="amplify", icon=":material/repeat:"):
        try:
            frame.amplify(inspection.query, *propose(inspection))
        except InvalidRequestError as error:
            problem(str(error))


inspect()
