"""A server that fails at every other request: nothing is lost, paid twice, or hangs.

"Delivered" means: everything that was asked for was sent, to a client that still listened. A
reply that was cut off, or that came after the client had hung up, was not delivered. The service
may charge for it, but nobody can know what it said, so that asking again is right.
"""

import random
import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from core.language_models.backends.openai.model import OpenAICompatible
from core.language_models.client.retry import RetryingModel
from core.language_models.client.stack import PreparedModel
from core.language_models.errors import ModelError, UnreachableError
from core.language_models.language_model import LanguageModel
from core.language_models.usage import Budget
from core.studies.inspection import serialise
from core.studies.inspection.inspection import run
from core.studies.inspection.request import Request
from tests.language_models import gemini_server
from tests.language_models.openai_server import PASSING, Server, faults_by_request, serving
from tests.wire.kept_calls import all_calls, twice

SHARE = 0.5  # of requests that fail; one in 64 does so six times in a row
KEY = "sk-wire-faults-0123456789"
QUESTIONS = (
    "Name a mammal",
    "What is the capital of Spain?",
    "Who wrote the novel Dune?",
    "Name a colour",
    "What is the chemical symbol of gold?",
    "Name a fish",
    "What is the capital of Canada?",
    "Who painted the Mona Lisa?",
)
# flavour: samples, inspections. Where only own answers have likelihoods, no fewer are taken.
ASKED = {"echo": (3, 12), "top": (100, 1), "none": (2, 4), "chat-top": (100, 1)}
ASKED["chat-none"] = (2, 4)
AT_ONCE = 3  # inspections
# Waiting for a silent server is slow: that is rarer than the other kinds of faults.
WEIGHTS = {kind: 0.1 if kind == "late" else 1.0 for kind in PASSING}


@dataclass
class Back:
    """A server, the model that asks it, and what that is around."""

    server: Server
    model: LanguageModel
    ready: LanguageModel


def ready(model, calls):
    """`prepared`, without its long waits."""
    patient = RetryingModel(model, Budget(), wait=lambda seconds: time.sleep(min(seconds, 0.002)))
    return PreparedModel(patient, calls)


@pytest.fixture
def backs(calls):
    with ExitStack() as stack:
        made = {}
        for flavour in ASKED:
            server = stack.enter_context(serving(flavour, key=KEY))
            model = OpenAICompatible(server.rest, KEY)
            made[flavour] = Back(server, model, ready(model, calls))
            assert model.capabilities  # probed before the faults begin; see below
            server.exchanges.clear()
        yield made


def wanted_of_all():
    """Inspections of all flavours by turns."""
    wanted = [
        (flavour, Request(QUESTIONS[i % 8], samples, seed=i // 8))
        for flavour, (samples, number) in ASKED.items()
        for i in range(number)
    ]
    return sorted(wanted, key=lambda pair: (pair[1].seed, pair[1].query))


def without_times(inspection):
    """What is saved, without what depends on how often a service had to be asked."""
    kept = serialise.to_dict(inspection)
    del kept["recording"]["used"]
    for calls in (kept["calls"]["list"], kept["recording"]["calls"]):
        for call in calls:
            del call["seconds"]
    return kept


def outcomes(backs, wanted):
    """Inspect all, some at the same time; return a result or a model's error for each."""

    def inspect(one):
        flavour, request = one
        try:
            return without_times(run(request, backs[flavour].ready))
        except ModelError as error:
            return error

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(inspect, wanted))


def test_inspections_end_and_no_call_is_lost_or_paid_twice(backs, calls, impatient):
    wanted = wanted_of_all()
    for back in backs.values():
        back.server.faults = faults_by_request(1, SHARE, WEIGHTS)
    found = outcomes(backs, wanted)

    errors = [outcome for outcome in found if isinstance(outcome, ModelError)]
    assert 0 < len(errors) < len(wanted) / 2, "some requests fail six times in a row, and few do"
    for error in errors:
        assert isinstance(error, UnreachableError)
        assert re.fullmatch(r"openai:\S+ failed 6 times in a row\. The last time: .+\.", str(error))
        assert KEY not in f"{error} {error!r}" and error.__cause__ is None
    kinds = Counter(e.outcome for back in backs.values() for e in back.server.exchanges)
    assert kinds.keys() >= set(PASSING), "every kind of fault was there"
    total = sum(kinds.values())
    assert SHARE - 0.05 < 1 - kinds["ok"] / total < SHARE + 0.05

    def check():
        for back in backs.values():
            delivered = all_calls(back.server.delivered, back.model)
            assert not twice(delivered)
            assert calls.get_many(delivered).keys() == set(delivered)
        every = sum(len(all_calls(b.server.delivered, b.model)) for b in backs.values())
        assert calls.count() == every, "nothing else is kept"

    check()
    for back in backs.values():  # those that failed can be taken up again, and pay for the rest
        back.server.faults = None
    again = outcomes(backs, wanted)
    assert not [outcome for outcome in again if isinstance(outcome, ModelError)]
    for before, after in zip(found, again, strict=True):
        assert isinstance(before, ModelError) or before == after
    check()

    for back in backs.values():
        back.ready = ready(back.model, None)  # nothing kept: a faultless run from the beginning
    assert outcomes(backs, wanted) == again


GEMINI = (
    *("quota", "quota in words", "quota without more", "500", "503", "page", "foreign error"),
    *("malformed", "no text", "none", "cut off", "dropped"),
)


def test_what_gemini_delivered_is_kept_and_asked_for_once(calls):
    """It takes no seeds, so that its requests do not say which answers they ask for: as many
    answers are kept as were delivered, and a second run asks for nothing.
    """
    dice = random.Random(2)
    wanted = [Request(QUESTIONS[i], 2, seed=i) for i in range(6)]
    happens = [None, *(dice.choice(GEMINI) if dice.random() < SHARE else None for _ in range(999))]
    with gemini_server.serving(faults=happens, key=KEY) as service:
        model = service.open(key=KEY)
        assert model.revision
        back = {"gemini": Back(None, model, ready(model, calls))}
        asked = [("gemini", request) for request in wanted]
        for _ in range(5):
            found = outcomes(back, asked)
            assert calls.count() == service.delivered
            errors = [outcome for outcome in found if isinstance(outcome, ModelError)]
            for error in errors:
                assert isinstance(error, UnreachableError) and str(error).endswith(".")
                assert KEY not in f"{error} {error!r}"
            if not errors:
                break
        assert not errors
        assert service.generated * (1 - SHARE) < calls.count()
        generated = service.generated
        assert outcomes(back, asked) == found and service.generated == generated
