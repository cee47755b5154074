"""What separates lm-polygraph's semantic entropy from ours, and when the benchmark objects.

lm-polygraph itself is only where the benchmark installed it; the benchmark holds its estimator
against ours. Here its published formula stands in for it.
"""

import math

import numpy as np
import pytest

from benchmarks.beside_lm_polygraph import drawn, verdict
from core.studies.inspection.inspection import evidence_of
from core.studies.inspection.recorder import record
from core.studies.inspection.request import Reading, Request
from tests.fakes import QUERY, fruit


def monte_carlo(one, log_probabilities, log_weights):
    """Their formula: the mean over draws of -ln P(class), P a sum over its distinct texts."""
    distinct = dict(zip(one.texts, zip(log_probabilities, one.labels, strict=True), strict=True))
    of_class = {
        label: math.log(sum(math.exp(p) for p, own in distinct.values() if own == label))
        for label in set(one.labels)
    }
    terms = [
        -of_class[label] * math.exp(w) for label, w in zip(one.labels, log_weights, strict=True)
    ]
    return sum(terms) / len(terms)


@pytest.mark.parametrize("seed", range(3))
def test_weights_and_normalising_make_their_entropy_ours(seed):
    recording = record(Request(QUERY, samples=20, temperature=1.0, seed=seed), fruit())
    one = drawn(recording, evidence_of(recording, Reading()))
    assert len(set(one.texts)) < len(one.texts) == 20  # some answer came twice
    assert 1 < len(set(one.labels)) < len(set(one.texts))  # and some cluster has two texts
    normalised = [p - one.log_mass for p in one.log_probabilities]
    assert monte_carlo(one, normalised, one.log_weights) == pytest.approx(one.entropy, abs=1e-12)
    assert abs(monte_carlo(one, one.log_probabilities, [0.0] * 20) - one.entropy) > 0.01


def test_a_weight_is_the_probability_of_a_class_by_its_share_of_the_draws():
    recording = record(Request(QUERY, samples=20, temperature=1.0), fruit())
    one = drawn(recording, evidence_of(recording, Reading()))
    # Over draws, they add up to the number of draws: the shares of classes become probabilities.
    assert np.exp(one.log_weights).sum() == pytest.approx(20)


@pytest.mark.parametrize(
    ("numbers", "says"),
    [
        ((0.2, 0.9, 1e-6), []),
        ((0.21, 0.9, 1e-6), ["0.21 of its time"]),
        ((0.2, 0.89, 1e-6), ["agree to 0.89 of what they could"]),
        ((0.2, 0.9, 2e-6), ["2.0e-06 nats"]),
        ((0.2, float("nan"), 1e-6), ["agree to nan"]),
    ],
)
def test_whatever_misses_its_limit_is_said(numbers, says):
    found = verdict(*numbers)
    assert len(found) == len(says)
    assert all(part in sentence for part, sentence in zip(says, found, strict=True))
