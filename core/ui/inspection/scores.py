"""What was seen, and all the scores, each with its unit and range."""

from typing import Any, Final

import streamlit as st

from core.charts import inspection as charts
from core.studies.costs import calls
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.recording import Estimator, Recording
from core.ui.glossary import TERMS
from core.ui.inspection.estimators import ladder
from core.ui.payment import spent
from core.uncertainty.scores import SCORES

# The line below a score is its possible range.
SCORE_CARD: Final[dict[str, Any]] = {"delta_color": "off", "delta_arrow": "off", "border": True}


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
            delta="estimated from counts" if counted else "0 to 100%",
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
    if inspection.likely:
        st.text(inspection.likely)
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
