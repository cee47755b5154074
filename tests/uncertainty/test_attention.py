"""One idealised head: the paper's formula, its closed form, and the three cases of Section 3.1."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import softmax

from core.uncertainty.attention import (
    CASES,
    Head,
    crossing,
    ideal_head,
    output,
    principal,
    repeat,
    spread,
    weight_on_query,
    weights,
)

DIMENSIONS = st.integers(3, 48)
SHARES = st.floats(0, 1)
SEEDS = st.integers(0, 200)
IDEAL = st.builds(ideal_head, dimension=DIMENSIONS, in_span=SHARES, seed=SEEDS)
TIMES = st.lists(st.integers(0, 300), min_size=1, max_size=5)


@st.composite
def heads(draw):
    """Any head: d′, d and the width of the values all differ, so that none stands for another."""
    wide, narrow, values = draw(st.permutations([2, 3, 5]))

    def some(*shape):
        return draw(arrays(float, shape, elements=st.floats(-1, 1, width=32)))

    return Head(
        query=some(wide, narrow),
        key=some(wide, narrow),
        value=some(wide, values),
        x=some(wide),
        y=some(wide),
        end=some(wide),
    )


def by_definition(head, z):
    """Softmax(E⊤ W_Q (Z W_K)⊤ / √d), one product of numbers at a time."""
    wide, narrow = head.query.shape
    logits = []
    for row in z:
        asked = [sum(head.end[i] * head.query[i, j] for i in range(wide)) for j in range(narrow)]
        held = [sum(row[i] * head.key[i, j] for i in range(wide)) for j in range(narrow)]
        logits.append(sum(a * h for a, h in zip(asked, held, strict=True)) / math.sqrt(narrow))
    return softmax(logits)


# -------------------------------------------------------------------------- the formula


@given(heads(), st.integers(0, 4))
def test_the_weights_are_the_papers_softmax(head, t):
    z = head.rows(t)
    found = weights(head, z)
    assert found.shape == (1 + t,)
    assert found.sum() == pytest.approx(1)
    np.testing.assert_allclose(found, by_definition(head, z), rtol=1e-9)


@given(heads(), st.integers(0, 4))
def test_the_output_is_the_weighted_mean_of_the_values(head, t):
    z = head.rows(t)
    expected = sum(w * (row @ head.value) for w, row in zip(weights(head, z), z, strict=True))
    np.testing.assert_allclose(output(head, z), expected, atol=1e-9)


@given(heads(), st.integers(0, 6))
def test_the_rows_are_the_query_and_then_the_copies(head, t):
    z = head.rows(t)
    assert z.shape == (1 + t, len(head.x))
    np.testing.assert_array_equal(z[0], head.x)
    assert all((row == head.y).all() for row in z[1:])


def test_a_constant_added_to_all_logits_changes_no_weight():
    """Logits of a million: only their differences count, and nothing overflows."""
    one = np.eye(1)
    head = Head(one, one, one, np.array([1e6]), np.array([1e6 - math.log(3)]), np.ones(1))
    np.testing.assert_allclose(weights(head, head.rows(1)), [3 / 4, 1 / 4])


# --------------------------------------------------------------------- the closed form


@given(IDEAL, heads(), TIMES)
def test_the_closed_form_is_what_any_head_computes(ideal, head, times):
    for each in (ideal, head):
        found = repeat(each, times)
        np.testing.assert_allclose(found.on_query, found.closed_form, rtol=1e-9)
        np.testing.assert_allclose(found.closed_form, weight_on_query(found.gap, times))
        np.testing.assert_array_equal(found.repetitions, times)


@given(DIMENSIONS, SHARES, st.floats(0, 30), SEEDS)
def test_the_gap_is_the_strength_of_what_lies_in_the_span(dimension, in_span, strength, seed):
    """Strength · (share of X − ⟨u, Y⟩): E is the direction u itself."""
    head = ideal_head(dimension=dimension, in_span=in_span, strength=strength, seed=seed)
    expected = strength * (in_span - head.y @ head.end)
    assert repeat(head, [1]).gap == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("odds", "t", "expected"), [(9, 1, 0.9), (9, 9, 0.5), (1, 3, 0.25)])
def test_the_closed_form_by_hand(odds, t, expected):
    assert weight_on_query(math.log(odds), t) == pytest.approx(expected)


@given(st.floats(-30, 30))
def test_the_copies_weigh_as_much_as_the_query_where_it_is_overtaken(gap):
    assert weight_on_query(gap, crossing(gap)) == pytest.approx(0.5)
    assert crossing(gap) == pytest.approx(math.exp(gap))


@pytest.mark.parametrize("gap", [-1e4, -700.0, 700.0, 710.0, 1e4, 1e300])
def test_huge_gaps_are_weights_all_the_same(gap):
    found = weight_on_query(gap, [0, 1, 1000])
    assert ((found >= 0) & (found <= 1)).all()
    assert found[0] == 1
    np.testing.assert_allclose(found[1:], float(gap > 0), atol=1e-300)
    assert math.isfinite(crossing(gap))


# ------------------------------------------------------------------------- the answers


@given(IDEAL, TIMES)
def test_the_output_is_the_two_answers_in_the_shares_of_the_weights(head, times):
    found = repeat(head, times)
    np.testing.assert_allclose(found.on_query + found.on_copies, 1)
    np.testing.assert_allclose(found.in_weight + found.in_context, 1, atol=1e-6)
    np.testing.assert_allclose(found.in_weight, found.on_query, atol=1e-6)
    np.testing.assert_allclose(found.in_context, found.on_copies, atol=1e-6)


@given(DIMENSIONS, SHARES, SEEDS)
def test_the_query_has_its_own_answer_and_the_statement_its_own(dimension, in_span, seed):
    head = ideal_head(dimension=dimension, in_span=in_span, seed=seed)
    np.testing.assert_allclose(head.x @ head.value, [1, 0], atol=1e-6)
    np.testing.assert_allclose(head.y @ head.value, [0, 1], atol=1e-6)
    assert [np.linalg.norm(v) for v in (head.x, head.y, head.end)] == pytest.approx([1, 1, 1])
    assert head.x @ head.end == pytest.approx(in_span)


# ---------------------------------------------------------------------- the three cases


def test_the_three_cases_of_the_paper():
    """“Even if X is in the span, repeating Y t times … can dominate”: for t = 10⁸, closed form."""
    often, sometimes, never = (
        repeat(ideal_head(in_span=CASES[name]), [1, 10, 100, 1000])
        for name in ("seen often", "seen sometimes", "never seen")
    )
    assert often.in_weight[:3].min() > 0.99
    assert crossing(often.gap) > 10_000
    assert weight_on_query(often.gap, 10**8) < 0.01
    assert sometimes.in_weight[0] > 0.9
    assert sometimes.in_context[3] > 0.8
    assert 1 < crossing(sometimes.gap) < 1000
    assert never.in_context[1] > 0.8


def test_the_three_cases_are_no_matter_of_luck():
    """Whatever random Y: ten copies turn what was never seen, a hundred not what is known."""
    for seed in range(20):
        known = repeat(ideal_head(in_span=CASES["seen often"], seed=seed), [100])
        never = repeat(ideal_head(in_span=CASES["never seen"], seed=seed), [10])
        assert known.in_weight[0] > 0.99
        assert never.in_context[0] > 0.5


@pytest.mark.parametrize("dimension", [3, 12, 48, 192])
def test_a_statement_touches_the_span_by_chance_and_less_in_more_dimensions(dimension):
    """⟨u, Y⟩² is 1 / d′ on average: 300 heads tell it to a third."""
    drawn = (ideal_head(dimension=dimension, seed=seed) for seed in range(300))
    overlap = np.mean([(head.y @ head.end) ** 2 for head in drawn])
    assert overlap == pytest.approx(1 / dimension, rel=0.33)


def test_a_seed_is_a_head():
    same, again, other = (ideal_head(dimension=8, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(same.y, again.y)
    assert not np.allclose(same.y, other.y)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"dimension": 2}, "The dimension is 2; choose at least 3."),
        ({"in_span": -0.1}, "The share of X in the span is -0.1; choose one from 0 to 1."),
        ({"in_span": 1.5}, "The share of X in the span is 1.5; choose one from 0 to 1."),
        ({"in_span": math.nan}, "The share of X in the span is nan; choose one from 0 to 1."),
    ],
)
def test_a_head_out_of_range_is_refused_with_a_sentence(wrong, says):
    with pytest.raises(ValueError) as caught:
        ideal_head(**wrong)
    assert str(caught.value) == says


# ----------------------------------------------------------------- the numbers of copies


@given(st.integers(0, 100_000))
def test_the_numbers_of_copies_are_dense_at_first_and_end_where_they_should(most):
    found = spread(most)
    assert found[: min(most, 10) + 1] == tuple(range(min(most, 10) + 1))
    assert found[-1] == most
    assert list(found) == sorted(set(found))
    assert len(found) <= 31


def test_later_numbers_of_copies_lie_further_apart():
    """From 10 to 100,000 in 19 equal factors, each 10^(4/19) ≈ 1.62."""
    later = np.array(spread(100_000)[10:])
    np.testing.assert_allclose(later[1:] / later[:-1], 10 ** (4 / 19), rtol=0.05)


# ------------------------------------------------------------------ principal components


def matrices(seed, d, width, size):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(2, d, width)), rng.normal(size=(size, d))


@given(st.integers(0, 999), st.integers(1, 8), st.integers(1, 6), st.floats(0.05, 1))
def test_principal_components_are_those_of_the_whole_product(seed, d, width, share):
    (query, key), (end, x) = matrices(seed, d, width, 2)
    found = principal(query, key, share)
    left, sizes, right = np.linalg.svd(query @ key.T)
    r = len(found.sizes)
    np.testing.assert_allclose(found.sizes, sizes[:r], atol=1e-9)
    held = np.cumsum(sizes**2) / (sizes**2).sum()
    assert held[r - 1] >= share - 1e-9 and (r == 1 or held[r - 2] < share)
    # Signs are arbitrary, spans and products are not.
    np.testing.assert_allclose(
        found.overlap(x), np.square(right[:r] @ x).sum() / np.square(x).sum(), atol=1e-9
    )
    product = (left[:, :r] * sizes[:r]) @ right[:r]
    assert found.logit(end, x, width) == pytest.approx(end @ product @ x / np.sqrt(width))


def test_all_components_together_are_the_heads_own_logit():
    head = ideal_head(dimension=20, in_span=0.3, strength=5.0)
    found = principal(head.query, head.key, 1.0)
    logits = found.logit(head.end, np.stack([head.x, head.y]), head.query.shape[1])
    np.testing.assert_allclose(logits, head.logits([head.x, head.y]))
    # Its one direction is u, in which X has the share of its squared length.
    assert len(principal(head.query, head.key).sizes) == 1
    assert principal(head.query, head.key).overlap(head.x) == pytest.approx(0.3**2)


def test_a_random_vector_has_the_share_of_the_dimensions():
    (query, key), x = matrices(0, 50, 10, 4000)
    assert principal(query, key, 1.0).overlap(x).mean() == pytest.approx(10 / 50, abs=0.005)


def test_no_product_has_no_components():
    with pytest.raises(ValueError, match="product is 0"):
        principal(np.zeros((3, 2)), np.ones((3, 2)))
    with pytest.raises(ValueError, match="choose one above 0"):
        principal(np.ones((3, 2)), np.ones((3, 2)), 0)
