"""Several processes at once, and processes that are killed: nothing is lost."""

import random
import signal
import time

import pytest

from core.store.database import open_database
from core.store.results import Results
from tests.store.kept import Calls
from tests.store.processes import go, key, payload, start


def test_two_processes_write_at_once_and_nothing_is_lost(url):
    writers = [start("write", url, name, 200) for name in ("one", "other")]
    go(*writers)  # both find no tables yet
    for writer in writers:
        said, _ = writer.communicate()
        assert writer.returncode == 0
        assert said.split() == [str(number) for number in range(200)]
    with open_database(url) as database:
        assert database.notice is None
        wanted = {key(n, i): payload(n, i) for n in ("one", "other") for i in range(200)}
        assert Calls(database).get_many(wanted) == wanted
        assert Calls(database).count() == 400
        assert Results(database).search().total == 40


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


@pytest.mark.parametrize("seed", range(5))
def test_a_killed_process_loses_nothing_that_it_acknowledged(url, seed):
    acknowledged = killed(start("write", url, "writer", 0), seed)
    assert acknowledged == list(range(len(acknowledged)))
    assert acknowledged
    with open_database(url) as database:
        assert database.notice is None
        wanted = {key("writer", n): payload("writer", n) for n in acknowledged}
        assert Calls(database).get_many(wanted) == wanted
        assert Calls(database).count() - len(acknowledged) in (0, 1)
        assert Results(database).search().total >= (len(acknowledged) + 9) // 10


def test_a_process_killed_again_and_again_goes_on_where_it_was(tmp_path):
    url = f"sqlite:///{tmp_path / 'believe.db'}"
    kept = 0
    for seed in range(4):
        kept += len(killed(start("write", url, f"writer {seed}", 0), 100 + seed))
    with open_database(url) as database:
        assert database.notice is None
        assert kept <= Calls(database).count() <= kept + 4


@pytest.mark.parametrize("seed", range(6))
def test_a_process_killed_while_it_makes_the_database_spoils_nothing(url, seed):
    process = start("opens", url, "", 1)
    go(process)
    time.sleep(random.Random(seed).random() * 0.06)
    process.kill()
    process.wait()
    with open_database(url) as database:
        assert database.notice is None
        assert Calls(database).count() == 0
