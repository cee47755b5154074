"""The certified bound holds for every model and every set of texts, and becomes exact."""

import numpy as np
import pytest

from core.uncertainty.certified_bound import certified_lower_bound, lump
from core.uncertainty.joint import from_table

MODELS = 2000


def random_model(rng):
    """A first-answer distribution and rows, from independent to copying, spread or peaked."""
    size = int(rng.integers(2, 13))
    spread = rng.choice([0.05, 0.3, 1.0, 5.0])
    first = np.maximum(rng.dirichlet(np.full(size, spread)), 1e-300)
    rows = rng.dirichlet(np.full(size, spread), size=size)
    kind = rng.integers(3)
    if kind == 0:  # independent: a second answer like any other
        rows = np.tile(rows[0], (size, 1))
    elif kind == 1:  # copying, more or less
        copies = rng.random()
        rows = copies * np.eye(size) + (1 - copies) * rows
    first /= first.sum()
    return first, np.maximum(rows / rows.sum(axis=1, keepdims=True), 1e-300)


def information(first, rows):
    return from_table(np.minimum(np.log(first[:, None] * rows + 1e-320), 0)).value


@pytest.mark.slow
@pytest.mark.parametrize("lumped", [False, True])
def test_never_above_the_exact_value(lumped):
    """Texts sampled from the model, or picked without regard to it: no difference."""
    rng = np.random.default_rng(20240604)
    highest, positive = -np.inf, 0
    for _ in range(MODELS):
        first, rows = random_model(rng)
        size = len(first)
        picked = rng.choice(size, p=rng.choice([first, np.full(size, 1 / size)]), size=size)
        texts = np.unique(picked)
        table = np.log(first[texts]), np.log(rows[np.ix_(texts, texts)])
        if lumped:
            labels = np.unique(rng.integers(0, 3, size=len(texts)), return_inverse=True)[1]
            table = lump(*table, labels)
        bound, truth = certified_lower_bound(*table), information(first, rows)
        highest = max(highest, bound - truth)
        positive += bound > 0.05
        assert bound >= 0
    assert highest <= 1e-10
    assert positive > MODELS / 10  # it does say something


def test_grows_with_the_sample_up_to_the_exact_value():
    rng = np.random.default_rng(3)
    for _ in range(200):
        first, rows = random_model(rng)
        order = rng.permutation(len(first))
        bounds = [
            certified_lower_bound(np.log(first[seen]), np.log(rows[np.ix_(seen, seen)]))
            for seen in (order[:r] for r in range(1, len(first) + 1))
        ]
        assert (np.diff(bounds) >= -1e-10).all()
        assert bounds[0] == 0
        assert bounds[-1] == pytest.approx(information(first, rows), abs=1e-9)


def test_lumping_never_raises_it():
    rng = np.random.default_rng(4)
    for _ in range(200):
        first, rows = random_model(rng)
        seen = rng.permutation(len(first))[: max(2, len(first) - 2)]
        table = np.log(first[seen]), np.log(rows[np.ix_(seen, seen)])
        labels = np.unique(rng.integers(0, 3, size=len(seen)), return_inverse=True)[1]
        assert certified_lower_bound(*lump(*table, labels)) <= certified_lower_bound(*table) + 1e-10


def test_by_hand():
    """Half of the mass seen, and both texts copied for sure: half of ln 2."""
    with np.errstate(divide="ignore"):
        copied = certified_lower_bound(np.log([0.25, 0.25]), np.log(np.eye(2)))
    assert copied == pytest.approx(0.5 * np.log(2))
    # Rows that agree, whatever they leave out, tell nothing.
    assert certified_lower_bound(np.log([0.5, 0.25]), np.log([[0.5, 0.2]] * 2)) == 0
    # Texts that never come second: all rows are "anything else".
    assert certified_lower_bound([-1.0, -2.0], np.full((2, 2), -np.inf)) == 0


def test_lump_mixes_rows_with_their_weights():
    rows = np.array([[0.6, 0.1, 0.1], [0.2, 0.5, 0.1], [0.1, 0.1, 0.3]])
    marginal, lumped = lump(np.log([0.3, 0.1, 0.2]), np.log(rows), [0, 0, 1])
    np.testing.assert_allclose(np.exp(marginal), [0.4, 0.2])
    np.testing.assert_allclose(
        np.exp(lumped), [[0.75 * 0.7 + 0.25 * 0.7, 0.75 * 0.1 + 0.25 * 0.1], [0.2, 0.3]]
    )


def test_tiny_likelihoods():
    assert certified_lower_bound([-2000, -2000], [[-1, -3], [-3, -1]]) == 0
    assert 0 <= certified_lower_bound([-1, -1], [[-2000, -2001], [-2001, -2000]]) < 1e-12
    marginal, rows = lump([-2000, -2000], [[-2000, -2001], [-2001, -2000]], [0, 0])
    np.testing.assert_allclose(marginal, [np.log(2) - 2000])
    np.testing.assert_allclose(rows, [[np.log1p(np.exp(-1)) - 2000]])


@pytest.mark.parametrize("excess", [5e-7, 9e-3], ids=["float", "half precision"])
def test_a_hair_more_than_everything_is_rounding_and_normalised(excess):
    hair = np.log1p(excess)
    first, rows = np.log([0.5, 0.5]), np.log([[0.9, 0.1], [0.1, 0.9]])
    whole = certified_lower_bound(first, rows)
    assert certified_lower_bound(first + hair, rows + hair) == pytest.approx(whole)
    one = lump(first + hair, rows + hair, [0, 0])  # all of them are one answer
    assert one == (pytest.approx([0]), pytest.approx(np.zeros((1, 1))))
    assert certified_lower_bound(*one) == 0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: certified_lower_bound(np.log([0.7, 0.4]), [[-1, -1]] * 2), "add up to 1.1"),
        (lambda: certified_lower_bound([-1, -1], np.log([[0.7, 0.4]] * 2)), "of one row add up"),
        (lambda: certified_lower_bound([-1, -1], [[-1, -1]]), r"must have shape \(2, 2\)"),
        (lambda: certified_lower_bound([], [[]]), "empty"),
        (lambda: certified_lower_bound([np.nan], [[-1]]), "NaN"),
        (lambda: certified_lower_bound([-np.inf], [[-1]]), "cannot be normalised"),
        (lambda: certified_lower_bound([0.1], [[-1]]), "at most 0"),
        (lambda: lump([-1, -1], [[-1, -1]] * 2, [0]), "1 entries for 2"),
        (lambda: lump(np.log([0.7, 0.4]), [[-1, -1]] * 2, [0, 0]), "question add up to 1.1"),
        (lambda: lump([-1, -1], np.log([[0.7, 0.4]] * 2), [0, 0]), "one of them add up to 1.1"),
        (lambda: lump([-1, -1], [[-1]] * 2, [0, 0]), r"must have shape \(2, 2\)"),
        (lambda: lump([-1, -np.inf], [[-1, -1]] * 2, [0, 1]), "cannot be normalised"),
    ],
)
def test_bad_input_says_how_to_mend_it(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
