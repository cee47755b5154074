"""The call cache around a model: nothing is asked or paid for twice, nothing is mixed up."""

import itertools
import json
import threading

import numpy as np
import pytest

from core import prompts
from core.language_models.backends.openai.model import OpenAICompatible
from core.language_models.client.batch import BatchingModel
from core.language_models.client.cache import FORMAT, CachingModel
from core.language_models.client.stack import stop, with_layers
from core.language_models.errors import ModelError, NeedsKeyError, NotSavedError, RefusedError
from core.language_models.language_model import SAMPLING_RULE, LanguageModel, Response, prompt_seed
from core.language_models.registry import open_model
from core.language_models.usage import Budget
from core.store.calls import CallKey
from core.store.database import open_database
from core.store.errors import StoreError
from core.studies.inspection.recorder import record
from core.studies.inspection.request import Request
from tests.fakes import QUERY, Limited, copies, knows
from tests.hostile import HALF
from tests.language_models.openai_server import serving
from tests.language_models.threads import in_threads, wait_for_pools
from tests.patience import LONG
from tests.store.kept import Calls

PROMPT = prompts.iterative(QUERY)
ABOUT = prompts.self_verification(QUERY, "answer0")
SIGN = "\N{REPLACEMENT CHARACTER}"


def service(inner=None, **options):
    defaults = {"scores_given_text": True, "own_log_likelihoods": True, "next_token": True}
    return Limited(inner or knows(30), **defaults | {"local": False} | options)


def told(*answers):
    return [prompts.iterative(QUERY, [answer]) for answer in answers]


ASKS = {
    "sample": lambda model: model.sample(PROMPT, 2),
    "log_likelihoods": lambda model: model.log_likelihoods([PROMPT], ["answer0"]),
    "next_token": lambda model: model.next_token(ABOUT),
}
every_ask = pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS)


# ------------------------------------------------------------------- nothing asked twice


@pytest.mark.parametrize(
    ("before", "asked", "missing"),
    [
        ([(0, 4)], (0, 10), [(4, 6)]),  # a series goes on
        ([(0, 10)], (2, 5), []),
        ([(4, 3)], (0, 10), [(0, 4), (7, 3)]),
        ([(1, 1), (3, 1), (5, 1)], (0, 7), [(0, 1), (2, 1), (4, 1), (6, 1)]),
        ([(0, 3)], (7, 2), [(7, 2)]),
        ([], (0, 0), []),
    ],
)
def test_only_samples_that_were_never_drawn_are_asked_for(calls, before, asked, missing):
    model = service()
    cached = CachingModel(model, calls)
    for first, count in before:
        cached.sample(PROMPT, count, first=first)
    model.asked.clear()
    first, count = asked
    assert cached.sample(PROMPT, count, first=first) == service().sample(PROMPT, count, first=first)
    assert [(a.first, a.count) for a in model.asked] == missing
    assert {(a.prompt, a.temperature, a.seed) for a in model.asked} <= {(PROMPT, 1.0, 0)}


def test_only_pairs_that_were_never_scored_are_asked_for(calls):
    """Ten samples have become thirty: new columns of old rows, all columns of new ones."""
    model = service(copies(6))
    cached = CachingModel(model, calls)
    few = ["answer0", "answer1"]
    cached.log_likelihoods([PROMPT, *told(*few)], few)
    before = {(p, a) for some, texts in model.scored for p in some for a in texts}
    model.scored.clear()
    more = [*few, "answer2", "answer4"]
    asked = [PROMPT, *told(*more)]
    np.testing.assert_array_equal(
        cached.log_likelihoods(asked, more), copies(6).log_likelihoods(asked, more)
    )
    assert sorted(model.scored, key=lambda call: len(call[1])) == [
        ((PROMPT, *told(*few)), ("answer2", "answer4")),
        (tuple(told("answer2", "answer4")), tuple(more)),
    ]
    pairs = [(p, a) for some, texts in model.scored for p in some for a in texts]
    assert before.isdisjoint(pairs) and len({*pairs}) == len(pairs)
    assert {*pairs} | before == set(itertools.product(asked, more))


