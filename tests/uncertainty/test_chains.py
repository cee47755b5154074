"""Chains of n answers against brute force, pairs, and what no table can break."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.uncertainty import chance
from core.uncertainty.chains import deal, estimate, informations, largest
from core.uncertainty.mutual_information import from_conditionals, from_tuples


@st.composite
def rules(draw, longest=4):
    """A first distribution and those after every chain of 1, …, n − 1 answers, not normalised."""
    m, n = draw(st.integers(1, 3)), draw(st.integers(2, longest))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sharp = draw(st.sampled_from([0.1, 1.0, 10.0]))
    nexts = [-sharp * rng.exponential(size=(m,) * j) for j in range(2, n + 1)]
    return -rng.exponential(size=m), nexts


def brute_force(log_first, nexts):
    """D(joint, product of the marginals) with nothing but probabilities."""
    joint = np.exp(log_first) / np.exp(log_first).sum()
    for rows in nexts:
        p = np.exp(rows)
        joint = joint[..., None] * (p / p.sum(axis=-1, keepdims=True))
    product = np.ones(())
    for kept in range(joint.ndim):
        marginal = joint.sum(axis=tuple(a for a in range(joint.ndim) if a != kept))
        product = product[..., None] * marginal
    return (joint * np.log(joint / product)).sum(), joint


@given(rules())
def test_algorithm_3_of_chains_is_the_divergence_from_the_product(rule):
    first, nexts = rule
    found = informations(first, nexts)
    assert found[0].value == pytest.approx(from_conditionals(first, nexts[0]).value, abs=1e-12)
    for n, one in enumerate(found, start=2):
        value, joint = brute_force(first, nexts[: n - 1])
        assert one.value == pytest.approx(value, abs=1e-10)
        np.testing.assert_allclose(one.joint, joint, atol=1e-12)


@given(rules())
def test_it_never_falls_with_the_length_and_obeys_its_limit(rule):
    found = informations(*rule)
    assert (np.diff([one.value for one in found]) >= -1e-10).all()
    for n, one in enumerate(found, start=2):
        assert -1e-12 <= one.value <= largest(one) + 1e-10
        assert largest(one) <= (n - 1) * np.log(len(rule[0])) + 1e-10


@given(rules(longest=3))
def test_algorithm_1_on_a_full_product_is_algorithm_3(rule):
    first, nexts = rule
    joint = informations(first, nexts)[-1].joint
    tuples = np.stack(np.unravel_index(np.arange(joint.size), joint.shape), axis=1)
    found = from_tuples(tuples, np.log(joint.ravel()))
    assert found.value == pytest.approx(informations(first, nexts)[-1].value, abs=1e-10)
    assert estimate(tuples, np.log(joint.ravel())).value == pytest.approx(found.value, abs=1e-12)


def test_answers_that_are_independent_have_none():
    p = np.log([0.5, 0.3, 0.2])
    nexts = [np.tile(p, (*(3,) * j, 1)) for j in range(1, 4)]
    assert [one.value for one in informations(p, nexts)] == [0, 0, 0]


def test_a_model_that_repeats_the_first_answer_shows_its_entropy_with_every_further_answer():
    p = np.log([0.5, 0.3, 0.2])
    with np.errstate(divide="ignore"):
        copied = [np.log([[float(j == i) for j in range(3)] for i in range(3)])]
        # F₂ is told the same answer twice; what follows on two different ones never matters.
        copied.append(np.log(np.stack([np.eye(3)] * 3, axis=1)))
    h = -(np.exp(p) @ p)
    values = [one.value for one in informations(p, copied)]
    np.testing.assert_allclose(values, [h, 2 * h])


@given(st.integers(2, 12), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_pairs_are_dealt_as_the_adjustment_for_chance_deals_them(k, v, seed):
    rng = np.random.default_rng(seed)
    first, rows = -rng.exponential(size=v), -rng.exponential(size=(v, v))
    codes = rng.integers(v, size=(k, 2))
    codes = np.unique(codes.ravel(), return_inverse=True)[1].reshape(k, 2)
    size = codes.max() + 1
    labels = np.sort(rng.integers(2, size=size))
    labels = np.unique(labels, return_inverse=True)[1]
    steps = np.column_stack([first[codes[:, 0]], rows[codes[:, 0], codes[:, 1]]])
    seen = np.full((size, size), -np.inf)
    seen[codes[:, 0], codes[:, 1]] = steps[:, 1]
    np.testing.assert_allclose(
        deal(codes, steps, labels),
        chance.dealt_estimates(codes, first[:size], seen, labels),
        atol=1e-9,
    )


def test_no_chain_keeps_two_of_its_answers():
    """Of six chains of three, the third way would bring every third answer home."""
    found = deal(np.arange(18).reshape(6, 3), np.full((6, 3), -3.0), np.arange(18))
    assert len(found) == 4
    np.testing.assert_allclose(found, 2 * np.log(6))  # all different: each tells the others
