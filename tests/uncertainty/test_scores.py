"""Eight scores of one record: values by hand, doubt, and the answers they serve."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.uncertainty import scores
from core.uncertainty.evidence import Evidence, Hyperparameters
from core.uncertainty.mutual_information import certified_lower_bound

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


INFORMATION = float((FIRST[:, None] * ROWS * np.log(ROWS / (FIRST @ ROWS))).sum())
COVARIANCE = float((FIRST * np.diag(ROWS) - FIRST**2).sum())
WEIGHTED = INFORMATION - 0.15 * np.log(0.75) - 0.15 * np.log(0.85)


@pytest.mark.parametrize(
    ("name", "value", "doubt"),
    [
        ("greedy_probability", 0.5, np.log(2)),
        ("semantic_entropy", h(FIRST), h(FIRST)),
        ("self_verification", 0.75, -np.log(0.75)),
        ("mutual_information", INFORMATION, INFORMATION),
        ("min_conditional_entropy", h(ROWS[0]), -h(ROWS[0])),
        ("pair_covariance", COVARIANCE, COVARIANCE),
        ("weighted_doubt", WEIGHTED, WEIGHTED),
    ],
)
def test_values_by_hand(name, value, doubt, evidence):
    score = scores.SCORES[name].function(evidence)
    assert (score.value, score.doubt) == pytest.approx((value, doubt))
    assert score.answer == "London"


@pytest.mark.parametrize(("name", "info"), scores.SCORES.items(), ids=scores.SCORES)
def test_the_table_describes_the_functions(name, info, evidence):
    score = info.function(evidence)
    assert info.function is getattr(scores, name)
    assert score.value is not None and score.reason is None
    assert info.unit in ("nats", "probability", "covariance")
    assert info.symbol and info.title and info.reference
    assert len({each.symbol for each in scores.SCORES.values()}) == len(scores.SCORES) == 8


def test_greedy_doubt_tells_long_answers_apart(record):
    """1 - p would tie e^-1000 and e^-2000 at 1."""
    for log_p in (0.0, -1000.0, -2000.0):
        built = Evidence.build(**(record | {"greedy_log_likelihood": log_p}))
        assert scores.greedy_probability(built).doubt == -log_p


def test_self_verification_survives_certainty(record):
    sure = record | {"verification": {"London": (-800.0, 0.0)}}
    assert scores.self_verification(Evidence.build(**sure)).doubt == pytest.approx(800)


@pytest.mark.parametrize("judged", [{}, {"London": (scores.NEITHER, scores.NEITHER)}])
def test_a_text_that_was_not_judged_is_unavailable_and_never_zero(judged, record):
    score = scores.self_verification(Evidence.build(**(record | {"verification": judged})))
    assert score.value is None
    assert (score.value, score.doubt) == (None, None)
    assert "London" in score.reason


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
        "weighted_doubt": "Paris",
    }


def test_little_mass_and_an_answer_called_wrong_are_a_doubt_even_where_nothing_moves(record):
    """M.I. is the same of a tenth of the probability: it is normalised by what was seen."""
    tenth = record | {"log_marginal": record["log_marginal"] - np.log(10)}
    less = scores.weighted_doubt(Evidence.build(**tenth)).value
    all_ = scores.weighted_doubt(Evidence.build(**record)).value
    assert less - all_ == pytest.approx(scores.OF_MASS * np.log(10))
    wrong = record | {"verification": {"London": (np.log(0.1), np.log(0.9))}}
    doubted = scores.weighted_doubt(Evidence.build(**wrong)).value
    assert doubted - all_ == pytest.approx(scores.OF_VERIFICATION * np.log(0.75 / 0.1))
    assert np.isfinite(scores.weight(0.0, 0.0, 0.0))  # a mass too small for a float


def test_a_weighted_doubt_without_one_of_its_parts_is_missing(record):
    unasked = scores.weighted_doubt(Evidence.build(**(record | {"verification": {}})))
    assert (unasked.value, unasked.doubt) == (None, None)
    assert "was not asked" in unasked.reason


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


@given(random_evidence())
def test_every_score_is_finite_and_in_range(evidence):
    ceiling = np.log(len(evidence.centres)) + 1e-9
    ranges = dict.fromkeys(scores.SCORES, (0, ceiling)) | {
        "greedy_probability": (0, 1),
        "pair_covariance": (-1, 1),
        "mutual_information": (-np.inf, np.inf),  # γ may make it negative
    }
    for name, info in scores.SCORES.items():
        score = info.function(evidence)
        if name in ("self_verification", "weighted_doubt"):  # the one is a part of the other
            assert score.value is None
            continue
        least, most = ranges[name]
        assert least <= score.value <= most, name
        assert np.isfinite([score.value, score.doubt]).all(), name
        assert info.value_at(score.doubt) == pytest.approx(score.value, abs=1e-12), name


def test_only_probabilities_of_an_answer_and_what_remains_undecided_are_surer_when_large():
    surer = {name for name, info in scores.SCORES.items() if info.larger_is_surer}
    assert surer == {"greedy_probability", "self_verification", "min_conditional_entropy"}
