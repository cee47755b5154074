"""No formula comes alive: tables give nothing away but through our own downloads."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.server import at_rest, exporting, inspected
from tests.csv_files import csv_file, rows_in

pytestmark = pytest.mark.browser

FORMULA = '=HYPERLINK("http://192.0.2.1","click")'
RIGHT, ROWS = 150, 200


def scores():
    """Scores of questions that are formulas, with a source that is one too."""
    rows = [(f"{FORMULA} {i}", FORMULA, i / 100, int(i < RIGHT or i == 199)) for i in range(ROWS)]
    return csv_file(("question", "source", "doubt", "correct"), rows)


def opened(page):
    """Open every expander that is closed: tables are in them."""
    at_rest(page)
    expanders = page.get_by_test_id("stExpander")
    for expander in [expanders.nth(at) for at in range(expanders.count())]:
        if expander.is_visible() and expander.locator("details[open]").count() == 0:
            expander.locator("summary").click()
            at_rest(page)  # what is in it may be asked for only now


def framed(element):
    """A table with its toolbar."""
    return element.locator("xpath=ancestor::*[@data-testid='stElementContainer'][1]")


def toolbar(element):
    """What the toolbar of a table offers."""
    buttons = framed(element).get_by_test_id("stElementToolbar").locator("button").all()
    return {button.get_attribute("aria-label") or "" for button in buttons}


def gives_nothing_away(page, tables):
    opened(page)
    seen = [each for each in page.get_by_test_id("stDataFrame").all() if each.is_visible()]
    found = [toolbar(each) for each in seen]
    assert len(found) >= tables
    assert any("Search" in each for each in found), "the toolbars were not seen"
    words = set().union(*found)
    assert not {word for word in words if "ownload" in word or "CSV" in word}


def rows_of(page, button, at=0):
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).nth(at).click()
    return rows_in(Path(download.value.path()).read_bytes())


def disarmed(rows):
    cells = [cell for row in rows for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@"))]
    return cells


def test_tables_of_the_calibration_and_its_downloads(address, open_page):
    page = open_page(f"{address}/calibration")
    at_rest(page)
    page.locator(".st-key-labelled_file input[type=file]").set_input_files(
        {"name": "mine.csv", "mimeType": "text/csv", "buffer": scores()}
    )
    expect(page.locator(".st-key-outcome")).to_contain_text("Promised")
    gives_nothing_away(page, 2)
    exporting(page)
    assert f"'{FORMULA} 1" in disarmed(rows_of(page, "Decisions (CSV)"))
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Comparison with intervals").click()
    heading, row = rows_of(page, "Table (CSV)", at=-1)  # behind that of the rows
    assert heading[0] == "score" and row[0] == "doubt" and 0.5 < float(row[1]) <= 1


def test_tables_of_an_inspection_and_its_downloads(address, open_page):
    page = open_page(f"{address}/inspection?q=Name%20a%20mammal")
    inspected(page)
    gives_nothing_away(page, 5)
    exporting(page)
    assert disarmed(rows_of(page, "Responses (CSV)"))
    assert rows_of(page, "Pairs of answers (CSV)")[0][:2] == ["answer in the prompt", "next answer"]
