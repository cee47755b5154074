"""Calibration: policies that say what was promised, on hand-made rows and on the bundled ones."""

import csv
import io
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example as such_as
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.abstention.policy import Pipeline, PolicyError, from_json, to_json
from core.abstention.thresholds import Threshold, Uncertifiable
from core.data.tabular import uploads
from core.data.tabular.labelled import Columns, Labelled, Score, suggest
from core.data.tabular.labels import Meaning
from core.data.tabular.uploads import UploadError
from core.studies.calibration import calibration as study
from core.studies.calibration import diagnostics, holdout, new_rows
from core.studies.calibration.calibration import (
    BEST,
    METHODS,
    Calibration,
    CalibrationError,
    Target,
)
from core.studies.calibration.example import EXAMPLE_NAME, example_bytes
from core.studies.inspection.pipeline import to_text
from core.studies.progress import Cancelled

INFORMATION, ENTROPY = "mutual_information", "semantic_entropy"
PIPELINE = Pipeline("m", "r1", "p1", 10, 0.9, "token_f1", 0.25, 0.0, 0.0, "Algorithm 3", 0.1)

# Ten questions. `a` is a doubt with a tie and a missing value, `b` is a confidence.
HEADING = ["question", "source", "a", "a_correct", "b", "b_correct", "entropy", "pipeline"]
ROWS = [
    ("q1", "x", "0.1", 1, "0.9", 1, "0.1"),
    ("q2", "x", "0.2", 1, "0.8", 1, "0.2"),
    ("q3", "x", "0.25", 1, "0.7", 1, "0.6"),
    ("q4", "x", "0.3", 1, "0.6", 1, "0.7"),
    ("q5", "y", "0.3", 0, "0.5", 1, "1.2"),
    ("q6", "y", "0.5", 1, "0.4", 1, "1.4"),
    ("q7", "y", "0.6", 0, "0.3", 0, "1.6"),
    ("q8", "y", "0.7", 0, "0.2", 0, "2.5"),
    ("q9", "y", "0.8", 1, "0.1", 0, ""),
    ("q10", "z", "", 1, "0.05", 1, "0.4"),
]


def table(heading, rows):
    buffer = io.StringIO()
    csv.writer(buffer).writerows([heading, *rows])
    return buffer.getvalue().encode()


def new(heading, *rows):
    """A table without labels."""
    return uploads.parse(table(heading, rows), "new.csv")


def cells(data):
    """The rows of a CSV that was written, as texts."""
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def scored(doubts, correct, queries=None):
    """Labelled rows with one score, `s`."""
    n = len(doubts)
    queries = [f"q{i}" for i in range(n)] if queries is None else queries
    return Labelled(
        name="scores.csv",
        sha256="0" * 64,
        queries=np.array(queries, object),
        sources=np.full(n, "", object),
        doubts={"s": np.array(doubts, float)},
        correct={"s": np.array(correct, bool)},
        entropies=None,
        surer={"s": False},
        pipeline="",
        kept=np.arange(n),
        problems=(),
    )


CONTENT = table(HEADING, [(*row, to_text(PIPELINE)) for row in ROWS])


@pytest.fixture(scope="module")
def hand():
    return study.read(CONTENT, "hand.csv")


@pytest.fixture(scope="module")
def example():
    return study.read(example_bytes(), EXAMPLE_NAME)


@pytest.fixture(scope="module")
def certified(hand):
    """`a` for at most half wrong with 70 % confidence: it answers up to the doubt 0.6.

    P(Bin(m, 1/2) ≤ k) at m = 2, 3, 5, 6, 7 answered is 1/4, 1/8, 6/32, 7/64, 29/128, at most
    0.3; at the next, with 3 of 8 wrong, it is 93/256.
    """
    return study.calibrate(hand, Target(0.5, 0.7, "ltt", "a"))


# ------------------------------------------------------------------------------- target


@pytest.mark.parametrize("error", [0, 1, -0.1, 1.5, math.nan, math.inf])
def test_a_target_error_lies_between_0_and_1(error):
    with pytest.raises(CalibrationError, match=r"The target error is .*; choose one between"):
        Target(error=error, score="a")


@pytest.mark.parametrize("confidence", [0, 1, -0.1, 90, math.nan])
def test_a_confidence_lies_between_0_and_1(confidence):
    with pytest.raises(CalibrationError, match=r"The confidence is .*; choose one between"):
        Target(confidence=confidence, score="a")


def test_a_method_is_one_that_there_is():
    with pytest.raises(CalibrationError, match="no method “vibes”") as caught:
        Target(method="vibes", score="a")
    assert all(method in str(caught.value) for method in METHODS)


@pytest.mark.parametrize("method", ["crc", "empirical"])
def test_only_learn_then_test_pays_for_choosing_the_best(method):
    with pytest.raises(CalibrationError, match="Name one score"):
        Target(method=method)
    assert Target(method=method, score="a").method == method
    assert Target().score == BEST and Target().method == "ltt"


def test_every_complaint_about_a_target_is_a_sentence():
    for wrong in ({"error": 0}, {"confidence": 1}, {"method": "x"}, {"method": "crc"}):
        with pytest.raises(CalibrationError) as caught:
            Target(**wrong)
        assert str(caught.value).endswith(".")


# --------------------------------------------------------------------------- the policy


def test_the_policy_says_what_was_done(hand, certified):
    policy = certified.policy
    assert policy.threshold == certified.outcome.value == pytest.approx(0.65)
    assert (policy.answered, policy.errors, policy.labels) == (7, 2, 10)
    assert (policy.score, policy.method) == ("a", "ltt")
    assert (policy.target_error, policy.confidence) == (0.5, 0.7)
    assert stats.binom.cdf(2, 7, policy.upper_bound) == pytest.approx(0.3)
    assert policy.data == uploads.parse(CONTENT, "hand.csv").sha256 == hand.sha256
    assert policy.pipeline == PIPELINE
    assert policy.larger_is_surer is False
    assert (policy.scores_tried, policy.settings_tried) == (1, 1)
    assert policy.guaranteed
    assert (certified.score, certified.repeated, certified.data) == ("a", 0, hand)


