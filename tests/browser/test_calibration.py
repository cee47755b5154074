"""The page "Calibration" as a person uses it."""

import json
import re

import pytest
from playwright.sync_api import expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from core.abstention.policy_files import from_json
from core.studies.calibration.calibration import BEST
from core.studies.inspection.certificates import usual_least_mass
from core.studies.inspection.pipeline import pipeline_of, to_text
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.request import Reading
from tests.browser.server import (
    at_rest,
    downloaded,
    exporting,
    go_to,
    question_of,
    screens,
    too_wide,
)
from tests.csv_files import csv_file, records_in

pytestmark = pytest.mark.browser

IMAGE, FORMULA = "![x](http://192.0.2.1/x.png)", '=HYPERLINK("http://192.0.2.1")'
PRICE = "$5 and $6 <b>:red[x]"
RIGHT, ROWS = 150, 200  # of the tables here: the right answers have the smaller doubts
CERTIFIED, FOUND = 153, 1.525  # P(Bin(153, 5 %) ≤ 3) is below 5 %, P(Bin(154, 5 %) ≤ 4) is not
SURER, DOUBTS = "Scores where larger means a surer answer", "Scores where larger means more doubt"
TABS = ("All scores", "By entropy", "Comparison with intervals")


@pytest.fixture
def mine(embedded):
    """Scores of this pipeline; nobody can guess what its other headings mean."""
    made_by = pipeline_of(
        embedded.name,
        embedded.revision,
        usual_request("Who?", embedded.capabilities),
        Reading(),
        usual_least_mass(),
    )
    return csv_file(
        ("asked", "mutual_information", "first", "second", "pipeline"),
        (
            (
                f"{FORMULA} {row}" if row % 2 else f"question {row}",
                row / 100,
                row % 2,
                int(row < RIGHT),
                to_text(made_by),
            )
            for row in range(ROWS)
        ),
    )


def hostile():
    """Text from somebody who wishes us ill, wherever a table has text."""
    return csv_file(
        ("question", "source", IMAGE, PRICE, "correct"),
        (
            (
                f"{row} {IMAGE}",
                f"<img src=http://192.0.2.1/{row % 3}.png>",
                row,
                -row,
                row < RIGHT or row == ROWS - 1,
            )
            for row in range(ROWS)
        ),
    )


def upload(page, content, name="mine.csv"):
    uploader = page.locator(".st-key-labelled_file")
    uploader.locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": content}
    )
    expect(page.get_by_text(re.compile(f"^{re.escape(name)}: \\d+ row"))).to_be_visible()
    at_rest(page)


def opened(page, label):
    """Open an expander unless it is open."""
    expander = page.get_by_test_id("stExpander").filter(has_text=label)
    if expander.locator("details[open]").count() == 0:
        expander.locator("summary").click()
        at_rest(page)  # a list that is opened while its place still moves closes again
    return expander


def choose(page, field, option, close=False):
    """Choose in a list, by typing and a click; one of several stays open until it is closed."""
    box = page.get_by_role("combobox", name=field, exact=True).first
    box.click()
    box.press_sequentially(option)
    page.get_by_role("option", name=option, exact=True).click()
    if close:
        box.press("Escape")
    at_rest(page)


def on_these_rows(page):
    """The share that is answered of the rows that set the limit, in brackets of the example."""
    return number(page, "answers").inner_text().partition("(")[2].rstrip(")")


def number(page, name):
    """One of the numbers above the threshold: "answers", "wrong" or "promised"."""
    return page.locator(f".numbers .{name} dd")


def outcome(page):
    return page.locator(".st-key-outcome")


def exported(page, button):
    """A file of the menu, which is closed again."""
    content = downloaded(page, button, exporting(page))
    page.keyboard.press("Escape")
    return content


def with_the_example(page):
    """The page opens with it."""
    expect(page.locator(".st-key-data_head")).to_contain_text("1,994 questions")
    expect(outcome(page)).to_contain_text("Promised")
    at_rest(page)


