"""Curves: computed once for all who ask, stopped and gone on with, and shown when ready."""

import threading

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.language_models.errors import ModelError
from core.reports.amplification.words import verdict
from core.studies.amplification.curve import FREQUENCY_REPETITIONS, SAMPLES_A_POINT, Case, amplify
from core.ui.amplification import curves as module
from core.ui.amplification.curves import CurveJobs
from core.ui.runs import widget
from tests.fakes import Counted, Short, Turning
from tests.patience import LONG, finished
from tests.sessions import said, texts, until

TIMES = (0, 1, 5)
A, B, C = (Case(f"{letter}?", "right", "wrong") for letter in "ABC")


class Gated(Turning):
    """Waits before it scores until the test lets it."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.gate, self.began = threading.Event(), threading.Event()

    def log_likelihoods(self, prompts, answers):
        self.began.set()
        assert self.gate.wait(LONG)
        return super().log_likelihoods(prompts, answers)


class Failing(Turning):
    """Goes away at one question."""

    at = "B?"

    def log_likelihoods(self, prompts, answers):
        if any(self.at in prompt for prompt in prompts):
            raise ModelError("The model went away. Start it again.")
        return super().log_likelihoods(prompts, answers)


# ------------------------------------------------------------------------------ the store


def test_the_same_curve_is_computed_once():
    model, every = Turning(), CurveJobs()
    finished(every.start([A, B], model, TIMES))
    assert len(model.asked) == 2
    finished(every.start([B, A], model, TIMES))
    (again,) = finished(every.start([B], model, TIMES)).result
    assert again is every.find(B, model, TIMES)
    assert len(model.asked) == 2


def test_another_case_model_or_number_of_repetitions_is_another_curve():
    model, other, every = Turning(), Turning(0.3), CurveJobs()
    finished(every.start([A], model, TIMES))
    assert every.find(B, model, TIMES) is None
    assert every.find(A, model, (0, 1)) is None
    assert every.find(A, other, TIMES) is None
    (theirs,) = finished(every.start([A], other, TIMES)).result
    assert theirs.model == other.name != every.find(A, model, TIMES).model
    trained_anew = Turning()
    trained_anew.revision = "2"
    assert every.find(A, trained_anew, TIMES) is None


def test_who_asks_while_it_is_computed_gets_the_same_job():
    model, every = Gated(), CurveJobs()
    job = every.start([A], model, TIMES)
    assert model.began.wait(LONG)
    assert every.start([A], model, TIMES) is job
    model.gate.set()
    assert finished(job).result == [amplify(A, Turning(), TIMES)]
    assert len(model.asked) == 1


def test_the_result_stands_in_the_order_of_the_cases_whatever_was_there_before():
    model, every = Turning(), CurveJobs()
    finished(every.start([B], model, TIMES))
    found = finished(every.start([A, B, C], model, TIMES)).result
    assert [one.case for one in found] == [A, B, C]
    assert len(model.asked) == 3


def test_a_stopped_job_keeps_what_it_has_and_is_gone_on_with():
    model, every = Gated(), CurveJobs()
    job = every.start([A, B, C], model, TIMES)
    assert model.began.wait(LONG)
    job.cancel()
    model.gate.set()
    assert finished(job).cancelled
    assert len(model.asked) == 1
    assert every.find(A, model, TIMES) and every.find(B, model, TIMES) is None
    again = every.start([A, B, C], model, TIMES)
    assert [one.case for one in finished(again).result] == [A, B, C]
    assert len(model.asked) == 3


def test_a_case_that_cannot_be_does_not_stop_the_others():
    model, every = Short(), CurveJobs()
    wordy = Case("B!", "right", "wrong")
    found = finished(every.start([A, wordy, C], model, (0, 1))).result
    assert [getattr(one, "case", None) for one in found] == [A, None, C]
    assert found[1] == every.find(wordy, model, (0, 1)) == "The prompt is too long. Shorten it."


def test_a_model_that_goes_away_loses_nothing_that_was_there():
    model, every = Failing(), CurveJobs()
    job = finished(every.start([A, B, C], model, TIMES))
    assert isinstance(job.error, ModelError) and not job.cancelled
    assert every.find(A, model, TIMES)
    assert every.find(B, model, TIMES) is every.find(C, model, TIMES) is None
    model.at = "nowhere"
    assert [one.case for one in finished(every.start([A, B, C], model, TIMES)).result] == [A, B, C]
    assert len(model.asked) == 3


def test_progress_counts_the_curves():
    model, every = Gated(), CurveJobs()
    finished(every.start([A], Turning(), TIMES))
    job = every.start([B, C], model, TIMES)
    assert model.began.wait(LONG)
    assert (job.stage, job.share) == ("Curve 1 of 2", 0.0)
    model.gate.set()
    finished(job)
    assert (job.stage, job.share) == ("Curve 2 of 2", 0.5)


def test_progress_of_a_single_curve_says_what_is_done():
    job = finished(CurveJobs().start([A], Counted(lambda told: ["right"]), FREQUENCY_REPETITIONS))
    assert (job.stage, job.share) == ("Sampling after 100 repetitions", 0.8)


def test_only_the_curves_used_last_are_kept(monkeypatch):
    monkeypatch.setattr(module, "KEPT", 2)
    model, every = Turning(), CurveJobs()
    finished(every.start([A, B], model, TIMES))
    assert every.find(A, model, TIMES)  # used again
    finished(every.start([C], model, TIMES))
    assert every.find(A, model, TIMES) and every.find(C, model, TIMES)
    assert every.find(B, model, TIMES) is None


# ------------------------------------------------------------------------------ on a page


def script():
    import streamlit as st

    from core.reports.amplification.words import verdict
    from core.ui.amplification.curves import curves

    cases, model, times = st.session_state["wanted"]
    found = curves(
        cases, model, times, key="here", so_far=lambda drawn: st.text(f"{len(drawn)} so far")
    )
    for one in found or []:
        st.text(one if isinstance(one, str) else f"{one.case.query} {verdict(one)}")


@pytest.fixture
def shown(monkeypatch):
    """What is computed is there after one run, however busy the machine."""
    monkeypatch.setattr(widget, "QUICK", LONG)
    st.cache_resource.clear()
    app = AppTest.from_function(script, default_timeout=LONG)

    def show(*cases, model, times=TIMES):
        app.session_state["wanted"] = (cases, model, times)
        app.run()
        assert not app.exception
        return app

    yield show
    st.cache_resource.clear()


def verdicts(*cases, model, times=TIMES):
    return [f"{case.query} {verdict(amplify(case, model, times))}" for case in cases]


def test_forgetting_curves_at_once_does_not_ask_for_ever(shown, monkeypatch):
    """More curves than can be kept are shown all the same."""
    monkeypatch.setattr(module, "KEPT", 1)
    model = Turning()
    for _ in range(3):
        assert texts(shown(A, B, C, model=model)) == verdicts(A, B, C, model=Turning())
    assert len(model.asked) <= 9


def test_what_is_there_is_drawn_while_others_are_computed_and_after_a_cancel(shown, monkeypatch):
    model, wordy = Gated(), Case("D?", "right", "wrong")
    model.gate.set()
    shown(A, B, model=model)
    monkeypatch.setattr(widget, "QUICK", 0.01)
    model.gate.clear()
    model.began.clear()
    app = shown(C, A, wordy, B, model=model)
    until(app, lambda: said(app, "2 so far"))
    app.button(key="cancel_here").click().run()
    assert texts(app) == ["Cancelled. Results so far are saved.", "2 so far"]
    model.gate.set()


def test_what_costs_calls_says_how_many_before_it_asks(shown):
    model = Counted(lambda told: ["right", "wrong"])
    each = SAMPLES_A_POINT * len(FREQUENCY_REPETITIONS)
    app = shown(A, B, model=model, times=FREQUENCY_REPETITIONS)
    app.run()
    assert any(f"{2 * each} calls" in text for text in texts(app))
    assert model.calls == 0
    app.button(key="pay_here").click().run()
    until(app, lambda: said(app, "A? "))
    assert model.calls == 2 * each

    app = shown(A, B, C, model=model, times=FREQUENCY_REPETITIONS)
    assert any(f"{each} calls" in text for text in texts(app))  # of the new one alone
    assert model.calls == 2 * each
    app.button(key="pay_here").click().run()
    until(app, lambda: said(app, "C? "))
    assert model.calls == 3 * each
