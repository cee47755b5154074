"""The limit is too high as seldom as it says, whichever of the drawn texts were scored."""

import itertools
import math

import numpy as np
import pytest

from core.uncertainty.confidence_limit import (
    allowance,
    empirical_information,
    lower_confidence_limit,
)
from core.uncertainty.joint import from_table
from tests.uncertainty.test_certified_bound import random_model

SIZE, DRAWS = 3, 4
SAMPLES = np.array(list(itertools.product(range(SIZE), repeat=DRAWS)))  # all there are
MODELS = 100


def log(probabilities):
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def models():
    """First answers and rows of tiny models, from independent to copying."""
    rng = np.random.default_rng(11)
    while True:
        first, rows = random_model(rng)
        if len(first) == SIZE:
            yield first, rows


def information(first, rows):
    return from_table(np.minimum(log(first[:, None] * rows), 0)).value


def of_samples(rows):
    """L of every sample there is, (SIZE ** DRAWS,)."""
    every = (SAMPLES[:, :, None] == np.arange(SIZE)).sum(axis=1)
    counts, place = np.unique(every, axis=0, return_inverse=True)
    return np.array([empirical_information(n, log(rows)) for n in counts])[place]


def upper(rows):
    """Return mean ln [Q(y_i|a_i) / mean over j ≠ i of Q(y_i|a_j)], averaged over all y_i."""
    told = rows[SAMPLES]  # (samples, draws, answers)
    others = (1 - np.eye(DRAWS)) @ told / (DRAWS - 1)
    return (told * log(told / others)).sum(axis=2).mean(axis=1)


def test_by_hand():
    copied = log(np.eye(3))
    whole = empirical_information([2, 1, 1], copied)
    assert whole == pytest.approx(1.5 * math.log(2))  # the entropy of a half and two quarters
    assert empirical_information([2, 1, 1], copied, draws=8) == pytest.approx(whole / 2)
    assert empirical_information([2, 1, 1, 0], log(np.eye(4))) == pytest.approx(whole)
    assert empirical_information([3, 4], log([[0.5, 0.2]] * 2)) == 0
    assert allowance(2, 0.9) == pytest.approx(math.log(2) * math.sqrt(math.log(10)))
    of_one_in_100 = 0.01 * math.log(100) + 0.99 * math.log(1 / 0.99)
    assert lower_confidence_limit([50, 50], log(np.eye(2)), confidence=0.95) == pytest.approx(
        math.log(2) - of_one_in_100 * math.sqrt(50 * math.log(20))
    )
    assert lower_confidence_limit([1], [[-1.0]]) == 0  # one draw tells nothing


def test_the_information_lies_between_both_means():
    """Of every sample of four draws from tiny models, and every answer after each draw."""
    for first, rows in itertools.islice(models(), MODELS):
        chances = first[SAMPLES].prod(axis=1)
        truth = information(first, rows)
        assert chances @ of_samples(rows) <= truth + 1e-10
        assert truth <= chances @ upper(rows) + 1e-10


def test_it_is_too_high_as_seldom_as_it_says():
    """The exact chance, over every sample; the mean itself is often above the truth."""
    unlimited = []
    for first, rows in itertools.islice(models(), MODELS):
        chances, found = first[SAMPLES].prod(axis=1), of_samples(rows)
        truth = information(first, rows)
        unlimited.append(chances @ (found > truth + 1e-10))
        for confidence in (0.02, 0.1, 0.5, 0.9):
            limits = found - allowance(DRAWS, confidence)
            assert chances @ (limits > truth + 1e-10) <= 1 - confidence
    assert np.mean(unlimited) > 0.1


def test_one_draw_moves_it_by_no_more_than_its_own_entropy():
    most = 0.25 * math.log(4) + 0.75 * math.log(4 / 3)
    sharp = np.array([[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0]])
    for rows in (sharp, *(rows for _, rows in itertools.islice(models(), MODELS))):
        found = of_samples(rows).reshape((SIZE,) * DRAWS)
        assert np.ptp(found, axis=0).max() <= most + 1e-10
    assert np.ptp(of_samples(sharp).reshape((SIZE,) * DRAWS), axis=0).max() == pytest.approx(most)


def test_what_was_not_scored_only_lowers_it():
    """Texts and columns left out, columns lumped: whatever depends on the sample may choose."""
    rng = np.random.default_rng(5)
    for _ in range(300):
        first, rows = random_model(rng)
        counts = rng.multinomial(30, first)
        seen = np.flatnonzero(counts)
        scored = rng.permutation(seen)[: rng.integers(1, len(seen) + 1)]
        columns = rng.permutation(len(first))[: rng.integers(1, len(first) + 1)]
        lumped = rows[np.ix_(scored, columns)]
        if len(columns) > 1:
            lumped = np.column_stack([lumped[:, 0] + lumped[:, 1], lumped[:, 2:]])
        found = empirical_information(counts[scored], log(lumped), draws=30)
        assert -1e-10 <= found <= empirical_information(counts, log(rows)) + 1e-10


@pytest.mark.parametrize(
    ("counts", "rows", "options", "sentence"),
    [
        ([1, 1], np.log([[0.7, 0.4]] * 2), {}, "of one row add up to 1.1"),
        ([1], [[-1, -1]] * 2, {}, r"counts must have shape \(2,\)"),
        ([0, 0], [[-1, -1]] * 2, {}, "counts are all 0"),
        ([0.5, 1], [[-1, -1]] * 2, {}, "whole numbers"),
        ([1, 1], [[-1, np.nan]] * 2, {}, "NaN"),
        ([1, 1], [[-1, -1]] * 2, {"draws": 1}, "2 first answers of 1 draws"),
        ([1, 1], [[-1, -1]] * 2, {"confidence": 1}, "between 0 and 1"),
    ],
)
def test_bad_input_says_how_to_mend_it(counts, rows, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        lower_confidence_limit(counts, rows, **options)
