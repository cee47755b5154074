"""Who is asking for what: two who want the same answer must not both pay for it.

`Claims` are held among the threads of this process, `Locks` among processes that share a database.

A process that is killed holds nothing any more: the operating system, or the server of the
database, gives back what it held.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from core.once import once

if sys.platform != "win32":  # there each process asks for itself
    import fcntl

LARGEST: Final = 2**62  # numbers are smaller
LOOK: Final = 0.2  # seconds between two looks at whether whoever waits still wants to
POLL: Final = 0.05  # seconds between two looks at what another process holds


def patiently() -> None:
    """Wait for as long as it takes."""


class Claims:
    """What threads of this process have claimed, each for the length of a ``with`` block.

    All of a claim is granted at once, and whoever holds one asks for no other: nobody can wait
    for somebody who waits for them.
    """

    def __init__(self) -> None:
        self._held: set[Hashable] = set()
        self._released = threading.Condition()

    @contextmanager
    def hold(
        self, things: Iterable[Hashable], waiting: Callable[[], None] = patiently
    ) -> Iterator[None]:
        """Wait until nobody else holds any of these, and hold them until the end of the block.

        `waiting` is called several times a second meanwhile, and may raise to wait no more.
        """
        claims = set(things)
        with self._released:
            while not self._released.wait_for(lambda: self._held.isdisjoint(claims), LOOK):
                waiting()
            self._held |= claims
        try:
            yield
        finally:
            with self._released:
                self._held -= claims
                self._released.notify_all()


class Locks(ABC):
    """What the threads of a process hold together, each number until its last holder leaves.

    Everybody takes the smallest first, so that no two wait for each other.
    """

    def __init__(self) -> None:
        self.holders: Counter[int] = Counter()
        self._looking = threading.Lock()

    @contextmanager
    def hold(
        self, numbers: Iterable[int], waiting: Callable[[], None] = patiently
    ) -> Iterator[None]:
        """Wait until no other process holds any of these, and hold them until the end.

        `waiting` is called several times a second meanwhile, and may raise to wait no more.
        """
        taken: list[int] = []
        try:
            for number in sorted(set(numbers)):
                while not self._join(number):
                    waiting()
                    time.sleep(POLL)
                taken.append(number)
            yield
        finally:
            for number in reversed(taken):
                self._leave(number)

    def _join(self, number: int) -> bool:
        with self._looking:
            if not self.holders[number] and not self._lock(number):
                return False
            self.holders[number] += 1
            return True

    def _leave(self, number: int) -> None:
        with self._looking:
            self.holders[number] -= 1
            if not self.holders[number]:
                del self.holders[number]
                self._unlock(number)

    @abstractmethod
    def _lock(self, number: int) -> bool:
        """Lock a number for this process, or say that another one has."""

    @abstractmethod
    def _unlock(self, number: int) -> None:
        """Give a number back."""


@once
def file_locks(path: Path) -> FileLocks:
    """Return this process's locks beside the file of a database; there must be one object only."""
    return FileLocks(path.with_name(f"{path.name}-asking"))


class FileLocks(Locks):
    """Locks on the bytes of an empty file, for processes of one machine.

    Where the file system has no locks, nobody is kept waiting.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._file: int | None = None

    def _lock(self, number: int) -> bool:
        if sys.platform == "win32":
            return True
        try:
            if self._file is None:  # and never closed: closing it would give everything back
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
        except OSError as error:
            return error.errno not in (errno.EACCES, errno.EAGAIN)
        return True

    def _unlock(self, number: int) -> None:
        if sys.platform != "win32" and self._file is not None:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, number)


class AdvisoryLocks(Locks):
    """PostgreSQL's advisory locks, for processes anywhere; they need one connection.

    Where the server fails, nobody is kept waiting: what is asked cannot be kept either, and that
    is said where it is written.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine
        self.connection: Connection | None = None

    def _lock(self, number: int) -> bool:
        return self._ask("SELECT pg_try_advisory_lock(:number)", number)

    def _unlock(self, number: int) -> None:
        self._ask("SELECT pg_advisory_unlock(:number)", number)
        if not self.holders and self.connection is not None:
            self.connection.close()
            self.connection = None

    def _ask(self, statement: str, number: int) -> bool:
        try:
            if self.connection is None:
                connection = self._engine.connect()
                self.connection = connection.execution_options(isolation_level="AUTOCOMMIT")
            return bool(self.connection.execute(text(statement), {"number": number}).scalar())
        except (DBAPIError, PoolTimeoutError):
            if self.connection is not None:
                self.connection.invalidate()
                self.connection = None
            return True
