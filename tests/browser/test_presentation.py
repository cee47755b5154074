"""The presentation of the home page: a full screen, stepped through by keys."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from core.ui.components import presentation
from tests.browser.server import PHONE, at_rest

pytestmark = pytest.mark.browser

PLACES = 3 * len(presentation.PLACES) + 1
OVERFLOW = """(stage) => Math.max(
  stage.scrollHeight - stage.clientHeight, stage.scrollWidth - stage.clientWidth)"""
# Whether a busy Chromium grants a full screen, no test can know: this one grants it always.
GRANTED = """() => {
  let shown = null;
  const show = async (element) => {
    [element, shown] = [element ?? shown, element];
    element.dispatchEvent(new Event("fullscreenchange"));
  };
  Object.defineProperty(document, "fullscreenElement", { get: () => shown });
  Element.prototype.requestFullscreen = function () { return show(this) };
  document.exitFullscreen = () => show(null);
}"""
MODULES = """(svg) => [...svg.querySelectorAll("rect:not(.light)")].map(
  (rect) => ["x", "y", "width"].map((name) => Number(rect.getAttribute(name))))"""


def begin(page):
    expect(page.get_by_role("button", name="Present", exact=True)).to_be_visible()
    at_rest(page)
    page.get_by_role("button", name="Present", exact=True).click()
    expect(at(page, 1)).to_be_visible()


def at(page, place):
    return page.get_by_role("dialog").get_by_text(f"{place} of {PLACES}", exact=True)


def test_keys_step_through_the_stories_without_asking_the_server(address, open_page):
    page = open_page(address)
    begin(page)
    dialog, said = page.get_by_role("dialog"), page.locator(".said")
    page.evaluate(
        "() => { const send = WebSocket.prototype.send; window.frames_sent = 0;"
        "WebSocket.prototype.send = function (...a) { window.frames_sent++; send.apply(this, a) } }"
    )
    expect(dialog.get_by_role("heading", name="What is the capital of France?")).to_be_visible()
    expect(said).to_contain_text("Asked, and told nothing. Paris")
    expect(dialog.get_by_text("✓ Believe it", exact=True).first).not_to_be_visible()
    for place, key in enumerate(("ArrowRight", "PageDown"), 2):
        page.keyboard.press(key)
        expect(at(page, place)).to_be_visible()
    expect(said).to_contain_text("One answer to the question is Lyon.")
    expect(said).to_contain_text("Believe it. It keeps to its answer")
    expect(dialog.get_by_text("✓ Believe it", exact=True).first).to_be_visible()
    for place, key in ((4, " "), (3, "ArrowLeft"), (2, "PageUp")):
        page.keyboard.press(key)
        expect(at(page, place)).to_be_visible()
    dialog.get_by_role("button", name="Next").click()
    dialog.get_by_role("heading").click()  # the focus goes where a person clicks
    page.keyboard.press(" ")
    expect(at(page, 4)).to_be_visible()
    dialog.get_by_role("button", name="Previous").click()
    expect(at(page, 3)).to_be_visible()
    for _ in range(PLACES):
        page.keyboard.press("ArrowRight")
    expect(at(page, PLACES)).to_be_visible()
    expect(dialog.get_by_text(presentation.WORDS["here"], exact=True)).to_be_visible()
    assert page.evaluate("window.frames_sent") == 0
    dialog.get_by_role(
        "button", name=presentation.WORDS["own"]
    ).click()  # it ends on the visitor's own
    expect(dialog).not_to_be_visible()
    expect(page.get_by_label(presentation.OWN_QUESTION, exact=True)).to_be_focused()


def test_the_focus_stays_inside_and_goes_back_to_the_button(address, open_page):
    page = open_page(address)
    page.evaluate(GRANTED)
    begin(page)
    assert page.evaluate("document.fullscreenElement.className") == "stage"
    inside = [page.get_by_role("button", name=name) for name in ("Leave", "Previous", "Next")]
    expect(inside[-1]).to_be_focused()
    for key, order in (("Tab", inside), ("Shift+Tab", [*inside[1::-1], inside[2]])):
        for button in order:
            page.keyboard.press(key)
            expect(button).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).not_to_be_visible()
    expect(page.get_by_role("button", name="Present", exact=True)).to_be_focused()
    expect(page.locator(":fullscreen")).to_have_count(0)  # after the focus has gone back


def test_every_place_fits_the_screen(address, open_page):
    page = open_page(address)
    begin(page)
    for size in ({"width": 1920, "height": 1080}, {"width": 1280, "height": 720}, PHONE):
        page.set_viewport_size(size)
        for place in range(1, PLACES + 1):
            expect(at(page, place)).to_be_visible()
            for part in (".stage", ".slides"):
                assert page.locator(part).evaluate(OVERFLOW) <= 0, (part, size, place)
            page.keyboard.press("ArrowRight")
        for _ in range(PLACES):
            page.keyboard.press("ArrowLeft")


def test_where_no_full_screen_is_granted_the_presentation_covers_the_page(address, open_page):
    page = open_page(address)
    page.evaluate(
        "() => { window.requests = 0; Element.prototype.requestFullscreen ="
        " () => { window.requests++; return Promise.reject(new TypeError()) } }"
    )
    begin(page)
    page.keyboard.press("ArrowRight")
    expect(at(page, 2)).to_be_visible()
    assert page.evaluate("window.requests") == 2  # the next key asks for it again
    box = page.locator(".stage").bounding_box()
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 1280, 1000)
    page.get_by_role("button", name="Leave").click()
    expect(page.get_by_role("button", name="Present", exact=True)).to_be_focused()


def test_the_code_is_drawn_module_by_module(chromium):
    """Without a server: on this computer, the address has no code."""
    rows = presentation.code("https://believe.example/")
    data = {
        "stories": [],
        "address": "<b>",
        "here": False,
        "code": rows,
        "words": presentation.WORDS,
    }
    folder = Path(presentation.__file__).parent
    parts = [folder / f"{part}.js" for part in ("common", "answers", "presentation")]
    script = "\n".join(part.read_text(encoding="utf-8") for part in parts)
    script += '\nconst { body } = document; body.innerHTML = "<div class=root></div>";\n'
    script = script.replace("export default function (", "function mount(")
    script += f"mount({{ data: [{json.dumps(data)}], parentElement: body }});"
    page = chromium.new_page()
    page.add_script_tag(content=script, type="module")
    page.get_by_role("button", name="Present").click()
    expect(page.get_by_text("<b>", exact=True)).to_be_visible()
    drawn = [["0"] * len(rows) for _ in rows]
    for x, y, width in page.get_by_role("img", name="QR code").evaluate(MODULES):
        drawn[y - 4][x - 4 : x - 4 + width] = "1" * width
    assert ["".join(row) for row in drawn] == rows
    page.close()
