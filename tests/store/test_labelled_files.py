"""Files that were brought: found again by their hash, a few of them, and none too large."""

import pytest

from core.store import labelled_files, schema
from core.store.database import open_database
from core.store.labelled_files import File, Files, TooLargeError, hash_of

CONTENT = bytes(range(256)) * 40


def test_a_file_is_there_for_the_next_process_with_what_was_noted(url):
    with open_database(url) as database:
        hash = Files(database).save("mine\x00.csv", CONTENT)
        assert hash == hash_of(CONTENT)
        Files(database).note(hash, "{}")
    with open_database(url) as database:
        kept = Files(database)
        assert kept.open(hash) == File("mine\N{REPLACEMENT CHARACTER}.csv", CONTENT, "{}")
        assert kept.save("again.csv", CONTENT) == hash  # the same content is the same file
        assert kept.open(hash) == File("again.csv", CONTENT, "{}")
        kept.forget(hash)
        assert kept.open(hash) is None and kept.open("\x00") is None
        kept.note(hash, "[]")  # of nothing
        assert kept.open(hash) is None


def test_the_newest_are_kept_and_none_that_is_too_large(url, monkeypatch):
    monkeypatch.setattr(labelled_files, "MOST", 3)
    monkeypatch.setattr(labelled_files, "LARGEST", 10)
    with open_database(url) as database:
        kept = Files(database)
        hashes = [kept.save("x", bytes([number])) for number in range(4)]
        kept.save("x", bytes([1]))  # saved again: now the newest
        hashes.append(kept.save("x", bytes([4])))
        assert [kept.open(hash) is not None for hash in hashes] == [False, True, False, True, True]
        kept.save("x", bytes(10))
        with pytest.raises(TooLargeError, match="it is not saved"):
            kept.save("x", bytes(11))


def test_a_clock_that_goes_back_does_not_decide_which_file_is_forgotten(url, monkeypatch):
    monkeypatch.setattr(labelled_files, "MOST", 3)
    with open_database(url) as database:
        days = iter(range(9, 0, -1))
        monkeypatch.setattr(schema, "now", lambda: f"2026-01-0{next(days)}T00:00:00.000000")
        kept = Files(database)
        hashes = [kept.save("x", bytes([number])) for number in range(5)]
        assert [kept.open(hash) is not None for hash in hashes] == [False, False, True, True, True]


def test_what_is_being_saved_is_never_forgotten(url, monkeypatch):
    monkeypatch.setattr(labelled_files, "MOST", 1)
    with open_database(url) as database:
        kept = Files(database)
        for number in range(3):
            hash = kept.save("x", bytes([number]))
            assert kept.open(hash) is not None
        assert kept.open(hash_of(bytes([1]))) is None


def test_files_are_ones_own(url, monkeypatch):
    monkeypatch.setattr(labelled_files, "MOST", 2)
    with open_database(url) as database:
        mine, hers = Files(database, "me"), Files(database, "her")
        hash = mine.save("mine.csv", CONTENT)
        assert hers.open(hash) is None
        assert hers.save("hers.csv", CONTENT) == hash
        hers.note(hash, "{}")
        assert mine.open(hash) == File("mine.csv", CONTENT, "")
        for number in range(2):
            hers.save("x", bytes([number]))
        hers.forget(hash)
        assert hers.open(hash) is None and mine.open(hash) is not None
