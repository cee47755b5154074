"""A running app and a real browser for the tests in this folder."""

import os
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.server import CHROMIUM_FLAGS, start_server, stop_server
from tests.patience import LONG

# Patience, not a measurement: a busy machine may take long, and no test depends on how long.
expect.set_options(timeout=1_000 * LONG)


HERE = Path(__file__).parent
# A page lives for seconds: what V8 would compile anew to run faster takes longer than it saves.
FLAGS = (
    *(*CHROMIUM_FLAGS, "--js-flags=--no-opt --no-maglev --single-threaded-gc"),
    "--in-process-gpu",  # another process takes a tenth more in all
)
FORBIDDEN = "Content Security Policy"  # as the console names the reason


def pytest_collection_modifyitems(items):
    """Try a test of this folder twice: on a busy machine a click or an upload can get lost.

    A test that needed its second try is listed with an R, and is to be mended.
    """
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=1))


def started():
    process, address = start_server()
    yield address
    stop_server(process)


address = pytest.fixture(started, scope="session", name="address")
cold_address = pytest.fixture(started, name="cold_address")  # that nobody has opened yet


@pytest.fixture(scope="session")
def chromium():
    path = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def tabs(chromium):
    """Tabs for test after test: a new window compiles all of the app's scripts again.

    That takes twice as long as a page in a tab that has shown one before.
    """
    context = chromium.new_context(
        accept_downloads=True,
        reduced_motion="reduce",  # moving pictures keep a processor busy
    )
    context.set_default_timeout(1_000 * LONG)
    yield _Tabs(context)
    context.close()


class _Tabs:
    def __init__(self, context):
        self._context, self._free = context, []

    def take(self):
        while self._free:
            if not (page := self._free.pop()).is_closed():
                return page
        return self._context.new_page()

    def give_back(self, page):
        """Leave nothing of a test for the next one."""
        if not page.is_closed():
            if page.url != "about:blank":
                page.evaluate("localStorage.clear(); sessionStorage.clear()")
            page.mouse.move(0, 0)
            page.goto("about:blank")
            self._free.append(page)
        self._context.clear_cookies()


@pytest.fixture
def open_page(tabs):
    """Open pages that fail the test when they ask anybody but this machine for anything.

    Nor may they want what the headers of the server forbid them.
    """
    pages, strangers, refused = [], [], []

    def hear_request(request):
        if _is_foreign(request.url):
            strangers.append(request.url)

    def hear_console(message):
        if FORBIDDEN in message.text:
            refused.append(message.text)

    def open_one(url, *, width=1280, height=1000):
        page = tabs.take()
        pages.append(page)
        page.on("request", hear_request)
        page.on("console", hear_console)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="light", media="screen")
        page.goto(url)
        return page

    yield open_one
    for page in pages:
        page.remove_listener("request", hear_request)
        page.remove_listener("console", hear_console)
        tabs.give_back(page)
    assert not strangers, f"the page asked other hosts: {strangers}"
    assert not refused, f"the page wanted what it may not do: {refused}"


def _is_foreign(url):
    return not url.startswith(("http://localhost", "ws://localhost", "data:", "blob:", "about:"))
