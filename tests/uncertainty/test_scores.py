"""Seven scores of one record: values by hand, doubt, and the answers they serve."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.uncertainty import scores
from core.uncertainty.certified import certified_lower_bound
from core.uncertainty.evidence import Evidence, Hyperparameters

FIRST = np.array([0.7, 0.1, 0.05]) / 0.85
ROWS = np.array([[0.75, 0.05, 0.04], [0.4, 0.4, 0.05], [0.4, 0.1, 0.3]])
ROWS /= ROWS.sum(axis=1, keepdims=True)


def h(p):
    return float(-(p * np.log(p)).sum())


@st.composite
def random_evidence(draw):
    """Up to five texts without a word in common; likelihoods down to e^-2000."""
    r = draw(st.integers(1, 5))
    logs = st.floats(-2000, -2) | st.floats(-6, -2)  # e^-2 < 1/5: rows add up to less than 1
    return Evidence.build(
        ["one", "two", "three", "four", "five"][:r],
        draw(arrays(float, r, elements=logs)),
        draw(arrays(float, (r, r), elements=logs)),
        greedy="one",
        greedy_log_likelihood=draw(st.floats(-2000, 0)),
        parameters=Hyperparameters(gamma_1=draw(st.sampled_from([0.0, 0.1]))),
    )


def test_greedy_probability(evidence):
    score = scores.greedy_probability(evidence)
    assert score.value == pytest.approx(0.5)
    assert score.doubt == pytest.approx(np.log(2))
    assert (score.answer, score.available) == ("London", True)


def test_greedy_doubt_tells_long_answers_apart(record):
    """1 - p would tie e^-1000 and e^-2000 at 1."""
    doubts = [
        scores.greedy_probability(
            Evidence.build(**(record | {"greedy_log_likelihood": log_p}))
        ).doubt
        for log_p in (0.0, -1000.0, -2000.0)
    ]
    assert doubts == [0, 1000, 2000]


def test_semantic_entropy(evidence):
    score = scores.semantic_entropy(evidence)
    assert score.value == score.doubt == pytest.approx(h(FIRST))
    assert score.answer == "London"


def test_self_verification(evidence):
    score = scores.self_verification(evidence)
    assert score.value == pytest.approx(0.75)
    assert score.doubt == pytest.approx(-np.log(0.75))
    assert score.answer == "London"


def test_self_verification_survives_certainty(record):
    sure = record | {"verification": {"London": (-800.0, 0.0)}}
    score = scores.self_verification(Evidence.build(**sure))
    assert score.doubt == pytest.approx(800)


def test_a_text_that_was_not_judged_is_unavailable_and_never_zero(record):
    score = scores.self_verification(Evidence.build(**(record | {"verification": {}})))
    assert not score.available
    assert (score.value, score.doubt) == (None, None)
    assert "London" in score.reason


def test_mutual_information(evidence):
    joint = FIRST[:, None] * ROWS
    expected = float((joint * np.log(joint / np.outer(FIRST, FIRST @ ROWS))).sum())
    score = scores.mutual_information(evidence)
    assert score.value == score.doubt == pytest.approx(expected)
    assert score.answer == "London"


def test_min_conditional_entropy(evidence):
    score = scores.min_conditional_entropy(evidence)
    assert score.value == pytest.approx(h(ROWS[0]))
    assert score.doubt == -score.value


def test_pair_covariance(evidence):
    score = scores.pair_covariance(evidence)
    assert (
        score.value == score.doubt == pytest.approx(float((FIRST * np.diag(ROWS) - FIRST**2).sum()))
    )


def test_certified_mutual_information(evidence, record):
    lumped = scores.certified_mutual_information(evidence)
    expected = certified_lower_bound(*evidence.certified_table())
    assert lumped.value == lumped.doubt == expected > 0
    # Where every wording is a cluster of its own, the bound is that of the texts: higher.
    wordings = certified_lower_bound(evidence.log_marginal, evidence.log_conditionals)
    apart = Evidence.build(**record, parameters=Hyperparameters(threshold=1))
    assert scores.certified_mutual_information(apart).value == pytest.approx(wordings)
    assert wordings > expected

    cut = scores.certified_mutual_information(Evidence.build(**record, complete=[False] * 4))
    assert cut.value is None
    assert "cut off" in cut.reason
    prefixes = record | {"log_marginal": np.log([0.6, 0.6, 0.1, 0.1])}
    too_much = scores.certified_mutual_information(Evidence.build(**prefixes))
    assert too_much.value is None
    assert "more than 1" in too_much.reason


def test_scores_may_serve_different_answers(record):
    """London comes first most often, but Paris second, whatever was told."""
    rows = np.log(np.tile([0.7, 0.1, 0.05, 0.05], (4, 1)))
    swayed = Evidence.build(**(record | {"log_conditionals": rows, "greedy": "Rome"}))
    served = {name: info.function(swayed).answer for name, info in scores.SCORES.items()}
    assert served == {
        "greedy_probability": "Rome",
        "semantic_entropy": "London",
        "self_verification": "London",
        "min_conditional_entropy": "London",
        "pair_covariance": "London",
        "mutual_information": "Paris",
        "certified_mutual_information": "Paris",
    }


def test_reclustering_may_judge_another_text(record):
    """Apart, Paris is likelier than either London; together they are the most probable."""
    split = record | {
        "log_marginal": np.log([0.3, 0.25, 0.05, 0.2]),
        "verification": {"London": (-1.0, -1.0)},
    }
    together = Evidence.build(**split)
    assert scores.self_verification(together).value == pytest.approx(0.5)
    apart = scores.self_verification(
        Evidence.build(**split, parameters=Hyperparameters(threshold=1.0))
    )
    assert (apart.answer, apart.value) == ("Paris", None)


@pytest.mark.parametrize("name", scores.SCORES)
def test_the_table_describes_the_functions(name, evidence):
    info = scores.SCORES[name]
    score = info.function(evidence)
    assert info.function is getattr(scores, name)
    assert score.reason is None
    assert 1 <= info.explanation.count(".") <= 2
    assert info.symbol
    assert info.title
    assert info.reference


def test_the_table_is_complete():
    assert len({info.symbol for info in scores.SCORES.values()}) == len(scores.SCORES) == 7


@given(random_evidence())
def test_every_score_is_finite_and_in_range(evidence):
    values = {name: info.function(evidence) for name, info in scores.SCORES.items()}
    ceiling = np.log(len(evidence.centres)) + 1e-9
    for name, score in values.items():
        if name == "self_verification":
            assert score.value is None
            continue
        assert np.isfinite(score.value)
        assert np.isfinite(score.doubt)
    assert 0 <= values["greedy_probability"].value <= 1
    assert 0 <= values["semantic_entropy"].value <= ceiling
    assert 0 <= values["min_conditional_entropy"].value <= ceiling
    assert -1 <= values["pair_covariance"].value <= 1
    assert 0 <= values["certified_mutual_information"].value <= ceiling


@given(random_evidence())
def test_doubt_in_one_bar(evidence):
    parts = scores.doubt_decomposition(evidence)
    assert parts.total == pytest.approx(parts.epistemic + parts.remaining, abs=1e-9)
    assert min(parts.total, parts.epistemic, parts.remaining) >= -1e-12
    assert parts.epistemic == pytest.approx(evidence.unstabilised.value)
