"""Thresholds against a slow reference, and their promises against laws whose truth is known."""

import functools
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.promise import (
    FLAT,
    FLAT_ABOVE,
    LAW_1,
    LAW_2,
    REPETITIONS,
    Mixture,
    advised,
    promised_by_group,
    simulate,
    violated,
)
from core.abstention import thresholds
from core.abstention.thresholds import Threshold, Uncertifiable, learn_then_test

TARGETS = ((0.05, 0.9), (0.1, 0.8), (0.2, 0.9), (0.3, 0.95), (0.5, 0.6), (0.5, 0.99))


# ---------------------------------------------------------------- a slow, plain reference


@functools.cache
def m80(alpha, delta):
    """The smallest m that certifies with 80 % power if the error is half of α."""
    m = 0
    while True:
        m += 1
        certifying = np.flatnonzero(stats.binom.cdf(np.arange(m + 1), m, alpha) <= delta)
        if len(certifying) and stats.binom.cdf(certifying[-1], m, alpha / 2) >= 0.8:
            return m


def fewest(alpha, delta):
    """The smallest m that certifies if all are right."""
    return int(np.ceil(np.log(delta) / np.log(1 - alpha)))


def reference(doubts, correct, alpha, confidence):
    """Return (λ, answered, errors), or None. What is infinite is never below a λ: no score."""
    rows = [(d, c) for d, c in zip(doubts, correct, strict=True) if d < np.inf]
    distinct = sorted({d for d, _ in rows})
    answered = [sum(d <= doubt for d, _ in rows) for doubt in distinct]
    errors = [sum(d <= doubt and not c for d, c in rows) for doubt in distinct]

    def at_least(number):
        return next((i for i, m in enumerate(answered) if m >= number), len(distinct))

    def begins(delta):
        return at_least(max(fewest(alpha, delta), min(m80(alpha, delta), 0.2 * len(rows))))

    def certified(start, end, delta):
        """The blocks from a start that are certified before the first that is not."""
        found = []
        for i in range(start, end):
            if stats.binom.cdf(errors[i], answered[i], alpha) > delta:
                break
            found.append(i)
        return found

    delta, end = 1 - confidence, len(distinct)
    first = begins(0.75 * delta)
    second = at_least(max(fewest(alpha, 0.25 * delta), 0.5 * len(rows)))
    if first >= second or second == end:
        found = certified(begins(delta), end, delta)
    else:
        found = certified(first, second, 0.75 * delta)
        got_there = len(found) == second - first
        found += certified(second, end, delta if got_there else 0.25 * delta)
    if not found:
        return None
    i = found[-1]
    last = i + 1 == end
    middle = np.inf if last else float((Fraction(distinct[i]) + Fraction(distinct[i + 1])) / 2)
    return middle, answered[i], errors[i]


