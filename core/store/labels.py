"""What people said of answers: right or wrong, one row of the table each.

Of the texts only a hash is kept, by which the same answer is found in another file.
"""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Row, delete, select

from core.store import schema
from core.store.results import OwnedRows
from core.store.text import storable

AT_ONCE: Final = 500  # items of one query


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
            for start in range(0, len(items), AT_ONCE):
                some = table.item.in_([storable(each) for each in items[start : start + AT_ONCE]])
                rows += connection.execute(statement.where(some)).all()
        return {row.item: row.label for row in sorted(rows, key=lambda row: row.number)}

    def forget(self, items: Sequence[str]) -> None:
        """Keep the labels of items no longer."""
        with self._database.write() as connection:
            for start in range(0, len(items), AT_ONCE):
                some = [storable(each) for each in items[start : start + AT_ONCE]]
                connection.execute(
                    delete(schema.labels).where(self._own, schema.labels.c.item.in_(some))
                )
