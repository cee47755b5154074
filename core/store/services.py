"""What was found out about services by asking them, so that the next process need not ask."""

from contextlib import suppress

from sqlalchemy import delete, select

from core.store import schema, text
from core.store.database import Database
from core.store.errors import StoreError


class Services:
    """A database's memory of services; where it fails, they are asked again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, name: str) -> str | None:
        """Return what is kept of a model; None if nothing is, or the database fails."""
        table = schema.services.c
        with suppress(StoreError), self._database.read() as connection:
            statement = select(table.found).where(table.model == text.storable(name))
            value: str | None = connection.execute(statement).scalar()
            return value
        return None

    def put(self, name: str, value: str) -> None:
        """Keep this of a model, and no longer what was kept before."""
        self._replace(name, value)

    def forget(self, name: str) -> None:
        """Keep nothing of a model."""
        self._replace(name, None)

    def _replace(self, name: str, value: str | None) -> None:
        model = text.storable(name)
        with suppress(StoreError), self._database.write() as connection:
            connection.execute(delete(schema.services).where(schema.services.c.model == model))
            if value is not None:
                row = {
                    "model": model,
                    "found_at": schema.now(),
                    "found": text.checked_payload(value),
                }
                connection.execute(self._database.insert_new(schema.services), [row])
