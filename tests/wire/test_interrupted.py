"""The first Ctrl-C ends the command line, whatever a server does, and says what is saved."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from core import cli
from core.store.database import open_database
from tests.language_models.openai_server import serving
from tests.patience import LONG
from tests.store.kept import Calls
from tests.wire.dripping import dripping

ROOT = Path(__file__).parents[2]
KEY = "sk-wire-interrupted-0123456789"
# As in a terminal: in the background of a shell, Ctrl-C would not reach it.
PROGRAM = (
    "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "runpy.run_module('core', run_name='__main__', alter_sys=True)"
)


@contextmanager
def running(folder, *arguments, program=PROGRAM):
    """Run the command line with a database of its own."""
    database = f"sqlite:///{folder / 'b.db'}"
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        env=os.environ | {"BELIEVE_DATABASE_URL": database, "OPENAI_API_KEY": KEY},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def interrupted(program):
    """Press Ctrl-C once; return the status and what was said."""
    program.send_signal(signal.SIGINT)
    _, said = program.communicate(timeout=LONG)
    assert "Traceback" not in said and KEY not in said
    return program.returncode, said


def test_it_ends_while_a_command_is_loaded(tmp_path):
    loading = (
        "import sys, types\n"
        "def press(name, *_):\n"
        "    if name == 'core.cli': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, types.SimpleNamespace(find_spec=press))\n"
    )
    with running(tmp_path, "inspect", "Q?", program=loading + PROGRAM) as program:
        assert program.communicate(timeout=LONG) == ("", "Stopped.\n")
        assert program.returncode == cli.STOPPED


@pytest.mark.parametrize("way", ["headers", "body", "silent"])
def test_it_ends_while_a_server_is_asked_what_it_can_do(way, tmp_path):
    with (
        dripping(way) as server,
        running(tmp_path, "inspect", "Q?", "--model", f"openai:m@{server.base_url}") as program,
    ):
        assert server.begun.wait(LONG)
        status, said = interrupted(program)
        assert status == cli.STOPPED == 130
        assert re.search(r"Finding out what \S+ can do took 1 call\.\nStopped\.\n$", said)
        assert server.left.wait(LONG)


@contextmanager
def stalling(after):
    """Run a server that answers so many requests, and lets all others wait."""
    stalled, release, seen = threading.Semaphore(0), threading.Event(), []

    def before(path, asked):
        seen.append(asked)
        if len(seen) > after:
            stalled.release()
            release.wait(2 * LONG)

    with serving("none", key=KEY, n=False, before=before) as server:
        try:
            yield server, stalled
        finally:
            release.set()


def test_it_ends_in_the_middle_of_a_run_and_what_was_answered_is_saved(tmp_path):
    """Many threads wait for replies, for a place and for one another."""
    with (
        stalling(after=11) as (server, stalled),
        running(
            tmp_path, "inspect", "Name a mammal", "--samples", "20", "--model", server.name
        ) as program,
    ):
        for _ in range(8):  # all places are taken
            assert stalled.acquire(timeout=LONG)
        saved, until = 0, time.monotonic() + LONG
        while time.monotonic() < until:  # what was answered is on its way to the database
            with open_database(f"sqlite:///{tmp_path / 'b.db'}") as database:
                if saved := Calls(database).count():
                    break
        status, said = interrupted(program)
    assert status == 130 and saved
    assert re.search(
        r"Used: \d+ calls.*\. Requests in flight may still be billed\. Answers received are "
        r"saved; run the same command again to continue\.\nStopped\.\n$",
        said,
    )
    with open_database(f"sqlite:///{tmp_path / 'b.db'}") as database:
        assert Calls(database).count() >= saved


def test_any_command_ends_with_its_own_status(monkeypatch, tmp_path):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "record", interrupt)
    ended = CliRunner().invoke(cli.main, ["inspect", "Name a mammal", "--no-keep"])
    assert (ended.exit_code, ended.stdout, ended.stderr) == (130, "", "Stopped.\n")


def test_threads_that_nobody_can_stop_do_not_keep_it_alive(tmp_path):
    """As a download of a model would: here a thread of the pool sleeps, and the first one asks."""
    program = (
        "import sys, time; from concurrent.futures import ThreadPoolExecutor; "
        "import core.cli as cli; "
        "pool = ThreadPoolExecutor(); pool.submit(time.sleep, 600); "
        "cli.record = lambda *_: (print('begun', flush=True), time.sleep(600)); " + PROGRAM
    )
    words = ("inspect", "Name a mammal", "--no-keep")
    with running(tmp_path, *words, program=program) as running_program:
        assert running_program.stdout.readline() == "begun\n"
        assert interrupted(running_program) == (130, "Stopped.\n")
