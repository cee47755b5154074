"""A draw of fixed size from a stream: stable, in order, and fair."""

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from core.data.datasets import draw as draws
from core.data.datasets.draw import draw, random_order
from core.data.datasets.questions import Question


def questions(number):
    return [Question(str(n), f"Q {n}?", (("A",),)) for n in range(number)]


@given(st.integers(1, 12), st.integers(0, 30), st.integers(0, 5))
def test_a_draw_is_stable_and_in_order(number, available, seed):
    given = questions(available)
    drawn = draw(iter(given), number, seed)
    assert drawn == draw(iter(given), number, seed)
    assert len(drawn) == min(number, available)
    at = [given.index(question) for question in drawn]
    assert at == sorted(set(at))


def test_the_draw_stays_the_same_in_later_versions():
    assert [q.id for q in draw(questions(1000), 5, seed=1)] == ["286", "508", "519", "536", "874"]


def test_every_choice_is_equally_likely():
    times = Counter(tuple(q.id for q in draw(questions(6), 3, seed)) for seed in range(20_000))
    choices = [times[choice] for choice in itertools.combinations("012345", 3)]
    # 1 in 10,000 of fair draws would be refused; the seeds are fixed.
    assert len(times) == 20 and chisquare(choices).pvalue > 1e-4


@pytest.mark.parametrize("at_once", [7, 1000])
def test_every_question_comes_once_in_an_order_that_the_memory_does_not_change(
    at_once, monkeypatch
):
    monkeypatch.setattr(draws, "MOST_IN_MEMORY", at_once)
    order = [int(q.id) for q in random_order(lambda: questions(100), 100, seed=3)]
    assert sorted(order) == list(range(100)) and order[:5] == [86, 29, 94, 58, 93]
    assert order != [int(q.id) for q in random_order(lambda: questions(100), 100, seed=4)]


def test_whoever_stops_has_a_fair_sample():
    """Of six questions, two are taken in each of 2,000 orders: every pair about as often."""
    orders = ([q.id for q in random_order(lambda: questions(6), 6, seed)] for seed in range(2000))
    times = Counter(frozenset(order[:2]) for order in orders)
    assert len(times) == 15 and chisquare(list(times.values())).pvalue > 0.001
