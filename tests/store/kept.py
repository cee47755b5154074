"""The call cache as tests like to ask it: call by call."""

from contextlib import contextmanager

from sqlalchemy import event, func, select

from core.store import calls, schema
from core.store.calls import CallKey

__all__ = ["CallKey", "Calls", "statements_of"]


class Calls(calls.Calls):
    """Keeps and finds single calls, and counts them, through what the cache itself offers."""

    def __init__(self, database):
        super().__init__(database)
        self.database = database

    def get(self, key):
        return self.get_many([key]).get(key)

    def put(self, key, payload):
        return self.put_many({key: payload})[key]

    def count(self):
        with self.database.read() as connection:
            return connection.execute(select(func.count()).select_from(schema.calls)).scalar_one()


@contextmanager
def statements_of(database):
    """Every statement that a database is sent meanwhile, with its parameters."""
    sent = []

    def note(connection, cursor, statement, parameters, context, executemany):
        sent.append((statement, parameters))

    event.listen(database.engine, "before_cursor_execute", note)
    yield sent
    event.remove(database.engine, "before_cursor_execute", note)
