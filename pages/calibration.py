"""Calibration: labelled data in, a threshold that keeps its promise out."""

from functools import partial
from typing import Final

import streamlit as st

from core.studies.calibration.calibration import CalibrationError
from core.studies.calibration.result import CalibrationResult
from core.ui.calibration import policy
from core.ui.calibration.data import labelled_data, remember
from core.ui.calibration.diagnostics import comparison
from core.ui.calibration.directions import contradictions
from core.ui.calibration.holdout import confirmation, holding_back, holdout_split, new_scores
from core.ui.calibration.ledger import is_example
from core.ui.calibration.result import groups, promise, reading_of, reading_of_example
from core.ui.calibration.target import calibration_for, prices, target
from core.ui.calibration.threshold import threshold
from core.ui.folds import fold
from core.ui.header import page_header
from core.ui.messages import problem

BEHIND: Final = "calibration_behind"


def page() -> None:
    """Draw the page: what a person gives, the data and the target, and what comes out of them."""
    page_header("When should it answer?", decides=False)
    promised = st.container(key="promised")
    policy.banner()
    policy.reopen()
    bring, aim = st.columns(2, gap="large")
    with aim:
        st.header("2 Target", anchor=False)
        fields, costs = st.container(key="aims"), st.container()
        settings = st.expander("Method, score, rows held back")
    with bring:
        with (head := st.container(horizontal=True, vertical_alignment="center", key="data_head")):
            st.header("1 Data", anchor=False, width="content")
        data = labelled_data()  # after a reload, it knows what was chosen in `settings`
    with settings:
        hold = holding_back()
    with bring:
        if data is not None:
            halves = holdout_split(data) if hold else (data, None)
            data = None if halves is None else data
        if data is not None and halves is not None:
            rows, untouched = halves
            contradictions(rows)
    result = None
    try:
        chosen = target(None if data is None else rows, fields, settings)
        if data is not None:
            if is_example(data):
                with bring:
                    reading_of_example(data, head)
            else:
                reading_of(data.reading, data.reading_of_others)
            result = calibration_for(rows, chosen)
    except CalibrationError as error:
        problem(str(error))
    if data is None:
        st.text("The result follows once the data and the target are clear.")
    elif result is not None:
        with promised:
            promise(result)
        with costs:
            prices(result, rows)
        threshold(result)
        confirmation(result.calibration, untouched)
        new_scores(result.calibration)
    policy.bring()
    if result is not None:
        label, icon = "Behind it: groups, all scores", ":material/stacked_line_chart:"
        fold(label, partial(behind, result), key=BEHIND, icon=icon)
    remember()


def behind(result: CalibrationResult) -> None:
    """Draw what the threshold does in each group, and what other scores would do."""
    groups(result)
    comparison(result)


page()
