"""Missing mass against brute force, its bounds over random laws, and the theorem's promise."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.uncertainty import missing_mass as mm
from core.uncertainty.joint import from_table
from core.uncertainty.logarithms import entropy
from core.uncertainty.many_samples import algorithm_1

LAWS = st.lists(st.floats(1e-6, 1), min_size=1, max_size=6).map(lambda w: np.array(w) / sum(w))


def every_sample(size, draws):
    """How often each kind came in every sample there is, and the kinds drawn."""
    drawn = np.array(list(product(range(size), repeat=draws)))
    return drawn, (drawn[:, :, None] == np.arange(size)).sum(axis=1)


@given(LAWS.filter(lambda p: len(p) <= 4), st.integers(1, 5))
def test_expectations_are_those_over_every_sample(p, draws):
    drawn, counts = every_sample(len(p), draws)
    chances = p[drawn].prod(axis=1)
    missing = mm.missing_mass(p, counts)
    assert mm.expected_missing_mass(p, draws) == pytest.approx(chances @ missing, abs=1e-12)


@given(LAWS, st.integers(1, 5000))
def test_bounds_of_the_expectation_hold(p, draws):
    exact = mm.expected_missing_mass(p, draws)
    assert exact <= mm.finite_support_bound(len(p), draws) + 1e-12
    assert exact <= mm.entropy_bound(float(entropy(np.log(p))), draws) + 1e-12
    assert exact <= mm.expected_missing_mass(p, draws - 1) + 1e-12


def test_by_hand():
    p = [0.5, 0.25, 0.25]
    assert mm.missing_mass(p, [3, 1, 0]) == 0.25
    np.testing.assert_allclose(mm.expected_missing_mass(p, [0, 1, 2]), [1, 0.625, 0.40625])
    np.testing.assert_allclose(mm.expected_missing_mass([1.0], [0, 1]), [1, 0])
    np.testing.assert_allclose(mm.finite_support_bound(10, [5, 20]), [np.exp(-0.5), 0.5 / np.e])
    np.testing.assert_allclose(mm.entropy_bound(2.2, [1, 3]), [2.2, 1.2])
    assert mm.upper_deviation(100, 0.9) == pytest.approx(np.sqrt(np.log(10) / 100))
    assert mm.lower_deviation(100, 0.9) == pytest.approx(np.sqrt(np.log(10) / 192.05), rel=1e-4)
    x = np.linspace(1e-6, 1, 1_000_001)
    assert 2 * np.max(x * (1 - x) * -np.log(x)) == pytest.approx(1 / mm.LOWER_TAIL, rel=1e-4)
    gamma_1, gamma_2 = mm.stabilisers(10, 100, 2, [1.0, 0.9])
    assert gamma_1 == 0.001
    np.testing.assert_allclose(gamma_2, [0.001, 0.201])


@pytest.mark.parametrize("alpha", [1.5, 2.0, 3.0])
def test_zipf_falls_at_its_rate_until_its_kinds_are_seen(alpha):
    """Of a million kinds; the rate is of infinitely many, and two terms off at small k."""
    weights = np.arange(1.0, 1e6 + 1) ** -alpha
    p = weights / weights.sum()
    draws = np.array([1e3, 1e4])
    exact = mm.expected_missing_mass(p, draws)
    np.testing.assert_allclose(exact, mm.zipf_rate(alpha, draws), rtol=0.02)
    slope = np.diff(np.log(exact)) / np.diff(np.log(draws))
    assert slope == pytest.approx(-(alpha - 1) / alpha, abs=0.01)


@pytest.mark.parametrize("kinds", [3, 20, 200])
@pytest.mark.parametrize("confidence", [0.5, 0.9])
def test_concentration_holds_in_simulation(kinds, confidence):
    """2,000 samples of 30 draws; a limit that just keeps its promise fails once in a billion.

    (Six standard deviations of a binomial count.)
    """
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.full(kinds, 0.7))
    missing = mm.missing_mass(p, rng.multinomial(30, p, size=2000))
    expected = mm.expected_missing_mass(p, 30)
    promised = 1 - confidence
    most = promised + 6 * np.sqrt(promised * confidence / 2000)
    assert (missing > expected + mm.upper_deviation(30, confidence)).mean() <= most
    assert (missing < expected - mm.lower_deviation(30, confidence)).mean() <= most


def missing_of_kinds_alike(kinds, draws):
    """U_k of so many kinds of one probability, and the probability of each value, exactly."""
    chance = np.zeros(kinds + 1)  # of so many different kinds so far
    chance[0] = 1
    came = np.arange(kinds + 1)
    for _ in range(draws):
        chance = chance * came / kinds + np.append(0, (chance * (kinds - came) / kinds)[:-1])
    return (kinds - came) / kinds, chance


def test_the_lower_tail_holds_exactly_where_it_is_hardest():
    """Kinds that are all alike, and about twice as many draws: there U_k varies most."""
    for kinds in (2, 5, 7, 10, 20, 40, 200):
        for draws in {kinds, int(1.6 * kinds), int(1.9 * kinds), 2 * kinds, 3 * kinds}:
            missing, chance = missing_of_kinds_alike(kinds, draws)
            expected = float(mm.expected_missing_mass(np.full(kinds, 1 / kinds), draws))
            assert chance @ missing == pytest.approx(expected)
            for confidence in (0.5, 0.9, 0.99, 0.999):
                limit = expected - mm.lower_deviation(draws, confidence)
                assert chance[missing < limit].sum() <= 1 - confidence
    missing, chance = missing_of_kinds_alike(10, 19)
    printed = chance @ missing - np.sqrt(np.log(10) / (7.6821 * 19))
    assert chance[missing < printed].sum() == pytest.approx(0.173, abs=0.0005)  # 10% promised


@pytest.mark.parametrize("outside", [0.0, 0.05])
def test_the_theorem_holds_in_simulation(outside):
    """2,000 samples of pairs that copy; promised is 10%, and never seen, for it is far below."""
    rng = np.random.default_rng(2)
    first = rng.dirichlet(np.ones(4))
    table = 0.95 * np.diag(first) + 0.05 * np.outer(first, first)
    order = np.argsort(-table, axis=None)
    kept = int(np.searchsorted(np.cumsum(table.ravel()[order]), 1 - outside - 1e-12)) + 1
    support = kept if outside else 16
    left = 1 - table.ravel()[order[:support]].sum()
    truth = from_table(np.log(table)).value
    said = []
    for draws in (100, 100_000):
        counts = rng.multinomial(draws, table.ravel(), size=2000)
        sample, cell = np.nonzero(counts)
        p = table.ravel()[cell]
        mass = np.bincount(sample, p)
        gamma_1, gamma_2 = mm.stabilisers(draws, support, 2, mass)
        estimate = algorithm_1(
            sample,
            np.stack(np.divmod(cell, 4), axis=1),
            p,
            samples=2000,
            gamma_1=gamma_1,
            gamma_2=gamma_2,
        )
        bound = mm.theorem_bound(
            estimate,
            draws,
            expected_missing=float(mm.expected_missing_mass(table.ravel(), draws)),
            support=support,
            outside=float(max(left, 0)) if outside else 0.0,
            confidence=0.9,
        )
        assert (bound > truth + 1e-9).mean() <= 0.1
        said.append(bound.mean())
    assert said[1] > said[0]
    assert outside or said[1] > 0  # it says something at last


@given(st.integers(0, 2**32 - 1), st.floats(1e-9, 0.1))
def test_what_the_proof_drops_is_no_more_than_it_costs(seed, gamma):
    """Term (i) of Appendix E.3, with any X̃ that leaves at most 1/e."""
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.full(12, rng.choice([0.05, 0.3, 2]))).clip(1e-200).reshape(3, 4)
    product = np.outer(table.sum(axis=1), table.sum(axis=0))
    left_out = (rng.random((3, 4)) < 0.5) & (table < 0.3)
    outside = table[left_out].sum()
    if not 0 < outside <= 1 / np.e:
        return
    terms = table * np.log(table / product)
    price = outside * np.log(1 / outside)
    assert terms[~left_out].sum() <= terms.sum() + price + 1e-12
    whole = (table * np.log((table + gamma) / (product + gamma))).sum()
    assert whole <= terms.sum() + (~left_out).sum() * gamma + price + 1e-12


def test_the_proof_drops_something():
    """Half and half on the diagonal: what is beside it is negative."""
    table = np.array([[0.495, 0.005], [0.005, 0.495]])
    terms = table * np.log(table / 0.25)
    assert np.diag(terms).sum() > terms.sum() + 0.03


def test_a_tiny_part_left_out_costs_its_own_logarithm():
    """What the proof drops: below 1/(e (1 + k|X̃|)), ln(1/δ) is the larger price."""
    common = {"expected_missing": 0.0, "support": 1, "confidence": 0.9}
    for outside, price in [(0.5, 1 + np.log(3)), (1e-6, np.log(1e6))]:
        without = mm.theorem_bound(0.0, 2, **common)
        cost = without - mm.theorem_bound(0.0, 2, outside=outside, **common)
        assert cost == pytest.approx(outside * price)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: mm.expected_missing_mass([0.7, 0.7], 1), "sum to at most 1"),
        (lambda: mm.expected_missing_mass([-0.1], 1), "at least 0"),
        (lambda: mm.expected_missing_mass([0.5], -1), "at least 0"),
        (lambda: mm.finite_support_bound(0, 1), "one at least"),
        (lambda: mm.finite_support_bound(2, 0), "at least 1"),
        (lambda: mm.entropy_bound(np.inf, 1), "finite number"),
        (lambda: mm.zipf_rate(1.0, 1), "above 1"),
        (lambda: mm.upper_deviation(10, 1.0), "between 0 and 1"),
    ],
)
def test_bad_input_says_how_to_mend_it(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
