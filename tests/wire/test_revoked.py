"""A key that is revoked in the middle of a run: what was paid for stays, another key goes on."""

import itertools
import json
import re

import pytest

from core import prompts
from core.data.datasets.questions import Question
from core.language_models.backends.openai.model import OpenAICompatible
from core.language_models.client.concurrency import AT_ONCE
from core.language_models.client.stack import with_layers
from core.language_models.errors import NeedsKeyError
from core.language_models.true_false import opinion
from core.studies.amplification.curve import Case, amplify
from core.studies.evaluation.local import Task
from core.studies.evaluation.run import evaluate, survey
from core.studies.inspection import inspection
from core.studies.inspection.request import Reading, Request
from tests.language_models.openai_server import serving

FIRST, SECOND = "sk-wire-revoked-0123456789", "sk-wire-another-9876543210"
ASKED = ("Name a mammal", "Name a fish", "Name a colour", "What is the capital of Spain?")
REQUEST = Request(ASKED[0], 4)
CASE = Case("What is the capital of Spain?", "Madrid", "Paris")


def evaluated(model, folder):
    """A run, and how many of its questions failed."""
    asked = survey("q", lambda: (Question(q, q, (("Dog",),), "all") for q in ASKED))
    return evaluate(asked, Task(model, REQUEST, Reading(), 0.5), folder).failed


RUNS = {  # what is run, and after how many replies its key is revoked
    "an inspection": (lambda model, _: inspection.run(REQUEST, model).scores, 20),
    "a true/false check": (
        lambda model, _: opinion(model, prompts.self_verification(ASKED[0], "Dog")).tolist(),
        5,
    ),
    "an amplification": (lambda model, _: amplify(CASE, model, (0, 2, 5)).points, 20),
    "a run of an evaluation": (evaluated, 60),
}


@pytest.mark.parametrize("kind", RUNS)
def test_what_was_paid_for_stays_and_another_key_goes_on(kind, calls, tmp_path):
    run, replies = RUNS[kind]
    left = itertools.repeat(True)  # how many requests are accepted

    def refuse(path, body):
        if next(left, False):
            return None
        message = f"Incorrect API key provided: {FIRST}"
        return 401, {}, json.dumps({"error": {"message": message}}).encode()

    with serving("none", n=False, before=refuse) as server:

        def opened(key):
            return with_layers(OpenAICompatible(server.rest, key), lambda: calls, None)

        model = opened(FIRST)
        assert model.revision
        probes = len(server.delivered)
        left = iter([True] * replies)
        with pytest.raises(NeedsKeyError) as error:
            run(model, tmp_path / "run")
        assert re.fullmatch(
            r"127\.0\.0\.1:\d+ did not accept the key that was typed: it is wrong, or no longer "
            r"valid\. Type another one under “Model”\.",
            str(error.value),
        )
        assert 0 < server.outcomes.count("401") <= AT_ONCE  # the others were not even sent
        assert len(server.delivered) == probes + replies and calls.count() == replies

        left, begun = itertools.repeat(True), len(server.exchanges)
        found = run(opened(SECOND), tmp_path / "run")
        keys = {exchange.headers["Authorization"] for exchange in server.exchanges[begun:]}
        assert keys == {f"Bearer {SECOND}"}
        paid = server.paid()[probes:]
        assert len(paid) == len(set(paid)) == calls.count() > replies
        asked = len(server.exchanges)
        assert run(opened(SECOND), tmp_path / "another run") == found
        assert len(server.exchanges) == asked  # all of it is saved
