"""The paired bootstrap: weights stand for repeated rows, queries move together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.abstention import metrics
from core.abstention.blocks import all_blocks
from core.abstention.intervals import RankedRows, precision_at, rank_correlation, resamples
from core.abstention.resampled_measures import compare


@st.composite
def weighed(draw):
    n = draw(st.integers(1, 25))
    doubts = st.sampled_from([0.0, 0.5, 1.0, 2.0, np.inf, np.nan])
    columns = [doubts, st.booleans(), st.integers(0, 4)]
    return [np.array(draw(st.lists(c, min_size=n, max_size=n))) for c in columns]


def same(one, other):
    return one == pytest.approx(other, abs=1e-12, nan_ok=True)


@given(weighed())
def test_a_weight_stands_for_repeated_rows(data):
    doubts, correct, weights = data
    again = np.repeat(np.arange(len(doubts)), weights)
    ranked = RankedRows(doubts, correct)
    assert same(ranked.auroc(np.ones(len(doubts), int)), metrics.auroc(doubts, correct))
    assert same(ranked.auroc(weights), metrics.auroc(doubts[again], correct[again]))


@given(weighed())
def test_a_weight_stands_for_repeated_rows_by_every_measure(data):
    doubts, correct, weights = data
    again = np.repeat(np.arange(len(doubts)), weights)
    expected = metrics.measures(all_blocks(doubts[again], correct[again]))
    assert same(metrics.measures(RankedRows(doubts, correct).blocks(weights)), expected)


@given(weighed())
def test_precision_by_recall_is_the_curves_at_its_points(data):
    doubts, correct, weights = data
    again = np.repeat(np.arange(len(doubts)), weights)
    curve, ranked = metrics.curve(doubts[again], correct[again]), RankedRows(doubts, correct)
    if len(curve.doubts):
        found = precision_at(ranked.blocks(weights), curve.coverage)
        np.testing.assert_allclose(found, curve.precision, atol=1e-12)
        beyond = (curve.coverage[-1] + 1) / 2
        if beyond > curve.coverage[-1] + 1e-9:
            assert np.isnan(precision_at(ranked.blocks(weights), np.array([beyond])))


def test_precision_within_a_tie_is_that_of_any_so_many_of_it():
    # Two right ones at doubt 0; then four tied, two of them wrong; one has no score.
    doubts, correct = [0, 0, 1, 1, 1, 1, np.nan], [1, 1, 1, 0, 0, 1, 1]
    at = np.array([1, 2, 3, 4, 6, 7]) / 7
    found = precision_at(RankedRows(doubts, correct).blocks(np.ones(7, int)), at)
    np.testing.assert_allclose(found, [1, 1, 1 - 0.5 / 3, 1 - 1 / 4, 1 - 2 / 6, np.nan])


@pytest.mark.parametrize("clusters", [[], ["x"], list("abcde"), list("aabcbbba"), [3, 1, 3]])
def test_rows_of_one_query_move_together(clusters):
    drawn = list(resamples(clusters, 50)) if clusters else []
    assert len(drawn) == (50 if clusters else 0)
    for weights in drawn:
        of = dict(zip(clusters, weights, strict=True))
        assert [of[c] for c in clusters] == weights.tolist()
        assert sum(of.values()) == len(of)  # as many queries as there are


def test_resamples_can_be_repeated_and_are_fair():
    clusters = list("aabcc")
    drawn = np.array(list(resamples(clusters, 4000, seed=7)))
    np.testing.assert_array_equal(drawn, list(resamples(clusters, 4000, seed=7)))
    assert (drawn != list(resamples(clusters, 4000, seed=8))).any()
    # Every query is drawn once on average, with the variance of a multinomial, 1 − 1/3.
    np.testing.assert_allclose(drawn.mean(axis=0), 1, atol=0.05)
    np.testing.assert_allclose(drawn.var(axis=0), 2 / 3, atol=0.06)


def draw(rng, n, noise=1.0):
    """Two scores of the same answers: doubts are normal, and wrong ones higher by 1."""
    correct = rng.random(n) >= 0.4
    hard = rng.normal(size=n)  # common to both: what pairing cancels
    scores = {
        "fine": ~correct + hard + 0.5 * rng.normal(size=n),
        "noisy": ~correct + hard + noise * rng.normal(size=n),
    }
    return scores, dict.fromkeys(scores, correct)


def test_values_and_differences_are_those_of_the_rows():
    scores, correct = draw(np.random.default_rng(0), 300)
    found = compare(scores, correct, np.arange(300), "fine", number=200)
    plain = {name: metrics.auroc(scores[name], correct[name]) for name in scores}
    for name, interval in found.values.items():
        assert interval.value == pytest.approx(plain[name])
        assert interval.lower < interval.value < interval.upper
    assert list(found.differences) == ["noisy"]
    difference = found.differences["noisy"]
    assert difference.value == pytest.approx(plain["fine"] - plain["noisy"])
    assert difference.lower < difference.value < difference.upper
    # Paired: what is hard for both cancels.
    widths = [i.upper - i.lower for i in found.values.values()]
    assert difference.upper - difference.lower < min(widths)


def test_every_score_is_weighed_by_the_same_resamples():
    """So a score against itself, or against any rising function of itself, differs by 0."""
    scores, correct = draw(np.random.default_rng(1), 200)
    scores["again"], correct["again"] = scores["fine"].copy(), correct["fine"]
    scores["risen"], correct["risen"] = np.exp(scores["fine"]), correct["fine"]
    found = compare(scores, correct, np.arange(200), "fine", number=200)
    assert found.differences["again"] == found.differences["risen"]
    again = found.differences["again"]  # the same on these rows need not be the same on all
    assert again.value == 0 and again.lower == pytest.approx(-again.upper) and again.lower < 0
    assert found.values["again"] == found.values["fine"]


def test_copies_of_rows_are_no_evidence():
    """Ten copies of each row make the interval no narrower if they are one query's."""
    scores, correct = draw(np.random.default_rng(2), 100)
    ten = {name: np.tile(s, 10) for name, s in scores.items()}
    right = {name: np.tile(c, 10) for name, c in correct.items()}

    def width(*data):
        interval = compare(*data, "fine", number=400).values["fine"]
        return interval.upper - interval.lower

    alone = width(scores, correct, np.arange(100))
    assert width(ten, right, np.tile(np.arange(100), 10)) == pytest.approx(alone, rel=0.2)
    assert width(ten, right, np.arange(1000)) < alone / 2


