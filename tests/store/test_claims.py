"""Claims: one at a time for the same thing, and nobody waits for ever."""

import random
import threading

import pytest

from core.store.claims import Claims

LONG = 30  # seconds, of a wait that ends as soon as all is well


def test_what_one_holds_another_waits_for_and_other_things_are_free():
    claims, entered, left = Claims(), threading.Event(), []

    def wait():
        with claims.held(["b", "c"]):
            left.append(entered.is_set())

    with claims.held(["a", "b", "b"]):
        other = threading.Thread(target=wait)
        other.start()
        with claims.held(["d"]), claims.held([]):
            entered.set()
        assert not left
    other.join(LONG)
    assert left == [True]


def test_an_error_gives_back_what_was_held():
    claims = Claims()
    with pytest.raises(KeyError), claims.held(["a"]):
        raise KeyError
    with claims.held(["a"]):
        pass


def test_many_threads_never_hold_the_same_and_all_come_to_an_end():
    claims, holders, clashes = Claims(), set(), []
    lock = threading.Lock()

    def work(seed):
        dice = random.Random(seed)
        for _ in range(200):
            wanted = set(dice.sample(range(6), dice.randrange(4)))
            with claims.held(wanted):
                with lock:
                    clashes.extend(holders & wanted)
                    holders.update(wanted)
                with lock:
                    holders.difference_update(wanted)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
        assert not thread.is_alive()
    assert not clashes
