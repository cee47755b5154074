"""Distinct tuples."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.uncertainty.tuples import distinct, encode


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
