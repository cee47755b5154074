"""Distinct tuples, and step 4 of Algorithm 2."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.uncertainty.tuples import cluster_tuples, distinct, encode


@st.composite
def tuples_of_letters(draw):
    n = draw(st.integers(2, 4))
    one = st.tuples(*[st.sampled_from("abc")] * n)
    return draw(st.lists(one, min_size=1, max_size=25))


@given(tuples_of_letters())
def test_distinct_is_the_first_of_each(tuples):
    expected = [i for i, row in enumerate(tuples) if row not in tuples[:i]]
    np.testing.assert_array_equal(distinct(encode(tuples)), expected)


@given(tuples_of_letters())
def test_numbers_and_texts_encode_alike(tuples):
    as_numbers = np.array([[ord(answer) for answer in row] for row in tuples])
    a, b = encode(tuples), encode(as_numbers)
    for x, y in zip(a.T, b.T, strict=True):
        np.testing.assert_array_equal(x[:, None] == x[None, :], y[:, None] == y[None, :])


def test_distinct_when_one_integer_cannot_hold_a_row():
    """1,024 different answers in each of 12 places: 2^120 possible rows.

    Written as one number of 64 bits, rows that differ in their first place only would fall
    together.
    """
    same = np.tile(np.arange(1024)[:, None], (1, 12))
    only_first = same * (np.arange(12) == 0)
    rows = np.concatenate([same, only_first[1:]])
    twice = np.concatenate([rows, rows[::-1]])
    np.testing.assert_array_equal(distinct(encode(twice)), np.arange(len(rows)))


def test_one_vocabulary_for_all_coordinates():
    result = cluster_tuples(
        [("London", "Paris"), ("Paris", "London, UK"), ("London, UK", "Paris"), ("Rome", "Rome")],
        np.log([0.31, 0.2, 0.1, 0.05]),
    )
    # Likelihoods: Paris .61, London .31, London, UK .3, Rome .1 (twice in one tuple of .05).
    assert result.vocabulary == ("Paris", "London", "London, UK", "Rome")
    np.testing.assert_array_equal(result.vocabulary_labels, [0, 1, 1, 2])
    np.testing.assert_array_equal(result.labels, [[1, 0], [0, 1], [2, 2]])
    np.testing.assert_allclose(np.exp(result.log_probabilities), [0.41, 0.2, 0.05])


def test_a_repeated_tuple_counts_once():
    result = cluster_tuples([("x", "y"), ("x", "y"), ("X.", "y")], np.log([0.2, 0.2, 0.1]))
    np.testing.assert_allclose(np.exp(result.log_probabilities), [0.3])


@given(tuples_of_letters())
def test_merging_keeps_the_mass(tuples):
    unique = list(dict.fromkeys(tuples))
    log_p = -np.arange(1, len(unique) + 1, dtype=float)
    # At threshold 1 only equal texts fall together, at 0 all do.
    apart = cluster_tuples(unique, log_p, threshold=1, method="ratio")
    together = cluster_tuples(unique, log_p, threshold=0)
    assert len(apart.labels) == len(unique)
    np.testing.assert_allclose(apart.log_probabilities, log_p)
    assert together.labels.tolist() == [[0] * len(unique[0])]
    np.testing.assert_allclose(together.log_probabilities, [np.logaddexp.reduce(log_p)])


@pytest.mark.parametrize(
    ("tuples", "log_p", "sentence"),
    [
        ([], [], "at least one tuple of two or more"),
        ([("x",)], [-1], "two or more answers"),
        ([("x", "y"), ("x",)], [-1, -1], r"one length, but have lengths \[1, 2\]"),
        (["xy", "zw"], [-1, -1], "not of single answers"),
        ([("x", "y")], [-1, -2], r"must have shape \(1,\)"),
        ([("x", "y"), ("x", "y")], [-1, -2], "score each distinct tuple once"),
        ([("x", "y")], [0.5], "at most 0"),
        ([("x", 1)], [-1], "texts and nothing else"),
    ],
)
def test_bad_input_says_how_to_mend_it(tuples, log_p, sentence):
    with pytest.raises(ValueError, match=sentence):
        cluster_tuples(tuples, log_p)
