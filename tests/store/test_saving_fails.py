"""A full disk and a database that is locked: said at once, and nothing that came is lost."""

import shutil
import sqlite3
import subprocess
import threading
import time
from contextlib import closing, contextmanager
from types import SimpleNamespace

import pytest

from core.store import database as opening
from core.store.database import open_database
from core.store.errors import BUSY_SECONDS, StoreError
from tests.store.kept import CallKey, Calls

KEY, OTHER = CallKey("sample", "table", "1", "Q"), CallKey("sample", "table", "1", "R")
LONG = '"' + "x" * 200_000 + '"'


@pytest.fixture
def path(tmp_path):
    return tmp_path / "believe.db"


@contextmanager
def opened(path):
    with open_database(f"sqlite:///{path}") as database:
        yield database


@contextmanager
def locked(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield


@contextmanager
def full(database):
    """Let the file of a database grow no more."""
    with database.engine.connect() as connection:
        (pages,) = connection.exec_driver_sql("PRAGMA page_count").one()

    def limit(connection, record, proxy):
        connection.execute(f"PRAGMA max_page_count = {pages}")

    opening.event.listen(database.engine, "checkout", limit)
    try:
        yield
    finally:
        opening.event.remove(database.engine, "checkout", limit)
        database.engine.dispose()


# ------------------------------------------------------------------------------- a lock


def test_a_lock_is_waited_for_no_longer_than_somebody_waits_for_a_page():
    assert BUSY_SECONDS <= 3


def test_a_lock_that_stays_is_said_with_its_cause(path, monkeypatch):
    monkeypatch.setattr(opening, "BUSY_SECONDS", 0)
    with opened(path) as database, locked(path):
        for write in (lambda: Calls(database).put(KEY, "1"), Calls(database).check):
            with pytest.raises(StoreError, match="Another program has locked the database"):
                write()


def test_who_only_reads_waits_for_no_writer(path, monkeypatch):
    with opened(path) as database:
        Calls(database).put(KEY, "1")
    monkeypatch.setattr(opening, "BUSY_SECONDS", 0)  # who waited would fail
    with opened(path) as one, locked(path), opened(path) as other:
        assert Calls(one).get(KEY) == Calls(other).get(KEY) == "1"


def test_who_waits_in_line_fails_with_who_stands_in_front(path, monkeypatch):
    """Of eight threads that wait for one lock only the first tries it."""
    monkeypatch.setattr(opening, "BUSY_SECONDS", 0)
    tried, failed, looks = [], [], []

    def clock():
        looks.append(len(looks))
        return float(len(looks))

    with opened(path) as database, locked(path):
        opening.event.listen(database.engine, "checkout", lambda *_: tried.append(1))
        monkeypatch.setattr(opening, "time", SimpleNamespace(monotonic=clock))

        def write():
            try:
                Calls(database).put(KEY, "1")
            except StoreError as error:
                failed.append(str(error))

        with database._writing:  # nobody gets on before all of them wait
            threads = [threading.Thread(target=write) for _ in range(8)]
            for thread in threads:
                thread.start()
            while len(looks) < len(threads):  # each looks at the clock as it arrives
                time.sleep(0.001)
        for thread in threads:
            thread.join()
    assert len(failed) == 8 and len(set(failed)) == 1
    assert len(tried) == 1


# ------------------------------------------------------------------------- a full disk


def test_what_could_not_be_saved_is_held_and_saved_when_that_is_possible(path):
    with opened(path) as database:
        calls = Calls(database)
        with full(database):
            with pytest.raises(StoreError, match="is full"):
                calls.put(KEY, LONG)
            assert Calls(database).get_many([OTHER, KEY]) == {KEY: LONG}
            with pytest.raises(StoreError, match="is full"):
                calls.check()
            assert calls.count() == 0
        calls.check()
        assert calls.count() == 1 and not database.unsaved
        assert calls.get(KEY) == LONG
    with opened(path) as database:
        assert Calls(database).get(KEY) == LONG


def test_a_disk_without_room_is_full_before_anything_is_asked(path, monkeypatch):
    with opened(path) as database:
        Calls(database).check()
        monkeypatch.setattr(opening, "LEAST_FREE", 2**62)
        with pytest.raises(StoreError, match=r"disk that holds .* is full: make room"):
            Calls(database).check()


def test_a_database_in_memory_has_room_as_long_as_it_lives():
    with open_database("sqlite://") as database:
        Calls(database).check()


@pytest.fixture
def small_disk(tmp_path):
    """A disk of two megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_disk_that_is_really_full_is_said_and_nothing_is_lost(small_disk):
    with opened(small_disk / "believe.db") as database:
        calls = Calls(database)
        calls.check()
        filler = small_disk / "filler"
        filler.write_bytes(b"x" * shutil.disk_usage(small_disk).free)
        with pytest.raises(StoreError, match="is full"):
            calls.check()
        with pytest.raises(StoreError, match="is full"):
            calls.put(KEY, LONG)
        filler.unlink()
        calls.check()
        assert calls.get(KEY) == LONG
