"""Texts that go on in others: what is left of their likelihoods can be added up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.uncertainty.prefixes import LEAST, without_continuations

LETTERS = ["a", "b", "c"]


def left(texts, probabilities):
    with np.errstate(divide="ignore"):
        return np.exp(without_continuations(texts, np.log(probabilities))).tolist()


def test_what_goes_on_is_taken_away_once():
    texts = ["Santiago", "Santiago de Chile", "Santiago de", "Chile", "Santiagos"]
    found = left(texts, [0.9, 0.05, 0.06, 0.02, 0.01])
    assert found == pytest.approx([0.84, 0.05, 0.01, 0.02, 0.01])


def test_two_continuations_are_both_taken_away():
    assert left(["a", "a b", "a, c"], [0.9, 0.3, 0.2]) == pytest.approx([0.4, 0.3, 0.2])


def test_something_is_left_of_what_was_sampled_and_nothing_of_the_impossible():
    assert left(["a", "a b"], [0.5, 0.5]) == pytest.approx([0.5 * LEAST, 0.5])
    assert left(["a", "a b"], [0.5, 0.6]) == pytest.approx([0.5 * LEAST, 0.6])
    assert left(["a", "a b"], [0.0, 0.0]) == [0, 0]
    assert left(["a", "a b"], [0.3, 0.0]) == pytest.approx([0.3, 0])


@given(st.data())
def test_of_a_real_distribution_the_answers_add_up_to_it(data):
    """Answers of up to three words, each with its probability to go on: prefixes of them all."""
    going = data.draw(st.lists(st.floats(0.01, 0.9), min_size=4, max_size=4))
    texts, reach = [""], [1.0]
    for depth in range(3):
        for text, p in list(zip(texts, reach, strict=True)):
            if len(text.split()) == depth:
                for i, letter in enumerate(LETTERS):
                    texts.append(f"{text} {letter}".strip())
                    reach.append(p * going[depth] * (0.5, 0.3, 0.2)[i])
    texts, reach = texts[1:], np.array(reach[1:])
    kept = data.draw(st.lists(st.sampled_from(range(len(texts))), min_size=1, unique=True))
    found = without_continuations([texts[i] for i in kept], np.log(reach[kept]))
    assert (found <= np.log(reach[kept]) + 1e-12).all()
    assert np.exp(found).sum() <= going[0] + 1e-9
    if len(kept) == len(texts):
        ends = [p * (1 - going[len(t.split())]) for t, p in zip(texts, reach, strict=True)]
        ends = [e if len(t.split()) < 3 else p for t, e, p in zip(texts, ends, reach, strict=True)]
        np.testing.assert_allclose(np.exp(found), np.array(ends)[kept], rtol=1e-6)


def test_every_row_of_a_table_is_treated_alike():
    table = np.log([[0.5, 0.1], [0.2, 0.1]])
    rows = [without_continuations(["a", "a b"], row) for row in table]
    np.testing.assert_array_equal(without_continuations(["a", "a b"], table), rows)


def test_likelihoods_of_other_texts_are_refused():
    with pytest.raises(ValueError, match="one entry for each text"):
        without_continuations(["a"], [-1.0, -2.0])
