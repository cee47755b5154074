"""Connections of `requests` that another thread can shut; see `stopping`."""

from __future__ import annotations

import socket
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection

from core.language_models.stopping import watched


class _Watched(HTTPConnection):
    """Says which socket it uses: as soon as there is one, and at every request."""

    def _new_conn(self) -> socket.socket:  # before TLS begins, in which a server may dawdle too
        connection = super()._new_conn()
        watched(connection)
        return connection

    def request(self, *arguments: Any, **options: Any) -> None:
        """Send a request; see `HTTPConnection.request`."""
        if self.sock is not None:  # kept from an earlier request
            watched(self.sock)
        super().request(*arguments, **options)


class _WatchedTLS(_Watched, HTTPSConnection):
    """The same, encrypted."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Watched


class _TLSPool(HTTPSConnectionPool):
    ConnectionCls = _WatchedTLS


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