def drawn(page, chart):
    """Wait for a picture: they come after the script has ended."""
    found = page.locator(f"[aria-label^='{chart}']")
    expect(found.locator("canvas,svg,.bar").first).to_be_visible()


def test_from_a_file_to_a_policy_that_decides(address, open_page, mine):
    page = open_page(f"{address}/calibration")
    at_rest(page)
    upload(page, mine)
    # Two columns could be the labels, and none is guessed: the person says it.
    expect(page.get_by_text("Several columns could say whether an answer is")).to_be_visible()
    opened(page, "What the columns mean")
    choose(page, "Right or wrong", "second")
    choose(page, "Question", "asked")
    choose(page, "What value 1 means", "The answer is right")
    choose(page, "What value 2 means", "The answer is wrong")
    expect(outcome(page)).to_contain_text("Promised")
    expect(number(page, "answers")).to_have_text(f"{CERTIFIED / ROWS:.1%}")
    expect(page.locator(".answered")).to_have_text(f"answered below limit {FOUND}")

    slider = page.get_by_role("slider")
    slider.focus()
    slider.press("ArrowRight")
    expect(number(page, "promised")).to_have_text("No promise")
    moved = page.locator(".st-key-moved")
    expect(moved).to_contain_text("No promise")
    by_hand = json.loads(exported(page, "Policy (JSON)"))
    assert by_hand["method"] == "by hand" and by_hand["threshold"] > FOUND
    page.get_by_role("button", name="Back to its place").click()
    expect(moved).to_have_count(0)
    at_rest(page)

    policy = from_json(exported(page, "Policy (JSON)"))
    assert (policy.method, policy.score, policy.threshold) == ("ltt", "mutual_information", FOUND)
    assert (policy.labels, policy.answered, policy.errors) == (ROWS, CERTIFIED, CERTIFIED - RIGHT)

    page.get_by_role("button", name=f"Use limit {FOUND:.3g}").click()
    in_use = page.locator(".st-key-policy")
    expect(in_use).to_contain_text("Policy in use")
    at_rest(page)
    go_to(page, "Inspection")
    expect(in_use).to_contain_text(policy.in_short)
    question_of(page).fill("Name a yellow fruit.")
    question_of(page).press("Enter")
    expect(page.locator(".st-key-verdict")).to_contain_text(
        re.compile(rf"M\.I\.\), nats.*from {FOUND}")
    )

    go_to(page, "Calibration")
    expect(page.get_by_text("mine.csv: 200 rows, 5 columns (CSV)")).to_be_visible()
    expect(number(page, "answers")).to_have_text(f"{CERTIFIED / ROWS:.1%}")
    page.get_by_role("button", name="Stop using it").click()
    expect(in_use).to_have_count(0)


def fits(page):
    opened(page, "Behind it")
    for _ in screens(page):
        page.get_by_role("tab", name=TABS[0]).click()
        for chart in ("Answering every", "Histogram of", "Precision by recall"):
            drawn(page, chart)
        assert too_wide(page) <= 0
        for tab in TABS[1:]:
            page.get_by_role("tab", name=tab).click()
            at_rest(page)
            assert too_wide(page) <= 0


