"""What was looked at of labels, so that later looks know of it. Nothing deletes it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sqlalchemy import select

from core.store import schema
from core.store.database import Database
from core.store.results import THIS_COMPUTER
from core.store.text import checked_payload, storable

MOST: Final = 2_000  # that are read: the newest


class Looks:
    """One owner's looks at labels. Every method raises `StoreError` when that fails.

    `owner`: whose they are, as of `SavedResults`.
    """

    def __init__(self, database: Database, owner: str = THIS_COMPUTER) -> None:
        self._database = database
        self._owner = storable(owner)

    def save(self, looks: Iterable[tuple[str, str]]) -> None:
        """Keep looks, each as the hash of what it was at and its payload; once."""
        rows = [
            {
                "owner": self._owner,
                "setting": storable(setting),
                "made_at": schema.now(),
                "payload": checked_payload(payload),
            }
            for setting, payload in looks
        ]
        if rows:
            with self._database.write() as connection:
                connection.execute(self._database.insert_new(schema.looks), rows)

    def all(self) -> tuple[str, ...]:
        """Return the payloads, the newest last."""
        table = schema.looks.c
        newest = select(table.payload).where(table.owner == self._owner)
        with self._database.read() as connection:
            payloads = connection.execute(newest.order_by(table.number.desc()).limit(MOST))
            return tuple(payloads.scalars())[::-1]
