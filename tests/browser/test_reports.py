"""A report opens from the disk without a network, and prints."""

from pathlib import Path
from urllib.parse import quote

import pytest

from core.reports.laboratory import document as laboratory
from core.reports.report import to_html
from core.studies.laboratory.bundled import results_of
from tests.browser.server import PHONE, exporting, inspected

pytestmark = pytest.mark.browser

WHOLE = """() => [...document.images].every(
  (image) => image.complete && image.naturalWidth > 100 && image.alt.length > 10)"""
SIDEWAYS = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
# What a sheet must not end in the middle of.
BROKEN = """() => [...document.querySelectorAll("figure, tr, .finding")]
  .filter((part) => getComputedStyle(part).breakInside !== "avoid").length"""
# The sheets of the widest table, and by how many pixels it is wider than one of them.
WIDEST = """() => {
  const table = document.querySelector(".table");
  return [getComputedStyle(table).page, table.scrollWidth - table.clientWidth];
}"""
LANDSCAPE = {"width": 1016, "height": 688}  # CSS pixels between margins of 14 mm


@pytest.fixture
def saved(address, open_page, tmp_path):
    page = open_page(f"{address}/inspection?q={quote('Name a yellow fruit.')}")
    inspected(page)
    with page.expect_download() as download:
        exporting(page).get_by_role("button", name="Report (HTML)").click()
    assert download.value.suggested_filename == "inspection_report.html"
    path = tmp_path / "report.html"
    download.value.save_as(path)
    return path


def test_a_report_opens_from_the_disk_asks_nobody_and_prints(saved: Path, chromium):
    context = chromium.new_context(offline=True, color_scheme="dark")
    page = context.new_page()
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(saved.as_uri())
    page.wait_for_function(WHOLE)
    assert "Believe it." in page.locator(".finding p").first.inner_text()
    ground = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(253, 252, 250)", "the style sheet holds, and is light"
    page.set_viewport_size(PHONE)
    assert page.evaluate(SIDEWAYS) == 0
    page.emulate_media(media="print")
    page.wait_for_function(WHOLE)
    assert page.evaluate(BROKEN) == 0
    assert page.pdf(prefer_css_page_size=True)
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert len([url for url in asked if url.startswith("file:")]) == 1
    assert said == []
    context.close()


def test_of_a_table_of_many_columns_nothing_is_cut_on_paper(chromium, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(to_html(laboratory.report(results_of("theorem")[0])), encoding="utf-8")
    page = chromium.new_page(viewport=LANDSCAPE)
    page.emulate_media(media="print")
    page.goto(path.as_uri())
    assert page.evaluate(WIDEST) == ["wide", 0]
    page.close()
