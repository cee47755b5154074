"""The database: wherever it is, what cannot be saved, and processes that share it or die."""

import os
import random
import resource
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import text
from sqlalchemy.pool import StaticPool

from core.store import calls, database, errors
from core.store import database as opening
from core.store.database import VARIABLE, default_path, open_database
from core.store.errors import BUSY_SECONDS, StoreError
from core.store.results import SavedResults
from tests.store.conftest import PASSWORD
from tests.store.kept import CallKey, Calls
from tests.store.processes import ROOT, go, key, payload, start

KEY = CallKey("sample", "table", "1", "Q")


def refused(url):
    """The sentence, after looking that nothing said gives the password away."""
    with pytest.raises(StoreError) as caught:
        open_database(url)
    error = caught.value
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None
    assert "sesame" not in "".join(traceback.format_exception(error))
    assert str(error).endswith((".", "!"))
    assert "\n" not in str(error)
    return str(error)


def setting(opened, name):
    with opened.read() as connection:
        return connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()


# ----------------------------------------------------------------------------- where it is


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "a?b#c%20d"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv(VARIABLE, raising=False)
    return folder


@pytest.mark.skipif(sys.platform != "linux", reason="every system has its own folder for data")
def test_by_default_it_is_where_this_system_keeps_data(home):
    assert default_path() == home / ".local/share/believe/believe.db"
    for expected in (None, "1"):
        with open_database() as opened:
            assert opened.address == str(default_path())
            assert opened.notice is None
            assert Calls(opened).get(KEY) == expected
            Calls(opened).put(KEY, "1")
    assert stat.S_IMODE(default_path().stat().st_mode) == 0o600
    assert stat.S_IMODE(default_path().parent.stat().st_mode) == 0o700


def test_the_environment_names_another_one_and_an_argument_goes_before(home, monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, f" sqlite:///{tmp_path / 'there.db'} ")
    with open_database() as opened:
        Calls(opened).put(KEY, "1")
    assert (tmp_path / "there.db").is_file()
    assert not default_path().exists()
    monkeypatch.setenv(VARIABLE, "")
    with open_database() as opened:
        assert opened.address == str(default_path())
    monkeypatch.setenv(VARIABLE, "nonsense")
    with open_database(f"sqlite:///{tmp_path / 'here.db'}") as opened:
        assert opened.address == str(tmp_path / "here.db")


@pytest.mark.parametrize("name", ["a b.db", "ä#%41&=.db", "it's.db", "new/folder/x", "no ending"])
def test_a_file_can_have_any_name(name, tmp_path):
    path = tmp_path / name
    url = database.URL.create("sqlite", database=str(path)).render_as_string()
    for expected in (None, "1"):
        with open_database(url) as opened:
            assert Calls(opened).get(KEY) == expected
            Calls(opened).put(KEY, "1")
            assert opened.address == str(path)
    assert path.read_bytes().startswith(b"SQLite format 3\0")
    assert not list(tmp_path.glob("*damaged*"))


def test_a_tilde_is_the_home_and_a_link_is_followed(home):
    (home / "there").mkdir()
    (home / "link.db").symlink_to(home / "there/real.db")
    with open_database("sqlite:///~/link.db") as opened:
        assert opened.address == str(home / "there/real.db")
    assert (home / "link.db").is_symlink()


