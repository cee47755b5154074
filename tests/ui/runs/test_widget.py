"""A run on a page: agreed to, started, watched, cancelled or failed, and started again."""

import threading
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from core.language_models.errors import ModelError
from core.language_models.usage import Usage
from core.studies.costs import Plan
from core.ui.runs import scheduler, widget
from core.ui.runs.registry import Registry
from core.ui.session import PAGE
from tests.fakes import TableModel
from tests.patience import LONG
from tests.sessions import keys, said, texts, until

CANCELLED = "Cancelled. Results so far are saved."


class Work:
    """What sessions run here: each wish waits for the gate, and then is what is in `does`."""

    def __init__(self):
        self.registry, self.gate, self.begun = Registry(), threading.Event(), []
        self.does = lambda wish: f"{wish}, made"
        self.model = self.most = None

    def start(self, wish):
        def work(job):
            self.begun.append(wish)
            job.partial = f"{wish}, half"
            while not self.gate.wait(0.01):
                job.progress("Making it", 0.25)
            return self.does(wish)

        return self.registry.start(wish, work, self.model, most=self.most)


def script():
    import streamlit as st

    from core.ui.runs import chip
    from core.ui.runs.widget import run, running_elsewhere, want

    chip.draw()
    if st.session_state.get("looks"):
        st.text(f"elsewhere: {running_elsewhere(['inspection', 'evaluation']) is not None}")
        st.stop()
    work, wish, options = (st.session_state[name] for name in ("work", "wish", "options"))
    st.button("Make it", key="make", on_click=want, args=("here", wish))
    result = run(
        "here",
        wish,
        lambda: work.start(wish),
        beside=lambda job: st.text(f"beside: {job.partial}"),
        **options,
    )
    st.text(f"result: {result}")


@pytest.fixture
def work(monkeypatch):
    monkeypatch.setattr(widget, "QUICK", 0.01)
    work = Work()
    yield work
    work.gate.set()


@pytest.fixture
def opened(work):
    """Open the page in a session of its own."""

    def opened(wish="a", **options):
        app = AppTest.from_function(script, default_timeout=LONG)
        for name, value in {"work": work, "options": options, PAGE: "inspection"}.items():
            app.session_state[name] = value
        return wishing(app, wish)

    return opened


def wishing(app, wish):
    app.session_state["wish"] = wish
    return sound(app.run())


def press(app, key):
    return sound(app.button(key=key).click().run())


def sound(app):
    assert not app.exception
    return app


def job_of(app):
    return app.session_state["run_here"].job


def test_what_is_quick_is_there_at_once(work, opened, monkeypatch):
    monkeypatch.setattr(widget, "QUICK", LONG)
    work.gate.set()
    app = opened()
    assert texts(app) == ["result: a, made"] and keys(app) == ["make"]
    assert texts(app.run()) == ["result: a, made"] and work.begun == ["a"]


def test_what_takes_longer_is_watched_until_it_is_there(work, opened):
    app = opened()
    until(app, lambda: [bar.proto.text for bar in app.get("progress")] == ["Making it"])
    assert app.get("progress")[0].proto.value == 25
    assert "result: None" in texts(app) and "beside: a, half" in texts(app)
    assert app.button(key="cancel_here").label == "Cancel"
    work.gate.set()
    until(app, lambda: said(app, "result: a, made"))
    assert not app.get("progress") and keys(app) == ["make"] and work.begun == ["a"]


def test_after_a_cancel_nobody_starts_it_again_but_the_person(work, opened):
    app = opened()
    until(app, lambda: work.begun)
    job = job_of(app)
    press(app, "cancel_here")
    assert job.wait(LONG) and job.cancelled
    for _ in range(2):
        assert texts(app) == [CANCELLED, "beside: a, half", "result: None"]
        assert keys(app) == ["make", "again_here"] and not app.get("progress")
        app.run()
    assert work.begun == ["a"]
    work.gate.set()
    press(app, "again_here")
    until(app, lambda: said(app, "result: a, made"))
    assert work.begun == ["a", "a"] and keys(app) == ["make"]


