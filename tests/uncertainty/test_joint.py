"""The information of whole tables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.uncertainty.joint import from_table
from core.uncertainty.logarithms import entropy


@st.composite
def tables(draw, most=4):
    """Log probabilities with likelihoods from 1 down to e^-50, and zeros; never all zero."""
    sides = draw(st.lists(st.integers(1, 4), min_size=2, max_size=most))
    table = draw(arrays(float, tuple(sides), elements=st.floats(-50, 0) | st.just(-np.inf)))
    table.flat[0] = -1.0
    return table


def marginal_entropies(joint):
    axes = range(joint.ndim)
    marginals = [joint.sum(axis=tuple(a for a in axes if a != kept)) for kept in axes]
    with np.errstate(divide="ignore"):
        return [float(entropy(np.log(p))) for p in marginals]


def test_by_hand():
    # Y = X on a fair coin: ln 2. And a joint of 1/2, 1/4, 0, 1/4.
    with np.errstate(divide="ignore"):
        assert from_table(np.log(np.eye(2) / 2)).value == pytest.approx(np.log(2), abs=1e-15)
        skewed = from_table(np.log([[0.5, 0.25], [0, 0.25]]))
    h = lambda *p: -sum(q * np.log(q) for q in p)  # noqa: E731
    expected = h(0.75, 0.25) + h(0.5, 0.5) - h(0.5, 0.25, 0.25)
    assert skewed.value == pytest.approx(expected, abs=1e-15)
    np.testing.assert_allclose(skewed.product, [[0.375, 0.375], [0.125, 0.125]])


def test_three_coins_that_agree():
    table = np.full((2, 2, 2), -np.inf)
    table[0, 0, 0] = table[1, 1, 1] = np.log(0.5)
    assert from_table(table).value == pytest.approx(2 * np.log(2))


@given(tables())
def test_bounds(table):
    result = from_table(table)
    entropies = marginal_entropies(result.joint)
    assert result.joint.sum() == pytest.approx(1)
    assert result.product.sum() == pytest.approx(1)
    assert 0 <= result.value <= sum(entropies) - max(entropies) + 1e-9
    assert result.contributions.sum() == pytest.approx(result.value, abs=1e-12)


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_outcomes_and_answers_does_not_matter(table, random):
    axes = list(range(table.ndim))
    random.shuffle(axes)
    shuffled = table.transpose(axes)
    for axis, size in enumerate(shuffled.shape):
        order = list(range(size))
        random.shuffle(order)
        shuffled = shuffled.take(order, axis)
    assert from_table(shuffled).value == pytest.approx(from_table(table).value, abs=1e-10)


@given(st.lists(st.lists(st.floats(-9, 0), min_size=1, max_size=4), min_size=2, max_size=4))
def test_independent_answers_have_none(marginals):
    table = np.zeros(())
    for marginal in marginals:
        table = table[..., None] + np.array(marginal)
    assert from_table(table).value == 0


def test_arrays_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        from_table([[0.0]]).joint[0, 0] = 2


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: from_table([-1, -2]), "two or more dimensions"),
        (lambda: from_table(np.full((2, 2), -np.inf)), "cannot be normalised"),
        (lambda: from_table([[np.nan, -1]]), "NaN"),
        (lambda: from_table([[-1, -1]], gamma_2=-1), "gamma_2 is -1"),
        (lambda: from_table([["x"]]), "numbers"),
    ],
)
def test_bad_input_says_how_to_mend_it(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