def test_the_policy_can_be_taken_along(certified):
    assert from_json(to_json(certified.policy)) == certified.policy


def test_a_confidence_is_turned_and_lambda_can_be_infinite(hand):
    """After 2 of 8 wrong, 3 of 9 are still at most 0.3 (130/512), and 3 of 10 as well."""
    found = study.calibrate(hand, Target(0.5, 0.7, "ltt", "b"))
    assert found.policy.larger_is_surer is True
    assert found.policy.threshold == math.inf
    assert (found.policy.answered, found.policy.errors) == (10, 3)
    assert from_json(to_json(found.policy)) == found.policy


def test_the_best_is_found_at_a_divided_delta_and_says_so(hand):
    """At δ = 0.15 `a` stops after 3 (1 of 5 wrong: 6/32), `b` after 8 with 2 wrong (37/256)."""
    found = study.calibrate(hand, Target(0.5, 0.7))
    assert found.score == found.policy.score == "b"
    assert found.policy.threshold == pytest.approx(-0.15)
    assert (found.policy.answered, found.policy.errors) == (8, 2)
    assert found.policy.scores_tried == 2
    assert found.policy.confidence == 0.7  # what is promised for the choice as a whole
    assert stats.binom.cdf(2, 8, found.policy.upper_bound) == pytest.approx(0.15)
    assert found.doubts is hand.doubts["b"] and found.correct is hand.correct["b"]


def test_conformal_risk_control_bounds_all_queries(hand):
    """(2 + 1) / (10 + 1) is at most 0.3, (3 + 1) / (10 + 1) is not."""
    found = study.calibrate(hand, Target(0.3, 0.7, "crc", "a"))
    assert found.policy.threshold == pytest.approx(0.65)
    assert (found.policy.answered, found.policy.errors) == (7, 2)
    assert found.policy.upper_bound == pytest.approx(3 / 11)
    assert found.policy.confidence is None
    assert "does not bound the error among the answered" in found.policy.sentence


def test_the_empirical_rule_promises_nothing(hand):
    """1 of 6 wrong is at most a quarter; 2 of 7, 3 of 8 and 3 of 9 are not."""
    found = study.calibrate(hand, Target(0.25, 0.7, "empirical", "a"))
    assert found.policy.threshold == pytest.approx(0.55)
    assert (found.policy.answered, found.policy.errors) == (6, 1)
    assert found.policy.upper_bound is None and found.policy.confidence is None
    assert not found.policy.guaranteed
    assert math.isnan(found.outcome.upper_bound)


@pytest.mark.parametrize("score", ["a", BEST])
def test_what_cannot_be_certified_has_no_policy(hand, score):
    found = study.calibrate(hand, Target(0.05, 0.9, "ltt", score))
    assert isinstance(found.outcome, Uncertifiable)
    assert found.policy is None
    assert found.outcome.reason.endswith(".")
    assert found.score in hand.doubts


def test_a_score_that_is_not_there_is_refused(hand):
    with pytest.raises(CalibrationError, match="no score “c” in the data") as caught:
        study.calibrate(hand, Target(score="c"))
    assert "a, b" in str(caught.value)


def test_the_settings_that_were_tried_are_told(hand):
    found = study.calibrate(hand, Target(0.5, 0.7, "ltt", "a"), settings_tried=3)
    assert found.policy.settings_tried == 3
    assert "one of 3 settings" in found.policy.sentence


@pytest.mark.parametrize("text", ["", "rubbish", "{}", "null", "[1]", '{"model": "m"}'])
def test_a_pipeline_that_is_none_is_none(hand, text):
    data = replace(hand, pipeline=text)
    assert study.pipeline_of_data(data) is None
    assert study.calibrate(data, Target(0.5, 0.7, "ltt", "a")).policy.pipeline is None
    assert study.pipeline_of_data(hand) == PIPELINE


# ------------------------------------------------------------------- one row a question


def test_one_row_of_every_question_counts():
    queries = [f"q{i % 20}" for i in range(60)]
    rng = np.random.default_rng(0)
    data = scored(rng.random(60), rng.random(60) < 0.7, queries)
    found = study.independent(data)
    assert sorted(found.queries) == sorted(set(queries))
    for row, doubt, right, query in zip(
        found.kept, found.doubts["s"], found.correct["s"], found.queries, strict=True
    ):
        assert (data.queries[row], data.doubts["s"][row]) == (query, doubt)
        assert data.correct["s"][row] == right
    assert (study.independent(data).kept == found.kept).all()
    assert study.independent(found) is found
    drawn = {tuple(study.independent(data, seed).kept) for seed in range(5)}
    assert len(drawn) == 5  # not the first row of each


def test_repeating_every_row_changes_nothing_but_what_is_said(hand):
    content = table(HEADING, [(*row, to_text(PIPELINE)) for row in ROWS for _ in range(5)])
    data = study.read(content, "five.csv")
    target = Target(0.5, 0.7, "ltt", "a")
    once, five = study.calibrate(hand, target), study.calibrate(data, target)
    assert replace(five.policy, data=once.policy.data) == once.policy
    assert five.repeated == 40
    assert len(five.data.kept) == 10
    assert "40 rows" in study.REPEATED.format(five.repeated)


def test_a_long_question_costs_no_more_than_its_length():
    """As fixed-width texts, these would take 8 GB."""
    queries = [f"q{i}" for i in range(1000)] + ["x" * 2_000_000]
    data = scored(np.zeros(1001), np.ones(1001), queries)
    assert study.independent(data) is data
    assert sum(len(half.kept) for half in holdout.halves(data)) == 1001


