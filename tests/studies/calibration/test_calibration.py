"""Calibration: policies that say what was promised, on hand-made rows and on the bundled ones."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example as such_as
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.abstention.policy import Pipeline, PolicyError, pipeline_in, to_json
from core.abstention.policy_files import from_json
from core.abstention.thresholds import Threshold, Uncertifiable
from core.data.tabular import uploads
from core.data.tabular.label_meanings import Meaning
from core.data.tabular.labelled_rows import Columns, ScoreColumn, labelled_rows
from core.data.tabular.suggestions import suggest
from core.data.tabular.uploads import UploadError
from core.reports.calibration import words
from core.studies.calibration import calibration as study
from core.studies.calibration import diagnostics, holdout, new_rows
from core.studies.calibration.calibration import (
    BEST,
    METHODS,
    Calibration,
    CalibrationError,
    Target,
)
from core.studies.calibration.example import EXAMPLE
from core.studies.calibration.groups import by_group
from core.studies.calibration.result import calibration_result
from core.studies.inspection.pipeline import to_text
from core.studies.progress import Cancelled
from tests.csv_files import csv_file, rows_in
from tests.studies.calibration.tables import rows_of_arrays

INFORMATION, ENTROPY = "mutual_information", "semantic_entropy"
PIPELINE = Pipeline(
    "m", "r1", "p1", 10, 0.9, "token_f1", 0.25, 0.0, 0.0, "Algorithm 3", 0.1, "drawn"
)

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


def new(heading, *rows):
    """A table without labels."""
    return uploads.parse(csv_file(heading, rows), "new.csv")


def scored(doubts, correct, queries=None):
    """Labelled rows with one score, `s`."""
    others = {} if queries is None else {"queries": np.array(queries, object)}
    labels = np.array(correct, bool)
    return rows_of_arrays({"s": np.array(doubts, float)}, {"s": labels}, **others)


CONTENT = csv_file(HEADING, [(*row, to_text(PIPELINE)) for row in ROWS])


def by_hand(content):
    """Rows of both scores, of which no heading says which way it points."""
    upload = uploads.parse(content, "hand.csv")
    scores = ScoreColumn("a", False, "a_correct"), ScoreColumn("b", True, "b_correct")
    return labelled_rows(upload, replace(suggest(upload), scores=scores))


@pytest.fixture(scope="module")
def hand():
    return by_hand(CONTENT)


@pytest.fixture(scope="module")
def example():
    return study.read(EXAMPLE.read_bytes(), EXAMPLE.name)


@pytest.fixture(scope="module")
def certified(hand):
    """`a` for at most half wrong with 70 % confidence: it answers up to the doubt 0.6.

    P(Bin(m, 1/2) ≤ k) at m = 2, 3, 5, 6, 7 answered is 1/4, 1/8, 6/32, 7/64, 29/128, at most
    0.3; at the next, with 3 of 8 wrong, it is 93/256.
    """
    return study.calibrate(hand, Target(0.5, 0.7, "ltt", "a"))


@pytest.fixture(scope="module")
def unnamed(hand):
    """The same of a person's own table, which names no pipeline."""
    return study.calibrate(replace(hand, pipeline=""), Target(0.5, 0.7, "ltt", "a"))


# ------------------------------------------------------------------------------- target

OUTSIDE = (0, 1, -0.1, 1.5, 90, math.nan, math.inf)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        *(({"error": value}, "The target error is .*; choose one between") for value in OUTSIDE),
        *(({"confidence": value}, "The confidence is .*; choose one between") for value in OUTSIDE),
        ({"confidence": 1 - 1e-16, "looks": 3}, "too little to compute with. Lower the confidence"),
        ({"method": "vibes"}, f"no method “vibes”.*{', '.join(METHODS)}"),
        # Only Learn-then-Test pays for choosing the best.
        *(({"method": m, "score": BEST}, "Name one score") for m in ("crc", "empirical")),
    ],
)
def test_a_target_that_cannot_be_is_refused_with_a_sentence(wrong, says):
    with pytest.raises(CalibrationError, match=says) as caught:
        Target(**{"score": "a"} | wrong)
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
    assert policy.has_guarantee
    assert (certified.score, certified.repeated, certified.data) == ("a", 0, hand)


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
    policy = study.calibrate(hand, Target(0.3, 0.7, "crc", "a")).policy
    assert (policy.method, policy.confidence) == ("crc", None)
    assert (policy.answered, policy.errors) == (7, 2)
    assert (policy.threshold, policy.upper_bound) == pytest.approx((0.65, 3 / 11))


def test_the_empirical_rule_promises_nothing(hand):
    """1 of 6 wrong is at most a quarter; 2 of 7, 3 of 8 and 3 of 9 are not."""
    policy = study.calibrate(hand, Target(0.25, 0.7, "empirical", "a")).policy
    assert (policy.answered, policy.errors) == (6, 1)
    assert policy.threshold == pytest.approx(0.55)
    assert policy.upper_bound is None and policy.confidence is None
    assert not policy.has_guarantee


@pytest.mark.parametrize("score", ["a", BEST])
def test_what_cannot_be_certified_has_no_policy(hand, score):
    found = study.calibrate(hand, Target(0.05, 0.9, "ltt", score))
    assert isinstance(found.outcome, Uncertifiable)
    assert found.policy is None
    assert found.score in hand.doubts


def test_a_score_that_is_not_there_is_refused(hand):
    with pytest.raises(CalibrationError, match="no score “c” in the data") as caught:
        study.calibrate(hand, Target(score="c"))
    assert "a, b" in str(caught.value)


