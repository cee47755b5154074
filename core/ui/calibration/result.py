"""The outcome of a calibration: the promise in words, its price in numbers, and the curve."""

from __future__ import annotations

import streamlit as st

from core.abstention.policy import Policy
from core.abstention.thresholds import Uncertifiable
from core.charts import calibration as charts
from core.studies.calibration.calibration import BEST, Calibration
from core.studies.calibration.whole import Whole
from core.ui import figures
from core.ui.calibration.rule import numbers
from core.ui.glossary import TERMS


def _level(found: Calibration) -> float:
    """Return the confidence of the bound: δ is shared by the targets and scores tried at once."""
    scores = len(found.data.doubts) if found.target.score == BEST else 1
    return 1 - (1 - found.target.confidence) / (found.target.targets_tried * scores)


def outcome(found: Calibration) -> None:
    """Say what is promised and what it costs, or why nothing can be."""
    with st.container(border=True, key="outcome"):
        if isinstance(found.outcome, Uncertifiable) or found.policy is None:
            st.badge("Cannot be certified", icon=":material/block:", color="red")
            if isinstance(found.outcome, Uncertifiable):
                st.text(found.outcome.reason)
        else:
            if found.policy.guaranteed:
                st.badge("Guaranteed", icon=":material/verified:", color="green")
            else:
                st.badge("No guarantee", icon=":material/warning:", color="orange")
            with st.container(key="promised"):
                st.text(found.policy.sentence)
            numbers(found.policy)
            if found.policy.method == "ltt":
                st.caption(
                    f"These rows by themselves suggest at most {found.outcome.upper_bound:.1%} "
                    f"(Clopper–Pearson, {_level(found):.1%}). That is a description and no "
                    "promise, because λ was chosen on the same rows."
                )
        for decision in found.data.decided:
            st.text(decision)
        if found.target.score == BEST:
            st.text(
                f"Best of {len(found.data.doubts)} scores, each tested at δ divided by "
                f"{len(found.data.doubts)}: {charts.name_of(found.score)}."
            )
        if found.policy is not None and found.policy.settings_tried > 1:
            st.caption(
                f"You have tried {found.policy.settings_tried:d} settings on these rows. The "
                "guarantee holds for a setting chosen in advance; picking the best of several "
                "afterwards weakens it. Confirm your choice on rows held back."
            )


def risk(whole: Whole, moved: Policy | None) -> None:
    """Draw the risk–coverage curve with its band, the certified point and a moved one."""
    found = whole.calibration
    curve = whole.curves[found.score]
    st.markdown("**Error against share answered**", help=TERMS["Risk–coverage curve"])
    if not len(curve.doubts):
        st.text("No labelled answer has a score.")
        return
    figures.draw(
        charts.risk_coverage,
        curve,
        found.policy,
        moved,
        found.target.error,
        found.target.confidence,
        found.larger_is_surer,
        key="risk_coverage",
        alt_text=charts.risk_coverage_alt(curve, found.policy, moved),
    )
    st.caption(
        "Dashed: the target. "
        + ("Diamond: the threshold. " if found.policy and found.policy.answered else "")
        + ("Circle: λ by hand. " if moved and moved.answered else "")
        + f"Band: the {100 * found.target.confidence:.4g}% interval at each point by itself."
    )