# ------------------------------------------------------------------ reading the outcome


def test_curves_count_every_distinct_doubt(hand):
    curves = diagnostics.curves(hand)
    assert list(curves) == ["a", "b"]
    for name, curve in curves.items():
        doubts, correct = hand.doubts[name], hand.correct[name]
        assert list(curve.doubts) == sorted({d for d in doubts if not math.isnan(d)})
        assert curve.queries == 10
        for doubt, answered, errors in zip(curve.doubts, curve.answered, curve.errors, strict=True):
            assert answered == (doubts <= doubt).sum()
            assert errors == ((doubts <= doubt) & ~correct).sum()


@pytest.mark.parametrize(
    ("value", "answered", "errors"),
    [(0.4, 5, 1), (0.3, 3, 0), (0.05, 0, 0), (0.75, 8, 3), (math.inf, 9, 3)],
)
def test_moving_lambda_by_hand_drops_the_guarantee(certified, value, answered, errors):
    policy = study.moved(certified, value)
    assert (policy.threshold, policy.answered, policy.errors) == (value, answered, errors)
    assert policy.method == "by hand" and not policy.guaranteed
    assert policy.confidence is None and policy.upper_bound is None
    assert policy.labels == 10 and policy.pipeline == PIPELINE
    assert policy.sentence.startswith("No guarantee: λ was chosen by hand.")


def test_moving_lambda_back_brings_the_guarantee_back(certified):
    assert study.moved(certified, certified.policy.threshold) == certified.policy


@pytest.mark.parametrize(("score", "answered", "errors"), [("a", 5, 1), ("b", 10, 3)])
def test_lambda_can_be_chosen_by_hand_where_nothing_is_certified(hand, score, answered, errors):
    found = study.calibrate(hand, Target(0.05, 0.9, "ltt", score))
    policy = study.moved(found, 0.4)
    assert (policy.score, policy.method) == (score, "by hand")
    assert (policy.answered, policy.errors, policy.labels) == (answered, errors, 10)
    assert policy.larger_is_surer is (score == "b")
    assert (policy.data, policy.pipeline) == (hand.sha256, PIPELINE)
    assert policy.target_error == 0.05 and policy.upper_bound is None


def counted(bins):
    return [(one.name, one.queries, one.answered, one.errors) for one in bins]


def test_by_entropy_counts_every_bin(certified):
    """The ninth row has no entropy, and the tenth no doubt."""
    (binned,) = diagnostics.by_entropy(certified)
    assert (binned.score, binned.threshold) == ("a", certified.policy.threshold)
    assert counted(binned.bins) == [
        ("below 0.5", 3, 2, 0),
        ("0.5 to 1.0", 2, 2, 0),
        ("1.0 to 1.5", 2, 2, 1),
        ("1.5 to 2.0", 1, 1, 1),
        ("2.0 or more", 1, 0, 0),
    ]


def test_by_entropy_each_score_has_its_own_threshold(hand, certified):
    binned = diagnostics.by_entropy(certified, ["b", "a", "b"])
    assert [b.score for b in binned] == ["a", "b"]
    assert binned[1].threshold == math.inf
    assert counted(binned[1].bins) == [
        ("below 0.5", 3, 3, 0),
        ("0.5 to 1.0", 2, 2, 0),
        ("1.0 to 1.5", 2, 2, 0),
        ("1.5 to 2.0", 1, 1, 1),
        ("2.0 or more", 1, 1, 1),
    ]


def test_by_entropy_leaves_out_what_cannot_be_certified(hand, example):
    assert diagnostics.by_entropy(study.calibrate(hand, Target(score="a")), ["b"]) == ()
    found = study.calibrate(example, Target(score="self_verification"))
    assert found.policy is None
    assert [b.score for b in diagnostics.by_entropy(found, [INFORMATION])] == [INFORMATION]


def test_by_entropy_without_entropies_is_nothing(hand):
    data = replace(hand, entropies=None)
    assert diagnostics.by_entropy(study.calibrate(data, Target(0.5, 0.7, "ltt", "a")), ["b"]) == ()


def test_the_bundled_example_shows_what_the_paper_shows(example):
    """Where there are many right answers, entropy takes them for doubt; M.I. does not."""
    found = study.calibrate(example, Target(score=INFORMATION))
    information, entropy = diagnostics.by_entropy(found, [ENTROPY])
    assert information.threshold == found.policy.threshold
    own = study.calibrate(example, Target(score=ENTROPY)).policy
    assert entropy.threshold == own.threshold
    assert sum(b.answered for b in information.bins) == found.policy.answered
    assert sum(b.answered for b in entropy.bins) == own.answered
    high = {b.name: b for b in information.bins if b.name[:1] in "12"}
    assert set(high) == {"1.0 to 1.5", "1.5 to 2.0", "2.0 or more"}
    answered = sum(b.answered for b in high.values())
    assert answered > sum(b.queries for b in high.values()) / 3
    assert answered > 10 * sum(b.answered for b in entropy.bins if b.name in high)


def test_every_row_of_the_example_has_an_entropy(example):
    """Also where too little was seen for a doubt."""
    assert not np.isnan(example.entropies).any()
    assert np.isnan(example.doubts[INFORMATION]).any()
    found = study.calibrate(example, Target(score=INFORMATION))
    assert sum(b.queries for b in diagnostics.by_entropy(found)[0].bins) == 1000


def test_by_source_shows_the_largest_first(certified):
    found = diagnostics.by_source(certified, 0.65)
    assert counted(found) == [("y", 5, 3, 2), ("x", 4, 4, 0), ("z", 1, 0, 0)]
    assert diagnostics.by_source(certified, 0.65, most=2) == found[:2]
    assert counted(diagnostics.by_source(certified, math.inf))[0] == ("y", 5, 5, 3)


