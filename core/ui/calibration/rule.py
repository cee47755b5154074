"""The rule of a threshold as a person reads it, in the score's own direction."""

from __future__ import annotations

import math

import streamlit as st

from core.abstention.policy import Policy, own_direction
from core.charts.calibration import rule_of
from core.ui.glossary import TERMS


def numbers(policy: Policy) -> None:
    """Draw the four numbers of a policy, and when it answers."""
    first, second, third, fourth = st.columns(4)
    own = own_direction(policy.threshold, policy.larger_is_surer)
    is_plain = not own or 1e-3 <= abs(own) < 1e6
    value = f"{own:.3f}" if is_plain else f"{own:.3g}"
    endless = "∞" if own > 0 else "−∞"
    first.metric("Threshold λ", endless if math.isinf(own) else value, help=TERMS["Threshold λ"])
    second.metric("Answered", f"{policy.answered / policy.labels:.1%}", help=TERMS["Coverage"])
    wrong = f"{policy.errors / policy.answered:.1%}" if policy.answered else "–"
    third.metric(
        "Wrong among them", wrong, help=f"{policy.errors:,d} of {policy.answered:,d} answered."
    )
    fourth.metric(
        "Promised",
        f"≤ {100 * policy.target_error:.6g}%" if policy.has_guarantee else "nothing",
        help="The target, for new questions. Learn-then-Test: the share of wrong answers "
        "among those answered, at the confidence. Risk control: the share answered wrongly "
        "among all questions, on average.",
    )
    st.text("Answer when " + rule_of(policy.score, policy.threshold, policy.larger_is_surer) + ".")
