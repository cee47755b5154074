"""What is seen of labels: noted in the ledger, so that a promise on them pays for a choice."""

import streamlit as st

from core.reports.evaluation.words import price_of_view
from core.studies.calibration.calibration import CalibrationError
from core.studies.evaluation.label_views import view
from core.studies.evaluation.results import Results
from core.ui.calibration.ledger import take
from core.ui.session import memory_of


def note_view(
    results: Results, target: tuple[float, float] | None = None, name: str = "results_view"
) -> None:
    """Note that results are seen, or what another target does to them; say what that costs.

    `name`: of the place on the page, for `memory_of`.
    """
    try:
        seen = memory_of(
            *(name, results),
            lambda: take(lambda earlier: view(results, earlier, target), lambda look: look),
            target,
        )
    except CalibrationError as error:
        st.text(str(error))
        return
    if seen is not None and (sentence := price_of_view(seen)):
        st.text(sentence)