def test_sources_of_one_size_are_sorted_by_name():
    data = replace(scored([0.1] * 4, [1] * 4), sources=np.array(["b", "", "a", "b"], object))
    found = Calibration(data, Target(score="s"), "s", Uncertifiable("", None), None)
    assert [b.name for b in diagnostics.by_source(found, 1)] == ["b", "", "a"]


# ---------------------------------------------------------------------------- comparing


def test_the_comparison_is_that_of_counting_pairs(certified):
    """A missing doubt is the largest: of 21 pairs, `a` puts 13.5 right, and `b` 18."""
    a, b = diagnostics.compare(certified, resamples=20)
    assert (a.score, b.score) == ("a", "b")
    assert a.auroc.value == pytest.approx(13.5 / 21)
    assert b.auroc.value == pytest.approx(18 / 21)
    assert a.difference is None
    assert b.difference.value == pytest.approx(-4.5 / 21)
    errors = [0, 0, 0, 0.5, 1, 1, 2, 3, 3, 3]  # half an error where one of two tied is wrong
    assert a.aurc == pytest.approx(np.mean([e / (i + 1) for i, e in enumerate(errors)]))
    assert a.outcome == certified.outcome
    assert (b.outcome.answered, b.outcome.errors) == (10, 3)


def test_intervals_contain_their_value(example):
    found = study.calibrate(example, Target(score=INFORMATION))
    compared = diagnostics.compare(found, resamples=200)
    assert [c.score for c in compared] == list(example.doubts)
    of = {c.score: c for c in compared}
    for c in compared:
        assert 0 <= c.auroc.lower <= c.auroc.value <= c.auroc.upper <= 1
        assert (c.difference is None) == (c.score == INFORMATION)
        assert c.outcome == study.calibrate(example, Target(score=c.score)).outcome
        if c.difference is not None:
            assert c.difference.lower <= c.difference.value <= c.difference.upper
            expected = of[INFORMATION].auroc.value - c.auroc.value
            assert c.difference.value == pytest.approx(expected)
    assert of[ENTROPY].difference.lower > 0  # M.I. tells wrong answers better, certainly


def test_the_chosen_best_is_what_the_others_are_held_against(hand):
    found = study.calibrate(hand, Target(0.5, 0.7))
    a, b = diagnostics.compare(found, resamples=20)
    assert b.difference is None
    assert a.difference.value == pytest.approx(4.5 / 21)
    assert b.outcome.answered == 10  # by itself it needs no divided δ


def test_a_comparison_says_how_far_it_is_and_can_be_stopped(certified):
    heard = []
    diagnostics.compare(certified, lambda stage, share: heard.append((stage, share)), resamples=120)
    assert [share for _, share in heard] == pytest.approx([0, 50 / 120, 100 / 120])
    assert len({stage for stage, _ in heard}) == 1

    def stop(stage, share):
        raise Cancelled

    with pytest.raises(Cancelled):
        diagnostics.compare(certified, stop, resamples=120)


# --------------------------------------------------------------------------- confirming


def test_halves_are_disjoint_and_cover_everything(example):
    first, second = holdout.halves(example)
    assert sorted([*first.kept, *second.kept]) == list(range(1000))
    assert len(first.kept) == len(second.kept) == 500
    again = holdout.halves(example)
    assert (again[0].kept == first.kept).all() and (again[1].kept == second.kept).all()
    assert (holdout.halves(example, seed=1)[0].kept != first.kept).any()
    assert first.sha256 == second.sha256 == example.sha256
    for half in (first, second):
        assert (half.queries == example.queries[half.kept]).all()
        assert (half.sources == example.sources[half.kept]).all()
        assert (half.entropies == example.entropies[half.kept]).all()
        for name in example.doubts:
            np.testing.assert_equal(half.doubts[name], example.doubts[name][half.kept])
            assert (half.correct[name] == example.correct[name][half.kept]).all()


@given(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=30), st.integers(0, 3))
def test_rows_of_one_question_stay_in_one_half(queries, seed):
    data = scored(np.arange(len(queries)), np.ones(len(queries)), queries)
    first, second = holdout.halves(data, seed)
    assert not {*first.queries} & {*second.queries}
    assert sorted([*first.kept, *second.kept]) == list(range(len(queries)))
    assert len({*second.queries}) == len({*queries}) // 2


def test_rows_can_be_chosen_without_entropies(hand):
    chosen = np.array([True] + [False] * 9)
    assert list(study.rows(hand, chosen).entropies) == [0.1]
    assert study.rows(replace(hand, entropies=None), chosen).entropies is None


def untouched(right, wrong, abstained):
    """Rows that λ = 0.65 answers rightly, wrongly and not at all."""
    doubts = [0.1] * (right + wrong) + [0.65] * abstained
    data = scored(doubts, [1] * right + [0] * wrong + [0] * abstained)
    return replace(data, doubts={"a": data.doubts["s"]}, correct={"a": data.correct["s"]})


def test_a_policy_is_confirmed_by_one_exact_test(certified):
    """None of 10 wrong: at most 1 − 0.1^(1/10)."""
    policy = replace(certified.policy, target_error=0.25, threshold=0.65)
    found = holdout.confirm(policy, untouched(10, 0, 10), 0.9)
    assert found.observed == Threshold(0.65, 10, 0, 20, found.observed.upper_bound)
    assert found.observed.upper_bound == pytest.approx(1 - 0.1 ** (1 / 10))
    assert found.kept
    assert found.sentence == (
        "On 20 held-out rows it answered 10, 0 of them wrongly. With 90% confidence, at most "
        "20.6% of answered questions are wrong, within the target of 25%."
    )


