"""The SQLite file: damaged ones are set aside, newer ones and others' are left alone."""

import os
import random
import re
import shutil
import sqlite3
import threading
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest

from core.store import sqlite_file
from core.store.database import open_database
from core.store.errors import StoreError
from core.store.labelled_files import Files
from core.store.migrations import MIGRATIONS
from core.store.results import SavedResults
from tests.patience import LONG
from tests.store.kept import CallKey, Calls
from tests.store.processes import go, start
from tests.store.test_fallback_database import assert_full, fill

PAGE = 4096
KEYS = [CallKey("sample", "table", "1", f"Q{number}") for number in range(60)]


def address(path):
    return f"sqlite:///{path}"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "believe.db"


@pytest.fixture
def filled(path):
    """A database of a few dozen pages, closed in order."""
    with open_database(address(path)) as database:
        for key in KEYS:
            Calls(database).put(key, key.prompt * 500)
    assert path.stat().st_size > 60_000
    return path


def is_fresh(path):
    with open_database(address(path)) as database:
        assert database.notice is None
        return Calls(database).count() == 0


def set_aside(path):
    """Open, look at the notice, and return what was set aside."""
    with open_database(address(path)) as database:
        assert Calls(database).count() == 0
        Calls(database).put(KEYS[0], "1")
        notice = database.notice
    form = re.compile(r"believe\.db\.damaged-\d{8}-\d{6}")
    (kept,) = [entry for entry in path.parent.iterdir() if form.fullmatch(entry.name)]
    assert str(path) in notice
    assert str(kept) in notice
    assert notice.endswith(".")
    with open_database(address(path)) as database:
        assert database.notice is None  # said once
        assert Calls(database).get(KEYS[0]) == "1"
    return kept


def as_if_killed(path, log="-wal"):
    """A copy with what SQLite keeps beside an open file, which it tidies up when it is closed."""
    copy = path.with_name("copy.db")
    for ending in ("", log):
        shutil.copy(f"{path}{ending}", f"{copy}{ending}")
    return copy


# --------------------------------------------------------------------------------- damage


