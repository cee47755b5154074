"""Every page in every state and theme, wide and on a phone, held against the rules of axe-core.

A first screen is about one thing.
"""

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import expect

from tests.browser.server import PHONE, at_rest, inspected, too_wide, unfold

pytestmark = pytest.mark.browser

GRAVE = {"critical", "serious"}
VEGA = [[".range_brush"], [".range_brush_bg"]]  # it gives its brush a role, and no name can be set
FOLDS = ("All scores", "Everything behind it", "More answers")
DESKTOP = {"width": 1440, "height": 900}
PROJECTOR = {"width": 1280, "height": 720}
NARROW = {"width": 320, "height": 720}  # a screen of 1280 pixels at 400% (WCAG 2.2, 1.4.10)
WORDS, CONTROLS = 60, 20  # with the seven entries of the navigation, without what only helps
# What is seen: sentences outside of labels and badges, and what can be operated.
SEEN = """() => {
  const isSeen = (each) => {
    const { top, bottom, width, height } = each.getBoundingClientRect();
    return top < innerHeight && bottom > 0 && width > 1 && height > 1
      && each.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  };
  const all = (selector, inside) => [...document.querySelectorAll(selector)]
    .filter((each) => isSeen(each) && !each.closest(inside));
  const prose = all(
    '[data-testid="stText"], [data-testid="stMarkdown"] p, [data-testid="stCaptionContainer"] p',
    'button, label, summary, [role="tab"], [data-testid="stWidgetLabel"]',
  ).filter((each) => !each.querySelector('.stMarkdownBadge'))
    .map((each) => each.innerText.trim().split(/\\s+/)).filter((words) => words.length > 3);
  const controls = all(
    'a[href], button, input, select, textarea, summary, [role="tab"]',
    'h1, h2, h3, [data-testid="stElementToolbar"], [data-testid="stTooltipIcon"]',
  ).filter((each) => each.tabIndex >= 0 && !each.disabled);
  return [prose.flat(), controls.map((each) => each.innerText || each.ariaLabel)];
}"""
# Which rules decide in a theme: all, and what a theme can change. All that passes would take long.
FEW = {"resultTypes": ["violations"]}
OPTIONS = {"light": FEW, "dark": FEW | {"runOnly": ["color-contrast"]}}


def home(page):
    page.get_by_role("slider", name="Contradict it").press("End")


def calibration(page):
    expect(page.locator(".st-key-outcome")).to_contain_text("Promised")


def choosing_a_model(page):
    at_rest(page)
    page.get_by_role("button", name="Model").click()
    expect(page.get_by_role("button", name="This model is in use")).to_be_visible()


# What is done on a page after it was opened; each of the others as it is.
FIRST_SCREENS = {
    "": home,
    "inspection": inspected,
    "amplification": at_rest,
    "calibration": calibration,
    "evaluation": at_rest,
    "laboratory": at_rest,
    "history": choosing_a_model,
}


def unfolded(page, address):
    page.goto(f"{address}/inspection?q=Name+a+yellow+fruit.")
    inspected(page)
    for label in FOLDS:
        if page.locator("details[open] > summary", has_text=label).count() == 0:
            unfold(page, label)


def too_little(page, address):
    page.goto(f"{address}/inspection?q=xyzzy")
    inspected(page)


def remembered(page, address):
    for question in ("What is the capital of Zorvania?", "Name a yellow fruit."):
        page.goto(f"{address}/inspection?q={question}")
        inspected(page)
    page.goto(f"{address}/history")
    at_rest(page)
    expect(page.get_by_role("button", name="Open Name a yellow fruit.")).to_be_visible()


def opened(path):
    def open_it(page, address):
        page.goto(address + path)

    open_it.__name__ = path
    return open_it


STATES = (
    unfolded,
    too_little,
    opened("/amplification?tab=paper"),
    opened("/amplification?tab=mechanism"),
    opened("/laboratory?experiment=theorem"),
    opened("/questions"),
    remembered,
)


def held_against_rules(page):
    """Nothing grave is found in any theme, wide and on a phone, and headings are in order."""
    page.mouse.move(0, 0)  # a tooltip that is fading has a colour of the moment
    page.evaluate(AXE_SCRIPT)
    for theme, options in OPTIONS.items():
        page.emulate_media(color_scheme=theme)
        for size in (DESKTOP, PHONE):
            page.set_viewport_size(size)
            at_rest(page)
            found = page.evaluate("(given) => axe.run(...given)", [{"exclude": VEGA}, options])
            grave = [
                (finding["id"], node["target"], node["failureSummary"])
                for finding in found["violations"]
                if finding["impact"] in GRAVE or finding["id"] == "heading-order"
                for node in finding["nodes"]
            ]
            assert not grave, f"{theme}, {size}: {grave}"
            assert found["passes"], "nothing was held against a rule"


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_no_grave_finding_and_headings_in_order(address, open_page, state):
    page = open_page("about:blank")
    page.set_viewport_size(DESKTOP)
    state(page, address)
    held_against_rules(page)


@pytest.mark.parametrize(("name", "goes_on"), FIRST_SCREENS.items())
def test_a_first_screen_is_about_one_thing(address, open_page, name, goes_on):
    """It has few words and few controls, and holds against the rules, also when one goes on."""
    page = open_page(f"{address}/{name}", **PROJECTOR)
    page.wait_for_selector("h1")
    at_rest(page)
    words, controls = page.evaluate(SEEN)
    assert words and len(words) <= WORDS, words
    assert len(controls) <= CONTROLS, controls
    tops = [each.bounding_box()["y"] for each in page.locator(".st-key-chips button").all()]
    assert len(tops) >= 2 and len({*tops}) == 1, "the model, the policy and the glossary: one line"
    page.set_viewport_size(NARROW)
    at_rest(page)
    assert too_wide(page) <= 0
    page.set_viewport_size(DESKTOP)
    goes_on(page)
    held_against_rules(page)


def test_a_toolbar_is_one_stop_of_the_tab_key_and_arrows_lead_on(address, open_page):
    page = open_page(f"{address}/inspection")
    inspected(page)
    buttons = page.get_by_test_id("stElementToolbar").first.locator("button")
    expect(buttons.first).to_be_attached()
    page.keyboard.press("Tab")
    stops = "(buttons) => buttons.filter((button) => button.tabIndex === 0).length"
    assert buttons.count() > 1 and buttons.evaluate_all(stops) == 1
    buttons.first.focus()
    page.keyboard.press("ArrowRight")
    expect(buttons.nth(1)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(buttons.last).to_be_focused()
    page.keyboard.press("Tab")
    assert not buttons.evaluate_all("(all) => all.includes(document.activeElement)")
