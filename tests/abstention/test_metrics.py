"""Curves and areas against scikit-learn, brute force and examples worked out by hand."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from core.abstention import metrics, thresholds
from core.abstention.blocks import all_blocks


def seeded(seed, n=300):
    """Scores with ties, some missing, some infinite; larger ones are more often wrong."""
    rng = np.random.default_rng(seed)
    doubts = np.round(rng.random(n), int(rng.integers(1, 4)))
    correct = rng.random(n) >= rng.random() * doubts + 0.01
    doubts[rng.random(n) < 0.1 * rng.integers(0, 3)] = np.nan
    doubts[rng.random(n) < 0.05] = np.inf
    return doubts, correct


def augrc(scores, correct):
    return metrics.measures(all_blocks(scores, correct))[2]


def prr(scores, correct):
    return metrics.measures(all_blocks(scores, correct))[3]


@st.composite
def small(draw, largest=6):
    n = draw(st.integers(1, largest))
    doubts = draw(st.lists(st.sampled_from([0.0, 1.0, 2.0, np.nan]), min_size=n, max_size=n))
    return np.array(doubts), np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))


def test_auroc_is_scikit_learns():
    for seed in range(100):
        doubts, correct = seeded(seed)
        finite = np.where(doubts < np.inf, doubts, 1e9)  # missing and infinite are the largest
        expected = roc_auc_score(~correct, finite)
        assert metrics.auroc(doubts, correct) == pytest.approx(expected, abs=1e-12)
        pairs = finite[~correct][:, None] == finite[correct]
        assert metrics.share_of_ties(doubts, correct) == pytest.approx(pairs.mean())


@given(small(), st.lists(st.sampled_from([-np.inf, 0.0, 0.5, 1.0, 1.5, 2.0, np.inf]), max_size=5))
def test_what_lies_below_a_threshold_is_what_it_answers(rows, places):
    doubts, correct = rows
    answered, errors = metrics.curve(doubts, correct).below(np.array(places))
    for place, *counts in zip(places, answered, errors, strict=True):
        at = thresholds.at_threshold(doubts, correct, place)
        assert counts == [at.answered, at.errors]


@pytest.mark.parametrize("correct", [[], [True], [True] * 3, [False] * 3])
def test_auroc_of_one_class_is_no_number(correct):
    assert np.isnan(metrics.auroc(np.arange(len(correct)), correct))


def aurc_of_order(correct):
    errors = np.cumsum(~np.asarray(correct, bool))
    return np.mean(errors / np.arange(1, len(errors) + 1))


@given(small())
def test_aurc_is_the_mean_over_all_orders_of_tied_rows(data):
    doubts, correct = data
    rank = np.where(np.isnan(doubts), np.inf, doubts)
    orders = [
        correct[list(order)]
        for order in itertools.permutations(range(len(rank)))
        if (np.diff(np.searchsorted(np.unique(rank), rank[list(order)])) >= 0).all()
    ]
    expected = np.mean([aurc_of_order(order) for order in orders])
    assert metrics.aurc(doubts, correct) == pytest.approx(expected, abs=1e-12)


@given(small(12))
def test_augrc_is_what_auroc_and_accuracy_make_it(rows):
    """Equation 5 of Traub et al.: (1 − AUROC)·acc·(1 − acc) + (1 − acc)²/2."""
    doubts, correct = rows
    accuracy = correct.mean()
    area = metrics.auroc(doubts, correct) if 0 < accuracy < 1 else 0.0
    expected = (1 - area) * accuracy * (1 - accuracy) + (1 - accuracy) ** 2 / 2
    assert augrc(doubts, correct) == pytest.approx(expected, abs=1e-12)


def test_augrc_by_hand():
    # Wrong is the second of four: from a half on, a quarter of all is answered and wrong.
    assert augrc([1, 2, 3, 4], [1, 0, 1, 1]) == pytest.approx((1 / 8 + 1 / 4 + 1 / 4) / 4)
    # All tied: a straight line from nothing to the two wrong ones of four.
    assert augrc([7] * 4, [1, 0, 0, 1]) == pytest.approx(1 / 4)
    assert augrc([1, 2], [1, 1]) == 0 and np.isnan(augrc([], []))


def share_right(correct):
    """The mean precision over answering the 1, 2, … n first."""
    return np.mean(np.cumsum(correct) / np.arange(1, len(correct) + 1))


@given(st.lists(st.booleans(), min_size=2, max_size=12))
def test_prr_is_how_far_it_goes_from_a_random_order_to_the_best(correct):
    found = prr(np.arange(len(correct)), correct)
    best, random = share_right(sorted(correct, reverse=True)), np.mean(correct)
    if len(set(correct)) == 1:
        assert np.isnan(found)
    else:
        assert found == pytest.approx((share_right(correct) - random) / (best - random))


def test_prr_by_hand():
    assert prr([1, 2, 3], [1, 1, 0]) == pytest.approx(1)
    # Precisions 1, 1/2, 2/3 have the mean 13/18; at best 8/9; by chance 2/3.
    assert prr([1, 2, 3], [1, 0, 1]) == pytest.approx((13 / 18 - 2 / 3) / (8 / 9 - 2 / 3))
    assert prr([7] * 5, [1, 0, 0, 1, 1]) == pytest.approx(0, abs=1e-12)
    assert np.isnan(prr([], []))


def test_aurc_by_hand():
    assert metrics.aurc([1, 2, 3], [1, 0, 1]) == pytest.approx((0 + 1 / 2 + 1 / 3) / 3)
    # All tied: whatever is answered, as many are wrong as of all.
    assert metrics.aurc([7] * 4, [1, 0, 0, 1]) == pytest.approx(0.5)
    assert np.isnan(metrics.aurc([], []))


def test_curve_by_hand():
    curve = metrics.curve([0, 0.5, 0, np.nan, 2, np.inf], [1, 0, 1, 1, 1, 0])
    np.testing.assert_array_equal(curve.doubts, [0, 0.5, 2])
    np.testing.assert_array_equal(curve.answered, [2, 3, 4])  # it begins with both zeros
    np.testing.assert_allclose(curve.coverage, [2 / 6, 3 / 6, 4 / 6])
    np.testing.assert_allclose(curve.selective_error, [0, 1 / 3, 1 / 4])
    np.testing.assert_allclose(curve.precision, [1, 2 / 3, 3 / 4])


def test_a_curve_without_a_point():
    curve = metrics.curve([np.nan], [1])
    assert len(curve.coverage) == len(curve.selective_error) == len(curve.band()[0]) == 0
    assert len(curve.outline(10).doubts) == 0


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
def test_the_band_is_scipys_exact_interval(confidence):
    curve = metrics.curve(*seeded(3, 120))
    extremes = metrics.Curve(
        np.arange(4.0), np.array([1, 1, 50, 50]), np.array([0, 1, 0, 50]), queries=50
    )
    for each in (curve, extremes):
        lower, upper = each.band(confidence)
        for i, (k, m) in enumerate(zip(each.errors, each.answered, strict=True)):
            exact = stats.binomtest(int(k), int(m)).proportion_ci(confidence, "exact")
            assert (lower[i], upper[i]) == pytest.approx((exact.low, exact.high), abs=1e-9)


@pytest.mark.parametrize("points", [2, 3, 50, 400])
def test_a_thinned_curve_keeps_its_ends_and_invents_nothing(points):
    rng = np.random.default_rng(0)
    doubts = np.where(rng.random(5000) < 0.4, 0, rng.random(5000))
    curve = metrics.curve(doubts, rng.random(5000) >= doubts)
    thin = curve.outline(points)
    assert 2 <= len(thin.doubts) <= points
    at = np.searchsorted(curve.doubts, thin.doubts)
    assert (at[0], at[-1]) == (0, len(curve.doubts) - 1)
    for kept, whole in ((thin.answered, curve.answered), (thin.errors, curve.errors)):
        np.testing.assert_array_equal(kept, whole[at])
    # Evenly spread: no gap is much wider than its share.
    assert np.diff(thin.answered).max() <= 3000 / (points - 1) + 2
    short = metrics.curve([1, 2], [1, 0])
    assert short.outline(points) is short


def test_by_kind_by_hand():
    bins = metrics.by_kind(
        ["b", "a", "b", "b", "a", "c"], [0, 1, 2, np.nan, 0, 5], [0, 1, 1, 0, 1, 1], 2
    )
    assert [(b.name, b.queries, b.answered, b.errors) for b in bins] == [
        ("a", 2, 2, 0),
        ("b", 3, 1, 1),
        ("c", 1, 0, 0),
    ]
    assert (bins[0].recall, bins[0].error) == (1, 0)
    assert (bins[1].recall, bins[1].error) == (1 / 3, 1)
    assert np.isnan(bins[2].error)
    rows = ["b", "a", "b"], [0, 1, 5], [0, 1, 1]
    both = metrics.by_kind(*rows, 2, [1, 0, 0])  # by another label, too
    assert [(b.errors, b.other_errors) for b in both] == [(0, 1), (1, 0)]
    assert metrics.by_kind([], [], [], 1) == []


def test_an_infinite_threshold_answers_every_finite_doubt():
    (only,) = metrics.by_kind(["x"] * 3, [1e300, np.nan, np.inf], [1, 1, 1], np.inf)
    assert (only.queries, only.answered) == (3, 1)


def test_by_entropy_by_hand():
    entropies = [0, 0.4999, 0.5, 1.0, 1.9, 2.0, 5.0, np.nan]
    bins = metrics.by_entropy(entropies, [0, 3, 0, 0, 0, 0, 3, 0], [1, 1, 0, 1, 1, 0, 1, 1], 1)
    assert [(b.name, b.queries, b.answered, b.errors) for b in bins] == [
        ("below 0.5", 2, 1, 0),
        ("0.5 to 1.0", 1, 1, 1),
        ("1.0 to 1.5", 1, 1, 0),
        ("1.5 to 2.0", 1, 1, 0),
        ("2.0 or more", 2, 1, 1),
    ]
    assert metrics.by_entropy([np.nan], [0], [1], 1) == []  # no empty bin is shown
