"""Two graders: counts by hand, and SciPy's exact interval."""

import math

import pytest
from scipy import stats

from core.abstention.agreement import CONFIDENCE, disagreement


def test_only_rows_with_both_labels_count():
    both = disagreement([1, 1, 0, 0, 1, math.nan], [1, 0, 1, 0, math.nan, 0])
    assert (both.rows, both.first_alone, both.second_alone, both.share) == (4, 1, 1, 0.5)


@pytest.mark.parametrize(("differ", "rows"), [(0, 40), (3, 40), (40, 40), (0, 0)])
def test_the_interval_is_exact_and_never_empty(differ, rows):
    both = disagreement([1] * rows, [0] * differ + [1] * (rows - differ))
    assert (both.rows, both.first_alone) == (rows, differ)
    if not rows:
        assert math.isnan(both.share) and (both.lower, both.upper) == (0, 1)
        return
    exact = stats.binomtest(differ, rows).proportion_ci(CONFIDENCE)
    assert (both.lower, both.upper) == pytest.approx((exact.low, exact.high))