def test_moving_the_threshold_asks_the_server_once_it_rests(address, open_page):
    page = open_page("about:blank")
    runs, sent = [], []  # how each run ended, which says what it was; and what asked for one

    def note(payload):
        message = ForwardMsg.FromString(payload)
        if message.HasField("script_finished"):
            runs.append(ForwardMsg.ScriptFinishedStatus.Name(message.script_finished))

    def connect(socket):
        socket.on("framereceived", note)
        socket.on("framesent", lambda payload: sent.append(payload))

    page.on("websocket", connect)
    page.goto(f"{address}/calibration")
    at_rest(page)
    with_the_example(page)
    # The scores are compared in a job behind a tab; its end reruns the page once more.
    opened(page, "Behind it")
    page.get_by_role("tab", name="Comparison with intervals").click()
    page.get_by_role("button", name="Compare with intervals").click()
    expect(page.get_by_text("Paired bootstrap, 2,000 resamples")).to_be_visible()
    at_rest(page)
    assert "FINISHED_SUCCESSFULLY" in runs
    slider, certified = page.get_by_role("slider"), number(page, "answers").inner_text()
    rows = page.locator(".margin .served .open")
    last = rows.last.inner_text()
    runs.clear()
    sent.clear()
    # Held down, in the browser alone: numbers, promise, curve and rows follow.
    slider.evaluate("range => { range.value = 60; range.dispatchEvent(new Event('input')); }")
    expect(number(page, "answers")).not_to_have_text(certified)
    expect(number(page, "promised")).to_have_text("No promise")
    expect(rows.last).not_to_have_text(last)
    assert not sent and not runs
    answers = on_these_rows(page)
    slider.evaluate("range => range.dispatchEvent(new Event('change'))")
    expect(page.locator(".st-key-moved")).to_contain_text(f"({answers})")
    at_rest(page)  # a click in the middle of a run ends it early
    page.wait_for_url(re.compile("threshold="))
    page.get_by_role("button", name="Back to its place").click()
    expect(page.locator(".st-key-moved")).to_have_count(0)
    at_rest(page)
    assert runs == ["FINISHED_FRAGMENT_RUN_SUCCESSFULLY"] * 2 and len(sent) == 2
    expect(number(page, "answers")).to_have_text(certified)
    page.set_viewport_size({"width": 1280, "height": 1500})
    fits(page)


def test_predictions_are_labelled_by_keyboard(address, open_page):
    page = open_page(f"{address}/calibration")
    at_rest(page)
    rows = [(f"{PRICE} {row}", IMAGE, "x", row / 10) for row in range(9)]
    upload(page, csv_file(("question", "prediction", "gold", "doubt"), rows), "predictions.csv")
    page.get_by_text("A person", exact=True).click()
    expect(page.get_by_text("0 of 9 labelled")).to_be_visible()
    at_rest(page)
    for number, pressed in enumerate("1232", 1):
        page.keyboard.press(pressed)
        expect(page.get_by_text(f"{number} of 9 labelled")).to_be_visible()
    page.keyboard.press("u")
    expect(page.get_by_text("3 of 9 labelled, 1 of them left out")).to_be_visible()
    page.get_by_role("button", name="Use these 3 labels").click()
    expect(page.get_by_text("A person and the rule “same answer” differ on")).to_be_visible()
    page.reload()
    at_rest(page)
    expect(page.get_by_text("3 of 9 labelled, 1 of them left out")).to_be_visible()
    assert page.locator("img[src*='192.0.2.1']").count() == 0


def test_from_the_histogram_to_a_row_to_its_inspection_and_back_after_a_reload(address, open_page):
    page = open_page(f"{address}/calibration", height=2600)
    at_rest(page)
    with_the_example(page)
    chart = page.get_by_role("img", name="Histogram of")
    place = chart.bounding_box()
    page.mouse.move(place["x"] + place["width"] * 0.5, place["y"] + 60)
    page.mouse.down()
    page.mouse.move(place["x"] + place["width"] * 0.7, place["y"] + 60, steps=5)
    page.mouse.up()
    selected = page.get_by_text("as selected in the histogram")
    expect(selected).to_be_visible()
    at_rest(page)
    chart.click(position={"x": place["width"] * 0.8, "y": 60})
    expect(selected).to_have_count(0)
    at_rest(page)

    opened(page, "All rows")
    at_rest(page)
    page.get_by_test_id("stButtonGroup").get_by_text("Answered and wrong").click()
    at_rest(page)
    rows = records_in(downloaded(page, "Table (CSV)"))
    assert {(row["right or wrong"], row["decision"]) for row in rows} == {("wrong", "served")}
    behind = page.locator("[class*='st-key-rows_']").get_by_test_id("stDataFrame")
    behind.locator(".dvn-scroller").click(position={"x": 20, "y": 55})  # the first row's box
    expect(page.get_by_text(f"Question: {rows[0]['question']}")).to_be_visible()

    page.reload()
    with_the_example(page)
    opened(page, "All rows")
    at_rest(page)
    page.get_by_test_id("stButtonGroup").get_by_text("Answered and wrong").click()
    at_rest(page)
    behind.locator(".dvn-scroller").click(position={"x": 20, "y": 55})
    page.get_by_role("button", name="Inspect this question").click()
    expect(page.get_by_label("Question", exact=True)).to_have_value(rows[0]["question"])


