"""The page "Home" as a person uses it: lanes under one control, and a challenge."""

import re

import pytest
from playwright.sync_api import expect

from core.studies.home import PREPARED, TIMES
from tests.browser.server import PHONE, at_rest, question_of, screens, shoot, too_wide

pytestmark = pytest.mark.browser

DESKTOP = {"width": 1440, "height": 900}


def control(page):
    return page.get_by_role("slider", name="Contradict it")


def lane(page, at):
    return page.locator(".lane").nth(at)


def bar(page, at):
    return lane(page, at).locator(".bar").get_attribute("aria-label")


def all_drawn(page):
    expect(page.locator(".lane")).to_have_count(len(PREPARED))
    expect(page.get_by_role("radio", name="follows what it is told")).to_be_visible()
    at_rest(page)


def test_the_control_contradicts_every_lane_without_asking_the_server(address, open_page):
    page = open_page(address)
    all_drawn(page)
    sent = []
    page.on("websocket", lambda socket: sent.append("a new connection"))
    expect(control(page)).to_have_attribute("aria-valuetext", "told 1 times")
    expect(lane(page, 2).get_by_text("gives way, and is wrong")).to_be_visible()
    expect(lane(page, 2).locator(".ends .own")).to_have_text("Las Vegas 51% → 1.1%")
    expect(lane(page, 0).locator(".ends .own")).to_have_text("Paris > 99.9%")  # has not moved
    parts, before = (lane(page, 1).locator(f"{bar} .part") for bar in (".bar", ".was"))
    order = ["Banana", "Lemon", "Pineapple", "Mango", "Quince", "Grapefruit", "anything else"]
    for part, name in zip(parts.all(), order, strict=True):
        expect(part).to_have_attribute("title", re.compile(f"^{name} "))
    expect(parts.nth(1)).to_have_class("part told")  # in its place among the others
    own, whole = before.first.bounding_box(), lane(page, 1).locator(".bar").bounding_box()
    assert own["width"] / whole["width"] == pytest.approx(0.34, abs=0.01)
    control(page).press("Home")
    expect(before.first).not_to_be_visible()
    expect(lane(page, 2).locator(".ends .own")).to_have_text("Las Vegas 51%")
    untold = [bar(page, at) for at in range(4)]
    expect(page.get_by_text("✓ Believe it", exact=True).first).to_be_visible()
    expect(lane(page, 2).get_by_text("gives way, and is wrong")).not_to_be_visible()
    page.evaluate(
        "() => { const send = WebSocket.prototype.send; window.frames_sent = 0;"
        "WebSocket.prototype.send = function (...a) { window.frames_sent++; send.apply(this, a) } }"
    )
    control(page).focus()
    for times in TIMES[1:]:
        control(page).press("ArrowRight")
        expect(control(page)).to_have_attribute("aria-valuetext", f"told {times} times")
    expect(lane(page, 0)).to_contain_text("One answer to the question is Lyon.")
    expect(lane(page, 0)).to_contain_text("Believe it")
    expect(lane(page, 2)).to_contain_text("? I don’t know")
    assert [bar(page, at) for at in (2, 3)] != untold[2:]
    control(page).press("Home")
    assert [bar(page, at) for at in range(4)] == untold
    assert page.evaluate("window.frames_sent") == 0 and not sent


def test_the_control_moves_once_by_itself_unless_motion_is_not_wanted(address, open_page):
    page = open_page("about:blank")
    page.emulate_media(reduced_motion="no-preference")
    page.goto(address)
    expect(control(page)).to_have_attribute("aria-valuetext", "told 0 times")
    expect(control(page)).to_have_attribute("aria-valuetext", "told 1 times")
    control(page).press("Home")
    at_rest(page)
    expect(control(page)).to_have_attribute("aria-valuetext", "told 0 times")
    page.emulate_media(reduced_motion="reduce")


def test_a_lane_opens_as_an_inspection(address, open_page):
    page = open_page(address)
    all_drawn(page)
    page.get_by_role("button", name="Name a yellow fruit.").press("Enter")
    expect(question_of(page)).to_have_value("Name a yellow fruit.")


