"""The paper's estimators against its example, its listing, hand-made tables and theory."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.uncertainty.chance import adjustment_of_counts
from core.uncertainty.clustering import aggregate, cluster
from core.uncertainty.joint import from_table
from core.uncertainty.logarithms import entropy
from core.uncertainty.mutual_information import from_conditionals, from_counts, from_tuples
from core.uncertainty.similarity import pairwise

LISTING = json.loads((Path(__file__).parent / "data" / "estimator_listing.json").read_text())
LIKELIHOODS = st.floats(-2000, 0) | st.floats(-5, 0)


@st.composite
def conditionals(draw):
    m = draw(st.integers(1, 6))
    return draw(arrays(float, m, elements=LIKELIHOODS)), draw(
        arrays(float, (m, m), elements=LIKELIHOODS)
    )


@st.composite
def weighted_tuples(draw):
    n = draw(st.integers(2, 5))
    one = st.tuples(*[st.integers(0, 3)] * n)
    tuples = draw(st.lists(one, min_size=1, max_size=20, unique=True))
    return tuples, draw(arrays(float, len(tuples), elements=LIKELIHOODS))


def entropy_of(probabilities):
    with np.errstate(divide="ignore"):
        return float(entropy(np.log(probabilities)))


# ---- Algorithm 3 ----


def test_the_appendix_example():
    """What the paper prints for "What is the capital of the UK?"; some digits rounded down."""
    labels = cluster(pairwise(["London", "London, UK", "Paris", "Berlin"]), 0.25)
    marginal = aggregate(np.log([0.5, 0.2, 0.1, 0.05]), labels)
    after_london = aggregate(np.log([0.6, 0.15, 0.05, 0.04]), labels)
    np.testing.assert_allclose(np.exp(marginal), [0.7, 0.1, 0.05])
    np.testing.assert_allclose(np.exp(after_london), [0.75, 0.05, 0.04])
    assert np.exp(after_london).sum() == pytest.approx(0.84)  # Z_1

    # The paper omits the other two rows; any will do for what it prints.
    result = from_conditionals(marginal, [after_london, after_london, after_london])
    assert np.exp(result.log_mass) == pytest.approx(0.85)  # Z
    np.testing.assert_allclose(result.joint.sum(axis=1), [0.82, 0.11, 0.05], atol=0.01)
    row = result.joint[0] / result.joint[0].sum()
    np.testing.assert_allclose(row, [0.89, 0.06, 0.04], atol=0.01)
    assert result.value == 0  # equal rows: the second answer does not care about the first


def test_algorithm_3_by_hand():
    marginal, rows = np.array([0.6, 0.2]), np.array([[0.4, 0.1], [0.2, 0.6]])
    joint = np.array([[0.75 * 0.8, 0.75 * 0.2], [0.25 * 0.25, 0.25 * 0.75]])
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    for gammas in [(0, 0), (0.1, 0.1), (0.01, 0.2)]:
        result = from_conditionals(
            np.log(marginal), np.log(rows), gamma_1=gammas[0], gamma_2=gammas[1]
        )
        terms = joint * np.log((joint + gammas[0]) / (product + gammas[1]))
        np.testing.assert_allclose(result.joint, joint)
        np.testing.assert_allclose(result.product, product)
        np.testing.assert_allclose(result.contributions, terms, atol=1e-15)
        assert result.value == pytest.approx(terms.sum(), abs=1e-14)
        assert np.exp(result.log_mass) == pytest.approx(0.8)
        assert result.correction == 0
    assert result.value < 0  # γ may make it negative, and nothing is clamped


def test_likelihoods_of_e_to_the_minus_2000():
    marginal, rows = np.log([0.6, 0.3]), np.log([[0.7, 0.2], [0.1, 0.8]])
    near, far = from_conditionals(marginal, rows), from_conditionals(marginal - 2000, rows - 2000)
    assert far.value == pytest.approx(near.value, abs=1e-11)
    assert far.log_mass == pytest.approx(near.log_mass - 2000)
    # And within one row: the answer that is never repeated adds nothing, not NaN.
    assert from_conditionals([-1, -1], [[-1, -2000], [-2000, -1]]).value == pytest.approx(np.log(2))


@given(conditionals())
def test_algorithm_3_is_the_exact_value_of_its_table(case):
    """With it, the bounds of `test_joint.py`."""
    result = from_conditionals(*case)
    with np.errstate(divide="ignore"):
        table = np.minimum(np.log(result.joint), 0)
    assert result.value >= 0
    assert result.value == pytest.approx(from_table(table).value, abs=1e-10)


# ---- Algorithm 1 ----


@pytest.mark.parametrize(
    "case", LISTING["cases"], ids=lambda c: f"{c['temperature']}-{c['n']}-{c['k']}"
)
@pytest.mark.parametrize("form", [np.array, lambda rows: [tuple(map(str, row)) for row in rows]])
def test_the_published_listing(case, form):
    result = from_tuples(
        form(case["tuples"]),
        np.log(case["probabilities"]),
        gamma_1=case["gamma"],
        gamma_2=case["gamma"],
    )
    assert result.value == pytest.approx(case["estimate"], abs=1e-9)


@pytest.mark.parametrize("run", LISTING["exact"], ids=lambda r: f"{r['temperature']}-{r['n']}")
def test_the_exact_values_of_the_listing(run):
    """Proportional to exp(+ mean of x_i x_j / temperature), whatever the listing's title says."""
    n, temperature = run["n"], run["temperature"]
    space = list(itertools.product([-1, 1], repeat=n))
    potential = [np.mean([x * y for x, y in itertools.combinations(z, 2)]) for z in space]
    log_p = np.array(potential) / temperature
    log_p -= np.logaddexp.reduce(log_p)
    assert from_table(log_p.reshape((2,) * n)).value == pytest.approx(run["exact"], abs=1e-9)
    assert from_tuples(space, log_p).value == pytest.approx(run["exact"], abs=1e-9)


