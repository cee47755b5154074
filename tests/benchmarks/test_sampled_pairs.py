"""The estimator that was tried for sampled pairs, and not taken."""

import math

import pytest

from benchmarks.sampled_pairs import chao_wang_jost


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