def rows(seed):
    """Scores of many kinds and answers of many kinds, from 1 to 400 rows."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, rng.integers(3, 60), rng.integers(60, 401), 400]))
    doubts = rng.beta(1.2, 1.6, n)
    wrong = rng.random(n) < rng.choice([0, 0.02, 0.1]) + rng.choice([0, 0.3, 0.8]) * doubts
    kind = seed % 6
    if kind == 1:  # ties everywhere
        doubts = np.round(doubts * rng.integers(1, 12))
    elif kind == 2:  # many exact zeros, as mutual information has
        doubts[rng.random(n) < 0.4] = 0
    elif kind == 3:
        doubts[:] = 0.25
    elif kind == 4:  # one class
        wrong[:] = rng.random() < 0.3
    if rng.random() < 0.4:
        doubts[rng.random(n) < 0.2] = np.nan
    if rng.random() < 0.3:
        doubts[rng.random(n) < 0.1] = np.inf
    return doubts, ~wrong


@given(st.integers(0, 10**6), st.sampled_from(TARGETS))
def test_learn_then_test_is_the_reference(seed, target):
    doubts, correct = rows(seed)
    alpha, confidence = target
    found = learn_then_test(doubts, correct, target_error=alpha, confidence=confidence)
    expected = reference(doubts, correct, alpha, confidence)
    if expected is None:
        assert isinstance(found, Uncertifiable)
        return
    assert (found.answered, found.errors) == expected[1:]
    assert found.value == pytest.approx(expected[0], rel=1e-14)
    assert found.queries == len(doubts)
    # What it says is what it does.
    below = doubts < found.value
    assert (below.sum(), (below & ~correct).sum()) == (found.answered, found.errors)
    assert found.upper_bound <= alpha + 1e-12


@pytest.mark.parametrize(
    ("wrong", "certified"),
    [
        # The first walk begins at 200 answered, at 7.5 %. P(Bin(200, 5 %) ≤ 5) is 6.2 %, and
        # there is no other error up to the middle, nor after it.
        ([*range(5)], (1000, 5)),
        # 6 of 200 are 12 %: it stops at once. The second begins at 500, at 2.5 %: 15 of 500 are
        # 2.0 %, and 16 of 500 are 3.4 %.
        ([*range(6), *range(400, 409)], (1000, 15)),
        ([*range(6), *range(400, 410)], None),
        # 18 of 500 are 8.6 %: too much for either part of δ, but not for δ, which the first has
        # as it gets to the middle. 19 of 501 are 12.5 %.
        ([*range(5), *range(485, 497), 499, 500], (500, 18)),
        # 18 of 499 are 8.8 %: it stops one short of the middle, where the second begins and ends.
        ([*range(5), *range(485, 497), 498], (498, 17)),
    ],
)
def test_the_two_walks_by_hand(wrong, certified):
    """A thousand distinct doubts, α = 5 % and δ = 10 %."""
    correct = ~np.isin(np.arange(1000), wrong)
    found = learn_then_test(np.arange(1000), correct, target_error=0.05, confidence=0.9)
    assert (found.value and (found.answered, found.errors)) == certified


@pytest.mark.parametrize(
    ("value", "certified"),
    [(0, 0), (199, 0), (200, 1), (283, 1), (284, 0), (499, 0), (500, 1), (999, 1), (np.inf, 1)],
)
def test_a_threshold_from_elsewhere_is_certified_where_a_walk_comes_by(value, certified):
    """The first walk goes from 200 to 283 answered, the second from 500 to the end.

    P(Bin(200, 5 %) ≤ 5) is 6 %, P(Bin(284, 5 %) ≤ 9) is 9 %, P(Bin(500, 5 %) ≤ 15) is 2 %.
    """
    correct = ~np.isin(np.arange(1000), [*range(5), *range(280, 290)])
    target = {"target_error": 0.05, "confidence": 0.9}
    assert thresholds.certifies(np.arange(1000), correct, value, **target) == certified


@pytest.mark.parametrize(("right", "of", "certified"), [(45, 60, True), (44, 60, False)])
def test_where_the_walks_begin_at_the_same_doubt_there_is_one_at_all_of_delta(right, of, certified):
    """0.95⁴⁵ is 9.9 %; a second walk would need 72 answers, all of them right."""
    found = learn_then_test(np.arange(of), np.arange(of) < right, target_error=0.05, confidence=0.9)
    assert isinstance(found, Threshold) == certified
    ties = np.append(np.zeros(600), np.arange(1, 401))  # more than half are equally sure
    # P(Bin(600, 5 %) ≤ 22) is 7.53 %, too much for 7.5 %.
    found = learn_then_test(ties, np.arange(1000) >= 22, target_error=0.05, confidence=0.9)
    assert (found.answered, found.errors) == (1000, 22)


def test_p_values_are_binomial_tails():
    for alpha in (1e-4, 0.001, 0.01, 0.05, 0.1, 0.3, 0.5, 0.9, 0.999):
        for m in np.unique(np.geomspace(1, 1e6, 40).round().astype(int)):
            spread = np.linspace(-8, 8, 33) * np.sqrt(m * alpha * (1 - alpha))
            k = np.concatenate([np.linspace(0, m, 11), np.clip(m * alpha + spread, 0, m)]).round()
            np.testing.assert_allclose(
                thresholds.p_values(np.full(k.shape, m), k, alpha),
                stats.binom.cdf(k, m, alpha),
                rtol=0,
                atol=1e-10,
            )


def test_clopper_pearson_is_the_exact_one_sided_bound():
    for m in (1, 2, 7, 50, 1000, 100_000):
        for k in sorted({0, 1, m // 20, m // 3, m - 1, m}):
            for confidence in (0.5, 0.9, 0.999):
                exact = stats.binomtest(k, m, alternative="less").proportion_ci(confidence, "exact")
                found = thresholds.clopper_pearson(k, m, confidence)
                assert found == pytest.approx(exact.high, rel=1e-9)
    assert thresholds.clopper_pearson(0, 0, 0.9) == 1


@pytest.mark.parametrize(("alpha", "confidence"), TARGETS)
def test_the_bound_is_at_most_alpha_exactly_when_p_is_at_most_delta(alpha, confidence):
    for m in range(1, 300, 7):
        for k in range(0, m, 3):
            p = thresholds.p_values(m, k, alpha)
            assert (p <= 1 - confidence) == (thresholds.clopper_pearson(k, m, confidence) <= alpha)


@pytest.mark.parametrize(
    ("alpha", "confidence", "fewest"),
    [(0.05, 0.9, 45), (0.05, 0.95, 59), (0.1, 0.9, 22), (0.01, 0.9, 230), (0.5, 0.75, 2)],
)
def test_fewest_labels_by_hand(alpha, confidence, fewest):
    assert thresholds.fewest_labels(alpha, confidence) == fewest
    for least in (1e-300, 5e-324):
        nothing = thresholds.learn_then_test([0.1], [1], target_error=least, confidence=confidence)
        assert "need more than 1,000,000,000,000." in nothing.reason
    assert (1 - alpha) ** fewest <= 1 - confidence < (1 - alpha) ** (fewest - 1)


@pytest.mark.parametrize(("alpha", "confidence"), [*TARGETS, (0.03, 0.8)])
def test_labels_for_power_is_the_smallest_number_with_the_power(alpha, confidence):
    assert thresholds.labels_for_power(alpha / 2, alpha, confidence) == m80(alpha, 1 - confidence)


def test_out_of_reach():
    assert thresholds.labels_for_power(0.05, 0.05, 0.9) is None
    assert thresholds.labels_for_power(0.0499999, 0.05, 0.9) is None
    assert thresholds.labels_for_power(0, 1e-30, 0.9) is None  # and comes back at all
    assert isinstance(learn_then_test([0], [1], target_error=1e-30, confidence=0.9), Uncertifiable)


# ------------------------------------------------------------------------- what cannot be done

METHODS = {
    "ltt": functools.partial(learn_then_test, target_error=0.05, confidence=0.9),
    "crc": functools.partial(thresholds.conformal_risk_control, target_error=0.05),
    "empirical": functools.partial(thresholds.empirical, target_error=0.05),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("doubts", "correct"),
    [
        ([], []),
        ([0.5], [False]),
        (np.arange(30.0), np.zeros(30)),
        (np.arange(60.0), np.zeros(60)),
        (np.arange(500.0), np.zeros(500)),
        (np.full(500, np.nan), np.ones(500)),
        (np.full(500, np.inf), np.ones(500)),
    ],
    ids=["no rows", "one row", "30 wrong", "60 wrong", "500 wrong", "missing", "infinite"],
)
def test_uncertifiable(method, doubts, correct):
    found = METHODS[method](doubts, correct)
    if method == "crc" and isinstance(found, Threshold):  # few of all may be answered, all wrong
        assert found.errors <= 0.05 * found.queries
        return
    assert isinstance(found, Uncertifiable)
    assert found.value is None
    assert re.fullmatch(r"[A-Z0-9].{40,}\.", found.reason)
    assert not re.search(r"\b(nan|inf|none)\b", found.reason.casefold())
    assert found.labels_needed is None or found.labels_needed > 0
    if len(doubts) > 30:
        assert found.labels_needed is None


def test_a_reason_says_what_it_takes_and_rounds_nothing_up_to_certainty():
    assert "need 45." in METHODS["ltt"]([0], [1]).reason
    correct = np.arange(600) >= 2
    found = learn_then_test(np.zeros(600), correct, target_error=0.01, confidence=0.995)
    assert "99.5%" in found.reason
    assert "100%" not in found.reason


@pytest.mark.parametrize("bad", [0, 1, -0.1, 1.5, np.nan])
def test_targets_and_confidences_lie_between_0_and_1(bad):
    for method in METHODS.values():
        with pytest.raises(ValueError, match=r"target error is .* between 0 and 1"):
            method([0], [1], target_error=bad)
    with pytest.raises(ValueError, match=r"confidence is .* between 0 and 1"):
        METHODS["ltt"]([0], [1], confidence=bad)


# --------------------------------------------------------------------------- the other ways


def test_conformal_risk_control_by_hand():
    """Of 19 rows none may be answered wrongly, since (0 + 1) / 20 is already the target."""
    found = thresholds.conformal_risk_control(np.arange(19), np.arange(19) != 10, target_error=0.05)
    assert (found.value, found.answered, found.errors) == (9.5, 10, 0)
    assert found.upper_bound == 0.05
    less = thresholds.conformal_risk_control(np.arange(18), np.ones(18), target_error=0.05)
    assert less.labels_needed == 1


def test_empirical_by_hand():
    found = thresholds.empirical([1, 2, 3, 3, 4, 5], [1, 1, 0, 1, 0, 0], target_error=0.25)
    assert (found.value, found.answered, found.errors) == (3.5, 4, 1)
    assert np.isnan(found.upper_bound)
    # 29 of 100 are 0.29, whatever 0.29 * 100 is.
    exact = thresholds.empirical(np.zeros(100), np.arange(100) >= 29, target_error=0.29)
    assert exact.answered == 100


def test_an_infinite_doubt_does_not_pass_for_answered():
    """The right answers at infinity are not below any λ, so they cannot pay for the wrong ones."""
    doubts, correct = np.append(np.zeros(100), np.full(900, np.inf)), np.arange(1000) >= 5
    found = METHODS["empirical"](doubts, correct)
    assert (found.value, found.answered, found.errors) == (np.inf, 100, 5)
    assert isinstance(METHODS["empirical"](doubts, np.arange(1000) >= 6), Uncertifiable)


@pytest.mark.parametrize(
    ("value", "answered", "errors"),
    [(-1, 0, 0), (0, 0, 0), (0.1, 2, 1), (1, 2, 1), (np.inf, 3, 1), (np.nan, 0, 0)],
)
def test_at_a_threshold_by_hand(value, answered, errors):
    found = thresholds.at_threshold([0, 0, 1, np.nan, np.inf], [1, 0, 1, 0, 0], value)
    assert (found.answered, found.errors, found.queries) == (answered, errors, 5)
    np.testing.assert_equal(found.value, value)
    assert np.isnan(found.upper_bound)


# -------------------------------------------------------------- promises, on laws that we know


def and_three_standard_errors(share):
    return share + 3 * np.sqrt(share * (1 - share) / REPETITIONS)


def test_the_known_truth_is_the_truth():
    rng = np.random.default_rng(1)
    for law in (LAW_1, LAW_2):
        doubts, correct = law.draw(rng, 400_000)
        for value in (0.01, 0.3, 0.6, np.inf):
            seen = np.mean(doubts < value), np.mean((doubts < value) & ~correct)
            np.testing.assert_allclose(law.truth(value), seen, atol=0.004)


@pytest.mark.slow
@pytest.mark.parametrize("law", [LAW_1, LAW_2], ids=["zeros", "no ties"])
@pytest.mark.parametrize("alpha", [0.05, 0.15])
@pytest.mark.parametrize("n", [300, 1000])
def test_the_promise_is_kept_and_the_empirical_rule_breaks_it(law, alpha, n):
    certify = functools.partial(learn_then_test, target_error=alpha, confidence=0.9)
    answered, wrong = simulate(law, n, certify)
    assert violated(answered, wrong, alpha) <= and_three_standard_errors(0.1)
    expected = {(LAW_1, 0.05, 300): 0.28, (LAW_1, 0.15, 1000): 0.82}.get((law, alpha, n))
    if expected:
        assert answered.mean() == pytest.approx(expected, abs=0.03)
    observed = functools.partial(thresholds.empirical, target_error=alpha)
    assert violated(*simulate(law, n, observed), alpha) > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("n", [300, 1000])
def test_the_promise_is_kept_where_a_hair_too_much_is_wrong_everywhere(n):
    """Every threshold would break it, so that both walks go wrong as often as they ever can."""
    certify = functools.partial(learn_then_test, target_error=0.05, confidence=0.9)
    broken = violated(*simulate(FLAT_ABOVE, n, certify), 0.05)
    assert 0.04 < broken <= and_three_standard_errors(0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "share"), [(300, 0.17), (1000, 0.55), (5000, 1)])
def test_a_score_that_says_nothing_does_not_hide_that_the_answers_are_good_enough(n, share):
    certify = functools.partial(learn_then_test, target_error=0.05, confidence=0.9)
    answered, _ = simulate(FLAT, n, certify)
    assert answered.mean() == pytest.approx(share, abs=0.04)


@pytest.mark.slow
@pytest.mark.parametrize("law", [LAW_1, LAW_2], ids=["zeros", "no ties"])
@pytest.mark.parametrize(("alpha", "n"), [(0.05, 50), (0.05, 300), (0.15, 300)])
def test_conformal_risk_control_keeps_its_mean(law, alpha, n):
    control = functools.partial(thresholds.conformal_risk_control, target_error=alpha)
    _, risk = simulate(law, n, control)
    assert risk.mean() <= alpha + 3 * risk.std() / np.sqrt(REPETITIONS)
    assert risk.mean() > alpha / 2  # and does not keep it by answering nothing


@pytest.mark.slow
def test_a_group_is_promised_nothing_that_it_does_not_keep():
    """In the second of two groups a hair too much is wrong, and half of δ is its share."""
    few, many = promised_by_group(300), promised_by_group(5000)
    assert max(few[1], many[1]) <= and_three_standard_errors(0.05)
    assert many[0] > 0.95


@pytest.mark.slow
def test_choosing_the_best_score_is_paid_for():
    """Three scores a hair too bad for the target at any λ, two that are so beyond a half."""
    laws = [Mixture(0, 1, 1, 0.1005, 0, 1)] * 3 + [Mixture(0, 1, 1, 0.08, 0.08, 1)] * 2
    names = [f"score {i}" for i in range(5)]
    target = {"target_error": 0.1, "confidence": 0.9}
    paid, unpaid = [], []
    for i in range(REPETITIONS):
        rng = np.random.default_rng(i)
        drawn = [law.draw(rng, 400) for law in laws]
        scores, correct = ({n: d[j] for n, d in zip(names, drawn, strict=True)} for j in (0, 1))

        def breaks(name, found):
            if isinstance(found, Uncertifiable):
                return False
            answered, wrong = laws[names.index(name)].truth(found.value)
            return wrong > 0.1 * answered

        paid.append(breaks(*thresholds.best_of(scores, correct, **target)))
        each = {name: learn_then_test(scores[name], correct[name], **target) for name in names}
        best = max(each, key=lambda name: getattr(each[name], "answered", 0))
        unpaid.append(breaks(best, each[best]))
    assert np.mean(paid) <= and_three_standard_errors(0.1)
    assert np.mean(unpaid) > 0.15  # there was something to pay


def test_best_of_takes_what_answers_most_or_needs_least():
    target = {"target_error": 0.05, "confidence": 0.9}
    good, correct = np.arange(1000.0), np.arange(1000) < 700
    both = {"bad": -good, "good": good}
    name, found = thresholds.best_of(both, dict.fromkeys(both, correct), **target)
    assert name == "good"
    assert found == learn_then_test(good, correct, target_error=0.05, confidence=0.95)  # δ / 2
    doubts = dict.fromkeys(("wrong", "few"), np.arange(60))
    name, found = thresholds.best_of(
        doubts, {"wrong": np.zeros(60), "few": np.arange(60) != 0}, **target
    )
    assert name == "few"
    assert found.labels_needed > 0
    with pytest.raises(ValueError, match="at least one score"):
        thresholds.best_of({}, {}, **target)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "alpha", "n"),
    [
        *((LAW_1, 0.05, n) for n in (20, 60, 200)),
        (LAW_1, 0.15, 60),
        (LAW_2, 0.05, 300),
        *((FLAT, 0.05, n) for n in (300, 1000)),
    ],
)
def test_about_as_many_labels_as_it_says_are_needed(law, alpha, n):
    """Wherever it fails on n rows and says how many more it takes, draw those, and look."""
    certify = functools.partial(learn_then_test, target_error=alpha, confidence=0.9)
    failed, said, met = advised(law, n, certify, repetitions=250)
    assert failed > 20
    assert met > 0.8 * said
    # It says so: more labels do help there.
    assert said > (0.4 if law is LAW_2 else 0.7) * failed
