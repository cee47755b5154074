"""Processes that share a database: what one asks for, another waits for; death gives it back."""

import errno
import random
import threading

import pytest

from core.store import locks
from core.store.calls import CallKey, Calls
from core.store.database import open_database
from core.store.locks import LARGEST, Claims, FileLocks, Locks
from tests.language_models.threads import in_threads
from tests.patience import LONG
from tests.store.processes import go, key, start


@pytest.mark.slow
def test_processes_that_want_the_same_ask_for_it_once(url):
    processes = [start("ask", url, name, 12) for name in ("one", "two", "three")]
    go(*processes)
    said = [process.communicate()[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert sorted(int(number) for each in said for number in each) == list(range(12))


def test_what_a_killed_process_held_is_free(url):
    holder = start("hold", url, "a prompt", 5)
    go(holder)
    assert holder.stdout.readline() == "held\n"
    entered = threading.Event()
    with open_database(url) as database:
        calls = Calls(database)

        def wait():
            with calls.claim([key("a prompt", 3)]):
                entered.set()

        with calls.claim([key("another prompt", 3)]):
            waiting = threading.Thread(target=wait)
            waiting.start()
            assert not entered.wait(0.5)
        holder.kill()
        holder.communicate()
        assert entered.wait(LONG)
        waiting.join(LONG)


def test_threads_of_one_process_share_a_prompt_and_not_a_call(url):
    with open_database(url) as database:
        calls, entered = Calls(database), threading.Event()

        def wait():
            with calls.claim([key("a prompt", 1)]):
                entered.set()

        with calls.claim([key("a prompt", 0), key("other", 0)]):
            other = threading.Thread(target=wait)
            other.start()
            assert entered.wait(LONG)
        other.join(LONG)


def test_a_place_is_of_the_model_and_the_prompt():
    one = CallKey("sample", "m", "1", "p")
    assert one.place == CallKey("score", "m", "1", "p", "answer", 0.5, 1, 2).place
    others = [CallKey("sample", *rest) for rest in (("n", "1", "p"), ("m", "2", "p"))]
    others.append(CallKey("sample", "m", "1", "q"))
    assert len({one.place, *(other.place for other in others)}) == 4
    assert all(0 <= key("p", number).place < LARGEST for number in range(50))


class Counted(Locks):
    """Locks of a world in which another process holds some numbers for a few looks."""

    def __init__(self, busy=(), broken=None):
        super().__init__()
        self.busy, self.broken, self.log = dict(busy), broken, []

    def _lock(self, number):
        if number == self.broken:
            raise RuntimeError
        if self.busy.get(number, 0):
            self.busy[number] -= 1
            return False
        self.log.append(number)
        return True

    def _unlock(self, number):
        self.log.append(-number)


def test_numbers_are_taken_in_order_waited_for_and_given_back(monkeypatch):
    monkeypatch.setattr(locks, "POLL", 0.001)
    found = Counted({5: 3})
    with found.hold([7, 5, 5, 2]):
        assert found.log == [2, 5, 7]
        with found.hold([5]):
            pass
        assert found.log == [2, 5, 7]
    assert found.log == [2, 5, 7, -7, -5, -2] and not found.holders


def test_what_was_taken_is_given_back_when_the_next_fails():
    found = Counted(broken=9)
    with pytest.raises(RuntimeError), found.hold([1, 9]):
        raise AssertionError("not reached")
    assert found.log == [1, -1]


def test_many_threads_come_to_an_end_and_leave_nothing(tmp_path):
    found, seeds = FileLocks(tmp_path / "asking"), iter(range(6))

    def work():
        dice = random.Random(next(seeds))
        for _ in range(200):
            with found.hold(dice.sample(range(8), dice.randrange(5))):
                pass

    in_threads(work, 6)
    assert not found.holders


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EROFS, errno.EPERM])
def test_where_there_are_no_locks_nobody_waits(tmp_path, monkeypatch, number):
    def fails(*_):
        raise OSError(number, "no")

    monkeypatch.setattr(locks.fcntl, "lockf", fails)
    found = FileLocks(tmp_path / "asking")
    with found.hold([3], waiting=pytest.fail):
        monkeypatch.undo()
    with FileLocks(tmp_path / "no such folder" / "asking").hold([1, 2]):
        pass


def test_a_server_that_fails_keeps_nobody_waiting(postgresql):
    with open_database(postgresql.empty()) as database:
        calls = Calls(database)
        with calls.claim([key("a prompt", 0)]):
            database.locks.connection.connection.driver_connection.close()
        with calls.claim([key("a prompt", 0)]):
            pass
        assert not database.locks.holders


def test_what_one_holds_another_waits_for_and_other_things_are_free():
    claims, entered, left = Claims(), threading.Event(), []

    def wait():
        with claims.hold(["b", "c"]):
            left.append(entered.is_set())

    # An error gives back what was held as well.
    with pytest.raises(KeyError), claims.hold(["a", "b", "b"]):
        other = threading.Thread(target=wait)
        other.start()
        with claims.hold(["d"]), claims.hold([]):
            entered.set()
        assert not left
        raise KeyError
    other.join(LONG)
    assert left == [True]


def test_many_threads_never_hold_the_same_and_all_come_to_an_end():
    claims, holders, clashes = Claims(), set(), []
    lock, seeds = threading.Lock(), iter(range(8))

    def work():
        dice = random.Random(next(seeds))
        for _ in range(200):
            wanted = set(dice.sample(range(6), dice.randrange(4)))
            with claims.hold(wanted):
                with lock:
                    clashes.extend(holders & wanted)
                    holders.update(wanted)
                with lock:
                    holders.difference_update(wanted)

    in_threads(work, 8)
    assert not clashes
