"""Figure 6 on pools whose every number can be worked out by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.abstention import thresholds
from core.abstention.mixtures import ALL, Pool, halves_of_pool, mixtures

RULES = ("empirical", "ltt")


def pool(name, doubts, correct, entropies):
    n = len(entropies)
    return Pool(
        np.array([f"{name} {i}" for i in range(n)], object),
        {score: np.asarray(values, float) for score, values in doubts.items()},
        {score: np.asarray(correct, bool) for score in doubts},
        np.asarray(entropies, float),
    )


def paper_like(n=60):
    """Single: half are known, at no doubt, half guessed. Diverse: all right, of high entropy.

    "entropy" doubts what is diverse, "information" does not.
    """
    known = np.arange(n) < n // 2
    single = pool(
        "single",
        {"entropy": np.where(known, 0.1, 0.9), "information": np.where(known, 0.0, 0.8)},
        known,
        np.where(known, 0.1, 0.9),
    )
    spread = np.linspace(1.2, 1.4, n)
    diverse = pool(
        "diverse", {"entropy": spread, "information": np.full(n, 0.01)}, np.ones(n), spread
    )
    return single, diverse


def found_by(found, score, rule):
    return next(m for m in found if (m.score, m.rule) == (score, rule))


@pytest.mark.parametrize("rule", RULES)
def test_the_headline_of_the_paper(rule):
    found = mixtures(*paper_like(200), target_error=0.05, each=100, seed=3)
    entropy, information = (found_by(found, s, rule) for s in ("entropy", "information"))
    assert [bar.name for bar in entropy.bars] == ["below 0.5", "0.5 to 1.0", "1.0 to 1.5", ALL]
    low, guessed, high, every = entropy.bars
    assert (low.recall, low.error) == (1, 0) and np.isnan(guessed.error)
    # No threshold on the entropy lets the diverse ones through without the guessed ones.
    assert guessed.recall == high.recall == 0 and np.isnan(high.error_spread)
    assert [bar.recall for bar in information.bars[:3]] == [1, 0, 1]
    assert information.bars[2].error == 0
    assert high.queries == 100 and every.queries == 200
    assert len(entropy.values) == 10 and all(0.1 < value < 0.9 for value in entropy.values)


@given(st.integers(0, 10**6), st.integers(1, 6))
@settings(max_examples=25)
def test_it_is_the_experiment_done_step_by_step(seed, repetitions):
    rng = np.random.default_rng(seed)

    def random_pool(name, n):
        doubts = {"a": np.round(rng.random(n), 1), "b": np.where(rng.random(n) < 0.1, np.nan, 0.5)}
        return pool(name, doubts, rng.random(n) < 0.7, 2.5 * rng.random(n))

    pools = random_pool("single", 30), random_pool("diverse", 24)
    found = mixtures(*pools, target_error=0.3, each=500, repetitions=repetitions, seed=seed)
    drawing = np.random.default_rng(seed)
    for name in ("a", "b"):
        recalls, errors, values = {}, {}, []
        drawing = np.random.default_rng(seed)
        for _ in range(repetitions):
            halves = [halves_of_pool(p, 12, drawing) for p in pools]
            rows = [
                [
                    (p.doubts[name][i], p.correct[name][i], p.entropies[i])
                    for p, half in zip(pools, halves, strict=True)
                    for i in half[k]
                ]
                for k in (0, 1)
            ]
            calibration, test = rows
            outcome = thresholds.empirical(
                [d for d, _, _ in calibration], [c for _, c, _ in calibration], target_error=0.3
            )
            values.append(outcome.value)
            limit = -np.inf if outcome.value is None else outcome.value
            for kind, least, most in ((ALL, 0, 9), ("0.5 to 1.0", 0.5, 1), ("2.0 or more", 2, 9)):
                these = [(d, c) for d, c, e in test if least <= e < most]
                answered = [c for d, c in these if d < limit]
                if these:
                    recalls.setdefault(kind, []).append(len(answered) / len(these))
                if answered:
                    errors.setdefault(kind, []).append(1 - np.mean(answered))
        bars = {bar.name: bar for bar in found_by(found, name, "empirical").bars}
        assert list(found_by(found, name, "empirical").values) == values
        for kind in {ALL, "0.5 to 1.0", "2.0 or more"} & set(bars):
            for got, spread, each in (
                (bars[kind].recall, bars[kind].recall_spread, recalls.get(kind, [])),
                (bars[kind].error, bars[kind].error_spread, errors.get(kind, [])),
            ):
                assert got == pytest.approx(np.mean(each) if each else np.nan, nan_ok=True)
                two_sigma = 2 * np.std(each, ddof=1) if len(each) > 1 else np.nan
                assert spread == pytest.approx(two_sigma, nan_ok=True, abs=1e-12)


@given(st.integers(0, 1000), st.integers(1, 5))
def test_rows_of_one_query_stay_in_one_half(seed, each):
    queries = np.array(list("aabbbcdeeffghij"), object)
    one = Pool(queries, {}, {}, np.zeros(len(queries)))
    calibration, test = halves_of_pool(one, each, np.random.default_rng(seed))
    assert not set(queries[calibration]) & set(queries[test])
    for half in (calibration, test):
        assert len(set(queries[half])) == each
        assert sorted(half) == [i for i, q in enumerate(queries) if q in set(queries[half])]


def test_nothing_that_can_be_certified_answers_nothing():
    single, diverse = paper_like(8)  # too few for any promise
    for found in mixtures(single, diverse, target_error=0.01, repetitions=2):
        if found.rule == "ltt":
            assert found.values == (None, None)
            assert {bar.recall for bar in found.bars} == {0.0}
            assert all(np.isnan(bar.error) for bar in found.bars)


def test_a_pool_of_one_cannot_be_halved():
    _, diverse = paper_like(8)
    one = pool("one", {"entropy": [0], "information": [0]}, [1], [0])
    with pytest.raises(ValueError, match="two queries"):
        mixtures(one, diverse, target_error=0.05)
