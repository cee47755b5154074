"""New scores against calibration scores: alarms as rare as stated, changes found."""

import re

import numpy as np
import pytest

from core.abstention.drift import FEWEST, SIGNIFICANCE, drift


def said(found):
    """Return the numbers of a sentence: p-value, zeros before and now (%), their p-value."""
    pattern = r"p = (\S+), zeros (\d+)% → (\d+)% \(p = ([^)]+)\)"
    return tuple(map(float, re.search(pattern, found.sentence).groups()))


def doubts(rng, n, zeros=0.4):
    return np.where(rng.random(n) < zeros, 0, rng.beta(1.2, 1.6, n))


@pytest.mark.parametrize(("n", "m"), [(300, 100), (1000, 1000)])
@pytest.mark.parametrize("zeros", [0, 0.4])
def test_the_same_law_rarely_alarms(n, m, zeros):
    """Each of the two tests at 1 %, so both together at 2 % at most."""
    repetitions = 400
    found = []
    for i in range(repetitions):
        rng = np.random.default_rng((n, i))
        found.append(drift(doubts(rng, n, zeros), doubts(rng, m, zeros)))

    def most(share):
        return share + 3 * np.sqrt(share * (1 - share) / repetitions)

    assert np.mean([said(d)[0] < SIGNIFICANCE for d in found]) <= most(SIGNIFICANCE)
    assert np.mean([said(d)[3] < SIGNIFICANCE for d in found]) <= most(SIGNIFICANCE)
    assert np.mean([d.drifted for d in found]) <= most(2 * SIGNIFICANCE)


def test_a_shift_is_found():
    rng = np.random.default_rng(0)
    found = drift(rng.random(1000), rng.random(1000) + 0.15)
    assert found.drifted
    assert said(found)[0] < 1e-6
    assert "recalibrate" in found.sentence


def test_fewer_zeros_are_found():
    rng = np.random.default_rng(1)
    found = drift(doubts(rng, 500, 0.4), doubts(rng, 500, 0.2))
    assert found.drifted
    _, before, now, p = said(found)
    assert p < 1e-6
    assert before == pytest.approx(40, abs=7)
    assert now == pytest.approx(20, abs=6)


def test_zeros_by_hand():
    """Fisher's exact test of 0 of 3 against 3 of 3: two tables of twenty."""
    found = drift([1, 1, 1], [0, 0, -0.0])
    # Kolmogorov–Smirnov: all of one before all of the other, twice in twenty orders.
    assert said(found) == (2 / 20, 0, 100, 2 / 20)
    assert not found.drifted


def test_missing_scores_are_left_out():
    rng = np.random.default_rng(2)
    old, new = doubts(rng, 200), doubts(rng, 150)
    gaps = np.full(80, np.nan)
    assert drift(np.append(gaps, old), np.append(new, gaps)) == drift(old, new)


def test_infinite_scores_are_scores():
    found = drift(np.zeros(100), np.full(100, np.inf))
    assert found.drifted
    assert said(found)[0] < 1e-6


def test_the_same_scores_show_nothing_and_prove_nothing():
    rng = np.random.default_rng(3)
    values = doubts(rng, 100)
    found = drift(values, values)
    assert (said(found)[0], said(found)[3], found.drifted) == (1, 1, False)
    assert "does not prove" in found.sentence
    assert "too few" in drift(values, values[: FEWEST - 1]).sentence
    assert "too few" not in drift(values, values[:FEWEST]).sentence


@pytest.mark.filterwarnings("error")
def test_large_tables_raise_no_warning():
    rng = np.random.default_rng(4)
    assert not drift(doubts(rng, 9973), doubts(rng, 9967)).drifted
    assert not drift(doubts(rng, 100_000), doubts(rng, 25)).drifted


@pytest.mark.parametrize(
    ("old", "new"), [([], [1]), ([1], []), ([np.nan], [1]), ([1], [np.nan, np.nan])]
)
def test_nothing_to_compare(old, new):
    with pytest.raises(ValueError, match="no scores to compare"):
        drift(old, new)
