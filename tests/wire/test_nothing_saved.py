"""Where nothing can be saved nothing is paid for, and what was paid for is not lost."""

import sqlite3
import threading
from contextlib import suppress

import pytest

from core.language_models.client.concurrency import AT_ONCE
from core.language_models.client.stack import with_layers
from core.language_models.errors import NotSavedError
from core.language_models.registry import open_model
from core.store import database as opening
from core.store.database import open_database
from core.store.errors import StoreError
from core.studies.inspection import inspection
from core.studies.inspection.request import Request
from core.studies.inspection.serialise import to_dict
from tests.language_models.openai_server import serving
from tests.store.kept import CallKey, Calls
from tests.store.test_database import full, locked

REQUEST = Request("Who wrote the novel Dune?", samples=20)


@pytest.fixture
def server(monkeypatch):
    for name in ("OPENAI_API_KEY", "BELIEVE_PUBLIC", "BELIEVE_ALLOWED_HOSTS"):
        monkeypatch.delenv(name, raising=False)
    with serving("none") as server:
        assert open_model(server.name).capabilities  # the probe, which is not saved
        server.exchanges.clear()
        yield server


@pytest.fixture
def database(tmp_path):
    with open_database(f"sqlite:///{tmp_path / 'believe.db'}") as database:
        yield database


def ask(server, database):
    """Press Ask: a model of its own, and the same database."""
    return inspection.run(
        REQUEST, with_layers(open_model(server.name), lambda: Calls(database), None)
    )


def test_on_a_full_disk_nothing_is_asked(server, database, monkeypatch):
    monkeypatch.setattr(opening, "LEAST_FREE", 2**62)
    for _ in range(3):
        with pytest.raises(
            NotSavedError, match=r"is full: make room and try again\. Until then no"
        ):
            ask(server, database)
    assert server.exchanges == []


def test_a_locked_database_is_said_and_nothing_is_asked(server, database, monkeypatch, tmp_path):
    database.close()
    monkeypatch.setattr(opening, "BUSY_SECONDS", 0)
    with open_database(f"sqlite:///{tmp_path / 'believe.db'}") as other:
        with locked(tmp_path / "believe.db"), pytest.raises(NotSavedError, match="has locked"):
            ask(server, other)
        assert server.exchanges == []
        assert ask(server, other)


def test_a_disk_that_fills_up_costs_what_is_under_way_and_loses_none_of_it(server, database):
    with full(database):
        fill_up(database)
        with pytest.raises(NotSavedError, match="is full"):
            ask(server, database)
        paid = len(server.exchanges)
        for _ in range(3):
            with pytest.raises(NotSavedError, match="is full"):
                ask(server, database)
        assert len(server.exchanges) == paid  # not one more
        assert 0 < paid <= AT_ONCE
        assert len(database.unsaved) >= paid
    found = ask(server, database)
    assert len(server.paid()) == len(set(server.paid()))  # nothing was asked twice
    assert not database.unsaved
    asked = len(server.exchanges)
    again = ask(server, database)
    assert len(server.exchanges) == asked
    assert to_dict(again)["responses"] == to_dict(found)["responses"]


READ_ONLY = ("PRAGMA query_only = 1", "PRAGMA query_only = 0")


def read_only(connection):
    connection.execute(READ_ONLY[0])


def gone(connection):
    """Fail as a driver does whose server is not there: without a number of SQLite's."""
    raise sqlite3.OperationalError("server closed the connection unexpectedly")


@pytest.mark.parametrize(
    ("fault", "says"), [(read_only, "cannot be written"), (gone, "could not be reached")]
)
def test_a_database_that_fails_in_the_middle_costs_what_is_under_way_and_loses_none_of_it(
    fault, says, server, database
):
    """As a folder that becomes read-only, or a PostgreSQL that is stopped and started."""
    broken = threading.Event()

    def fail(connection, *_):
        if broken.is_set():
            fault(connection)
        elif fault is read_only:
            connection.execute(READ_ONLY[1])

    opening.event.listen(database.engine, "checkout", fail)
    server.watch = lambda exchange: len(server.exchanges) > 30 and broken.set()
    asked = []
    for _ in range(3):
        with pytest.raises(NotSavedError, match=rf"{says} \(.*Until then no further call is made"):
            ask(server, database)
        server.watch = lambda exchange: None
        asked.append(len(server.exchanges))
    assert len(set(asked)) == 1 and asked[0] <= 30 + 2 * AT_ONCE  # only what was under way
    held = len(database.unsaved)
    broken.clear()
    assert ask(server, database) and held and not database.unsaved
    assert len(server.exchanges) > asked[0]
    assert len(server.paid()) == len(set(server.paid()))  # nothing was asked twice


def fill_up(database):
    """Leave no room for the smallest answer."""
    with suppress(StoreError):
        for number in range(1000):
            Calls(database).put(CallKey("filler", "", "", f"{number}"), "")
    database.unsaved.clear()