def test_a_policy_that_errs_too_often_is_not_confirmed(certified):
    policy = replace(certified.policy, target_error=0.25, threshold=0.65)
    found = holdout.confirm(policy, untouched(9, 1, 1000), 0.9)
    assert stats.binom.cdf(1, 10, found.observed.upper_bound) == pytest.approx(0.1)
    assert not found.kept
    assert found.sentence == (
        "On 1,010 held-out rows it answered 10, 1 of them wrongly. With 90% confidence, at "
        "most 33.7% of answered questions are wrong, above the target of 25%. This does not "
        "refute the policy, but fails to confirm it."
    )


def test_a_confirmation_without_an_answer_confirms_nothing(certified):
    found = holdout.confirm(certified.policy, untouched(0, 0, 5), 0.9)
    assert (found.observed.answered, found.observed.upper_bound, found.kept) == (0, 1, False)


def test_a_confirmation_rounds_neither_confidence_nor_target_up(certified):
    policy = replace(certified.policy, target_error=0.0004)
    sentence = holdout.confirm(policy, untouched(10, 0, 0), 0.999).sentence
    assert "With 99.9% confidence" in sentence
    assert sentence.split(". ")[1].endswith("the target of 0.04%")


def test_a_policy_by_conformal_risk_control_is_held_to_what_that_bounds(certified):
    """1 of 40 is answered and wrong: 9.4 % of all, where 33.7 % of the answered would be."""
    policy = replace(
        certified.policy, target_error=0.1, threshold=0.65, method="crc", confidence=None
    )
    found = holdout.confirm(policy, untouched(9, 1, 30), 0.9)
    assert stats.binom.cdf(1, 40, found.observed.upper_bound) == pytest.approx(0.1)
    assert found.kept
    assert found.sentence == (
        "On 40 held-out rows it answered 10, 1 of them wrongly. With 90% confidence, at most "
        "9.4% of all questions are answered and wrong, within the target of 10%."
    )


def test_a_question_that_is_repeated_confirms_once(certified):
    once = untouched(10, 0, 10)
    twice = replace(
        once,
        queries=np.tile(once.queries, 2),
        sources=np.tile(once.sources, 2),
        doubts={"a": np.tile(once.doubts["a"], 2)},
        correct={"a": np.tile(once.correct["a"], 2)},
        kept=np.arange(40),
    )
    policy = replace(certified.policy, target_error=0.25, threshold=0.65)
    assert holdout.confirm(policy, twice, 0.9) == holdout.confirm(policy, once, 0.9)


def test_the_bound_holds_for_the_other_half_as_often_as_it_says():
    """500 halves whose error is 0.1: the bound at 80 % lies below in at most 20 % of them."""
    rng = np.random.default_rng(0)
    policy = study.calibrate(scored([0.1], [1]), Target(0.5, 0.4, "ltt", "s")).policy
    bounds = [
        holdout.confirm(policy, scored(np.full(40, 0.1), rng.random(40) > 0.1), 0.8)
        for _ in range(500)
    ]
    missed = sum(found.observed.upper_bound < 0.1 for found in bounds)
    assert 0 < missed <= stats.binom.ppf(0.9999, 500, 0.2)


# ------------------------------------------------------------------------- taking along


def test_decisions_hold_every_row(hand, certified):
    heading, *found = cells(new_rows.decisions(hand, certified.policy))
    assert heading == ["row", "query", "source", "a", "decision", "correct"]
    assert [row[:3] for row in found] == [
        [str(i + 1), row[0], row[1]] for i, row in enumerate(ROWS)
    ]
    assert [row[3] for row in found] == [row[2] for row in ROWS]
    assert [row[4] for row in found] == ["answer"] * 7 + ["abstain"] * 3
    assert [row[5] for row in found] == [str(row[3]) for row in ROWS]


def test_a_missing_score_abstains_even_below_an_infinite_lambda(hand, certified):
    policy = study.moved(certified, math.inf)
    assert [row[3:5] for row in cells(new_rows.decisions(hand, policy))[9:]] == [
        ["0.8", "answer"],
        ["", "abstain"],
    ]


def test_a_confidence_is_written_as_it_was(hand):
    policy = study.moved(study.calibrate(hand, Target(0.5, 0.7, "ltt", "b")), -0.45)
    found = cells(new_rows.decisions(hand, policy))
    assert found[0][3] == "b"
    assert [row[3] for row in found[1:]] == [row[4] for row in ROWS]
    assert [row[4] for row in found[1:]] == ["answer"] * 5 + ["abstain"] * 5


def test_a_confidence_of_0_is_not_written_as_minus_0():
    content = table(["q", "sure", "correct"], [("a", "0.0", 0), ("b", "1", 1), ("c", "0.5", 1)])
    data = study.read(content, "x.csv")
    policy = study.calibrate(data, Target(0.5, 0.5, "empirical", "sure")).policy
    assert [row[3] for row in cells(new_rows.decisions(data, policy))] == [
        "sure",
        "0.0",
        "1.0",
        "0.5",
    ]


def test_rows_are_numbered_as_in_the_file():
    content = table(["q", "s", "correct"], [("a", "0.1", 1), ("b", "0.2", ""), ("c", "0.3", 0)])
    data = study.read(content, "x.csv", ["s"], "correct", meanings={"": Meaning.OUT})
    policy = study.calibrate(data, Target(0.5, 0.5, "empirical", "s")).policy
    assert [row[:2] for row in cells(new_rows.decisions(data, policy))[1:]] == [
        ["1", "a"],
        ["3", "c"],
    ]


def of_one_kind(label, other, meanings=None):
    """A hundred answers, the first half labelled in one way and the others in another."""
    rows = [(f"q{i}", i / 100, label if i < 50 else other) for i in range(100)]
    return study.read(table(["q", "s", "correct"], rows), "x.csv", meanings=meanings)


