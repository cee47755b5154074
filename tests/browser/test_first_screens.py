"""A first screen has few words and few controls: the page is about one thing."""

import pytest

from tests.browser.server import at_rest, too_wide

pytestmark = pytest.mark.browser

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


@pytest.mark.parametrize(
    "name",
    ["", "inspection", "amplification", "calibration", "evaluation", "laboratory", "history"],
)
def test_a_first_screen_is_about_one_thing(address, open_page, name):
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
