"""What was looked at of labels, so that later looks know of it. Nothing deletes it."""

from collections.abc import Iterable, Set
from typing import Final

from sqlalchemy import Column, Select, select

from core.store import schema
from core.store.results import OwnedRows
from core.store.text import checked_payload, storable

MOST: Final = 2_000  # that are read: the newest


class Looks(OwnedRows):
    """One owner's looks at labels."""

    table = schema.looks

    def save(self, looks: Iterable[tuple[str, str]], earlier: Set[str] | None = None) -> bool:
        """Keep looks, each as the hash of what it was at and its payload; once.

        Return whether they are: none is where there are others than the `earlier` ones, taken
        meanwhile, so that these have other places.
        """
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
                if earlier is not None:
                    if connection.dialect.name != "sqlite":  # which has one writer at a time
                        connection.exec_driver_sql("LOCK TABLE looks IN EXCLUSIVE MODE")
                    newest = self._newest(schema.looks.c.setting)
                    if not earlier >= {*connection.execute(newest).scalars()}:
                        return False
                connection.execute(self._database.insert_new(schema.looks), rows)
        return True

    def all(self) -> tuple[str, ...]:
        """Return the payloads, the newest last."""
        with self._database.read() as connection:
            payloads = connection.execute(self._newest(schema.looks.c.payload))
            return tuple(payloads.scalars())[::-1]

    def _newest(self, column: Column[str]) -> Select[tuple[str]]:
        newest = select(column).where(self._own)
        return newest.order_by(schema.looks.c.number.desc()).limit(MOST)
