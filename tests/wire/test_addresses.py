"""A public dashboard and the servers that strangers name: pinned, and never sent elsewhere."""

import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from core import prompts
from core.language_models.backends.openai import address
from core.language_models.backends.openai.model import OpenAICompatible
from core.language_models.errors import RefusedError, UnreachableError
from tests.language_models.openai_server import serving
from tests.patience import LONG

PROMPT = prompts.iterative("Name a mammal")
KEY = "sk-wire-address-0123456789"


@pytest.fixture
def public(monkeypatch):
    monkeypatch.setenv("BELIEVE_PUBLIC", "1")


def test_a_name_that_changes_its_address_leads_nowhere_else(public, monkeypatch):
    """The name stands for a public address when it is looked up, for a private one afterwards.

    Here 127.0.0.1 plays the public one, and 127.0.0.2 the private one, at the same port.
    """
    known, looked_up = socket.getaddrinfo, []

    def getaddrinfo(host, *rest, **options):
        if host == "rebinding.example":
            host = "127.0.0.2" if looked_up else "127.0.0.1"
            looked_up.append(host)
        return known(host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # nor to who would look it up again
    monkeypatch.setattr(address, "is_global", lambda address: address == "127.0.0.1")
    together = []  # three requests that are there at once need three connections
    with (
        serving("echo", before=lambda *_: together and together[0].wait(LONG) and None) as server,
        socket.socket() as private,
        ThreadPoolExecutor(3) as threads,
    ):
        port = int(server.base_url.split(":")[2].removesuffix("/v1"))
        private.bind(("127.0.0.2", port))
        private.listen()
        private.setblocking(False)
        model = OpenAICompatible(server.rest.replace("127.0.0.1", "rebinding.example"), KEY)
        assert model.sample(PROMPT, 1)
        together.append(threading.Barrier(3))
        assert all(threads.map(lambda first: model.sample(PROMPT, 1, first=first), (1, 2, 3)))
        together.clear()
        with pytest.raises(BlockingIOError):
            private.accept()
        assert looked_up == ["127.0.0.1"]
        hosts = {exchange.headers["Host"] for exchange in server.exchanges}
        assert hosts == {f"rebinding.example:{port}"}
        again = OpenAICompatible(model.name.removeprefix("openai:"), "another-key")
        with pytest.raises(RefusedError, match="public internet"):
            again.sample(PROMPT, 1)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("known", [False, True])
def test_a_redirect_is_not_followed_and_the_key_stays_here(status, known):
    """In the probe, and when all has gone well until then."""
    with serving("none") as elsewhere:
        target = f"{elsewhere.base_url}/completions"
        replies = []

        def before(path, asked):
            return replies[0] if replies else None

        with serving("none", before=before) as server:
            model = OpenAICompatible(server.rest, KEY)
            if known:
                assert model.sample(PROMPT, 1)
            replies.append((status, {"Location": target}, b""))
            with pytest.raises(RefusedError, match="another address"):
                model.sample(PROMPT, 1)
        assert elsewhere.exchanges == []


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "127.1", "2130706433", "0x7f000001"]
)
def test_a_public_dashboard_does_not_even_connect_to_its_own_machine(host, public):
    family = socket.AF_INET6 if host == "[::1]" else socket.AF_INET
    with socket.socket(family) as listening:
        try:
            listening.bind(("::1" if host == "[::1]" else "127.0.0.1", 0))
        except OSError:
            pytest.skip("this machine has no such address")
        listening.listen()
        listening.setblocking(False)
        port = listening.getsockname()[1]
        with pytest.raises((RefusedError, UnreachableError), match=r"public internet|no host"):
            OpenAICompatible(f"m@http://{host}:{port}/v1", KEY).sample(PROMPT, 1)
        with pytest.raises(BlockingIOError):
            listening.accept()
