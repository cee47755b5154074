"""A draw of fixed size from a stream: stable, in order, and fair."""

import itertools
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from core.data.datasets.draw import draw
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
