"""Opening the database, and the two ways in: `Database.read` and `Database.write`."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final

import platformdirs
from sqlalchemy import URL, Connection, Engine, Table, create_engine, event, make_url, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import StaticPool

from core import settings
from core.once import FORKED
from core.settings import DATABASE as VARIABLE
from core.store import migrations, schema, sqlite_file
from core.store.errors import BUSY_SECONDS, StoreError, disappearance, full, is_lasting, sentence
from core.store.locks import AdvisoryLocks, Claims, Locks, file_locks

FILE_NAME: Final = "believe.db"
CONNECT_SECONDS: Final = 10
MOVED_AT_ONCE: Final = 20  # rows, each of which can have megabytes
LEAST_FREE: Final = 1_000_000  # bytes: with less on its disk, nothing is begun that must be saved

_DRIVERS: Final = {
    "sqlite": "sqlite",
    "sqlite+pysqlite": "sqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}
_EXAMPLES: Final = "sqlite:////folder/believe.db or postgresql://user:password@host/name"
_IN_MEMORY: Final = (None, "", ":memory:")
_SHOWN: Final = ("host", "port", "dbname")  # a query can hold secrets, these do not
_LOCKED_AT_ONCE: Final = "believe_locked_at_once"
#: Tables of what a person says and can say again: what tells their rows apart, and what is said.
_LAST_WORDS: Final[dict[Table, tuple[tuple[str, str], str]]] = {
    schema.labels: (("owner", "item"), "label"),
    schema.files: (("owner", "hash"), "notes"),
}


class Database:
    """An open database with all tables of this version; made by `open_database`.

    Whoever goes past `read` and `write`, by `engine`, handles driver errors without help. `address`
    is where it is, for people: a path or a URL, never with a password.
    """

    def __init__(
        self,
        engine: Engine,
        address: str,
        *,
        notice: str | None = None,
        secrets: tuple[str, ...] = (),
        locks: Locks | None = None,
    ) -> None:
        self.engine, self.address = engine, address
        # For the person, when a damaged file was set aside on opening, or the file deleted later.
        self.notice = notice
        self.claims = Claims()  # which calls somebody in this process is asking a model for
        self.locks = locks  # and which prompts it asks about, for others; None without any
        # Rows of calls that were answered and could not be saved, by their digests: held here until
        # they can be, so that nobody pays for them again.
        self.unsaved: dict[str, dict[str, str | int]] = {}
        # Of SQLite; None for other databases, and until it is open.
        self.file: sqlite_file.OpenFile | None = None
        self._failed: tuple[float, DBAPIError] | None = None  # when a write failed last, and why
        self._secrets, self._process = secrets, os.getpid()
        # SQLite has one writer at a time, and in memory one connection for all threads. They
        # wait in line here: SQLite itself would let them sleep and try again.
        one_connection = isinstance(engine.pool, StaticPool)
        lock: AbstractContextManager[Any] = threading.RLock()
        self.writing = lock if engine.dialect.name == "sqlite" else nullcontext()
        self._reading = lock if one_connection else nullcontext()

    @property
    def folder(self) -> Path | None:
        """Where files belong that go with it: beside its own; None where it is in memory only."""
        if self.engine.dialect.name != "sqlite":
            return default_path().parent
        file = self.engine.url.database
        return Path(file).parent if file and file != ":memory:" else None

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction that only reads; raise `StoreError` if it fails, or its body."""
        with self._explain(), self._reading, self.engine.begin() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a transaction that writes: all of it is kept at the end, or nothing.

        Where the file was deleted meanwhile, all that was in it is first written to a new one.

        Raises `StoreError` when the database fails, here or in the body.
        """
        self._follow()
        together = self._failing_together(time.monotonic())
        with self._explain(), self.writing, together, self.engine.connect() as connection:
            connection.execution_options(**{_LOCKED_AT_ONCE: True})
            with connection.begin():
                yield connection

    def _follow(self) -> None:
        """Go on in the file at the path where the open one is gone, with all that was in that.

        A connection that is open reads a deleted file to its end.
        """
        if self.file is None or not self.file.is_gone:
            return
        with self._explain(), self.writing:
            before = self.file
            if not before.is_gone:  # whoever stood in front has done it
                return
            with closing(self.engine.raw_connection()) as here:
                # Where it was only moved, it is whole there; and the log has no page any more
                # that could come into another file.
                here.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
            before.clear_place()
            other = _open(URL.create("sqlite", database=str(before.path)))
            try:
                self.move_to(other)
            except BaseException:
                other.close()
                raise
            sentence = (
                f"{disappearance(self.address)} All that had been saved in it is now in the file "
                "that is there. To begin with an empty one, end Believe before you delete it."
            )
            self.notice = f"{self.notice} {sentence}" if self.notice else sentence

    @contextmanager
    def _failing_together(self, arrived: float) -> Iterator[None]:
        """Let who waited in line fail at once with who stood in front: each would wait as long."""
        if self._failed and self._failed[0] > arrived:
            raise self._failed[1]
        try:
            yield
        except DBAPIError as error:
            if is_lasting(error):
                self._failed = time.monotonic(), error
            raise

    def check_room(self) -> None:
        """Raise a `StoreError` where the disk of an SQLite file is full, or as good as full."""
        folder = self.folder
        if folder is None or self.engine.dialect.name != "sqlite":
            return
        with suppress(OSError):
            if shutil.disk_usage(folder).free < LEAST_FREE:
                raise StoreError(full(self.address))

    def insert_new(self, table: Table) -> sqlite.Insert | postgresql.Insert:
        """Return an insert that leaves alone what is there already."""
        insert = sqlite.insert if self.engine.dialect.name == "sqlite" else postgresql.insert
        return insert(table).on_conflict_do_nothing()

    def _insert_last_word(self, table: Table) -> sqlite.Insert | postgresql.Insert:
        """Return an insert that changes of what is there what a person has said again alone."""
        if table not in _LAST_WORDS:
            return self.insert_new(table)
        key, column = _LAST_WORDS[table]
        insert = sqlite.insert if self.engine.dialect.name == "sqlite" else postgresql.insert
        statement = insert(table)
        later = statement.excluded[column]
        return statement.on_conflict_do_update(
            index_elements=key, set_={column: later}, where=later != ""
        )

    def move_to(self, other: Database) -> None:
        """Write all that is here to another database, and be that one from now on.

        Whoever holds this object goes on with it. What is there already stays as it is there, but
        for labels of answers, and what a file means: there the last word counts.

        Raises `StoreError` when it cannot be written there. Nothing is moved then.
        """
        with self.writing:  # in memory there is one connection, so that nobody reads either
            with self._explain(), self.engine.begin() as here, other.write() as there:
                for table in schema.metadata.sorted_tables:
                    if table is schema.schema_version:
                        continue
                    columns = [c for c in table.c if c is not table.autoincrement_column]
                    ordered = select(*columns).order_by(*table.primary_key)
                    for part in here.execute(ordered).mappings().partitions(MOVED_AT_ONCE):
                        there.execute(other._insert_last_word(table), [dict(row) for row in part])
            before = self.engine
            self.engine, self.address, self.notice = other.engine, other.address, other.notice
            self.locks, self.file, self._secrets = other.locks, other.file, other._secrets
            self.writing, self._reading = other.writing, other._reading
            before.dispose()

    def close(self) -> None:
        """Close every connection; what is in memory only is gone then."""
        self.engine.dispose()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Database({self.address!r})"

    @contextmanager
    def _explain(self) -> Iterator[None]:
        if os.getpid() != self._process:
            raise StoreError(FORKED)
        try:
            yield
        except (DBAPIError, PoolTimeoutError, sqlite3.Error, UnicodeDecodeError) as error:
            # No cause: drivers repeat what they were given, passwords and prompts too.
            raise StoreError(sentence(error, self.address, self._secrets)) from None


def default_path() -> Path:
    """Return the file that is used when nobody names another database."""
    return Path(platformdirs.user_data_dir("believe", appauthor=False)) / FILE_NAME


def folder_beside(url: str | None = None) -> Path | None:
    """Return what `Database.folder` of a database is, whether it can be opened or not."""
    try:
        parsed = _url(url)
        if parsed.drivername != "sqlite":
            return default_path().parent
        return None if parsed.database in _IN_MEMORY else _real_path(str(parsed.database)).parent
    except StoreError:
        return None


def open_database(url: str | None = None) -> Database:
    """Open a database and bring it to this version; make it where there is none.

    A damaged SQLite file is set aside and a new one begun: see `Database.notice`.

    `url`: ``sqlite:////folder/believe.db``, ``postgresql://user:password@host/name``, or
    ``sqlite://`` for one in memory, which all threads share and `Database.close` ends. By default
    what ``BELIEVE_DATABASE_URL`` says, or else `default_path`.

    Raises `StoreError` when it cannot be opened, or was written by a newer version (it is not
    altered then).
    """
    return _open(_url(url))


def _open(url: URL) -> Database:
    """Open the database at a URL of ours, and bring it to this version."""
    database = _open_sqlite(url) if url.drivername == "sqlite" else _open_postgresql(url)
    try:
        migrations.migrate(database.read, database.write, database.address)
        if database.engine.dialect.name == "sqlite" and database.folder:
            _watch(database)
    except BaseException:
        database.close()
        raise
    return database


def _url(named: str | None) -> URL:
    """Return a URL with the driver we use; no sentence repeats the text, which has a password."""
    named = named or settings.database()
    if not named:
        return URL.create("sqlite", database=str(default_path()))
    try:
        url = make_url(named)
    except (ArgumentError, ValueError):
        raise StoreError(
            f"The address of the database is not a URL: set {VARIABLE} to one like {_EXAMPLES}."
        ) from None
    if url.drivername not in _DRIVERS:
        raise StoreError(
            f"A database of the kind “{url.drivername}” is not supported: set {VARIABLE} to a "
            f"URL like {_EXAMPLES}."
        )
    url = url.set(drivername=_DRIVERS[url.drivername])
    if url.drivername == "sqlite" and (
        url.host or url.username or url.query or (url.database or "").startswith("file:")
    ):
        raise StoreError(
            f"The address of an SQLite database is only its path: set {VARIABLE} to one like "
            "sqlite:////folder/believe.db, with four slashes before a folder."
        )
    if url.drivername != "sqlite" and "@" in f"{url.host}{url.database}":
        raise StoreError(
            "The user or the password of the database contains a character that must be "
            f"escaped: write @ as %40, / as %2F and : as %3A in {VARIABLE}."
        )
    return url


def _open_sqlite(url: URL) -> Database:
    if url.database in _IN_MEMORY:
        options: dict[str, Any] = {"poolclass": StaticPool}
        address, notice, locks = "in memory", None, None
    else:
        path = _real_path(str(url.database))
        notice = sqlite_file.prepare(path, len(migrations.MIGRATIONS))
        url, address, options = url.set(database=str(path)), str(path), {}
        locks = file_locks(path)
    engine = create_engine(
        url,
        hide_parameters=True,
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
        **options,
    )
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)
    return Database(engine, address, notice=notice, locks=locks)


def _watch(database: Database) -> None:
    """Remember which file is open, and open no other one beside it."""
    file = database.file = sqlite_file.OpenFile(Path(database.address))

    def refuse(*_: object) -> None:
        if file.is_gone:  # SQLite would make an empty one
            raise StoreError(
                f"{disappearance(database.address)} Try again, or start Believe again."
            )

    event.listen(database.engine, "do_connect", refuse)


def _real_path(text: str) -> Path:
    try:
        return Path(text).expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, no home, a NUL
        raise StoreError(sentence(OSError(str(error)), text)) from None


def _configure(connection: DBAPIConnection, record: object) -> None:
    """Settings that SQLite forgets with every connection."""
    connection.isolation_level = None  # Python's driver begins nothing by itself: `_begin` does
    cursor = connection.cursor()
    for setting in (
        "foreign_keys = ON",
        "synchronous = FULL",  # a power cut, too, takes nothing that was acknowledged
    ):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()


def _begin(connection: Connection) -> None:
    # A reader that starts to write would fail at once when another writer was faster.
    immediately = connection.get_execution_options().get(_LOCKED_AT_ONCE, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediately else "BEGIN")


def _open_postgresql(url: URL) -> Database:
    # A query may say password= and sslpassword=, which SQLAlchemy would show.
    hidden = {name: url.query[name] for name in url.query if "pass" in name.lower()}
    url = url.difference_update_query(hidden)
    shown = url.difference_update_query([name for name in url.query if name not in _SHOWN])
    address = shown.set(drivername="postgresql").render_as_string(hide_password=True)
    secrets = [url.password, *(v for value in hidden.values() for v in _each(value))]
    try:
        engine = create_engine(
            url,
            hide_parameters=True,
            pool_pre_ping=True,  # a server that was started anew is no error
            connect_args={
                "client_encoding": "utf8",  # whatever PGCLIENTENCODING says
                **({} if "connect_timeout" in url.query else {"connect_timeout": CONNECT_SECONDS}),
                **{name: _each(value)[-1] for name, value in hidden.items()},
            },
        )
    except ImportError:
        raise StoreError(
            "PostgreSQL needs its driver: install it with pip install 'psycopg[binary]', or "
            f"unset {VARIABLE}."
        ) from None

    def check(connection: Any, record: object) -> None:
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise StoreError(
                f"{address} is encoded in {encoding}, which cannot hold every text. Create one "
                "with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, and name that."
            )

    event.listen(engine, "connect", check, insert=True)  # before SQLAlchemy reads anything
    hidden_texts = tuple(s for s in secrets if s)
    return Database(engine, address, secrets=hidden_texts, locks=AdvisoryLocks(engine))


def _each(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value
