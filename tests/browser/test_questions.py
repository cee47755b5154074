"""The page "What can I ask?" as a person uses it."""

import re

import pytest
from playwright.sync_api import expect

from core.studies.questions import search
from tests.browser.server import at_rest, inspected, question_of, screens, too_wide

pytestmark = pytest.mark.browser

HEADER, ROW = 35, 35  # pixels
COLUMNS = ("band", "question")  # the first ones, from the left
WITHIN = {"band": 40, "question": 260}  # pixels from the left


def shows(page, entries):
    """Wait until the list shows this many questions, the first of them first."""
    number = "1 question." if len(entries) == 1 else f"{len(entries):,} questions."
    expect(page.get_by_text(number)).to_be_visible()
    first = page.get_by_test_id(f"glide-cell-{COLUMNS.index('question')}-0")
    expect(first).to_have_text(entries[0].question)
    at_rest(page)


def click(page, row, column="question"):
    """Click into the table, which is a picture: row -1 is its headings."""
    table = page.get_by_test_id("stDataFrame").locator(".dvn-scroller")
    y = HEADER / 2 if row < 0 else HEADER + ROW * row + ROW / 2
    table.click(position={"x": WITHIN[column], "y": y})


def browse_all(page):
    page.get_by_role("link", name="Browse all").click()
    expect(page.get_by_text("Click one to inspect it")).to_be_visible()
    at_rest(page)


def look_for(page, words):
    page.get_by_role("textbox", name="Words").fill(words)
    page.get_by_role("textbox", name="Words").press("Enter")


def inspects(page, question):
    expect(question_of(page)).to_have_value(question)
    inspected(page)


def test_a_click_inspects_and_coming_back_does_not_jump_again(address, open_page):
    page = open_page(f"{address}/questions", height=720)
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()
    at_rest(page)
    for _ in screens(page):
        assert too_wide(page) <= 0
    look_for(page, "planet")  # a phone inspects by a click too
    found = search("planet")
    shows(page, found)
    click(page, 1)
    inspects(page, found[1].question)
    expect(page.locator(".st-key-truth")).to_be_visible()

    page.set_viewport_size({"width": 1280, "height": 1000})
    browse_all(page)
    expect(page.get_by_role("textbox", name="Words")).to_have_value("planet")
    shows(page, found)
    look_for(page, "bird")  # the page runs again, and stays
    birds = search("bird")
    shows(page, birds)
    assert "/questions" in page.url
    click(page, 1)
    inspects(page, birds[1].question)

    page.go_back()
    expect(page.get_by_text("Click one to inspect it")).to_be_visible()
    at_rest(page)
    look_for(page, "planet")
    shows(page, found)
    assert "/questions" in page.url
    click(page, 1)  # the very cell of the first time
    inspects(page, found[1].question)


def test_the_clicked_question_wins_over_what_was_typed_before(address, open_page):
    page = open_page(f"{address}/inspection?k=5")
    for words, question in (
        ("bird cannot fly", "Name a bird that cannot fly."),
        ("capital france", "What is the capital of France?"),  # which no address holds
    ):
        question_of(page).fill("Name a mammal")
        question_of(page).press("Enter")
        page.wait_for_url(re.compile("mammal"))
        browse_all(page)
        look_for(page, words)
        shows(page, search(words))
        click(page, 0)
        inspects(page, question)
    question_of(page).fill("Name a bird.")  # and what is typed then counts again
    question_of(page).press("Enter")
    page.wait_for_url(re.compile(r"bird\."))
    page.reload()
    inspects(page, "Name a bird.")


def test_sorting_and_the_other_columns_inspect_nothing(address, open_page):
    """A click on a heading sorts, and selects the first cell of the table besides."""
    found = search("planet")
    page = open_page(f"{address}/questions?words=planet")
    shows(page, found)
    click(page, -1)
    by_name, of_planets = (
        sorted(entries, key=lambda entry: entry.question.casefold())
        for entries in (found, search("planets"))
    )
    shows(page, by_name)
    click(page, 1, "band")
    look_for(page, "planets")  # the page runs again
    shows(page, of_planets)
    assert "/questions" in page.url
    look_for(page, "planet")  # what is clicked in a sorted list is what is inspected
    shows(page, by_name)
    click(page, 2)
    inspects(page, by_name[2].question)