def test_sqlite_is_set_as_it_must_be(tmp_path):
    with open_database(f"sqlite:///{tmp_path / 'x.db'}") as opened:
        assert setting(opened, "journal_mode") == "wal"
        assert setting(opened, "busy_timeout") == 1000 * BUSY_SECONDS <= 3000  # somebody waits
        assert setting(opened, "foreign_keys") == 1
        assert setting(opened, "synchronous") == 2  # each transaction waits for the disk


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_in_memory_there_is_room_and_nothing_is_written_anywhere(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open_database(url) as opened:
        assert isinstance(opened.engine.pool, StaticPool)
        assert opened.address == "in memory"
        Calls(opened).check()
        Calls(opened).put(KEY, "1")
        assert Calls(opened).get(KEY) == "1"
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------ in and out


def test_what_fails_in_the_middle_is_not_kept(database):
    with pytest.raises(KeyError), database.write() as connection:
        connection.execute(calls.schema.calls.delete())
        connection.execute(text("CREATE TABLE half (done INTEGER)"))
        raise KeyError
    with pytest.raises(StoreError), database.read() as connection:
        connection.execute(text("SELECT * FROM half"))
    Calls(database).put(KEY, "1")  # the next one is not in the way of the last one
    assert Calls(database).get(KEY) == "1"


def test_a_reader_sees_one_state_while_another_writes(tmp_path):
    with open_database(f"sqlite:///{tmp_path / 'x.db'}") as opened:
        with opened.read() as connection:
            before = connection.execute(text("SELECT count(*) FROM calls")).scalar_one()
            Calls(opened).put(KEY, "1")
            assert connection.execute(text("SELECT count(*) FROM calls")).scalar_one() == before
        assert Calls(opened).count() == 1


# --------------------------------------------------------------------- where it cannot be


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        *((url, "not a URL") for url in ("believe.db", "/srv/believe.db", "open-sesame@host")),
        ("postgresql://u:open-sesame@host:port/x", "not a URL"),
        ("mysql://u:open-sesame@host/x", "“mysql” is not supported"),
        ("postgresql+asyncpg://u:open-sesame@host/x", "“postgresql+asyncpg” is not supported"),
        ("sqlite://believe.db", "four slashes"),
        ("sqlite:///file:x.db?mode=ro&uri=true", "only its path"),
        ("sqlite:///file:x.db", "only its path"),
        ("sqlite:///x.db?timeout=1", "only its path"),
        ("postgresql://u:open@sesame@host/x", "%40"),
        ("postgresql://u:open@host/sesame@x", "%40"),
    ],
)
def test_an_address_that_is_none_is_explained(url, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert expected in refused(url)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_driver_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert "pip install 'psycopg[binary]'" in refused("postgresql://u:open-sesame@host/x")


def test_what_is_in_the_way_is_explained_and_left_alone(tmp_path):
    os.mkfifo(tmp_path / "pipe.db")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "loop.db").symlink_to(tmp_path / "pool.db")
    (tmp_path / "pool.db").symlink_to(tmp_path / "loop.db")
    for path, says in (
        (tmp_path, f"such as {tmp_path / 'believe.db'}"),
        (tmp_path / "pipe.db", "not a file"),
        ("/dev/null", "not a file"),
        (tmp_path / "file/believe.db", "cannot be written"),
        (tmp_path / "loop.db", "cannot be written"),
    ):
        assert says in refused(f"sqlite:///{path}")
    assert (tmp_path / "file").read_text() == "mine"
    assert {each.name for each in tmp_path.iterdir()} == {"pipe.db", "file", "loop.db", "pool.db"}
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.fixture
def foreign():
    """A folder that an ordinary user can reach; pytest's own is for its user only."""
    folder = Path(tempfile.mkdtemp(prefix="believe-store-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@contextmanager
def ordinary_user():
    """Root may write everywhere: be nobody for a while."""
    if os.geteuid() == 0:
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)
    else:
        yield


def test_a_folder_that_is_only_read_is_explained(foreign):
    (foreign / "damaged.db").write_text("garbage")  # and cannot be set aside
    (foreign / "damaged.db").chmod(0o666)
    foreign.chmod(0o555)
    with ordinary_user():
        for name in ("x.db", "new/x.db", "damaged.db"):
            assert "cannot be written" in refused(f"sqlite:///{foreign / name}")
    assert [path.name for path in foreign.iterdir()] == ["damaged.db"]


@pytest.mark.parametrize("closed", ["file", "folder", "both", "no reading"])
def test_a_database_that_is_only_read_is_explained(foreign, closed):
    path = foreign / "x.db"
    with open_database(f"sqlite:///{path}") as opened:
        Calls(opened).put(KEY, "1")
    path.chmod({"file": 0o444, "both": 0o444, "no reading": 0o000}.get(closed, 0o666))
    foreign.chmod(0o777 if closed in ("file", "no reading") else 0o555)
    before = path.read_bytes() if os.geteuid() == 0 else None
    with ordinary_user():
        assert "cannot be written" in refused(f"sqlite:///{path}")
    foreign.chmod(0o755)
    assert not list(foreign.glob("*damaged*"))
    assert before is None or path.read_bytes() == before


def test_a_disk_that_takes_no_more_is_said_so_and_loses_nothing(tmp_path):
    """A real limit of the system, in a process of its own."""
    url = f"sqlite:///{tmp_path / 'x.db'}"
    program = (
        "import sys; from core.store.database import *; from core.store.results import *\n"
        "with open_database(sys.argv[1]) as d:\n"
        "    SavedResults(d).save('policy', 'small', '', '', '1')\n"
        "    try: SavedResults(d).save('policy', 'large', '', '', 'x' * 5_000_000)\n"
        "    except StoreError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, url],
        cwd=ROOT,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000)),
    )
    assert done.returncode == 0, done.stderr
    assert "x.db" in done.stdout
    assert done.stdout.endswith(".\n")
    with open_database(url) as opened:
        assert opened.notice is None
        assert [found.title for found in SavedResults(opened).search().results] == ["small"]


