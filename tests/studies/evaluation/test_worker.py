"""What a worker of a cluster is sent and returns, and what all workers share; without Ray."""

from dataclasses import replace

import pytest

from core.language_models.client.concurrency import AbandonedError
from core.language_models.errors import BudgetError, NeedsKeyError, StoppedError, UnreachableError
from core.language_models.usage import Budget, Usage
from core.studies.evaluation.local import local
from core.studies.evaluation.rows import table
from core.studies.evaluation.worker import (
    RunControl,
    SharedBudget,
    question_block,
    questions_in,
    row_block,
    rows_in,
)
from tests.studies.evaluation.worlds import World, questions, task


def test_questions_are_the_same_behind_a_table():
    block = question_block(7, questions(9))
    assert list(questions_in(block)) == questions(9)
    behind = [replace(question, context="C.") for question in questions(2)]
    assert list(questions_in(question_block(7, behind))) == behind
    assert set(block["block"].to_pylist()) == {7}


def test_rows_are_the_same_behind_a_table():
    broken = {3: ValueError("by hand"), 4: UnreachableError("Nobody is there.")}
    rows = list(local(iter(questions(9)), task(World(broken)), lambda _: None))
    block = row_block(7, rows)
    found, error = rows_in(block)
    assert error is None and set(block["block"].to_pylist()) == {7}
    assert table(found) == table(rows)
    for name in ("id", "is_failure", "unreachable", "recording"):
        assert [getattr(row, name) for row in found] == [getattr(row, name) for row in rows]
    assert [row.unreachable for row in found].count(True) == 1


@pytest.mark.parametrize(
    ("error", "kind"), [(NeedsKeyError("Say it."), NeedsKeyError), (StoppedError("x"), BudgetError)]
)
def test_what_ended_the_run_comes_behind_the_rows(error, kind):
    rows = list(local(iter(questions(2)), task(World()), lambda _: None))
    for finished in (rows, []):
        found, raised = rows_in(row_block(1, finished, error))
        assert [row.id for row in found] == [row.id for row in finished]
        assert type(raised) is kind and str(raised) == str(error)


def test_a_budget_is_one_for_all_workers_and_counts_what_was_taken_before():
    desk = RunControl(10, 4)
    one, other = SharedBudget(desk.take), SharedBudget(desk.take)
    for budget in (one, other, one, other, one, other):
        budget.take()
    for budget in (one, other):
        with pytest.raises(BudgetError, match="The budget of 10 calls is used up"):
            budget.take()
    assert desk.calls() == 10
    closed = SharedBudget(RunControl(None, 0).take)
    closed.close()
    with pytest.raises(StoppedError):
        closed.take()


def test_what_was_stated_ends_all_workers_at_its_calls_or_at_its_tokens():
    here = Budget(100)
    here.take()
    assert here.run_remainder is None
    here.limit(Usage(4, 100, 100))
    here.take()
    here.spend(Usage(1, 30, 10))
    assert here.run_remainder == Usage(3, 70, 90)
    for tokens, calls in ((10, 3), (70, 2)):
        desk = RunControl(here.most, here.requests, here.run_remainder)
        workers = SharedBudget(desk.take), SharedBudget(desk.take)
        with pytest.raises(BudgetError, match="were stated at most"):
            for _ in range(4):
                for budget in workers:
                    budget.take()
                    budget.spend(Usage(1, tokens, 1))
        assert desk.calls() - here.requests == calls


def test_no_block_is_begun_once_the_run_is_stopped():
    desk = RunControl(None, 0)
    assert desk.begin(0) and desk.begin(1) and not desk.is_over()
    assert desk.stop() == {0, 1}
    assert desk.is_over() and not desk.begin(2)
    assert desk.stop() == {0, 1}
    desk.abandon()
    with pytest.raises(AbandonedError):
        desk.begin(3)