def test_a_failure_is_said_and_tried_again_only_on_demand(work, opened):
    def failing(wish):
        raise ModelError("It went `$x$` away. Start it again.")

    work.does = failing
    work.gate.set()
    app = opened()
    until(app, lambda: said(app, "went `$x$` away"))
    for _ in range(2):
        assert texts(app.run()) == ["It went `$x$` away. Start it again.", "result: None"]
        assert app.button(key="again_here").label == "Try again"
    assert work.begun == ["a"]
    work.does = str.upper
    press(app, "again_here")
    until(app, lambda: said(app, "result: A"))


def test_where_nothing_is_to_be_tried_again_no_button_offers_it(work, opened):
    app = opened(retry=False, cancelled="Stopped.")
    press(app, "cancel_here")
    assert texts(app)[0] == "Stopped." and keys(app) == ["make"]


# ------------------------------------------------------------------- two who want the same


def test_one_persons_cancel_does_not_end_anothers_run(work, opened):
    one, two = opened(), opened()
    assert job_of(one) is job_of(two)
    press(one, "cancel_here")
    assert said(one, widget.GOES_ON) and not said(one, CANCELLED) and two.run().get("progress")
    assert not job_of(two).cancelling
    work.gate.set()
    until(two, lambda: said(two, "result: a, made"))
    assert said(one.run(), widget.GOES_ON) and work.begun == ["a"]
    press(one, "again_here")  # it is there
    until(one, lambda: said(one, "result: a, made"))
    assert work.begun == ["a"]


def test_who_leaves_what_somebody_else_asked_for_is_told_so(work, opened, monkeypatch):
    """There is no page of theirs on which it could be ended."""
    one, two = opened(), opened()
    job_of(two).owner = "alice"
    press(two, "cancel_here")
    assert said(two, widget.OF_ANOTHER) and not said(two, widget.GOES_ON)
    assert one.run().get("progress")


def test_who_left_may_watch_again_and_the_last_who_leaves_stops_it(work, opened):
    one, two = opened(), opened()
    press(one, "cancel_here")
    press(one, "again_here")
    assert one.get("progress")
    press(two, "cancel_here")
    assert one.run().get("progress") and not job_of(one).cancelling
    press(one, "cancel_here")
    assert job_of(one).wait(LONG) and job_of(one).cancelled


# ------------------------------------------------------------------------- another wish


def test_another_wish_takes_the_place_of_one_that_costs_only_time(work, opened):
    app = opened()
    before = job_of(app)
    wishing(app, "b")
    assert before.cancelling and not job_of(app).cancelling
    wishing(app, "a")  # it was not cancelled by the person: it begins anew
    assert app.get("progress")


def test_another_wish_is_not_held_up_by_one_that_ended(work, opened):
    app = opened()
    press(app, "cancel_here")
    work.gate.set()
    wishing(app, "b")
    until(app, lambda: said(app, "result: b, made"))


# ------------------------------------------------------------------------ on a press alone


def test_what_waits_for_a_press_is_not_started_without_one(work, opened):
    app = opened(on_press=True)
    assert texts(app.run()) == ["result: None"] and not work.begun
    press(app, "make")
    assert app.get("progress")
    before = job_of(app)
    press(app, "make")  # it is on its way
    assert job_of(app) is before
    wishing(app, "b")  # nobody has pressed for that
    assert before.cancelling and not app.get("progress")
    assert texts(wishing(app, "a")) == ["result: None"]


def test_too_many_runs_are_said(work, opened, monkeypatch):
    monkeypatch.setattr(scheduler, "MOST_A_SESSION", 0)
    app = opened()
    assert said(app, "Wait for one or cancel one") and not work.begun
    monkeypatch.setattr(scheduler, "MOST_A_SESSION", 1)
    work.gate.set()
    until(app, lambda: said(app, "result: a, made"))


# --------------------------------------------------------------------------- of a service