def test_hostile_text_stays_text(address, open_page):
    """`open_page` fails the test if anything is fetched from where it points."""
    page = open_page(f"{address}/calibration", height=1400)
    at_rest(page)
    upload(page, hostile(), f"{IMAGE}.csv")
    expect(page.locator(".st-key-direction")).to_contain_text(f"a larger “{IMAGE}” or “{PRICE}”")
    choose(page, DOUBTS, IMAGE, close=True)
    choose(page, SURER, PRICE, close=True)
    opened(page, "Method, score")
    choose(page, "Score", BEST)
    expect(outcome(page)).to_contain_text(f"each tested at δ divided by 2: {IMAGE}.")
    opened(page, "Look at the data")
    opened(page, "What the columns mean")
    opened(page, "New questions: are they like these?")
    opened(page, "Upload a policy")
    opened(page, "Behind it")
    drawn(page, f"Histogram of {IMAGE}")
    for tab in TABS:
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_role("tabpanel").filter(visible=True)).not_to_be_empty()
        at_rest(page)
    page.get_by_test_id("stVegaLiteChart").first.hover()  # a tooltip is HTML
    assert page.locator("[src*='192.0.2.1'],[href*='192.0.2.1']").count() == 0
    assert page.locator("b").filter(has_text=":red").count() == 0
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 1400})
        at_rest(page)
        assert too_wide(page) <= 0


def test_the_threshold_is_dragged_in_the_histogram_and_falls_back_into_its_place(
    address, open_page
):
    page = open_page(f"{address}/calibration", height=2600)
    at_rest(page)
    with_the_example(page)
    chart, line = page.get_by_role("img", name="Histogram of"), page.locator(".line.movable")
    heights = page.locator(".bar:not(:has(.cut))").evaluate_all(
        "bars => bars.map((bar) => parseFloat(bar.style.height) / bar.title.match(/: (\\d+)/)[1])"
    )
    assert len(heights) > 40 and max(heights) - min(heights) < 1e-3  # so they may be stacked
    # Of 785 right ones, those that are no “Believe it” are drawn whole, over the cut.
    expect(page.locator(".many")).to_have_text("785")
    expect(page.locator(".bar:has(.cut)")).to_have_attribute("title", re.compile("✓ Believe it$"))
    limit = page.locator(".answered")
    certified = limit.inner_text()
    moved = page.locator(".st-key-moved")

    def drag(x):
        """Drag the line to a place, as a share of the plot's width."""
        place, grip = chart.bounding_box(), line.bounding_box()
        at = place["y"] + place["height"] / 2
        page.mouse.move(grip["x"] + grip["width"] / 2, at)
        page.mouse.down()
        page.mouse.move(place["x"] + place["width"] * x, at, steps=5)

    place, grip = chart.bounding_box(), line.bounding_box()
    home = (grip["x"] + grip["width"] / 2 - place["x"]) / place["width"]
    drag(0.7)
    expect(number(page, "promised")).to_have_text("No promise")
    answered = on_these_rows(page)
    expect(moved).to_have_count(0)  # nothing was asked of the server yet
    page.mouse.up()
    expect(moved).to_contain_text("No promise")
    expect(moved).to_contain_text(answered)  # as the browser said
    at_rest(page)
    drag(home + 0.002)
    page.mouse.up()
    expect(moved).to_have_count(0)
    expect(limit).to_have_text(certified)
    at_rest(page)
    asked = page.locator(".margin .withheld .open").first
    question = asked.inner_text()
    asked.click()
    expect(page.get_by_label("Question", exact=True)).to_have_value(question)
