"""Sums and entropies of probabilities too small for floating point."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import logsumexp

from core.uncertainty.logarithms import entropy, log_normalise, log_sum_exp, without_rounding

LOGS = arrays(float, (3, 4), elements=st.floats(-3000, 0) | st.just(-np.inf))


@given(LOGS, st.sampled_from([None, 0, 1, (0, 1)]), st.booleans())
def test_log_sum_exp_is_scipys(values, axis, keepdims):
    expected = logsumexp(values, axis=axis, keepdims=keepdims)
    result = log_sum_exp(values, axis, keepdims=keepdims)
    assert result.shape == np.shape(expected)
    np.testing.assert_allclose(result, expected, rtol=1e-14, atol=1e-14)


def test_normalising_below_the_smallest_float():
    log_p, log_mass = log_normalise(np.array([-2000.0, -2000.0 + np.log(3)]))
    np.testing.assert_allclose(np.exp(log_p), [0.25, 0.75], rtol=1e-12)
    assert log_mass == pytest.approx(np.log(4) - 2000)


def test_entropy_by_hand():
    with np.errstate(divide="ignore"):
        table = np.log([[0.5, 0.5, 0], [1, 0, 0], [0.5, 0.25, 0.25]])
    np.testing.assert_allclose(entropy(table), [np.log(2), 0, 1.5 * np.log(2)])


def test_only_rounding_becomes_zero():
    assert without_rounding(-9e-13) == 0.0
    assert without_rounding(-2e-12) == -2e-12
    assert without_rounding(2e-12) == 2e-12