@pytest.mark.parametrize("method", study.METHODS)
@pytest.mark.parametrize(
    ("other", "meanings"),
    [("1", None), ("", {"": Meaning.OUT}), ("", {"": Meaning.RIGHT}), ("W", {"w": Meaning.OUT})],
)
def test_labels_of_one_kind_promise_nothing(method, other, meanings):
    """Fifty right answers and no wrong one are certified at 5 % otherwise: 0.95⁵⁰ < 0.1."""
    data = of_one_kind("1", other, meanings)
    found = study.calibrate(data, Target(0.05, 0.9, method, "s"))
    assert found.policy is None
    assert found.outcome.reason == (
        "Every label of “s” is right. Without one that is wrong, nothing shows how this file "
        "marks such answers, so nothing is guaranteed. Check the labels, and add rows of both "
        "kinds."
    )
    assert study.calibrate(data, Target(0.05, 0.9)).policy is None  # the best of all scores, too
    half, _ = holdout.halves(data)
    assert study.calibrate(half, Target(0.5, 0.5, method, "s")).policy is None


def test_a_half_without_wrong_answers_is_of_a_file_that_has_some():
    rows = [(f"q{i}", i / 100, int(i != 7)) for i in range(100)]
    data = study.read(table(["q", "s", "correct"], rows), "x.csv")
    parts = [study.calibrate(half, Target(0.1, 0.9, "ltt", "s")) for half in holdout.halves(data)]
    assert any(part.correct.all() for part in parts)
    assert all(part.policy is not None for part in parts)


def test_empty_labels_that_mean_wrong_are_wrong():
    found = study.calibrate(
        of_one_kind("1", "", {"": Meaning.WRONG}), Target(0.05, 0.9, "ltt", "s")
    )
    # P(Bin(52, 5 %) ≤ 1) is 26 %: only the fifty right ones, and none of the wrong, are answered.
    assert (found.policy.answered, found.policy.errors, found.policy.left_out) == (50, 0, 0)


def test_rows_left_out_stand_in_the_policy():
    rows = [(f"q{i}", i / 100, "" if i % 4 == 3 else int(i < 80)) for i in range(100)]
    content = table(["q", "s", "correct"], rows)
    data = study.read(content, "x.csv", meanings={"": Meaning.OUT})
    policy = study.calibrate(data, Target(0.1, 0.9, "ltt", "s")).policy
    assert (policy.labels, policy.left_out) == (75, 25)
    assert "25 rows without a label were left out" in policy.sentence
    moved = study.moved(study.calibrate(data, Target(0.01, 0.99, "ltt", "s")), 0.5)
    assert moved.left_out == 25


FORMULAS = ["=1+1", "-2", "@x", '=HYPERLINK("http://x.example")', "plain"]


def test_decisions_are_disarmed_and_so_is_the_heading():
    rows = [(q, q, i / 10, i < 3) for i, q in enumerate(FORMULAS)]
    data = study.read(table(["q", "source", "=cmd|x", "correct"], rows), "x.csv")
    policy = study.calibrate(data, Target(0.5, 0.5, "empirical", "=cmd|x")).policy
    heading, *found = cells(new_rows.decisions(data, policy))
    assert heading[3] == "'=cmd|x"
    expected = [f"'{q}" for q in FORMULAS[:4]] + ["plain"]
    assert [row[1] for row in found] == [row[2] for row in found] == expected


def test_queries_that_read_like_values_stay_texts():
    rows = [("None", "0.1", 1), ("007", "0.2", 1), ("7", "0.3", 0), ("nan", "0.4", 0)]
    data = study.read(table(["q", "s", "correct"], rows), "x.csv")
    found = study.calibrate(data, Target(0.5, 0.5, "empirical", "s"))
    assert found.repeated == 0 and found.policy.labels == 4
    assert [row[1] for row in cells(new_rows.decisions(data, found.policy))[1:]] == [
        "None",
        "007",
        "7",
        "nan",
    ]


# ---------------------------------------------------------------------------- new scores


def test_new_scores_are_decided_by_the_policy(certified):
    heading = ["question", "a", "other"]
    upload = new(heading, ["n1", "0.1", "None"], ["n2", "0.66", "007"], ["n3", "", ""])
    fresh = new_rows.new_scores(upload, certified.policy)
    np.testing.assert_equal(fresh.doubts, [0.1, 0.66, math.nan])
    assert list(fresh.answers) == [True, False, False]
    assert fresh.answered == 1
    assert cells(new_rows.new_decisions(fresh)) == [
        [*heading, "decision"],
        ["n1", "0.1", "None", "answer"],
        ["n2", "0.66", "007", "abstain"],
        ["n3", "", "", "abstain"],
    ]


def test_new_confidences_are_turned_like_the_old(hand):
    found = study.calibrate(hand, Target(0.5, 0.7))  # answers confidences above 0.15
    fresh = new_rows.new_scores(new(["b"], ["0.9"], ["0.16"], ["0.14"], ["n/a"]), found.policy)
    assert list(fresh.answers) == [True, True, False, False]
    written = [row[0] for row in cells(new_rows.new_decisions(fresh))]
    assert written == ["b", "0.9", "0.16", "0.14", "n/a"]


def test_new_decisions_are_disarmed_and_keep_negative_numbers(certified):
    upload = new(["a", "=x"], ["-0.25", "=1+1"], ["0.9", "-1+cmd|x"], ["-", "-"])
    found = cells(new_rows.new_decisions(new_rows.new_scores(upload, certified.policy)))
    assert found == [
        ["a", "'=x", "decision"],
        ["-0.25", "'=1+1", "answer"],
        ["0.9", "'-1+cmd|x", "abstain"],
        ["'-", "'-", "abstain"],
    ]