def test_damage_that_is_met_later_is_said_so(tmp_path):
    path = tmp_path / "x.db"
    with open_database(f"sqlite:///{path}") as opened:
        keys = [CallKey("sample", "m", "1", f"{number}") for number in range(50)]
        Calls(opened).put_many(dict.fromkeys(keys, "x" * 3000))
    with open_database(f"sqlite:///{path}") as opened:
        size = path.stat().st_size
        with path.open("r+b") as file:
            file.seek(4096 * 2)
            file.write(b"\xff" * (size - 4096 * 2))
        with pytest.raises(StoreError, match="is damaged"):
            Calls(opened).get_many(keys)
    with open_database(f"sqlite:///{path}") as opened:
        assert "was damaged" in opened.notice


# ------------------------------------------------------------------------------ PostgreSQL


def test_postgresql_over_the_network_with_a_password(postgresql):
    name = postgresql.new_database()
    url = postgresql.over_network(name)
    for named in (
        url,
        url.replace("postgresql:", "postgres:"),
        url.replace("postgresql:", "postgresql+psycopg:"),
        f"{postgresql.over_network(name, '')}?password={PASSWORD}".replace(":@", "@"),
    ):
        with open_database(named) as opened:
            Calls(opened).put(KEY, "1")
            assert Calls(opened).get(KEY) == "1"
            shown = f"{opened.address} {opened!r} {opened.engine!r} {opened.engine.url}"
            assert "sesame" not in shown
            assert opened.address.startswith("postgresql://believe")
            assert opened.address.endswith(f"@127.0.0.1:{postgresql.port}/{name}")
            assert Calls(opened).count() == 1


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_that_cannot_hold_every_text_is_refused(postgresql, encoding):
    name = postgresql.new_database(f"ENCODING '{encoding}' TEMPLATE template0")
    with pytest.raises(StoreError, match=f"encoded in {encoding}.*ENCODING 'UTF8'"):
        open_database(postgresql.local(name))


def test_a_server_that_lets_nobody_in_is_said_so_without_the_password(postgresql):
    said = refused(postgresql.over_network("postgres", "wrong-sesame"))
    assert "could not be reached" in said
    assert "password authentication failed" in said
    assert "postgresql://believe:***@127.0.0.1" in said
    without = postgresql.over_network("postgres", "").replace(":@", "@")
    assert "could not be reached" in refused(f"{without}?password=wrong-sesame")
    assert "does not exist" in refused(postgresql.over_network("nowhere"))


def test_no_server_is_said_so():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        said = refused(f"postgresql://u:open-sesame@127.0.0.1:{taken.getsockname()[1]}/x")
    assert "could not be reached" in said
    assert "127.0.0.1" in said


def test_a_driver_that_repeats_the_password_is_not_repeated():
    error = ValueError("cannot connect with open-sesame\nas asked")
    said = errors.sentence(error, "postgresql://u:***@host/x", ["open-sesame"])
    assert "(cannot connect with *** as asked)" in said


def test_a_disk_that_has_no_room_for_the_files_beside_it_is_said_to_be_full():
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    assert "is full, or fails (disk I/O error): make room" in errors.sentence(error, "x.db")


