"""Clusters are a partition around likeliest answers, and likelihoods add up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.uncertainty.clustering import aggregate, centres, cluster, likelihood_order

# Coarse values, so that ties and exact hits of the threshold are common.
QUARTERS = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


@st.composite
def similarity_matrices(draw):
    n = draw(st.integers(1, 9))
    matrix = draw(arrays(float, (n, n), elements=QUARTERS))
    matrix = np.maximum(matrix, matrix.T)
    np.fill_diagonal(matrix, 1)
    return matrix


@st.composite
def labelled_values(draw):
    labels = draw(st.lists(st.integers(0, 4), min_size=1, max_size=12))
    dense = np.unique(labels, return_inverse=True)[1]
    values = draw(arrays(float, (3, len(labels)), elements=st.floats(-2000, 0) | st.just(-np.inf)))
    return values, dense


@pytest.mark.parametrize(
    ("matrix", "threshold", "labels"),
    [
        ([[1, 0.2, 0.5], [0.2, 1, 0.8], [0.5, 0.8, 1]], 0.25, [0, 1, 1]),  # not the first
        ([[1, 0, 0.5], [0, 1, 0.5], [0.5, 0.5, 1]], 0.5, [0, 1, 0]),  # of equals, the earlier
        ([[1, 0.5, 0], [0.5, 1, 0.9], [0, 0.9, 1]], 0.5, [0, 0, 1]),  # 1 is no centre
        ([[1, 0.0], [0.0, 1]], 0, [0, 0]),
        ([[1, 0.0], [0.0, 1]], 1, [0, 1]),
    ],
)
def test_an_answer_joins_the_most_similar_centre(matrix, threshold, labels):
    np.testing.assert_array_equal(cluster(matrix, threshold), labels)


@given(similarity_matrices(), QUARTERS)
def test_clusters_are_a_partition_with_separate_centres(matrix, threshold):
    labels = cluster(matrix, threshold)
    assert labels.shape == (len(matrix),)
    middle = centres(labels)
    # Numbered in the order their centres come.
    assert (np.diff(middle) > 0).all()
    np.testing.assert_array_equal(labels[middle], np.arange(len(middle)))
    # No two centres are alike; every member is alike to its own, and to no earlier one more.
    assert (matrix[np.ix_(middle, middle)][~np.eye(len(middle), dtype=bool)] < threshold).all()
    assert (matrix[np.arange(len(matrix)), middle[labels]] >= threshold).all()
    for answer, label in enumerate(labels):
        before = middle[middle < answer]
        assert answer in middle or matrix[answer, before].max() == matrix[answer, middle[label]]
    np.testing.assert_array_equal(cluster(matrix, threshold), labels)


def test_likelihood_order_is_stable():
    np.testing.assert_array_equal(likelihood_order([-3, -1, -np.inf, -1, -3]), [1, 3, 0, 4, 2])


@given(labelled_values())
def test_aggregate_adds_probabilities(case):
    values, labels = case
    total = aggregate(values, labels)
    assert total.shape == (3, labels.max() + 1)
    for label in range(labels.max() + 1):
        expected = np.logaddexp.reduce(values[:, labels == label], axis=1)
        np.testing.assert_allclose(total[:, label], expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(aggregate(values.T, labels, axis=0), total.T)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: cluster([[1, 0.5]], 0.25), r"must have shape \(1, 1\)"),
        (lambda: cluster([[np.nan]], 0.25), "NaN"),
        (lambda: cluster(np.empty((0, 0)), 0.25), "empty"),
        (lambda: cluster([[100.0]], 0.25), "between 0 and 1"),
        (lambda: cluster([[1.0]], 1.5), "threshold is 1.5"),
        (lambda: cluster([[1.0]], float("nan")), "threshold is nan"),
        (lambda: likelihood_order([]), "empty"),
        (lambda: likelihood_order([np.nan]), "NaN"),
        (lambda: centres([0, 2]), "every number from 0"),
        (lambda: centres([0.0]), "whole numbers"),
        (lambda: aggregate([-1, -2], [0]), "1 entries for 2 values"),
        (lambda: aggregate([-1, -2], [0, -1]), "every number from 0"),
        (lambda: aggregate([-1, np.nan], [0, 0]), "NaN"),
        (lambda: aggregate([-1], [0], axis=1), "no axis 1"),
        (lambda: aggregate([[-1], [-1, -2]], [0]), "ragged"),
    ],
)
def test_bad_input_says_how_to_mend_it(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
