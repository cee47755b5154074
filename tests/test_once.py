"""What is built once a process is built once, however many ask for it at the same time."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.once import once
from tests.patience import LONG

MANY = 8


def all_at_once(ask):
    """Return what so many threads are answered that ask while nobody has an answer yet."""
    asks = threading.Barrier(MANY)

    def one(_):
        asks.wait(LONG)
        return ask()

    with ThreadPoolExecutor(MANY) as threads:
        return list(threads.map(one, range(MANY)))


def test_those_who_ask_meanwhile_wait_for_the_first():
    calls, goes_on = [], threading.Event()

    @once
    def build():
        calls.append(threading.get_ident())
        assert goes_on.wait(LONG)
        return object()

    with ThreadPoolExecutor(MANY) as threads:
        answers = [threads.submit(build) for _ in range(MANY)]
        while not calls:
            goes_on.wait(0.01)
        goes_on.set()
        first, *others = [answer.result(LONG) for answer in answers]
    assert len(calls) == 1
    assert all(other is first for other in others)


def test_other_arguments_do_not_wait_for_each_other():
    both = threading.Barrier(2)

    @once
    def build(name, *, twice=False):
        both.wait(LONG)  # fails unless the other is being built, too
        return name * (1 + twice)

    with ThreadPoolExecutor(2) as threads:
        one, other = threads.submit(build, "a"), threads.submit(build, "a", twice=True)
    assert (one.result(), other.result()) == ("a", "aa")
    assert build("a", twice=True) == "aa"


def test_what_fails_is_tried_again():
    tries = []

    @once
    def build():
        tries.append("try")
        if len(tries) == 1:
            raise ValueError("Not yet.")
        return "built"

    with pytest.raises(ValueError, match="Not yet"):
        build()
    assert all_at_once(build) == ["built"] * MANY
    assert len(tries) == 2


def test_a_builder_may_call_itself_and_what_is_cleared_is_built_anew():
    built = []

    @once
    def double(number):
        built.append(number)
        return 2 + double(number - 1) if number else 0

    assert double(2) == double(2) == 4
    assert built == [2, 1, 0]
    double.cache_clear()
    assert double(0) == 0 and built[3:] == [0]


def test_it_is_named_as_what_it_builds():
    @once
    def build():
        """Say what."""

    assert (build.__name__, build.__doc__) == ("build", "Say what.")