def test_a_user_who_may_not_write_is_told(postgresql):
    name = postgresql.new_database()
    with open_database(postgresql.local(name)) as opened, opened.write() as connection:
        connection.execute(text("DROP ROLE IF EXISTS reader"))
        connection.execute(text("CREATE ROLE reader LOGIN"))
        connection.execute(text("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader"))
    url = postgresql.local(name).replace("believe@", "reader@")
    with open_database(url) as opened:
        assert Calls(opened).count() == 0
        with pytest.raises(StoreError, match="cannot be written"):
            Calls(opened).put(KEY, "1")
    empty = postgresql.local(postgresql.new_database()).replace("believe@", "reader@")
    assert "cannot be written" in refused(empty)


def test_a_connection_that_was_cut_is_made_anew(postgresql):
    name = postgresql.new_database()
    with open_database(postgresql.local(name)) as opened:
        Calls(opened).put(KEY, "1")
        cut = text("SELECT pg_terminate_backend(pg_backend_pid())")
        with pytest.raises(StoreError, match="could not be reached"), opened.read() as connection:
            connection.execute(cut)
        assert Calls(opened).get(KEY) == "1"
        with open_database(postgresql.local("postgres")) as other, other.read() as connection:
            connection.execute(
                text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :d"),
                {"d": name},
            )
        assert Calls(opened).get(KEY) == "1"


def test_a_server_that_is_stopped_and_started_again_is_found_again(postgresql):
    with open_database(postgresql.local(postgresql.new_database())) as opened:
        calls, results = Calls(opened), SavedResults(opened)
        calls.put(KEY, "1")
        postgresql.pause()
        try:
            for use in (
                lambda: calls.get(KEY),
                calls.check,
                results.search,
                lambda: calls.put(OTHER, LONG),
                lambda: results.save("policy", "", "", "", "{}"),
            ):
                with pytest.raises(StoreError, match=r"could not be reached .* check that it is"):
                    use()
            with calls.claim([OTHER]):  # nobody waits for locks that nobody can give
                assert opened.unsaved
        finally:
            postgresql.resume()
        assert calls.get(KEY) == "1"
        calls.check()  # what was answered meanwhile is saved now
        assert calls.get(OTHER) == LONG and calls.count() == 2 and not opened.unsaved


# ----------------------------------------------------------------------- what could not be saved

OTHER = CallKey("sample", "table", "1", "R")
LONG = '"' + "x" * 200_000 + '"'


@pytest.fixture
def path(tmp_path):
    return tmp_path / "believe.db"


@contextmanager
def opened(path):
    with open_database(f"sqlite:///{path}") as database:
        yield database


