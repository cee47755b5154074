"""Entropies of counts, by hand and against the formulas as they are printed."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.uncertainty.entropies import chao_wang_jost, miller_madow, plug_in


@pytest.mark.parametrize(
    ("counts", "entropy"),
    [
        # 2/4 (1/2 + 1/3) + 2 · 1/4 (1 + 1/2 + 1/3) for what was seen; f₁ = 2, f₂ = 1, A = 1/4.
        ([2, 1, 1], 4 / 3 + 0.5 * 0.75**-3 * (math.log(4) - 0.75 - 0.75**2 / 2 - 0.75**3 / 3)),
        # No doubletons: A = 2 / (2 · 2 + 2) = 1/3, and 3 · 1/3 (1 + 1/2) for what was seen.
        ([1, 1, 1], 1.5 + (2 / 3) ** -2 * (math.log(3) - 2 / 3 - (2 / 3) ** 2 / 2)),
        ([3, 3, 0], 2 * 0.5 * (1 / 3 + 1 / 4 + 1 / 5)),  # nothing came once: nothing is missing
        ([5], 0.0),
        ([1], 0.0),
    ],
)
def test_chao_wang_jost_by_hand(counts, entropy):
    assert chao_wang_jost(counts) == pytest.approx(entropy)


def test_plug_in_and_miller_madow_by_hand():
    counts = [[2, 1, 1], [4, 0, 0]]
    np.testing.assert_allclose(plug_in(counts), [1.5 * math.log(2), 0])
    np.testing.assert_allclose(miller_madow(counts), [1.5 * math.log(2) + 2 / 8, 0])


def as_printed(counts):
    """Equation 7 of Chao, Wang and Jost: what was not seen as a sum that goes on for ever."""
    n, once, twice = sum(counts), counts.count(1), counts.count(2)
    seen = sum(x / n * sum(1 / r for r in range(x, n)) for x in counts if x)
    a = 1.0
    if twice:
        a = 2 * twice / ((n - 1) * once + 2 * twice)
    elif once:
        a = 2 / ((n - 1) * (once - 1) + 2)
    rest, power, r = 0.0, 1 - a, n
    while once and power > 1e-17:
        rest, power, r = rest + power / r, power * (1 - a), r + 1
    return seen + once / n * rest


@given(st.lists(st.integers(0, 6), min_size=1, max_size=12).filter(any))
def test_chao_wang_jost_as_printed(counts):
    assert chao_wang_jost(counts) == pytest.approx(as_printed(counts), abs=1e-10)


def test_many_draws_of_which_few_came_once():
    """Here SciPy's hypergeometric function returns NaN."""
    counts = [700, 250, 40] + [1] * 10
    assert chao_wang_jost(counts) == pytest.approx(as_printed(counts), abs=1e-10)
    assert np.isfinite(chao_wang_jost([[9000, 998, 2], [9998, 1, 1]])).all()


@pytest.mark.parametrize("entropy", [plug_in, miller_madow, chao_wang_jost])
@pytest.mark.parametrize(("counts", "sentence"), [([0, 0], "all 0"), ([0.5], "whole numbers")])
def test_bad_input_says_how_to_mend_it(entropy, counts, sentence):
    with pytest.raises(ValueError, match=sentence):
        entropy(counts)
