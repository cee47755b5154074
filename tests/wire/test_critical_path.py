"""An inspection waits for no more than it must: the critical path.

Some calls need what another one said: the probes stand one behind the other, then come the
samples, then (of exact scores) what each of them weighs, then all that is asked about those that
weigh enough. Within one such stage the calls are independent, and eight may be under way, so that
n of them take ⌈n / 8⌉ times as long as one.

No clock is needed to see that: the server answers none of eight requests of a stage, or of as
many as are left of it, before all of them have come. Whoever asks for fewer at once gets none.
"""

import itertools
import threading
from collections import Counter

import pytest

from core import prompts
from core.language_models.backends.openai import model
from core.language_models.backends.openai.model import OpenAICompatible
from core.language_models.client.concurrency import AT_ONCE
from core.language_models.client.stack import with_layers
from core.store.calls import Calls
from core.store.database import open_database
from core.studies.inspection.inspection import run
from core.studies.inspection.recorder import FEWEST_CHAINS
from core.studies.inspection.request import Request
from tests.language_models.openai_server import serving
from tests.patience import LONG
from tests.wire.kept_calls import calls_of

REQUEST = "Name a mammal"


class Waves:
    """Holds requests of a stage until as many have come as can be under way at once."""

    def __init__(self, stage_of, sizes):
        self.stage_of, self.sizes = stage_of, sizes
        self.come, self.changed = Counter(), threading.Condition()
        self.missing = []  # what was waited for in vain

    def watch(self, exchange):
        if exchange.outcome:  # it is replied to
            return
        stage = self.stage_of(exchange)
        with self.changed:
            self.come[stage] += 1
            wave = -(-self.come[stage] // AT_ONCE) * AT_ONCE
            wanted = min(wave, self.sizes[stage])
            self.changed.notify_all()
            there = self.changed.wait_for(
                lambda: self.missing or self.come[stage] >= wanted, timeout=LONG
            )
            if not there:
                self.missing.append((stage, self.come[stage], wanted))
                self.changed.notify_all()


@pytest.mark.parametrize(
    ("flavour", "samples", "options"),
    [
        ("echo", 10, {}),
        ("top", FEWEST_CHAINS, {}),
        ("none", 10, {}),
        ("none", 3, {"n": False}),  # every answer is a call of its own
    ],
)
def test_all_that_can_be_under_way_at_once_is(flavour, samples, options, tmp_path, monkeypatch):
    first, numbers = prompts.iterative(REQUEST), itertools.count()
    with serving(flavour, **options) as server:
        asking = OpenAICompatible(server.rest)

        def stage_of(exchange):
            keys = calls_of(exchange, asking)
            if not keys:
                return "probes"
            if {key.prompt for key in keys} != {first}:
                return "others"
            return "weights" if exchange.body.get("echo") else "samples"

        def inspect():
            """Begin like a new process: nothing is known about the server, nothing is kept."""
            monkeypatch.setattr(model, "ENDPOINTS", {})
            server.exchanges.clear()
            with open_database(f"sqlite:///{tmp_path}/{next(numbers)}.db") as database:
                ready = with_layers(OpenAICompatible(server.rest), lambda: Calls(database), None)
                run(Request(REQUEST, samples), ready)
            return Counter(map(stage_of, server.exchanges))

        assert asking.capabilities
        sizes = inspect()
        assert sizes["probes"] <= 6 and sizes["samples"] and sizes["others"]
        waves = Waves(stage_of, sizes | {"probes": 1})
        server.watch = waves.watch
        assert inspect() == sizes
        assert not waves.missing
