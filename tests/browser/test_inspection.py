"""The page "Inspection" as a person uses it."""

import json
import re
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from playwright.sync_api import expect

from core.cli import main
from tests.browser.server import at_rest, question_of, screens, shoot, too_wide

pytestmark = pytest.mark.browser

YELLOW = "Name a yellow fruit."
WILD = "temperature=2"  # hardly an answer comes twice: 300 of them take long enough to cancel


def answer_of(page):
    return page.get_by_test_id("stCode").first


def score_of(page, title):
    card = page.get_by_test_id("stMetric").filter(has_text=title)
    return card.get_by_test_id("stMetricValue")


def settled(page):
    """Wait until the script has run to its end, and the model with it."""
    expect(page.locator("summary", has_text="Calls and timings")).to_be_visible()
    at_rest(page)


def test_ask_and_read_the_verdict_and_reload(address, open_page):
    page = open_page(f"{address}/inspection")
    settled(page)
    expect(answer_of(page)).to_contain_text("Paris")
    question_of(page).fill("Who was the first US president?")
    question_of(page).press("Enter")
    expect(answer_of(page)).to_contain_text("George Washington")
    verdict = page.locator(".st-key-verdict")
    expect(verdict).to_contain_text(re.compile("keeps? to its only answer"))
    page.wait_for_url(re.compile("q=Who"))
    page.get_by_role("button", name="Nonsense").click()
    expect(verdict).to_contain_text("Not something this model was taught")
    settled(page)
    page.get_by_role("button", name="Compare up to 30", exact=True).click()
    expect(page.get_by_role("button", name="Compare up to 30", exact=True)).to_be_disabled()
    settled(page)
    assert "k=30" in page.url
    asked = question_of(page).input_value()
    values = page.get_by_test_id("stMetricValue").all_inner_texts()
    page.reload()
    settled(page)
    expect(question_of(page)).to_have_value(asked)
    expect(page.get_by_test_id("stMetricValue")).to_have_text(values)


def test_choose_a_cell_and_recompute_the_download(address, open_page, tmp_path):
    page = open_page(f"{address}/inspection?q={quote(YELLOW)}&seed=1", height=2600)
    settled(page)
    chart = page.locator("[data-testid=stVegaLiteChart][aria-label^='Contribution to M.I.']")
    cells = chart.locator("g.mark-rect path")
    expect(cells.first).to_be_visible()
    first = page.get_by_role("combobox", name="First answer, in the prompt")
    before = first.input_value()
    clusters = round(cells.count() ** 0.5)
    assert clusters > 1
    cell = cells.nth(clusters)  # the second row's first
    cell.scroll_into_view_if_needed()
    box = cell.bounding_box()  # the mouse itself: over the cells lies what listens to it
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(first).not_to_have_value(before)
    # The prompt below is the one of the chosen row.
    expect(page.get_by_test_id("stCode").nth(1)).to_contain_text(
        f"One answer to question Q is {first.input_value()}."
    )
    at_rest(page)
    shown = score_of(page, "Mutual information").first.inner_text()
    with page.expect_download() as download:
        page.get_by_role("button", name="Inspection (JSON)").click()
    path = tmp_path / "inspection.json"
    download.value.save_as(path)
    printed = CliRunner().invoke(main, ["inspect", "--from", str(path), "--json"])
    again = json.loads(printed.stdout)
    assert f"{again['scores']['mutual_information']['value']:.3f} nats" == shown
    assert again["query"] == YELLOW
    page.get_by_text("Figures as PNG and SVG").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG").first.click()
    download.value.save_as(tmp_path / "doubt.svg")
    assert "<svg" in (tmp_path / "doubt.svg").read_text()


def test_sample_until_certified_ends_and_says_so(address, open_page):
    page = open_page(f"{address}/inspection?q={quote('Who is the mayor of Tomorrow?')}&k=5")
    settled(page)
    page.get_by_role("button", name="Compare until certified").click()
    why = page.get_by_text(
        re.compile("^(Certified: |The answers found cover .* of a second|The limit of)")
    )
    expect(why).to_be_visible(timeout=180_000)
    settled(page)
    assert "k=5&" not in page.url and not page.url.endswith("k=5")  # more was sampled


def test_cancel_stops_and_nobody_asks_again_unasked(address, open_page):
    page = open_page(
        f"{address}/inspection?q={quote('Who is the queen of Blefuscu?')}&{WILD}&k=300"
    )
    page.get_by_role("button", name="Compare up to 300").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled before")).to_be_visible()
    page.get_by_text("Settings", exact=True).click()  # any other interaction
    expect(page.get_by_text("Cancelled before")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    assert not page.get_by_test_id("stProgress").count()


def test_cancelling_more_samples_goes_back_to_what_was_on_the_screen(address, open_page):
    page = open_page(f"{address}/inspection?q={quote('Who is the king of Laputa?')}&{WILD}")
    settled(page)
    expect(page.get_by_test_id("stMetricValue").nth(7)).to_be_visible()
    before = page.get_by_test_id("stMetricValue").all_inner_texts()
    page.get_by_role("button", name="Compare up to 300", exact=True).click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.get_by_test_id("stMetricValue").nth(7)).to_be_visible()
    settled(page)
    assert page.get_by_test_id("stMetricValue").all_inner_texts() == before
    assert "k=300" not in page.url


def test_hostile_text_stays_text_and_infinite_numbers_leave_the_address(address, open_page):
    """`open_page` fails the test if the image is fetched."""
    hostile = quote("![](http://192.0.2.1/x.png) <b>$5 and $6</b>")
    page = open_page(f"{address}/inspection?q={hostile}&k=inf&seed=1e999")
    settled(page)
    expect(page.get_by_text("The address gives k = inf")).to_be_visible()
    expect(page.get_by_text("The address gives seed = 1e999")).to_be_visible()
    expect(page.get_by_text("cannot convert")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("inf|1e999"))
    assert page.locator("img[src*='192.0.2.1']").count() == 0


def test_fits_the_screen(address, open_page):
    query = "Which actor became M in the Bond film Skyfall?"
    page = open_page(f"{address}/inspection?q={quote(query)}", height=1180)
    settled(page)
    # Scores and charts arrive after the script has ended.
    expect(page.get_by_test_id("stMetricValue").nth(7)).to_be_visible()
    expect(page.get_by_test_id("stVegaLiteChart").first.locator("canvas,svg").first).to_be_visible()
    for name in screens(page):
        assert too_wide(page) <= 0
        shoot(page, f"inspection-{name}")
