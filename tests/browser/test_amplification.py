"""The page "Amplification" as a person uses it."""

import html
import json
import re
from urllib.parse import parse_qs, quote, urlencode, urlparse

import pytest
from playwright.sync_api import expect

from core.data.world.normal_form import normal_form
from core.reports.amplification import document, words
from core.studies.amplification.curve import Case, amplify
from core.studies.amplification.gallery import EXAMPLES, PAPER
from tests.browser.server import (
    at_rest,
    downloaded,
    exporting,
    go_to,
    inspected,
    question_of,
    screens,
    too_wide,
)
from tests.csv_files import records_in

pytestmark = pytest.mark.browser

CURVES, PROBABILITIES = range(2)  # the pictures of a question, from the left
FIRST, MANY = (EXAMPLES[name] for name in ("Half known", "Many answers"))
OWN, PUBLISHED, WORLD, WHY = ("Your question", "The paper’s", "Embedded world", "Mechanism")
BEHIND = "Everything behind it"
IMAGE, FORMULA = "![x](http://192.0.2.1/x.png)", '=HYPERLINK("http://192.0.2.1")'
HOSTILE = Case(
    f'{IMAGE} <img src=http://192.0.2.1/y.png> $5 and $6 :red[x] "it\'s"',
    f"<b>right</b> {IMAGE}",
    FORMULA,
)


def link(address, **query):
    return f"{address}/amplification?{urlencode(query, doseq=True)}"


def field(page, name):
    return page.get_by_role("textbox", name=name, exact=True)


def enter(page, name, text):
    field(page, name).fill(text)
    field(page, name).press("Enter")


def shows(page, case):
    """Wait until the fields hold a case and the first line below the charts is about it."""
    expect(question_of(page)).to_have_value(case.query)
    expect(field(page, "Answer to test")).to_have_value(case.answer)
    expect(field(page, "Answer to repeat")).to_have_value(case.repeated)
    expect(listed(page).first).to_contain_text(f"1. {case.query}")
    expect(listed(page).first).to_contain_text(case.answer)
    expect(listed(page).first).to_contain_text("of the two")
    at_rest(page)


def listed(page):
    """The rows below the charts: one for every curve, with its number."""
    return page.locator('[class*="st-key-curve_row_"]')


def verdict(page):
    return page.locator(".st-key-verdict")


def pictures(page):
    return page.get_by_test_id("stVegaLiteChart").filter(visible=True)


def drawn(page, number):
    """Wait for a picture: they come after the script has ended."""
    expect(pictures(page).nth(number).locator("svg").first).to_be_visible()
    return pictures(page).nth(number)


def ticks(page, number):
    return drawn(page, number).locator("g.role-axis-label text").all_text_contents()


def opened(page, label):
    page.get_by_test_id("stExpander").filter(has_text=label).locator("summary").click()
    return page.get_by_test_id("stExpander").filter(has_text=label)


