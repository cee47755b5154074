"""The laboratory in a browser: the experiment and its settings stand in the address."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.server import at_rest, go_to

pytestmark = pytest.mark.browser


def test_an_experiment_and_its_settings_stand_in_the_address(address, open_page):
    page = open_page(f"{address}/laboratory")
    at_rest(page)
    expect(page.locator("[class*=st-key-claim_number]")).to_have_count(7)
    page.locator(".st-key-claim_estimator_open button").click()
    page.wait_for_url(re.compile("experiment=estimator"))
    at_rest(page)
    expect(page.get_by_text("With 1,000 draws")).to_be_visible()
    kinds = page.get_by_role("spinbutton", name="Coordinates n")
    kinds.fill("3")
    kinds.press("Enter")
    page.wait_for_url(re.compile("estimator_n=3"))
    at_rest(page)
    page.get_by_role("button", name="All claims").click()
    page.locator(".st-key-claim_missing_mass_open button").click()
    page.wait_for_url(re.compile("experiment=missing_mass"))
    expect(page).not_to_have_url(re.compile("estimator_n"))
    expect(page.get_by_text("After 10,000 draws")).to_be_visible()
    at_rest(page)
    kinds = page.get_by_role("spinbutton", name="Number of kinds")
    kinds.fill("50")
    kinds.press("Enter")
    page.wait_for_url(re.compile("missing_mass_kinds=50"))
    at_rest(page)
    page.reload()
    at_rest(page)
    expect(page.locator("code")).to_contain_text("laboratory missing_mass --kinds 50")
    go_to(page, "History")
    page.go_back()
    at_rest(page)
    expect(page.locator("code")).to_contain_text("laboratory missing_mass --kinds 50")
