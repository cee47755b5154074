"""In memory while the database cannot be opened: tried again, and everything moves there."""

import threading
import time

import pytest

from core.store import database as opening
from core.store import fallback_database
from core.store.calls import Services
from core.store.database import folder_beside, open_database
from core.store.errors import StoreError
from core.store.fallback_database import FallbackDatabase
from core.store.labelled_files import Files
from core.store.labels import Labels
from core.store.results import SavedResults
from tests.store.kept import CallKey, Calls
from tests.store.test_database import locked

KEYS = [CallKey("sample", "table", "1", f"Q{number}") for number in range(20)]


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(fallback_database, "AGAIN", 0.01)


def until(ready):
    while not ready():
        time.sleep(0.01)


@pytest.fixture
def blocked(tmp_path):
    """A file where the folder of the database is to be."""
    folder = tmp_path / "folder"
    folder.write_text("in the way")
    return folder


def fill(database):
    """Save one of everything, and return what finds it."""
    Calls(database).put_many(dict.fromkeys(KEYS[:3], '"paid for"'))
    Services(database).put("model", "found out")
    results = SavedResults(database)
    ids = [results.save("inspection", f"{n}", "query", "model", f"[{n}]") for n in range(3)]
    return ids, Files(database).save("scores.csv", b"score\n1\n")


def assert_full(database, ids, hash):
    assert Calls(database).get_many(KEYS) == dict.fromkeys(KEYS[:3], '"paid for"')
    assert Services(database).get("model") == "found out"
    assert [found.id for found in SavedResults(database).search().results][:3] == ids[::-1]
    assert SavedResults(database).open(ids[1]).payload == "[1]"
    assert Files(database).open(hash).content == b"score\n1\n"


def test_what_was_saved_in_memory_is_in_the_database_once_that_opens(blocked):
    url = f"sqlite:///{blocked / 'believe.db'}"
    here = FallbackDatabase(url)
    assert "cannot be written" in here.why
    held = here.database  # as by a run that is under way
    ids, hash = fill(held)
    assert_full(held, ids, hash)
    assert folder_beside(url) == blocked  # runs of an evaluation are there from the beginning
    blocked.unlink()
    until(lambda: here.why is None)
    assert here.database is held and held.folder == blocked
    Calls(held).put(KEYS[3], '"later"')
    held.close()
    with open_database(url) as there:
        assert Calls(there).get(KEYS[3]) == '"later"'
        assert_full_but(there, ids, hash)


def assert_full_but(database, ids, hash):
    """All of `fill`, and one more call."""
    assert Calls(database).count() == 4
    assert SavedResults(database).open(ids[0]).payload == "[0]"
    assert Files(database).open(hash).content == b"score\n1\n"


def test_what_cannot_be_moved_yet_stays(blocked, tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "BUSY_SECONDS", 0)
    path = tmp_path / "believe.db"
    with open_database(f"sqlite:///{path}") as there:
        SavedResults(there).save("policy", "before", "", "", "{}")
    wanted = open_database
    monkeypatch.setattr(fallback_database, "open_database", lambda url: wanted(names[url]))
    names = {None: f"sqlite:///{blocked / 'believe.db'}", fallback_database.IN_MEMORY: "sqlite://"}
    here = FallbackDatabase()
    ids, hash = fill(here.database)
    with locked(path):
        names[None] = f"sqlite:///{path}"
        until(lambda: "has locked" in here.why)
        assert_full(here.database, ids, hash)
    until(lambda: here.why is None)
    assert_full(here.database, ids, hash)
    assert SavedResults(here.database).search().total == 4
    here.database.close()


def test_another_kind_of_database_takes_it_too(url):
    held = open_database("sqlite://")
    ids, hash = fill(held)
    with open_database(url) as there:
        Calls(there).put(KEYS[0], '"paid for"')
        before = SavedResults(there).save("inspection", "0", "query", "model", "[0]")
    held.move_to(open_database(url))
    assert SavedResults(held).open(before).payload == "[0]"
    assert SavedResults(held).search().total == 3  # the same was there: once is enough
    SavedResults(held).save("policy", "next", "", "", "{}")
    assert SavedResults(held).search().results[0].title == "next"
    assert Calls(held).count() == 3 and Files(held).open(hash)
    assert held.locks is not None and held.address != "in memory" and ids
    held.close()


def test_what_a_person_said_last_counts(url):
    def say(database, label, notes, name):
        Labels(database).save("item", label)
        Files(database).note(hash := Files(database).save(name, name.encode()), notes)
        return hash

    with open_database(url) as there:
        hashes = [say(there, "right", '"first"', name) for name in ("a.csv", "b.csv")]
    held = open_database("sqlite://")
    say(held, "wrong", '"then"', "a.csv")
    Files(held).save("b.csv", b"b.csv")  # of which nothing new was said
    held.move_to(open_database(url))
    assert Labels(held).of(["item"]) == {"item": "wrong"}
    assert [Files(held).open(hash).notes for hash in hashes] == ['"then"', '"first"']
    held.close()


def test_who_writes_during_the_move_loses_nothing(tmp_path):
    held, url = open_database("sqlite://"), f"sqlite:///{tmp_path / 'believe.db'}"
    calls, failed, moved = Calls(held), [], threading.Event()

    def write(numbers):
        try:
            for number in numbers:
                calls.put(CallKey("sample", "table", "1", "Q", index=number), f"{number}")
                if number % 10 == 4:
                    moved.wait()  # so that each writes before and after
        except StoreError as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(range(n, n + 9),)) for n in (0, 10, 20)]
    for thread in threads:
        thread.start()
    held.move_to(open_database(url))
    moved.set()
    for thread in threads:
        thread.join()
    assert not failed and calls.count() == 27
    held.close()
    with open_database(url) as there:
        assert Calls(there).count() == 27


def test_an_address_that_is_none_is_tried_again_and_said():
    here = FallbackDatabase("nonsense")
    assert "is not a URL" in here.why and folder_beside("nonsense") is None
    assert SavedResults(here.database).save("policy", "t", "", "", "{}")
    here.why = None  # nobody can mend it: let the thread go
