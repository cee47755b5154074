"""Who may open a session of a running server, and what every reply tells the browser."""

import contextlib
import http.client
import json
import socket
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError

from benchmarks.shared.visitor import Visitor
from core.ui import gate
from tests.browser.server import ROOT, free_port, start_server
from tests.loops import in_own_loop
from tests.patience import LONG

OPENED, REFUSED = 101, 403
SHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}


@contextlib.contextmanager
def running(*options, **settings):
    process, address = start_server(*options, **settings)
    try:
        yield urlsplit(address).port
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def running_at(base):
    """A server below a path: there, its health is elsewhere."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py")]
    command += [f"--server.port={port}", "--server.headless=true", f"--server.baseUrlPath={base}"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: is_alive(port, f"/{base}/_stcore/health"))
        yield port
    finally:
        process.terminate()
        process.wait()


def is_alive(port, path):
    try:
        return answer(port, path)[0] == 200
    except OSError:
        return False


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
    end = time.monotonic() + LONG
    while time.monotonic() < end:
        if ready():
            return
        time.sleep(0.05)
    raise AssertionError("it never came")


def shake(port, host, origin=None):
    """Ask for a session as a browser does whose page has `origin`."""
    sent = SHAKE | {"Host": host} | ({"Origin": origin} if origin is not None else {})
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


@pytest.mark.parametrize(
    "origin",
    [
        "http://0.0.0.0:{port}",
        "http://192.0.2.1:{port}",
        "null",
        "",
        "file://localhost",
        "http://localhost:{port}/x",
        "http://localhost:0",
        "http://user@localhost:{port}",
        "http://localhost.:99999",
    ],
)
def test_an_origin_that_is_none_of_the_names_opens_none(port, origin):
    assert shake(port, f"localhost:{port}", origin.format(port=port)) == REFUSED


def test_another_program_of_this_machine_is_trusted(port):
    assert shake(port, f"127.0.0.1:{port}", "http://localhost:3000") == OPENED


@pytest.mark.parametrize("path", ["/", "/history", "/health", "/_stcore/metrics"])
def test_a_foreign_name_or_page_gets_nothing_but_a_sentence(port, path):
    for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
        status, _, body = answer(port, path, headers)
        assert status == REFUSED and b"server.allowedHosts" in body


def test_a_probe_may_ask_under_any_name_whether_the_server_is_alive(port):
    """Kubernetes asks under the address of the container."""
    assert answer(port, "/_stcore/health", {"Host": f"10.0.0.7:{port}"})[0] == 200


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
        # A proxy may name the port, and each name that is written out may speak to the others.
        assert shake(port, "demo.example:443", "https://demo.example") == OPENED
        assert shake(port, "localhost", "https://demo.example") == OPENED
        # A wildcard does not: it may be anybody's.
        assert shake(port, "localhost", "https://a.team.example") == REFUSED


def test_settings_of_streamlit_let_no_other_page_in():
    """Neither all names, nor its own checks switched off, nor all of that together."""
    off = ("--server.enableCORS=false", "--server.enableXsrfProtection=false")
    with running("--server.allowedHosts=*", *off) as port:
        for host in ("any.example", f"localhost:{port}"):
            assert shake(port, host, f"https://{host}") == OPENED
            assert shake(port, host, "https://evil.example") == REFUSED


def test_a_page_around_this_one_may_not_steer_it(port):
    """Streamlit's own list lets every page of streamlit.app do so."""
    status, _, body = answer(port, "/_stcore/host-config")
    assert status == 200 and json.loads(body)["allowedOrigins"] == []


# ------------------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    "path",
    [
        *("/none", "/home", "/inspection/none", "/history/_stcore/health", "/favicon.ico"),
        *("/_stcore/upload_file/x/y", "/_stcore/none", "/static/none.js", "/app/static/none.js"),
        *("/media/none", "/index.htm", "/.streamlit/secrets.toml"),
    ],
)
def test_an_unknown_address_is_not_found(port, path):
    assert answer(port, path)[0] == 404


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/inspection", "/amplification", "/calibration", "/evaluation", "/laboratory"),
        *("/questions", "/history", "/history?words=x", "/index.html", "/favicon.png"),
        *("/_stcore/health", "/_stcore/metrics", "/_stcore/host-config", "/health"),
    ],
)
def test_every_page_is_at_its_address(port, path):
    assert answer(port, path)[0] == 200


def test_a_page_says_where_its_server_is_if_its_address_ends_with_its_name(port):
    paths = ("/history", "/%68istory", "//history", "/")
    said = [b"BACKEND_BASE_URL" in answer(port, path)[2] for path in paths]
    assert said == [True, False, False, False]


def test_below_a_path_of_a_proxy_it_is_the_same():
    with running_at("believe") as port:
        assert answer(port, "/believe/history")[0] == answer(port, "/believe/health")[0] == 200
        for path in ("/believe/none", "/history"):
            status, _, body = answer(port, path)
            assert status == 404 and body.endswith(b" The first page is at /believe.")


# ------------------------------------------------------------------------ the network

SPY = """
import sys
ASKS = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"}
HERE = {"localhost", "127.0.0.1", "::1", "", None}

def spy(event, args):
    if event in ASKS:
        to = args[1] if event in {"socket.connect", "socket.sendto"} else args[0]
        name = to[0] if isinstance(to, tuple) else to
        if isinstance(to, tuple | str | None) and name not in HERE and not str(to).startswith("/"):
            with open(%r, "a") as file:
                file.write(f"{event} {to}\\n")

sys.addaudithook(spy)
"""


class Network:
    """A proxy that counts whoever asks it, and answers nobody."""

    def __init__(self):
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self.requests = []
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self):
        while True:
            connection, _ = self._server.accept()
            self.requests.append(connection.recv(1000))
            connection.close()


@pytest.mark.parametrize(
    ("host", "pages"), [("localhost", ()), ("0.0.0.0", ("", *sorted(gate.pages() - {""})))]
)
def test_nothing_is_asked_of_the_network(tmp_path, host, pages):
    """Neither when the server starts, nor for a page, nor for whoever comes from elsewhere."""
    network, names = Network(), tmp_path / "names"
    (tmp_path / "sitecustomize.py").write_text(SPY % str(names))
    proxy = f"http://127.0.0.1:{network.port}"
    settings = {"http_proxy": proxy, "https_proxy": proxy, "no_proxy": ""}
    with running(f"--server.address={host}", PYTHONPATH=str(tmp_path), **settings) as port:
        assert shake(port, f"localhost:{port}", "http://203.0.113.5") == REFUSED

        async def visits():
            async with Visitor(f"http://localhost:{port}") as visitor:
                for page in pages:
                    await visitor.open(page)

        in_own_loop(visits())
    assert network.requests == []
    assert not names.exists(), names.read_text()


# --------------------------------------------------------------------------- messages


def test_a_message_has_a_limit(port):
    async def closed_with(size):
        async with connect(
            f"ws://localhost:{port}/_stcore/stream", subprotocols=["streamlit"], proxy=None
        ) as session:
            with contextlib.suppress(ConnectionClosedError):
                await session.send(bytes(size))
                async for _ in session:
                    pass
        return session.close_code

    assert in_own_loop(closed_with(5_000_000)) == 1009  # too big


# --------------------------------------------------------------------------- headers


@pytest.mark.parametrize(
    "path", ["/", "/inspection", "/_stcore/health", "/static/none.js", "/none"]
)
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
