"""Scores that look as no score should are refused until somebody vouches for them."""

import math
from dataclasses import replace

import numpy as np
import pytest

from core.data.tabular.labelled_rows import labelled_rows
from core.data.tabular.suggestions import suggest
from core.data.tabular.suspicion import Claim, SuspiciousScoreError, vouched_claims
from core.data.tabular.uploads import parse
from core.studies.inspection.certificates import default_policy
from core.studies.inspection.pipeline import to_text

HALVES = np.repeat([True, False], 10)
MANY = np.repeat([True, False], 50)
PERFECT = np.linspace(0.9, 0.1, 20)
ONE_ODD = np.append(PERFECT[:-1], 0.895)  # a wrong answer above nine right ones
ONE_TIE = np.append(PERFECT[:10], PERFECT[9:19])


def claim_wanted(name, numbers, right=HALVES, larger_is_surer=True):
    """What a person has to vouch for; None where nothing is odd."""
    try:
        assert not vouched_claims(name, np.array(numbers, float), larger_is_surer, right, ())
    except SuspiciousScoreError as error:
        assert error.score == name
        return error.claim
    return None


@pytest.mark.parametrize(
    ("numbers", "right", "surer", "wanted"),
    [
        (PERFECT, HALVES, True, Claim.BLIND),
        (-PERFECT, HALVES, False, Claim.BLIND),
        (PERFECT, HALVES, False, Claim.BLIND),  # every wrong answer is surer than any right one
        (np.append(PERFECT, math.nan), np.append(HALVES, False), True, Claim.BLIND),
        (PERFECT[1:], HALVES[1:], True, None),  # nine may be chance
        (ONE_ODD, HALVES, True, None),
        (ONE_TIE, HALVES, True, None),
        # A label of which somebody changed a few.
        (np.repeat([1.0, 0, 1], [50, 49, 1]), MANY, True, Claim.BLIND),
        (np.repeat([1.0, 0, 1], [50, 48, 2]), MANY, True, None),
        (np.append(np.linspace(0.9, 0.5, 99), 1), MANY, True, Claim.BLIND),
        (np.append(np.linspace(0.9, 0.5, 99), 1), MANY, False, Claim.BLIND),
        (np.append(np.linspace(0.9, 0.5, 98), [1, 1]), MANY, True, None),
        (np.repeat([100, 0], [19, 1]), np.repeat([True, False], [19, 1]), True, Claim.BLIND),
        (np.repeat([100, 0], [18, 2]), np.repeat([True, False], [19, 1]), True, None),
    ],
)
def test_a_score_that_parts_ten_of_each_without_a_mistake_is_asked_about(
    numbers, right, surer, wanted
):
    assert claim_wanted("x", numbers, right, surer) is wanted


@pytest.mark.parametrize(
    ("name", "numbers", "odd"),
    [
        ("confidence", [math.nan, 0.9, 87, 0.3, 12], True),
        ("confidence", [90, 87, 30, 1], False),
        ("confidence", [0.9, 1, 0, 0.3], False),
        ("score", [0.9, 87, 0.3, 12], True),
        ("entropy", [0.9, 2.1, 0.3, 1.2], False),
        ("perplexity", [0.9, 140.0, 1.3, 12], False),
        ("log_prob", [-0.9, -87, -0.3, -12], False),
    ],
)
def test_two_scales_in_one_column_are_asked_about(name, numbers, odd):
    right = np.resize([True, False], len(numbers))
    assert claim_wanted(name, numbers, right) is (Claim.ONE_SCALE if odd else None)


def test_minus_the_logarithm_of_a_probability_goes_beyond_one():
    numbers, right = np.linspace(0.2, 9.2, 8), np.resize([True, False], 8)
    assert claim_wanted("MaximumSequenceProbability", numbers, right, False) is None


def scored(name, of_row, more=""):
    """A hundred rows, of which the first half are right, and their columns."""
    rows = "".join(f"q{n},{of_row(n)},{int(n < 50)}{more}\n" for n in range(100))
    heading = f"question,{name},correct{',pipeline' if more else ''}"
    upload = parse(f"{heading}\n{rows}".encode(), "x.csv")
    return upload, suggest(upload)


def test_nothing_is_certified_until_somebody_vouches_for_what_is_odd():
    upload, columns = scored("agreement", lambda n: 99 - n if n < 50 else (100 - n) / 100)
    for claim, says in ((Claim.ONE_SCALE, "0 to 1, and percent"), (Claim.BLIND, "AUROC 1")):
        with pytest.raises(SuspiciousScoreError, match=says) as caught:
            labelled_rows(upload, columns)
        assert caught.value.claim is claim
        columns = replace(columns, vouched=(*columns.vouched, ("agreement", claim)))
    data = labelled_rows(upload, columns)
    book = data.codebooks["agreement"]  # stored in the policy, printed in the report
    assert book.claims == (
        "As you said, “agreement” has numbers of one scale.",
        "As you said, “agreement” was made without a look at the right answers.",
    )
    assert set(book.claims) < set(data.reading) and not data.decided


@pytest.mark.parametrize(
    ("names", "asks"),
    [
        (
            [
                "rougeL",
                "token_f1",
                "gold_similarity",
                "logprob of target",
                "BERTScore",
                "exactMatch",
                "answer_similarity",
                "Human rating",
                "context_recall",
                "factual_correctness",
                "accuracy",
            ],
            1,
        ),
        (["p_correctness_model", "matching_samples", "correctness probability"], 0),
        (["confidence", "prob_correct", "goldilocks", "self_eval", "system_confidence", "nll"], 0),
    ],
)
def test_a_score_named_after_the_right_answers_is_asked_about(names, asks):
    rows = np.arange(100)
    for name in names:
        words = (name, rows * 37 % 100 / 100, True, rows < 50)
        if asks:
            with pytest.raises(SuspiciousScoreError, match="as if it was made from the right"):
                vouched_claims(*words, [])
        assert len(vouched_claims(*words, [Claim.BLIND])) == asks


def test_only_what_is_odd_is_said_to_be_vouched_for():
    upload, columns = scored("confidence", lambda n: (n * 37 % 100) / 100)
    claims = tuple(("confidence", claim) for claim in Claim)
    assert (
        labelled_rows(upload, replace(columns, vouched=claims)).codebooks["confidence"].claims == ()
    )


def test_the_scores_of_a_run_saw_no_labels_but_a_column_may_be_called_like_them():
    own = to_text(default_policy().pipeline).replace('"', '""')
    of_run = scored("mutual_information", lambda n: n / 100, more=f',"{own}"')
    assert labelled_rows(*of_run).codebooks["mutual_information"].claims == ()
    for more in ("", ",rag-v2"):  # no pipeline of ours
        with pytest.raises(SuspiciousScoreError):
            labelled_rows(*scored("mutual_information", lambda n: n / 100, more=more))
