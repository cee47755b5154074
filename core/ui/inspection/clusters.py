"""What counts as one answer: bars, and every text behind them."""

import streamlit as st

from core.charts import inspection as charts
from core.reports.inspection import document as reports
from core.reports.inspection import words
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.recording import Estimator
from core.ui import figures


def clusters(inspection: Inspection) -> None:
    """Show what counts as one answer: bars, and every text behind them."""
    figures.show(reports.clusters(inspection), "clusters")
    counted = inspection.recording.estimator is Estimator.COUNTED
    draws = inspection.recording.request.draws
    if not counted:
        st.caption("Probabilities are the model’s own likelihoods, not counts of answers.")
    if len(inspection.clusters) > charts.MOST_BARS:
        st.text(f"The {charts.MOST_BARS} likeliest are shown; the table contains all.")
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
