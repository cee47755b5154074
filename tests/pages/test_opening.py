"""“Use this model” where a server takes its time: it can be cancelled, and the page goes on."""

import threading

import pytest

from core.ui.runs import widget
from tests.language_models.openai_server import serving
from tests.sessions import (
    OWN,
    QUERY,
    choose,
    chosen,
    keys,
    metrics,
    said,
    session,
    texts,
    until,
)
from tests.wire.dripping import dripping

KEY = "sk-opening-0123456789"
LONG = 30  # seconds, of a wait that ends as soon as all is well; less than `dripping.HELD`
READY = "embedded: ready."

pytestmark = pytest.mark.usefixtures("on_ones_own")


def begin(app, url, name="m"):
    """Press “Use this model” for a server, and wait for nothing."""
    app.selectbox(key="model_kind").set_value("openai").run()
    app.selectbox(key="openai_preset").set_value(OWN).run()
    app.text_input(key="openai_url").set_value(url)
    app.text_input(key="openai_name").set_value(name)
    app.text_input(key="openai_key").set_value(KEY)
    app.run()
    return app.button(key="use_model").click().run()


@pytest.fixture
def slow():
    with dripping("headers") as server:
        yield server


def test_a_server_that_takes_its_time_holds_up_no_page(page, slow):
    before = metrics(page)
    begin(page, slow.base_url)
    assert said(page, f"openai:m@{slow.base_url}: embedded stays in use until it is ready.")
    assert "cancel_opening" in keys(page) and READY in texts(page)
    assert metrics(page) == before, "the page is there meanwhile"
    page.selectbox(key="model_kind").set_value("gemini").run()
    assert "gemini_name" in [field.key for field in page.text_input], "and does what one wants"
    page.button(key="cancel_opening").click().run()


def test_cancelling_leaves_the_request_and_the_model_before_stays(page, slow):
    begin(page, slow.base_url)
    assert slow.begun.wait(LONG)
    page.button(key="cancel_opening").click().run()
    assert slow.left.wait(LONG), "the server sees that nobody listens"
    assert said(page, f"You cancelled opening openai:m@{slow.base_url}. embedded stays in use.")
    assert READY in texts(page) and "cancel_opening" not in keys(page)
    assert not page.get("progress") and slow.connections == 1
    until(page.run(), lambda: said(page, "Used so far: 1 call."))


def test_after_cancelling_another_model_can_be_used(page, slow):
    begin(page, slow.base_url)
    page.button(key="cancel_opening").click().run()
    with serving("none") as server:
        chosen(page, server)
    assert not said(page, "You cancelled")


def test_another_model_takes_the_place_of_one_that_is_being_opened(page, slow):
    begin(page, slow.base_url)
    assert slow.begun.wait(LONG)
    with serving("none") as server:
        choose(page, server.base_url, server.model)
        assert said(page, f"{server.name}: ready.")
    assert slow.left.wait(LONG)
    page.run()
    assert said(page, f"{server.name}: ready.") and "cancel_opening" not in keys(page)


def test_what_is_being_opened_goes_along_and_is_used_when_it_is_there(monkeypatch):
    """It takes longer than the page waits for it."""
    release = threading.Event()
    monkeypatch.setattr(widget, "QUICK", 0.0)
    with serving("none", before=lambda *_: release.wait(LONG) and None) as server:
        page = session("inspection", q=QUERY)
        begin(page, server.base_url, server.model)
        assert "cancel_opening" in keys(page) and READY in texts(page)
        release.set()
        until(page, lambda: said(page, f"{server.name}: ready."))
        assert "cancel_opening" not in keys(page)
        wanted = len(server.exchanges)
        assert said(page, f"Used so far: {wanted} calls.")


def test_opening_that_fails_late_is_said(page, monkeypatch):
    monkeypatch.setattr(widget, "QUICK", 0.0)
    with serving("none", key="another") as server:
        choose(page, server.base_url, server.model, KEY)
    assert said(page, "The model you chose needs a key: ") and READY in texts(page)
