"""A server for strangers, as it really runs: it works for nobody who has left."""

import time
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.server import start_server, stop_server

WILD = "temperature=2&k=300"  # nearly every sample is another one: minutes of work
PATIENCE = 120  # seconds until the server must have come to rest: far less than the work left


@pytest.fixture
def public():
    process, address = start_server(BELIEVE_PUBLIC="1")
    yield process, address
    stop_server(process)


def computing(process):
    """Return how many seconds a process has computed for."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc on this system")
def test_what_closed_tabs_have_asked_for_is_not_computed(public, open_page):
    process, address = public
    pages = []
    for name in ("Laputa", "Lilliput"):
        query = quote(f"Who is the queen of {name}?")
        pages.append(open_page(f"{address}/inspection?q={query}&{WILD}"))
        pages[-1].get_by_role("button", name="Compare up to 300").click()
        expect(pages[-1].get_by_role("button", name="Cancel")).to_be_visible()
    for page in pages:
        page.close()
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        before = computing(process)
        time.sleep(1)
        if computing(process) - before < 0.1:
            return
    pytest.fail("it goes on computing for nobody")