@pytest.mark.parametrize("text", ["", "rubbish", "{}", "null", "[1]", '{"model": "m"}'])
def test_a_pipeline_that_is_none_is_none(hand, text):
    data = replace(hand, pipeline=text)
    assert pipeline_in(data.pipeline) is None
    assert study.calibrate(data, Target(0.5, 0.7, "ltt", "a")).policy.pipeline is None
    assert pipeline_in(hand.pipeline) == PIPELINE


# ------------------------------------------------------------------- one row a question


def test_an_answer_that_is_labelled_right_and_wrong_is_wrong():
    """The first ten questions have another answer, too, whose label stays its own."""
    queries = [f"q{i % 20}" for i in range(50)]
    doubts = np.r_[np.tile(np.arange(20.0), 2), np.arange(10.0) + 0.5]
    right = np.r_[np.arange(20) % 2 == 0, np.ones(30, bool)]  # the copies are all right
    data = scored(doubts, right, queries)
    counted = study.independent_rows(replace(data, answers=np.full(50, "x", object)))
    assert (counted.correct["s"] == (counted.doubts["s"] % 2 != 1)).all()
    for answers in (None, np.full(50, "", object)):  # nobody knows whether it is the same
        counted = study.independent_rows(replace(data, answers=answers))
        assert (counted.correct["s"] == data.correct["s"][counted.kept]).all()


def test_one_row_of_every_question_counts():
    queries = [f"q{i % 20}" for i in range(60)]
    rng = np.random.default_rng(0)
    data = scored(rng.random(60), rng.random(60) < 0.7, queries)
    found = study.independent_rows(data)
    assert sorted(found.queries) == sorted(set(queries))
    assert (found.queries == data.queries[found.kept]).all()
    assert (found.doubts["s"] == data.doubts["s"][found.kept]).all()
    assert (found.correct["s"] == data.correct["s"][found.kept]).all()
    assert (study.independent_rows(data).kept == found.kept).all()
    assert study.independent_rows(found) is found
    order = rng.permutation(len(data.kept))  # to sort a table is no way to draw again
    other = study.rows(data, order)
    loud = replace(other, queries=np.array([f"{q.upper()}?" for q in other.queries], object))
    for each in (other, loud):  # nor is another spelling
        assert {*study.independent_rows(each).doubts["s"]} == {*found.doubts["s"]}
    of_halves = [
        [{*zip(half.queries, half.doubts["s"], strict=True)} for half in holdout.halves(each)]
        for each in (data, other)
    ]
    assert of_halves[0] == of_halves[1]
    assert {*found.kept} != {*range(20)}  # not the first row of each
    more = {"doubts": {"r": rng.random(60)}, "correct": {"r": rng.random(60) < 0.5}}
    both, turned = (  # nor are columns in another order
        replace(
            data,
            **{of: dict(names([*getattr(data, of).items(), *more[of].items()])) for of in more},
        )
        for names in (list, reversed)
    )
    assert (study.independent_rows(both).kept == study.independent_rows(turned).kept).all()


def test_repeating_every_row_changes_nothing_but_what_is_said(hand):
    """However the question is spelled: else a mistake would count as often as it is asked."""
    spellings = ("{}?", "{}", "  {} ?", "{}…", "{}!")
    rows = [(s.format(query), *row) for query, *row in ROWS for s in spellings]
    content = csv_file(HEADING, [(*row, to_text(PIPELINE)) for row in rows])
    target = Target(0.5, 0.7, "ltt", "a")
    once = study.calibrate(hand, target)
    five = study.calibrate(by_hand(content), target)
    assert replace(five.policy, data=once.policy.data, codebook=once.policy.codebook) == once.policy
    assert (five.repeated, len(five.data.kept)) == (40, 10)
    # What the page reads off at any λ.
    shown = calibration_result(by_hand(content), target).curves["a"]
    (answered,), (errors,) = shown.below(np.array([once.policy.threshold]))
    assert (answered, errors) == (once.policy.answered, once.policy.errors)


@pytest.mark.slow
def test_rows_counted_as_questions_of_their_own_would_break_the_promise():
    """Each of 200 questions is there five times, 5.5% of them wrong, and 5% the target."""
    rng, broken = np.random.default_rng(0), 0
    for _ in range(200):
        correct = np.repeat(rng.random(200) >= 0.055, 5)
        data = scored(np.repeat(rng.random(200), 5), correct)
        broken += study.calibrate(data, Target(0.05, 0.9, "ltt", "s")).policy is not None
    assert broken > 0.3 * 200


def test_a_long_question_costs_no_more_than_its_length():
    """As fixed-width texts, these would take 8 GB."""
    queries = [f"q{i}" for i in range(1000)] + ["x" * 2_000_000]
    data = scored(np.zeros(1001), np.ones(1001), queries)
    assert study.independent_rows(data) is data
    assert sum(len(half.kept) for half in holdout.halves(data)) == 1001


# ------------------------------------------------------------------ reading the outcome


def test_there_is_a_curve_of_every_score(hand):
    counts = {
        name: (curve.answered.tolist(), curve.errors.tolist())
        for name, curve in diagnostics.curves(hand).items()
    }
    assert counts == {
        "a": ([1, 2, 3, 5, 6, 7, 8, 9], [0, 0, 0, 1, 1, 2, 3, 3]),  # 0.3 stands twice
        "b": ([*range(1, 11)], [0] * 6 + [1, 2, 3, 3]),
    }


