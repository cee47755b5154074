"""Budgets and meters: what may be asked, and what was."""

import pytest

from core.language_models.client.concurrency import at_once
from core.language_models.errors import BudgetError
from core.language_models.usage import Budget, Meter, Usage
from tests.language_models.threads import in_threads


def test_a_request_that_is_not_allowed_is_refused_before_it_is_made():
    meter, budget = Meter(), Budget(2)
    meter.begin()  # nobody counts
    with meter.gate(budget.take):
        meter.begin()
        at_once([meter.begin] * 5)  # of other threads
        meter.begin()
        with pytest.raises(BudgetError):
            meter.begin()
    meter.begin()
    assert budget.requests == 2


@pytest.mark.parametrize(
    ("most", "options", "sentence"),
    [
        (3, {}, r"budget of 3 calls is used up.*\.$"),
        (1200, {}, "budget of 1,200 calls"),
        (1000, {"used_up": "All {most:,} are gone."}, "All 1,000 are gone"),
    ],
)
def test_a_budget_counts_and_ends(most, options, sentence):
    budget = Budget(most, **options)
    for used in range(most):
        assert budget.requests == used
        budget.take()
    for _ in range(2):
        with pytest.raises(BudgetError, match=sentence):
            budget.take()
    assert budget.requests == most


def test_a_budget_without_a_number_ends_when_it_is_closed():
    budget = Budget()
    for _ in range(10_000):
        budget.take()
    budget.close()
    with pytest.raises(BudgetError, match="Stopped"):
        budget.take()
    assert budget.requests == 10_000
    budget.close()  # a second time is no fault


def test_a_part_counts_in_the_whole_and_closes_alone():
    whole = Budget(5)
    one, other = whole.part(), whole.part()
    one.take()
    one.take()
    other.take()
    assert (one.requests, other.requests, whole.requests) == (2, 1, 3)
    one.close()
    with pytest.raises(BudgetError, match="Stopped"):
        one.take()
    other.take()
    other.take()
    with pytest.raises(BudgetError, match="budget of 5 calls"):
        other.take()
    assert (one.requests, other.requests, whole.requests) == (2, 3, 5)


def test_a_part_of_two_counts_in_both_or_in_none():
    one, other, server = Budget(10), Budget(10), Budget(3)
    mine, yours = one.part(server), other.part(server)
    for part in (mine, mine, yours):
        part.take()
    for part in (mine, yours):
        with pytest.raises(BudgetError, match="budget of 3 calls"):
            part.take()
    assert [each.requests for each in (mine, yours, one, other, server)] == [2, 1, 2, 1, 3]
    assert (one.remainder, other.remainder, server.remainder, mine.remainder) == (8, 9, 0, None)


def test_many_sessions_take_no_more_than_there_is_for_all():
    server, sessions = Budget(500), [Budget(40) for _ in range(64)]
    waiting = iter(sessions)

    def take():
        part = next(waiting).part(server)
        for _ in range(40):
            try:
                part.take()
            except BudgetError:
                return

    in_threads(take, 64)
    assert server.requests == sum(session.requests for session in sessions) == 500


@pytest.mark.parametrize(
    ("stated", "each", "requests"),
    [
        (Usage(3, 1000, 1000), Usage(1, 10, 10), 3),
        (Usage(100, 40, 1000), Usage(1, 10, 10), 4),
        (Usage(100, 1000, 25), Usage(1, 10, 10), 3),
    ],
)
def test_a_run_ends_at_what_was_stated_in_calls_or_tokens(stated, each, requests):
    budget = Budget(1000)
    budget.take()
    budget.spend(Usage(1, 500, 500))  # of an earlier run
    budget.limit(stated)
    for _ in range(requests):
        budget.take()
        budget.spend(each)
    with pytest.raises(BudgetError, match="stated at most"):
        budget.take()
    assert budget.requests == 1 + requests
