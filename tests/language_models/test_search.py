"""The search for the likeliest answers, against a list of all answers of small models."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.language_models import search

END, STOP, LETTERS = 0, 1, "ab "


def small_model(seed, length):
    """Return ln p of the next token after every beginning; answers have at most `length` letters.

    Token 0 ends an answer, token 1 ends it too, but as no whole one; the others are letters.
    """
    rng = np.random.default_rng(seed)
    table = {}
    for size in range(length + 1):
        for beginning in itertools.product(range(2, 2 + len(LETTERS)), repeat=size):
            p = rng.dirichlet(np.full(2 + len(LETTERS), 0.6))
            if size == length:
                p = np.array([0.7, 0.3, 0, 0, 0])
            with np.errstate(divide="ignore"):
                table[beginning] = np.log(p)
    return table


def text_of(tokens):
    return "".join(LETTERS[t - 2] for t in tokens).strip()


def every_answer(table):
    """Every text but none, with its likelihood by the likeliest of its spellings."""
    found = {}
    for beginning in table:
        value = (
            sum(table[beginning[:i]][t] for i, t in enumerate(beginning)) + table[beginning][END]
        )
        found[text_of(beginning)] = max(value, found.get(text_of(beginning), -np.inf))
    found.pop("")
    return sorted(found.items(), key=lambda pair: -pair[1])


def searched(table, count):
    present = [()]

    def extend(rows, tokens):
        present[:] = [(*present[i], t) for i, t in zip(rows, tokens.tolist(), strict=True)]
        return np.array([table[beginning] for beginning in present])

    return search.likeliest(
        table[()],
        extend,
        count=count,
        ends=[END],
        is_stop=lambda tokens: tokens == STOP,
        text_of=text_of,
    )


@given(st.integers(0, 10**6), st.integers(0, 4), st.integers(1, 12))
def test_it_finds_the_likeliest_of_all_answers(seed, length, count):
    table = small_model(seed, length)
    wanted, found = every_answer(table)[:count], searched(table, count)
    assert [text for text, _ in found] == [text for text, _ in wanted]
    np.testing.assert_allclose([p for _, p in found], [p for _, p in wanted])


def test_with_too_many_beginnings_it_goes_on_with_the_likeliest(monkeypatch):
    """One beginning at a time is what always choosing the likeliest letter finds."""
    monkeypatch.setattr(search, "LEAST_WIDTH", 1)
    table = small_model(3, 4)
    ((text, _),) = searched(table, 1)
    assert text in {text for text, _ in every_answer(table)}


def test_nothing_at_all_is_no_answer():
    with np.errstate(divide="ignore"):
        only_ends = {(): np.log([0.7, 0.3, 0, 0, 0])}
    assert searched(only_ends, 3) == []


@pytest.mark.parametrize("ends", [[END], [END, STOP]])
def test_all_tokens_that_end_an_answer_count(ends):
    opening = np.log([0.2, 0.3, 0.1, 0.1, 0.3])
    found = search.likeliest(
        opening,
        lambda rows, tokens: np.tile(np.log([0.1, 0.1, 0.3, 0.3, 0.2]), (len(rows), 1)),
        count=1,
        ends=ends,
        is_stop=lambda tokens: tokens == STOP,
        text_of=text_of,
    )
    assert found == [("a", pytest.approx(np.log(0.1 * 0.1 * len(ends))))]