@pytest.mark.parametrize(
    ("value", "answered", "errors"),
    [(0.4, 5, 1), (0.3, 3, 0), (0.05, 0, 0), (0.75, 8, 3), (math.inf, 9, 3)],
)
def test_moving_lambda_by_hand_drops_the_guarantee(certified, value, answered, errors):
    policy = study.move_threshold(certified, value)
    assert (policy.threshold, policy.answered, policy.errors) == (value, answered, errors)
    assert policy.method == "by hand" and not policy.has_guarantee
    assert policy.confidence is None and policy.upper_bound is None
    assert policy.labels == 10 and policy.pipeline == PIPELINE
    assert policy.sentence.startswith("No promise: λ was chosen by hand.")


def test_a_promise_holds_on_while_lambda_decides_every_labelled_row_as_before(certified):
    """Whatever the promise is; the paper's rule has none to keep."""
    a = np.unique(certified.doubts[np.isfinite(certified.doubts)])
    for method, promised in (("ltt", True), ("crc", True), ("empirical", False)):
        found = study.calibrate(certified.data, replace(certified.target, method=method, error=0.5))
        policy = found.policy
        above = a[a >= policy.threshold].min(initial=math.inf)
        moved = study.move_threshold(found, above)  # below it lie the same rows
        assert moved.answered == policy.answered and moved.threshold == above
        assert moved.has_guarantee is promised
        assert moved == replace(policy, threshold=above) or not promised
        assert not study.move_threshold(found, a[a < policy.threshold].max()).has_guarantee


def test_moving_lambda_back_brings_the_guarantee_back(certified):
    assert study.move_threshold(certified, certified.policy.threshold) == certified.policy


@pytest.mark.parametrize(("score", "answered", "errors"), [("a", 5, 1), ("b", 10, 3)])
def test_lambda_can_be_chosen_by_hand_where_nothing_is_certified(hand, score, answered, errors):
    found = study.calibrate(hand, Target(0.05, 0.9, "ltt", score))
    policy = study.move_threshold(found, 0.4)
    assert (policy.score, policy.method) == (score, "by hand")
    assert (policy.answered, policy.errors, policy.labels) == (answered, errors, 10)
    assert policy.larger_is_surer is (score == "b")
    assert (policy.data, policy.pipeline) == (hand.sha256, PIPELINE)
    assert policy.target_error == 0.05 and policy.upper_bound is None


def counted(bins):
    return [(one.name, one.queries, one.answered, one.errors) for one in bins]


def test_by_entropy_every_score_has_its_own_threshold(certified):
    """The ninth row has no entropy, and the tenth no doubt by `a`."""
    a, b = diagnostics.by_entropy(certified, ["b", "a", "b"])
    assert (a.score, a.threshold) == ("a", certified.policy.threshold)
    assert counted(a.bins) == [
        ("below 0.5", 3, 2, 0),
        ("0.5 to 1.0", 2, 2, 0),
        ("1.0 to 1.5", 2, 2, 1),
        ("1.5 to 2.0", 1, 1, 1),
        ("2.0 or more", 1, 0, 0),
    ]
    assert (b.score, b.threshold) == ("b", math.inf)
    assert [one.answered for one in b.bins] == [3, 2, 2, 1, 1]
    assert [one.errors for one in b.bins] == [0, 0, 0, 1, 1]


def test_by_entropy_leaves_out_what_cannot_be_certified(hand, certified):
    assert diagnostics.by_entropy(study.calibrate(hand, Target(score="a")), ["b"]) == ()
    (b,) = diagnostics.by_entropy(study.calibrate(hand, Target(0.25, 0.7, "ltt", "a")), ["b"])
    assert b.score == "b"
    without = replace(certified, data=replace(hand, entropies=None))
    assert diagnostics.by_entropy(without, ["b"]) == ()


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


# ---------------------------------------------------------------------------- comparing


def test_the_comparison_is_that_of_counting_pairs(hand, certified):
    """A missing doubt is the largest: of 21 pairs, `a` puts 13.5 right, and `b` 18."""
    a, b = diagnostics.compare(certified, resamples=20)
    assert (a.score, b.score) == ("a", "b")
    assert (a.auroc.value, b.auroc.value) == pytest.approx((13.5 / 21, 18 / 21))
    assert a.difference is None
    assert b.difference.value == pytest.approx(-4.5 / 21)
    errors = [0, 0, 0, 0.5, 1, 1, 2, 3, 3, 3]  # half an error where one of two tied is wrong
    assert a.aurc == pytest.approx(np.mean([e / (i + 1) for i, e in enumerate(errors)]))
    assert a.outcome == certified.outcome
    assert (b.outcome.answered, b.outcome.errors) == (10, 3)

    a, b = diagnostics.compare(study.calibrate(hand, Target(0.5, 0.7)), resamples=20)
    assert b.difference is None  # the best is what the others are held against
    assert a.difference.value == pytest.approx(4.5 / 21)
    assert b.outcome.answered == 8  # at δ/2, as whoever chooses it here has to pay


def test_on_the_example_mutual_information_certainly_tells_wrong_answers_better(example):
    found = study.calibrate(example, Target(score=INFORMATION))
    of = {c.score: c for c in diagnostics.compare(found, resamples=200)}
    assert list(of) == list(example.doubts)
    assert [name for name, c in of.items() if c.difference is None] == [INFORMATION]
    assert of[ENTROPY].difference.lower > 0