def choose(page, tab):
    page.get_by_role("tab", name=tab).click()
    expect(page.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")


def test_type_a_question_and_give_its_curve_to_a_colleague(address, open_page, embedded):
    page = open_page(link(address, tab=OWN), height=1180)
    shows(page, FIRST)
    opened(page, words.PROBABILITIES)
    for _ in screens(page):
        drawn(page, CURVES)
        assert {"0", "1", "3", "10", "30", "100"} <= {*ticks(page, CURVES)}
        drawn(page, PROBABILITIES)
        assert too_wide(page) <= 0
    page.set_viewport_size({"width": 1280, "height": 1180})

    page.get_by_role("button", name="Keep this curve").click()  # nothing stays by itself
    expect(page.get_by_role("button", name="Keep this curve")).to_be_disabled()
    at_rest(page)
    case = Case("Who was the first US president?", "George Washington", "“Lincoln” & [more]")
    enter(page, "Question", case.query)
    enter(page, "Answer to test", case.answer)
    enter(page, "Answer to repeat", case.repeated)
    shows(page, case)
    found = amplify(case, embedded, range(101))
    expect(verdict(page)).to_contain_text(words.verdict(found))
    for number, picture in enumerate(document.pictures([found], "log")):
        said = re.compile(f"^{re.escape(picture.alt)}")
        expect(drawn(page, number)).to_have_attribute("aria-label", said)
    expect(drawn(page, CURVES)).to_contain_text("George")
    expect(pictures(page)).to_have_count(2)  # those kept beside it are in the first

    opened(page, BEHIND)
    code = page.get_by_test_id("stCode")
    at = page.get_by_role("spinbutton", name="At how many repetitions")
    at.fill("3")
    at.press("Enter")
    three = case.prompt(3, normal_form(case.query))
    assert three.count(case.repeated) == 3
    expect(code).to_have_text(three, use_inner_text=True)
    assert code.inner_text().rstrip("\n") == three

    page.get_by_role("button", name="Keep this curve").click()
    expect(page.get_by_role("button", name="Keep this curve")).to_be_disabled()
    at_rest(page)
    page.get_by_role("button", name="Remove").first.click()
    expect(listed(page)).to_have_count(3)
    at_rest(page)
    enter(page, "Answer to test", "Naples")
    expect(listed(page)).to_have_count(4)
    most = page.get_by_role("spinbutton", name="Repetitions up to")
    most.fill("60")
    most.press("Enter")
    expect(verdict(page)).to_contain_text("60 repetitions")
    page.get_by_role("radio", name="even").click()
    page.wait_for_url(re.compile("scale=even"))
    at_rest(page)
    for number in (CURVES, PROBABILITIES):
        expect(drawn(page, number).get_by_text("40", exact=True)).to_be_visible()
        assert "2" not in ticks(page, number) and "60" in ticks(page, number)
    given = parse_qs(urlparse(page.url).query)
    assert set(given) == {"query", "answer", "repeated", "most", "scale", "kept"}
    assert len(given["kept"]) == 3
    lines, said = listed(page).all_text_contents(), verdict(page).text_content()

    again = open_page(page.url)  # as a colleague opens it
    expect(verdict(again)).to_have_text(said)
    expect(listed(again)).to_have_text(lines)
    expect(again.get_by_role("radio", name="even")).to_be_checked()
    at_rest(again)
    assert parse_qs(urlparse(again.url).query) == given


def test_from_an_inspection_to_its_curve_and_back_from_another_page(address, open_page):
    page = open_page(f"{address}/inspection?q={quote(FIRST.query)}")
    button = page.get_by_role("button", name="What does repeating an answer do here?")
    expect(button).to_be_visible()
    inspected(page)
    button.click()
    expect(page.get_by_role("heading", name="What does repeating an answer do?")).to_be_visible()
    shows(page, FIRST)
    enter(page, "Question", "What is the capital of Italy?")
    expect(page.get_by_text("The answers are still those to")).to_be_visible()
    enter(page, "Question", FIRST.query)
    shows(page, FIRST)
    enter(page, "Answer to repeat", "Nobody")
    expect(verdict(page)).to_contain_text("of the two.")
    expect(listed(page).first).to_contain_text("Nobody")
    at_rest(page)
    go_to(page, "Home")
    page.get_by_role("button", name="What does repeating an answer do?").click()
    shows(page, Case(FIRST.query, FIRST.answer, "Nobody"))


def test_every_tab_is_drawn_and_fits_the_screen(address, open_page):
    """What it draws, the tests of the page say."""
    page = open_page(f"{address}/amplification", height=2600)
    for tab, number in ((WORLD, 6), (WHY, 6), (PUBLISHED, 12)):
        page.set_viewport_size({"width": 1280, "height": 2600})
        choose(page, tab)
        expect(pictures(page)).to_have_count(number)
        at_rest(page)
        for _ in screens(page):
            for at in range(number):
                drawn(page, at)
            assert too_wide(page) <= 0
    page.get_by_role("button", name="Look closer").first.click()
    expect(page.get_by_role("tab", name=OWN)).to_have_attribute("aria-selected", "true")
    shows(page, next(iter(PAPER.values()))[0].case)


def test_hostile_text_stays_text_and_can_be_taken_along(address, open_page):
    """`open_page` fails the test if anything is fetched from where it points."""
    other = [f"two\nlines {IMAGE}", f"{IMAGE} <b>kept</b>", "[$y$](http://192.0.2.1)"]
    page = open_page(link(address, **vars(HOSTILE), most=5, kept=json.dumps(other)), height=2000)
    expect(listed(page)).to_have_count(2)
    expect(listed(page).first).to_contain_text(f"1. {HOSTILE.query}")
    expect(listed(page).first).to_contain_text(HOSTILE.answer)
    expect(drawn(page, CURVES)).to_contain_text(HOSTILE.answer[:10])
    opened(page, BEHIND)
    expect(page.get_by_test_id("stCode")).to_contain_text(HOSTILE.repeated)
    at_rest(page)
    taken_along(page)
    opened(page, words.PROBABILITIES)
    for number in (CURVES, PROBABILITIES):  # a tooltip is HTML
        drawn(page, number).hover()  # wherever it is, a point is the nearest
        expect(page.locator("#vg-tooltip-element")).to_contain_text("192.0.2.1")
        assert page.locator("#vg-tooltip-element").locator("img,b,a,script").count() == 0

    assert page.locator("[src*='192.0.2.1'],[href*='192.0.2.1']").count() == 0
    assert page.locator("b").filter(has_text="right").count() == 0
    assert page.locator(".katex").count() == 0
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 2000})
        at_rest(page)
        assert too_wide(page) <= 0


def taken_along(page):
    """Take every file: what they hold is tested below tests/studies/amplification."""
    files = exporting(page)
    rows = records_in(downloaded(page, "Curves (CSV)", files))
    # Nothing that a spreadsheet would run.
    assert [row["repeated"] for row in rows][:6] == [f"'{HOSTILE.repeated}"] * 6
    assert json.loads(downloaded(page, "Curves (JSON)", files))[0]["query"] == HOSTILE.query
    svg = html.unescape(downloaded(page, "SVG", files).decode())
    assert words.SHARES in svg and HOSTILE.query[:20] in svg
    assert downloaded(page, "PNG", files).startswith(b"\x89PNG\r\n\x1a\n")
    page.keyboard.press("Escape")
    behind = page.get_by_test_id("stExpander").filter(has_text=BEHIND)
    expect(behind.locator("canvas").first).to_be_visible()
