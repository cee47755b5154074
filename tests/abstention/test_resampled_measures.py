"""All measures and curves in one pass: the same numbers as one at a time, and none invented."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.abstention import bayesian_bootstrap, intervals, metrics, resampled_measures
from core.abstention.blocks import all_blocks
from core.abstention.intervals import resamples
from core.abstention.resampled_measures import resample

NOWHERE = np.zeros(0)


@pytest.fixture(autouse=True)
def percentiles(monkeypatch):
    """Few rows are enough here: what is done with too few has tests of its own."""
    monkeypatch.setattr(resampled_measures, "ENOUGH", 0)


def drawn(scores, correct, clusters=None, *, number=0, recalls=NOWHERE):
    rows = np.arange(len(next(iter(scores.values())))) if clusters is None else clusters
    return resample(scores, correct, rows, dict.fromkeys(scores, recalls), number=number)


def both(n, seed=0, ties=3):
    """Two scores of some rows, many of them tied, with labels of their own."""
    rng = np.random.default_rng(seed)
    scores = {name: rng.integers(ties, size=n) / 1.0 for name in "ab"}
    scores["b"][rng.random(n) < 0.2] = np.nan
    return scores, {name: rng.random(n) < 0.6 for name in "ab"}


rows = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 1.0, 2.5, math.inf, math.nan]), st.booleans()),
    min_size=1,
    max_size=30,
)


@given(rows)
def test_measures_are_those_of_metrics(found):
    scores, correct = (np.array(column) for column in zip(*found, strict=True))
    made = drawn({"a": scores}, {"a": correct})
    values = [made.interval("a", measure).value for measure in metrics.MEASURES]
    expected = metrics.measures(all_blocks(scores, correct))
    assert values == pytest.approx(expected, nan_ok=True, abs=1e-12)


@pytest.mark.parametrize("measure", metrics.MEASURES)
@pytest.mark.parametrize("repeated", [False, True])
def test_resamples_are_those_of_the_paired_bootstrap(measure, repeated):
    scores, correct = both(80)
    clusters = np.arange(80) // (3 if repeated else 1)
    everything = np.ones(80, int), *intervals.resamples(clusters, 40)
    at = metrics.MEASURES.index(measure)
    one_by_one = {
        name: np.array(
            [
                metrics.measures(intervals.RankedRows(scores[name], correct[name]).blocks(w))[at]
                for w in everything
            ]
        )
        for name in "ab"
    }
    all_at_once = drawn(scores, correct, clusters, number=40)
    for name, (value, *values) in one_by_one.items():
        same(intervals.interval(value, values), all_at_once.interval(name, measure))
    value, *values = one_by_one["a"] - one_by_one["b"]
    same(intervals.interval(value, values), all_at_once.difference("a", "b", measure))


def same(one, other):
    found = [(each.value, each.lower, each.upper) for each in (one, other)]
    assert found[0] == pytest.approx(found[1], abs=1e-12)


@pytest.mark.filterwarnings("ignore:All-NaN slice")  # no resample answers all
def test_a_band_is_of_the_resamples_that_answer_so_many():
    scores, correct = both(60, ties=9)
    recalls = np.linspace(0.05, 1, 20)
    made = drawn(scores, correct, number=50, recalls=recalls)
    for name in "ab":
        by_itself = [
            precision(scores[name][rows], correct[name][rows], recalls) for rows in redrawn(60, 50)
        ]
        lower, upper = np.nanquantile(by_itself, [0.025, 0.975], axis=0)
        band = made.band(name)
        np.testing.assert_allclose(band.precision, precision(scores[name], correct[name], recalls))
        np.testing.assert_allclose(band.lower, lower)
        np.testing.assert_allclose(band.upper, upper)


def redrawn(n, number):
    """The rows of every resample, repeated as often as they were drawn."""
    return [np.repeat(np.arange(n), weights) for weights in resamples(np.arange(n), number)]


def precision(scores, correct, recalls):
    """The precision at some recalls, row by row: tied rows share their right answers."""
    answered = []  # the expected right answers among the first 0, 1, 2, … rows
    for doubt in np.unique(scores[~np.isnan(scores)]):
        tied = correct[scores == doubt]
        answered += [tied.mean()] * len(tied)
    right, many = np.append(0, np.cumsum(answered)), recalls * len(scores)
    return np.interp(many, np.arange(len(right)), right, right=np.nan) / many


def test_a_band_covers_the_precision_of_the_model_it_was_drawn_from():
    """Answers are right with probability 1 − doubt; at recall r the precision is 1 − r/2."""
    inside, rng = [], np.random.default_rng(3)
    for _ in range(60):
        doubts = rng.random(200)
        correct = rng.random(200) >= doubts
        recalls = np.array([0.5, 1.0])
        band = drawn({"a": doubts}, {"a": correct}, number=200, recalls=recalls).band("a")
        inside.append((band.lower <= [0.75, 0.5]) & (band.upper >= [0.75, 0.5]))
        assert (band.lower <= band.precision).all() and (band.precision <= band.upper).all()
    # 95 % each; 60 trials stay above 51 with a probability of more than .998.
    assert (np.sum(inside, axis=0) >= 51).all()


def test_rows_of_one_query_move_together_in_a_band():
    recalls = np.array([0.5, 1.0])
    band = drawn({"a": [1, 2]}, {"a": [1, 0]}, ["q", "q"], number=20, recalls=recalls).band("a")
    # One query has been seen: that of two rows, of which one is right, says nothing of others.
    np.testing.assert_allclose([band.lower, band.upper], [[0.025, np.nan], [1, np.nan]])


def test_a_band_is_nowhere_where_no_threshold_answers_so_many():
    made = drawn({"a": [np.nan, 1]}, {"a": [1, 1]}, number=20, recalls=np.array([1.0]))
    assert np.isnan(made.band("a").precision).all()
    assert made.band("a").upper[0] == 1  # where only the second was drawn


def test_without_resamples_there_are_values_and_nothing_else():
    made = drawn(*both(40), recalls=np.array([0.5]))
    found = made.interval("a", "aurc")
    assert math.isfinite(found.value) and math.isnan(found.lower) and math.isnan(found.upper)
    assert math.isnan(made.p_value("a", "b", "aurc")) and made.number == 0
    assert np.isnan(made.band("a").lower).all() and np.isfinite(made.band("a").precision).all()


def test_no_rows_have_no_measures():
    made = drawn({"a": np.zeros(0)}, {"a": np.zeros(0, bool)}, number=0)
    assert all(math.isnan(made.interval("a", measure).value) for measure in metrics.MEASURES)


def test_a_p_value_counts_the_resamples_on_the_other_side():
    """By hand: of nine resamples two are on the other side, and one is at none."""
    made = drawn(*both(40), number=9)
    at = metrics.MEASURES.index("aurc")
    made.values[:, at] = 0.5, 0.2
    made.least[:, 0, at] = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.1, 0.1, 0.2]
    made.least[:, 1, at] = 0.2
    assert made.p_value("a", "b", "aurc") == pytest.approx(2 * (3 + 1) / 10)
    assert made.p_value("b", "a", "aurc") == made.p_value("a", "b", "aurc")
    assert made.p_value("a", "a", "aurc") == 1.0


def test_equal_scores_are_found_different_no_oftener_than_promised():
    """A hundred samples of two equally good scores: at the level .1, about ten are called so."""
    called = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        right = rng.random(60) < 0.6
        scores = {name: rng.normal(size=60) - right for name in "ab"}
        made = drawn(scores, dict.fromkeys("ab", right), number=99)
        called += made.p_value("a", "b", "auroc") <= 0.1
    assert called <= 19  # P(Bin(100, .1) > 19) = .002


def test_shapes_must_agree():
    with pytest.raises(ValueError, match="Give 3 scores"):
        resample({"a": [1.0, 2.0]}, {"a": [1, 0]}, [1, 2, 3], {"a": NOWHERE})


def test_a_perfect_order_of_few_rows_is_not_certain():
    """Eight right and eight wrong, perfectly parted; another score says the same of all."""
    rows, correct = np.arange(16), np.arange(16) < 8
    scores, eighth = {"best": rows, "same": np.zeros(16)}, np.array([0.125])
    found = resample(scores, dict.fromkeys(scores, correct), rows, dict.fromkeys(scores, eighth))
    reach = 0.025 ** (1 / 8)
    assert found.interval("best", "auroc").lower == pytest.approx(reach)
    assert found.interval("best", "auroc").upper == 1
    same = found.interval("same", "auroc")
    assert (same.lower, same.upper) == pytest.approx((reach / 2, 1 - reach / 2))
    assert math.isnan(found.interval("best", "prr").lower)  # nothing exact is known of it
    apart = found.difference("best", "same", "auroc")
    assert (apart.lower, apart.upper) == pytest.approx((1.5 * reach - 1, 1 - 0.5 * reach))
    assert found.p_value("best", "same", "auroc") == pytest.approx(2 * 1.5**-8)
    band = found.band("best")
    assert band.lower[0] == pytest.approx(0.025 ** (1 / 2)) and band.upper[0] == 1


@pytest.mark.parametrize("number", [10, 17, 40])
def test_a_perfect_order_excludes_the_truth_no_oftener_than_promised(number):
    """Wrong answers are doubted more than right ones with probability .8, else less."""
    doubts = np.random.default_rng(5).random((20_000, number)) < 0.8
    lower, _ = intervals.limits_of_constant(1.0, intervals.SHARE, number, 0.025)
    missed = doubts.all(axis=1).mean() if lower > 0.8 else 0.0
    assert missed <= 0.025  # an interval of 1 to 1 would miss in .107 of the samples of 10


# ------------------------------------------------------------------------------- few rows


def of_few(doubts, correct, number=400):
    return drawn({"a": doubts}, {"a": correct}, number=number)


def test_few_rows_have_exact_limits(monkeypatch):
    """Three wrong answers, each above all right ones: Clopper and Pearson's limit is .025^(1/3)."""
    monkeypatch.setattr(resampled_measures, "ENOUGH", bayesian_bootstrap.ENOUGH)
    doubts = np.append(np.linspace(0, 1, 500), [2, 3, 4])
    auroc = of_few(doubts, doubts < 2, number=1500).interval("a", "auroc")
    assert auroc.lower == pytest.approx(0.025 ** (1 / 3), abs=0.04)
    assert auroc.value == auroc.upper == 1
    right = of_few(np.linspace(0, 1, 40), np.ones(40, bool), number=1500)
    augrc = right.interval("a", "augrc")  # no wrong answer among 40: at most w²/2 + w (1 − w)
    most = 1 - 0.025 ** (1 / 40)
    assert (augrc.lower, augrc.value) == (0, 0)
    assert augrc.upper == pytest.approx(most - most**2 / 2, rel=0.2)
    assert math.isnan(right.interval("a", "auroc").lower)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("apart", "sure", "n", "wrong"),
    [(2.0, 0.0, 33, 0.09), (3.0, 0.0, 33, 0.09), (5.0, 0.1, 120, 0.15), (5.0, 0.1, 600, 0.18)],
)
def test_intervals_near_the_edge_hold_as_often_as_they_say(monkeypatch, apart, sure, n, wrong):
    """Wrong answers are doubted more by so much; a share of them is the surest of all.

    The percentiles of the bootstrap hold in .66 and .82 (AUROC, AURC) of the first samples.
    """
    monkeypatch.setattr(resampled_measures, "ENOUGH", bayesian_bootstrap.ENOUGH)
    rng = np.random.default_rng(7)

    def sample(number):
        is_wrong = rng.random(number) < wrong
        is_sure = is_wrong & (rng.random(number) < sure)
        return rng.normal(size=number) + apart * is_wrong - 2 * apart * is_sure, ~is_wrong

    truth = of_few(*sample(300_000), number=0)
    held, trials = dict.fromkeys(metrics.MEASURES, 0), 200
    for _ in range(trials):
        doubts, correct = sample(n)
        if correct.all():
            trials -= 1
            continue
        made = of_few(doubts, correct, number=250)
        for measure in held:
            found = made.interval("a", measure)
            held[measure] += found.lower <= truth.interval("a", measure).value <= found.upper
    assert min(held.values()) >= 0.91 * trials  # 250 resamples, and three errors of 200 trials
