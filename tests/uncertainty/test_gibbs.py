"""Gibbs distributions against the listing in the paper, written anew, and their closed form."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.uncertainty import gibbs
from core.uncertainty.joint import from_table


@given(st.integers(2, 9), st.floats(0.01, 10))
def test_the_closed_form_is_the_sum_over_all_states(n, temperature):
    table = gibbs.log_probabilities(n, temperature).reshape((2,) * n)
    assert gibbs.information(n, temperature) == pytest.approx(from_table(table).value, abs=1e-9)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_states_and_probabilities_are_the_listings(n):
    space = list(product([-1, 1], repeat=n))
    np.testing.assert_array_equal(gibbs.states(n), space)
    weights = np.exp([np.mean([x * y for x, y in combinations(z, 2)]) / 0.3 for z in space])
    np.testing.assert_allclose(np.exp(gibbs.log_probabilities(n, 0.3)), weights / weights.sum())


def test_cold_coordinates_are_all_the_same_and_hot_ones_do_not_depend_on_each_other():
    assert gibbs.information(5, 0.01) == pytest.approx(4 * np.log(2), abs=1e-6)
    assert gibbs.information(5, 1e6) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("n", "temperature", "sentence"),
    [(1, 1, "n is 1"), (17, 1, "n is 17"), (2, 0.001, "temperature"), (2, np.nan, "temperature")],
)
def test_bad_input_says_how_to_mend_it(n, temperature, sentence):
    for function in (gibbs.log_probabilities, gibbs.information):
        with pytest.raises(ValueError, match=sentence):
            function(n, temperature)
