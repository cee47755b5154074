"""Every page in every state and theme, wide and on a phone, held against the rules of axe-core."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.server import PHONE, at_rest, inspected, unfold

pytestmark = pytest.mark.browser

GRAVE = {"critical", "serious"}
VEGA = [[".range_brush"], [".range_brush_bg"]]  # it gives its brush a role, and no name can be set
FOLDS = ("All scores", "Everything behind it", "More answers")
DESKTOP = {"width": 1440, "height": 900}
# Which rules decide in a theme: all, and what a theme can change. All that passes would take long.
FEW = {"resultTypes": ["violations"]}
OPTIONS = {"light": FEW, "dark": FEW | {"runOnly": ["color-contrast"]}}


def home(page, address):
    page.goto(address)
    page.get_by_role("slider", name="Contradict it").press("End")


def folded(page, address):
    page.goto(f"{address}/inspection?q=What+is+the+capital+of+France%3F")
    inspected(page)


def unfolded(page, address):
    page.goto(f"{address}/inspection?q=Name+a+yellow+fruit.")
    inspected(page)
    for label in FOLDS:
        if page.locator("details[open] > summary", has_text=label).count() == 0:
            unfold(page, label)


def too_little(page, address):
    page.goto(f"{address}/inspection?q=xyzzy")
    inspected(page)


def calibrated(page, address):
    page.goto(f"{address}/calibration")
    at_rest(page)
    expect(page.locator(".st-key-outcome")).to_contain_text("Promised")


def remembered(page, address):
    for question in ("What is the capital of Zorvania?", "Name a yellow fruit."):
        page.goto(f"{address}/inspection?q={question}")
        inspected(page)
    page.goto(f"{address}/history")
    at_rest(page)
    expect(page.get_by_role("button", name="Open Name a yellow fruit.")).to_be_visible()


def choosing_a_model(page, address):
    page.goto(f"{address}/history")
    at_rest(page)
    page.get_by_role("button", name="Model").click()
    expect(page.get_by_role("button", name="This model is in use")).to_be_visible()


def opened(path):
    def open_it(page, address):
        page.goto(address + path)

    open_it.__name__ = path
    return open_it


STATES = (
    home,
    folded,
    unfolded,
    too_little,
    opened("/amplification"),
    opened("/amplification?tab=paper"),
    opened("/amplification?tab=mechanism"),
    calibrated,
    opened("/laboratory"),
    opened("/laboratory?experiment=theorem"),
    opened("/questions"),
    opened("/evaluation"),
    remembered,
    choosing_a_model,
)


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_no_grave_finding_and_headings_in_order(address, open_page, state):
    page = open_page("about:blank")
    page.set_viewport_size(DESKTOP)
    state(page, address)
    page.mouse.move(0, 0)  # a tooltip that is fading has a colour of the moment
    for theme, options in OPTIONS.items():
        page.emulate_media(color_scheme=theme)
        for size in (DESKTOP, PHONE):
            page.set_viewport_size(size)
            at_rest(page)
            found = Axe().run(page, context={"exclude": VEGA}, options=options).response
            grave = [
                (finding["id"], node["target"], node["failureSummary"])
                for finding in found["violations"]
                if finding["impact"] in GRAVE or finding["id"] == "heading-order"
                for node in finding["nodes"]
            ]
            assert not grave, f"{theme}, {size}: {grave}"
            assert found["passes"], "nothing was held against a rule"


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
