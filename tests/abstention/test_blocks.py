"""Distinct doubts in rising order, and a λ that falls between them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.abstention.blocks import all_blocks, blocks

NEXT = np.nextafter(1.0, 2.0)


def test_by_hand():
    known = blocks([0.5, 0, np.nan, 0, 2, np.inf, -0.0], [1, 1, 0, 0, 0, 1, 0])
    np.testing.assert_array_equal(known.doubts, [0, 0.5, 2])
    np.testing.assert_array_equal(known.answered, [3, 4, 5])
    np.testing.assert_array_equal(known.errors, [2, 2, 3])
    assert (known.queries, known.finite) == (7, 5)


def test_what_is_never_answered_is_one_last_block_of_all():
    known = all_blocks([0.5, 0, np.nan, 0, 2, np.inf], [1, 1, 0, 0, 0, 1])
    np.testing.assert_array_equal(known.doubts, [0, 0.5, 2, np.inf])
    np.testing.assert_array_equal(known.answered, [2, 3, 4, 6])
    np.testing.assert_array_equal(known.errors, [1, 1, 2, 3])


@pytest.mark.parametrize("doubts", [[], [np.nan], [np.inf, np.nan]])
def test_nothing_to_answer(doubts):
    known = blocks(doubts, [True] * len(doubts))
    assert (len(known.doubts), known.finite, known.queries) == (0, 0, len(doubts))


@pytest.mark.parametrize(
    ("doubts", "expected"),
    [
        ([1, 2], 1.5),
        ([1, NEXT], NEXT),  # nothing lies between
        ([0, 5e-324], 5e-324),
        ([-np.inf, -3], -3),
        ([-1.7e308, 1.7e308], 0),
        ([1.6e308, 1.7e308], 1.65e308),
        ([1, np.inf], np.inf),
        ([1, np.nan], np.inf),
    ],
)
def test_the_threshold_after_the_first_block(doubts, expected):
    found = blocks(doubts, [1, 1]).threshold_after(0)
    assert doubts[0] < found == pytest.approx(expected, rel=1e-15)


@given(st.lists(st.floats(allow_nan=True), min_size=1, max_size=30))
def test_a_threshold_answers_its_block_and_all_before_it_and_no_other(doubts):
    known = blocks(doubts, np.arange(len(doubts)) % 2)
    for block, (answered, errors) in enumerate(zip(known.answered, known.errors, strict=True)):
        below = np.array(doubts) < known.threshold_after(block)
        assert below.sum() == answered
        assert (below & (np.arange(len(doubts)) % 2 == 0)).sum() == errors


@pytest.mark.parametrize(
    ("doubts", "correct", "sentence"),
    [
        ([1, 2], [1], "one correctness for every score"),
        ([[1], [2]], [[1], [0]], "one correctness for every score"),
        ([1, 2], [1, 2], "1 .right. or 0 .wrong."),
        ([1, 2], [1, np.nan], "1 .right. or 0 .wrong."),
    ],
)
def test_bad_input_says_how_to_mend_it(doubts, correct, sentence):
    with pytest.raises(ValueError, match=sentence):
        blocks(doubts, correct)
