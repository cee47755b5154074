"""Moving λ by hand, and taking the policy along: use it, download it, decide with it."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from core.abstention.policy import Policy, own_direction, to_json
from core.charts import calibration as charts
from core.studies.calibration import calibration as study
from core.studies.calibration import diagnostics, new_rows
from core.studies.calibration.calibration import Calibration
from core.studies.inspection.inspection import cannot_decide
from core.ui import downloads, figures
from core.ui.calibration.answers import answers
from core.ui.calibration.policy import in_use, use
from core.ui.calibration.result import risk
from core.ui.calibration.rule import numbers, rule_of
from core.ui.glossary import TERMS
from core.ui.session import remembered

STEPS = 200
WIDEST = 1e300  # what a browser's slider can span


@st.fragment
def threshold(found: Calibration) -> None:
    """Draw the scores with λ, let it be moved, and show what follows from where it stands.

    A fragment: moving the slider recomputes this part of the page and nothing else.
    """
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**Scores of right and wrong answers**", help=TERMS["Threshold λ"])
        policy, by_hand = _slider(found)
        moved = policy if by_hand else None
        key = f"histogram_{found.data.sha256[:12]}_{len(found.data.kept)}_{found.score}"
        _histogram(found, policy, moved, key)
    with right:
        risk(found, moved)
    if moved is not None:
        _side_by_side(found, moved)
    answers(found, policy.threshold if policy else -math.inf, key)
    st.header("4. Use")
    if policy is not None:
        _offers(found, policy)


def _histogram(found: Calibration, policy: Policy | None, moved: Policy | None, key: str) -> None:
    shares = remembered("shares", found, lambda: diagnostics.shares(found))
    figures.draw(
        charts.histogram,
        shares,
        found.score,
        _own(found.policy),
        _own(moved),
        found.larger_is_surer,
        key=key,
        alt_text=charts.histogram_alt(shares, found.score, _own(policy)),
        on_select="rerun",
        selects=charts.RANGE,
    )
    side = "right" if found.larger_is_surer else "left"
    st.caption(
        (f"Believe answers {side} of the line. " if policy else "")
        + "Square-root scale. Drag across the bars to see the rows behind them."
    )


def _own(policy: Policy | None) -> float | None:
    """Return λ in the score's own direction."""
    return None if policy is None else own_direction(policy.threshold, policy.larger_is_surer)


def _side_by_side(found: Calibration, moved: Policy) -> None:
    """Show the certified threshold and the one that was moved, each with its own numbers."""
    left, right = st.columns(2, gap="large")
    with left, st.container(border=True, key="certified"):
        is_certified = found.policy is None or found.policy.guaranteed
        st.markdown("**Certified**" if is_certified else "**Found by the rule**")
        if found.policy is None:
            st.text("No threshold is certified for this target.")
        else:
            numbers(found.policy)
    with right, st.container(border=True, key="moved"):
        st.badge("No guarantee", icon=":material/warning:", color="orange")
        numbers(moved)
        st.text(moved.sentence)


def _slider(found: Calibration) -> tuple[Policy | None, bool]:
    """Let λ be moved in the score's own direction; return the policy there, and whether it was."""
    values, surer = found.numbers[np.isfinite(found.numbers)], found.larger_is_surer
    if not len(values) or values.min() == values.max():
        st.text("All scores are equal: λ can only answer everything or nothing.")
        return found.policy, False
    low, high = float(values.min()), float(values.max())
    step = high / STEPS - low / STEPS  # the difference itself can be infinite
    nothing = high if surer else low
    # One step further, to answer the most doubtful as well; at the surest, nothing is answered.
    everything = low - step if surer else high + step
    low, high = min(low, everything), max(high, everything)
    if low + step == low or high - step == high or high - low > WIDEST:
        st.text("The scores are too close together, or too far apart, to move λ by hand.")
        return found.policy, False
    certified = own_direction(found.policy.threshold, surer) if found.policy else nothing
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
    st.button(
        "Restore the certified λ" if found.policy else "Put λ back",
        key="back",
        on_click=_set,
        args=(key, start),
    )
    is_everything = value <= everything if surer else value >= everything
    return study.moved(found, math.inf if is_everything else own_direction(value, surer)), True


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
    taken = rule_of(policy.score, policy.threshold, policy.larger_is_surer)
    promised = "" if policy.guaranteed else " Nothing is promised."
    st.text(f"What these take along: answer when {taken}.{promised}")
    if policy.pipeline is None:
        st.text(
            "The file does not say how its scores were made, so the policy can decide on such "
            "files, but not on inspections here."
        )
    elif reason:
        st.text(reason)
    elif in_use() == policy:
        st.text("In use: verdicts on Inspection follow this policy.")
