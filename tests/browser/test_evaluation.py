"""The page "Evaluation" as a person uses it: a run begun, found again after a reload, cancelled."""

import pytest
from playwright.sync_api import expect

from tests.browser.server import screens, too_wide, unfold

pytestmark = pytest.mark.browser


def test_a_run_survives_a_reload_and_is_cancelled_and_deleted(address, open_page):
    page = open_page(f"{address}/evaluation?results=Rows")  # which takes no resampling
    expect(page.get_by_text("300 questions, the 8 likeliest answers")).to_be_visible()
    unfold(page, "New run")
    for _ in screens(page):
        assert too_wide(page) <= 0
    page.set_viewport_size({"width": 1280, "height": 1000})
    number = page.get_by_role("spinbutton", name="Questions at most")
    number.fill("2900")  # which takes longer than a reload
    number.press("Enter")
    expect(page.get_by_text("embedded world: 2,900 questions, drawn at random")).to_be_visible()
    page.get_by_role("button", name="Start", exact=True).click()
    cancel = page.get_by_role("button", name="Cancel", exact=True)
    expect(cancel).to_be_visible()
    page.wait_for_url(lambda url: "run=" in url)
    expect(number).to_have_count(0)  # the fold has made room
    page.reload()
    expect(page.get_by_text(" of 2,900 questions").first).to_be_visible()
    cancel.click()
    expect(page.get_by_text("Cancelled. Finished questions are saved.")).to_be_visible()
    go_on = page.get_by_role("button", name="Go on with")
    expect(go_on).to_be_visible()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete permanently").click()
    expect(go_on).to_have_count(0)
    page.wait_for_url(lambda url: "run=" not in url)


def test_rows_go_to_calibration_from_any_tab(address, open_page):
    page = open_page(f"{address}/evaluation?results=Rows")
    page.get_by_role("button", name="Calibrate on these rows").click()
    page.wait_for_url("**/calibration")  # nothing of the tab's is left in the address
    expect(page.get_by_text("embedded world (run).csv: 300 rows")).to_be_visible()


def test_an_open_page_takes_the_colours_of_another_theme(address, open_page):
    page = open_page(f"{address}/evaluation")
    ground = page.locator("[data-testid=stVegaLiteChart] svg").first
    expect(ground).to_have_css("background-color", "rgb(253, 252, 250)")
    page.emulate_media(color_scheme="dark")
    expect(ground).to_have_css("background-color", "rgb(17, 24, 31)")
