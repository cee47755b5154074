"""Servers that take their time: every wait has an end by the clock, and ends when one stops."""

import threading

import pytest

from core.language_models import stopping
from core.language_models.backends.gemini.abilities import Abilities as GeminisAbilities
from core.language_models.backends.gemini.model import Gemini
from core.language_models.backends.openai.abilities import OpenAIAbilities
from core.language_models.backends.openai.model import OpenAICompatible
from core.language_models.client import retry
from core.language_models.client.retry import RetryingModel
from core.language_models.client.stack import stop, with_layers
from core.language_models.errors import SilentError, StoppedError, UnreachableError
from core.language_models.usage import Budget
from tests.language_models import gemini_server, openai_server
from tests.patience import LONG
from tests.wire.dripping import WAYS, dripping

KEY = "sk-wire-dripping-0123456789"
TIME = 1.5  # seconds for a request
PROMPTS = {"deaf": "x" * 20_000_000}  # more than fits between the two

every_way = pytest.mark.parametrize("way", WAYS)
every_back_end = pytest.mark.parametrize("kind", ["openai", "gemini"])


class Memory:
    """An earlier process has found out that the model can do what every model can."""

    def __init__(self, abilities):
        self.abilities = abilities.to_json()

    def get(self, name):
        return self.abilities


def opened(kind, server, scheme="http"):
    """Open a model whose first sample is its first request."""
    if kind == "gemini":
        model, abilities = Gemini("m", key=KEY, endpoint=server.endpoint), GeminisAbilities()
    else:
        url = server.base_url.replace("http", scheme)
        model, abilities = OpenAICompatible(f"m@{url}", KEY), OpenAIAbilities()
    model.remember_in(lambda: Memory(abilities))
    return model


def caught(call):
    """Return what a call raises, made in another thread so that no server can hold up the test."""
    errors = []

    def work():
        try:
            call()
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()

    def error():
        thread.join(LONG)
        assert not thread.is_alive(), "it still waits"
        return errors[0]

    return error


def was_left(server):
    """Whether the server sees that nobody listens any more."""
    server.awake.set()
    return server.way == "unaccepted" or server.left.wait(LONG)


@every_back_end
@every_way
def test_a_request_ends_in_time_however_the_server_dawdles(way, kind, monkeypatch):
    monkeypatch.setattr(stopping, "LONGEST_REQUEST", TIME)
    with dripping(way) as server:
        model = opened(kind, server)
        error = caught(lambda: model.sample(PROMPTS.get(way, "Q"), 1))()
        assert type(error) is SilentError
        assert "took too long to answer" in str(error) and KEY not in str(error)
        assert was_left(server)
        assert model.meter.requests in (0, 1)


@every_back_end
@every_way
def test_stopping_leaves_a_request_under_way(way, kind):
    """It raises at once, is not tried again, counts, and the server sees that nobody listens."""
    with dripping(way) as server:
        ready = with_layers(opened(kind, server), None, None)
        error = caught(lambda: ready.sample(PROMPTS.get(way, "Q"), 1))
        assert server.begun.wait(LONG)
        stop(ready)
        assert type(error()) is StoppedError
        assert was_left(server) and server.connections <= 1
        assert ready.meter.requests == ready.budget.requests == 1


@every_back_end
def test_all_tries_of_a_call_together_end_in_time(kind, monkeypatch):
    monkeypatch.setattr(retry, "LONGEST_CALL", TIME)
    with dripping("headers") as server:
        ready = with_layers(opened(kind, server), None, None)
        error = caught(lambda: ready.sample("Q", 1))()
        assert type(error) is UnreachableError
        assert str(error) == (
            f"{ready.name} failed once. The last time: "
            f"{server.endpoint if kind == 'openai' else ready.name} took too long to answer. "
            "Answers received are saved; try again later."
        )
        assert server.connections == ready.budget.requests == 1


@every_back_end
def test_stopping_ends_finding_out_what_a_model_can_do_for_all_who_wait(kind):
    """One asks, another waits for what it finds: each can be stopped by itself."""
    with dripping("headers") as server:
        model = Gemini("m", key=KEY, endpoint=server.endpoint)
        if kind == "openai":
            model = OpenAICompatible(f"m@{server.base_url}", KEY)
        one, other = Budget(), Budget()
        asking = caught(lambda: RetryingModel(model, one).revision)
        assert server.begun.wait(LONG)
        waiting = caught(lambda: RetryingModel(model, other).revision)
        other.close()
        assert type(waiting()) is StoppedError
        assert not server.left.is_set(), "the first one goes on"
        one.close()
        assert type(asking()) is StoppedError
        assert was_left(server) and server.connections == 1
        assert model.meter.requests == 1, "it may be charged for"


def test_a_server_that_dawdles_before_it_encrypts_is_left_too():
    """The connection is there, and TLS has not begun: it must be shut all the same."""
    with dripping("deaf") as server:
        model = opened("openai", server, scheme="https")
        ready = with_layers(model, None, None)
        error = caught(lambda: ready.sample("Q", 1))
        assert server.begun.wait(LONG)
        stop(ready)
        assert type(error()) is StoppedError
        assert was_left(server) and server.connections == 1


@every_back_end
def test_what_is_known_of_a_model_can_be_read_after_it_was_stopped(kind):
    """A page says what a run used that was stopped, and of which model."""
    serving = gemini_server.serving if kind == "gemini" else openai_server.serving
    with serving() as server:
        model = server.open() if kind == "gemini" else OpenAICompatible(server.rest)
        ready = with_layers(model, None, None)
        revision, capabilities = ready.revision, ready.capabilities
        stop(ready)
        assert (ready.revision, ready.capabilities) == (revision, capabilities)
