"""An inspection takes hardly longer than what must be waited for: the critical path.

Some calls need what another one said: the probes stand one behind the other, then come the
samples, then all that is asked about each of them. Within one such stage the calls are
independent, and eight may be under way, so that n of them take ⌈n / 8⌉ times as long as one.
The critical path therefore is

    (probes + ⌈calls of the first stage / 8⌉ + ⌈calls of the second / 8⌉) × one call,

with the numbers of calls as the server counted them, and one call timed in the same run, against
the same server, alone: the median of several. Each reply comes 200 ms late; what the model
behind the server has to compute was computed before, for that is not what is measured.
"""

import itertools
import math
import statistics
import time

import pytest

from core import prompts
from core.language_models.backends.openai.model import OpenAICompatible
from core.language_models.client.concurrency import AT_ONCE
from core.language_models.client.stack import prepared
from core.store.calls import Calls
from core.store.database import open_database
from core.studies.inspection.inspection import run
from core.studies.inspection.recorder import FEWEST_CHAINS
from core.studies.inspection.request import Request
from tests.language_models.openai_server import serving
from tests.wire.kept_calls import calls_of

LATENCY = 0.2  # seconds
LONGER = 1.3
TRIES = 20  # once is enough: whatever else the machine does holds some of them up


def waves(exchanges):
    return math.ceil(len(exchanges) / AT_ONCE)


def timed(call):
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


@pytest.mark.parametrize(
    ("flavour", "samples", "options"),
    [
        ("echo", 10, {}),
        ("top", FEWEST_CHAINS, {}),
        ("none", 10, {}),
        ("none", 3, {"n": False}),  # every answer is a call of its own
    ],
)
def test_an_inspection_takes_hardly_longer_than_its_critical_path(
    flavour, samples, options, tmp_path, monkeypatch
):
    request = Request("Name a mammal", samples)
    first, numbers = prompts.iterative(request.query), itertools.count()
    with serving(flavour, **options) as server:

        def inspect():
            """Begin like a new process: nothing is known about the server, nothing is kept."""
            monkeypatch.setattr(model, "_ENDPOINTS", {})
            server.exchanges.clear()
            with open_database(f"sqlite:///{tmp_path}/{next(numbers)}.db") as database:
                calls = Calls(database)
                run(request, prepared(OpenAICompatible(server.rest), lambda: calls, None))

        inspect()  # lets the server compute
        model = OpenAICompatible(server.rest)
        probes = [e for e in server.exchanges if not calls_of(e, model)]
        samplings = [
            e for e in server.exchanges if {k.prompt for k in calls_of(e, model)} == {first}
        ]
        samplings = [e for e in samplings if not e.body.get("echo")]
        others = [e for e in server.exchanges if e not in probes and e not in samplings]
        assert len(probes) <= 4 and samplings and others
        server.latency = LATENCY
        one = statistics.median(
            timed(lambda: model.sample(first, 1, temperature=0.9)) for _ in range(5)
        )
        path = (len(probes) + waves(samplings) + waves(others)) * one
        ratios = []
        while not ratios or (min(ratios) > LONGER and len(ratios) < TRIES):
            ratios.append(timed(inspect) / path)
        print(ratios, "of", len(probes), len(samplings), len(others), "calls of", one, "s")
        assert min(ratios) <= LONGER
