"""What people said of answers, right or wrong, and what was looked at of labels.

Of the texts only a hash is kept, by which the same answer is found in another file. Later looks
know of those before: nothing deletes one.
"""

from collections.abc import Iterable, Sequence, Set
from typing import Any, Final

from sqlalchemy import Column, Row, Select, delete, select

from core.store import schema
from core.store.results import OwnedRows
from core.store.text import checked_payload, storable

ITEMS_A_QUERY: Final = 500  # items of one query


class Labels(OwnedRows):
    """One owner's labels in a database."""

    table = schema.labels

    def save(self, item: str, label: str) -> None:
        """Keep the label of an item, a hash of what was labelled, in place of an earlier one."""
        table = schema.labels
        row = {
            "owner": self._owner,
            "item": storable(item),
            "made_at": schema.now(),
            "label": storable(label),
        }
        with self._database.write() as connection:
            connection.execute(delete(table).where(self._own, table.c.item == row["item"]))
            connection.execute(table.insert().values(row))

    def of(self, items: Sequence[str]) -> dict[str, str]:
        """Return the labels of those items that have one, the newest last."""
        table = schema.labels.c
        statement = select(table.number, table.item, table.label).where(self._own)
        rows: list[Row[tuple[int, str, str]]] = []
        with self._database.read() as connection:
            for start in range(0, len(items), ITEMS_A_QUERY):
                some = table.item.in_(
                    [storable(each) for each in items[start : start + ITEMS_A_QUERY]]
                )
                rows += connection.execute(statement.where(some)).all()
        return {row.item: row.label for row in sorted(rows, key=lambda row: row.number)}

    def forget(self, items: Sequence[str]) -> None:
        """Keep the labels of items no longer."""
        with self._database.write() as connection:
            for start in range(0, len(items), ITEMS_A_QUERY):
                some = [storable(each) for each in items[start : start + ITEMS_A_QUERY]]
                connection.execute(
                    delete(schema.labels).where(self._own, schema.labels.c.item.in_(some))
                )


MOST: Final = 2_000  # that are read: the newest
UNKNOWN_LOOK: Final = (
    "A look at labels in the database cannot be read: it was changed, or is of a later Believe. "
    "Update Believe, or put back the database as it was."
)


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

    def all(self) -> dict[str, str]:
        """Return the payloads by what they are looks at, the newest last."""
        table = schema.looks.c
        with self._database.read() as connection:
            rows = connection.execute(self._newest(table.setting, table.payload)).all()
        return {row.setting: row.payload for row in rows[::-1]}

    def _newest(self, *columns: Column[str]) -> Select[Any]:
        newest = select(*columns).where(self._own)
        return newest.order_by(schema.looks.c.number.desc()).limit(MOST)
