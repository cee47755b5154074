"""A running app and a real browser for the tests in this folder."""

import os
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.server import CHROMIUM_FLAGS, start_server, stop_server

# Patience, not a measurement: a busy machine may take long, and no test depends on how long.
expect.set_options(timeout=60_000)


HERE = Path(__file__).parent
FORBIDDEN = "Content Security Policy"  # as the console names the reason


def pytest_collection_modifyitems(items):
    """Try a test of this folder twice: on a busy machine a click or an upload can get lost.

    A test that needed its second try is listed with an R, and is to be mended.
    """
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def address():
    process, address = start_server()
    yield address
    stop_server(process)


@pytest.fixture
def cold_address():
    """An app that nobody has opened yet."""
    process, address = start_server()
    yield address
    stop_server(process)


@pytest.fixture(scope="session")
def chromium():
    path = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path,
            args=list(CHROMIUM_FLAGS),
        )
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium):
    """Open pages that fail the test when they ask anybody but this machine for anything.

    Nor may they want what the headers of the server forbid them.
    """
    contexts, strangers, refused = [], [], []

    def open_one(url, *, width=1280, height=1000):
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="light",
            reduced_motion="reduce",  # moving pictures keep a processor busy
            accept_downloads=True,
        )
        context.set_default_timeout(60_000)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda r: strangers.append(r.url) if _is_foreign(r.url) else None)
        page.on("console", lambda m: refused.append(m.text) if FORBIDDEN in m.text else None)
        page.goto(url)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert not strangers, f"the page asked other hosts: {strangers}"
    assert not refused, f"the page wanted what it may not do: {refused}"


def _is_foreign(url):
    return not url.startswith(("http://localhost", "ws://localhost", "data:", "blob:", "about:"))
