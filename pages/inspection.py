"""Inspection: ask one question, read the verdict, and look at everything behind it."""

from functools import partial
from typing import Any, Final, Literal, TypeVar

import streamlit as st

from core import prompts
from core.charts import inspection as charts
from core.language_models.base import ModelError
from core.studies import saved
from core.studies.inspection import Inspection, Reading, growth, is_settled, read
from core.studies.recording import (
    MAX_QUERY_CHARACTERS,
    MAX_SAMPLES,
    InvalidRequestError,
    Recording,
    Request,
)
from core.studies.verdict import Decision, default_threshold
from core.ui import figures, frame
from core.ui.jobs import Job
from core.ui.messages import problem
from core.ui.recordings import model, recordings
from core.uncertainty.scores import SCORES
from core.uncertainty.similarity import SIMILARITIES

frame.require_app()

Number = TypeVar("Number", int, float)

EXAMPLES = {
    "Known": "What is the capital of France?",
    "Half known": "Which actor became M in the Bond film Skyfall?",
    "Unknown": "What is the capital of Zorvania?",
    "Many answers": "Name a yellow fruit.",
    "Nonsense": "asdf qwer zxcv",
}
# The line below a score is its possible range; 236 pixels hold the longest title.
SCORE_CARD: Final[dict[str, Any]] = {
    "delta_color": "off",
    "delta_arrow": "off",
    "border": True,
    "width": 236,
}
QUICK = 0.8  # seconds: an answer that comes sooner is shown without a progress bar


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
        recording = record(request)
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


# ------------------------------------------------------------------------- the question


def ask() -> tuple[Request, Reading]:
    """Let the person type, and return what to ask and how to read it. All in the URL."""
    if samples := st.session_state.pop("next_samples", None):
        st.session_state["k"] = samples
    query = st.text_input(
        "Question",
        EXAMPLES["Known"],
        max_chars=MAX_QUERY_CHARACTERS,
        key="q",
        bind="query-params",
        persist_state="session",
        placeholder="Type a question and press Enter",
    )
    with st.container(horizontal=True, gap="small"):
        for name, question in EXAMPLES.items():
            st.button(
                name, key=f"example_{name}", help=question, on_click=_ask_for, args=(question,)
            )
    with st.expander("Settings", icon=":material/tune:"):
        asking, seeing = st.columns(2)
        with asking:
            st.caption("Changing these asks the model")
            samples = _number("Samples k", "k", 10, 1, MAX_SAMPLES, 1)
            temperature = _number(
                "Temperature of the sampling", "temperature", 0.9, 0.05, 2.0, 0.05
            )
            seed = _number("Seed", "seed", 0, 0, 2**32 - 1, 1)
        with seeing:
            st.caption("Changing these asks nothing: the same answers are read again")
            similarity = st.selectbox(
                "Similarity of two answers",
                list(SIMILARITIES),
                key="similarity",
                bind="query-params",
                persist_state="session",
                help="When two texts count as one answer.",
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
                help="Texts at least this similar share a cluster. The paper takes 0.25.",
            )
            gamma_1 = _number("Stabilisation γ₁", "gamma_1", 0.0, 0.0, 1.0, 0.01)
            gamma_2 = _number("Stabilisation γ₂", "gamma_2", 0.0, 0.0, 1.0, 0.01)
    return (
        Request(query or "", samples, temperature, seed),
        Reading(similarity, threshold, gamma_1, gamma_2),
    )


def _number(label: str, key: str, value: Number, low: Number, high: Number, step: Number) -> Number:
    return st.number_input(
        label, low, high, value, step, key=key, bind="query-params", persist_state="session"
    )


def _ask_for(question: str) -> None:
    st.session_state["q"] = question


def record(request: Request) -> Recording | None:
    """Return the recording, or None while the model is still being asked."""
    made = recordings().find(request, model("embedded"))
    certifying = st.session_state.get("certifying")
    if certifying and certifying[0] == request:
        _watch(certifying[1], "certify")
        return made
    if made:
        return made
    job = recordings().ask(request, model("embedded"))
    if not job.wait(QUICK):
        _watch(job, "ask")
        return None
    return _outcome(job)