def test_pairs_that_are_missing_here_and_there_come_back_in_their_places(calls):
    model = service(copies(6))
    cached = CachingModel(model, calls)
    texts = copies(6).answers
    asked = [PROMPT, *told(*texts)]
    rng = np.random.default_rng(3)
    for _ in range(12):
        some = [asked[i] for i in rng.permutation(7)[: rng.integers(1, 8)]]
        answers = [texts[i] for i in rng.permutation(6)[: rng.integers(1, 7)]]
        np.testing.assert_array_equal(
            cached.log_likelihoods(some, answers), copies(6).log_likelihoods(some, answers)
        )
    pairs = [(p, a) for some, answers in model.scored for p in some for a in answers]
    assert len({*pairs}) == len(pairs) == calls.count()


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_nothing_is_scored_without_a_request(calls, shape):
    model = service()
    rows, columns = shape
    assert CachingModel(model, calls).log_likelihoods(["p"] * rows, ["a"] * columns).shape == shape
    assert not model.scored


def test_it_is_the_model_that_it_stands_around(calls):
    model = service()
    cached = CachingModel(model, calls)
    assert (cached.name, cached.revision) == ("limited", "1")
    assert cached.capabilities is model.capabilities
    assert cached.meter is model.meter
    model.inner.reads = str.casefold
    assert cached.reads("WHICH?") == "which?"


# ------------------------------------------------------------------ exactly as it was said


class Scripted(LanguageModel):
    """Says what it is told to."""

    name, revision = "scripted", "1"
    capabilities = service().capabilities

    def __init__(self, responses=(), scores=((),), tokens=None):
        self.responses, self.scores, self.tokens = responses, scores, tokens

    def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
        return list(self.responses[first : first + count])

    def log_likelihoods(self, prompts, answers):
        return np.array(self.scores)

    def next_token(self, prompt):
        return self.tokens


def test_responses_come_back_exactly(calls):
    said = [
        Response("", True, None),
        Response("\x00 \u2028 é \U0001f600 “x”", False, -0.1),
        Response('"},[\\n', True, -1e-300),
        Response("far", True, -1234.5678901234567),
        Response("never", True, -np.inf),
        Response("always", True, 0.0),
    ]
    cached = CachingModel(Scripted(said), calls)
    for _ in range(2):
        assert cached.sample(PROMPT, len(said)) == said
        cached.inner = Scripted()


def test_likelihoods_and_next_tokens_come_back_exactly(calls):
    values = [[-np.inf, -1 / 3, 0.0], [-1e-300, -2000.1, -np.inf]]
    tokens = {" True": -1 / 3, "\n": -20.0, "é\x00": -np.inf, "": -0.0}
    cached = CachingModel(Scripted(scores=values, tokens=tokens), calls)
    for _ in range(2):
        found = cached.log_likelihoods(["p", "q"], ["a", "b", "c"])
        np.testing.assert_array_equal(found, values)
        assert found.dtype == np.float64
        assert cached.next_token("p") == tokens
        cached.inner = Scripted()


# ----------------------------------------------------------------------- nothing mixed up


@pytest.mark.parametrize(
    "change", [{"temperature": 0.8}, {"temperature": 0.0}, {"seed": 1}, {"first": 100}], ids=str
)
def test_another_sample_is_another_call(calls, change):
    model = service()
    cached, options = CachingModel(model, calls), {"temperature": 0.9}
    before = cached.sample(PROMPT, 3, **options)
    other = cached.sample(PROMPT, 3, **options | change)
    assert other == service().sample(PROMPT, 3, **options | change)
    assert len(model.asked) == 2
    assert cached.sample(PROMPT, 3, **options) == before
    assert len(model.asked) == 2


@every_ask
@pytest.mark.parametrize("change", [{"name": "other"}, {"revision": "2"}], ids=str)
def test_another_model_is_another_call(calls, change, ask):
    one, other = service(), service()
    vars(other).update(change)
    for _ in range(2):
        ask(CachingModel(one, calls))
        ask(CachingModel(other, calls))
    assert one.meter.requests == other.meter.requests == 1


def test_kinds_prompts_and_answers_are_kept_apart(calls):
    model = service(copies(3))
    cached = CachingModel(model, calls)
    cached.sample(ABOUT, 1)
    cached.next_token(ABOUT)
    cached.log_likelihoods([ABOUT], ["True"])
    cached.log_likelihoods([ABOUT], ["False"])
    cached.sample(PROMPT, 1)
    cached.log_likelihoods([PROMPT], ["answer0"])
    assert model.meter.requests == calls.count() == 6


