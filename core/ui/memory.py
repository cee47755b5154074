"""How much memory the files, tables and results of all sessions may take, and whose they are."""

import ctypes
import gc
import os
import sys
import threading
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from core import settings

MB: Final = 1_000_000
#: Of the memory of the machine or the container. The rest is for the program itself (300 MB, and
#: .5 GB with SmolLM2), for two processes that read files, and for whatever else runs there.
SHARE: Final = 4
#: Bytes that stay free whatever the budget says: what answering and drawing take meanwhile.
RESERVE: Final = 64 * MB
#: Times the bytes of a file that it costs to read it: as it came, and its table. And times those of
#: a table, with all that is computed of it.
COST: Final = 2
FULL: Final = (
    "This server holds as many files and results as its memory allows ({}). Try again in a "
    "minute, or with a smaller file. If you run it, BELIEVE_MEMORY says how many megabytes that is."
)
_CGROUPS: Final = (  # the limit of a container, what it takes, and what of that can be given back
    ("memory.max", "memory.current", "memory.stat"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat"),
)
_CGROUP: Final = Path("/sys/fs/cgroup")
_MEMINFO: Final = Path("/proc/meminfo")


class FullError(Exception):
    """There is no room for more; the message is for the person."""


class MemoryBudget:
    """What is charged to which session, and the limit for all of them, in bytes.

    `spare` returns how many bytes the system can still give; None where nobody can say.
    """

    def __init__(self, limit: Callable[[], int], spare: Callable[[], int | None]) -> None:
        self.limit = limit
        self._spare = spare
        self._lock = threading.RLock()
        self._sizes: Counter[str] = Counter()
        self._files: dict[tuple[str, str], tuple[int, bytes]] = {}
        # Garbage may be collected in the middle of a sum: what it frees waits here.
        self._freed: deque[tuple[str, int]] = deque()
        self.make_room: Callable[[int], None] = lambda size: None

    @property
    def total(self) -> int:
        """Bytes that are charged to all sessions."""
        with self._lock:
            self._settle()
            return self._sizes.total()

    def of(self, session: str) -> int:
        """Return the bytes that are charged to a session."""
        with self._lock:
            self._settle()
            return self._sizes[session]

    def sessions(self) -> list[str]:
        """Return the sessions that hold anything, who came first in front."""
        with self._lock:
            self._settle()
            return list(self._sizes)

    def charge(self, session: str, size: int) -> None:
        """Charge bytes to a session.

        Raises `FullError` when there is no room for them, also after what nobody needs was dropped.
        """
        if not self._fits(size):
            self.make_room(size)
            if not self._fits(size):
                raise FullError(FULL.format(f"{self.limit() // MB} MB"))
        with self._lock:
            self._sizes[session] += size

    def release(self, session: str, size: int) -> None:
        """Take back what was charged; in any thread, at any moment."""
        self._freed.append((session, size))

    @contextmanager
    def room(self, session: str, size: int) -> Iterator[None]:
        """Charge bytes to a session for a while. Raises `FullError` as `charge` does."""
        self.charge(session, size)
        try:
            yield
        finally:
            self.release(session, size)

    def charge_while(self, thing: object, session: str, size: int) -> None:
        """Charge bytes for as long as a thing lives. Raises `FullError` as `charge` does."""
        self.charge(session, size)
        weakref.finalize(thing, self.release, session, size).atexit = False

    def add_file(self, session: str, id: str, size: int, content: bytes) -> None:
        """Hold a raw file for which so many bytes are charged already."""
        with self._lock:
            self.forget_file(session, id)
            self._files[session, id] = size, content

    def file(self, session: str, id: str) -> bytes | None:
        """Return a raw file, if it is held."""
        with self._lock:
            return self._files.get((session, id), (0, None))[1]

    def forget_file(self, session: str, id: str) -> None:
        """Drop a raw file, if it is held, and take back what is charged for it."""
        with self._lock:
            if entry := self._files.pop((session, id), None):
                self.release(session, entry[0])

    def files_of(self, session: str) -> dict[str, int]:
        """Return the bytes that are charged for the raw files of a session, by their ids."""
        with self._lock:
            return {id: size for (whose, id), (size, _) in self._files.items() if whose == session}

    def _fits(self, size: int) -> bool:
        spare = self._spare()
        if spare is not None and spare - size < RESERVE:
            return False
        return self.total + size <= self.limit()

    def _settle(self) -> None:
        while self._freed:
            session, size = self._freed.popleft()
            self._sizes[session] -= size
            if self._sizes[session] <= 0:
                del self._sizes[session]


def budget() -> int:
    """Return the limit for all sessions in bytes: by the setting, or else a share of the memory."""
    try:
        megabytes = settings.memory()
    except settings.SettingError:  # which every page says
        megabytes = None
    return megabytes * MB if megabytes is not None else total() // SHARE


def total() -> int:
    """Return the bytes of memory of this container, or else of this machine."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(machine, *(_number(_CGROUP / limit, machine) for limit, _, _ in _CGROUPS))


def spare() -> int | None:
    """Return the bytes that the system can still give this process; None if it does not say."""
    amounts = []
    with suppress(OSError, KeyError, ValueError):
        amounts.append(_table(_MEMINFO)["MemAvailable:"] * 1024)
    for limit, used, parts in _CGROUPS:
        with suppress(OSError, ValueError):
            most = int((_CGROUP / limit).read_text())
            idle = _table(_CGROUP / parts).get("inactive_file", 0)
            amounts.append(most - int((_CGROUP / used).read_text()) + idle)
    return min(amounts, default=None)


def resident() -> int | None:
    """Return the bytes of memory that this process takes; None if the system does not say."""
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return None


def give_back() -> None:
    """Return what nobody refers to any more to the system: a closed session is a circle."""
    gc.collect()
    trim()


def trim() -> None:
    """Return freed memory to the system: Arrow's pool and glibc's threads would keep it."""
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _number(path: Path, otherwise: int) -> int:
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # "max" where there is no limit
        return otherwise


def _table(path: Path) -> dict[str, int]:
    rows = (line.split() for line in path.read_text().splitlines())
    return {name: int(value) for name, value, *_ in rows}


MEMORY: Final = MemoryBudget(budget, spare)
