"""The list of prices: it is what calibrating says, and choosing from it is paid for."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.promise import LAW_1, REPETITIONS
from core.abstention.thresholds import for_each_target, learn_then_test
from core.studies.calibration.calibration import BEST, Target, calibrate
from core.studies.calibration.price_list import TARGETS, list_entry, price_list, smallest
from tests.studies.calibration.tables import rows_of_arrays

WANTED = Target(0.05, 0.9, "ltt", "s0")


def scored(*drawn, one_kind=()):
    """Labelled rows with a score for every pair of doubts and labels: s0, s1 and so on."""
    doubts, correct = (
        {f"s{place}": of for place, of in enumerate(each)} for each in zip(*drawn, strict=True)
    )
    return rows_of_arrays(doubts, correct, one_kind=frozenset(one_kind))


def drawn(seed, scores=1, n=1000):
    rng = np.random.default_rng(seed)
    return [LAW_1.draw(rng, n) for _ in range(scores)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("score", ["s0", BEST])
def test_every_row_is_what_calibrating_for_it_finds(seed, score):
    data, wanted = scored(*drawn(seed, 3)), replace(WANTED, score=score)
    prices = price_list(data, wanted)
    assert [price.error for price in prices] == list(TARGETS)
    assert {price.threshold is None for price in prices} == {True, False}
    for price in prices:
        found = calibrate(data, list_entry(wanted, price.error))
        if price.threshold is None:
            assert found.policy is None and price.score is None
            continue
        assert (price.score, price.threshold) == (found.score, found.outcome)
        assert found.policy.targets_tried == len(TARGETS)
        assert (found.policy.confidence, found.policy.target_error) == (0.9, price.error)
        if score != BEST:  # all of δ is the family's, and each has its part
            part = 1 - 0.1 / len(TARGETS)
            alone = learn_then_test(
                found.doubts, found.correct, target_error=price.error, confidence=part
            )
            assert price.threshold == alone


def test_the_list_does_not_depend_on_the_target_or_the_method_on_the_screen():
    data = scored(*drawn(1))
    assert price_list(data, WANTED) == price_list(data, Target(0.3, 0.9, "crc", "s0"))
    assert price_list(data, WANTED) != price_list(data, replace(WANTED, confidence=0.99))


def test_the_smallest_that_can_be_promised_is_the_first_that_is():
    prices = price_list(scored(*drawn(2)), WANTED)
    found = smallest(prices)
    assert found.threshold and all(p.threshold is None for p in prices if p.error < found.error)
    doubts, _ = drawn(2)[0]
    assert smallest(price_list(scored((doubts, np.zeros(len(doubts), bool))), WANTED)) is None


def test_labels_of_one_kind_have_no_price():
    doubts, _ = drawn(3)[0]
    data = scored((doubts, np.ones(len(doubts), bool)), *drawn(4), one_kind=["s0"])
    for score in ("s0", BEST):
        wanted = replace(WANTED, score=score)
        assert smallest(price_list(data, wanted)) is None
        assert calibrate(data, list_entry(wanted, 0.2)).policy is None


def test_repeated_questions_count_once():
    data = scored(*drawn(5))
    twice = replace(
        data,
        **{
            name: np.concatenate([getattr(data, name)] * 2)
            for name in ("queries", "sources", "kept", "numbered")
        },
        doubts={"s0": np.tile(data.doubts["s0"], 2)},
        correct={"s0": np.tile(data.correct["s0"], 2)},
    )
    assert price_list(twice, WANTED) == price_list(data, WANTED)


class JustTooWrong:
    """A hair over 2 % wrong among the surer half, and then a hair over 5 % among all so far."""

    ends = np.array([0, 0.55, 0.6, 1])
    wrong_up_to = np.array([0, 0.55 * 0.02005, 0.6 * 0.05005, 0.05005])

    def draw(self, rng, n):
        doubts = rng.random(n)
        rates = np.diff(self.wrong_up_to) / np.diff(self.ends)
        return doubts, rng.random(n) >= rates[np.searchsorted(self.ends, doubts) - 1]

    def breaks(self, value, target):
        """Whether more than the target is wrong among what a threshold answers."""
        answered = min(value, 1.0)
        return np.interp(answered, self.ends, self.wrong_up_to) > target * answered


@pytest.mark.slow
def test_choosing_the_smallest_that_can_be_promised_is_paid_for():
    """At most δ of such choices break their promise; without the division, more do.

    The law is made for it: two targets of the list are missed by a hair.
    """
    law, paid, unpaid = JustTooWrong(), [], []
    for i in range(REPETITIONS):
        doubts, correct = law.draw(np.random.default_rng(i), 5000)
        chosen = smallest(price_list(scored((doubts, correct)), WANTED))
        paid.append(chosen is not None and law.breaks(chosen.threshold.value, chosen.error))
        each = for_each_target(doubts, correct, target_errors=TARGETS, confidence=0.9)
        first = next((of for of in zip(each, TARGETS, strict=True) if of[0]), None)
        unpaid.append(first is not None and law.breaks(first[0].value, first[1]))
    assert np.mean(paid) <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / REPETITIONS)
    assert np.mean(unpaid) > 0.14  # there was something to pay
    assert np.mean(paid) > 0.01  # and the law is hard enough to break it at times
