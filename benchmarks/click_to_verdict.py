"""What a person waits for in a real browser: milliseconds.

``python -m benchmarks.click_to_verdict`` starts the app on this machine, asks questions
that nobody has asked before, and prints the median from pressing Enter to a painted verdict, in
milliseconds and beside a page of Streamlit's that only repeats what is typed; then it moves the
control of the home page and the threshold of Calibration, and prints the median from each step to
what it paints. Absolute times depend on the machine; the aims are half a second, 50 ms and 20 ms on
a quiet one.
"""

import os
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from benchmarks.ratios import Ratio, each, report
from core import outputs
from core.data.world import facts as world
from core.data.world.facts import Band
from tests.browser.server import CHROMIUM_FLAGS, at_rest, start_server, stop_server

QUESTIONS = 20
VERDICT = Ratio("From Enter to a painted verdict in Chromium", unit="ms")
TIMES = Ratio("From Enter to a painted verdict / on a page that only repeats the question")
STEP = Ratio("A step of Home's control, until it is painted", unit="ms")
THRESHOLD = Ratio("A step of Calibration's threshold, until it is painted", unit="ms")
RATIOS = (VERDICT, TIMES, STEP, THRESHOLD)

LEAST = """import streamlit as st

question = st.text_input("Question")
with st.container(key="verdict"):
    st.text(question)
"""

# Resolves once the answer of the question just asked has been painted: the page keeps the
# old one, dimmed, until the new one comes, so neighbouring questions have other answers.
MEASURE = """() => new Promise(resolve => {
  const shown = () => document.querySelector('.st-key-verdict')?.innerText;
  const before = shown();
  document.addEventListener('keydown', event => {
    if (event.key !== 'Enter') return;
    const started = performance.now();
    const look = () => {
      if (shown() && shown() !== before)
        requestAnimationFrame(() => resolve(performance.now() - started));
      else if (performance.now() - started > 10000) resolve(null);
      else requestAnimationFrame(look);
    };
    look();
  }, { capture: true, once: true });
})"""

# Moves the control to every place in turn; resolves with the times until each was painted.
STEPS = """async (control) => {
  const took = [];
  const painted = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  for (let at = 0; at <= Number(control.max); at++) {
    const began = performance.now();
    control.value = at;
    control.dispatchEvent(new Event('input'));
    await painted();
    took.push(performance.now() - began);
  }
  return took;
}"""


def milliseconds(page: Page, question: str) -> float:
    """Ask on a page; return the time from Enter until what it says is painted."""
    field = page.get_by_label("Question", exact=True)
    field.fill(question)
    page.evaluate(f"() => {{ window.measured = ({MEASURE})(); }}")
    field.press("Enter")
    took = page.evaluate("window.measured")
    if took is None:
        raise SystemExit(f"No verdict within ten seconds: {question}")
    page.wait_for_timeout(1000)
    return float(took)


def measured(address: str, least: str) -> dict[Ratio, list[float]]:
    """Measure the app at an address, and beside it the least page at another."""
    known = [f for f in world.facts() if f.band is Band.BY_HEART and f.answers[0].text != "Paris"]
    distinct = list({f.answers[0].text: f for f in known}.values())[:: len(known) // QUESTIONS]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which(os.environ.get("CHROMIUM", "chromium")),
            args=list(CHROMIUM_FLAGS),
        )
        page, beside = browser.new_page(), browser.new_page()
        page.goto(f"{address}/inspection")
        page.locator("summary", has_text="Everything behind it").wait_for()
        beside.goto(least)
        took = []
        for fact in distinct[:QUESTIONS]:
            for each_page in (page, beside):
                each_page.bring_to_front()
                took.append(milliseconds(each_page, fact.question))
        page.bring_to_front()
        page.goto(address)
        steps = page.get_by_role("slider", name="Contradict it").evaluate(STEPS)
        page.goto(f"{address}/calibration")
        slider = page.get_by_role("slider", name="Answer more, or fewer")
        slider.wait_for()
        at_rest(page)
        moves = slider.evaluate(STEPS)
    return {VERDICT: took[::2], TIMES: each(took[::2], took[1::2]), STEP: steps, THRESHOLD: moves}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "least.py")
        outputs.write(script, LEAST)
        servers = [start_server(), start_server(app=script)]
        try:
            report(measured(*(address for _, address in servers)))
        finally:
            for process, _ in servers:
                stop_server(process)


if __name__ == "__main__":
    main()