def test_algorithm_1_by_hand():
    result = from_tuples(
        [("x", "x"), ("x", "y"), ("x", "x"), ("y", "y")], np.log([0.4, 0.1, 0.4, 0.3])
    )
    np.testing.assert_allclose(result.joint, [0.5, 0.125, 0.375])
    np.testing.assert_allclose(result.product, [0.625 * 0.5, 0.625 * 0.5, 0.375 * 0.5])
    expected = result.joint * np.log(result.joint / result.product)
    np.testing.assert_allclose(result.contributions, expected)
    assert np.exp(result.log_mass) == pytest.approx(0.8)


@given(weighted_tuples())
def test_algorithm_1_is_the_exact_value_of_a_table_of_its_tuples(case):
    """With it, the bounds of `test_joint.py`; and what underflows adds nothing, not NaN."""
    tuples, log_p = case
    table = np.full((4,) * len(tuples[0]), -np.inf)
    table[tuple(np.transpose(tuples))] = log_p
    found = from_tuples(tuples, log_p).value
    assert found >= 0
    assert found == pytest.approx(from_table(table).value, abs=1e-10)


# ---- Counts ----


def test_counts_by_hand():
    first, second = np.array([3, 1]), np.array([[20, 10], [0, 10]])
    result = from_counts(first, second)
    joint = np.array([[0.5, 0.25], [0, 0.25]])
    h = entropy_of
    plug_in = h(np.array([0.75, 0.25])) + h(np.array([0.5, 0.5])) - h(joint.ravel())
    np.testing.assert_allclose(result.joint, joint)
    assert result.plug_in == pytest.approx(plug_in)
    assert result.correction == adjustment_of_counts(first / 4, second)
    assert result.value == pytest.approx(plug_in + result.correction)
    assert result.log_mass == pytest.approx(np.log(4))


def test_answers_that_follow_from_what_was_told_keep_all_of_their_information():
    result = from_counts([1, 1, 2], np.diag([30, 30, 30]))
    assert result.value == pytest.approx(entropy_of(np.array([0.25, 0.25, 0.5])))


@pytest.mark.parametrize("second", [[[7]], [[30, 0]], [[10, 20]], [[1, 0], [0, 1]]])
def test_where_nothing_can_tell_dependence_from_chance_the_information_is_0(second):
    """One answer only; one told answer only; one second answer after each."""
    assert from_counts([1] * len(second), second).value == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("first", [[1] * 10, [31, 12, 3, 1, 1, 1, 1, 1, 1, 1]])
@pytest.mark.parametrize("answers", [3, 30, 100])
def test_a_model_that_knows_many_answers_is_centred_on_0(answers, first):
    """Ten told answers, 12 second ones after each, 300 times.

    The mean of so many is within 0.0035 of what it estimates in two of three experiments.
    """
    rng = np.random.default_rng(1)
    shares = 1 / np.arange(2.0, answers + 2)
    rows = rng.multinomial(12, shares / shares.sum(), size=(300, 10))
    values = [from_counts(first, table).value for table in rows]
    assert abs(np.mean(values)) < 0.01


