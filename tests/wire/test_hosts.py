"""Who may open a session of a running server, and what every reply tells the browser."""

import http.client
import json
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from tests.browser.server import start_server

OPENED, REFUSED = 101, 403
SHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}


@contextmanager
def running(*options, **settings):
    process, address = start_server(*options, **settings)
    try:
        yield urlsplit(address).port
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    """A server as people start it, from a folder that holds no settings."""
    with running(folder=tmp_path_factory.mktemp("elsewhere")) as port:
        yield port


def answer(port, path, headers=()):
    """Return the status of a reply, its headers and what it holds."""
    connection = http.client.HTTPConnection("localhost", port, timeout=60)
    try:
        connection.request("GET", path, headers=dict(headers))
        reply = connection.getresponse()
        body = b"" if reply.status == OPENED else reply.read()
        return reply.status, {name.lower(): value for name, value in reply.getheaders()}, body
    finally:
        connection.close()


def until(ready):
    """Wait until something is so."""
    for _ in range(1200):
        if ready():
            return
        time.sleep(0.05)
    raise AssertionError("it never came")


def shake(port, host, origin=None):
    """Ask for a session as a browser does whose page has `origin`."""
    sent = SHAKE | {"Host": host} | ({"Origin": origin} if origin else {})
    return answer(port, "/_stcore/stream", sent)[0]


# -------------------------------------------------------------------------- sessions


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]"])
def test_a_page_of_this_machine_opens_a_session(port, name):
    assert shake(port, f"{name}:{port}", f"http://{name}:{port}") == OPENED
    assert shake(port, f"{name}:{port}") == OPENED  # a program says no origin


@pytest.mark.parametrize("name", ["evil.example", "localhost.evil.example", "demo.example"])
def test_a_name_that_was_made_to_lead_here_opens_none(port, name):
    """A page of such a name has the same origin as the address it asks: DNS rebinding."""
    for host in (name, f"{name}:{port}"):
        assert shake(port, host, f"http://{host}") == REFUSED
        assert shake(port, host) == REFUSED


def test_a_page_from_elsewhere_opens_none(port):
    assert shake(port, f"localhost:{port}", "http://evil.example") == REFUSED


NAMED = ("localhost", "demo.example", "*.team.example")


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        ([f"--server.allowedHosts={name}" for name in NAMED], {}),
        ([], {"STREAMLIT_SERVER_ALLOWED_HOSTS": " ".join(NAMED)}),
    ],
    ids=["option", "variable"],
)
def test_names_that_a_person_gives_replace_the_usual_ones(options, environment):
    with running(*options, **environment) as port:
        for host in ("demo.example", f"demo.example:{port}", "a.team.example", "localhost"):
            assert shake(port, host, f"https://{host}") == OPENED
        for host in ("evil.example", "team.example", "127.0.0.1"):
            assert shake(port, host, f"https://{host}") == REFUSED


def test_a_page_around_this_one_may_not_steer_it(port):
    """Streamlit's own list lets every page of streamlit.app do so."""
    status, _, body = answer(port, "/_stcore/host-config")
    assert status == 200 and json.loads(body)["allowedOrigins"] == []


# --------------------------------------------------------------------------- headers


@pytest.mark.parametrize("path", ["/", "/inspection", "/_stcore/health", "/static/none.js"])
def test_every_reply_tells_the_browser_what_the_page_may_do(port, path):
    _, headers, _ = answer(port, path)
    parts = headers["content-security-policy"].split("; ")
    policy = {name: allowed for name, _, allowed in (part.partition(" ") for part in parts)}
    assert policy["default-src"] == "'self' data: blob:"
    assert policy["frame-ancestors"] == "'self'" and policy["object-src"] == "'none'"
    assert "unsafe-eval" not in headers["content-security-policy"]
    assert headers["x-frame-options"] == "SAMEORIGIN"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


def test_the_browser_opens_where_there_is_one(tmp_path):
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.part && mv {opened}.part {opened}\n')
    browser.chmod(0o700)
    with running("--server.headless=false", BROWSER=f"{browser} %s &") as port:
        until(opened.exists)
    assert opened.read_text().strip() == f"http://localhost:{port}/"
