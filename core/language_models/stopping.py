"""Waiting that ends: at a time on the wall clock, or as soon as somebody says stop.

No thread can be called back from outside while it looks a name up, connects, sends or receives,
and the time limits of sockets begin anew with every byte. So each request runs in a thread of
its own (`in_time`). Whoever wants its reply waits beside it, for as long as is allowed, and
goes away then: the thread's connections are shut, so that it ends as well and the server sees
that nobody listens. What such a thread still waits for without a connection, as the address of
a host, it waits for alone; it keeps neither its caller nor the interpreter.
"""

from __future__ import annotations

import math
import socket
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from core.language_models.errors import StoppedError

T = TypeVar("T")

LONGEST_REQUEST = 120.0  # seconds, from the look-up of the name to the last byte of the reply
LOOK = 0.2  # seconds between two looks at whether a wait for others has to end


class TooLateError(Exception):
    """A request did not end in time. Whoever made it says so in a sentence."""


class Lock(Protocol):
    """What can be waited for: a lock or a semaphore of `threading`."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Wait for some seconds at most, and say whether it is held now."""

    def release(self) -> None:
        """Give it back."""


class Stop:
    """Ends all waits of one run, from any thread, once and for all.

    `wholes`: what this is a part of: it is set by itself, or when one of these is.
    """

    def __init__(self, wholes: Iterable[Stop] = ()) -> None:
        self._set = threading.Event()
        self._lock = threading.Lock()
        self._parts: weakref.WeakSet[Stop] = weakref.WeakSet()
        self._wakes: dict[object, Callable[[], object]] = {}
        for whole in wholes:
            with whole._lock:
                whole._parts.add(self)
            if whole._set.is_set():
                self.set()

    def set(self) -> None:
        """Let every wait end with `StoppedError`, those that begin later too."""
        with self._lock:
            self._set.set()
            waking = [*(part.set for part in self._parts), *self._wakes.values()]
        for wake in waking:
            wake()

    @property
    def is_set(self) -> bool:
        """Whether somebody has said stop."""
        return self._set.is_set()

    def check(self) -> None:
        """Raise `StoppedError` if it is set."""
        if self._set.is_set():
            raise StoppedError("Stopped. Answers received so far are saved.")

    def wait(self, seconds: float) -> None:
        """Sleep, but raise `StoppedError` as soon as it is set."""
        self._set.wait(seconds)
        self.check()

    @contextmanager
    def holding(self, lock: Lock) -> Iterator[None]:
        """Hold a lock, which a stop prevents only where somebody else holds it."""
        while not lock.acquire(timeout=LOOK):
            self.check()
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def waking(self, wake: Callable[[], object]) -> Iterator[None]:
        """Call `wake` when it is set before the end of the block, or was already."""
        key = object()
        with self._lock:
            self._wakes[key] = wake
        try:
            if self._set.is_set():
                wake()
            yield
        finally:
            with self._lock:
                del self._wakes[key]


@dataclass(frozen=True)
class _Patience:
    """What ends the requests of a thread: a stop, and a time of `time.monotonic`."""

    stop: Stop = field(default_factory=Stop)
    until: float = math.inf
    longest: float = 0.0  # seconds for one request, where that is more than usual


_PATIENCE: ContextVar[_Patience] = ContextVar("patience")
_CONNECTIONS: ContextVar[_Connections] = ContextVar("connections")


@contextmanager
def patience(stop: Stop, seconds: float = math.inf, longest: float = 0.0) -> Iterator[None]:
    """End every request that this thread makes in the block: when `stop` is set, or in time.

    `longest` allows each more than usual, where the service stands in a queue.
    """
    token = _PATIENCE.set(_Patience(stop, time.monotonic() + seconds, longest))
    try:
        yield
    finally:
        _PATIENCE.reset(token)


@contextmanager
def ending() -> Iterator[Stop]:
    """Yield what is set at the end of the block: threads that are left alone then ask no more.

    Of who presses Ctrl-C only the main thread hears.
    """
    stop = Stop([current_stop()])
    try:
        with patience(stop):
            yield stop
    finally:
        stop.set()


def current_stop() -> Stop:
    """Return what stops this thread; what nobody can set, where nobody said `patience`."""
    return _PATIENCE.get(_Patience()).stop


def at_least(seconds: float) -> float:
    """Return a limit on waiting for a service, or what this thread allows where that is more."""
    return max(seconds, _PATIENCE.get(_Patience()).longest)


def in_time(request: Callable[[], T]) -> T:
    """Make a request, and leave it when it takes too long or is stopped.

    It runs in a thread of its own; connections that it makes through `connections` are shut when it
    is left. A reply that is there counts, even where somebody has just said stop: it is paid for.

    Raises `TooLateError` when `LONGEST_REQUEST` or the time that `patience` allows is over;
    `StoppedError` when the stop that `patience` names is set; and what the request raises.
    """
    patient = _PATIENCE.get(_Patience())
    patient.stop.check()
    seconds = min(at_least(LONGEST_REQUEST), patient.until - time.monotonic())
    if seconds <= 0:
        raise TooLateError
    outcome: Future[T] = Future()
    over = threading.Event()
    outcome.add_done_callback(lambda _: over.set())
    connections = _Connections()
    work = threading.Thread(target=_work, args=(request, outcome, connections), daemon=True)
    done = False
    try:
        work.start()
        with patient.stop.waking(over.set):
            over.wait(seconds)
        done = outcome.done()
    finally:  # a person's Ctrl-C comes by here, too
        connections.let_go(shut=not done)
    if done:
        return outcome.result()
    patient.stop.check()
    raise TooLateError


def _work(request: Callable[[], T], outcome: Future[T], connections: _Connections) -> None:
    _CONNECTIONS.set(connections)  # in this thread alone
    try:
        outcome.set_result(request())
    except BaseException as error:  # it belongs to whoever waits
        outcome.set_exception(error)


def watch(connection: socket.socket) -> None:
    """Let a connection be shut when the request of this thread is left."""
    connections = _CONNECTIONS.get(None)
    if connections is not None:
        connections.add(connection)


class _Connections:
    """Second handles on the connections of one request.

    The first ones belong to the thread that uses them: the object of a TLS connection falls
    back to plain text when another thread shuts it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._handles: list[socket.socket] = []
        self._shut = False

    def add(self, connection: socket.socket) -> None:
        handle = socket.fromfd(connection.fileno(), connection.family, connection.type)
        with self._lock:
            self._handles.append(handle)
        if self._shut:  # left before it was connected: nothing may be sent any more
            self.let_go(shut=True)

    def let_go(self, *, shut: bool) -> None:
        """Close the handles; the connections too, if `shut`, and those that come later."""
        with self._lock:
            self._shut = self._shut or shut
            handles, self._handles = self._handles, []
        for handle in handles:
            with handle, suppress(OSError):  # the server may have been first
                if shut:
                    handle.shutdown(socket.SHUT_RDWR)
