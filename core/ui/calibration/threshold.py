"""Moving λ by hand, and taking the policy along: use it, download it, decide with it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from core.abstention.policy import Policy, own_direction, to_json
from core.charts import calibration as charts
from core.reports.calibration import document as reports
from core.studies.calibration import calibration as study
from core.studies.calibration import new_rows
from core.studies.calibration.calibration import Calibration
from core.studies.calibration.whole import Whole
from core.studies.inspection.inspection import cannot_decide
from core.ui import downloads
from core.ui.calibration.answers import answers
from core.ui.calibration.policy import in_use, use
from core.ui.calibration.result import risk
from core.ui.calibration.rule import numbers
from core.ui.components.histogram import Cuts, Line, histogram
from core.ui.glossary import TERMS

STEPS = 200
WIDEST = 1e300  # what a browser's slider can span


@st.fragment
def threshold(whole: Whole) -> None:
    """Draw the scores with λ, let it be moved, and show what follows from where it stands.

    A fragment: moving λ recomputes this part of the page and nothing else.
    """
    calibration = whole.calibration
    key = f"{calibration.data.sha256[:12]}_{len(calibration.data.kept)}_{calibration.score}"
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**Scores of right and wrong answers**", help=TERMS["Threshold λ"])
        span = _span(calibration, key)
        policy, by_hand = (
            (calibration.policy, False) if span is None else _slider(calibration, span)
        )
        moved = policy if by_hand else None
        between = _histogram(whole, moved, span, f"histogram_{key}")
    with right:
        risk(whole, moved)
    if moved is not None:
        _side_by_side(calibration, moved)
    answers(calibration, policy.threshold if policy else -math.inf, between, key)
    st.header("4. Use")
    if policy is not None:
        _offers(whole, policy)
    else:
        _report(whole, None)


@dataclass(frozen=True)
class _Span:
    """Where λ can be moved, in the score's own direction, and where it stands first."""

    low: float
    high: float
    step: float
    start: float
    everything: float  # the end at which even the most doubtful is answered
    key: str


def _span(calibration: Calibration, key: str) -> _Span | None:
    """Return where λ can be moved by hand; say it where it cannot."""
    values, surer = (
        calibration.numbers[np.isfinite(calibration.numbers)],
        calibration.larger_is_surer,
    )
    if not len(values) or values.min() == values.max():
        st.text("All scores are equal: λ can only answer everything or nothing.")
        return None
    low, high = float(values.min()), float(values.max())
    step = high / STEPS - low / STEPS  # the difference itself can be infinite
    nothing = high if surer else low
    # One step further, to answer the most doubtful as well; at the surest, nothing is answered.
    everything = low - step if surer else high + step
    low, high = min(low, everything), max(high, everything)
    if low + step == low or high - step == high or high - low > WIDEST:
        st.text("The scores are too close together, or too far apart, to move λ by hand.")
        return None
    certified = (
        own_direction(calibration.policy.threshold, surer) if calibration.policy else nothing
    )
    start = min(max(certified, low), high)
    return _Span(low, high, step, start, everything, f"lambda_{key}_{start:.9g}")


def _slider(calibration: Calibration, span: _Span) -> tuple[Policy | None, bool]:
    """Let λ be moved; return the policy there, and whether it was moved."""
    value = st.slider(
        "λ by hand",
        span.low,
        span.high,
        span.start,
        span.step,
        format="%.3f" if 0.01 <= span.high - span.low <= 1e6 else "%.3e",
        key=span.key,
        persist_state="session",
        help="Moving λ shows what would happen on the labelled rows, and loses the guarantee. It "
        "can be dragged in the histogram, too.",
    )
    if value == span.start:
        return calibration.policy, False
    st.button(
        "Restore the certified λ" if calibration.policy else "Put λ back",
        key="back",
        on_click=_set,
        args=(span.key, span.start),
    )
    return study.move(calibration, _doubt(value, span, calibration.larger_is_surer)), True


