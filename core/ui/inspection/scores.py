"""All the scores in one table, each against its own threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import streamlit as st

from core.charts import inspection as charts
from core.studies.costs import calls
from core.studies.inspection.grading import Judged, decisions
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.recording import Recording
from core.studies.inspection.verdict import SCORE
from core.ui.inspection.estimators import ladder
from core.ui.payment import spent
from core.uncertainty.scores import SCORES

FULL: Final = 2.0  # times its threshold: from here a score's bar is full
MOST: Final = 999.0  # times its threshold, as shown of what has no bounds


def scores(inspection: Inspection) -> None:
    """Show all the scores, what each would have done, and what was seen."""
    decided = decisions(inspection)
    names = list(SCORES)
    columns: dict[str, list[str] | list[float | None]] = {
        "score": [SCORES[name].title for name in names],
        "value": [_value(inspection, name) for name in names],
        "possible": [_range(inspection, name) for name in names],
        "doubt against λ": [_against(one) for one in decided],
        "answers": [_answers(one) for one in decided],
        "would": ["answer" if one.answered else "abstain" for one in decided],
        "with": [charts.shown(one.answer) for one in decided],
    }
    known = all(one.right is not None for one in decided)
    if known:
        columns["which is"] = ["right" if one.right else "wrong" for one in decided]
        columns["decision"] = ["good" if one.well_decided else "bad" for one in decided]
    st.dataframe(
        columns,
        column_config={
            "doubt against λ": st.column_config.ProgressColumn(
                min_value=0.0,
                max_value=FULL,
                format="%.2f λ",
                help="The doubt as a multiple of the score’s own threshold λ. From 1 on, it "
                "abstains. The doubt of a probability p is −ln p.",
            )
        },
        hide_index=True,
        height="content",
        key="scores",
        alt="Every score with its value, the answer it would serve, and how it would decide",
    )
    st.caption(
        "Each score decides by its own threshold λ. A score that could not be certified never "
        "answers." + (" A single question proves little; see the model card." if known else "")
    )
    st.text(f"Sampled mass: {inspection.sampled_mass:.1%} of the model’s probability.")
    if raised := _raised(inspection, decided):
        st.text(raised)
    for name in names:
        if reason := inspection.scores[name].reason:
            st.text(f"{SCORES[name].title}: {reason}")
    if inspection.likely:
        st.text(inspection.likely)
    st.text(inspection.verdict.threshold.origin)
    recording = inspection.recording
    st.text(f"Estimator: {recording.estimator.value}. {cost(recording)}")
    ladder(inspection)


def _raised(inspection: Inspection, decided: Sequence[Judged]) -> str | None:
    """Say why mutual information is doubted more than its value says, where it is."""
    value = inspection.scores[SCORE].value
    doubt = next(one.doubt for one in decided if one.name == SCORE)
    if value is None or doubt is None or doubt <= value:
        return None
    return (
        f"{SCORES[SCORE].title} counts as a doubt of {doubt:.3f} nats, not {value:z.3f}: so much "
        "is certified, or the model turned from its only answer when it was told others."
    )


def _value(inspection: Inspection, name: str) -> str:
    value = inspection.scores[name].value
    if value is None:
        return "–"
    written = f"{value:z.3f}".replace("-", "−")
    return f"{written} nats" if SCORES[name].unit == "nats" else written


def _range(inspection: Inspection, name: str) -> str:
    if SCORES[name].unit == "nats":
        return f"0 to {inspection.largest_information:.2f} (ln of the clusters)"
    return SCORES[name].range


def _answers(decided: Judged) -> str:
    """Say from which value on it answers, in the score's own direction."""
    if decided.threshold == -math.inf:
        return "never: not certified"
    info = SCORES[decided.name]
    side = "above" if info.larger_is_surer else "below"
    return f"{side} {info.value_at(decided.threshold):.3f}"


def _against(decided: Judged) -> float | None:
    """Return a doubt as a multiple of its threshold, `MOST` at most; None where it has none."""
    if decided.doubt is None or not math.isfinite(decided.threshold) or decided.threshold <= 0:
        return None
    return max(0.0, min(decided.doubt / decided.threshold, MOST))


def cost(recording: Recording) -> str:
    """Say what a recording took: of a service, or of this machine."""
    if recording.used is not None:
        return f"Used for all scores together: {spent(recording.used)}"
    return f"{calls(len(recording.calls))} to the model on this machine, for all scores together."
