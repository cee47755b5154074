"""What a run is said to take at most, by what was found out first, and what it takes."""

from dataclasses import astuple

import pytest

from core.language_models.client.stack import limit, with_layers
from core.language_models.registry import open_model
from core.language_models.trial import in_its_form
from core.language_models.usage import Budget
from core.studies import costs
from core.studies.inspection.recorder import record, usual_request
from tests.language_models import gemini_server
from tests.language_models.openai_server import serving

QUESTION = "Name a country in Europe."


def spending(model):
    """Return what a prepared model used for a question, and what was said before."""
    ready = with_layers(model, None, Budget())
    formed, _ = in_its_form(ready)
    request = usual_request(QUESTION, formed.capabilities)
    stated, before = costs.plan(request, formed.capabilities), formed.meter.usage
    limit(formed, stated)
    record(request, formed)
    return formed.meter.usage - before, stated


@pytest.mark.parametrize(("thoughts", "candidates"), [(1200, 1), (0, 8)])
def test_gemini_takes_no_more_than_stated(thoughts, candidates):
    with gemini_server.serving(thoughts=thoughts, candidates=candidates) as service:
        used, stated = spending(service.open(known=False))
    assert all(map(int.__le__, astuple(used), astuple(stated)))
    assert used.response_tokens > thoughts * used.requests


@pytest.mark.parametrize(("flavour", "options"), [("echo", {}), ("chat-none", {"thinks": "field"})])
def test_a_server_takes_no_more_than_stated(flavour, options):
    with serving(flavour, **options) as server:
        used, stated = spending(open_model(server.name))
    assert all(map(int.__le__, astuple(used), astuple(stated)))


def test_replies_that_do_not_say_what_they_took_are_counted():
    def after(reply):
        for count in reply.get("usage", {}):
            reply["usage"][count] *= count == "prompt_tokens"
        return reply

    with serving("none", after=after) as server:
        used, _ = spending(open_model(server.name))
    assert used.unreported == used.requests > 0 < used.prompt_tokens
