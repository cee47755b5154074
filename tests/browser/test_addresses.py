"""What stands in the address, and where Back and Forward of the browser go."""

import re

import pytest
from playwright.sync_api import expect

from core.studies.amplification.gallery import EXAMPLES as CASES
from core.studies.examples import EXAMPLES
from tests.browser.server import at_rest, go_to, inspected, question_of

pytestmark = pytest.mark.browser


def test_the_first_visitor_of_a_fresh_server_may_come_by_any_address(cold_address, open_page):
    """Streamlit has its own idea of a folder `pages` until somebody has opened the app."""
    page = open_page(f"{cold_address}/inspection?q=Name+a+fruit")
    expect(page.get_by_test_id("stTopNavLink")).to_have_count(7)
    inspected(page)
    expect(question_of(page)).to_have_count(1)
    expect(question_of(page)).to_have_value("Name a fruit")
    question_of(page).fill("Name a mammal")
    question_of(page).press("Enter")
    page.wait_for_url(re.compile("q=Name.a.mammal|q=Name%20a%20mammal"))
    expect(question_of(page)).to_have_count(1)


def test_a_page_that_is_opened_by_its_address_asks_for_nothing_that_is_not_there(
    address, open_page
):
    """By itself, Streamlit looks for its server below the page first: two errors in the console."""
    page, failed = open_page("about:blank"), []
    page.on("response", lambda reply: reply.status >= 400 and failed.append(reply.url))
    page.goto(f"{address}/history?search=a")
    at_rest(page)
    assert page.get_by_test_id("stTopNavLink").count() == 7 and not failed


def test_a_tab_of_the_browser_says_what_is_in_it(address, open_page):
    page = open_page(address)
    expect(page).to_have_title("Believe")
    page.goto(f"{address}/calibration")
    expect(page).to_have_title("Calibration · Believe")
    page.goto(f"{address}/inspection?q=**Name**%20a%20<b>bird</b>.")
    expect(page).to_have_title("**Name** a <b>bird</b>. · Believe")


def ask(page, question):
    question_of(page).fill(question)
    question_of(page).press("Enter")
    is_asked(page, question)


def is_asked(page, question):
    """The question stands in its field, and what is below answers it."""
    expect(page).to_have_title(f"{question} · Believe")
    expect(question_of(page)).to_have_value(question)
    expect(page.locator(".st-key-verdict")).to_be_visible()
    at_rest(page)


def test_back_and_forward_go_from_question_to_question(address, open_page):
    page = open_page(f"{address}/inspection?q=Name+a+fruit")
    is_asked(page, "Name a fruit")
    ask(page, "Name a mammal")
    page.get_by_test_id("stRadioGroup").get_by_text("A yellow fruit").click()
    is_asked(page, many := EXAMPLES["Many answers"])
    ask(page, "Name a bird")
    for question in (many, "Name a mammal", "Name a fruit"):
        page.go_back()
        is_asked(page, question)
    for question in ("Name a mammal", many, "Name a bird"):
        page.go_forward()
        is_asked(page, question)


def test_back_goes_to_the_question_as_it_was_left(address, open_page):
    page = open_page(f"{address}/inspection")
    is_asked(page, EXAMPLES["Known"])
    ask(page, "Name a mammal")
    page.get_by_text("Settings").first.click()
    samples = page.get_by_role("spinbutton", name="Number of answers k")
    samples.fill("5")
    samples.press("Enter")
    page.wait_for_url(re.compile("k=5"))
    at_rest(page)
    go_to(page, "History")
    page.go_back()
    is_asked(page, "Name a mammal")
    expect(page).to_have_url(re.compile("k=5"))
    page.go_forward()
    expect(page).to_have_url(f"{address}/history")
    at_rest(page)
    go_to(page, "Inspection")  # by the navigation, which knows no question
    is_asked(page, "Name a mammal")
    page.go_back()
    expect(page).to_have_url(f"{address}/history")
    at_rest(page)
    page.go_back()
    is_asked(page, "Name a mammal")
    page.go_back()
    is_asked(page, EXAMPLES["Known"])


def test_back_goes_from_curve_to_curve_and_from_tab_to_tab(address, open_page):
    page = open_page(f"{address}/amplification")
    at_rest(page)
    page.get_by_role("tab", name="Your question").click()
    expect(question_of(page)).not_to_have_value("")
    first = question_of(page).input_value()
    at_rest(page)
    page.locator("label", has_text="A yellow fruit").click()
    expect(question_of(page)).to_have_value(second := CASES["Many answers"].query)
    at_rest(page)
    page.get_by_role("tab", name="Mechanism").click()
    expect(question_of(page)).to_have_count(0)
    at_rest(page)
    page.go_back()
    expect(question_of(page)).to_have_value(second)
    at_rest(page)
    page.go_back()
    expect(question_of(page)).to_have_value(first)
    at_rest(page)
    page.go_forward()
    expect(question_of(page)).to_have_value(second)
    right = page.get_by_role("textbox", name="Answer to test")
    expect(right).to_have_value(CASES["Many answers"].answer)
