"""What happens to answers: in a word for a curve, and in a sentence for several."""

import numpy as np
import pytest

from core.studies.amplification.curve import Amplification, Case, Point
from core.studies.amplification.fate import ALIVE, Fate, fate, happening, last_fate, quartiles


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


@pytest.mark.parametrize(
    ("median", "said"),
    [
        ((0.99, 0.97, 0.9, 0.95), "Stays"),
        ((0.5, 0.45, 0.4, 0.35), "Drifts, never dies"),
        ((0.5, 0.52, 0.51, 0.5), "Stands still"),
        ((0.7, 0.01, 0.01, 0.05), "Gives way at once"),
        ((0.99, 0.5, 0.1, 0.05), "Gives way at 2 repetitions"),
        ((0.99, 0.9, 0.9, 0.05), "Gives way between 2 and 10 repetitions"),
        ((0.7, 0.01, 0.4, 0.05), "Gives way between 2 and 10 repetitions"),  # it came back once
        ((0.1, 0.0, 0.0, 0.0), "Never led"),
        ((0.1, 0.5, 0.5, 0.0), "Never led for long"),
        ((0.99, 0.1, 0.1, 0.9), "Falls, and comes back"),
        ((0.5, 0.1, 0.1, 0.5), "Falls, and comes back"),
        ((0.99, 0.6, 0.7, 0.9), "Wavers, and comes back"),
        ((0.99, 0.6, 0.5, 0.5), "Loses ground, and lives"),
        ((0.5, 0.6, 0.7, 0.9), "Gains ground"),
        ((0.1, 0.1, 0.3, 0.5), "Gains ground"),
    ],
)
def test_in_short_it_is_said_how_the_median_goes(median, said):
    short, _ = happening([curve(*median, times=(0, 1, 2, 10))] * 3)
    assert short == said


def test_the_numbers_are_the_medians_and_how_many_end_alike():
    several = [curve(0.6, 0.1), curve(0.7, 0.15), curve(0.8, 0.9)]
    assert happening(several) == (
        "Gives way at once",
        "The right answer’s median share goes from 70.0% to 15.0%. After 1 repetition the "
        "repeated answer leads clearly in 2 of 3.",
    )
    assert "share stays at more than 99.9%." in happening([curve(0.9999, 1.0, 0.9995)])[1]


def test_without_a_share_there_is_no_median():
    short, numbers = happening([curve(0.5, None), curve(0.5, 0.5)])
    assert short == "No median" and "neither answer was sampled" in numbers
