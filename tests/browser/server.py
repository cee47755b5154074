"""Start the app on this machine, for browser tests and benchmarks, and look at its pages."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import TimeoutError, expect

ROOT = Path(__file__).parents[2]
START_WITHIN = 120  # seconds, on a busy machine


def free_port():
    """Return a port of this machine on which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def start_server(*options, folder=ROOT, app=ROOT / "app.py", port=None, **environment):
    """Start the app on a free port of this machine; return the process and its address.

    The options are those of ``streamlit run``, behind those that every test wants; the command is
    given in `folder`, and the variables of `environment` are for the server alone.
    """
    port = port or free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(app)]
    command += ["--server.port", str(port), "--server.headless", "true", *options]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://localhost:{port}"
    deadline = time.monotonic() + START_WITHIN
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1):
                return process, address
        except OSError:
            time.sleep(0.2)
    process.kill()
    raise RuntimeError("the app did not start")


SHOOTING = bool(os.environ.get("BELIEVE_SCREENSHOTS"))
DOCS = ROOT / "docs"
PHONE = {"width": 390, "height": 844}

CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# The script has ended, no work is on its way, and nothing waits for its component to be loaded,
# all of it for a while: the end of one run may be the beginning of the next.
AT_REST = """() => {
  const rests =
    document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === 'notRunning'
    && !document.querySelector('[data-testid="stProgress"], [data-testid="stSkeleton"]');
  window.restsSince = rests ? window.restsSince ?? performance.now() : undefined;
  return rests && performance.now() - window.restsSince > 300;
}"""

# Streamlit scrolls inside the document, so that the document alone never seems too wide.
TOO_WIDE = """() => Math.max(
  ...[document.documentElement, ...document.querySelectorAll('[data-testid="stMain"]')]
    .map(element => element.scrollWidth - element.clientWidth)
)"""


def at_rest(page):
    """Wait until the script has run to its end, and stays there."""
    page.evaluate("window.restsSince = undefined")
    page.wait_for_function(AT_REST, polling=100)


def screens(page):
    """Show a page on one screen after the other; yield the name of each."""
    yield "wide-light"
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark")
    at_rest(page)
    yield "phone-dark"


def shoot(page, name):
    """Take a picture of the documentation anew, if it is in it and that is asked for."""
    picture = DOCS / f"{name}.png"
    if SHOOTING and picture.exists():
        page.screenshot(path=picture)


def too_wide(page):
    """Return by how many pixels the page stays wider than the screen: charts follow it late."""
    with contextlib.suppress(TimeoutError):
        page.wait_for_function(f"() => ({TOO_WIDE})() <= 0", timeout=20_000)
    return page.evaluate(TOO_WIDE)


def go_to(page, name):
    """Choose another page in the navigation, and wait until it is there."""
    link = page.get_by_test_id("stTopNavLink").filter(has_text=name)
    link.click()
    expect(link).to_have_attribute("aria-current", "page")
    at_rest(page)


def inspected(page):
    """Wait until an inspection is there to its end, and nothing more is on its way."""
    expect(page.locator(".st-key-verdict")).to_be_visible()
    folds = page.locator("summary", has_text="Everything behind it")
    reveal = page.get_by_role("button", name="Show the embedded model’s answer")
    expect(folds.or_(reveal).first).to_be_visible()
    at_rest(page)  # the button may be one that was pressed, and about to go
    if reveal.is_visible():  # what the model was not taught is shown to who asks
        reveal.click()
    expect(folds).to_be_visible()
    at_rest(page)


def unfold(page, label):
    """Open a fold of the page, and wait for what is in it."""
    page.locator("summary", has_text=label).click()
    at_rest(page)


def exporting(page):
    """Open the menu of files, if it is not open, and return it."""
    files = page.locator("[class*=st-key-files_]")
    if not files.is_visible():
        page.get_by_role("button", name="Export", exact=True).click()
        expect(files).to_be_visible()
        at_rest(page)
    return files


def downloaded(page, button, within=None):
    """Press a button, and return the content of the file that it offers."""
    with page.expect_download() as download:
        (within or page).get_by_role("button", name=button, exact=True).first.click()
    return Path(download.value.path()).read_bytes()


def question_of(page):
    """Return the field for the question; tables have the word in their description."""
    return page.get_by_label("Question", exact=True)


def stop_server(process):
    """Stop a server, and wait until it has stopped."""
    process.terminate()
    process.wait()