def test_a_missing_column_says_which(certified):
    with pytest.raises(CalibrationError, match="no column “a” in new") as caught:
        new_rows.new_scores(new(["b"], ["0.1"]), certified.policy)
    assert str(caught.value).endswith(".")


def test_a_column_without_numbers_is_refused(certified):
    with pytest.raises(UploadError, match="no number"):
        new_rows.new_scores(new(["a"], ["high"], ["low"]), certified.policy)


def test_scores_of_the_same_pipeline_are_taken(certified):
    text = to_text(PIPELINE)
    upload = new(["a", "pipeline"], ["0.1", text], ["0.9", text], ["0.9", ""], ["0.1", "rubbish"])
    assert new_rows.new_scores(upload, certified.policy).answered == 2


@pytest.mark.parametrize("others", [0, 1, 5])
def test_scores_of_another_pipeline_are_refused_by_its_fields(certified, others):
    """Also when it made only some of the rows."""
    other = to_text(replace(PIPELINE, model="n", samples=20, tau=0.5))
    rows = [["0.1", to_text(PIPELINE)]] * others + [["0.1", other]]
    with pytest.raises(PolicyError) as caught:
        new_rows.new_scores(new(["a", "pipeline"], *rows), certified.policy)
    for phrase in (
        "model = “m” there, “n” here",
        "k = 10 there, 20 here",
        "τ = 0.25 there, 0.5 here",
    ):
        assert phrase in str(caught.value)
    assert "temperature" not in str(caught.value)


def test_a_policy_of_unknown_origin_decides_only_over_scores_that_say_nothing(hand):
    data = replace(hand, pipeline="")
    policy = study.calibrate(data, Target(0.5, 0.7, "ltt", "a")).policy
    assert new_rows.new_scores(new(["a"], ["0.1"]), policy).answered == 1
    with pytest.raises(PolicyError, match="unknown origin"):
        new_rows.new_scores(new(["a", "pipeline"], ["0.1", to_text(PIPELINE)]), policy)


def test_the_same_scores_have_not_drifted_and_others_have(example):
    found = study.calibrate(example, Target(score=INFORMATION))
    # Scores whose text reads the same again: repr is exact.
    same = [[repr(float(d)) if not math.isnan(d) else ""] for d in found.doubts]
    fresh = new_rows.new_scores(new([INFORMATION], *same), found.policy)
    drift = new_rows.drift_from(found, fresh)
    assert not drift.drifted and "Smirnov p = 1," in drift.sentence
    assert fresh.answered == found.policy.answered
    larger = new_rows.new_scores(new([INFORMATION], *[["2.5"]] * 100), found.policy)
    assert new_rows.drift_from(found, larger).drifted


def test_a_confidence_drifts_in_its_own_direction(hand):
    found = study.calibrate(hand, Target(0.5, 0.7, "ltt", "b"))
    same = new_rows.new_scores(new(["b"], *[[row[4]] for row in ROWS]), found.policy)
    assert "Smirnov p = 1," in new_rows.drift_from(found, same).sentence


def test_nothing_to_compare_is_a_sentence(certified):
    fresh = new_rows.new_scores(new(["a"], ["0.1"]), certified.policy)
    with pytest.raises(CalibrationError, match="no scores to compare"):
        new_rows.drift_from(certified, replace(fresh, doubts=np.array([math.nan])))


# ------------------------------------------------------------------------- the histogram


def naive(found, edges):
    """How many right and wrong doubts lie from each edge up to the next, the last included."""
    start, end = edges["start"], edges["end"]
    counts = {"right": [0] * len(start), "wrong": [0] * len(start)}
    for doubt, right in zip(found.doubts, found.correct, strict=True):
        if math.isfinite(doubt):
            inside = [a <= doubt < b for a, b in zip(start, end, strict=True)]
            at = inside.index(True) if any(inside) else len(start) - 1
            counts["right" if right else "wrong"][at] += 1
    return counts


def calibration_of(doubts, correct):
    data = scored(doubts, correct)
    return Calibration(data, Target(score="s"), "s", Uncertifiable("", None), None)


def test_the_histogram_holds_every_finite_doubt(example):
    found = study.calibrate(example, Target(score=INFORMATION))
    shares = diagnostics.shares(found)
    assert all(len(values) == 40 for values in shares.values())
    finite = np.isfinite(found.doubts)
    assert shares["start"][0] == found.doubts[finite].min()
    assert shares["end"][-1] == found.doubts[finite].max()
    assert (shares["start"][1:] == shares["end"][:-1]).all()
    assert shares["right"].sum() + shares["wrong"].sum() == finite.sum() == 999
    expected = naive(found, shares)
    assert list(shares["right"]) == expected["right"]
    assert list(shares["wrong"]) == expected["wrong"]


def test_equal_doubts_make_one_full_bin():
    shares = diagnostics.shares(calibration_of([0.25] * 5, [1, 1, 1, 0, 0]), edges=4)
    assert list(shares["start"]) == [-0.25, 0, 0.25, 0.5]
    assert list(shares["right"]) == [0, 0, 3, 0]
    assert list(shares["wrong"]) == [0, 0, 2, 0]


def test_what_is_missing_or_infinite_is_in_no_bin():
    shares = diagnostics.shares(
        calibration_of([0, 1, math.nan, math.inf, -math.inf], [1, 0, 1, 1, 0])
    )
    assert (shares["right"].sum(), shares["wrong"].sum()) == (1, 1)
    empty = diagnostics.shares(calibration_of([math.nan, math.inf], [1, 0]))
    assert all(values.shape == (0,) for values in empty.values())
    assert set(empty) == {"start", "end", "right", "wrong"}


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(finite, st.booleans()), min_size=1, max_size=20))
@such_as([(1.7e308, True), (-1.7e308, False), (0.0, True)])  # farther apart than any float
@such_as([(5e-324, True), (-5e-324, False)])
def test_any_finite_doubts_have_a_histogram(rows):
    shares = diagnostics.shares(calibration_of([d for d, _ in rows], [r for _, r in rows]))
    assert shares["right"].sum() == sum(right for _, right in rows)
    assert shares["wrong"].sum() == sum(not right for _, right in rows)
    assert (shares["start"] <= shares["end"]).all()
    assert np.isfinite([shares["start"], shares["end"]]).all()


