"""What a run costs at most: never less than what is really asked, and what that is in money."""

import math
from dataclasses import replace
from itertools import product

import pytest

from core import prompts
from core.language_models.client.batch import BatchingModel
from core.language_models.language_model import MAX_RESPONSE_TOKENS, Capabilities, Response
from core.language_models.usage import CHARACTERS_A_TOKEN, Usage
from core.studies.amplification.curve import Case, amplify
from core.studies.costs import (
    Plan,
    computed_tokens,
    curve_tokens,
    in_money,
    lasting,
    plan,
    plan_chains,
    price,
)
from core.studies.inspection.counter_answers import OTHERS
from core.studies.inspection.recorder import AFTER_OTHERS, OTHER_DRAWS, record, usual_request
from core.studies.inspection.request import MAX_SAMPLES, Request
from core.studies.laboratory import chains
from core.studies.laboratory.chains import run as run_chains
from tests.fakes import QUERY, Limited, TableModel, falling, knows, words


class Unrepeated(TableModel):
    """Says something else with every sample: nothing costs more."""

    def __init__(self, k):
        n = max(k, OTHER_DRAWS)
        super().__init__(words(n), falling(n), [falling(n)] * n)

    def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
        if prompt == prompts.iterative(QUERY) and temperature:
            return [Response(self.answers[first + i], True) for i in range(count)]
        return super().sample(prompt, count, temperature=temperature, seed=seed, first=first)


def asked(k, model):
    """Make a recording as it is made of a service, and return the plan for it."""
    record(Request(QUERY, k), BatchingModel(model))
    return plan(Request(QUERY, k), model.capabilities)


def told_others(candidates):
    """What a model is asked besides where all its answers are alike."""
    answers = OTHER_DRAWS + OTHERS * AFTER_OTHERS
    requests = math.ceil(OTHER_DRAWS / candidates) + OTHERS * math.ceil(AFTER_OTHERS / candidates)
    return Plan(requests, 0, answers * MAX_RESPONSE_TOKENS)


def prompt_tokens(model):
    """What the prompts of all requests held, by the same rule of thumb."""
    every = [a.prompt for a in model.asked] + model.continued
    every += [p for some, answers in model.scored for p in some for _ in answers]
    return sum(len(prompt) / CHARACTERS_A_TOKEN for prompt in every)


# --------------------------------------------------------------------------- never less

# k, and what the model can do; with log-likelihoods of its own, k is at least 100.
SAMPLED = [
    (k, {"own_log_likelihoods": own, "next_token": next_token, "candidates_a_call": candidates})
    for own, numbers in ((True, (100,)), (False, (1, 9)))
    for k in numbers
    for next_token in (True, False)
    for candidates in (1, 8)
]


@pytest.mark.parametrize(("k", "abilities"), SAMPLED)
@pytest.mark.parametrize("repeated", [True, False])
def test_no_more_is_sampled_than_planned_and_all_of_it_when_no_answer_comes_twice(
    k, abilities, repeated
):
    model = Limited(knows(12) if repeated else Unrepeated(k), local=False, **abilities)
    planned = asked(k, model)
    requests = model.meter.requests
    tokens = MAX_RESPONSE_TOKENS * (sum(a.count for a in model.asked) + len(model.continued))
    assert requests <= planned.requests and tokens <= planned.response_tokens
    if not repeated:
        others = Plan() if k == 1 else told_others(abilities["candidates_a_call"])
        assert requests + others.requests == planned.requests
        assert tokens + others.response_tokens == planned.response_tokens
    assert prompt_tokens(model) <= planned.prompt_tokens


@pytest.mark.parametrize(("k", "pairs"), [(1, 1), (10, 1), (10, 20), (40, 2000)])
@pytest.mark.parametrize("candidates", [1, 8])
def test_no_more_is_scored_than_planned(k, pairs, candidates):
    """The greedy answer is among the samples here."""
    model = Limited(
        Unrepeated(k),
        scores_given_text=True,
        local=False,
        candidates_a_call=candidates,
        pairs_a_call=pairs,
    )
    planned = asked(k, model)
    scored = sum(len(some) * len(answers) for some, answers in model.scored)
    assert scored == (k + 1) * k + 2 * k + (OTHERS if k == 1 else 0)
    assert model.meter.requests <= planned.requests
    assert prompt_tokens(model) <= planned.prompt_tokens


CHAINED = {"own_log_likelihoods": True}
SCORED = {"scores_given_text": True}


@pytest.mark.parametrize("abilities", [CHAINED, SCORED, SCORED | {"pairs_a_call": 3}])
@pytest.mark.parametrize("candidates", [1, 8])
def test_longer_chains_take_no_more_than_planned(abilities, candidates):
    table = TableModel(words(4), falling(4), [falling(4)] * 4)
    for told in (2, 3):
        for chain in product(table.answers, repeat=told):
            row = dict(zip(table.answers, falling(4), strict=True))
            table.table[prompts.iterative(QUERY, chain)] = row
    model = Limited(table, local=False, candidates_a_call=candidates, **abilities)
    request = Request(QUERY, 100 if abilities is CHAINED else 4)
    batched = BatchingModel(model)
    run_chains(record(request, batched), batched, chains.ChainsSettings(longest=4, chains=20))
    planned = plan_chains(request, 4, 20, 1000, model.capabilities)
    assert model.meter.requests <= planned.requests
    assert prompt_tokens(model) <= planned.prompt_tokens
    tokens = MAX_RESPONSE_TOKENS * (sum(a.count for a in model.asked) + len(model.continued))
    assert tokens <= planned.response_tokens
    assert planned.requests > plan(request, model.capabilities).requests


