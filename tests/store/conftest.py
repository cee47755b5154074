"""Databases to test with: SQLite in a file and in memory, and a real PostgreSQL."""

import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from core.store.database import open_database

PASSWORD = "open-sesame"


def postgresql_program(name):
    """Debian keeps the server's programs out of the PATH."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    path = os.pathsep.join([os.environ.get("PATH", ""), *map(str, places)])
    return shutil.which(name, path=path)


class PostgreSQL:
    """A server in a temporary folder."""

    def __init__(self):
        # Not pytest's folder: the server runs as another user, and paths of sockets are short.
        self.folder = tempfile.mkdtemp(prefix="believe-postgresql-")
        self.numbers = itertools.count(1)
        self.as_user = {}
        if os.geteuid() == 0:  # the server refuses to run as root
            names = {user.pw_name for user in pwd.getpwall()}
            user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = None

    def start(self):
        data, password = f"{self.folder}/data", f"{self.folder}/password"
        Path(password).write_text(PASSWORD)
        Path(password).chmod(0o644)
        options = {"cwd": self.folder, **self.as_user}
        subprocess.run(
            [
                *(postgresql_program("initdb"), "-D", data, "-E", "UTF8", "--locale=C"),
                *("-U", "believe", f"--pwfile={password}", "--no-sync"),
                *("--auth-local=trust", "--auth-host=scram-sha-256"),
            ],
            check=True,
            capture_output=True,
            **options,
        )
        self.resume()

    def resume(self):
        """Start with the data that are there."""
        with open(f"{self.folder}/log", "a") as log:
            self.process = subprocess.Popen(
                [
                    *(postgresql_program("postgres"), "-D", f"{self.folder}/data"),
                    *("-k", self.folder, "-h", "127.0.0.1", "-p", str(self.port)),
                    *("-c", "fsync=off"),
                ],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                **self.as_user,
            )
        self.wait()

    def wait(self):
        import psycopg

        for _ in range(600):
            try:
                psycopg.connect(self.local("postgres")).close()
                return
            except psycopg.OperationalError:
                assert self.process.poll() is None, Path(f"{self.folder}/log").read_text()
                time.sleep(0.1)
        raise AssertionError("PostgreSQL did not start")

    def pause(self):
        """Stop, and keep the data."""
        if self.process:
            self.process.send_signal(signal.SIGINT)  # do not wait for anybody to leave
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.send_signal(signal.SIGQUIT)
                self.process.wait()

    def stop(self):
        self.pause()
        shutil.rmtree(self.folder, ignore_errors=True)

    def local(self, name):
        return f"postgresql://believe@/{name}?host={self.folder}&port={self.port}"

    def over_network(self, name, password=PASSWORD):
        return f"postgresql://believe:{password}@127.0.0.1:{self.port}/{name}"

    def new(self, kind, how=""):
        import psycopg

        name = f"believe_{next(self.numbers)}"
        with psycopg.connect(self.local("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE {kind} {name} {how}")
        return name

    def new_database(self, how=""):
        return self.new("DATABASE", how)

    def empty(self):
        """The address of a new schema: as good as a database, and made in a moment."""
        return f"{self.local('postgres')}&options=-csearch_path%3D{self.new('SCHEMA')}"


@pytest.fixture(scope="session")
def postgresql():
    pytest.importorskip("psycopg", reason="psycopg is not installed (make test installs it)")
    if not (postgresql_program("initdb") and postgresql_program("postgres")):
        pytest.skip("PostgreSQL is not installed (on Debian: apt-get install postgresql)")
    server = PostgreSQL()
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """The address of an empty database that several processes can open."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'believe.db'}"
    return request.getfixturevalue("postgresql").empty()


@pytest.fixture
def database(url):
    with open_database(url) as opened:
        yield opened