# -------------------------------------------------------------------------------- reading


def test_a_file_is_read_with_a_guess_at_its_columns(hand):
    assert list(hand.doubts) == ["a", "b"]
    assert hand.surer == {"a": False, "b": True}
    np.testing.assert_equal(hand.doubts["a"][[0, 4, 9]], [0.1, 0.3, math.nan])
    np.testing.assert_equal(hand.doubts["b"][[0, 9]], [-0.9, -0.05])
    assert list(hand.correct["a"]) == [bool(row[3]) for row in ROWS]
    assert list(hand.correct["b"]) == [bool(row[5]) for row in ROWS]
    np.testing.assert_equal(hand.entropies[[0, 8]], [0.1, math.nan])
    assert json.loads(hand.pipeline)["model"] == "m"
    assert hand.name == "hand.csv" and hand.problems == ()


def test_what_a_person_says_stands_in_the_place_of_the_guess():
    upload = uploads.parse(CONTENT, "hand.csv")
    guess = suggest(upload)
    only = study.chosen(upload, guess, ["b"], None, None)
    assert only == replace(guess, scores=(Score("b", True, "b_correct"),))
    turned = study.chosen(upload, guess, ["b"], None, False)
    assert turned.scores == (Score("b", False, "b_correct"),)
    # Another label: the direction is looked up anew. Of `b` against `a_correct`, wrong are
    # the confidences 0.5, 0.3 and 0.2.
    labelled = study.chosen(upload, guess, ["b"], "a_correct", None)
    assert labelled.scores == (Score("b", True, "a_correct"),)
    assert study.chosen(upload, guess, (), None, None) == guess
    assert study.chosen(upload, guess, ["b", "a"], None, True).scores == (
        Score("b", True, "b_correct"),
        Score("a", True, "a_correct"),
    )


def test_the_direction_follows_the_label_that_a_person_names():
    rows = [("a", "1.5", 1, 0), ("b", "2.5", 1, 0), ("c", "3.5", 0, 1), ("d", "4.5", 0, 1)]
    upload = uploads.parse(table(["q", "s", "correct", "other"], rows), "x.csv")
    guess = suggest(upload)
    assert guess.scores == (Score("s", False, "correct"),)
    assert study.chosen(upload, guess, (), "other", None).scores == (Score("s", True, "other"),)


def test_a_score_that_nothing_labels_asks_for_a_label():
    upload = uploads.parse(table(["q", "s"], [("a", "0.1")]), "x.csv")
    with pytest.raises(UploadError, match=r"No column says .*“s”.*Name one"):
        study.chosen(upload, suggest(upload), ["s"], None, None)


@pytest.mark.parametrize(
    ("scores", "correct", "says"),
    [
        (["c"], "a_correct", "There is no column “c”"),
        (["a"], "c", "There is no column “c”"),
        (["a", "a"], None, "chosen twice"),
        (["question"], "a_correct", "no number"),
        (["a"], "question", "neither right nor wrong"),
        (["a"], "a", "both as a score and as"),
    ],
)
def test_columns_that_do_not_fit_are_refused(scores, correct, says):
    with pytest.raises(UploadError, match=says) as caught:
        study.read(CONTENT, "hand.csv", scores, correct)
    assert str(caught.value).endswith(".")


def test_what_holds_no_score_is_refused():
    with pytest.raises(UploadError, match="No score is chosen"):
        study.read(table(["q", "answer"], [("a", "b")]), "x.csv")
    with pytest.raises(UploadError, match="empty"):
        study.read(b"", "x.csv")


def test_a_chosen_column_may_have_been_no_guess():
    columns = study.chosen(
        uploads.parse(table(["q", "f1", "ok"], [("a", "0.1", 1), ("b", "0.7", 0)]), "x.csv"),
        Columns("q", None, ()),
        ["f1"],
        "ok",
        None,
    )
    assert columns == Columns("q", None, (Score("f1", False, "ok"),))


def test_the_preferred_score(hand, example):
    assert study.preferred(example) == INFORMATION
    assert study.preferred(example, method="crc") == INFORMATION
    assert study.preferred(example, [ENTROPY]) == ENTROPY
    assert study.preferred(example, [ENTROPY, INFORMATION]) == BEST
    assert study.preferred(hand) == BEST
    assert study.preferred(hand, method="crc") == "a"
    assert study.preferred(hand, method="empirical") == "a"
    assert study.preferred(scored([0.1], [1])) == "s"


def test_several_wanted_scores_are_never_one_of_them_in_silence(hand):
    """Only Learn-then-Test can pay for the choice; the target says so."""
    with pytest.raises(CalibrationError, match="Name one score"):
        Target(0.3, 0.9, "crc", study.preferred(hand, ["a", "b"], "crc"))


def test_new_decisions_change_no_number_whose_comma_is_in_doubt(certified):
    """ "-3,425" may be minus three thousand: as a number of ours it would be another one."""
    upload = new(["a", "b", "c"], ["0.1", "-3,425", "-0,5"], ["0.9", "175", "0,25"])
    found = cells(new_rows.new_decisions(new_rows.new_scores(upload, certified.policy)))
    assert [row[1:3] for row in found[1:]] == [["'-3,425", "-0.5"], ["175", "0,25"]]
