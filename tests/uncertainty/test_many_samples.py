"""Many samples at once, against the functions that look at one, and against theory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.uncertainty import many_samples
from core.uncertainty.certified_bound import certified_lower_bound
from core.uncertainty.confidence_limit import empirical_information, lower_confidence_limit
from core.uncertainty.joint import from_table
from core.uncertainty.mutual_information import from_counts, from_tuples

SEEDS = st.integers(0, 2**32 - 1)


def law(rng, shape):
    """Any distribution over a table, from even to nearly certain."""
    return rng.dirichlet(np.full(np.prod(shape), rng.choice([0.05, 0.5, 5]))).clip(1e-200).reshape(
        shape
    ) / (1 + np.prod(shape) * 1e-200)


def drawn(rng, table, draws, samples):
    p = table.ravel() / table.sum()
    return rng.multinomial(draws, p, size=samples).reshape(samples, *table.shape)


def information(table):
    return from_table(np.log(table)).value


@given(SEEDS, st.integers(2, 4), st.floats(0, 0.5), st.floats(0, 0.5))
def test_algorithm_1_is_that_of_each_sample(seed, n, gamma_1, gamma_2):
    rng = np.random.default_rng(seed)
    table = law(rng, (3,) * n)
    counts = drawn(rng, table, 12, 5)
    at = np.argwhere(counts)
    sample, codes = at[:, 0], at[:, 1:]
    p = table[tuple(codes.T)]
    scale = np.arange(5)  # 0 for the first sample
    found = many_samples.algorithm_1(
        sample, codes, p, samples=5, gamma_1=gamma_1 * scale, gamma_2=gamma_2
    )
    for s, value in enumerate(found):
        own = sample == s
        one = from_tuples(codes[own], np.log(p[own]), gamma_1=gamma_1 * s, gamma_2=gamma_2)
        assert value == pytest.approx(one.value, abs=1e-10)


@given(SEEDS)
def test_pairs_are_those_of_the_functions_for_one_sample(seed):
    rng = np.random.default_rng(seed)
    table = law(rng, (4, 3))
    first = table.sum(axis=1)
    log_rows = np.log(table / first[:, None])
    counts = drawn(rng, table, 7, 4)
    lower, _ = many_samples.between(counts, table)
    limits = many_samples.limit(lower, 7, 2, 0.8)
    bounds = many_samples.certified_bounds(counts > 0, table)
    plain = many_samples.information_of_counts(counts)
    for s, count in enumerate(counts):
        came = count.sum(axis=1)
        seen = came > 0
        assert lower[s] == pytest.approx(empirical_information(came, log_rows), abs=1e-9)
        limit = lower_confidence_limit(came, log_rows, confidence=0.8)
        assert limits[s] == pytest.approx(limit, abs=1e-9)
        bound = certified_lower_bound(np.log(first[seen]), log_rows[seen])
        assert bounds[s] == pytest.approx(bound, abs=1e-9)
        one = from_counts(came[seen], count[seen])
        assert plain[s] == pytest.approx(one.plug_in, abs=1e-9)


@given(SEEDS, st.integers(2, 4))
def test_what_is_certified_is_never_above_and_at_last_exact(seed, n):
    rng = np.random.default_rng(seed)
    table = law(rng, (2,) * n)
    counts = drawn(rng, table, 4, 8)
    assert (many_samples.certified_bounds(counts > 0, table) <= information(table) + 1e-9).all()
    everything = np.ones((1, *table.shape), dtype=bool)
    assert many_samples.certified_bounds(everything, table) == pytest.approx(
        information(table), abs=1e-9
    )


@pytest.mark.parametrize("n", [2, 3])
def test_the_exact_value_lies_between_the_means_and_the_limit_holds(n):
    """2,000 samples of each of three laws, ten draws.

    A mean that is on its bound misses it by more than five standard errors once in 3 million.
    The limit is promised to be above the exact value in at most 10% of the samples; of a limit
    that just keeps it, 2,000 samples would show more than 14% once in a billion.
    """
    rng = np.random.default_rng(3)
    for spread in (0.2, 1.0, 5.0):
        table = rng.dirichlet(np.full(3**n, spread)).clip(1e-12).reshape((3,) * n)
        table /= table.sum()
        truth = information(table)
        counts = drawn(rng, table, 10, 2000)
        lower, upper = many_samples.between(counts, table)
        assert lower.mean() <= truth + 5 * lower.std() / np.sqrt(2000)
        assert upper.mean() >= truth - 5 * upper.std() / np.sqrt(2000)
        assert (many_samples.limit(lower, 10, n) > truth + 1e-9).mean() <= 0.14


def test_one_draw_moves_l_by_no_more_than_is_allowed_for():
    """n − 1 times the entropy of one draw, for tuples of n answers."""
    rng = np.random.default_rng(8)
    one = 0.25 * np.log(4) + 0.75 * np.log(4 / 3)
    for n in (2, 3, 4):
        table = rng.dirichlet(np.full(2**n, 0.1)).clip(1e-12).reshape((2,) * n)
        table /= table.sum()
        rest = drawn(rng, table, 3, 200)
        cells = np.argwhere(table > 0)
        with_one = []
        for cell in cells:
            more = rest.copy()
            more[(slice(None), *cell)] += 1
            with_one.append(many_samples.between(more, table)[0])
        assert np.ptp(with_one, axis=0).max() <= (n - 1) * one + 1e-10


def test_by_hand():
    """Two answers that are repeated for sure, drawn twice and once."""
    table = np.array([[0.5 - 1e-12, 1e-12], [1e-12, 0.5 - 1e-12]])
    counts = np.array([[[2, 0], [0, 1]]])
    of_thirds = np.log(3) - 2 / 3 * np.log(2)
    np.testing.assert_allclose(many_samples.information_of_counts(counts), of_thirds)
    lower, upper = many_samples.between(counts, table)
    assert lower[0] == pytest.approx(of_thirds, abs=1e-9)
    # The one answer is never in the others' mean; the other is half of its others' mean.
    assert upper[0] == pytest.approx(2 / 3 * np.log(2) + np.log(1e12 / 2) / 3, rel=1e-3)
    assert many_samples.certified_bounds(counts > 0, table) == pytest.approx(np.log(2), abs=1e-9)
    with pytest.raises(ValueError, match="two tuples or more"):
        many_samples.between(np.array([[[1, 0], [0, 0]]]), table)
