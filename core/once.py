"""What is the same for everybody is built once a process, however many ask for it at once."""

import functools
import os
import threading
from collections.abc import Callable, Hashable
from typing import Any, Final, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

#: Of a connection that a fork shares: a reply to one process can come to the other.
FORKED: Final = (
    "This process is a fork of the one that opened this model or database, and shares its "
    "connections. Open it anew in each process."
)


class once(Generic[P, T]):  # a decorator
    """A function that keeps what it returned, by its arguments, and never computes it twice.

    With `functools.cache`, all who come before the first has an answer compute their own: sixty
    visitors of a server that has just started would each ask the model the same. Here they wait
    for the first. Nothing is forgotten, so the arguments must be few, and nobody's own. The
    function may call others, but must not wait for a thread that asks for the same.

    `build`: of hashable arguments. What it raises is not kept: who waited tries again.
    """

    def __init__(self, build: Callable[P, T]) -> None:
        functools.update_wrapper(self, build)
        self._build = build
        self._built: dict[Hashable, T] = {}
        self._locks: dict[Hashable, Any] = {}

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what was built of these arguments; build it if nobody has."""
        key = (args, *sorted(kwargs.items()))
        if key not in self._built:
            with self._locks.setdefault(key, threading.RLock()):  # which is atomic
                if key not in self._built:
                    self._built[key] = self._build(*args, **kwargs)
        return self._built[key]

    def cache_clear(self) -> None:
        """Forget everything, as tests do that change what it is built of."""
        self._built.clear()


def in_forks(call: Callable[[], object]) -> None:
    """Have something called in every fork: of all threads, only the one that forks is there.

    Others would be waited for for ever.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=call)


def anew_in_forks(function: once[P, T]) -> once[P, T]:
    """Have what it returned, such as threads, built anew in a fork."""
    in_forks(function.cache_clear)
    return function
