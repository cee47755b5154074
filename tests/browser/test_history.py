"""The page "History" as a person uses it: found, opened by a link, renamed, deleted."""

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.server import at_rest, go_to, screens, too_wide

pytestmark = pytest.mark.browser

QUERY = "Name a fish that nobody has asked for before"


def choose_first_row(page):
    """Tick the first row; the table is a canvas, so that only the place tells."""
    table = page.get_by_test_id("stDataFrame")
    expect(table.locator("canvas").first).to_be_visible()
    at_rest(page)
    table.click(position={"x": 12, "y": 52})
    expect(page.locator(".st-key-chosen")).to_be_visible()


def test_a_result_is_found_opened_elsewhere_renamed_and_deleted(address, open_page):
    page = open_page(f"{address}/inspection?q={quote(QUERY)}")
    link = page.get_by_test_id("stCode").filter(has_text="?saved=")
    expect(link).to_be_visible()
    expect(page.locator(".st-key-verdict")).to_be_visible()
    at_rest(page)
    verdict = page.locator(".st-key-verdict").inner_text()
    assert QUERY not in verdict and "λ" in verdict
    permalink = link.inner_text().strip()
    assert permalink.startswith(f"{address}/inspection?saved=")

    go_to(page, "History")
    for _ in screens(page):
        assert too_wide(page) <= 0
    page.set_viewport_size({"width": 1280, "height": 1000})
    search = page.get_by_role("textbox", name="Search")
    search.fill("fish nobody")
    search.press("Enter")
    expect(page.get_by_text("Saved: 1.")).to_be_visible()
    choose_first_row(page)
    title = page.get_by_role("textbox", name="Title")
    expect(title).to_have_value(QUERY)
    title.fill("What swims")
    title.press("Enter")
    at_rest(page)
    page.get_by_role("button", name="Rename").click()

    other = open_page(permalink)  # a session of its own
    expect(other.get_by_text("What swims, embedded")).to_be_visible()
    expect(other.locator(".st-key-verdict")).to_have_text(verdict, use_inner_text=True)
    other.get_by_role("button", name="Ask a new question").click()
    expect(other.get_by_role("textbox", name="Question", exact=True)).to_be_visible()

    page.locator(".st-key-open_result button").click()
    expect(page.get_by_text("Saved result")).to_be_visible()
    page.wait_for_url(f"{address}/inspection?saved=*")
    go_to(page, "History")
    expect(page.get_by_role("textbox", name="Search")).to_have_value("fish nobody")
    choose_first_row(page)
    expect(page.get_by_role("button", name="Delete")).to_be_disabled()
    page.get_by_text("Delete permanently").click()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Saved: 0.")).to_be_visible()

    gone = open_page(permalink)
    expect(gone.get_by_text("This result is not here")).to_be_visible()
