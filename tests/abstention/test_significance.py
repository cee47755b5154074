"""DeLong's test against its definition and a simulation; Holm's against its own."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.abstention.metrics import auroc
from core.abstention.significance import delong, holm


def by_definition(first, second, correct):
    """The AUROCs, and the variance of their difference, pair by pair (DeLong et al., 1988)."""

    def psi(wrong, right):
        return 1.0 if wrong > right else 0.5 if wrong == right else 0.0

    wrong, right = np.flatnonzero(~correct), np.flatnonzero(correct)
    tables = [
        np.array([[psi(doubts[i], doubts[j]) for j in right] for i in wrong])
        for doubts in (first, second)
    ]
    areas = [table.mean() for table in tables]
    covariances = [
        np.cov([table.mean(axis=axis) for table in tables]) / table_size
        for axis, table_size in ((1, len(wrong)), (0, len(right)))
    ]
    s = covariances[0] + covariances[1]
    return areas, s[0, 0] + s[1, 1] - 2 * s[0, 1]


@st.composite
def two_scores(draw):
    n = draw(st.integers(4, 14))
    doubts = st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0, np.inf]), min_size=n, max_size=n)
    others = draw(st.lists(st.booleans(), min_size=n - 4, max_size=n - 4))
    correct = [True, True, False, False, *others]
    return np.array(draw(doubts)), np.array(draw(doubts)), np.array(correct)


@given(two_scores())
def test_it_is_delongs_by_definition(data):
    first, second, correct = data
    found = delong(first, second, correct)
    areas, variance = by_definition(first, second, correct)
    assert (found.first, found.second) == pytest.approx(areas)
    assert found.first == pytest.approx(auroc(first, correct))
    assert found.error == pytest.approx(math.sqrt(max(variance, 0)), abs=1e-7)
    if variance > 1e-9:
        z = (areas[0] - areas[1]) / math.sqrt(variance)
        assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(z)))


def test_it_by_hand():
    """Two wrong answers at doubts 3 and 1, two right ones at 0 and 2: three pairs of four."""
    found = delong([3.0, 1, 0, 2], [3.0, 3, 0, 0], np.array([False, False, True, True]))
    assert (found.first, found.second) == (0.75, 1.0)
    # Shares of right ones below: 1, 1/2 against 1, 1; of wrong ones above: 1, 1/2 against 1, 1.
    # Each difference is 0 or -1/2, of variance 1/8 over two: 1/16 and 1/16.
    assert found.error == pytest.approx(math.sqrt(1 / 8))
    assert found.p_value == pytest.approx(2 * stats.norm.sf(0.25 / math.sqrt(1 / 8)))


def test_a_missing_doubt_is_the_largest():
    correct = [True, True, False, False]
    missing, largest = delong([0, np.nan, 1, 2], [0, 1, 2, 3], correct), None
    largest = delong([0, np.inf, 1, 2], [0, 1, 2, 3], correct)
    assert missing == largest


def test_what_does_not_vary_is_no_surer_than_its_rows_are_many():
    correct = [True, True, False, False]
    best, worst = [0, 0, 1, 1], [1, 1, 0, 0]
    assert delong(best, best, correct).p_value == 1
    pairs = min(sum(correct), len(correct) - sum(correct))
    assert delong(best, worst, correct).p_value == 2 * 2.0**-pairs


@pytest.mark.parametrize("correct", [[True], [True, True], [True, True, False]])
def test_too_few_of_a_kind_say_nothing(correct):
    found = delong(range(len(correct)), range(len(correct)), correct)
    assert math.isnan(found.error) and math.isnan(found.p_value)
    assert math.isnan(found.first) is (len(set(correct)) == 1)


@pytest.mark.slow
def test_equal_scores_are_rejected_as_often_as_it_says():
    """Two equally noisy scores of the same questions, 1,000 times at a level of 5 %."""
    rng = np.random.default_rng(2)
    rejected = 0
    for _ in range(1000):
        correct = rng.random(120) < 0.6
        first, second = rng.normal(size=120) - correct + rng.normal(size=(2, 120))
        rejected += delong(first, second, correct).p_value <= 0.05
    # Between 2.9 % and 7.3 % with a probability of more than .99 if it is 5 %.
    assert 29 <= rejected <= 73


# -------------------------------------------------------------------------------- Holm


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_rejects_what_the_closed_test_of_bonferronis_rejects(p):
    """An hypothesis falls if every intersection with it falls by Bonferroni (Holm, 1979)."""
    adjusted = holm(p)
    for i, value in enumerate(adjusted):
        others = [j for j in range(len(p)) if j != i]
        sets = ((i, *more) for size in range(len(p)) for more in combinations(others, size))
        closed = max(min(1.0, len(s) * min(p[j] for j in s)) for s in sets)
        assert value == pytest.approx(closed)


def test_holm_by_hand():
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm([0.5, np.nan, 0.02]), [0.5, np.nan, 0.04])
    assert holm([]).shape == (0,)
