"""Beside a question of the embedded world: what is true, and how each score decided."""

from __future__ import annotations

import math

import streamlit as st

from core.charts.inspection import shown
from core.studies.inspection.grading import Judgement, judge
from core.studies.inspection.inspection import Inspection
from core.ui.glossary import TERMS
from core.uncertainty.scores import SCORES


def truth(inspection: Inspection) -> None:
    """Hold the verdict and all scores against the truth, where it is known."""
    judgement = judge(inspection)
    if judgement is None:  # the verdict says so
        return
    st.subheader("Was it right?", help=TERMS["Band"])
    with st.container(border=True, key="truth"):
        st.text(_what_is_true(judgement))
        st.text(_how_often_seen(judgement))
        decided = next(s for s in judgement.scores if s.name == inspection.verdict.threshold.score)
        did = "It answered, and was" if decided.answered else "It abstained; its answer was"
        st.text(f"{did} {'right' if decided.right else 'wrong'}.")
    decisions(judgement)


def decisions(judgement: Judgement) -> None:
    """Show what every score would have done, and whether that was right."""
    st.dataframe(
        {
            "score": [SCORES[s.name].title for s in judgement.scores],
            "would": ["answer" if s.answered else "abstain" for s in judgement.scores],
            "with": [shown(s.answer) for s in judgement.scores],
            "which is": ["right" if s.right else "wrong" for s in judgement.scores],
            "decision": ["good" if s.well_decided else "bad" for s in judgement.scores],
            "abstains from doubt": [
                f"{s.threshold:.3f}" if math.isfinite(s.threshold) else "not certified"
                for s in judgement.scores
            ],
        },
        hide_index=True,
        key="decisions",
        alt="What every score would have decided, and whether that was right",
    )
    st.caption(
        "Each score decides by its own threshold, certified on the embedded model’s questions "
        "for at most 5% wrong answers; a score that could not be certified never answers. A "
        "single question proves little; see the model card."
    )


def _what_is_true(judgement: Judgement) -> str:
    fact = judgement.fact
    right = ", ".join(answer.text for answer in fact.answers)
    many = len(fact.answers)
    # A list holds what was taught: of most, such as fruits, nobody could name them all.
    of_many = "All right answers" if fact.closed else "Right answers in its training"
    what = f"{of_many} ({many})" if many > 1 else "The truth"
    return f"{what}: {right}{f' ({fact.note})' if fact.note else ''}"


def _how_often_seen(judgement: Judgement) -> str:
    fact = judgement.fact
    if not fact.exposures:
        return f"Band: {fact.band.value}. No training document asks this."
    believed = (
        f" In {fact.misconception_share:.0%} of them, the author believes {fact.misconception}."
        if fact.misconception_share
        else ""
    )
    return (
        f"Band: {fact.band.value}. {fact.exposures} training documents ask and answer this."
        f"{believed}"
    )