# ------------------------------------------------------------------ stored before it is used


class Failing(Calls):
    """Cannot keep anything, as when the disk is full."""

    def put_many(self, payloads):
        raise StoreError("The disk is full.")


@every_ask
def test_what_cannot_be_kept_is_not_handed_on(ask):
    with open_database("sqlite://") as database:
        model = service()
        with pytest.raises(NotSavedError, match="disk is full"):
            ask(CachingModel(model, Failing(database)))
        assert model.meter.requests == 1  # asked, and not used
        ask(CachingModel(model, Calls(database)))
        assert model.meter.requests == 2


def test_what_is_kept_counts_and_not_what_is_said_later(calls):
    """Two may ask the same at the same time, and be told different things: the first stays."""
    later = [Response("later", True, -2.0)]

    class Overtaken(Scripted):
        def sample(self, prompt, count, **options):
            kind = f"sample by rule {SAMPLING_RULE}/{FORMAT}"
            own_seed = prompt_seed(options["seed"], prompt)
            key = CallKey(kind, self.name, self.revision, prompt, seed=own_seed)
            calls.put(key, '["sooner", true, -1.0]')  # by another process
            return later

    assert CachingModel(Overtaken(), calls).sample(PROMPT, 1) == [Response("sooner", True, -1.0)]


# --------------------------------------------------------------------------------- faults


@every_ask
def test_a_call_that_fails_is_not_kept(calls, ask):
    class Refusing(Limited):
        def refuse(self, *arguments, **options):
            raise RefusedError("Blocked.")

        sample = log_likelihoods = next_token = refuse

    with pytest.raises(RefusedError):
        ask(CachingModel(Refusing(knows(3)), calls))
    assert calls.count() == 0
    model = service()
    ask(CachingModel(model, calls))
    assert model.meter.requests == 1


def test_what_came_before_a_failure_is_kept(calls):
    class FailsAt(Limited):
        def sample(self, prompt, count, *, first=0, **options):
            if first >= 6:
                raise RefusedError("Blocked.")
            return super().sample(prompt, count, first=first, **options)

    model = FailsAt(knows(9))
    cached = CachingModel(model, calls)
    cached.sample(PROMPT, 1, first=3)
    cached.sample(PROMPT, 1, first=5)
    with pytest.raises(RefusedError):
        cached.sample(PROMPT, 8)  # 0 to 2 and 4 come, 6 and 7 do not
    assert calls.count() == 6
    model.asked.clear()
    assert len(cached.sample(PROMPT, 6)) == 6
    assert not model.asked


def test_a_service_that_loses_answers_leaves_nothing_behind(calls):
    class Losing(Limited):
        def sample(self, prompt, count, **options):
            return super().sample(prompt, count, **options)[:-1]

    with pytest.raises(ValueError, match="shorter"):
        CachingModel(Losing(knows(3)), calls).sample(PROMPT, 5)
    assert calls.count() == 0


# --------------------------------------------------------------------------- many threads


def test_threads_that_ask_the_same_get_the_same(calls):
    """A service without seeds says something new each time; whoever asks hears one answer.

    It is asked once: the others wait, and do not pay for the same again.
    """
    numbers, together = itertools.count(), threading.Barrier(12)

    class Unseeded(Limited):
        def sample(self, prompt, count, **options):
            return [Response(f"{next(numbers)}", True) for _ in range(count)]

    cached, heard = CachingModel(Unseeded(knows(3)), calls), []

    def ask():
        together.wait(LONG)
        heard.append(cached.sample(PROMPT, 10))

    in_threads(ask, 12)
    assert len(heard) == 12
    assert all(other == heard[0] for other in heard)
    assert cached.sample(PROMPT, 10) == heard[0]
    assert calls.count() == next(numbers) == 10


def test_threads_that_ask_for_different_things_get_their_own(calls):
    model = BatchingModel(CachingModel(service(candidates_a_call=3, pairs_a_call=4), calls))
    found, seeds = {}, iter(range(8))

    def ask():
        seed = next(seeds)
        found[seed] = model.sample(PROMPT, 20, seed=seed)

    in_threads(ask, 8)
    assert found == {seed: service().sample(PROMPT, 20, seed=seed) for seed in range(8)}
    assert calls.count() == 160
    assert model.meter.requests == 8 * 7


