"""The call cache as tests like to ask it: call by call."""

from sqlalchemy import func, select

from core.store import calls, schema
from core.store.calls import CallKey

__all__ = ["CallKey", "Calls"]


class Calls(calls.Calls):
    """Keeps and finds single calls, and counts them, through what the cache itself offers."""

    def get(self, key):
        return self.get_many([key]).get(key)

    def put(self, key, payload):
        return self.put_many({key: payload})[key]

    def count(self):
        with self._database.read() as connection:
            return connection.execute(select(func.count()).select_from(schema.calls)).scalar_one()
