"""Beside the estimator: the table of what every estimator is worth."""

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from core.studies.inspection.estimators import TITLES, measures, table
from core.studies.inspection.inspection import run
from core.studies.inspection.recording import Estimator
from core.studies.inspection.request import Request
from tests.fakes import QUERY, Limited, copies
from tests.patience import LONG
from tests.sessions import said, session

LABEL = "How good is this estimator?"


def script():
    import streamlit as st

    from core.ui.inspection.scores import ladder

    ladder(st.session_state["inspection"])


def shown(inspection):
    app = AppTest.from_function(script, default_timeout=LONG)
    app.session_state["inspection"] = inspection
    app.run()
    assert not app.exception
    return app


def frame(app):
    (found,) = [f.value for f in app.dataframe if "measured" in f.value.columns]
    return found


def test_the_page_shows_what_was_measured():
    app = session("inspection")
    (caption,) = [
        c.value for c in app.caption if f"same {measures().questions} questions" in c.value
    ]
    assert f"{measures().wrong:.0%} were answered wrongly" in caption
    expected = table(measures())
    found = frame(app)
    assert list(found["measured"]) == list(expected)
    assert found.iloc[:, 1:].to_numpy().tolist() == list(expected.values())
    here = f"{TITLES[Estimator.EXACT]} (used here)"
    assert list(found.columns[1:]) == [here, *list(TITLES.values())[1:]]
    assert not said(app, "may differ")


@pytest.mark.parametrize("estimator", [Estimator.CHAINED, Estimator.COUNTED])
def test_the_column_of_the_estimator_in_use_says_so(estimator):
    model = Limited(copies(3), own_log_likelihoods=estimator is Estimator.CHAINED)
    app = shown(run(Request(QUERY, 100), model))
    used = [column for column in frame(app).columns if column.endswith("(used here)")]
    assert used == [f"{TITLES[estimator]} (used here)"]
    assert said(app, "The model in use here may differ.")


def test_an_estimator_that_was_not_measured_says_so():
    class Prefix(Limited):
        def __init__(self, inner):
            super().__init__(inner, scores_given_text=True)
            self.capabilities = replace(self.capabilities, whole_answers=False)

    app = shown(run(Request(QUERY), Prefix(copies(3))))
    assert not [column for column in frame(app).columns if column.endswith("(used here)")]
    assert said(app, "without their end, used here, were not measured")