# ------------------------------------------------------------------------------ by hand


def requests(k, **abilities):
    return plan(Request(QUERY, k), Capabilities(**abilities)).requests


def test_requests_by_hand():
    counted = {"scores_given_text": False, "candidates_a_call": 8}
    # 2 for the samples, 1 for the greedy answer; for each sample 4 for 30 answers, and 1 or 2;
    # where all are alike, 1 for others, and 1 for 8 answers after each of 3 of them.
    assert requests(10, **counted, next_token=True) == 2 + 1 + 10 * (4 + 1) + 1 + 3
    assert requests(10, **counted) == 2 + 1 + 10 * (4 + 2) + 1 + 3
    chained = {"scores_given_text": False, "own_log_likelihoods": True, "candidates_a_call": 1}
    assert requests(100, **chained, next_token=True) == 100 + 1 + 100 * (1 + 1) + 8 + 24
    assert requests(100, **chained) == 100 + 1 + 100 * (1 + 10) + 8 + 24
    exact = {"scores_given_text": True, "candidates_a_call": 8, "pairs_a_call": 20}
    assert requests(10, **exact) >= 2 + 1 + 110 / 20 + 20 / 20
    # One more for each prompt: after no answer and after each of 10, for the greedy answer, and to
    # verify each of 10; where all are alike, after each of 3 others.
    assert requests(10, **exact, calls_a_prompt=1) - requests(10, **exact) == 11 + 1 + 10 + OTHERS


@pytest.mark.parametrize("scores", [True, False])
def test_more_samples_cost_more_and_larger_requests_fewer(scores):
    sizes = [
        plan(Request(QUERY, k), Capabilities(scores, False)) for k in (1, 10, 100, MAX_SAMPLES)
    ]
    for name in ("requests", "prompt_tokens", "response_tokens"):
        values = [getattr(size, name) for size in sizes]
        assert values == sorted(values), name
        assert all(isinstance(value, int) for value in values)
    few = requests(50, scores_given_text=scores, candidates_a_call=8, pairs_a_call=100)
    assert few < requests(50, scores_given_text=scores, candidates_a_call=1, pairs_a_call=1)


def test_a_longer_question_costs_more():
    short, long = (plan(Request("x" * n), Capabilities(False, False)) for n in (10, 1000))
    assert long.prompt_tokens > short.prompt_tokens
    assert (long.requests, long.response_tokens) == (short.requests, short.response_tokens)


@pytest.mark.parametrize(
    ("tokens", "prices", "cost"),
    [
        ((2_000_000, 500_000), (0.15, 0.60), 0.30 + 0.30),
        ((1_000_000, 0), (2.5, 10.0), 2.5),
        ((0, 1_000_000), (2.5, 10.0), 10.0),
        ((1, 1), (1.0, 2.0), 3e-6),
        ((123, 456), (0.0, 0.0), 0.0),
    ],
)
def test_prices_are_per_million_tokens(tokens, prices, cost):
    assert math.isclose(price(Plan(9, *tokens), *prices, 1_000_000), cost, abs_tol=1e-15)


# ------------------------------------------------------------------- time on this machine


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (4.9, None),
        (5.1, "up to 10 seconds"),
        (42, "up to 50 seconds"),
        (55, "up to 1 minute"),
        (150, "up to 3 minutes"),
        (3600, "up to 1 hour"),
        (5000, "up to 1.4 hours"),
    ],
)
def test_what_takes_long_is_said_in_words(seconds, words):
    model = knows(3)
    model.capabilities = replace(model.capabilities, quick=False)
    assert lasting(10**9, model) is None  # nothing was measured
    model.speed.tokens, model.speed.seconds = 1000, 10.0
    assert lasting(round(100 * seconds), model) == words
    model.capabilities = replace(model.capabilities, quick=True)
    assert lasting(10**9, model) is None


@pytest.mark.parametrize("k", [8, 60])
def test_no_more_is_computed_than_was_said(embedded, k):
    """Of a question to which it knows no answer, so that all it says are different."""
    request = usual_request("What is the capital of Zorvania?", embedded.capabilities, samples=k)
    before = embedded.speed.tokens
    assert len(record(request, embedded).texts) > k / 2
    assert 1 < computed_tokens(request) / (embedded.speed.tokens - before) < 5


def test_no_more_is_computed_for_a_curve_than_was_said(embedded):
    case = Case("What is the capital of France?", "Paris", "London")
    before = embedded.speed.tokens
    amplify(case, embedded, [0, 1, 10, 50])
    # Its vocabulary holds longer pieces of the prompts than those of other models.
    assert 1 < curve_tokens([case], [0, 1, 10, 50]) / (embedded.speed.tokens - before) < 4


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (Usage(1, 0, 12), "less than 0.0001"),
        (Usage(1, 0, 151), "0.0002"),
        (Usage(1, 0, 149), "0.0001"),
        (Plan(1, 0, 1), "0.0001"),
        (Plan(1, 0, 100), "0.0001"),
        (Plan(1, 0, 101), "0.0002"),
        (Plan(1, 0, 10_000_001), "10.01"),
        (Usage(2, 0, 199, 1), "0.0001"),
        (Usage(2, 0, 12, 1), "0.0000"),
        (Plan(1, 0, 0), "0.0000"),
    ],
)
def test_no_bound_in_money_is_less_than_what_it_bounds(tokens, words):
    assert in_money(tokens, (0.0, 1.0), 1_000_000) == f", {words} at your prices"
    assert in_money(tokens, (0.0, 0.0), 1_000_000) == in_money(tokens, (0.0, 1.0), 0) == ""