def test_another_target_of_the_same_rows_is_compared_without_resampling(certified):
    other = study.calibrate(certified.data, Target(0.2, 0.7, "ltt", certified.score))
    resampled, heard = {}, []
    diagnostics.compare(certified, resamples=20, resampled=resampled)
    again = diagnostics.compare(
        other, lambda stage, share: heard.append(stage), resampled=resampled
    )
    assert not heard and list(resampled) == [certified.score]
    # As text: a bound may be no number, which equals nothing.
    assert repr(again) == repr(diagnostics.compare(other, resamples=20))
    assert repr(again) != repr(diagnostics.compare(certified, resamples=20))


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
    first, second = halves = holdout.halves(example)
    assert sorted([*first.kept, *second.kept]) == list(range(len(example.kept)))
    assert len(first.kept) == len(second.kept) == len(example.kept) // 2
    again = holdout.halves(example)
    assert (again[0].kept == first.kept).all() and (again[1].kept == second.kept).all()
    assert (holdout.halves(example, seed=1)[0].kept != first.kept).any()
    for half in halves:
        assert half.sha256 == example.sha256
        for name in ("queries", "sources", "entropies"):
            assert (getattr(half, name) == getattr(example, name)[half.kept]).all(), name
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


def untouched(right, wrong, abstained):
    """Rows that λ = 0.65 answers rightly, wrongly and not at all."""
    doubts = [0.1] * (right + wrong) + [0.65] * abstained
    data = scored(doubts, [1] * right + [0] * wrong + [0] * abstained)
    return replace(data, doubts={"a": data.doubts["s"]}, correct={"a": data.correct["s"]})


@pytest.mark.parametrize(
    ("rows", "change", "trials", "sentence"),
    [
        (
            (10, 0, 10),
            {"target_error": 0.25},
            10,
            "On 20 new questions it answered 10, 0 of them wrongly. With 90% confidence, at most "
            "20.6% of answered questions are wrong, within the target of 25%.",
        ),
        (
            (9, 1, 1000),
            {"target_error": 0.25},
            10,
            "On 1,010 new questions it answered 10, 1 of them wrongly. With 90% confidence, at "
            "most 33.7% of answered questions are wrong, above the target of 25%. This does not "
            "refute the policy, but fails to confirm it.",
        ),
        (  # 33.7 % of the answered, but this method bounds the share of all
            (9, 1, 30),
            {"target_error": 0.1, "method": "crc", "confidence": None},
            40,
            "On 40 new questions it answered 10, 1 of them wrongly. With 90% confidence, at most "
            "9.4% of all questions are answered and wrong, within the target of 10%.",
        ),
    ],
)
def test_a_policy_is_confirmed_by_one_exact_test(certified, rows, change, trials, sentence):
    _, wrong, abstained = rows
    policy = replace(certified.policy, threshold=0.65, **change)
    found = holdout.confirm(policy, untouched(*rows), 0.9)
    bound = found.observed.upper_bound
    assert found.observed == Threshold(0.65, 10, wrong, 10 + abstained, bound)
    assert stats.binom.cdf(wrong, trials, bound) == pytest.approx(0.1)
    assert found.keeps_target == ("within" in sentence)
    assert words.confirmation(found) == sentence


def test_a_confirmation_rounds_neither_confidence_nor_target_up(certified):
    policy = replace(certified.policy, target_error=0.0004)
    sentence = words.confirmation(holdout.confirm(policy, untouched(10, 0, 0), 0.999))
    assert "With 99.9% confidence" in sentence
    assert sentence.split(". ")[1].endswith("the target of 0.04%")


def test_a_confirmation_without_an_answer_confirms_nothing(certified):
    found = holdout.confirm(certified.policy, untouched(0, 0, 5), 0.9)
    assert (found.observed.answered, found.observed.upper_bound, found.keeps_target) == (
        0,
        1,
        False,
    )


def test_a_question_that_is_repeated_confirms_once(certified):
    once = untouched(10, 0, 10)
    twice = study.rows(once, np.repeat(np.arange(20), 2))
    policy = replace(certified.policy, target_error=0.25, threshold=0.65)
    assert holdout.confirm(policy, twice, 0.9) == holdout.confirm(policy, once, 0.9)


@pytest.mark.slow
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
    heading, *found = rows_in(new_rows.decisions(hand, certified.policy))
    # With whose labels they are, and what made the scores: somebody may calibrate on it.
    assert heading == ["row", "query", "source", "a", "decision", "a_correct", "pipeline"]
    assert found == [
        [str(i + 1), query, source, a, "answer" if i < 7 else "abstain", str(right), hand.pipeline]
        for i, (query, source, a, right, *_) in enumerate(ROWS)
    ]
    endless = rows_in(new_rows.decisions(hand, study.move_threshold(certified, math.inf)))
    # The tenth has no score: it abstains even below an infinite λ.
    assert [row[4] for row in endless[1:]] == ["answer"] * 9 + ["abstain"]


def test_a_confidence_is_written_as_it_was(hand):
    policy = study.move_threshold(study.calibrate(hand, Target(0.5, 0.7, "ltt", "b")), -0.45)
    found = rows_in(new_rows.decisions(hand, policy))
    assert found[0][3] == "b"
    assert [row[3] for row in found[1:]] == [row[4] for row in ROWS]
    assert [row[4] for row in found[1:]] == ["answer"] * 5 + ["abstain"] * 5


def test_a_confidence_of_0_is_not_written_as_minus_0():
    content = csv_file(["q", "sure", "correct"], [("a", "0.0", 0), ("b", "1", 1), ("c", "0.5", 1)])
    data = study.read(content, "x.csv")
    policy = study.calibrate(data, Target(0.5, 0.5, "empirical", "sure")).policy
    written = [row[3] for row in rows_in(new_rows.decisions(data, policy))]
    assert written == ["sure", "0.0", "1.0", "0.5"]


def test_rows_are_numbered_as_in_the_file():
    content = csv_file(
        ["q", "doubt", "correct"], [("a", "0.1", 1), ("b", "0.2", ""), ("c", "0.3", 0)]
    )
    data = study.read(content, "x.csv", ["doubt"], "correct", meanings={"": Meaning.OUT})
    policy = study.calibrate(data, Target(0.5, 0.5, "empirical", "doubt")).policy
    written = [row[:2] for row in rows_in(new_rows.decisions(data, policy))[1:]]
    assert written == [["1", "a"], ["3", "c"]]


