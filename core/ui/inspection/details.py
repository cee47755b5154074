"""Everything behind an inspection: pairs, members, prompts, responses, calls; and its files."""

from functools import partial

import streamlit as st

from core import prompts
from core.charts import inspection as charts
from core.charts import matrices
from core.language_models import true_false
from core.reports.inspection import document as reports
from core.reports.inspection import words
from core.store.results import Result
from core.studies.inspection import serialise
from core.studies.inspection.conditional_rows import conditional_rows
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.recording import LEFT_OUT, Estimator, Recording
from core.ui import downloads, figures
from core.ui.inspection.form import growth_of
from core.ui.inspection.matrices import columns, pairs
from core.ui.inspection.verdict import quotes
from core.ui.payment import spending
from core.ui.saved_result import otherwise


def details(inspection: Inspection) -> None:
    """Show pairs of answers, clusters, prompts, responses and calls."""
    st.markdown("**Pairs of answers**")
    pairs(inspection)
    st.markdown("**What counts as one answer**")
    clusters(inspection)
    st.markdown("**Prompts**")
    _prompts(inspection)
    st.markdown("**Responses**")
    _responses(inspection)
    st.markdown("**Calls and timings**")
    _calls(inspection.recording)


def files(inspection: Inspection, result: Result | None) -> None:
    """Offer a report, the inspection, its tables and its figures as files."""
    report = partial(reports.report, inspection, untaught=quotes(inspection))
    then = otherwise(result, inspection) if result else None
    downloads.report(report, "inspection", result, then)
    downloads.download(
        "Inspection (JSON)",
        partial(serialise.to_json, inspection),
        "inspection.json",
        help="Recompute it offline: python -m core inspect --from inspection.json",
    )
    downloads.download(
        "Responses (CSV)", lambda: serialise.to_csv_bytes(inspection), "responses.csv"
    )
    if quotes(inspection):
        downloads.csv("Pairs of answers (CSV)", partial(columns, inspection), "matrix")
        _figures(inspection)


def _figures(inspection: Inspection) -> None:
    """Offer every chart as PNG and SVG."""
    points = growth_of(inspection.recording, inspection.reading)
    pictures = {
        "nearness" if inspection.conceals else "doubt": reports.decisive_picture(inspection),
        "told": reports.conditional_answers(conditional_rows(inspection)),
        "clusters": reports.clusters(inspection),
        **{which: reports.matrix(inspection, which) for which in matrices.MATRICES},
        "growth": reports.growth_picture(points, inspection.withholding_bound),
    }
    for name, picture in pictures.items():
        figures.as_files(name, picture, inspection.query)


def _prompts(inspection: Inspection) -> None:
    recording, query = inspection.recording, inspection.recording.question
    front = recording.front
    if system := recording.request.system:
        st.text(words.SYSTEM[recording.system_turn])
        if recording.system_turn:
            st.code(system, language=None, wrap_lines=True)
    if recording.read_as:
        st.caption(
            "This model reads every question in small letters, without signs, accents or markup. "
            "However the question is typed, these are its prompts."
        )
    st.caption("Prompt without an answer (F₀)")
    st.code(front + prompts.iterative(query), language=None, wrap_lines=True)
    st.caption("Prompts with one answer each (F₁)")
    others = [text for text, _ in recording.others if text not in recording.texts]
    conditioned = [front + prompts.iterative(query, [text]) for text in (*recording.texts, *others)]
    st.code("\n\n———\n\n".join(conditioned), language=None, wrap_lines=True)
    st.caption("Prompts for self-verification, about each distinct answer")
    judging = [front + prompts.self_verification(query, text) for text in recording.texts]
    st.code("\n\n———\n\n".join(judging), language=None, wrap_lines=True)
    if compared := recording.pairs:
        st.caption("Prompt that compares two answers: the first pair")
        st.code(
            front + true_false.question(query, *compared[0][:2]), language=None, wrap_lines=True
        )


