"""What a person sees when the server is killed or the connection is cut, and afterwards."""

import re
import threading
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from tests.browser.server import at_rest, start_server, stop_server, unfold
from tests.browser.test_models import choose
from tests.language_models.openai_server import serving

pytestmark = pytest.mark.browser

UNREACHABLE = "The server cannot be reached. This page goes on by itself"


def is_said(page, words):
    """Screen readers read aloud what comes into an alert; see `nothing_is_said`."""
    expect(page.get_by_role("alert").filter(has_text=words)).to_be_visible()


def nothing_is_said(page):
    """The alert is there, and empty: one that came with its words might not be read."""
    expect(page.locator("[role=alert].believe-unreachable")).to_be_empty()


def is_back(page):
    nothing_is_said(page)
    expect(page.locator('[data-test-connection-state="CONNECTED"]')).to_have_count(1)


@contextmanager
def holding():
    """A service that lets all requests wait after a few of a run; see `begin`."""
    held, let_go, most = threading.Semaphore(0), threading.Event(), [10**9]

    def before(path, body):
        if len(service.exchanges) > most[0]:
            held.release()
            let_go.wait()

    def begin(page):
        """Choose the service, press Ask, and wait until some of it is answered."""
        at_rest(page)
        choose(page, service)
        most[0] = len(service.exchanges) + 3
        page.get_by_role("button", name="Ask, with at most").click()
        for _ in range(1200):
            if held.acquire(blocking=False):
                return
            page.wait_for_timeout(100)  # what the browser sends through this process goes on
        raise AssertionError("The service was not asked.")

    with serving("echo", before=before) as service:
        try:
            yield service, begin, let_go
        finally:
            let_go.set()


def choose_again(page, service):
    """Choose the model before a reload again, without its key."""
    page.get_by_role("button", name="Choose it again").click()
    page.get_by_role("button", name="Use this model").click()
    expect(page.get_by_text(f"{service.base_url}: ready.")).to_be_visible()
    at_rest(page)


def test_a_server_killed_in_the_middle_of_a_run_is_found_again(open_page, tmp_path):
    """The page says which model had answered. `tests/wire/test_killed.py` proves the rest."""
    database = {"BELIEVE_DATABASE_URL": f"sqlite:///{tmp_path}/believe.db"}
    process, address = start_server(**database)
    try:
        with holding() as (service, begin, let_go):
            page = open_page(f"{address}/inspection?q=Name+a+mammal")
            begin(page)
            nothing_is_said(page)
            process.kill()
            process.wait()
            is_said(page, UNREACHABLE)
            let_go.set()
            process, _ = start_server(port=int(address.rpartition(":")[2]), **database)
            is_back(page)
            expect(page.get_by_text(f"{service.name} answered here before")).to_be_visible()
            choose_again(page, service)
            expect(page.get_by_text("answered here before")).to_have_count(0)
            page.get_by_role("button", name="Ask, with at most").click()
            expect(page.locator(".st-key-verdict")).to_be_visible()
            longer = page.get_by_role("textbox", name="Text", exact=True)
            unfold(page, "A longer text")
            longer.fill("Oslo is in Norway.\nIt rains there.")
            longer.press("Control+Enter")
            at_rest(page)
            page.reload()
            choose_again(page, service)
            unfold(page, "A longer text")
            expect(longer).to_have_value("Oslo is in Norway.\nIt rains there.")
            page.reload()
            expect(page.get_by_text("answered here before")).to_be_visible()
            page.get_by_role("button", name="Use the embedded model").click()
            expect(page.get_by_text("answered here before")).to_have_count(0)
    finally:
        stop_server(process)


def test_a_connection_that_is_cut_is_made_again_and_the_run_goes_on(address, tabs):
    """The session is still there, and the model that was chosen in it."""
    page = tabs.take()
    sockets, is_cut = [], threading.Event()

    def connect(route):
        if is_cut.is_set():
            route.close()
        else:
            sockets.append((route, route.connect_to_server()))

    page.route_web_socket(re.compile("_stcore/stream"), connect)
    try:
        with holding() as (_, begin, let_go):
            page.goto(f"{address}/inspection?q=Name+a+bird")
            begin(page)
            is_cut.set()
            for route, server in sockets:
                server.close()
                route.close()
            is_said(page, UNREACHABLE)
            let_go.set()
            is_cut.clear()
            is_back(page)
            expect(page.locator(".st-key-verdict")).to_be_visible()
            expect(page.get_by_text("answered here before")).to_have_count(0)
    finally:
        page.close()