def of_one_kind(label, other, meanings=None):
    """A hundred answers, the first half labelled in one way and the others in another."""
    rows = [(f"q{i}", i / 100, label if i < 50 else other) for i in range(100)]
    content = csv_file(["q", "doubt", "correct"], rows)
    return study.read(content, "x.csv", meanings=meanings, vouched=["doubt"])


def test_decisions_say_who_graded_the_answers():
    rows = [(f"q{i}", i / 9, ("right", "wrong")[i % 2]) for i in range(9)]
    data = study.read(csv_file(["q", "doubt", "graded by the model m"], rows), "x.csv")
    policy = study.calibrate(data, Target(0.6, 0.5, "empirical", "doubt")).policy
    again = study.read(new_rows.decisions(data, policy), "decisions.csv")
    assert again.codebooks["doubt"].grader == data.codebooks["doubt"].grader == "the model m"
    assert again.correct["doubt"].tolist() == data.correct["doubt"].tolist()


def test_nobody_vouches_for_what_is_no_score():
    content = csv_file(["q", "doubt", "correct"], [(f"q{i}", i / 9, i % 2) for i in range(9)])
    with pytest.raises(UploadError, match="“duobt” is no score here"):
        study.read(content, "x.csv", vouched=["duobt"])


@pytest.mark.parametrize("method", study.METHODS)
@pytest.mark.parametrize(
    ("other", "meanings"),
    [("1", None), ("", {"": Meaning.OUT}), ("", {"": Meaning.RIGHT}), ("W", {"w": Meaning.OUT})],
)
def test_labels_of_one_kind_promise_nothing(method, other, meanings):
    """Fifty right answers and no wrong one are certified at 5 % otherwise: 0.95⁵⁰ < 0.1."""
    data = of_one_kind("1", other, meanings)
    found = study.calibrate(data, Target(0.05, 0.9, method, "doubt"))
    assert found.policy is None
    assert found.outcome.reason == (
        "Every label of “doubt” is right. Without one that is wrong, nothing shows how this file "
        "marks such answers, so nothing is promised. Check the labels, and add rows of both "
        "kinds."
    )
    assert study.calibrate(data, Target(0.05, 0.9)).policy is None  # the best of all scores, too
    half, _ = holdout.halves(data)
    assert study.calibrate(half, Target(0.5, 0.5, method, "doubt")).policy is None


def test_a_half_without_wrong_answers_is_of_a_file_that_has_some():
    rows = [(f"q{i}", i / 100, int(i != 92)) for i in range(100)]
    data = study.read(csv_file(["q", "doubt", "correct"], rows), "x.csv")
    parts = [
        study.calibrate(half, Target(0.1, 0.9, "ltt", "doubt")) for half in holdout.halves(data)
    ]
    assert any(part.correct.all() for part in parts)
    assert all(part.policy is not None for part in parts)


def test_rows_left_out_stand_in_the_policy():
    rows = [(f"q{i}", i / 100, "" if i % 4 == 3 else int(i < 80)) for i in range(100)]
    content = csv_file(["q", "doubt", "correct"], rows)
    data = study.read(content, "x.csv", meanings={"": Meaning.OUT}, vouched=["doubt"])
    policy = study.calibrate(data, Target(0.1, 0.9, "ltt", "doubt")).policy
    assert (policy.labels, policy.left_out) == (75, 25)
    moved = study.move_threshold(study.calibrate(data, Target(0.01, 0.99, "ltt", "doubt")), 0.5)
    assert moved.left_out == 25


def test_decisions_are_disarmed_and_so_is_the_heading():
    formulas = ["=1+1", "-2-1", "@x", '=HYPERLINK("http://x.example")']
    rows = [(q, q, i / 10, i < 3) for i, q in enumerate([*formulas, "plain"])]
    content = csv_file(["q", "source", "=cmd|x", "correct"], rows)
    data = study.read(content, "x.csv", larger_is_surer=False)
    policy = study.calibrate(data, Target(0.5, 0.5, "empirical", "=cmd|x")).policy
    heading, *found = rows_in(new_rows.decisions(data, policy))
    assert heading[3] == "'=cmd|x"
    expected = [*(f"'{q}" for q in formulas), "plain"]
    assert [row[1] for row in found] == [row[2] for row in found] == expected


# ---------------------------------------------------------------------------- new scores


def test_new_scores_are_decided_by_the_policy(unnamed):
    heading = ["question", "a", "other"]
    upload = new(heading, ["n1", "0.1", "None"], ["n2", "0.66", "007"], ["n3", "", ""])
    fresh = new_rows.new_scores(upload, unnamed.policy)
    np.testing.assert_equal(fresh.doubts, [0.1, 0.66, math.nan])
    assert list(fresh.answers) == [True, False, False]
    assert fresh.answered == 1
    assert rows_in(new_rows.new_decisions(fresh)) == [
        [*heading, "decision"],
        ["n1", "0.1", "None", "answer"],
        ["n2", "0.66", "007", "abstain"],
        ["n3", "", "", "abstain"],
    ]


def test_new_confidences_are_turned_like_the_old(hand):
    found = study.calibrate(
        replace(hand, pipeline=""), Target(0.5, 0.7)
    )  # answers confidences above 0.15
    fresh = new_rows.new_scores(new(["b"], ["0.9"], ["0.16"], ["0.14"], ["n/a"]), found.policy)
    assert list(fresh.answers) == [True, True, False, False]
    written = [row[0] for row in rows_in(new_rows.new_decisions(fresh))]
    assert written == ["b", "0.9", "0.16", "0.14", "n/a"]