def test_ones_own_question_becomes_the_fifth_lane_as_text_and_the_control_stays(address, open_page):
    page = open_page(address)
    all_drawn(page)
    control(page).focus()
    control(page).press("End")
    field = page.get_by_label("Your own question", exact=True)
    hostile = "<img src=x onerror=alert(1)> **b** :red[x]"
    for question, shown in (("What is the capital of Spain?", "Madrid"), (hostile, hostile)):
        field.fill(question)
        field.press("Enter")
        expect(lane(page, 4)).to_contain_text(shown)
        expect(control(page)).to_have_attribute("aria-valuetext", f"told {TIMES[-1]} times")
    assert page.locator(".lane img").count() == 0


def test_the_challenge_cannot_be_won_with_entropy_and_can_with_mutual_information(
    address, open_page
):
    page = open_page(address)
    all_drawn(page)
    threshold = page.get_by_role("slider", name="Answer below")
    for measure, can_be_won in (("its answers differ", False), ("follows what it is told", True)):
        page.get_by_role("radio", name=measure).check()
        threshold.focus()
        threshold.press("Home")
        scores = threshold.evaluate(
            "(input) => { const said = new Set();"
            "for (let v = 0; v <= Number(input.max); v += Number(input.step)) {"
            "  input.value = v; input.dispatchEvent(new Event('input'));"
            "  said.add(input.getRootNode().querySelector('.score').textContent) }"
            "return [...said] }"
        )
        assert ("All four decisions are right." in scores) == can_be_won, scores
        hint = page.get_by_text("By this measure, no threshold gets all four right.")
        expect(hint).to_have_count(0 if can_be_won else 1)
    box, before = page.locator(".track").first.bounding_box(), threshold.input_value()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    assert float(threshold.input_value()) < float(before)  # it can be dragged, too


def test_a_phone_reaches_the_other_pages(address, open_page):
    page = open_page(address, width=390, height=844)
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("link", name="Laboratory").click()
    expect(page).to_have_title("Laboratory · Believe")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_lanes_control_and_question_are_on_the_first_screen(address, open_page, size):
    page = open_page(address, **size)
    all_drawn(page)
    control(page).focus()
    control(page).press("End")
    field = page.get_by_label("Your own question", exact=True)
    for seen in (control(page), lane(page, 3), field):
        box = seen.bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= size["height"]


def test_on_a_phone_the_challenge_breaks_no_line_and_a_track_is_as_wide_as_the_page(
    address, open_page
):
    page = open_page(address, **PHONE)
    all_drawn(page)
    for words in page.locator(".plot :is(.name, .decision)").all():
        box = words.bounding_box()
        assert box["height"] < 25, words.inner_text()
    for track, decision in zip(
        page.locator(".plot .track").all(), page.locator(".plot .decision").all(), strict=True
    ):
        box, above = track.bounding_box(), decision.bounding_box()
        assert box["width"] > 0.8 * PHONE["width"] and above["y"] + above["height"] <= box["y"]
    assert too_wide(page) <= 0


@pytest.mark.parametrize("width", [390, 720, 1000, 1024])
def test_no_share_of_a_lane_is_cut(address, open_page, width):
    page = open_page(f"{address}/?own=Who+wrote+Hamlet%3F", width=width, height=900)
    expect(lane(page, 4)).to_contain_text("William Shakespeare")  # a long name against another
    at_rest(page)
    for end in page.locator(".ends > *").all():
        assert end.evaluate("(each) => each.scrollWidth <= each.clientWidth"), end.inner_text()
    names = lane(page, 1).locator(".below")  # where the bar has no room for them
    expect(names).to_contain_text("Pineapple 18%")
    expect(names).to_be_visible(visible=width == 390)
    assert not lane(page, 3).locator(".below span").count(), "what is made up has no names"


def test_fits_the_screen(address, open_page):
    page = open_page(address, height=1180)
    page.set_viewport_size({"width": 1920, "height": 1180})
    fits(page)
    page.set_viewport_size({"width": 1280, "height": 1180})
    for name in screens(page):
        all_drawn(page)
        control(page).focus()
        control(page).press("Home")
        for _ in range(TIMES.index(5)):
            control(page).press("ArrowRight")
        expect(lane(page, 3)).to_contain_text("? I don’t know")
        fits(page)
        shoot(page, f"home-{name}")
        control(page).press("Home")


def fits(page):
    all_drawn(page)
    assert too_wide(page) <= 0
    for at in range(4):
        box = lane(page, at).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= page.viewport_size["width"]
