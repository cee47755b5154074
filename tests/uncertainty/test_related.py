"""Related scores in full: against the single numbers, brute force, and the paper's equality."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.uncertainty.evidence import Evidence, Hyperparameters
from core.uncertainty.related import Candidates, Covariances, candidates, covariances
from core.uncertainty.sampled_evidence import from_tallies
from core.uncertainty.scores import min_conditional_entropy, pair_covariance


def evidence(first, rows, threshold=1.0):
    texts = [f"answer{i}" for i in range(len(first))]
    with np.errstate(divide="ignore"):
        return Evidence.build(
            texts,
            np.log(first),
            np.log(rows),
            greedy="answer0",
            greedy_log_likelihood=-1.0,
            parameters=Hyperparameters(threshold=threshold),
        )


@st.composite
def tables(draw, mass=1.0):
    """A first distribution, falling, and one after each answer; they sum to `mass`."""
    m = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return mass * np.sort(rng.dirichlet(np.ones(m)))[::-1], mass * rng.dirichlet(np.ones(m), size=m)


@given(tables())
def test_the_covariances_of_all_answers_add_up_to_pair_covariance(table):
    first, rows = table
    found = covariances(evidence(first, rows))
    np.testing.assert_allclose(found.values, first * np.diag(rows) - first**2, atol=1e-12)
    assert found.values.sum() == pytest.approx(pair_covariance(evidence(first, rows)).value)
    np.testing.assert_allclose(found.confidence, first / np.diag(rows))


@given(tables(mass=0.4), st.integers(0, 2**32 - 1))
def test_groups_are_one_answer_each_by_brute_force(table, seed):
    """What was not found is left out: nothing is normalised."""
    first, rows = table
    labels = np.random.default_rng(seed).integers(3, size=len(first))
    labels = np.unique(labels, return_inverse=True)[1]
    found = covariances(evidence(first, rows), labels)
    joint = first[:, None] * rows
    for group in range(labels.max() + 1):
        of = labels == group
        p, twice = first[of].sum(), joint[np.ix_(of, of)].sum()
        assert found.first[group] == pytest.approx(p)
        assert found.values[group] == pytest.approx(twice - p**2, abs=1e-12)


@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_a_second_order_calibrated_model_errs_by_its_covariance(size, answers, seed):
    """The equality in the paper's related work, for any class and any weights of it."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(size))
    truth = rng.dirichlet(np.ones(answers), size=size)  # p(y|x')
    predicted = weights @ truth
    found = Covariances(predicted, np.einsum("x,xy,xy->y", weights, truth, truth) / predicted)
    error = weights @ (predicted - truth) ** 2
    np.testing.assert_allclose(found.values, error, atol=1e-12)
    assert (found.values <= 0.25 + 1e-12).all()


@given(tables())
def test_without_a_threshold_the_two_stages_are_the_one_score(table):
    e = evidence(*table)
    found = candidates(e)
    assert found.doubt(0.0, fewest=1) == pytest.approx(min_conditional_entropy(e).doubt)
    thresholds = np.linspace(0, 1, 9)
    for fewest in (1, 2):
        doubts = [found.doubt(least, fewest) for least in thresholds]
        assert doubts == sorted(doubts, reverse=True)  # fewer are kept, and the least rises
    np.testing.assert_allclose(found.probabilities, table[0])


def test_a_sure_answer_looks_copied_but_for_the_first_stage():
    sure = Candidates(np.array([0.98, 0.01, 0.01]), np.array([0.05, 0.6, 0.7]))
    unsure = Candidates(np.array([0.4, 0.35, 0.25]), np.array([0.3, 0.31, 0.29]))
    assert sure.doubt(0.0) > unsure.doubt(0.0)
    assert sure.doubt(0.1) == -np.inf < unsure.doubt(0.1) == pytest.approx(-0.29)
    assert sure.doubt(0.1, fewest=1) == pytest.approx(-0.05)


def test_samples_are_normalised_and_told_often_enough():
    seconds = {"one": {"one": 20, "two": 10}, "two": {"two": 5}}
    e = from_tallies({"one": 8, "two": 2}, seconds, greedy="one")
    found = covariances(e)
    np.testing.assert_allclose(found.first, [0.8, 0.2])
    np.testing.assert_allclose(found.repeated, [2 / 3, 1.0])
    kept = candidates(e)
    assert kept.probabilities.tolist() == pytest.approx([0.8])  # “two” was told five times only