# ------------------------------------------------------------------------------- prepared


def test_local_models_are_left_alone(embedded):
    def never():
        raise AssertionError("the database was opened")

    for model in (embedded, copies(3), Limited(copies(3))):
        assert with_layers(model, never, Budget(0)) is model
        stop(model)  # there is nothing to stop
    assert record(Request(QUERY, 5), with_layers(copies(3), never, Budget(0)))


@pytest.mark.parametrize("keeps", [True, False])
def test_services_are_asked_patiently_within_the_budget_and_never_twice(calls, keeps):
    model, budget = service(candidates_a_call=4, scores_given_text=False), Budget()
    ready = with_layers(model, (lambda: calls) if keeps else None, budget)
    request = Request(QUERY, 100)
    made = record(request, ready)
    local = record(request, Limited(knows(30), own_log_likelihoods=True, next_token=True))
    assert (made.samples, made.seconds) == (local.samples, local.seconds)
    assert model.meter.requests == budget.requests > 25
    used = budget.requests
    assert record(request, ready).seconds == made.seconds
    assert budget.requests == (used if keeps else 2 * used)


def test_a_budget_that_ends_keeps_what_was_paid_for(calls):
    request = Request(QUERY, 100)
    whole = service(candidates_a_call=4, scores_given_text=False)
    made = record(request, with_layers(whole, None, None))
    model = service(candidates_a_call=4, scores_given_text=False)
    spent = 0
    for _ in range(100):
        budget = Budget(10)
        try:
            again = record(request, with_layers(model, lambda: calls, budget))
            spent += budget.requests
            break
        except ModelError as error:
            assert "budget of 10 calls" in str(error)
            spent += budget.requests
            wait_for_pools()  # what is under way is answered and kept
    assert (again.samples, again.seconds) == (made.samples, made.seconds)
    assert spent == model.meter.requests == whole.meter.requests


def test_stopping_lets_nothing_more_go_out(calls):
    model = service(candidates_a_call=1)
    ready = with_layers(model, lambda: calls, None)
    kept, scored = ready.sample(PROMPT, 3), ready.log_likelihoods([PROMPT], ["answer0"])
    stop(ready)
    with pytest.raises(ModelError, match="Stopped"):
        ready.sample(PROMPT, 4)
    assert model.meter.requests == 4
    assert ready.sample(PROMPT, 3) == kept  # what was answered is there
    assert ready.log_likelihoods([PROMPT], ["answer0"]) == scored


def test_a_fault_in_finding_out_what_a_model_can_do_is_said(calls):
    class Locked(Limited):
        @property
        def capabilities(self):
            raise NeedsKeyError("The service wants a key.")

        @capabilities.setter
        def capabilities(self, value):
            pass

    with pytest.raises(NeedsKeyError, match="wants a key"):
        with_layers(Locked(copies(2)), lambda: calls, None)


# ------------------------------------------------------------------- half a character


def halved(reply):
    """Cut every answer, and every token that is listed, in the middle of a character."""
    for choice in reply["choices"]:
        if "message" in choice:
            choice["message"]["content"] += HALF
        else:
            choice["text"] += HALF
    return reply | {"model": f"m{HALF}"}


@pytest.mark.parametrize("flavour", ["none", "chat-none"])
def test_half_a_character_in_every_answer_is_paid_for_once_and_saved(flavour, calls):
    with serving(flavour, after=halved) as server:
        drawn = CachingModel(open_model(server.name), calls).sample(PROMPT, 2)
        asked = len(server.exchanges)
        assert CachingModel(open_model(server.name), calls).sample(PROMPT, 2) == drawn
        assert len(server.exchanges) == asked  # not one more: everything was saved
    assert all(response.text.endswith(SIGN) for response in drawn)


def test_an_older_answer_with_half_a_character_is_read_whole(calls):
    with serving("none") as server:
        model = CachingModel(OpenAICompatible(server.rest), calls)
        model.sample("Q: Who? A:", 1)
        with calls.database.write() as connection:
            connection.exec_driver_sql(
                "UPDATE calls SET payload = ?", (json.dumps([f"a{HALF}", True, None]),)
            )
        assert model.sample("Q: Who? A:", 1)[0].text == f"a{SIGN}"