def test_an_order_of_names_and_a_seed_settle_everything():
    scores, correct = draw(np.random.default_rng(3), 60)
    one = compare(scores, correct, np.arange(60), "fine", number=50)
    backwards = {name: scores[name] for name in reversed(scores)}
    assert compare(backwards, correct, np.arange(60), "fine", number=50) == one
    assert compare(scores, correct, np.arange(60), "fine", number=50, seed=1) != one


def test_one_class_has_no_interval():
    found = compare({"s": [1, 2, 3]}, {"s": [1, 1, 1]}, [1, 2, 3], "s", number=20)
    assert np.isnan(list(vars(found.values["s"]).values())).all()


def test_progress_is_told_and_may_cancel():
    told = []
    scores, correct = draw(np.random.default_rng(4), 30)
    compare(scores, correct, np.arange(30), "fine", number=200, progress=told.append)
    assert told == [0, 0.25, 0.5, 0.75]

    def cancel(share):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        compare(scores, correct, np.arange(30), "fine", progress=cancel)


@pytest.mark.slow
def test_the_interval_of_a_difference_covers_the_truth_about_as_often_as_it_says():
    """95 % intervals on 150 rows; the truth is Φ(1 / √(2 (1 + σ²))) for noise σ."""
    truth = stats.norm.cdf(1 / np.sqrt(2 * 1.25)) - stats.norm.cdf(1 / np.sqrt(2 * 2))
    repetitions, covered = 300, 0
    for i in range(repetitions):
        scores, correct = draw(np.random.default_rng(i), 150)
        compared = compare(scores, correct, np.arange(150), "fine", number=200, seed=i)
        found = compared.differences["noisy"]
        covered += found.lower <= truth <= found.upper
    # Three standard errors, and some for so few resamples and rows.
    assert covered / repetitions == pytest.approx(
        0.95, abs=3 * np.sqrt(0.0475 / repetitions) + 0.02
    )


# ------------------------------------------------------------------------ rank correlation


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=30))
def test_the_rank_correlation_is_scipys(pairs):
    x, y = np.array(pairs, float).T
    found = rank_correlation(x, y, number=20)
    if len({*x}) == 1 or len({*y}) == 1:
        assert np.isnan(found.value) and np.isnan(found.lower)
    else:
        assert found.value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


def test_a_monotone_relation_is_a_correlation_of_1_whatever_its_shape():
    x = np.arange(40.0)
    found = rank_correlation(x, np.exp(x))
    assert found.value == pytest.approx(1)
    assert np.isnan([found.lower, found.upper]).all()  # no resample says what else it could be
    assert rank_correlation(x, -np.sqrt(x)).value == pytest.approx(-1)


def test_what_sets_groups_apart_is_no_correlation_within_them():
    groups = np.repeat([0, 1, 2], 30)
    x, y = 10 * groups + np.random.default_rng(0).random((2, 90))
    assert rank_correlation(x, y).value > 0.8
    within = rank_correlation(x, y, groups=groups)
    assert within.lower < 0 < within.upper
    # Within each group they rise together, though the groups fall.
    x, y = np.tile(np.arange(30.0), 3), np.tile(np.arange(30.0), 3) - 100 * groups
    assert rank_correlation(x, y).value < 0.5
    assert rank_correlation(x, y, groups=groups).value == pytest.approx(1, abs=1e-3)
    alone = rank_correlation(x, y, groups=np.arange(90))
    assert np.isnan(alone.value)


@pytest.mark.slow
def test_its_interval_covers_the_truth_about_as_often_as_it_says():
    """Of normal pairs with correlation r, Spearman's is 6/π arcsin(r/2)."""
    r, repetitions = 0.5, 300
    truth = 6 / np.pi * np.arcsin(r / 2)
    covered = 0
    for i in range(repetitions):
        x, noise = np.random.default_rng(i).normal(size=(2, 100))
        found = rank_correlation(x, r * x + np.sqrt(1 - r**2) * noise, number=300, seed=i)
        covered += found.lower <= truth <= found.upper
    assert covered / repetitions == pytest.approx(
        0.95, abs=3 * np.sqrt(0.0475 / repetitions) + 0.02
    )
