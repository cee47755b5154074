"""Numbered migrations: how a database of every older version becomes one of this version.

A migration that has been released is never changed; the next change is the next one. Each
is written out as the statements it runs, because `schema` describes the present only.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final

from sqlalchemy import Connection, func, insert, inspect, select, text

from core.store import schema
from core.store.errors import StoreError, newer

Migration = Callable[[Connection], None]

# Any number will do, as long as no other program on the same PostgreSQL locks by it.
_LOCK = 0x62656C69657665


def _is_postgresql(connection: Connection) -> bool:
    return connection.dialect.name == "postgresql"


def _counter(connection: Connection) -> str:
    """Return the type of a column that counts up by itself."""
    if _is_postgresql(connection):
        return "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
    return "INTEGER PRIMARY KEY AUTOINCREMENT"


def _calls_and_results(connection: Connection) -> None:
    counter = _counter(connection)
    for statement in (
        """CREATE TABLE calls (
            digest TEXT NOT NULL PRIMARY KEY,
            kind TEXT NOT NULL,
            model TEXT NOT NULL,
            created_at TEXT NOT NULL,
            prompt_tokens BIGINT NOT NULL,
            response_tokens BIGINT NOT NULL,
            payload TEXT NOT NULL
        )""",
        "CREATE INDEX calls_usage ON calls (model, kind, prompt_tokens, response_tokens)",
        f"""CREATE TABLE results (
            number {counter},
            id TEXT NOT NULL,
            kind TEXT NOT NULL,
            title TEXT NOT NULL,
            query TEXT NOT NULL,
            model TEXT NOT NULL,
            created_at TEXT NOT NULL,
            search TEXT NOT NULL,
            digest TEXT NOT NULL,
            payload TEXT NOT NULL
        )""",
        "CREATE UNIQUE INDEX results_id ON results (id)",
        "CREATE UNIQUE INDEX results_content ON results (kind, digest)",
        "CREATE INDEX results_kind ON results (kind, number)",
    ):
        connection.execute(text(statement))


def _outcomes(connection: Connection) -> None:
    """Say of every result what came of it; those kept before say nothing.

    The table is made anew, because a new column would stand behind the payload: SQLite would
    walk over megabytes for each row of a list.
    """
    counter = _counter(connection)
    before = "number, id, kind, title, query, model, created_at, search, digest"
    for statement in (
        "DROP INDEX results_id",
        "DROP INDEX results_content",
        "DROP INDEX results_kind",
        "ALTER TABLE results RENAME TO results_before",
        f"""CREATE TABLE results (
            number {counter},
            id TEXT NOT NULL,
            kind TEXT NOT NULL,
            title TEXT NOT NULL,
            query TEXT NOT NULL,
            model TEXT NOT NULL,
            created_at TEXT NOT NULL,
            search TEXT NOT NULL,
            digest TEXT NOT NULL,
            outcome TEXT NOT NULL,
            payload TEXT NOT NULL
        )""",
        f"""INSERT INTO results ({before}, outcome, payload)
            {"OVERRIDING SYSTEM VALUE" if _is_postgresql(connection) else ""}
            SELECT {before}, '', payload FROM results_before""",
        "DROP TABLE results_before",
        "CREATE UNIQUE INDEX results_id ON results (id)",
        "CREATE UNIQUE INDEX results_content ON results (kind, digest)",
        "CREATE INDEX results_kind ON results (kind, number)",
    ):
        connection.execute(text(statement))
    if _is_postgresql(connection):  # which does not count along with numbers that are given
        connection.execute(
            text(
                "SELECT setval(pg_get_serial_sequence('results', 'number'), "
                "coalesce(max(number), 0) + 1, false) FROM results"
            )
        )


def _services(connection: Connection) -> None:
    """Make room for what was found out about services."""
    connection.execute(
        text(
            "CREATE TABLE services (model TEXT NOT NULL PRIMARY KEY, found_at TEXT NOT NULL, "
            "found TEXT NOT NULL)"
        )
    )


def _owners(connection: Connection) -> None:
    """Say of every result whose it is; those kept before belong to this computer.

    The new column stands behind the payload, so every index that a list uses begins with it.
    """
    for statement in (
        "ALTER TABLE results ADD COLUMN owner TEXT NOT NULL DEFAULT ''",
        "DROP INDEX results_content",
        "DROP INDEX results_kind",
        "CREATE UNIQUE INDEX results_content ON results (owner, kind, digest)",
        "CREATE INDEX results_kind ON results (owner, kind, number)",
        "CREATE INDEX results_owner ON results (owner, number)",
    ):
        connection.execute(text(statement))


def _files(connection: Connection) -> None:
    """Make room for the files that people brought."""
    binary = "BYTEA" if _is_postgresql(connection) else "BLOB"
    connection.execute(
        text(
            "CREATE TABLE files (owner TEXT NOT NULL, hash TEXT NOT NULL, name TEXT NOT NULL, "
            f"saved_at TEXT NOT NULL, notes TEXT NOT NULL, content {binary} NOT NULL, "
            "PRIMARY KEY (owner, hash))"
        )
    )


def _looks(connection: Connection) -> None:
    """Remember what was looked at of labels: they are a budget."""
    counter = _counter(connection)
    for statement in (
        f"""CREATE TABLE looks (
            number {counter},
            owner TEXT NOT NULL,
            setting TEXT NOT NULL,
            made_at TEXT NOT NULL,
            payload TEXT NOT NULL
        )""",
        "CREATE UNIQUE INDEX looks_setting ON looks (owner, setting)",
        "CREATE INDEX looks_owner ON looks (owner, number)",
    ):
        connection.execute(text(statement))


def _order_of_files(connection: Connection) -> None:
    """Count files as they are saved: by a clock that went backwards, the newest was the oldest."""
    counter = _counter(connection)
    columns = "owner, hash, name, saved_at, notes, content"
    for statement in (
        "ALTER TABLE files RENAME TO files_before",
        f"""CREATE TABLE files (
            number {counter},
            owner TEXT NOT NULL,
            hash TEXT NOT NULL,
            name TEXT NOT NULL,
            saved_at TEXT NOT NULL,
            notes TEXT NOT NULL,
            content {"BYTEA" if _is_postgresql(connection) else "BLOB"} NOT NULL
        )""",
        f"""INSERT INTO files ({columns})
            SELECT {columns} FROM files_before ORDER BY saved_at, owner, hash""",
        "DROP TABLE files_before",
        "CREATE UNIQUE INDEX files_content ON files (owner, hash)",
        "CREATE INDEX files_owner ON files (owner, number)",
    ):
        connection.execute(text(statement))


def _labels(connection: Connection) -> None:
    """Make room for what people say of answers."""
    for statement in (
        f"""CREATE TABLE labels (
            number {_counter(connection)},
            owner TEXT NOT NULL,
            item TEXT NOT NULL,
            made_at TEXT NOT NULL,
            label TEXT NOT NULL
        )""",
        "CREATE UNIQUE INDEX labels_item ON labels (owner, item)",
    ):
        connection.execute(text(statement))


# The first brings an empty database to version 1, the second that to version 2, and so on.
MIGRATIONS: Final[tuple[Migration, ...]] = (
    _calls_and_results,
    _outcomes,
    _services,
    _owners,
    _files,
    _order_of_files,
    _looks,
    _labels,
)


def migrate(
    read: Callable[[], AbstractContextManager[Connection]],
    write: Callable[[], AbstractContextManager[Connection]],
    address: str,
) -> None:
    """Run the migrations that a database has not seen yet, each in one transaction.

    Processes that start at once wait for each other here, and every migration runs once: `read`
    opens a transaction that waits for nobody, `write` one that no other writer is in. `address` is
    where the database is, without a password.

    Raises `StoreError` when the database was written by a newer version; it is not altered.
    """
    with read() as connection:  # nothing to do, mostly: wait for no writer then
        if _version(connection) == len(MIGRATIONS):
            return
    while True:
        with write() as connection:
            if _is_postgresql(connection):
                connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            version = _version(connection)
            if version > len(MIGRATIONS):
                raise StoreError(newer(address, version, len(MIGRATIONS)))
            if version == len(MIGRATIONS):
                return
            if version == 0:
                connection.execute(
                    text(
                        "CREATE TABLE IF NOT EXISTS schema_version "
                        "(version INTEGER NOT NULL PRIMARY KEY, applied_at TEXT NOT NULL)"
                    )
                )
            MIGRATIONS[version](connection)
            row = {"version": version + 1, "applied_at": schema.now()}
            connection.execute(insert(schema.schema_version).values(row))


def _version(connection: Connection) -> int:
    if not inspect(connection).has_table(schema.schema_version.name):
        return 0
    return connection.execute(select(func.max(schema.schema_version.c.version))).scalar() or 0
