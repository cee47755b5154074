"""What runs on another page: how far it is, and the way back to it; what is asked from before."""

from typing import Any, Final

import streamlit as st

from core.ui import frame
from core.ui.messages import later
from core.ui.runs.widget import PageRun, running_behind, running_elsewhere, why_it_goes_on

_PAGES: Final = {
    "inspection": frame.inspection,
    "amplification": frame.amplification,
    "calibration": frame.calibration,
    "evaluation": frame.evaluation,
    "laboratory": frame.laboratory,
}
_NAMES: Final = {
    "inspection": "Inspection",
    "amplification": "Amplification",
    "calibration": "Calibration",
    "evaluation": "Evaluation",
    "laboratory": "Laboratory",
}


def draw() -> None:
    """Draw a button to what runs on another page, and one that ends what was asked before."""
    if running_behind() is not None:
        _end()
    if running_elsewhere(_PAGES) is not None:
        _button()


@st.fragment(run_every=1.0)
def _end() -> None:
    """Say how far what was asked before is, and let the person end it."""
    this = running_behind()
    if this is None or this.job is None:
        st.rerun()
    page, share = this.page, min(this.job.share, 1.0)
    st.button(
        f"Cancel {_NAMES[page]}: {share:.0%}",
        key="cancel_before",
        icon=":material/cancel:",
        help="A service is still asked what was wanted here before, and is paid, until it ends.",
        on_click=_leave,
        args=(this,),
    )


def _leave(this: PageRun[Any]) -> None:
    this.leave()
    if this.job is not None and not (this.job.cancelling or this.job.done):
        later(why_it_goes_on(this.job))  # its own page, which would say so, shows something else


@st.fragment(run_every=1.0)
def _button() -> None:
    """Say how far it is until it ends; the page is drawn anew then."""
    this = running_elsewhere(_PAGES)
    if this is None or this.job is None:
        st.rerun()
    page, share = this.page, min(this.job.share, 1.0)
    if st.button(f"{_NAMES[page]}: {share:.0%}", key="running", icon="spinner"):
        # With no parameters named, Streamlit refuses to leave a page whose address has bound ones.
        st.switch_page(_PAGES[page](), query_params={})
