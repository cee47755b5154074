"""Where repeating leaves an answer, and the quartiles of several."""

import numpy as np
import pytest

from core.studies.amplification.curve import Amplification, Case, Point
from core.studies.amplification.fate import ALIVE, Fate, fate, last_fate, quartiles


def curve(*shares, times=None):
    times = range(len(shares)) if times is None else times
    points = (Point(t, -1.0, -1.0, share) for t, share in zip(times, shares, strict=True))
    return Amplification(Case("q", "a", "b"), "none", "0", tuple(points))


def test_both_are_alive_while_neither_is_more_than_four_times_as_likely():
    low, high = ALIVE
    assert low / (1 - low) == pytest.approx(1 / 4) and high / (1 - high) == pytest.approx(4)
    found = [fate(share) for share in (0.0, 0.19, low, 0.5, high, 0.81, 1.0)]
    assert found == [*[Fate.GIVES_WAY] * 2, *[Fate.ALIVE] * 3, *[Fate.STAYS] * 2]


def test_the_last_share_that_is_known_counts():
    assert last_fate(curve(0.9, 0.1)) is Fate.GIVES_WAY
    assert last_fate(curve(0.1, 0.9, None)) is Fate.STAYS
    assert last_fate(curve(None, None)) is Fate.ALIVE


def test_the_quartiles_are_numpys():
    shares = np.random.default_rng(5).random((7, 4))
    found = quartiles([curve(*row) for row in shares.tolist()])
    np.testing.assert_allclose(found, np.percentile(shares, [25, 50, 75], axis=0))
    np.testing.assert_allclose(quartiles([curve(0.9, 0.4)]), [[0.9, 0.4]] * 3)
