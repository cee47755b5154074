"""Draws without replacement, against counting them out, and what they make of an information."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.studies.inspection.verdict import Decision, decide
from core.uncertainty.chance import (
    MOST_DRAWS,
    adjustment_of_counts,
    adjustment_of_pairs,
    dealt_estimates,
    expected_entropy_of_mixture,
    expected_entropy_of_rows,
)
from core.uncertainty.clustering import aggregate
from core.uncertainty.joint import compare
from core.uncertainty.logarithms import log_normalise, log_sum_exp
from core.uncertainty.mutual_information import from_tuples
from core.uncertainty.sampled_evidence import from_chains
from core.uncertainty.scores import SCORES
from tests.studies.inspection.rules import default_rule


def h(shares):
    shares = np.asarray(shares, dtype=float)
    shares = shares[shares > 0]
    return float(-(shares * np.log(shares)).sum())


def every_draw(row, n):
    """Return the kinds of every way to draw n of what a row holds, one by one."""
    return list(itertools.permutations(np.repeat(np.arange(len(row)), row), n))


def counted_out(weights, counts, n):
    """Sum over which row each draw is of, and over every way to draw those from their rows."""
    total = 0.0
    for rows in itertools.product(range(len(weights)), repeat=n):
        drawn = [every_draw(counts[i], rows.count(i)) for i in range(len(weights))]
        entropies = [
            h(np.bincount(sum(kinds, ()), minlength=counts.shape[1]) / n)
            for kinds in itertools.product(*drawn)
        ]
        total += math.prod(weights[i] for i in rows) * np.mean(entropies)
    return total


TABLES = [
    ([0.7, 0.3], [[3, 1, 0], [1, 2, 1]], 3),
    ([0.5, 0.5], [[2, 0], [0, 2]], 2),
    ([0.2, 0.3, 0.5], [[2, 1], [1, 1], [0, 3]], 2),
    ([1.0], [[2, 2, 1]], 4),
]


@pytest.mark.parametrize(("weights", "counts", "n"), TABLES)
def test_draws_are_as_counted_out(weights, counts, n):
    counts = np.array(counts)
    mixture = expected_entropy_of_mixture(np.array(weights), counts.astype(float), n)
    assert mixture == pytest.approx(counted_out(weights, counts, n))
    of_rows = [
        np.mean([h(np.bincount(kinds, minlength=len(row)) / n) for kinds in every_draw(row, n)])
        for row in counts
    ]
    assert expected_entropy_of_rows(counts.astype(float), n) == pytest.approx(of_rows)


@given(arrays(np.int64, st.integers(1, 8), elements=st.integers(1, 40)))
def test_all_that_was_drawn_has_the_entropy_that_was_counted(row):
    counts = row[None].astype(float)
    n = int(row.sum())
    assert expected_entropy_of_rows(counts, n)[0] == pytest.approx(h(row / n), abs=1e-9)


@given(
    arrays(np.int64, (3, 5), elements=st.integers(0, 20)).filter(lambda t: (t.sum(1) > 0).all()),
    st.tuples(*[st.integers(1, 9)] * 3),
)
def test_a_draw_more_never_lowers_the_entropy_and_no_order_of_rows_matters(counts, weights):
    weights = np.array(weights) / sum(weights)
    counts = counts.astype(float)
    most = int(min(counts.sum(axis=1).min(), 12))
    entropies = [expected_entropy_of_mixture(weights, counts, n) for n in range(1, most + 1)]
    assert entropies[0] == pytest.approx(0, abs=1e-9)
    assert (np.diff(entropies) > -1e-9).all()
    turned = expected_entropy_of_mixture(weights[::-1], counts[::-1], most)
    assert turned == pytest.approx(entropies[-1], abs=1e-9)


def test_independent_answers_have_no_difference_on_average_whatever_the_weights_and_sizes():
    """400 tables of rows of 8 to 40 draws; the standard error is about .002."""
    rng = np.random.default_rng(3)
    weights, sizes = np.array([0.6, 0.3, 0.05, 0.05]), (8, 40, 12, 25)
    shares = np.array([0.3, 0.2, *[0.05] * 10])
    found = []
    for _ in range(400):
        counts = np.array([rng.multinomial(size, shares) for size in sizes], dtype=float)
        of_rows = weights @ expected_entropy_of_rows(counts, 8)
        found.append(expected_entropy_of_mixture(weights, counts, 8) - of_rows)
    assert abs(np.mean(found)) < 4 * np.std(found) / 20
    assert np.std(found) / 20 < 0.003


def test_many_draws_are_compared_by_fewer_of_them():
    """A million answers to a prompt are no more work than fifty, and say the same."""
    few = np.array([[30, 20], [20, 30]], dtype=float)
    many = few * 10**6
    weights = np.array([0.5, 0.5])
    rows = few / 50
    information = h(weights @ rows) - weights @ [h(row) for row in rows]
    assert MOST_DRAWS == 50
    assert information + adjustment_of_counts(weights, many) == pytest.approx(information, rel=0.05)


LOGS = st.floats(-20, -0.1) | st.floats(-2000, -0.1)
GAMMAS = st.sampled_from([(0.0, 0.0), (0.1, 0.1), (0.01, 0.2), (0.5, 0.0)])
NAMES = [f"word{i}" for i in range(40)]  # one word each: no two are alike


@st.composite
def tables(draw, independent=False):
    """Sampled pairs of texts with their likelihoods, and a partition of the texts."""
    v = draw(st.integers(1, 6))
    index = st.integers(0, v - 1)
    pairs = np.array(draw(st.lists(st.tuples(index, index), min_size=1, max_size=15)))
    first = draw(arrays(float, v, elements=LOGS))
    rows = draw(arrays(float, (1 if independent else v, v), elements=LOGS))
    labels = np.unique(draw(arrays(np.int64, v, elements=index)), return_inverse=True)[1]
    drawn = np.full((v, v), -np.inf)
    drawn[tuple(pairs.T)] = np.broadcast_to(rows, (v, v))[tuple(pairs.T)]
    return pairs, first, drawn, labels


def algorithm_2(pairs, log_p, labels, gammas):
    """The estimate from pairs of texts, each distinct one once, and the partition."""
    texts = {tuple(pair): p for pair, p in zip(pairs.tolist(), log_p, strict=True)}
    cells = {}
    for (a, b), p in texts.items():
        cell = labels[a], labels[b]
        cells[cell] = np.logaddexp(cells.get(cell, -np.inf), p)
    # from_tuples takes likelihoods of at most 1; a factor changes nothing.
    log_cells = np.array(list(cells.values()))
    log_cells -= max(0.0, log_cells.max())
    return from_tuples(list(cells), log_cells, gamma_1=gammas[0], gamma_2=gammas[1]).value


def after_any(pairs, first, drawn):
    """The mean likelihood of each second answer over the distinct ones that it came after."""
    found = {}
    for b in set(pairs[:, 1].tolist()):
        told = sorted({a for a, second in pairs.tolist() if second == b})
        weights = first[told] - np.logaddexp.reduce(first[told])
        found[b] = np.logaddexp.reduce(weights + drawn[told, b])
    return found


@given(tables(), GAMMAS)
def test_estimates_are_algorithm_2_on_every_way_to_deal(case, gammas):
    pairs, first, drawn, labels = case
    found = dealt_estimates(pairs, first, drawn, labels, gamma_1=gammas[0], gamma_2=gammas[1])
    mean = after_any(pairs, first, drawn)
    expected = []
    for way in range(1, len(pairs)):
        onwards = np.column_stack([pairs[:, 0], np.roll(pairs[:, 1], -way)])
        log_p = [first[a] + mean[b] for a, b in onwards.tolist()]
        expected.append(algorithm_2(onwards, log_p, labels, gammas))
    np.testing.assert_allclose(found, expected, atol=1e-9)


@given(tables(independent=True))
def test_of_independent_answers_the_difference_is_0_on_average(case):
    """All ways to deal are equally likely: over them the differences add up to 0, exactly."""
    pairs, first, drawn, labels = case
    # Of what was never drawn nothing is known, so the likelihoods of a dealt sample are built.
    rows = np.full(drawn.shape, -np.inf)
    for b in set(pairs[:, 1].tolist()):
        rows[:, b] = drawn[:, b].max()
    differences, highest = [], 0
    for way in range(len(pairs)):
        onwards = np.column_stack([pairs[:, 0], np.roll(pairs[:, 1], -way)])
        seen = np.full(rows.shape, -np.inf)
        seen[tuple(onwards.T)] = rows[tuple(onwards.T)]
        cells = aggregate(aggregate(first[:, None] + seen, labels, axis=0), labels, axis=1)
        joint, mass = log_normalise(cells)
        product = log_sum_exp(joint, axis=1)[:, None] + log_sum_exp(joint, axis=0)
        information = compare(joint, product, float(mass)).value
        others = dealt_estimates(onwards, first, seen, labels)
        differences.append(information - others.mean() if others.size else 0.0)
        highest += bool(others.size) and information > others.max() + 1e-9
    assert np.mean(differences) == pytest.approx(0, abs=1e-9)
    assert highest <= 1


@pytest.mark.parametrize("name", ["gamma_1", "gamma_2"])
def test_negative_stabilisers_are_refused(name):
    one, labels = np.zeros((1, 1)), np.zeros(1, dtype=np.int64)
    with pytest.raises(ValueError, match=name):
        dealt_estimates(np.array([[0, 0], [0, 0]]), one[0], one, labels, **{name: -0.1})


# ------------------------------------------------------------------------ the adjustment


@given(
    st.floats(0, 5), st.floats(0, 5), arrays(float, st.integers(1, 9), elements=st.floats(-2, 5))
)
def test_the_adjusted_estimate_is_the_difference_or_between_it_and_the_entropy(i, more, dealt):
    of_second = i + more
    adjusted = i + adjustment_of_pairs(i, of_second, dealt)
    difference = i - dealt.mean()
    if i <= dealt.max() or dealt.mean() <= 0:
        assert adjusted == pytest.approx(difference, abs=1e-6)
    else:
        assert difference - 1e-6 <= adjusted <= of_second + 1e-6


def test_the_adjustment_at_its_ends():
    """Rounding above the entropy is not blown up; above its range an estimate is not scaled."""
    assert 1 + 1e-12 + adjustment_of_pairs(1 + 1e-12, 1.0, np.array([1 - 1.1e-16])) < 1.001
    assert 2.0 + adjustment_of_pairs(2.0, 1.0, np.array([1.5])) == pytest.approx(0.5)
    assert 0.7 + adjustment_of_pairs(0.7, 0.7, np.empty(0)) == 0  # no other way to deal


# ------------------------------------------------------------------- what it is good for


def sampled(rng, k, first, rows):
    """k pairs drawn from a table, as a service would say them."""
    pairs = []
    for a in rng.choice(len(first), k, p=first):
        b = rng.choice(len(rows[a]), p=rows[a])
        pairs.append((NAMES[a], NAMES[b], float(np.log(first[a])), float(np.log(rows[a][b]))))
    return from_chains(pairs, greedy="", greedy_log_likelihood=None).mutual_information


@pytest.mark.slow
def test_many_independent_answers_are_centred_on_0():
    """Twelve answers as likely, 100 pairs of them: Algorithm 2 by itself says .6 nats.

    The mean of 200 is within 4 standard errors of 0, or above by what one scaled in a hundred
    adds: wrong in fewer than 1 of 10,000 draws of the seed.
    """
    rng = np.random.default_rng(0)
    first, rows = np.full(12, 1 / 12), np.full((12, 12), 1 / 12)
    found = [sampled(rng, 100, first, rows) for _ in range(200)]
    values = np.array([one.value for one in found])
    assert np.mean([one.plug_in for one in found]) > 0.55
    assert abs(values.mean()) < 4 * values.std() / np.sqrt(200) + 0.01
    assert np.quantile(np.abs(values), 0.9) < 0.15


@pytest.mark.parametrize("m", [2, 5, 12])
def test_a_model_that_copies_keeps_all_its_information(m):
    found = sampled(np.random.default_rng(1), 100, np.full(m, 1 / m), np.eye(m))
    assert found.value == pytest.approx(found.plug_in) == pytest.approx(np.log(m))


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.6])
def test_a_model_that_often_copies_is_measured_nearer_to_the_truth(share):
    """Means over 100 draws of 100 pairs: above the truth, and below Algorithm 2 by itself."""
    rng = np.random.default_rng(2)
    first = np.full(6, 1 / 6)
    rows = share * np.eye(6) + (1 - share) / 6
    joint = first[:, None] * rows
    true = float((joint * np.log(joint * 36)).sum())
    found = [sampled(rng, 100, first, rows) for _ in range(100)]
    adjusted = np.mean([one.value for one in found]) - true
    assert 0 < adjusted < np.mean([one.plug_in for one in found]) - true


def test_one_pair_tells_nothing():
    assert sampled(np.random.default_rng(0), 1, np.full(3, 1 / 3), np.eye(3)).value == 0


def test_clusters_do_not_depend_on_which_pairs_there_are():
    """Of overlapping texts, who is a centre decides: it must not change with the pairing."""
    first = {"a": -0.5, "b": -2.0, "c": -3.0}
    seconds = ["red green", "green blue", "blue grey"]
    differences = []
    for s in range(3):
        onwards = seconds[s:] + seconds[:s]
        chains = [(a, b, first[a], -1.0) for a, b in zip(first, onwards, strict=True)]
        e = from_chains(chains, greedy="", greedy_log_likelihood=None)
        pairs = np.array([[e.responses.index(text) for text in c[:2]] for c in chains])
        others = dealt_estimates(pairs, e.log_marginal, e.log_conditionals, e.labels)
        differences.append(e.mutual_information.plug_in - others.mean())
    assert np.mean(differences) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("twice", [False, True])
def test_a_model_that_copies_and_never_repeats_is_not_answered(twice):
    """Of 3,000 answers: until one comes twice, knowing and copying look the same."""
    names = [f"word{i}" for i in range(100 - twice)]
    names += names[: 100 - len(names)]
    chains = [(name, name, -float(np.log(3000)), -0.01) for name in names]
    evidence = from_chains(chains, greedy="", greedy_log_likelihood=None)
    scores = {name: info.function(evidence) for name, info in SCORES.items()}
    decided = decide(scores, evidence.sampled_mass, len(evidence.centres), default_rule())
    if twice:
        assert evidence.chance_note is None and decided.decision is Decision.ABSTAIN
    else:
        assert scores["mutual_information"].reason == evidence.chance_note == decided.reason
        assert decided.decision is Decision.TOO_LITTLE


def test_likelihoods_of_long_answers_make_no_difference_out_of_rounding():
    rng = np.random.default_rng(3)
    for _ in range(20):
        firsts, seconds = rng.normal(-4000, 0.1, 60), rng.normal(-4000, 5)
        chains = [(f"a{i}", f"b{i}", float(p), float(seconds)) for i, p in enumerate(firsts)]
        found = from_chains(chains, greedy="", greedy_log_likelihood=None)
        assert abs(found.mutual_information.value) < 1e-6 and found.chance_note


def test_pairs_that_only_unlikely_ways_can_deal_on_are_no_warning():
    chains = [("a", "x", -1.0, -1.0), ("b", "y", -np.inf, -1.0)]
    found = from_chains(chains, greedy="", greedy_log_likelihood=None).mutual_information
    assert (found.value, found.plug_in) == (0, 0)
