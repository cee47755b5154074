"""The page "Inspection" as a person uses it."""

import json
import re
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from playwright.sync_api import expect

from core.cli import main
from core.studies.examples import EXAMPLES
from tests.browser.server import (
    PHONE,
    at_rest,
    downloaded,
    exporting,
    inspected,
    question_of,
    screens,
    shoot,
    too_wide,
    unfold,
)

pytestmark = pytest.mark.browser

YELLOW = "Name a yellow fruit."
WILD = "temperature=2"  # hardly an answer comes twice: 300 of them take long enough to cancel


def verdict_of(page):
    return page.locator(".st-key-verdict")


def test_ask_and_read_the_verdict_and_reload(address, open_page):
    page = open_page(f"{address}/inspection")
    inspected(page)
    expect(verdict_of(page)).to_contain_text("Paris")
    question_of(page).fill("Who was the first US president?")
    question_of(page).press("Enter")
    verdict = verdict_of(page)
    expect(verdict).to_contain_text("George Washington")
    expect(verdict).to_contain_text(re.compile("says something else"))
    page.wait_for_url(re.compile("q=Who"))
    question_of(page).fill("asdf qwer zxcv")
    question_of(page).press("Enter")
    expect(verdict).to_contain_text("Not near anything this model was taught")
    expect(page.locator(".row")).to_have_count(0)
    page.get_by_role("button", name="Show the embedded model’s answer").click()
    inspected(page)
    unfold(page, "More answers")
    page.get_by_role("button", name="Compare up to 30", exact=True).click()
    expect(page.get_by_role("button", name="Compare up to 30", exact=True)).to_be_disabled()
    inspected(page)
    assert "k=30" in page.url
    asked, said = question_of(page).input_value(), verdict.inner_text()
    page.reload()
    inspected(page)
    expect(question_of(page)).to_have_value(asked)
    expect(verdict).to_have_text(said, use_inner_text=True)


def test_a_browser_that_lets_pages_keep_nothing_shows_no_error(address, chromium):
    """So it is where all cookies are blocked."""
    page = chromium.new_page()
    denied = "{ get() { throw new DOMException('denied', 'SecurityError') } }"
    page.add_init_script(f"Object.defineProperty(window, 'sessionStorage', {denied})")
    page.goto(f"{address}/inspection")
    expect(verdict_of(page)).to_be_visible()
    at_rest(page)
    expect(page.get_by_text("Error")).to_have_count(0)
    page.close()


def test_a_question_is_completed_while_it_is_typed_and_asked_by_a_key_or_a_click(
    address, open_page
):
    page = open_page(f"{address}/inspection")
    inspected(page)
    field, options = question_of(page), page.locator("#believe-suggestions li")
    field.fill("")
    field.press_sequentially("capital ger")
    expect(options.first).to_have_text("What is the capital of Germany?")
    expect(field).to_have_attribute("aria-expanded", "true")
    field.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    field.press("Enter")
    page.wait_for_url(re.compile("q=What.*Germany"))
    expect(verdict_of(page)).to_contain_text("Berlin")
    expect(options.first).to_be_hidden()
    field.fill("")
    field.press_sequentially("yellow fruit")
    expect(options.first).to_be_visible()
    field.press("Escape")
    expect(options.first).to_be_hidden()
    field.press_sequentially(" ")
    options.first.click()
    page.wait_for_url(re.compile("q=Name"))


def test_every_row_says_all_that_follows_on_what_was_told(address, open_page):
    page = open_page(f"{address}/inspection?q={quote(YELLOW)}")
    inspected(page)
    rows = page.locator(".row")
    bars = [bar.get_attribute("aria-label") for bar in rows.get_by_role("img").all()]
    assert bars[0].startswith("Told nothing, it says: ") and len(bars) > 2
    for bar in bars[1:]:
        told = re.match("Told (.+), it says: ", bar)[1]
        assert f"{told} " in bar.partition(": ")[2]  # of these, it says every one again
    for at in range(len(bars)):
        parts = [part.bounding_box()["width"] for part in rows.nth(at).locator(".part").all()]
        assert sum(parts) == pytest.approx(
            rows.nth(at).locator(".bar").bounding_box()["width"], 0.02
        )
    # Another answer that it is told is in that colour; its own is its own, told or not.
    for row, number in enumerate((0, 0, 1)):
        expect(rows.nth(row).locator(".part.told")).to_have_count(number)
    expect(page.locator(".legend .itself")).to_have_count(1)


