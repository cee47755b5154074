"""The list of prices: what every target would cost, and the smallest that can be promised."""

from __future__ import annotations

import streamlit as st

from core.charts.calibration import name_of
from core.studies.calibration.calibration import BEST, Calibration
from core.studies.calibration.price_list import Price, price_list, smallest
from core.ui.calibration.rule import rule_of
from core.ui.calibration.target import why
from core.ui.glossary import TERMS
from core.ui.session import remembered


def prices(found: Calibration) -> None:
    """Show how much is answered for each target, and offer the smallest that can be promised."""
    target = found.target
    listed = remembered(
        "prices",
        found.data,
        lambda: price_list(found.data, target),
        (target.confidence, target.score),
    )
    st.markdown("**What each target costs**", help=TERMS["Price list"])
    best = smallest(listed)
    with st.container(horizontal=True, vertical_alignment="center"):
        if best is None:
            st.text("None of these targets can be promised on these labels.")
        elif not _is_promised(found, best.error):
            st.button(
                f"Promise at most {100 * best.error:.0f}%",
                key="promise",
                type="secondary" if found.policy else "primary",
                icon=":material/verified:",
                on_click=_take,
                args=(best.error,),
            )
        st.text(why(found), width="stretch")
    st.dataframe(_columns(found, listed), hide_index=True, key="prices", alt=_words(listed))


def _is_promised(found: Calibration, error: float) -> bool:
    """Say whether so small a target, or a smaller one, is promised already."""
    is_promised = found.policy is not None and found.policy.method == "ltt"
    return is_promised and found.target.error <= error


def _take(error: float) -> None:
    st.session_state["alpha"], st.session_state["method"] = error, "ltt"


def _columns(found: Calibration, listed: tuple[Price, ...]) -> dict[str, list[str]]:
    columns = {
        "at most wrong": [f"{100 * price.error:.0f}%" for price in listed],
        "answered": [_answered(price) for price in listed],
        "answer when": [
            rule_of(price.score, price.threshold.value, found.data.surer[price.score])
            if price.threshold and price.score
            else "–"
            for price in listed
        ],
    }
    if found.target.score == BEST:
        columns["score"] = [name_of(price.score) if price.score else "–" for price in listed]
    return columns


def _answered(price: Price) -> str:
    return f"{price.threshold.coverage:.1%}" if price.threshold else "cannot be promised"


def _words(listed: tuple[Price, ...]) -> str:
    return "; ".join(f"at most {100 * each.error:.0f}%: {_answered(each)}" for each in listed)