@st.fragment(run_every=0.5)
def _watch(job: Job[Recording], purpose: str) -> None:
    """Show how far a job is, let the person stop it, and redraw the page when it is done."""
    if job.done:
        if purpose == "certify":
            st.session_state.pop("certifying", None)
            if job.partial:
                st.session_state["next_samples"] = job.partial.request.samples
        st.rerun()
    if job.partial and purpose == "certify":
        _draw_growth(job.partial, f"growing_{job.partial.request.samples}")
    st.progress(min(job.share, 1.0), job.stage)
    st.button("Cancel", on_click=job.cancel, key=f"cancel_{purpose}")


def _outcome(job: Job[Recording]) -> Recording | None:
    if job.cancelled:
        problem("Cancelled. Ask again, or ask for fewer samples.")
        return None
    if job.error:
        raise job.error
    return job.result


# -------------------------------------------------------------------------- the verdict

HEADLINES: Final[dict[Decision, tuple[str, Literal["green", "red", "orange"], str]]] = {
    Decision.ANSWER: ("Answer", "green", ":material/check_circle:"),
    Decision.ABSTAIN: ("Abstain", "red", ":material/block:"),
    Decision.TOO_LITTLE: ("Too little sampled to say", "orange", ":material/help:"),
}


def verdict(inspection: Inspection) -> None:
    """Say first what to do with the answer, and why."""
    found = inspection.verdict
    text, colour, icon = HEADLINES[found.decision]
    with st.container(border=True, key="verdict"):
        left, right = st.columns([3, 2], gap="large")
        with left:
            st.badge(text, color=colour, icon=icon)
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
    st.text(inspection.verdict.threshold.origin)


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


# ----------------------------------------------------------------------------- matrices


def matrices(inspection: Inspection) -> None:
    """Joint, product and contribution side by side, and the chosen cell in full."""
    st.subheader("Joint, product, and what each pair contributes")
    st.markdown(
        "Rows are the answer the model was **told**, columns the answer it gave **then**. Where "
        "the joint differs from the product, the second answer depends on the first. Choose a "
        "cell to see the prompt behind it."
    )
    names = [charts.shown(c.text) for c in inspection.clusters]
    if note := charts.matrix_note(inspection):
        st.text(note)
    for column, which in zip(st.columns(3), charts.MATRICES, strict=True):
        with column:
            st.altair_chart(
                charts.matrix(inspection, which, figures.palette()),
                theme=None,
                key=f"matrix_{which}",
                alt=charts.matrix_alt(inspection, which),
                on_select=_choose_cell,
                selection_mode="cell",
            )
    _cell(inspection, names)
    with st.expander("The same as a table"):
        information = inspection.evidence.mutual_information
        m = len(names)
        st.dataframe(
            {
                "told first": [name for name in names for _ in range(m)],
                "then answers": names * m,
                "joint": information.joint.ravel(),
                "product": information.product.ravel(),
                "contribution (nats)": information.contributions.ravel(),
            },
            hide_index=True,
            key="matrix_table",
        )


def _choose_cell() -> None:
    """Take over the cell that was clicked last, in whichever of the three matrices."""
    for which in charts.MATRICES:
        chosen = st.session_state[f"matrix_{which}"].selection.cell
        if chosen and chosen != st.session_state.get(f"seen_{which}"):
            st.session_state[f"seen_{which}"] = chosen
            st.session_state["first"] = int(chosen[0]["row"])
            st.session_state["second"] = int(chosen[0]["column"])


def _cell(inspection: Inspection, names: list[str]) -> None:
    """Show one entry: both probabilities, its term, the exact prompt, the likelihoods."""
    for key in ("first", "second"):  # a selection outlives the clusters it was made in
        if st.session_state.get(key, 0) >= len(names):
            st.session_state[key] = 0
    with st.container(border=True, key="cell"):
        left, right = st.columns(2)
        options, name = range(len(names)), names.__getitem__
        first = left.selectbox("Told first", options, format_func=name, key="first")
        second = right.selectbox("Then answers", options, format_func=name, key="second")
        cell = inspection.cell(first, second)
        with st.container(horizontal=True):
            st.metric("Joint", f"{cell.joint:.4f}", help="μ̂(first, second), a probability")
            st.metric("Product", f"{cell.product:.4f}", help="μ̂⊗(first, second), a probability")
            st.metric(
                "Contribution",
                f"{cell.contribution:+.4f} nats",
                help="joint · ln(joint / product); the sum over all cells is M.I.",
            )
        st.caption("The exact prompt of this row")
        st.code(cell.prompt, language=None, wrap_lines=True)
        st.caption("Log-likelihoods under this prompt, of the texts in this column")
        st.dataframe(
            {
                "text": [charts.shown(text) for text, _ in cell.log_likelihoods],
                "log-likelihood (nats)": [value for _, value in cell.log_likelihoods],
            },
            hide_index=True,
            key="cell_table",
        )


