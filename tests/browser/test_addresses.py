"""The address that the first visitor of a fresh server comes by."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.server import inspected, question_of

pytestmark = pytest.mark.browser


def test_the_first_visitor_of_a_fresh_server_may_come_by_any_address(cold_address, open_page):
    """Streamlit has its own idea of a folder `pages` until somebody has opened the app."""
    page = open_page(f"{cold_address}/inspection?q=Name+a+fruit")
    expect(page.get_by_test_id("stTopNavLink")).to_have_count(6)
    inspected(page)
    expect(question_of(page)).to_have_count(1)
    expect(question_of(page)).to_have_value("Name a fruit")
    question_of(page).fill("Name a mammal")
    question_of(page).press("Enter")
    page.wait_for_url(re.compile("q=Name.a.mammal|q=Name%20a%20mammal"))
    expect(question_of(page)).to_have_count(1)


def test_a_tab_of_the_browser_says_what_is_in_it(address, open_page):
    page = open_page(address)
    expect(page).to_have_title("Believe")
    page.goto(f"{address}/calibration")
    expect(page).to_have_title("Calibration · Believe")
    page.goto(f"{address}/inspection?q=**Name**%20a%20<b>bird</b>.")
    expect(page).to_have_title("**Name** a <b>bird</b>. · Believe")
