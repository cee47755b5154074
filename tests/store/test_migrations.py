"""Migrations: from every older version to this one, once, whole or not at all."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import inspect, text

from core.store import migrations, schema
from core.store.database import open_database
from core.store.errors import StoreError
from core.store.labelled_files import File, Files, hash_of
from core.store.migrations import MIGRATIONS
from core.store.results import SavedResults
from tests.store.kept import CallKey, Calls

NOW = len(MIGRATIONS)
KEY = CallKey("sample", "table", "1", "Q")


def add_a_column(connection):
    connection.execute(text("ALTER TABLE results ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'"))


def add_a_table(connection):
    connection.execute(text("CREATE TABLE later (number INTEGER NOT NULL PRIMARY KEY)"))
    connection.execute(text("INSERT INTO later SELECT count(*) FROM results"))


def break_down(connection):
    connection.execute(text("CREATE TABLE half (number INTEGER)"))
    connection.execute(text("INSERT INTO half VALUES (1)"))
    raise ZeroDivisionError


LATER = (*MIGRATIONS, add_a_column, add_a_table)


def of_version(monkeypatch, known):
    """Be a Believe that knows these migrations."""
    monkeypatch.setattr(migrations, "MIGRATIONS", known)


def shape(database):
    """Tables with columns, keys and indexes, as the database itself describes them."""
    found = inspect(database.engine)
    return {
        table: (
            [
                (column["name"], str(column["type"]).lower(), column["nullable"])
                for column in found.get_columns(table)
            ],
            found.get_pk_constraint(table)["constrained_columns"],
            sorted(
                (index["name"], tuple(index["column_names"]), bool(index["unique"]))
                for index in found.get_indexes(table)
            ),
        )
        for table in found.get_table_names()
        if not table.startswith("sqlite_")
    }


def versions(database):
    with database.read() as connection:
        rows = connection.execute(text("SELECT version FROM schema_version ORDER BY version"))
        return [version for (version,) in rows]


@pytest.fixture
def another_url(url, request):
    if url.startswith("sqlite"):
        return "sqlite://"
    return request.getfixturevalue("postgresql").empty()


def test_the_tables_are_what_the_code_believes_they_are(database, another_url):
    def told(database):  # a primary key's name only: SQLite has a type of its own for numbers
        return {
            table: ([column for column in columns if column[0] not in key], key, indexes)
            for table, (columns, key, indexes) in shape(database).items()
        }

    assert versions(database) == list(range(1, NOW + 1))
    with open_database(another_url) as other:
        schema.metadata.drop_all(other.engine)
        schema.metadata.create_all(other.engine)
        assert told(database) == told(other)


@pytest.mark.parametrize("version", range(NOW, len(LATER) + 1))
def test_every_older_version_becomes_the_newest_and_keeps_everything(url, version, monkeypatch):
    of_version(monkeypatch, LATER[:version])
    with open_database(url) as database:
        Calls(database).put(KEY, "1")
        id = SavedResults(database).save("policy", "Title", "", "", "{}")
        assert versions(database) == list(range(1, version + 1))
    of_version(monkeypatch, LATER)
    for _ in range(2):  # the second time there is nothing to do
        with open_database(url) as database:
            assert versions(database) == list(range(1, len(LATER) + 1))
            assert Calls(database).get(KEY) == "1"
            assert SavedResults(database).open(id).title == "Title"
            with database.read() as connection:
                assert connection.execute(text("SELECT colour FROM results")).scalar() == "red"
                expected = 1 if version < len(LATER) else 0
                assert connection.execute(text("SELECT number FROM later")).scalar() == expected


def test_results_of_the_first_version_keep_their_order_and_say_no_outcome(url, monkeypatch):
    of_version(monkeypatch, MIGRATIONS[:1])
    row = "'{0}', 'policy', '{0}', '', '', '2026-01-01T00:00:00.000000', '{0}', '{0}', '{0}'"
    columns = "id, kind, title, query, model, created_at, search, digest, payload"
    with open_database(url) as database, database.write() as connection:
        for name in ("first", "second", "third"):
            values = row.format(name)
            connection.execute(text(f"INSERT INTO results ({columns}) VALUES ({values})"))
        connection.execute(text("DELETE FROM results WHERE id = 'second'"))
    of_version(monkeypatch, MIGRATIONS)
    with open_database(url) as database:
        results = SavedResults(database)
        results.save("policy", "fourth", "", "", "4")
        found = results.search().results
        assert [one.title for one in found] == ["fourth", "third", "first"]
        assert {one.outcome for one in found} == {""}
        assert results.open("third").payload == "third"


def test_results_from_before_there_were_owners_belong_to_this_computer(url, monkeypatch):
    of_version(monkeypatch, MIGRATIONS[:3])
    columns = "id, kind, title, query, model, created_at, search, digest, outcome, payload"
    values = "'id', 'policy', 'old', '', 'm', '2026-01-01T00:00:00.000000', 'old', 'd', '', '{}'"
    with open_database(url) as database, database.write() as connection:
        connection.execute(text(f"INSERT INTO results ({columns}) VALUES ({values})"))
    of_version(monkeypatch, MIGRATIONS)
    with open_database(url) as database:
        mine, hers = SavedResults(database), SavedResults(database, "alice")
        assert [one.title for one in mine.search("old").results] == ["old"]
        assert mine.models("From") == ("m",) and not hers.search().total
        mine.rename("id", "renamed")
        assert hers.open("id").title == "renamed"


def test_files_from_before_they_were_counted_keep_their_order(url, monkeypatch):
    of_version(monkeypatch, MIGRATIONS[:5])
    columns = "owner, hash, name, saved_at, notes, content"
    with open_database(url) as database, database.write() as connection:
        for name, day in (("second", 2), ("third", 3), ("first", 1)):
            row = {"hash": hash_of(name.encode()), "name": name, "content": name.encode()}
            statement = f"INSERT INTO files ({columns}) VALUES ('', :hash, :name, :day, '{{}}', "
            connection.execute(text(f"{statement}:content)"), row | {"day": f"2099-01-0{day}"})
    of_version(monkeypatch, MIGRATIONS)
    monkeypatch.setattr("core.store.labelled_files.MOST", 3)
    with open_database(url) as database:
        kept = Files(database)
        assert kept.open(hash_of(b"first")) == File("first", b"first", "{}")
        kept.save("fourth", b"fourth")
        there = [kept.open(hash_of(name)) is not None for name in (b"first", b"second", b"third")]
        assert there == [False, True, True]


def test_the_way_to_a_version_does_not_show(url, another_url, monkeypatch):
    for version in range(1, len(LATER) + 1):
        of_version(monkeypatch, LATER[:version])
        open_database(url).close()
    with open_database(url) as grown, open_database(another_url) as made_at_once:
        assert shape(grown) == shape(made_at_once)


def test_a_migration_that_fails_changes_nothing(url, monkeypatch):
    of_version(monkeypatch, (break_down,))
    with pytest.raises(ZeroDivisionError):
        open_database(url)
    of_version(monkeypatch, MIGRATIONS)
    with open_database(url) as database:
        assert database.notice is None
        assert versions(database) == list(range(1, NOW + 1))
        before = shape(database)
        assert "half" not in before
        Calls(database).put(KEY, "1")
    of_version(monkeypatch, (*MIGRATIONS, add_a_column, break_down))
    with pytest.raises(ZeroDivisionError):
        open_database(url)
    of_version(monkeypatch, (*MIGRATIONS, add_a_column))
    with open_database(url) as database:
        assert versions(database) == list(range(1, NOW + 2))  # the one before it is kept
        assert shape(database).keys() == before.keys()
        assert Calls(database).get(KEY) == "1"


def test_a_newer_database_is_refused_and_not_altered(url, monkeypatch):
    of_version(monkeypatch, LATER)
    with open_database(url) as database:
        before = shape(database)
    of_version(monkeypatch, MIGRATIONS)
    with pytest.raises(
        StoreError, match=rf"newer Believe \(schema {len(LATER)}; this one reads up to {NOW}"
    ):
        open_database(url)
    of_version(monkeypatch, LATER)
    with open_database(url) as database:
        assert shape(database) == before
        assert versions(database) == list(range(1, len(LATER) + 1))


def test_a_database_that_is_renewed_between_looking_and_opening_is_refused(tmp_path, monkeypatch):
    """What `files` sees at first may be old by the time of the migrations."""
    url = f"sqlite:///{tmp_path / 'believe.db'}"
    of_version(monkeypatch, LATER)
    open_database(url).close()
    of_version(monkeypatch, MIGRATIONS)
    monkeypatch.setattr("core.store.sqlite_file.prepare", lambda path, newest: None)
    with pytest.raises(StoreError, match="newer Believe"):
        open_database(url)


@pytest.mark.parametrize("version", [0, NOW])
def test_many_who_start_at_once_migrate_once(url, version, monkeypatch):
    ran = []

    def count(connection):
        add_a_table(connection)
        ran.append(1)

    if version:
        open_database(url).close()
    of_version(monkeypatch, (*MIGRATIONS, add_a_column, count))
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(6) as pool:
        opened = [pool.submit(open_database, url) for _ in range(6)]
        databases = [stack.enter_context(future.result()) for future in opened]
        assert ran == [1]
        for database in databases:
            assert versions(database) == list(range(1, NOW + 3))
