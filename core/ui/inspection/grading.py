"""Beside a question of the embedded world: what is true, and how well it was decided."""

from __future__ import annotations

import streamlit as st

from core.studies.inspection.grading import Judgement
from core.studies.inspection.verdict import Verdict


def truth(judgement: Judgement, verdict: Verdict) -> None:
    """Say what is true, how often the model was told so, and whether the verdict was good."""
    decided = next(s for s in judgement.scores if s.name == verdict.threshold.score)
    did = "It answered, and was" if decided.answered else "It abstained; its answer was"
    with st.container(key="truth", gap="xsmall"):
        st.text(f"{did} {'right' if decided.right else 'wrong'}. {_what_is_true(judgement)}")
        st.text(_how_often_seen(judgement))


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
