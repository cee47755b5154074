"""A process that is killed in the middle of an inspection, and started again until it ends."""

import json
import os
import random
import signal
import threading
import time

import pytest

from core.language_models.backends.openai.model import OpenAICompatible
from core.language_models.client.concurrency import AT_ONCE
from core.store.database import open_database
from tests.language_models.openai_server import serving
from tests.store.kept import Calls
from tests.wire.kept_calls import all_calls, calls_of, twice
from tests.wire.processes import forking

KEY = "sk-wire-killed-0123456789"
KILLS = 5
INSPECTIONS = (  # one for each way to estimate, and the longest with chat completions
    ("none", "Name a colour", 6),
    pytest.param("echo", "Name a mammal", 30, marks=pytest.mark.slow),
    pytest.param("chat-top", "Name a mammal", 100, marks=pytest.mark.slow),
)


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    with forking(tmp_path_factory.mktemp("processes")) as running:
        yield running


def inspection_of(printed):
    """Read what was printed, and leave out what depends on the clock and on earlier runs."""
    inspection = json.loads(printed)
    for calls in (inspection["calls"]["list"], inspection["recording"]["calls"]):
        for call in calls:
            del call["seconds"]
    del inspection["recording"]["used"]  # the less, the more was there already
    return inspection


class Killer:
    """Kills a process when the server has come to a certain point, without a look at a clock.

    The point is the `at`th different request in the server's life: either when it comes in, or
    right behind its reply.
    """

    def __init__(self, server):
        self.seen, self.lock = set(), threading.Lock()
        self.process, self.at, self.replied = None, None, False
        server.watch = self.watch

    def watch(self, exchange):
        with self.lock:
            self.seen.add(json.dumps(exchange.body, sort_keys=True))
            if self.at and len(self.seen) >= self.at and bool(exchange.outcome) == self.replied:
                self.at = None
                os.kill(self.process, signal.SIGKILL)


def connections():
    """Return how many connections the server holds."""
    return sum("process_request" in thread.name for thread in threading.enumerate())


def quiet(others):
    """Wait until the server has read all that a dead process had sent: it still counts as asked.

    It takes a connection that waits to be accepted a moment to be seen, so it looks
    again.
    """
    still = 0
    while still < 5:
        still = still + 1 if connections() <= others else 0
        time.sleep(0.02)


@pytest.mark.parametrize(("flavour", "question", "samples"), INSPECTIONS)
def test_an_inspection_killed_again_and_again_ends_as_if_nothing_had_been(
    flavour, question, samples, processes, tmp_path
):
    """Fifteen kills in all. Only the probe, which no database keeps, and what was under way when
    the process died are asked again: nothing that was kept.
    """
    dice = random.Random(f"{flavour} {question}")
    url = f"sqlite:///{tmp_path / 'believe.db'}"
    with serving(flavour, key=KEY) as server:
        model = OpenAICompatible(server.rest, KEY)
        assert model.revision
        probes = len(server.exchanges)
        ours = connections()
        arguments = ["inspect", question, "--json", "--model", server.name]
        arguments += ["--samples", f"{samples}"]

        def start(address):
            settings = {"BELIEVE_DATABASE_URL": address, "OPENAI_API_KEY": KEY}
            return processes.start(arguments, settings)

        start(f"{url}.undisturbed")
        status, printed, said = processes.end()
        assert status == 0, said
        undisturbed = inspection_of(printed)
        asked = all_calls(server.exchanges, model)
        assert not twice(asked)
        different = len(server.exchanges) - probes  # its probes are the same requests as ours

        server.exchanges.clear()
        killer, kept = Killer(server), set()
        for moment in [*sorted(dice.sample(range(1, different), KILLS)), None]:
            begun = len(server.exchanges)
            with killer.lock:  # before it knows whom to kill
                killer.at, killer.replied = moment, dice.random() < 0.5
                killer.process = start(url)
            status, printed, said = processes.end()
            assert status == (-signal.SIGKILL if moment else 0), said
            quiet(ours)
            mine = all_calls(server.exchanges[begun:], model)
            assert not twice(mine) and kept.isdisjoint(mine)
            # Eight tasks of up to eight requests each: so many can wait for being kept.
            before = set(all_calls(server.exchanges[:begun], model))
            again = [e for e in server.exchanges[begun:] if before & {*calls_of(e, model)}]
            assert len(again) <= AT_ONCE**2
            with open_database(url) as database:
                assert database.notice is None
                kept = Calls(database).get_many(asked).keys()
        assert inspection_of(printed) == undisturbed
        assert kept == set(asked) == set(all_calls(server.exchanges, model))