def _responses(inspection: Inspection) -> None:
    """List every answer, second ones and comparisons included."""
    recording, evidence = inspection.recording, inspection.evidence
    draws = recording.request.draws
    likelihood = dict(zip(evidence.responses, evidence.log_marginal, strict=True))
    st.dataframe(
        {
            **({"sample": range(1, len(recording.samples) + 1)} if draws else {}),
            "text": [charts.shown(s.text) for s in recording.samples],
            words.likelihoods(inspection): [likelihood.get(s.text) for s in recording.samples],
            "ended by itself": [s.complete for s in recording.samples],
        },
        hide_index=True,
        key="responses",
    )
    if len(recording.samples) < recording.request.samples:
        least = LEFT_OUT / recording.request.samples
        st.caption(f"Answers with less than {least:.2%} of the probability are left out.")
    greedy = recording.greedy_log_likelihood
    nats = "" if greedy is None else f" ({greedy:z.4f} nats)".replace("-", "−")
    st.text(f"Greedy response: {charts.shown(recording.greedy.text)}{nats}")
    if recording.seconds:
        rows = zip(recording.texts, recording.seconds, strict=True)
        pairs = [(text, second) for text, row in rows for second in row]
        st.caption("Answers after each of them was in the prompt")
        st.dataframe(
            {
                "answer in the prompt": [charts.shown(text) for text, _ in pairs],
                "next answer": [charts.shown(second.text) for _, second in pairs],
                "log-likelihood (nats)": [second.log_likelihood for _, second in pairs],
            },
            hide_index=True,
            key="second_answers",
        )
    if recording.others:
        st.caption("All answers are alike, so the model was told others")
        st.dataframe(
            {
                "answer in the prompt": [charts.shown(text) for text, _ in recording.others],
                "gives its own again (probability)": [share for _, share in recording.others],
            },
            hide_index=True,
            key="others",
        )
    if compared := recording.pairs:
        st.caption("How sure the model is that two of them mean the same, from 0 to 1")
        st.dataframe(
            {
                "one answer": [charts.shown(one) for one, _, _ in compared],
                "another": [charts.shown(other) for _, other, _ in compared],
                "mean the same": [sure for _, _, sure in compared],
            },
            hide_index=True,
            key="pairs",
        )


def _calls(recording: Recording) -> None:
    seed = f"seed {recording.request.seed}, " if recording.request.draws else ""
    st.text(
        f"Model {recording.model}, weights {recording.revision}, {seed}"
        f"{len(recording.calls)} calls, "
        f"{sum(call.seconds for call in recording.calls):.3f} s in the model."
    )
    if recording.used is not None:
        st.text(
            "The calls below were split into requests, and answered from the cache where "
            f"possible. Used of the service: {spending(recording.used, recording.model)}"
        )
    st.dataframe(
        {
            "purpose": [call.purpose for call in recording.calls],
            "texts found or scored": [call.sequences for call in recording.calls],
            "seconds": [call.seconds for call in recording.calls],
        },
        hide_index=True,
        key="calls",
    )


def clusters(inspection: Inspection) -> None:
    """Show what counts as one answer: bars, and every text behind them."""
    figures.show(reports.clusters(inspection), "clusters")
    counted = inspection.recording.estimator is Estimator.COUNTED
    draws = inspection.recording.request.draws
    if not counted:
        st.caption("Probabilities are the model’s own likelihoods, not counts of answers.")
    if len(inspection.clusters) > matrices.MOST_BARS:
        st.text(f"The {matrices.MOST_BARS} likeliest are shown; the table contains all.")
    st.dataframe(
        {
            "answer": [charts.shown(c.text) for c in inspection.clusters],
            "share of all probability": [c.mass for c in inspection.clusters],
            "share of what was found": [c.probability for c in inspection.clusters],
            **({"samples": [c.samples for c in inspection.clusters]} if draws else {}),
            "distinct texts": [len(c.members) for c in inspection.clusters],
        },
        column_config={
            name: st.column_config.NumberColumn(format="%.4f")
            for name in ("share of all probability", "share of what was found")
        },
        hide_index=True,
        key="cluster_table",
        alt="Every cluster with its probability and number of texts",
    )
    for why, count in inspection.recording.gaps.items():
        st.text(f"Without a share: {count:,} × {why}")
    st.caption(
        "Members of each cluster, with shares"
        if counted
        else "Members of each cluster, with log-likelihoods"
    )
    members = [(c.text, *member) for c in inspection.clusters for member in c.members]
    st.dataframe(
        {
            "cluster": [charts.shown(m[0]) for m in members],
            "text": [charts.shown(m[1]) for m in members],
            words.likelihoods(inspection): [m[2] for m in members],
            **({"samples": [m[3] for m in members]} if draws else {}),
        },
        hide_index=True,
        key="members",
    )
