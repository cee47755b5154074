"""Moving λ by hand, and taking the policy along: use it, download it, decide with it."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from core.abstention.policy import Policy, to_json
from core.charts import calibration as charts
from core.studies.calibration import calibration as study
from core.studies.calibration import diagnostics, new_rows
from core.studies.calibration.calibration import Calibration
from core.studies.inspection.inspection import cannot_decide
from core.ui import downloads, figures
from core.ui.calibration.policy import in_use, use
from core.ui.glossary import TERMS
from core.ui.session import remembered

STEPS = 200
WIDEST = 1e300  # what a browser's slider can span


@st.fragment
def threshold(found: Calibration) -> None:
    """Draw the doubts with λ, let it be moved, and offer what follows from where it stands.

    A fragment: moving the slider recomputes this part of the page and nothing else.
    """
    policy, by_hand = _slider(found)
    shares = remembered("shares", found, lambda: diagnostics.shares(found))
    certified = found.policy.threshold if found.policy else None
    st.markdown("**Doubt of right and wrong answers**", help=TERMS["Threshold λ"])
    figures.draw(
        charts.histogram,
        shares,
        found.score,
        certified,
        policy.threshold if by_hand and policy else None,
        key="histogram",
        alt_text=charts.histogram_alt(shares, found.score, policy.threshold if policy else None),
    )
    st.caption(("Believe answers left of the line. " if policy else "") + "Square-root scale.")
    if policy is None:
        return
    if by_hand:
        with st.container(border=True, key="moved"):
            st.badge("No guarantee", icon=":material/warning:", color="orange")
            st.text(policy.sentence)
            st.text(
                f"Answered {policy.answered / policy.labels:.1%}, observed error "
                f"{policy.errors / policy.answered:.1%}."
                if policy.answered
                else "Nothing is answered."
            )
    _offers(found, policy)


def _slider(found: Calibration) -> tuple[Policy | None, bool]:
    """Let λ be moved; return the policy there, and whether it was chosen by hand."""
    doubts = found.doubts[np.isfinite(found.doubts)]
    if not len(doubts) or doubts.min() == doubts.max():
        st.text("All doubts are equal: λ can only answer everything or nothing.")
        return found.policy, False
    low, high = float(doubts.min()), float(doubts.max())
    step = high / STEPS - low / STEPS  # the difference itself can be infinite
    high += step  # to answer the largest doubt as well; at the smallest, nothing is answered
    if low + step == low or high - low > WIDEST:
        st.text("The doubts are too close together, or too far apart, to move λ by hand.")
        return found.policy, False
    certified = found.policy.threshold if found.policy else low
    start = min(max(certified, low), high)
    key = f"lambda_{found.data.sha256[:12]}_{len(found.data.kept)}_{found.score}_{start:.9g}"
    value = st.slider(
        "λ by hand",
        low,
        high,
        start,
        step,
        format="%.3f" if 0.01 <= high - low <= 1e6 else "%.3e",
        key=key,
        persist_state="session",
        help="Moving λ shows what would happen on the labelled rows, and loses the guarantee.",
    )
    if value == start:
        return found.policy, False
    st.button("Restore the certified λ", key="back", on_click=_set, args=(key, start))
    return study.moved(found, math.inf if value >= high else value), True


def _set(key: str, value: float) -> None:
    st.session_state[key] = value


def _offers(found: Calibration, policy: Policy) -> None:
    reason = cannot_decide(policy)
    with st.container(horizontal=True):
        if st.button(
            "Use this policy",
            key="use_policy",
            type="primary",
            icon=":material/policy:",
            disabled=reason is not None,
            help="Verdicts on Inspection follow it from now on, in this session.",
        ):
            use(policy)
            st.rerun()  # all of the page: its top says what is in use
        downloads.download("Policy (JSON)", lambda: to_json(policy), "policy.json")
        downloads.download(
            "Decisions (CSV)", lambda: new_rows.decisions(found.data, policy), "decisions.csv"
        )
    if policy.pipeline is None:
        st.text(
            "The file does not say how its scores were made, so the policy can decide on such "
            "files, but not on inspections here."
        )
    elif reason:
        st.text(reason)
    elif in_use() == policy:
        st.text("In use: verdicts on Inspection follow this policy.")
