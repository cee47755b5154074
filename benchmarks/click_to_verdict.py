"""What a person waits for in a real browser: milliseconds.

``python -m benchmarks.click_to_verdict`` starts the app on this machine, asks questions
that nobody has asked before, and prints the median from pressing Enter to a painted verdict;
then it moves the control of the home page and the threshold of Calibration, and prints the median
from each step to what it paints. Absolute times depend on the machine; the aims are half a second,
50 ms and 20 ms on a quiet one.
"""

import os
import shutil

from playwright.sync_api import sync_playwright

from benchmarks.ratios import Ratio, report
from core.data.world import facts as world
from core.data.world.facts import Band
from tests.browser.server import CHROMIUM_FLAGS, at_rest, start_server

QUESTIONS = 20
VERDICT = Ratio("From Enter to a painted verdict in Chromium", unit="ms")
STEP = Ratio("A step of Home's control, until it is painted", unit="ms")
THRESHOLD = Ratio("A step of Calibration's threshold, until it is painted", unit="ms")
RATIOS = (VERDICT, STEP, THRESHOLD)

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


def main() -> None:
    known = [f for f in world.facts() if f.band is Band.BY_HEART and f.answers[0].text != "Paris"]
    distinct = list({f.answers[0].text: f for f in known}.values())[:: len(known) // QUESTIONS]
    process, address = start_server()
    times = []
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which(os.environ.get("CHROMIUM", "chromium")),
                args=list(CHROMIUM_FLAGS),
            )
            page = browser.new_page()
            page.goto(f"{address}/inspection")
            page.locator("summary", has_text="Everything behind it").wait_for()
            question = page.get_by_label("Question", exact=True)
            for fact in distinct[:QUESTIONS]:
                question.fill(fact.question)
                page.evaluate(f"() => {{ window.measured = ({MEASURE})(); }}")
                question.press("Enter")
                milliseconds = page.evaluate("window.measured")
                if milliseconds is None:
                    raise SystemExit(f"No verdict within ten seconds: {fact.question}")
                times.append(milliseconds)
                page.wait_for_timeout(1000)
            page.goto(address)
            steps = page.get_by_role("slider", name="Contradict it").evaluate(STEPS)
            page.goto(f"{address}/calibration")
            slider = page.get_by_role("slider", name="Answer more, or fewer")
            slider.wait_for()
            at_rest(page)
            moves = slider.evaluate(STEPS)
            browser.close()
    finally:
        process.terminate()
    report({VERDICT: times, STEP: steps, THRESHOLD: moves})


if __name__ == "__main__":
    main()
