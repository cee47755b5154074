"""Which way a score points: its heading says it, or a person does."""

import json
from dataclasses import asdict

import pytest

from core.data.tabular.directions import (
    UnknownDirectionError,
    check_directions,
    direction_in,
    direction_of,
)
from core.data.tabular.uploads import parse
from core.studies.inspection.certificates import default_policy
from core.uncertainty.scores import SCORES


@pytest.mark.parametrize(
    ("headings", "surer"),
    [
        (["confidence", "Max Prob", "p_true", "P(True)", "pTrue", "log_likelihood"], True),
        (["logprob", "log-p", "agreement", "certainty", "How sure?", "self-consistency"], True),
        (["uncertainty", "predictive entropy", "perplexity", "mean_nll", "disagreement"], False),
        (["inconsistency", "Mutual Information", "unsure", "hallucination", "p_wrong"], False),
        # The negative of one is the other.
        (["neg_log_likelihood", "negative log prob", "-logprob", "−log p"], False),
        (["1 - confidence", "1-p_true", "minus confidence", "minuslogp"], False),
        (["negative entropy", "minus_perplexity", "inverse uncertainty"], True),
        # A word may stand in another, and a name may say both, or neither.
        (["score", "x", "", "problem_no", "measure", "pressure", "logit", "M.I."], None),
        (["hallucination_probability", "probability of an error", "confidence_entropy"], None),
        # It has to be the answer that is probable.
        (["contradiction_prob", "no_answer_prob", "na_prob", "refusal_probability"], None),
        (["prob_std", "confidence_interval_width", "human confidence"], None),
        (["unconfidence", "desconfianza", "Konfidenzverlust", "improbability"], None),
        (["no_entropy", "risk free", "doubtless", "entropy_reduction"], None),
        (["agreement_with_reference", "consistency (gold)", "target disagreement"], None),
        # Ranks, what is lost or avoided, a formula, and a scale that is explained.
        (["agreement_rank", "entropy percentile", "consistency_gap", "flipped_agreement"], None),
        (["low_entropy", "doubt removed", "wrong_answer_avoidance", "hallucinationfree"], None),
        (["1/perplexity", "max_entropy - entropy", "entropy * -1", "|log p|"], None),
        (
            ["InConsistency", "(1-confidence)", "log(1-confidence)", "~confidence", "zweifellos"],
            None,
        ),
        (["how sure (1=very sure, 5=guess)", "risk (1 = high)", "agreement: low = 5"], None),
        (["MaximumSequenceProbability", "gpt4_confidence", "mean token prob"], True),
    ],
)
def test_what_a_heading_says(headings, surer):
    assert {heading: direction_of(heading) for heading in headings} == dict.fromkeys(
        headings, surer
    )


def test_a_score_that_its_heading_contradicts_may_point_either_way():
    """A toolkit calls −ln p a probability; a log-probability above 0 is no logarithm of one."""
    for heading, cells, surer in (
        ("probability", (0, 1), True),
        ("MaximumSequenceProbability", (0.7, 11), None),
        ("p_true", (-0.3, -0.9), None),
        ("confidence", (0.9, 87), None),
        ("1 - confidence", (0.1, 0.3), False),
        ("log_prob", (-3, -0.1), True),
        ("log_prob", (3, 0.1), None),
        ("neg_log_prob", (3, 0.1), False),
        ("agreement", (3, 9), True),
        *((name, (-0.3, 0.2), None) for name in ("entropy", "perplexity", "NLL", "variance")),
        ("semantic_entropy", (-0.3, -0.2), None),
        ("semantic_entropy", (-1e-8, 0.2), False),  # of rounding
        ("mutual_information", (-0.01, 0.2), False),  # of samples
        ("mutual_information", (-0.3, -0.2), None),
        ("negative_entropy", (-0.3, -0.2), True),
        ("negative_entropy", (0.3, 0.2), None),
        ("1 - normalized_entropy", (0.3, 0.2), True),
        ("inverse_perplexity", (0.3, 0.2), True),
        ("log_perplexity", (-0.3, 0.2), False),
        ("disagreement", (-0.3, 0.2), False),
    ):
        lines = "\n".join([heading, *map(str, cells)])
        assert direction_in(parse(lines.encode(), "x.csv"), heading) is surer, heading


def test_scores_of_our_runs_are_doubts_and_others_of_the_same_name_are_read_by_their_words():
    pipeline = json.dumps(asdict(default_policy().pipeline)).replace('"', '""')
    for last, ways in ((pipeline, {False}), ("rag-v2", {True, False, None})):
        cells = ",".join(["0.5"] * len(SCORES))
        lines = "\n".join([",".join([*SCORES, "pipeline"]), *[f'{cells},"{last}"'] * 2])
        upload = parse(lines.encode(), "x.csv")
        assert {direction_in(upload, name) for name in SCORES} == ways
    assert direction_in(upload, "greedy_probability") is True
    assert direction_in(upload, "self_verification") is None


def test_a_direction_that_nobody_has_said_is_asked_for_by_name():
    assert check_directions([("a", True), ("b", False)]) == {"a": True, "b": False}
    with pytest.raises(UnknownDirectionError) as caught:
        check_directions([("a", True), ("x\ny", None), ("z" * 99, None)])
    assert str(caught.value) == (
        f"Say whether a larger “x y” or “{'z' * 59}…” means a surer answer or more doubt: the "
        "heading does not tell, and the labels must not, because they certify the result."
    )
    with pytest.raises(UnknownDirectionError, match="“0”, “1”, “2”, “3”, “4” or 95 more means"):
        check_directions([(str(number), None) for number in range(100)])