def test_a_rarely_told_answer_that_changes_everything_is_not_taken_for_chance():
    """London after three of four told answers, and thirty others after the fourth."""
    second = np.zeros((4, 31))
    second[:3, 0], second[3, 1:] = 30, 1
    assert from_counts([3, 3, 3, 1], second).value > 0.1


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=5).flatmap(
        lambda first: st.tuples(
            st.just(first),
            arrays(np.int64, (len(first), 4), elements=st.integers(0, 30)).filter(
                lambda table: (table.sum(axis=1) > 0).all()
            ),
        )
    )
)
def test_adjusted_information_keeps_its_bounds_and_no_order_matters(counts):
    first, second = np.array(counts[0]), counts[1]
    result = from_counts(first, second)
    most = entropy_of(result.joint.sum(axis=0))
    assert -np.log(4) - 1e-9 <= result.value <= most + 1e-9
    other = from_counts(first[::-1] * 2, second[::-1, ::-1])
    assert other.value == pytest.approx(result.value, abs=1e-9)


def test_a_first_answer_that_never_came_weighs_nothing():
    with_it = from_counts([3, 0, 1], [[20, 10], [0, 0], [5, 10]])
    without = from_counts([3, 1], [[20, 10], [5, 10]])
    assert with_it.value == pytest.approx(without.value, abs=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "strength", "part_left"),  # of the bias
    [
        ([1, 1, 1, 1], 0.0, 0.05),
        ([17, 1, 1, 1], 0.0, 0.05),
        ([1, 1, 1, 1], 0.4, 0.33),
        ([12, 4, 2, 2], 0.4, 0.33),
    ],
)
def test_the_correction_takes_most_of_the_bias_away(first, strength, part_left):
    """30 second answers a row, with equal weights and with unequal ones; 4,000 samples.

    What is estimated without a correction varies, and takes no time; the correction takes most of
    it and varies little, so that 300 of them tell its mean as well.
    """
    rng = np.random.default_rng(7)
    weights = np.array(first) / sum(first)
    rows = (1 - strength) * np.array([0.4, 0.3, 0.2, 0.1]) + strength * np.eye(4)
    truth = from_table(np.log(weights[:, None] * rows)).value
    drawn = rng.multinomial(30, rows, size=(4000, 4))
    with np.errstate(divide="ignore"):
        joints = np.log(weights[:, None] * drawn / 30)
    plug_in_bias = np.mean([from_table(joint).value for joint in joints]) - truth
    assert plug_in_bias > 0.01
    samples = [from_counts(first, table) for table in drawn[:300]]
    corrected_bias = plug_in_bias + np.mean([sample.correction for sample in samples])
    assert abs(corrected_bias) < part_left * plug_in_bias
    assert strength > 0 or min(sample.value for sample in samples) < 0  # never clamped


# ---- Bad input ----


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: from_conditionals([np.nan], [[-1]]), "NaN"),
        (lambda: from_conditionals([-1], [[np.nan]]), "NaN"),
        (lambda: from_conditionals([-1, -1], [[-1, -1]]), r"shape \(2, 2\), not \(1, 2\)"),
        (lambda: from_conditionals([-np.inf], [[-1]]), "log_marginal cannot be normalised"),
        (lambda: from_conditionals([-1], [[-np.inf]]), "in one row is 0"),
        (lambda: from_conditionals([np.inf], [[-1]]), "at most 0"),
        (lambda: from_conditionals([[-1]], [[-1]]), r"must have 1 dimension\(s\), not 2"),
        (lambda: from_conditionals([-1], [[-1]], gamma_1=-0.1), "gamma_1 is -0.1"),
        (lambda: from_conditionals([-1], [[-1]], gamma_2=np.nan), "gamma_2 is nan"),
        (lambda: from_tuples(np.empty((0, 2), dtype=int), []), "at least one tuple"),
        (lambda: from_tuples([(0, 1)], [-1, -1]), r"must have shape \(1,\)"),
        (lambda: from_tuples([(0, 1), (0, 1)], [-1, -2]), "two different probabilities"),
        (lambda: from_tuples([(0, 1)], [-np.inf]), "cannot be normalised"),
        (lambda: from_tuples([(0, 1)], [0.1]), "at most 0"),
        (lambda: from_counts([0], [[1]]), "all 0"),
        (lambda: from_counts([1, 1], [[1, 0], [0, 0]]), "no second answers"),
        (lambda: from_counts([0.5], [[1]]), "give counts, not shares"),
        (lambda: from_counts([1], [[-1]]), "at least 0"),
        (lambda: from_counts([1, 1], [[1]]), r"must have shape \(2, 1\)"),
        (lambda: from_counts([np.nan], [[1]]), "NaN"),
    ],
)
def test_bad_input_says_how_to_mend_it(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_float_error_above_zero_is_tolerated():
    assert from_conditionals([1e-9], [[1e-9]]).value == 0


def test_repeats_scored_in_different_batches_are_the_same_tuple():
    assert len(from_tuples([(0, 1), (1, 0), (0, 1)], [-1.0, -2.0, -1.000003]).joint) == 2
    assert len(from_tuples([(0, 1), (1, 0), (0, 1)], [-np.inf, -2.0, -np.inf]).joint) == 2