# ------------------------------------------------------------------------- sampling more


def more(inspection: Inspection) -> None:
    """Extend the same evidence, to a number or until it certifies something."""
    st.subheader("Has enough been seen?")
    request = inspection.recording.request
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
            args=(request,),
            disabled=request.samples >= MAX_SAMPLES,
        )
    if reason := is_settled(inspection.recording):
        st.text(reason)
    _draw_growth(inspection.recording, "growth")


def _certify(request: Request) -> None:
    job = recordings().certify(request, model("embedded"))
    st.session_state["certifying"] = (request, job)


def _draw_growth(recording: Recording, key: str) -> None:
    points = growth(recording)
    figures.draw(
        charts.growth(points, default_threshold().value, figures.palette()),
        key=key,
        alt_text=charts.growth_alt(points),
    )


# ------------------------------------------------------------------------------ details


def details(inspection: Inspection) -> None:
    """Everything else: prompts, responses, calls, and files to take along."""
    st.subheader("Details")
    recording, query = inspection.recording, inspection.query
    with st.container(horizontal=True):
        st.download_button(
            "Inspection (JSON)",
            lambda: saved.to_json(inspection),
            file_name="inspection.json",
            mime="application/json",
            on_click="ignore",
            help="Recompute it offline: python -m core inspect --from inspection.json",
        )
        st.download_button(
            "Responses (CSV)",
            lambda: saved.to_csv_bytes(inspection),
            file_name="responses.csv",
            mime="text/csv",
            on_click="ignore",
        )
    with st.expander("Figures as PNG and SVG"):
        palette = figures.palette()
        figures.downloads("doubt", "Doubt", partial(charts.doubt, inspection, palette))
        figures.downloads("clusters", "Clusters", partial(charts.clusters, inspection, palette))
        for which, title in charts.MATRICES.items():
            figures.downloads(which, title, partial(charts.matrix, inspection, which, palette))
        threshold = inspection.verdict.threshold.value
        figures.downloads(
            "growth", "Growth", lambda: charts.growth(growth(recording), threshold, palette)
        )
    with st.expander("Prompts"):
        st.caption("Asked without telling anything (F₀)")
        st.code(prompts.iterative(query), language=None, wrap_lines=True)
        st.caption("Asked after telling the model each distinct answer (F₁)")
        told = [prompts.iterative(query, [text]) for text in recording.texts]
        st.code("\n\n———\n\n".join(told), language=None, wrap_lines=True, height=260)
        st.caption("Asked for self-verification, about each distinct answer")
        asked = [prompts.self_verification(query, text) for text in recording.texts]
        st.code("\n\n———\n\n".join(asked), language=None, wrap_lines=True, height=260)
    with st.expander("Responses"):
        likelihood = dict(zip(recording.texts, recording.log_likelihoods[0], strict=True))
        st.dataframe(
            {
                "sample": range(1, len(recording.samples) + 1),
                "text": [charts.shown(s.text) for s in recording.samples],
                "log-likelihood (nats)": [likelihood[s.text] for s in recording.samples],
                "ended by itself": [s.complete for s in recording.samples],
            },
            hide_index=True,
            key="responses",
        )
        st.text(
            f"Greedy response: {charts.shown(recording.greedy.text)} "
            f"({recording.greedy_log_likelihood:.4f} nats)"
        )
    with st.expander("Calls and timings"):
        st.text(
            f"Model {recording.model}, weights {recording.revision}, seed "
            f"{recording.request.seed}, {len(recording.calls)} calls, "
            f"{sum(call.seconds for call in recording.calls):.3f} s in the model."
        )
        st.dataframe(
            {
                "purpose": [call.purpose for call in recording.calls],
                "texts drawn or scored": [call.sequences for call in recording.calls],
                "seconds": [call.seconds for call in recording.calls],
            },
            hide_index=True,
            key="calls",
        )


inspect()