def test_new_decisions_are_disarmed_and_leave_numbers_as_they_are(unnamed):
    heading = ["a", "=x", "b", "c"]
    rows = (["0.25", "=1+1", "-3,425", "-87%"], ["0.9", "-1+cmd|x", "-007", "0,25"], ["-"] * 4)
    fresh = new_rows.new_scores(new(heading, *rows), unnamed.policy)
    assert rows_in(new_rows.new_decisions(fresh)) == [
        ["a", "'=x", "b", "c", "decision"],
        ["0.25", "'=1+1", "-3,425", "-87%", "answer"],
        ["0.9", "'-1+cmd|x", "-007", "0,25", "abstain"],
        ["'-", "'-", "'-", "'-", "abstain"],
    ]


def test_a_column_that_is_missing_or_holds_no_numbers_is_refused(unnamed):
    with pytest.raises(CalibrationError, match=r"no column “a” in new.*\.$"):
        new_rows.new_scores(new(["b"], ["0.1"]), unnamed.policy)
    with pytest.raises(UploadError, match="no number"):
        new_rows.new_scores(new(["a"], ["high"], ["low"]), unnamed.policy)


def test_scores_of_the_same_pipeline_are_taken(certified):
    text = to_text(PIPELINE)
    upload = new(["a", "pipeline"], ["0.1", text], ["0.9", text], ["0.2", text])
    assert new_rows.new_scores(upload, certified.policy).answered == 2


@pytest.mark.parametrize("cells", [(), ("",), ("rubbish",)])
def test_scores_that_name_no_pipeline_are_refused_by_a_policy_that_has_one(certified, cells):
    """They may be another quantity of the same name: −ln p and p, say."""
    heading = ["a", "pipeline"][: 1 + len(cells)]
    rows = [["0.1", *cells], ["0.1", to_text(PIPELINE)][: len(heading)]]
    with pytest.raises(PolicyError, match="“pipeline” is missing, empty or damaged"):
        new_rows.new_scores(new(heading, *rows), certified.policy)


@pytest.mark.parametrize("others", [0, 1, 5])
def test_scores_of_another_pipeline_are_refused(certified, others):
    """Also when it made only some of the rows."""
    other = to_text(replace(PIPELINE, tau=0.5))
    rows = [["0.1", to_text(PIPELINE)]] * others + [["0.1", other]]
    with pytest.raises(PolicyError, match=r"τ = 0\.25 there, 0\.5 here"):
        new_rows.new_scores(new(["a", "pipeline"], *rows), certified.policy)


@pytest.mark.parametrize(
    ("score", "more", "is_said"),
    [
        ("greedy_probability", [], True),
        ("greedy_probability", ["greedy_probability_answer"], False),
        ("weighted_doubt", [], False),  # which serves the answer of M.I.
    ],
)
def test_whose_answers_are_decided_is_said_where_a_run_s_table_has_others(
    certified, score, more, is_said
):
    policy = replace(certified.policy, score=score, codebook=None)
    row = ["Paris", "0.1", to_text(PIPELINE), *["Lyon"] * len(more)]
    fresh = new_rows.new_scores(new(["answer", score, "pipeline", *more], row), policy)
    said = words.decisions_in_words(fresh)
    assert (
        "decided of T0’s answers: in the table of a run, “answer” has M.I.’s" in said
    ) is is_said
    assert said.startswith("1 of 1 rows are answered.")


def test_a_policy_of_unknown_origin_decides_only_over_scores_that_say_nothing(hand):
    data = replace(hand, pipeline="")
    policy = study.calibrate(data, Target(0.5, 0.7, "ltt", "a")).policy
    assert new_rows.new_scores(new(["a"], ["0.1"]), policy).answered == 1
    with pytest.raises(PolicyError, match="unknown origin"):
        new_rows.new_scores(new(["a", "pipeline"], ["0.1", to_text(PIPELINE)]), policy)


def test_the_same_scores_have_not_drifted_and_others_have(example):
    found = study.calibrate(replace(example, pipeline=""), Target(score=INFORMATION))
    # Scores whose text reads the same again: repr is exact.
    same = [[repr(float(d)) if not math.isnan(d) else ""] for d in found.doubts]
    fresh = new_rows.new_scores(new([INFORMATION], *same), found.policy)
    drift = new_rows.drift_from(found, fresh)
    assert not drift.drifted and "Smirnov p = 1," in drift.sentence
    assert fresh.answered == found.policy.answered
    larger = new_rows.new_scores(new([INFORMATION], *[["2.5"]] * 100), found.policy)
    assert new_rows.drift_from(found, larger).drifted


def test_a_confidence_drifts_in_its_own_direction(hand):
    found = study.calibrate(replace(hand, pipeline=""), Target(0.5, 0.7, "ltt", "b"))
    same = new_rows.new_scores(new(["b"], *[[row[4]] for row in ROWS]), found.policy)
    assert "Smirnov p = 1," in new_rows.drift_from(found, same).sentence


def test_nothing_to_compare_is_a_sentence(unnamed):
    fresh = new_rows.new_scores(new(["a"], ["0.1"]), unnamed.policy)
    with pytest.raises(CalibrationError, match="no scores to compare"):
        new_rows.drift_from(unnamed, replace(fresh, doubts=np.array([])))


# ------------------------------------------------------- labels that speak against a direction


