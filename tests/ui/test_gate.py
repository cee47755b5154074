"""The gate by itself: how often an address may come, and which file is let through."""

import pytest
from starlette.exceptions import HTTPException

from core.ui import gate, memory
from core.ui.gate import Body, Gate, Handshakes
from core.ui.memory import MemoryBudget
from core.ui.upload_places import Place
from tests.loops import in_own_loop

CSV = Place(frozenset({"csv"}), 2 * 2**20)
JSON = Place(frozenset({"json"}), 2**20)


# ------------------------------------------------------------------------- handshakes


def test_an_address_has_its_handshakes_every_minute(clock):
    handshakes = Handshakes(2, 10, clock)
    assert [handshakes.allows("192.0.2.1") for _ in range(3)] == [True, True, False]
    assert handshakes.allows("192.0.2.2")
    clock.now = gate.MINUTE
    assert handshakes.allows("192.0.2.1")


def test_a_network_of_ipv6_is_one_person(clock):
    handshakes = Handshakes(1, 10, clock)
    assert handshakes.allows("2001:db8::1")
    assert not handshakes.allows("2001:db8::2")
    assert handshakes.allows("2001:db8:0:1::1")
    assert handshakes.allows("::ffff:192.0.2.1") and handshakes.allows("::ffff:192.0.2.2")


def test_many_addresses_take_no_more_memory(clock):
    handshakes = Handshakes(2, 10, clock)
    assert all(handshakes.allows(f"192.0.2.{last}") for last in range(200))
    assert len(handshakes) == 10


def test_a_class_may_open_its_pages_at_once():
    assert gate.HANDSHAKES >= 120


def test_one_handshake_too_many_is_answered_with_a_sentence(monkeypatch):
    monkeypatch.setattr(gate, "is_host_allowed", lambda host, names: True)
    opened, sent = [], []

    async def app(scope, receive, send):
        opened.append(scope["client"])

    async def send(message):
        sent.append(message)

    async def knock():
        door = Gate(app)
        scope = {"type": "websocket", "path": "/_stcore/stream", "headers": [], "client": ("a", 1)}
        for _ in range(gate.HANDSHAKES + 1):
            await door(scope, None, send)

    in_own_loop(knock())
    assert len(opened) == gate.HANDSHAKES
    assert sent[0]["status"] == 429
    assert sent[1]["body"].decode() == gate.TOO_OFTEN


# ---------------------------------------------------------------------------- uploads


@pytest.fixture
def held(monkeypatch):
    budget = MemoryBudget(lambda: 10 * 2**20, lambda: None)
    monkeypatch.setattr(gate, "MEMORY", budget)
    monkeypatch.setattr(Body, "tell", lambda self, sentence: None)
    return budget


def brought(name, size, places=(CSV, JSON), id="file"):
    """Send a file through the gate; return the body once all of it is through."""
    head = f'Content-Disposition: form-data; name="f"; filename="{name}"\r\n\r\n'.encode()
    parts = [head, *[bytes(2**18)] * (size // 2**18), bytes(size % 2**18)]

    async def receive():
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    body = Body(receive, "session", id, list(places))

    async def through():
        while (await body.receive())["more_body"]:
            pass

    try:
        in_own_loop(through())
    except HTTPException:
        body.close()
        raise
    return body


def test_a_file_that_a_place_waits_for_is_counted(held):
    body = brought("Scores.CSV", 2_000_000)
    assert 2_000_000 <= held.of("session") <= 4_000_000
    body.close()
    assert held.total == 0


@pytest.mark.parametrize("name", ["a.exe", "csv", "", "a.csv.exe", 'a.exe\\".csv" x="'])
def test_a_file_of_another_ending_is_refused(held, name):
    with pytest.raises(HTTPException) as refused:
        brought(name, 1_000, [JSON])
    assert (refused.value.status_code, refused.value.detail) == (415, gate.WRONG_KIND)
    assert held.total == 0


def test_a_request_without_a_name_is_refused_before_it_is_here(held):
    with pytest.raises(HTTPException) as refused:
        brought("a" * gate.HEAD + ".csv", 10)
    assert refused.value.status_code == 415


@pytest.mark.parametrize(("name", "size"), [("a.csv", 4 * 2**20), ("a.json", 3 * 2**20)])
def test_a_file_larger_than_its_place_is_refused(held, name, size):
    with pytest.raises(HTTPException) as refused:
        brought(name, size)
    assert refused.value.status_code == 413
    assert refused.value.detail.startswith("The file is too large for this page")
    assert held.total == 0


def test_a_session_has_a_sum(held, monkeypatch):
    monkeypatch.setattr(gate, "FILES_OF_A_SESSION", 1)  # of 3 MB with its framing
    held.charge("session", 2 * 2**20)
    held.add_file("session", "one", 2 * 2**20, b"")
    brought("a.csv", 2_000_000, id="one")  # the same one again
    with pytest.raises(HTTPException) as refused:
        brought("a.csv", 2_000_000, id="another")
    assert (refused.value.status_code, refused.value.detail) == (413, gate.TOO_MANY)


def test_all_sessions_have_a_sum(held):
    held.charge("others", 9 * 2**20)
    with pytest.raises(HTTPException) as refused:
        brought("a.csv", 2_000_000)
    assert refused.value.status_code == 507
    assert refused.value.detail == memory.FULL.format("10 MB")
    assert held.total == held.of("others")
