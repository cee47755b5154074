"""The page "Home" as a person uses it."""

import re
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import expect

from core.studies.home import CONTRADICTED, EXAMPLES, SHORT
from tests.browser.server import at_rest, go_to, question_of, screens, shoot, too_wide

pytestmark = pytest.mark.browser


ANSWERS, TURNED, DOUBTS = range(3)  # the pictures, from the top


def picture(page, step):
    return page.get_by_test_id("stVegaLiteChart").nth(step)


def told(page):
    """What is left of the half-known answer, in per cent."""
    found = re.search(
        r"Skyfall: .* keeps (?:less than )?([\d.]+)%",
        picture(page, TURNED).get_attribute("aria-label"),
    )
    return float(found[1])


def choose(page, name):
    page.get_by_role("radio", name=name, exact=True).click()


def behind(page, step):
    """Return a link; a click on it gets lost where a picture above it grows at that moment."""
    return page.get_by_role("link", name="See the details").nth(step)


def ask(page, query):
    question_of(page).fill(query)
    question_of(page).press("Enter")
    page.wait_for_url(re.compile(quote_plus(query).replace("+", ".")))


def all_drawn(page):
    expect(page.get_by_role("link", name="See the details")).to_have_count(3)
    for step in range(3):
        expect(picture(page, step).locator("canvas,svg").first).to_be_visible()
    at_rest(page)


def test_every_step_has_one_thing_to_change(address, open_page):
    page = open_page(address)
    all_drawn(page)
    choose(page, SHORT["Many answers"])
    said = re.compile(f"^Asked “{re.escape(EXAMPLES['Many answers'])}”")
    expect(picture(page, ANSWERS)).to_have_attribute("aria-label", said)
    choose(page, "Mutual information")
    expect(picture(page, DOUBTS)).to_have_attribute("aria-label", re.compile("^Mutual information"))
    untold, before = told(page), picture(page, TURNED).get_attribute("aria-label")
    slider = page.get_by_role("slider", name="Repetitions")
    slider.focus()
    slider.press("End")
    expect(picture(page, TURNED)).not_to_have_attribute("aria-label", before)
    assert told(page) < untold
    slider.press("Home")
    expect(picture(page, TURNED)).to_have_attribute("aria-label", before)
    choose(page, SHORT["Unknown"])  # and the link follows
    expect(behind(page, ANSWERS)).to_have_attribute("href", re.compile("Zorvania"))
    behind(page, ANSWERS).press("Enter")
    expect(question_of(page)).to_have_value(EXAMPLES["Unknown"])


def test_the_links_show_their_question_whatever_was_typed_before(address, open_page):
    page = open_page(f"{address}/inspection")
    ask(page, "Name a mammal")
    go_to(page, "Home")
    all_drawn(page)  # until then what is drawn above pushes the links down
    behind(page, DOUBTS).press("Enter")
    expect(question_of(page)).to_have_value(EXAMPLES["Many answers"])
    expect(page.get_by_text("Calls and timings")).to_be_visible()
    ask(page, "Name a bird.")  # and what is typed then counts again
    expect(question_of(page)).to_have_value("Name a bird.")

    go_to(page, "Amplification")
    ask(page, "Name a mammal")
    go_to(page, "Home")
    all_drawn(page)
    behind(page, TURNED).press("Enter")
    expect(question_of(page)).to_have_value(EXAMPLES["Half known"])
    right, told = CONTRADICTED["Half known"]
    expect(page.get_by_role("textbox", name="Right answer", exact=True)).to_have_value(right)
    expect(page.get_by_role("textbox", name="Answer to repeat")).to_have_value(told)


def test_a_phone_reaches_the_other_pages(address, open_page):
    page = open_page(address, width=390, height=844)
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("link", name="What can I ask?").click()
    expect(page.get_by_text("Click one to inspect it")).to_be_visible()


def test_fits_the_screen(address, open_page):
    page = open_page(address, height=1180)
    page.set_viewport_size({"width": 1920, "height": 1180})
    fits(page)
    page.set_viewport_size({"width": 1280, "height": 1180})
    for name in screens(page):
        fits(page)
        shoot(page, f"home-{name}")


def fits(page):
    all_drawn(page)
    assert too_wide(page) <= 0
    for step in range(3):
        box = picture(page, step).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= page.viewport_size["width"]