@pytest.mark.parametrize(
    ("doubts", "correct", "area"),
    [
        # With 8 of each, three standard errors are 3 √(17 / 768) = .446; with 6, 3 √(13 / 432) =
        # .52. Each step by which a wrong answer overtakes a right one is 1/64.
        ([*range(16)], [0] * 8 + [1] * 8, "0.00"),
        ([*range(16), math.nan], [0] * 7 + [1, 0] + [1] * 7 + [1], "0.02"),
        ([0] * 8 + [1] * 8, [0] * 7 + [1, 0] + [1] * 7, None),  # ties: 16 half steps, .125
        ([*range(12)], [0] * 6 + [1] * 6, None),
        ([*range(16)], [1] * 8 + [0] * 8, None),
        ([*range(16)], [1] * 16, None),
        ([math.nan] * 2, [0, 1], None),
    ],
)
def test_labels_that_clearly_speak_against_a_direction(doubts, correct, area):
    said = words.contradiction(diagnostics.contradictions(scored(doubts, correct)))
    assert bool(said) == bool(area)
    if area:
        assert f"the direction of “s” (AUROC {area}, where 0.5 is guessing): wrong" in said


# ------------------------------------------------------------------------- the histogram


def calibration_of(doubts, correct):
    data = scored(doubts, correct)
    return Calibration(data, Target(score="s"), "s", Uncertifiable("", None), None)


@pytest.mark.parametrize(
    ("doubts", "bounds", "right", "wrong"),
    [
        # A bin holds its lower bound, and the last one both.
        ([0, 1, 0.25, 0.5, 0.26], [0, 0.25, 0.5, 0.75, 1], [1, 1, 0, 1], [0, 1, 1, 0]),
        ([0.25] * 5, [-0.25, 0, 0.25, 0.5, 0.75], [0, 0, 3, 0], [0, 0, 2, 0]),
        # What is missing or infinite is in no bin.
        (
            [math.nan, 0, math.inf, 1, -math.inf],
            [0, 0.25, 0.5, 0.75, 1],
            [1, 0, 0, 0],
            [0, 0, 0, 1],
        ),
        ([math.nan, math.inf, math.nan, math.nan, -math.inf], [], [], []),
    ],
)
def test_a_histogram_by_hand(doubts, bounds, right, wrong):
    """Of five answers the first three are right."""
    shares = diagnostics.shares(calibration_of(doubts, [1, 1, 1, 0, 0]), edges=4)
    assert {kind: values.tolist() for kind, values in shares.items()} == {
        "start": bounds[:-1],
        "end": bounds[1:],
        "right": right,
        "wrong": wrong,
    }


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


def test_a_file_is_read_with_a_guess_at_its_columns():
    heading = ["question", "source", "doubt", "doubt_correct", "sure", "sure_correct", "entropy"]
    found = study.read(csv_file(heading, ROWS), "hand.csv")
    assert found.surer == {"doubt": False, "sure": True}
    np.testing.assert_equal(found.doubts["doubt"][[0, 4, 9]], [0.1, 0.3, math.nan])
    np.testing.assert_equal(found.doubts["sure"][[0, 9]], [-0.9, -0.05])
    assert list(found.correct["doubt"]) == [bool(row[3]) for row in ROWS]
    assert list(found.correct["sure"]) == [bool(row[5]) for row in ROWS]
    np.testing.assert_equal(found.entropies[[0, 8]], [0.1, math.nan])
    assert found.name == "hand.csv" and found.problems == ()


def test_what_a_person_says_stands_in_the_place_of_the_guess():
    upload = uploads.parse(CONTENT, "hand.csv")
    guess = suggest(upload)
    only = study.choice(upload, guess, ["b"], None, None)
    assert only == replace(guess, scores=(ScoreColumn("b", None, "b_correct"),))
    turned = study.choice(upload, guess, ["b"], None, False)
    assert turned.scores == (ScoreColumn("b", False, "b_correct"),)
    other = study.choice(upload, guess, ["b"], "a_correct", None)
    assert other.scores == (ScoreColumn("b", None, "a_correct"),)
    assert study.choice(upload, guess, (), None, None) == guess
    assert study.choice(upload, guess, ["b", "a"], None, True).scores == (
        ScoreColumn("b", True, "b_correct"),
        ScoreColumn("a", True, "a_correct"),
    )


def test_a_score_that_nothing_labels_asks_for_a_label():
    upload = uploads.parse(csv_file(["q", "s"], [("a", "0.1")]), "x.csv")
    with pytest.raises(UploadError, match=r"No column says .*“s”.*Name one"):
        study.choice(upload, suggest(upload), ["s"], None, None)


def test_what_holds_no_score_is_refused():
    with pytest.raises(UploadError, match="with right answers, and no column taken for a"):
        study.read(csv_file(["q", "answer"], [("a", "b")]), "x.csv")
    samples = csv_file(["q", "target", "acc"], [("a", "b", 1), ("c", "d", 0)])
    with pytest.raises(UploadError, match="right answers and labels in “acc”, and no column"):
        study.read(samples, "x.csv")