def _doubt(value: float, span: _Span, surer: bool) -> float:
    """Return where λ stands as a doubt; endless at the end that answers everything."""
    is_everything = value <= span.everything if surer else value >= span.everything
    return math.inf if is_everything else own_direction(value, surer)


def _set(key: str, value: float) -> None:
    st.session_state[key] = value


def _drop(span: _Span, value: float) -> None:
    is_end = abs(value - span.everything) < span.step / 2
    _set(span.key, span.everything if is_end else value)


def _histogram(
    whole: Whole, moved: Policy | None, span: _Span | None, key: str
) -> tuple[float, float] | None:
    """Draw the scores under λ; return the range of them that a person selected."""
    calibration, shares = whole.calibration, whole.shares
    surer = calibration.larger_is_surer
    lines = [
        Line(own_direction(policy.threshold, surer), name, movable)
        for policy, name, movable in (
            (calibration.policy, "λ", moved is None),
            (moved, "by hand", True),
        )
        if policy is not None
    ]
    cuts: Cuts | None = None
    on_moved: Callable[[float], None] | None = None
    if span is not None:
        if not lines:
            lines = [Line(span.start, "λ", movable=True)]
        places = np.linspace(span.low, span.high, STEPS + 2)
        doubts = np.array([_doubt(value, span, surer) for value in places])
        cuts = Cuts(span.low, span.high, span.start, *whole.curves[calibration.score].below(doubts))
        on_moved = partial(_drop, span)
    policy = moved or calibration.policy
    own = None if policy is None else own_direction(policy.threshold, surer)
    side = "right" if surer else "left"
    return histogram(
        shares,
        lines,
        cuts,
        title=f"{'confidence' if surer else 'doubt'}: {charts.name_of(calibration.score)}",
        alt_text=charts.histogram_alt(shares, calibration.score, own),
        at_rest=(f"Believe answers {side} of the line. " if policy else "")
        + ("Drag the line to move λ. " if cuts else "")
        + "Drag across the bars to see the rows behind them.",
        on_moved=on_moved,
        key=key,
    )


def _side_by_side(calibration: Calibration, moved: Policy) -> None:
    """Show the certified threshold and the one that was moved, each with its own numbers."""
    left, right = st.columns(2, gap="large")
    with left, st.container(border=True, key="certified"):
        is_certified = calibration.policy is None or calibration.policy.has_guarantee
        st.markdown("**Certified**" if is_certified else "**Found by the rule**")
        if calibration.policy is None:
            st.text("No threshold is certified for this target.")
        else:
            numbers(calibration.policy)
    with right, st.container(border=True, key="moved"):
        st.badge("No guarantee", icon=":material/warning:", color="orange")
        numbers(moved)
        st.text(moved.sentence)


def _report(whole: Whole, moved: Policy | None) -> None:
    downloads.report(partial(reports.report, whole.calibration, moved, whole.prices), "calibration")


def _offers(whole: Whole, policy: Policy) -> None:
    calibration = whole.calibration
    reason = cannot_decide(policy)
    with st.container(horizontal=True):
        if st.button(
            "Use this policy",
            key="use_policy",
            type="primary" if policy.has_guarantee else "secondary",
            icon=":material/policy:",
            disabled=reason is not None,
            help="Verdicts on Inspection follow it from now on, in this session.",
        ):
            use(policy)
            st.rerun()  # all of the page: its top says what is in use
        _report(whole, policy if policy != calibration.policy else None)
        downloads.download("Policy (JSON)", lambda: to_json(policy), "policy.json")
        downloads.download(
            "Decisions (CSV)", lambda: new_rows.decisions(calibration.data, policy), "decisions.csv"
        )
    taken = charts.rule_of(policy.score, policy.threshold, policy.larger_is_surer)
    promised = "" if policy.has_guarantee else " Nothing is promised."
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