def test_choose_a_cell_and_recompute_the_download(address, open_page, tmp_path):
    page = open_page(f"{address}/inspection?q={quote(YELLOW)}&seed=1", height=2000)
    inspected(page)
    joint, product, contribution = (
        page.get_by_role("grid", name=re.compile(name)) for name in ("Joint", "Product", "Contr")
    )
    detail, chosen = page.locator(".detail"), "gridcell"
    cell = joint.get_by_role(chosen).first
    for matrix in (joint, product, contribution):  # beside each other, as large as a finger
        box = matrix.get_by_role(chosen).first.bounding_box()
        assert box["width"] == pytest.approx(box["height"], abs=0.5) and box["width"] >= 44
        assert box["y"] == pytest.approx(cell.bounding_box()["y"], abs=0.5)
    expect(detail).to_be_empty()
    cell.click()
    expect(detail.locator("pre")).to_contain_text("One answer to question Q is")
    before = detail.locator("pre").inner_text()
    row = contribution.get_by_role("row").nth(2)  # behind the headings
    row.get_by_role(chosen).first.click()
    expect(detail.locator("pre")).not_to_have_text(before, use_inner_text=True)
    for matrix in (joint, product, contribution):
        expect(matrix.locator(".chosen")).to_have_count(1)
    said = joint.locator(".chosen").get_attribute("aria-label")
    told = re.match("told (.+), then says", said)[1]
    expect(detail.locator("pre")).to_contain_text(f"One answer to question Q is {told}.")
    expect(detail).to_contain_text(said.rpartition(": ")[2])
    row.get_by_role(chosen).first.press("ArrowRight")  # the keyboard does what the mouse does
    expect(joint.locator(".chosen")).not_to_have_attribute("aria-label", said)
    expect(contribution.locator(".chosen")).to_be_focused()
    product.get_by_role(chosen).first.hover()
    expect(joint.locator(".near")).to_have_count(1)
    page.set_viewport_size(PHONE)
    expect(joint).to_be_visible()
    expect(product).not_to_be_visible()
    page.get_by_role("radio", name="Product").check()
    expect(product).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 2000})
    path = tmp_path / "inspection.json"
    path.write_bytes(downloaded(page, "Inspection (JSON)", exporting(page)))
    printed = CliRunner().invoke(main, ["inspect", "--from", str(path), "--json"])
    again = json.loads(printed.stdout)
    shown = f"this question: {again['scores']['mutual_information']['value']:.3f}"
    expect(verdict_of(page)).to_contain_text(shown)
    assert again["query"] == YELLOW
    assert b"<svg" in downloaded(page, "SVG", exporting(page))


def test_what_stands_in_the_cells_adds_up_to_what_stands_above(address, open_page):
    page = open_page(f"{address}/inspection?q={quote(YELLOW)}")
    contribution = page.get_by_role("grid", name="Contribution")
    cells, sums = contribution.locator(".cell"), contribution.locator(".total")
    expect(cells).to_have_count(36)
    total = sum(float(text.replace("−", "-")) for text in cells.all_inner_texts())
    heading = page.get_by_role("heading", name="Mutual information").inner_text()
    value = float(re.search(r"\d\.\d+", heading)[0])
    assert total == pytest.approx(value, abs=36 * 0.0005)
    assert float(sums.last.inner_text()) == value, "which is not rounded cell by cell"
    assert "" not in page.get_by_role("grid", name="Joint").locator(".cell").all_inner_texts()


def test_a_phone_shows_all_of_the_help_wherever_it_is_opened(address, open_page):
    page = open_page(f"{address}/inspection?q=Name+a+yellow+fruit.", **PHONE)
    inspected(page)
    sign = page.locator(".st-key-verdict").get_by_test_id("stTooltipIcon").first
    help = page.get_by_test_id("stTooltipContent")
    for place in ("end", "center", "start"):
        sign.evaluate("(each, block) => each.scrollIntoView({ block })", place)
        sign.hover()
        expect(help).to_contain_text("Can’t tell yet")
        assert help.evaluate("(each) => each.scrollHeight <= each.clientHeight")
        box = help.bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= PHONE["height"], (place, box)
        page.mouse.move(0, 0)
        expect(help).to_have_count(0)


def test_the_verdict_is_in_sight_on_a_phone_and_the_page_is_short(address, open_page):
    """Half of what the page was tall: 4,400 pixels on a desktop, 7,000 on a phone."""
    page = open_page(f"{address}/inspection?q={quote(YELLOW)}", **PHONE)
    inspected(page)
    served = page.locator(".st-key-served_believe").bounding_box()
    assert served["y"] < 330 and served["y"] + served["height"] <= PHONE["height"]
    tall = "document.querySelector('[data-testid=stMain]').scrollHeight"
    assert page.evaluate(tall) <= 3500
    page.set_viewport_size({"width": 1440, "height": 900})
    at_rest(page)
    assert page.evaluate(tall) <= 2200


def test_sample_until_certified_ends_and_says_so(address, open_page):
    page = open_page(f"{address}/inspection?q={quote('Name a mammal')}&k=5")
    inspected(page)
    unfold(page, "More answers")
    page.get_by_role("button", name="Compare until certified").click()
    why = page.get_by_text(
        re.compile("^(Certified: |The answers found cover .* of a second|The limit of)")
    )
    expect(why).to_be_visible(timeout=180_000)
    inspected(page)
    assert "k=5&" not in page.url and not page.url.endswith("k=5")  # more was sampled


def test_cancelling_more_samples_goes_back_to_what_was_on_the_screen(address, open_page):
    page = open_page(f"{address}/inspection?q={quote('Who is the king of Laputa?')}&{WILD}")
    inspected(page)
    before = verdict_of(page).inner_text()
    unfold(page, "More answers")
    page.get_by_role("button", name="Compare up to 300", exact=True).click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    inspected(page)
    assert verdict_of(page).inner_text() == before
    assert "k=300" not in page.url


def test_hostile_text_stays_text_and_infinite_numbers_leave_the_address(address, open_page):
    """`open_page` fails the test if the image is fetched."""
    hostile = quote("![](http://192.0.2.1/x.png) <b>$5 and $6</b>")
    page = open_page(f"{address}/inspection?q={hostile}&k=inf&seed=1e999")
    inspected(page)
    expect(page.get_by_text("The address gives k = inf")).to_be_visible()
    expect(page).not_to_have_url(re.compile("inf|1e999"))
    assert page.locator("img[src*='192.0.2.1']").count() == 0


def test_fits_the_screen(address, open_page):
    query = EXAMPLES["Half known"]
    page = open_page(f"{address}/inspection?q={quote(query)}", height=1180)
    inspected(page)
    # Charts arrive after the script has ended.
    expect(page.get_by_test_id("stVegaLiteChart").first.locator("canvas,svg").first).to_be_visible()
    for name in screens(page):
        assert too_wide(page) <= 0
        shoot(page, f"inspection-{name}")
