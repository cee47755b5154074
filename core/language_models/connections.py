"""The boundary to libraries of HTTP: what they raise, and connections that can be shut.

Connections are those of `requests`, which another thread can shut; see `stopping`.
"""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection

from core.language_models.errors import ModelError
from core.language_models.stopping import watch

T = TypeVar("T")

LARGEST_REPLY = 8_000_000  # bytes
# Of parts, which take many times their length once they are parsed: an object 200 bytes, a text
# 90. The largest replies repeat up to 64 texts (`PAIRS_A_CALL`, and as many prompts), with an
# object and five commas a token. This has room for 2,300 tokens a text, which is more than one of
# 2,000 characters mostly has, and about what servers write into 8 MB. An answer said by force has
# 200 alternatives to each of 33 tokens, with two brackets and up to 20 commas each: far less.
MOST_LISTS, MOST_COMMAS = 150_000, 750_000


@dataclass(frozen=True)
class Fault:
    """What a library raised instead of a reply; it may hold the key, so nobody raises it on."""

    error: Exception


def exchange(call: Callable[[], T]) -> T | Fault:
    """Return what a call to a library of HTTP returns, or whatever it raises.

    A server decides what a library stumbles over, and no list of its exceptions is complete: a
    chunk of size -5 is a ValueError. So `call` sends, reads and decodes, and does nothing of ours,
    whose mistakes would hide here.

    Raises `ModelError`, as it came: it is a sentence already.
    """
    try:
        return call()
    except (ModelError, MemoryError):
        raise
    except Exception as error:
        return Fault(error)


def exceeds(data: bytes) -> str:
    """Say what a reply has more of than one of a language model; "" where that is nothing."""
    if len(data) > LARGEST_REPLY:
        return f"more than {LARGEST_REPLY // 1_000_000} MB"
    if data.count(b"{") + data.count(b"[") > MOST_LISTS or data.count(b",") > MOST_COMMAS:
        return f"a reply of more than {MOST_LISTS:,} lists and objects, or {MOST_COMMAS:,} values"
    return ""


class _WatchedConnection(HTTPConnection):
    """Says which socket it uses: as soon as there is one, and at every request."""

    def _new_conn(self) -> socket.socket:  # before TLS begins, in which a server may dawdle too
        connection = super()._new_conn()
        watch(connection)
        return connection

    def request(self, *arguments: Any, **options: Any) -> None:
        """Send a request; see `HTTPConnection.request`."""
        if self.sock is not None:  # kept from an earlier request
            watch(self.sock)
        super().request(*arguments, **options)


class _WatchedTLSConnection(_WatchedConnection, HTTPSConnection):
    """The same, encrypted."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = _WatchedConnection


class _TLSPool(HTTPSConnectionPool):
    ConnectionCls = _WatchedTLSConnection


class WatchedAdapter(HTTPAdapter):
    """Makes connections that `stopping.in_time` can shut, straight or through a proxy."""

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        """Make the pool of connections."""
        super().init_poolmanager(*arguments, **options)
        _watch(self.poolmanager)

    def proxy_manager_for(self, *arguments: Any, **options: Any) -> Any:
        """Make the pool of connections to a proxy."""
        manager = super().proxy_manager_for(*arguments, **options)
        _watch(manager)
        return manager


def _watch(manager: PoolManager) -> None:
    manager.pool_classes_by_scheme = {"http": _Pool, "https": _TLSPool}
