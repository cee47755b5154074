"""The budget of memory: what is charged, taken back, and refused."""

import gc
import subprocess
import sys

import pytest

from core import settings
from core.store.database import open_database
from core.store.errors import StoreError
from core.store.fallback_database import IN_MEMORY, FallbackDatabase
from core.ui import memory, storage
from core.ui.memory import FullError, MemoryBudget


class Thing:
    pass


@pytest.fixture
def held():
    return MemoryBudget(lambda: 100, lambda: None)


def test_what_is_charged_is_in_the_sum_until_it_is_released(held):
    held.charge("a", 60)
    held.charge("b", 40)
    assert (held.total, held.of("a"), held.sessions()) == (100, 60, ["a", "b"])
    held.release("a", 60)
    assert (held.total, held.of("a"), held.sessions()) == (40, 0, ["b"])


def test_what_does_not_fit_is_refused_with_a_sentence(held):
    held.charge("a", 60)
    with pytest.raises(FullError, match="holds as many files and results as its memory allows"):
        held.charge("b", 41)
    assert held.total == 60


def test_room_is_made_before_anything_is_refused(held):
    held.charge("a", 60)
    held.make_room = lambda size: held.release("a", 60)
    held.charge("b", 90)
    assert held.total == 90


def test_what_is_charged_for_a_thing_goes_with_it(held):
    thing = Thing()
    held.charge_while(thing, "a", 60)
    assert held.total == 60
    del thing
    gc.collect()
    assert held.total == 0


def test_room_is_only_for_a_while(held):
    with pytest.raises(ValueError, match="damaged"), held.room("a", 60):
        assert held.total == 60
        raise ValueError("damaged")
    assert held.total == 0


def test_a_file_is_charged_once_until_it_is_forgotten(held):
    held.charge("a", 60)
    held.add_file("a", "id", 60, b"content")
    assert held.file("a", "id") == b"content" and held.file("b", "id") is None
    assert held.files_of("a") == {"id": 60} and held.files_of("b") == {}
    held.charge("a", 30)
    held.add_file("a", "id", 30, b"again")  # in its place
    assert held.total == 30
    held.forget_file("a", "id")
    held.forget_file("a", "id")
    assert held.total == 0 and held.file("a", "id") is None


def test_the_system_has_the_last_word():
    held = MemoryBudget(lambda: 10**15, lambda: memory.RESERVE + 10)
    held.charge("a", 10)
    with pytest.raises(FullError):
        held.charge("a", 11)


def test_this_machine_says_what_it_has():
    assert 10**8 < memory.spare() <= memory.total()
    assert 10**6 < memory.resident() < memory.total()


def test_what_arrow_has_freed_goes_back_to_the_system():
    script = """
import pyarrow as pa
from core.ui import memory

texts = [pa.array(["x" * 99] * 10_000) for _ in range(200)]
full = memory.resident()
del texts
memory.give_back()
assert full - memory.resident() > 0.9 * 200 * 99 * 10_000, (full, memory.resident())
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_limit_is_a_setting_or_a_share(monkeypatch):
    assert memory.budget() == memory.total() // memory.SHARE
    monkeypatch.setenv("BELIEVE_MEMORY", "500")
    assert memory.budget() == 500_000_000


@pytest.mark.parametrize("text", ["much", "-1", "199", "1e9", "5.5", "٣٠٠", "9" * 40])
def test_a_limit_that_cannot_be_read_is_refused_and_widens_nothing(monkeypatch, text):
    monkeypatch.setenv("BELIEVE_MEMORY", text)
    with pytest.raises(settings.SettingError, match="BELIEVE_MEMORY is not a whole number"):
        settings.check()
    assert memory.budget() == memory.total() // memory.SHARE


def test_a_result_that_stays_in_memory_is_charged_to_its_session(held, monkeypatch):
    monkeypatch.setattr(storage, "MEMORY", held)
    where = storage.Storage(open_database(IN_MEMORY), None)
    storage.charge(where, "a", "x" * 60)
    assert held.of("a") == 60
    with pytest.raises(StoreError, match="as its memory allows"):
        storage.charge(where, "a", "x" * 60)
    with open_database(IN_MEMORY) as elsewhere:
        storage.charge(storage.Storage(elsewhere, FallbackDatabase), "a", "x" * 60)  # on the disk
    assert held.of("a") == 60
    del where
    gc.collect()
    assert held.total == 0
