"""New scores against calibration scores: alarms as rare as stated, changes found."""

import re

import numpy as np
import pytest

from core.abstention.drift import FALSE_ALARMS, FEWEST, drift

SHARES = r" ([\d.]+)% → ([\d.]+)% \(p = ([^)]+)\)"


def of_scores(found):
    """The p-value of the scores' distribution."""
    return float(re.search(r"Smirnov p = ([^,]+),", found.sentence)[1])


def shares(found, what):
    """The shares (%) of zeros or of missing scores, before and now, and their p-value."""
    return tuple(map(float, re.search(what + SHARES, found.sentence).groups()))


def p_values(found):
    return [of_scores(found), *(shares(found, what)[2] for what in ("zeros", "missing scores"))]


def doubts(rng, n, zeros=0.4, missing=0.0):
    found = np.where(rng.random(n) < zeros, 0, rng.beta(1.2, 1.6, n))
    found[rng.random(n) < missing] = np.nan
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m"), [(300, 100), (1000, 1000)])
@pytest.mark.parametrize(("zeros", "missing"), [(0, 0), (0.4, 0), (0.4, 0.3)])
def test_the_same_law_rarely_alarms(n, m, zeros, missing):
    """Each of the three tests at a third of 2 %, so that all together are at 2 % at most."""
    repetitions = 400
    found = []
    for i in range(repetitions):
        rng = np.random.default_rng((n, i))
        found.append(drift(doubts(rng, n, zeros, missing), doubts(rng, m, zeros, missing)))

    def most(share):
        return share + 3 * np.sqrt(share * (1 - share) / repetitions)

    for each in np.transpose([p_values(d) for d in found]):
        assert np.mean(each < FALSE_ALARMS / 3) <= most(FALSE_ALARMS / 3)
    assert np.mean([d.drifted for d in found]) <= most(FALSE_ALARMS)


def test_a_shift_is_found():
    rng = np.random.default_rng(0)
    found = drift(rng.random(1000), rng.random(1000) + 0.15)
    assert found.drifted
    assert of_scores(found) < 1e-6
    assert "they differ in the distribution of the scores (" in found.sentence
    assert "recalibrate" in found.sentence


def test_fewer_zeros_are_found():
    rng = np.random.default_rng(1)
    found = drift(doubts(rng, 500, 0.4), doubts(rng, 500, 0.2))
    assert found.drifted
    before, now, p = shares(found, "zeros")
    assert p < 1e-6
    assert before == pytest.approx(40, abs=7)
    assert now == pytest.approx(20, abs=6)
    assert "the scores and in the share of zeros (" in found.sentence


def test_a_share_that_differs_is_not_rounded_to_the_same():
    values = np.arange(4000.0)
    found = drift(values, np.append(values, np.full(18, np.nan)))
    assert found.drifted and shares(found, "missing scores")[:2] == (0, 0.447984)


@pytest.mark.parametrize("gap", [np.nan, np.inf])
def test_scores_that_are_missing_now_are_found(gap):
    """The others are the same: nothing else differs."""
    values = np.arange(100.0)
    found = drift(np.tile(values, 2), np.append(values, np.full(900, gap)))
    assert found.drifted
    assert p_values(found)[:2] == [1, 1]
    assert shares(found, "missing scores")[:2] == (0, 90)
    assert "they differ in the share of missing scores (" in found.sentence
    assert found.sentence.startswith("1,000 new rows, against 200 of the calibration: ")


def test_new_rows_that_all_miss_their_score_are_told_by_that_alone():
    found = drift(np.arange(200), np.full(50, np.nan))
    assert found.drifted and found.too_few
    assert shares(found, "missing scores")[:2] == (0, 100)
    assert "Smirnov" not in found.sentence and "zeros" not in found.sentence


def test_shares_by_hand():
    """Fisher's exact test of 0 of 3 against 3 of 3: two tables of twenty."""
    found = drift([1, 1, 1], [0, 0, -0.0])
    # Kolmogorov–Smirnov: all of one before all of the other, twice in twenty orders.
    assert of_scores(found) == 2 / 20
    assert shares(found, "zeros") == (0, 100, 2 / 20)
    assert shares(found, "missing scores") == (0, 0, 1)
    assert not found.drifted
    assert shares(drift([1, 1, 1], [np.inf, np.nan, np.inf]), "missing scores") == (0, 100, 2 / 20)


def test_gaps_do_not_touch_the_scores():
    rng = np.random.default_rng(2)
    old, new = doubts(rng, 200), doubts(rng, 150)
    gaps = np.full(80, np.nan)
    expected = p_values(drift(old, new))[:2]
    assert p_values(drift(np.append(gaps, old), np.append(new, gaps)))[:2] == expected


def test_a_confidence_without_end_is_a_score():
    """Its doubt is −∞, which every policy answers."""
    found = drift(np.zeros(100), np.full(100, -np.inf))
    assert of_scores(found) < 1e-6
    assert shares(found, "missing scores")[:2] == (0, 0)


def test_the_same_scores_show_nothing_and_prove_nothing():
    values = doubts(np.random.default_rng(3), 100)
    found = drift(values, values)
    assert (p_values(found), found.drifted, found.too_few) == ([1, 1, 1], False, False)
    assert "does not prove" in found.sentence
    few = drift(values, values[: FEWEST - 1])
    assert few.too_few and "too few" in few.sentence
    assert not drift(values, values[:FEWEST]).too_few


@pytest.mark.filterwarnings("error")
def test_large_tables_raise_no_warning():
    rng = np.random.default_rng(4)
    assert not drift(doubts(rng, 9973), doubts(rng, 9967)).drifted
    assert not drift(doubts(rng, 100_000), doubts(rng, 25)).drifted


@pytest.mark.parametrize(("old", "new"), [([], [1]), ([1], []), ([np.nan], [1])])
def test_nothing_to_compare(old, new):
    with pytest.raises(ValueError, match="no scores to compare"):
        drift(old, new)