@pytest.fixture
def service(work):
    """A model that costs money, and has made three calls."""
    model = TableModel(["x", "y"], [0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
    model.capabilities = SimpleNamespace(local=False)
    model.meter.usage = Usage(3, 20, 10)
    work.model, work.most = model, 12
    return model


def test_of_a_service_the_cost_is_said_before_and_what_it_used_after(work, opened, service):
    app = opened(paid=(service, Plan(12, 100, 50)))
    assert said(app.run(), ": at most 12 calls and 150 tokens") and not work.begun
    press(app, "pay_here")
    assert said(app, "3 calls so far, of at most 12.")
    assert app.get("progress")[0].proto.value == 25
    press(app, "cancel_here")
    used = "Used so far: 3 calls, 20 tokens in and 10 out as the service counts them."
    assert said(app, CANCELLED) and said(app, used)
    work.gate.set()
    press(app, "again_here")  # agreed once is agreed
    until(app, lambda: said(app, "result: a, made"))
    assert not said(app, "Used so far")


def test_what_a_service_was_asked_goes_on_when_something_else_is_wanted(work, opened, service):
    app = opened()
    before = job_of(app)
    wishing(app, "b")
    assert not before.cancelling
    work.gate.set()
    until(app, lambda: said(app, "result: b, made"))
    assert before.wait(LONG) and before.result == "a, made"
    assert "cancel_before" not in keys(app.run())
    assert said(wishing(app, "a"), "result: a, made") and work.begun == ["a", "b"]


@pytest.mark.parametrize("options", [{}, {"on_press": True}])
def test_what_a_service_is_still_asked_is_said_and_can_be_ended(work, opened, service, options):
    def wished(wish):
        return wishing(wishing(app, wish), wish)  # AppTest loses what a rerun of its own draws

    app = opened(**options)
    if options:
        press(app, "make")
    before = job_of(app)
    assert "cancel_before" in keys(wished("b"))
    back = keys(wished("a"))
    assert "cancel_here" in back and ("cancel_before" in back) is not bool(options)  # that of “b”
    press(wished("b"), "cancel_before")
    until(app, lambda: before.cancelling or "cancel_before" not in keys(app))
    assert before.cancelling


def test_what_another_page_waits_for_goes_on_and_it_is_said(work, opened, service):
    app, other = opened(), opened()
    wishing(wishing(app, "b"), "b")
    press(app, "cancel_before")
    assert not job_of(other).cancelling and other.run().get("progress")
    assert app.session_state["problem_later"] == widget.GOES_ON


def test_what_is_said_on_the_way_is_what_was_announced_to_the_first(work, opened, service):
    opened()
    work.most = 4  # what is left by now
    assert said(opened(), "3 calls so far, of at most 12.")


def test_a_place_in_line_is_said(work, opened, monkeypatch):
    monkeypatch.setattr("core.ui.runs.job.HERE", scheduler.Scheduler(1, float("inf")))
    until(first := opened(), lambda: work.begun)
    opened("b")
    last = opened("c")
    assert [bar.proto.text for bar in last.get("progress")] == [
        "Second in line: one other run is computing"
    ]
    assert first.run().get("progress")[0].proto.text == "Making it"


@pytest.mark.parametrize(
    ("began", "here", "options", "is_said"),
    [
        ("evaluation", "inspection", {}, True),
        ("evaluation", "evaluation", {}, False),  # where it is watched
        ("history", "inspection", {}, False),  # to which no button leads
        ("evaluation", "inspection", {"everywhere": True}, False),
    ],
)
def test_what_runs_is_said_on_the_other_pages(work, began, here, options, is_said):
    app = AppTest.from_function(script, default_timeout=LONG)
    for name, value in {"work": work, "options": options, PAGE: began}.items():
        app.session_state[name] = value
    wishing(app, "a")
    app.session_state[PAGE], app.session_state["looks"] = here, True
    assert texts(sound(app.run())) == [f"elsewhere: {is_said}"]