@contextmanager
def locked(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield


@contextmanager
def full(database):
    """Let the file of a database grow no more."""
    with database.engine.connect() as connection:
        (pages,) = connection.exec_driver_sql("PRAGMA page_count").one()

    def limit(connection, record, proxy):
        connection.execute(f"PRAGMA max_page_count = {pages}")

    opening.event.listen(database.engine, "checkout", limit)
    try:
        yield
    finally:
        opening.event.remove(database.engine, "checkout", limit)
        database.engine.dispose()


# ------------------------------------------------------------------------------- a lock


def test_a_lock_that_stays_is_said_with_its_cause(path, monkeypatch):
    monkeypatch.setattr(opening, "BUSY_SECONDS", 0)
    with opened(path) as database, locked(path):
        for write in (lambda: Calls(database).put(KEY, "1"), Calls(database).check):
            with pytest.raises(StoreError, match="Another program has locked the database"):
                write()


def test_who_only_reads_waits_for_no_writer(path, monkeypatch):
    with opened(path) as database:
        Calls(database).put(KEY, "1")
    monkeypatch.setattr(opening, "BUSY_SECONDS", 0)  # who waited would fail
    with opened(path) as one, locked(path), opened(path) as other:
        assert Calls(one).get(KEY) == Calls(other).get(KEY) == "1"


def test_who_waits_in_line_fails_with_who_stands_in_front(path, monkeypatch):
    """Of eight threads that wait for one lock only the first tries it."""
    monkeypatch.setattr(opening, "BUSY_SECONDS", 0)
    tried, failed, looks = [], [], []

    def clock():
        looks.append(len(looks))
        return float(len(looks))

    with opened(path) as database, locked(path):
        opening.event.listen(database.engine, "checkout", lambda *_: tried.append(1))
        monkeypatch.setattr(opening, "time", SimpleNamespace(monotonic=clock))

        def write():
            try:
                Calls(database).put(KEY, "1")
            except StoreError as error:
                failed.append(str(error))

        with database.writing:  # nobody gets on before all of them wait
            threads = [threading.Thread(target=write) for _ in range(8)]
            for thread in threads:
                thread.start()
            while len(looks) < len(threads):  # each looks at the clock as it arrives
                time.sleep(0.001)
        for thread in threads:
            thread.join()
    assert len(failed) == 8 and len(set(failed)) == 1
    assert len(tried) == 1


# ------------------------------------------------------------------------- a full disk


def test_what_could_not_be_saved_is_held_and_saved_when_that_is_possible(path):
    with opened(path) as database:
        calls = Calls(database)
        with full(database):
            with pytest.raises(StoreError, match="is full"):
                calls.put(KEY, LONG)
            assert Calls(database).get_many([OTHER, KEY]) == {KEY: LONG}
            with pytest.raises(StoreError, match="is full"):
                calls.check()
            assert calls.count() == 0
        calls.check()
        assert calls.count() == 1 and not database.unsaved
        assert calls.get(KEY) == LONG
    with opened(path) as database:
        assert Calls(database).get(KEY) == LONG


def test_a_disk_without_room_is_full_before_anything_is_asked(path, monkeypatch):
    with opened(path) as database:
        Calls(database).check()
        monkeypatch.setattr(opening, "LEAST_FREE", 2**62)
        with pytest.raises(StoreError, match=r"disk that holds .* is full: make room"):
            Calls(database).check()


@pytest.fixture
def small_disk(tmp_path):
    """A disk of two megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_disk_that_is_really_full_is_said_and_nothing_is_lost(small_disk):
    with opened(small_disk / "believe.db") as database:
        calls = Calls(database)
        calls.check()
        filler = small_disk / "filler"
        filler.write_bytes(b"x" * shutil.disk_usage(small_disk).free)
        with pytest.raises(StoreError, match="is full"):
            calls.check()
        with pytest.raises(StoreError, match="is full"):
            calls.put(KEY, LONG)
        filler.unlink()
        calls.check()
        assert calls.get(KEY) == LONG


# ----------------------------------------------------------------------------- several processes


@pytest.mark.slow
def test_two_processes_write_at_once_and_nothing_is_lost(url):
    writers = [start("write", url, name, 60) for name in ("one", "other")]
    go(*writers)  # both find no tables yet
    for writer in writers:
        said, _ = writer.communicate()
        assert writer.returncode == 0
        assert said.split() == [str(number) for number in range(60)]
    with open_database(url) as database:
        assert database.notice is None
        wanted = {key(n, i): payload(n, i) for n in ("one", "other") for i in range(60)}
        assert Calls(database).get_many(wanted) == wanted
        assert Calls(database).count() == 120
        assert SavedResults(database).search().total == 12


def killed(process, seed):
    """Let it say a few lines, kill it at some moment after that, and return all it said."""
    dice = random.Random(seed)
    go(process)
    said = [process.stdout.readline() for _ in range(dice.randrange(1, 60))]
    time.sleep(dice.random() * 0.01)
    process.send_signal(signal.SIGKILL)
    said += process.stdout.readlines()
    assert process.wait() == -signal.SIGKILL
    return [int(line) for line in said if line.endswith("\n")]


@pytest.mark.slow
def test_processes_killed_one_after_the_other_lose_nothing_that_they_acknowledged(url):
    kept, results = {}, 0
    for seed in range(5 if url.startswith("sqlite") else 2):
        name = f"writer {seed}"
        acknowledged = killed(start("write", url, name, 0), seed)
        assert acknowledged and acknowledged == list(range(len(acknowledged)))
        kept |= {key(name, number): payload(name, number) for number in acknowledged}
        results += (len(acknowledged) + 9) // 10
        with open_database(url) as database:
            assert database.notice is None
            assert Calls(database).get_many(kept) == kept
            assert 0 <= Calls(database).count() - len(kept) <= seed + 1
            assert SavedResults(database).search().total >= results


@pytest.mark.parametrize("seed", range(3))
def test_a_process_killed_while_it_makes_the_database_spoils_nothing(url, seed):
    process = start("opens", url, "", 1)
    go(process)
    time.sleep(random.Random(seed).random() * 0.06)
    process.kill()
    process.wait()
    with open_database(url) as database:
        assert database.notice is None
        assert Calls(database).count() == 0
