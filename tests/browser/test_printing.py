"""What the browser prints of a page."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.server import at_rest, inspected, unfold

pytestmark = pytest.mark.browser

A4 = (595, 842)  # points
PRINTED = {"width": 703, "height": 1032}  # CSS pixels between margins of 12 mm
HIDDEN = (
    ".stTopNavLink, header, .stDownloadButton, .stFileUploader, "
    ":is(.stPopover, .stButton):not(.st-key-picker *, [class*=st-key-policy_badge] *)"
)
# What a sheet must not end in the middle of: how wide and how high it is, and whether it may break.
WHOLE = """() => [...document.querySelectorAll(
    ".stVegaLiteChart, .stDataFrame, .stBidiComponent, .st-key-verdict, .stText")]
  .filter((part) => part.checkVisibility())
  .map((part) => {
    const { right, height } = part.getBoundingClientRect();
    return [part.className, right, height, getComputedStyle(part).breakInside];
  })"""
SEEN = "(parts) => parts.filter((part) => part.checkVisibility()).map((part) => part.className)"
# What is written where nothing is chosen: red, green and blue together.
INK_OF_PLACEHOLDERS = """() => [...document.querySelectorAll("input[placeholder]")]
  .map((input) => getComputedStyle(input, "::placeholder").color.match(/\\d+/g).slice(0, 3))
  .map((parts) => parts.reduce((sum, part) => sum + Number(part), 0))"""


def sheets(pdf):
    """Return the sizes of the pages of a PDF, in points: Chromium leaves these objects readable."""
    boxes = re.findall(rb"/Type\s*/Page\b(?!s).*?/MediaBox\s*\[([^\]]+)\]", pdf, re.DOTALL)
    return [tuple(round(float(number)) for number in box.split()[2:]) for box in boxes]


def headings(pdf):
    """Return the titles in the outline of a PDF, which the browser makes of printed headings."""
    found = []
    for written, plain in re.findall(rb"/Title\s*(?:<([0-9A-Fa-f]+)>|\((.*?)\))", pdf):
        title = bytes.fromhex(written.decode()) if written else plain
        bom = b"\xfe\xff"
        found.append(title.decode("utf-16") if title.startswith(bom) else title.decode("latin-1"))
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_inspection_prints_whole_on_a4_with_the_verdict_first(address, open_page, scheme):
    page = open_page(f"{address}/inspection?q={quote('Name a yellow fruit.')}", width=1440)
    page.emulate_media(color_scheme=scheme)
    inspected(page)
    pdf = page.pdf(prefer_css_page_size=True, tagged=True, outline=True)
    pages = sheets(pdf)
    assert 1 <= len(pages) <= 3
    assert all(size == pytest.approx(A4, abs=1) for size in pages)
    titles = headings(pdf)
    assert "Believe it" in titles[1], titles  # behind the title of the page
    unfold(page, "All scores")
    page.set_viewport_size(PRINTED)
    page.emulate_media(media="print")
    at_rest(page)
    parts = page.evaluate(WHOLE)
    assert any("stDataFrame" in name for name, *_ in parts), parts
    for name, right, height, breaks in parts:
        assert right <= PRINTED["width"] and height < PRINTED["height"], name
        assert breaks == "avoid", name
    assert page.locator(HIDDEN).evaluate_all(SEEN) == []
    promise = "“Believe it”: ≤ 2% wrong (90% sure)"
    for whose in ("Embedded demo model", promise):  # on paper, too
        expect(page.locator(".st-key-chips").get_by_text(whose)).to_be_visible()
    folds = "[...document.querySelectorAll('details')].filter((f) => f.checkVisibility())"
    assert page.evaluate(f"{folds}.map((fold) => fold.open)") == [True]
    ink = page.locator(".st-key-truth span").first.evaluate(
        "(text) => getComputedStyle(text).color"
    )
    assert sum(map(int, re.findall(r"\d+", ink)[:3])) < 100, ink


def test_a_run_prints_its_settings_in_dark_ink_and_nothing_of_its_files(address, open_page):
    page = open_page(f"{address}/evaluation")
    page.emulate_media(color_scheme="dark")
    at_rest(page)
    is_pale = f"(inks => inks.length && Math.min(...inks) > 500)(({INK_OF_PLACEHOLDERS})())"
    page.wait_for_function(is_pale)  # of 765
    page.emulate_media(media="print", color_scheme="dark")
    inks = page.evaluate(INK_OF_PLACEHOLDERS)
    assert inks and max(inks) < 400
    assert page.locator(HIDDEN).count() and page.locator(HIDDEN).evaluate_all(SEEN) == []
    expect(page.locator(".st-key-chips")).to_be_hidden()  # another model may have made the run
