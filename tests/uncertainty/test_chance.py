"""Draws without replacement, against counting them out, and what they make of an information."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.uncertainty.chance import (
    MOST_DRAWS,
    adjustment,
    expected_entropy_of_mixture,
    expected_entropy_of_rows,
)


def h(shares):
    shares = np.asarray(shares, dtype=float)
    shares = shares[shares > 0]
    return float(-(shares * np.log(shares)).sum())


def every_draw(row, n):
    """Return the kinds of every way to draw n of what a row holds, one by one."""
    return list(itertools.permutations(np.repeat(np.arange(len(row)), row), n))


def counted_out(weights, counts, n):
    """Sum over which row each draw is of, and over every way to draw those from their rows."""
    total = 0.0
    for rows in itertools.product(range(len(weights)), repeat=n):
        drawn = [every_draw(counts[i], rows.count(i)) for i in range(len(weights))]
        entropies = [
            h(np.bincount(sum(kinds, ()), minlength=counts.shape[1]) / n)
            for kinds in itertools.product(*drawn)
        ]
        total += math.prod(weights[i] for i in rows) * np.mean(entropies)
    return total


TABLES = [
    ([0.7, 0.3], [[3, 1, 0], [1, 2, 1]], 3),
    ([0.5, 0.5], [[2, 0], [0, 2]], 2),
    ([0.2, 0.3, 0.5], [[2, 1], [1, 1], [0, 3]], 2),
    ([1.0], [[2, 2, 1]], 4),
]


@pytest.mark.parametrize(("weights", "counts", "n"), TABLES)
def test_draws_of_the_mixture_are_as_counted_out(weights, counts, n):
    found = expected_entropy_of_mixture(np.array(weights), np.array(counts, dtype=float), n)
    assert found == pytest.approx(counted_out(weights, np.array(counts), n))


@pytest.mark.parametrize(("weights", "counts", "n"), TABLES)
def test_draws_of_rows_are_as_counted_out(weights, counts, n):
    counts = np.array(counts)
    expected = [
        np.mean([h(np.bincount(kinds, minlength=len(row)) / n) for kinds in every_draw(row, n)])
        for row in counts
    ]
    assert expected_entropy_of_rows(counts.astype(float), n) == pytest.approx(expected)


@given(arrays(np.int64, st.integers(1, 8), elements=st.integers(1, 40)))
def test_all_that_was_drawn_has_the_entropy_that_was_counted(row):
    counts = row[None].astype(float)
    n = int(row.sum())
    assert expected_entropy_of_rows(counts, n)[0] == pytest.approx(h(row / n), abs=1e-9)


@given(
    arrays(np.int64, (3, 5), elements=st.integers(0, 20)).filter(lambda t: (t.sum(1) > 0).all()),
    st.tuples(*[st.integers(1, 9)] * 3),
)
def test_a_draw_more_never_lowers_the_entropy_and_no_order_of_rows_matters(counts, weights):
    weights = np.array(weights) / sum(weights)
    counts = counts.astype(float)
    most = int(min(counts.sum(axis=1).min(), 12))
    entropies = [expected_entropy_of_mixture(weights, counts, n) for n in range(1, most + 1)]
    assert entropies[0] == pytest.approx(0, abs=1e-9)
    assert (np.diff(entropies) > -1e-9).all()
    turned = expected_entropy_of_mixture(weights[::-1], counts[::-1], most)
    assert turned == pytest.approx(entropies[-1], abs=1e-9)


def test_independent_answers_have_no_difference_on_average_whatever_the_weights_and_sizes():
    """400 tables of rows of 8 to 40 draws; the standard error is about .002."""
    rng = np.random.default_rng(3)
    weights, sizes = np.array([0.6, 0.3, 0.05, 0.05]), (8, 40, 12, 25)
    shares = np.array([0.3, 0.2, *[0.05] * 10])
    found = []
    for _ in range(400):
        counts = np.array([rng.multinomial(size, shares) for size in sizes], dtype=float)
        of_rows = weights @ expected_entropy_of_rows(counts, 8)
        found.append(expected_entropy_of_mixture(weights, counts, 8) - of_rows)
    assert abs(np.mean(found)) < 4 * np.std(found) / 20
    assert np.std(found) / 20 < 0.003


def test_many_draws_are_compared_by_fewer_of_them():
    """A million answers to a prompt are no more work than fifty, and say the same."""
    few = np.array([[30, 20], [20, 30]], dtype=float)
    many = few * 10**6
    weights = np.array([0.5, 0.5])
    rows = few / 50
    information = h(weights @ rows) - weights @ [h(row) for row in rows]
    assert MOST_DRAWS == 50
    assert information + adjustment(weights, many) == pytest.approx(information, rel=0.05)
