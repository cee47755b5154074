"""The list of prices: what every target would cost, and the smallest that can be promised."""

import streamlit as st

from core.data.tabular.labelled import LabelledRows
from core.reports.calibration.document import price_columns, share_answered
from core.studies.calibration.calibration import Calibration
from core.studies.calibration.price_list import Price, smallest
from core.studies.calibration.whole import CalibrationResult
from core.ui.calibration.ledger import is_example
from core.ui.calibration.target import want_prices, why
from core.ui.glossary import TERMS


def prices(whole: CalibrationResult, data: LabelledRows) -> None:
    """Show how much is answered for each target, and offer the smallest that can be promised.

    The list is a look at the labels, so it is there once somebody asks for it.
    """
    calibration, listed = whole.calibration, whole.prices
    if not listed:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "What each target costs",
                key="show_prices",
                icon=":material/price_change:",
                on_click=want_prices,
                args=(data, calibration.target),
                help=f"{TERMS['Price list']} The list is another look at these labels.",
            )
            if not is_example(data):
                st.text(
                    f"{why(calibration)} The list is another look at these labels.", width="stretch"
                )
        return
    st.markdown("**What each target costs**", help=TERMS["Price list"])
    best = smallest(listed)
    with st.container(horizontal=True, vertical_alignment="center"):
        if best is None:
            st.text("None of these targets can be promised on these labels.")
        elif not _is_promised(calibration, best.error):
            st.button(
                f"Promise at most {100 * best.error:.0f}%",
                key="promise",
                type="secondary" if calibration.policy else "primary",
                icon=":material/verified:",
                on_click=_take,
                args=(best.error,),
            )
        st.text(why(calibration), width="stretch")
    st.dataframe(
        price_columns(calibration, listed), hide_index=True, key="prices", alt=_words(listed)
    )


def _is_promised(calibration: Calibration, error: float) -> bool:
    is_promised = calibration.policy is not None and calibration.policy.method == "ltt"
    return is_promised and calibration.target.error <= error


def _take(error: float) -> None:
    st.session_state["wrong"], st.session_state["method"] = round(100 * error, 7), "ltt"


def _words(listed: tuple[Price, ...]) -> str:
    return "; ".join(f"at most {100 * each.error:.0f}%: {share_answered(each)}" for each in listed)