@pytest.mark.parametrize(
    ("heading", "rows", "options", "says"),
    [
        (
            ["id", "note", "acc"],
            [("a", "x y", 1), ("b", "z", 0)],
            {},
            "No column is taken for a score. Looked at: “id” (its cells are text, such as “a” in "
            "line 2), “note” (its cells are text, such as “x y” in line 2) and “acc” (it says what "
            "is right). Name one with --score COLUMN, and the labels with --correct COLUMN.",
        ),
        (
            ["q", "sure", "note"],
            [("a", 0.5, "x"), ("b", 0.7, "z")],
            {},
            "No column is taken for a score while none says whether answers are right. No column "
            "is taken for labels of right and wrong. Looked at: “q” (it names the question), "
            "“sure” (its cells are numbers, such as “0.5” in line 2) and “note” (its cells are "
            "text, such as “x” in line 2). These have numbers: “sure”. Name one with --score "
            "COLUMN, and the labels with --correct COLUMN.",
        ),
        (
            ["q", "sure", "tokens", "acc"],
            [("a", "0.9;0.8", 3, 1), ("b", "0.3;0.2", 7, 0)],
            {},
            "No column is taken for a score. Looked at: “q” (it names the question), “sure” (its "
            "cells are text; “0.9;0.8” holds several numbers; write one, such as their mean), "
            "“tokens” (its heading names, counts or times a row, or compares with the right "
            "answer) and “acc” (it says what is right). These have numbers: “tokens”. Name one "
            "with --score COLUMN, and the labels with --correct COLUMN.",
        ),
        (
            ["q", "sure", "note"],
            [("a", 0.5, "x"), ("b", 0.7, "yes"), ("c", 0.7, "z")],
            {"scores": ["sure"]},
            "No column says whether the answers of “sure” are right. No column is taken for labels "
            "of right and wrong. Looked at: “q” (it names the question), “sure” (its cells are "
            "numbers, such as “0.5” in line 2) and “note” (1 of 3 cells say right or wrong, the "
            "others do not). Name one with --correct COLUMN, and what its values mean with "
            "--meaning VALUE=right, wrong or out.",
        ),
    ],
)
def test_what_was_looked_at_is_named_where_nothing_is_recognised(heading, rows, options, says):
    with pytest.raises(UploadError) as caught:
        study.read(csv_file(heading, rows), "x.csv", **options)
    assert str(caught.value) == says


def test_a_chosen_column_may_have_been_no_guess():
    columns = study.choice(
        uploads.parse(csv_file(["q", "f1", "ok"], [("a", "0.1", 1), ("b", "0.7", 0)]), "x.csv"),
        Columns("q", None, ()),
        ["f1"],
        "ok",
        None,
    )
    assert columns == Columns("q", None, (ScoreColumn("f1", None, "ok"),))


def by_two_rules(rows):
    names = [name for score in "ab" for name in (score, f"{score}_correct", f"{score}_correct_f1")]
    return csv_file(["question", *names], [(f"What is {n}?", *row) for n, row in enumerate(rows)])


def test_labels_by_another_rule_stand_beside_those_that_count(certified):
    # Of 200 rows two are wrong by the labels that count, and five by F1; one by these alone.
    rows = [(n, n not in (150, 170), n not in (60, 150, 155, 160, 190)) for n in range(200)]
    content = by_two_rules([(n, int(one), int(two), n, 1, 1) for n, one, two in rows])
    data = study.read(content, "run.csv", ["a"], larger_is_surer=False)
    assert data.reading[1] == "Right: “a_correct” is “1” (198 of 200 rows); wrong: “0”."
    assert data.reading[3:5] == (
        "Beside it: by “a_correct_f1” (token F1 ≥ 0.25 (the paper’s)) 195 of 200 are right.",
        "“a_correct” and “a_correct_f1” differ on 2.5% of 200 questions (5; 95% interval 0.8% to "
        "5.7%): 4 right by the first alone, 1 by the second alone.",
    )
    found = study.calibrate(data, Target(0.1, 0.9, "ltt", "a"))
    assert found.policy is not None and (found.policy.errors, found.policy.other_errors) == (2, 5)
    both = "2 are wrong by “a_correct”, which counts, and 5 by “a_correct_f1”."
    assert f"Of the 200 answered, {both}" in found.policy.sentence
    assert from_json(to_json(found.policy)) == found.policy
    sources = np.array(["x"] * 100 + ["y"] * 100, object)
    groups = by_group(study.calibrate(replace(data, sources=sources), Target(0.1, score="a")))
    assert [(g.name, g.errors, g.other_errors) for g in groups.groups] == [("x", 0, 1), ("y", 2, 4)]
    assert holdout.confirm(found.policy, data, 0.9).other_errors == 5
    half = study.move_threshold(found, 100)
    assert (half.errors, half.other_errors) == (0, 1)
    again = study.read(new_rows.decisions(data, found.policy), "decisions.csv", ["a"], None, False)
    assert again.codebooks["a"].of_rule(True, True) == data.codebooks["a"].of_rule(True, True) != ""
    assert again.pipeline == data.pipeline
    # Whoever chooses F1 has the usual ones beside it, and all scores at once by the rule's name.
    by_f1 = study.read(content, "run.csv", larger_is_surer=False, correct="f1")
    assert [book.label for book in by_f1.codebooks.values()] == ["a_correct_f1", "b_correct_f1"]
    assert by_f1.codebooks["a"].other == "a_correct"
    assert not certified.data.others  # a file from before
    with pytest.raises(UploadError, match="no column “f1”"):
        study.read(CONTENT, "old.csv", ["a"], correct="f1")


def test_the_preferred_score(hand, example):
    assert study.usual_score(example) == INFORMATION
    assert study.usual_score(example, method="crc") == INFORMATION
    run = replace(example, sha256="another file")  # whose scores somebody may have compared
    assert study.usual_score(run) == BEST
    assert study.usual_score(run, method="crc") == INFORMATION
    assert study.usual_score(example, [ENTROPY]) == ENTROPY
    assert study.usual_score(example, [ENTROPY, INFORMATION]) == BEST
    assert study.usual_score(hand) == BEST
    assert study.usual_score(hand, method="crc") == "a"
    assert study.usual_score(hand, method="empirical") == "a"
    # Never one of several in silence: no target of this method takes the best.
    assert study.usual_score(hand, ["a", "b"], "crc") == BEST
    assert study.usual_score(scored([0.1], [1])) == "s"