def overwritten(whole, seed):
    """From the third page on: everything but the header and the list of tables."""
    page = random.Random(seed).randrange(2, len(whole) // PAGE)
    return whole[: page * PAGE] + random.Random(seed).randbytes(PAGE) + whole[(page + 1) * PAGE :]


DAMAGE = {
    "two letters": lambda whole: b"x",
    "text": lambda whole: b"garbage " * 1000,
    "zeros": lambda whole: b"\0" * 4096,
    "only a header": lambda whole: b"SQLite format 3\0",
    "a wrong header": lambda whole: b"SQLite format 3\0" + b"\xff" * 5000,
    "a beginning": lambda whole: whole[: len(whole) // 1000],
    "a half": lambda whole: whole[: len(whole) // 2],
    "nearly all": lambda whole: whole[: int(len(whole) * 0.99999)],
    "one page": lambda whole: overwritten(whole, 0),
    "another page": lambda whole: overwritten(whole, 1),
    "a third page": lambda whole: overwritten(whole, 2),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_set_aside(filled, damage):
    content = DAMAGE[damage](filled.read_bytes())
    filled.write_bytes(content)
    assert set_aside(filled).read_bytes() == content


def test_pages_of_a_large_database_are_not_all_read(filled, monkeypatch):
    monkeypatch.setattr(sqlite_file, "EXAMINED_BYTES", 1000)
    content = filled.read_bytes()
    filled.write_bytes(content[: len(content) // PAGE // 2 * PAGE])  # but a missing end is seen
    set_aside(filled)


def test_a_folder_of_that_name_is_set_aside_with_what_is_in_it(path):
    path.mkdir()
    (path / "inside").write_text("mine")
    assert (set_aside(path) / "inside").read_text() == "mine"


def test_what_belongs_to_a_damaged_file_goes_with_it(path):
    path.write_bytes(b"garbage")
    Path(f"{path}-wal").write_bytes(b"the log")
    Path(f"{path}-shm").write_bytes(b"its index, which SQLite makes anew whenever it looks")
    kept = set_aside(path)
    assert Path(f"{kept}-wal").read_bytes() == b"the log"
    assert Path(f"{kept}-shm").exists()


def test_a_second_damaged_file_of_the_same_second_is_kept_too(path, monkeypatch):
    class Clock(sqlite_file.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2024, 5, 6, 7, 8, 9)

    monkeypatch.setattr(sqlite_file, "datetime", Clock)
    for number in range(3):
        path.write_bytes(b"garbage %d" % number)
        open_database(address(path)).close()
    name = "believe.db.damaged-20240506-070809"
    for number, kept in enumerate([name, f"{name}-2", f"{name}-3"]):
        assert (path.parent / kept).read_bytes() == b"garbage %d" % number


@pytest.mark.slow
def test_processes_that_find_damage_at_once_set_it_aside_once(path):
    count = 3
    path.write_bytes(b"garbage " * 100_000)
    processes = [start("write", address(path), f"writer {n}", 10) for n in range(count)]
    go(*processes)
    assert [process.wait() for process in processes] == [0] * count
    kept = list(path.parent.glob("*damaged*"))
    assert [p.read_bytes() for p in kept] == [b"garbage " * 100_000]
    with open_database(address(path)) as database:
        assert Calls(database).count() == 10 * count


def test_a_file_that_another_process_mended_meanwhile_is_used(filled, tmp_path, monkeypatch):
    healthy = tmp_path / "healthy.db"
    filled.rename(healthy)
    filled.write_bytes(b"garbage")

    @contextmanager
    def another_was_faster(path):
        healthy.replace(path)
        yield

    monkeypatch.setattr(sqlite_file, "alone", another_was_faster)
    with open_database(address(filled)) as database:
        assert database.notice is None
        assert Calls(database).count() == len(KEYS)
    assert [entry.name for entry in tmp_path.glob("*damaged*")] == []


@pytest.mark.parametrize("left", ["nothing", "an empty file"])
def test_a_log_without_its_database_is_not_mixed_into_a_new_one(filled, left):
    database = open_database(address(filled))
    Calls(database).put(CallKey("sample", "table", "1", "late"), "1")
    log = Path(f"{filled}-wal").read_bytes()
    database.close()
    filled.unlink()
    if left == "an empty file":
        filled.touch()
    Path(f"{filled}-wal").write_bytes(log)
    assert is_fresh(filled)


def test_a_database_with_an_unfinished_log_is_whole(filled):
    """All that was written last stands in the log only."""
    late = CallKey("sample", "table", "1", "late")
    with open_database(address(filled)) as database:
        Calls(database).put(late, "1")
        copy = as_if_killed(filled)
    with open_database(address(copy)) as database:
        assert database.notice is None
        assert Calls(database).get(late) == "1"


def locked(path):
    """A connection without a log that is about to write: SQLite lets nobody switch to one."""
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("PRAGMA journal_mode = DELETE")
    other.execute("BEGIN IMMEDIATE")
    return other


def test_a_lock_in_the_way_of_the_log_is_waited_for(filled):
    with closing(locked(filled)) as other:
        threading.Timer(0.3, lambda: other.execute("ROLLBACK")).start()
        with open_database(address(filled)) as database:
            assert Calls(database).count() == len(KEYS)


def test_a_lock_that_stays_in_the_way_is_said_so(filled, monkeypatch):
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0)
    with closing(locked(filled)):
        assert "Another program has locked" in refused(filled)


# ------------------------------------------------------------- newer ones, and those of others


def run_sql(path, *statements):
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def refused(path):
    with pytest.raises(StoreError) as caught:
        open_database(address(path))
    return str(caught.value)


@pytest.mark.parametrize(
    ("statements", "damaged"),
    [
        (["ALTER TABLE calls RENAME TO conversations"], False),
        (["PRAGMA user_version = 7", "PRAGMA journal_mode = DELETE"], False),
        (["PRAGMA journal_mode = DELETE"], True),
    ],
)
def test_a_database_of_a_newer_version_is_refused_and_left_alone(filled, statements, damaged):
    run_sql(filled, "INSERT INTO schema_version VALUES (99, 'later')")
    run_sql(filled, *statements)
    content = bytearray(filled.read_bytes())
    if damaged:
        content[-4096:] = random.Random(0).randbytes(4096)
        filled.write_bytes(content)
    said = refused(filled)
    assert f"written by a newer Believe (schema 99; this one reads up to {len(MIGRATIONS)})" in said
    assert "Update Believe" in said
    assert filled.read_bytes() == content
    if "PRAGMA journal_mode = DELETE" in statements:
        assert [p.name for p in filled.parent.iterdir()] == ["believe.db"]


def test_a_newer_database_that_its_process_left_open_is_left_alone(filled):
    with open_database(address(filled)) as database:
        with database.write() as connection:
            connection.exec_driver_sql("INSERT INTO schema_version VALUES (99, 'later')")
        copy = as_if_killed(filled)
    before = [Path(f"{copy}{ending}").read_bytes() for ending in ("", "-wal")]
    assert "newer Believe (schema 99" in refused(copy)
    assert [Path(f"{copy}{ending}").read_bytes() for ending in ("", "-wal")] == before


@pytest.mark.parametrize(
    "statement",
    ["CREATE TABLE photographs (name TEXT)", "CREATE TABLE schema_version (version TEXT)"],
)
def test_the_database_of_another_program_is_left_alone(path, statement):
    run_sql(path, statement)
    before = path.read_bytes()
    assert "another program" in refused(path)
    assert path.read_bytes() == before


def test_a_file_without_anything_in_it_is_a_fresh_database(path):
    for statements in ((), ("CREATE TABLE x (y)", "DROP TABLE x")):
        path.unlink(missing_ok=True)
        path.touch()
        run_sql(path, *statements)
        assert bool(path.stat().st_size) == bool(statements)
        assert is_fresh(path)
    assert list(path.parent.glob("*damaged*")) == []


def test_a_half_made_file_of_a_killed_process_is_gone_on_with(path, tmp_path):
    """A rollback journal beside the file: SQLite must write before anybody can read."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("CREATE TABLE x (y)")
    connection.execute("DROP TABLE x")
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("BEGIN")
    connection.execute("CREATE TABLE x (y)")
    connection.executemany("INSERT INTO x VALUES (?)", [("x" * 3000,)] * 100)
    copy = as_if_killed(path, "-journal")
    connection.close()
    assert os.path.getsize(f"{copy}-journal") > 0
    assert is_fresh(copy)
    assert not list(tmp_path.glob("*damaged*"))


# -------------------------------------------------------------------------- a damaged first page

TRIES, USED = 120, 12  # every so manieth is opened and used as well, which takes longer


@pytest.fixture
def whole(tmp_path):
    path = tmp_path / "whole.db"
    with open_database(f"sqlite:///{path}") as database:
        Calls(database).put(KEYS[0], '"kept"')
        SavedResults(database).save("inspection", "title", "query", "model", "{}")
    return path


def damaged(whole, number):
    """Return the bytes of a file whose first page is damaged in one place."""
    dice, data = random.Random(number), bytearray(whole.read_bytes())
    size = dice.choice([1, 4, 16, 200])
    start = dice.randrange(PAGE - size)
    data[start : start + size] = dice.randbytes(size)
    return bytes(data)


def left(folder):
    """Return what every file in a folder holds, but those that only lock."""
    return [path.read_bytes() for path in folder.iterdir() if path.suffix != ".lock"]


def use(path):
    with open_database(address(path)) as database:
        calls, results = Calls(database), SavedResults(database)
        calls.put(KEYS[1], '"new"')
        assert calls.get(KEYS[1]) == '"new"'
        calls.count()
        for found in results.search("query").results:
            results.open(found.id)
        results.save("policy", "title", "query", "model", "[]")


def test_a_damaged_first_page_is_set_aside_or_a_sentence_says_why_not(tmp_path, whole):
    used = 0
    for number in range(TRIES):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        path, data = folder / "believe.db", damaged(whole, number)
        path.write_bytes(data)
        notice = None
        with suppress(StoreError):  # such as: this is the database of another program
            notice = sqlite_file.prepare(path, len(MIGRATIONS))
            size = path.stat().st_size
            if number % USED == 0:
                use(path)
                used += 1
        if notice:
            assert data in left(folder)  # nothing is deleted
            assert size < len(data)
        shutil.rmtree(folder)
    assert used > TRIES / USED / 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"CREATE TABLE calls", b"CREATE TABLE \xff\xfe\xfd\xfcs"),
        (b"schema_version", b"\xff\xfe\xfd\xfc_version"),
        (b"payload TEXT", b"payfoad TEXT"),
        (b"CREATE TABLE", b"\x00\xc3\x28TE TABLE"),
        (None, b"\x77\x77\x77\x77"),  # the number of the format: there never was another
    ],
)
def test_names_and_a_format_that_cannot_be_read_are_damage(whole, old, new):
    data = whole.read_bytes()
    data = data[:44] + new + data[48:] if old is None else data.replace(old, new)
    assert new in data
    whole.write_bytes(data)
    with open_database(address(whole)) as database:
        assert "was damaged" in database.notice
        assert Calls(database).count() == 0
    assert data in left(whole.parent)


def test_text_that_cannot_be_read_later_is_explained(whole):
    with (
        open_database(f"sqlite:///{whole}") as database,
        pytest.raises(StoreError, match="is damaged"),
        database.read(),
    ):
        b"\xff".decode()


# ------------------------------------------------------------- deleted while it is open


def delete(path, kept):
    path.unlink()


def delete_all(path, kept):
    for part in path.parent.iterdir():
        part.unlink()


def move(path, kept):
    path.rename(kept)


def move_folder(path, kept):
    path.parent.rename(kept.parent)


def replace(path, kept):
    """As somebody does who puts back a copy of another day."""
    other = kept.with_name("other.db")
    with open_database(address(other)) as database:
        Calls(database).put(KEYS[9], '"of another day"')
    other.rename(path)


@pytest.fixture
def used(tmp_path):
    """A file that is in use, with more than one connection."""
    path = tmp_path / "folder" / "believe.db"
    with open_database(address(path)) as database:
        with database.read(), database.read():
            pass
        yield path, database


def is_whole(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.parametrize("away", [delete, delete_all, move, move_folder, replace])
def test_a_file_that_goes_away_while_it_is_open_is_made_anew_with_all_that_was_saved(
    used, away, tmp_path
):
    path, database = used
    ids, hash = fill(database)
    kept = tmp_path / "kept" / "believe.db"
    if away is not move_folder:
        kept.parent.mkdir()
    away(path, kept)
    assert_full(database, ids, hash)  # looking changes nothing
    assert database.notice is None
    Calls(database).check()  # as before somebody pays
    assert re.search(r"deleted or replaced while .* All that had been saved", database.notice)
    Calls(database).put(KEYS[5], '"later"')
    with open_database(address(path)) as there:  # before the process ends, or is killed
        for each in (there, database):
            found = Calls(each).get_many(KEYS)
            assert found.pop(KEYS[5]) == '"later"'
            assert found.pop(KEYS[9], None) == ('"of another day"' if away is replace else None)
            assert found == dict.fromkeys(KEYS[:3], '"paid for"')
            assert SavedResults(each).search().results[0].id == ids[-1]
            assert Files(each).open(hash)
    database.close()
    assert is_whole(path)
    if kept.exists():  # what was only moved is whole too, without the log that stayed behind
        with open_database(address(kept)) as moved:
            assert_full(moved, ids, hash)


def test_it_happens_again(used):
    path, database = used
    ids, hash = fill(database)
    for _ in range(3):
        path.unlink()
        Calls(database).check()
        assert path.exists()
    assert_full(database, ids, hash)
    assert database.notice.count("deleted") == 1


def test_where_no_new_file_can_be_made_nothing_is_saved_and_nothing_lost(used):
    path, database = used
    ids, hash = fill(database)
    delete_all(path, None)
    path.parent.rmdir()
    path.parent.write_text("in the way")
    for _ in range(2):
        with pytest.raises(StoreError, match="cannot be written"):
            Calls(database).put(KEYS[5], '"later"')
    path.parent.unlink()
    Calls(database).check()
    with open_database(address(path)) as there:
        assert Calls(there).get(KEYS[5]) == '"later"'
        assert Files(there).open(hash) and SavedResults(there).open(ids[0])


def test_no_second_file_is_opened_beside_one_that_is_gone(used):
    path, database = used
    path.unlink()
    with ExitStack() as held, pytest.raises(StoreError, match="deleted or replaced"):
        for _ in range(10):  # until another connection is needed
            held.enter_context(database.read())
    assert not path.exists()


def test_two_processes_whose_file_is_deleted_go_on_in_one(used):
    path, database = used
    fill(database)
    other = start("keeps", address(path))
    go(other)
    assert other.stdout.readline() == "0\n"
    path.unlink()
    Calls(database).put(KEYS[5], '"later"')
    go(other)
    assert other.stdout.readline() == "1\n"
    Calls(database).put(KEYS[6], '"at last"')
    go(other)
    assert other.stdout.readline() == "2\n" and other.wait(LONG) == 0
    with open_database(address(path)) as there:
        assert Calls(there).count() == Calls(database).count() == 3 + 2 + 3
    database.close()
    assert is_whole(path)


def test_many_threads_save_while_it_is_deleted(used):
    path, database = used
    failed = []

    def write(numbers):
        for number in numbers:
            try:
                Calls(database).put(KEYS[number], "1")
            except StoreError as error:
                failed.append(error)

    threads = [threading.Thread(target=write, args=(range(n, n + 20),)) for n in (0, 20, 40)]
    for thread in threads:
        thread.start()
    path.unlink()
    for thread in threads:
        thread.join()
    Calls(database).check()
    with open_database(address(path)) as there:
        assert Calls(there).count() == Calls(database).count() == 60 and not failed
