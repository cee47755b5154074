"""Token F1 as TriviaQA compares, and all pairs at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.uncertainty.similarity import (
    COMPARISONS,
    DEFAULT,
    JUDGE,
    SIMILARITIES,
    normalise,
    pairwise,
    reorder,
    token_f1,
    tokens,
)

# Few words, so that texts share them; articles, punctuation and blanks, so that some vanish.
WORDS = st.sampled_from(
    ["the", "The", "a", "an", "new", "York", "york,", "UK", "_", "?!", "é", " "]
)
TEXTS = st.lists(WORDS, max_size=6).map(" ".join) | st.text(max_size=8)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("London, UK", "london uk"),
        ("  The   Beatles! ", "beatles"),
        ("snake_case", "snake case"),
        ("Stratford-upon-Avon", "stratford upon avon"),
        ("an apple a day", "apple day"),
        ("theatre anthem", "theatre anthem"),
        ("The The", ""),
        ("don't", "don t"),
        ("Pelé, Dvořák, Łódź", "pelé dvořák łódź"),
        ("Ærøskøbing", "ærøskøbing"),
        ("Ελλάδα, Чайко́вский", "ελλάδα чайко́вский"),
        ("ガーナ 한국 हिन्दी", "ガーナ 한국 हिन्दी"),
        ("", ""),
    ],
)
def test_normalise(text, expected):
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("London", "London, UK", 2 / 3),
        ("London", "Paris", 0.0),
        ("The London", "london.", 1.0),
        ("The The", "The The", 1.0),
        ("The The", "The", 0.0),
        ("", "", 1.0),
        ("", "?", 0.0),
        ("", "London", 0.0),
        ("new york new york", "new york", 2 / 3),
        ("yes yes", "yes yes yes", 4 / 5),
        ("Pelé", "Pele", 0.0),  # as in TriviaQA's own script, which folds no accents
        ("The King’s Speech", "The King's Speech", 1.0),  # as in TriviaQA's own script
        ("‘Oslo’", "Oslo", 1.0),
    ],
)
def test_token_f1_by_hand(a, b, expected):
    assert token_f1(a, b) == expected


def test_pairs_at_a_quarter_pass_the_threshold():
    """F1 is exactly 1/4 when 8 · overlap = len a + len b: never a hair below it."""
    checked = 0
    for overlap in range(1, 20):
        for length in range(overlap, 8 * overlap - overlap + 1):
            other = 8 * overlap - length
            shared = [f"s{i}" for i in range(overlap)]
            a = " ".join(shared + [f"a{i}" for i in range(length - overlap)])
            assert token_f1(a, " ".join(shared + [f"b{i}" for i in range(other - overlap)])) == 0.25
            checked += 1
    assert checked > 171


@given(TEXTS, TEXTS)
def test_token_f1_is_symmetric_and_bounded(a, b):
    assert token_f1(a, b) == token_f1(b, a)
    assert 0 <= token_f1(a, b) <= 1
    assert token_f1(a, a) == 1
    # 1 means the same multiset of words.
    assert (token_f1(a, b) == 1) == (sorted(tokens(a)) == sorted(tokens(b)))


@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_pairwise_is_token_f1_to_the_last_bit(texts):
    expected = np.array([[token_f1(a, b) for b in texts] for a in texts])
    np.testing.assert_array_equal(pairwise(texts, "token_f1"), expected, strict=True)


@pytest.mark.parametrize("method", SIMILARITIES)
@given(texts=st.lists(TEXTS, min_size=1, max_size=6))
def test_every_similarity_is_a_similarity(method, texts):
    matrix = pairwise(texts, method)
    assert matrix.shape == (len(texts), len(texts))
    assert matrix.dtype == np.float64
    np.testing.assert_array_equal(matrix, matrix.T)
    assert matrix.min() >= 0
    assert matrix.max() <= 1
    for i, a in enumerate(texts):
        for j, b in enumerate(texts):
            assert a != b or matrix[i, j] == 1


def test_a_ratio_is_rapidfuzz_on_a_scale_of_one():
    # 6 of 6 + 10 characters in common, twice over both lengths.
    assert pairwise(["London", "London, UK"], "ratio")[0, 1] == 2 * 6 / 16
    assert pairwise(["London", "London, UK"], "partial_ratio")[0, 1] == 1
    assert pairwise(["UK London", "London UK"], "token_sort_ratio")[0, 1] == 1


@pytest.mark.parametrize(
    ("responses", "method", "sentence"),
    [
        ([], "token_f1", "one or more texts"),
        ("London", "token_f1", "sequence of one or more texts"),
        (["London", None], "token_f1", "texts and nothing else"),
        (["London"], "bertscore", "Unknown similarity 'bertscore': choose one of same_answer, tok"),
    ],
)
def test_bad_input_says_how_to_mend_it(responses, method, sentence):
    with pytest.raises(ValueError, match=sentence):
        pairwise(responses, method)


GIVEN = [[1.0, 0.1, 0.2], [0.1, 1.0, 0.3], [0.2, 0.3, 1.0]]


def test_a_given_matrix_is_put_in_another_order():
    found = reorder(["c", "a"], ["a", "b", "c"], GIVEN)
    np.testing.assert_array_equal(found, [[1.0, 0.2], [0.2, 1.0]], strict=True)


def test_a_matrix_that_does_not_fit_says_how_to_mend_it():
    with pytest.raises(ValueError, match="lacks 'x': compare every response"):
        reorder(["a", "x"], ["a", "b", "c"], GIVEN)
    with pytest.raises(ValueError, match="must have shape"):
        reorder(["a"], ["a", "b"], GIVEN)


def test_the_judge_is_a_similarity_that_is_not_computed_here():
    assert {*COMPARISONS} - {*SIMILARITIES} == {JUDGE}
    assert next(iter(COMPARISONS)) == DEFAULT  # what forms begin with
    assert all(sentence.endswith(".") for sentence in COMPARISONS.values())
    with pytest.raises(ValueError, match="Unknown similarity 'judge'"):
        pairwise(["London"], JUDGE)
