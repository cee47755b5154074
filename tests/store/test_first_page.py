"""A damaged first page, which holds the names of everything in an SQLite file."""

import random
import shutil
from contextlib import suppress

import pytest

from core.store import sqlite_file
from core.store.database import open_database
from core.store.errors import StoreError
from core.store.migrations import MIGRATIONS
from core.store.results import Results
from tests.store.kept import CallKey, Calls

KEY, NEW = CallKey("sample", "table", "1", "Q"), CallKey("sample", "table", "1", "R")
PAGE = 4096
TRIES, USED = 400, 16  # every so manieth is opened and used as well, which takes longer


@pytest.fixture
def whole(tmp_path):
    path = tmp_path / "whole.db"
    with open_database(f"sqlite:///{path}") as database:
        Calls(database).put(KEY, '"kept"')
        Results(database).save("inspection", "title", "query", "model", "{}")
    return path


def damaged(whole, number):
    """Return the bytes of a file whose first page is damaged in one place."""
    dice, data = random.Random(number), bytearray(whole.read_bytes())
    size = dice.choice([1, 4, 16, 200])
    start = dice.randrange(PAGE - size)
    data[start : start + size] = dice.randbytes(size)
    return bytes(data)


def left(folder):
    """Return what every file in a folder holds, but those that only lock."""
    return [path.read_bytes() for path in folder.iterdir() if path.suffix != ".lock"]


@pytest.mark.parametrize("share", range(4))
def test_a_damaged_first_page_is_set_aside_or_a_sentence_says_why_not(tmp_path, whole, share):
    for number in range(share * TRIES // 4, (share + 1) * TRIES // 4):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        path, data = folder / "believe.db", damaged(whole, number)
        path.write_bytes(data)
        notice = None
        with suppress(StoreError):  # such as: this is the database of another program
            notice = sqlite_file.prepare(path, len(MIGRATIONS))
        if notice:
            assert data in left(folder)  # nothing is deleted
            assert path.stat().st_size < len(data)
        shutil.rmtree(folder)


def test_a_database_with_a_damaged_first_page_can_be_used_or_says_why_not(tmp_path, whole):
    opened = 0
    for number in range(0, TRIES, USED):
        path = tmp_path / f"{number}.db"
        path.write_bytes(damaged(whole, number))
        with suppress(StoreError), open_database(f"sqlite:///{path}") as database:
            calls, results = Calls(database), Results(database)
            calls.put(NEW, '"new"')
            assert calls.get(NEW) == '"new"'
            calls.count()
            for found in results.search("query").results:
                results.open(found.id)
            results.save("policy", "title", "query", "model", "[]")
            opened += 1
    assert opened > TRIES / USED / 2


def name_in(whole, old, new):
    whole.write_bytes(whole.read_bytes().replace(old, new))
    return whole


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"CREATE TABLE calls", b"CREATE TABLE \xff\xfe\xfd\xfcs"),
        (b"schema_version", b"\xff\xfe\xfd\xfc_version"),
        (b"payload TEXT", b"payfoad TEXT"),
        (b"CREATE TABLE", b"\x00\xc3\x28TE TABLE"),
    ],
)
def test_names_that_cannot_be_read_are_damage(whole, old, new):
    data = name_in(whole, old, new).read_bytes()
    assert new in data
    with open_database(f"sqlite:///{whole}") as database:
        assert "was damaged" in database.notice
        assert Calls(database).count() == 0
    assert data in left(whole.parent)


def test_a_format_that_there_never_was_is_damage(whole):
    data = bytearray(whole.read_bytes())
    data[44:48] = b"\x77\x77\x77\x77"
    whole.write_bytes(data)
    with open_database(f"sqlite:///{whole}") as database:
        assert "was damaged" in database.notice


def test_text_that_cannot_be_read_later_is_explained(whole):
    with (
        open_database(f"sqlite:///{whole}") as database,
        pytest.raises(StoreError, match="is damaged"),
        database.read(),
    ):
        b"\xff".decode()
