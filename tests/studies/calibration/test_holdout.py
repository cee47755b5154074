"""A policy tested on new rows: one exact test, paid for as a look at their labels."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from core.abstention import ledger
from core.abstention.codebook import EVERY_ROW, Codebook
from core.abstention.policy import PolicyError
from core.reports.calibration import words
from core.studies.calibration.calibration import CalibrationError, Target, calibrate
from core.studies.calibration.holdout import confirm_on
from core.studies.inspection.pipeline import to_text
from tests.studies.calibration.test_calibration import PIPELINE, scored


def new(right, wrong, abstained=0, first=1000):
    """Rows of other questions than those of the policy, which answers below 0.5."""
    number = right + wrong + abstained
    data = scored(
        [0.1] * (right + wrong) + [0.9] * abstained,
        [1] * right + [0] * (wrong + abstained),
        [f"q{first + place}" for place in range(number)],
    )
    return replace(data, sha256="1" * 64)


@pytest.fixture(scope="module")
def policy():
    """At most 20% wrong, with 90% confidence; made of q0, q1, …, and answering below 0.5."""
    data = scored([0.1] * 60 + [0.9] * 20, [1] * 58 + [0] * 22)
    made = calibrate(data, Target(0.2, 0.9, "ltt", "s"), looks=()).policy
    assert made.threshold == pytest.approx(0.5) and made.rows
    return made


@pytest.mark.parametrize(
    ("rows", "outcome", "sentence"),
    [
        ((98, 2, 20), (True, False), "within the target of 20%."),
        ((16, 4, 20), (False, False), "above the target of 20%. This does not refute the policy"),
        ((50, 50, 0), (False, True), "% are, with the same confidence."),
    ],
)
def test_the_first_look_at_new_rows_has_half_of_delta(policy, rows, outcome, sentence):
    checked = confirm_on(policy, new(*rows), ())
    answered, wrong = rows[0] + rows[1], rows[1]
    assert (checked.observed.answered, checked.observed.errors) == (answered, wrong)
    assert checked.confidence == pytest.approx(0.95) and checked.look.place == 1
    assert stats.binom.cdf(wrong, answered, checked.observed.upper_bound) == pytest.approx(0.05)
    assert stats.binom.sf(wrong - 1, answered, checked.lower_bound) == pytest.approx(0.05)
    assert (checked.keeps_target, checked.exceeds_target) == outcome
    assert sentence in words.confirmation(checked)
    assert f"On {sum(rows)} new questions" in words.confirmation(checked)
    # No bound is rounded to one that was not proved.
    shown = re.findall(r"([\d.]+)% (?:of answered|are,)", words.confirmation(checked))
    upper, *lower = (float(number) / 100 for number in shown)
    bounds = checked.observed.upper_bound, checked.lower_bound
    assert bounds[0] <= upper < bounds[0] + 0.001
    assert all(bounds[1] - 0.001 < each <= bounds[1] for each in lower)


def test_rows_that_name_no_pipeline_do_not_test_a_policy_that_has_one(policy):
    named, rows = replace(policy, pipeline=PIPELINE), new(98, 2, 20)
    for text in ("", "rag-v2"):
        with pytest.raises(PolicyError, match="“pipeline” is missing, empty or damaged"):
            confirm_on(named, replace(rows, pipeline=text), ())
    assert confirm_on(named, replace(rows, pipeline=to_text(PIPELINE)), ()).keeps_target
    with pytest.raises(PolicyError, match="unknown origin"):
        confirm_on(policy, replace(rows, pipeline=to_text(PIPELINE)), ())


def test_without_a_wrong_or_a_right_answer_a_bound_is_at_its_end(policy):
    assert confirm_on(policy, new(10, 0, 5), ()).lower_bound == 0
    assert confirm_on(policy, new(0, 10), ()).observed.upper_bound == 1


def test_another_policy_on_the_same_rows_is_the_next_look_and_the_same_one_is_none(policy):
    rows = new(98, 2, 20)
    first = confirm_on(policy, rows, ())
    second = confirm_on(policy.with_threshold(0.95, 80, 22), rows, [first.look])
    assert (second.look.place, round(second.confidence, 9)) == (2, 0.975)
    assert confirm_on(policy, rows, [first.look, second.look]) == first
    said = " ".join(words.limits_of_test(second))
    assert "promises nothing" in said and "look 2 at these labels" in said
    assert calibrate(rows, Target(0.2, 0.9, "ltt", "s"), looks=[first.look]).look.place == 2


def test_tests_on_one_batch_after_the_other_are_said(policy):
    looks = []
    for before in range(3):
        checked = confirm_on(policy, new(16, 4, 20, first=1000 + 100 * before), looks)
        looks.append(checked.look)
        said = " ".join(words.limits_of_test(checked))
        assert (checked.look.place, checked.batches) == (1, before)
        assert said.endswith(f"by policies of this score, known here: {before}.") is bool(before)


def test_rows_that_made_the_policy_are_no_test_of_it(policy):
    mixed = new(30, 2, 2)
    mixed.queries[0] = " Q7?"
    with pytest.raises(PolicyError, match="1 of 34 of these questions made this policy"):
        confirm_on(policy, mixed, ())
    for other in ("Q7? Mind the units.", "Mind the units: q7?"):
        mixed.queries[0] = other
        with pytest.raises(PolicyError, match="1 of 34 of these questions made this policy"):
            confirm_on(policy, mixed, ())
    with pytest.raises(PolicyError, match="All of these questions made this policy"):
        confirm_on(replace(policy, data="1" * 64), new(30, 2), ())
    with pytest.raises(PolicyError, match="does not say which questions made it"):
        confirm_on(replace(policy, rows=""), new(30, 2), ())


def test_rows_too_few_to_tell_are_no_test_of_a_policy_that_many_rows_made(policy):
    """It keeps the smallest 2,048 of them, as the database does of a look."""
    many = replace(policy, labels=20_000, rows=ledger.to_text(np.arange(0, 40_000, 2, np.uint64)))
    with pytest.raises(PolicyError, match="too few to tell"):
        confirm_on(many, new(60, 2), ())
    assert confirm_on(many, new(67, 2), ()).look.place == 1


def test_rows_that_made_the_policy_under_other_questions_are_no_test_of_it():
    def under(text, doubts):
        data = scored(doubts, np.arange(100) % 20 > 0, [f"{text}{at}" for at in range(100)])
        return replace(data, sha256=text)

    doubts = np.random.default_rng(0).random(100)
    made = calibrate(under("q", doubts), Target(0.2, 0.9, "ltt", "s"), looks=())
    whole = calibrate(under("p", doubts), Target(0.3, 0.9, "ltt", "s"), looks=made.looks).looks
    with pytest.raises(PolicyError, match="that made this policy, under other"):
        confirm_on(made.policy, under("Answer: p", doubts), whole)
    assert confirm_on(made.policy, under("p", doubts[::-1] + 1), whole).look.place == 3
    assert confirm_on(made.policy, under("r", doubts[::-1] + 1), whole).look.place == 1


def test_rows_by_which_no_question_is_known_again_are_no_test(policy):
    """Its own rows without their questions, or known by a number, would pass for new ones."""
    nameless = new(30, 2, 2)
    nameless.queries[1] = "2"
    with pytest.raises(PolicyError, match="1 of 34 rows name no question"):
        confirm_on(policy, nameless, ())
    of_rows = replace(policy, codebook=book(EVERY_ROW))
    with pytest.raises(PolicyError, match="made this policy name no questions"):
        confirm_on(of_rows, new(30, 2, 2), ())
    named = replace(policy, codebook=book("question"))
    by_number = replace(new(30, 2, 2), codebooks={"s": book("id")})
    with pytest.raises(PolicyError, match="by “question”, these rows theirs by “id”"):
        confirm_on(named, by_number, ())
    one_model = [(("model", name),) for name in ("Big", "big", "small")]
    like = [replace(book("Question"), only=only) for only in one_model]
    assert confirm_on(named, replace(by_number, codebooks={"s": like[2]}), ()).look
    named = replace(named, codebook=like[0])
    assert confirm_on(named, replace(by_number, codebooks={"s": like[1]}), ()).look
    with pytest.raises(PolicyError, match="“model” is “small”, and only rows in which it is “Big”"):
        confirm_on(named, replace(by_number, codebooks={"s": like[2]}), ())
    mix = replace(like[2], only=(("model", "small"), ("model", "Big")))
    with pytest.raises(PolicyError, match="“model” is “small”, and only rows in which it is “Big”"):
        confirm_on(named, replace(by_number, codebooks={"s": mix}), ())


def book(question):
    return Codebook(question, 9, "s", False, "right", ("1",), ("0",), 5, 9, 9, (), (), ())


def test_labels_of_another_column_than_the_promise_goes_by_are_said(policy):
    made = replace(policy, codebook=book("question"))
    for label in ("right", "right_f1"):
        rows = replace(new(98, 2, 20), codebooks={"s": replace(book("question"), label=label)})
        said = " ".join(words.limits_of_test(confirm_on(made, rows, ())))
        goes_by = "“right_f1” calls so here; what the policy promises goes by “right”"
        assert (goes_by in said) is (label != "right")


def test_what_cannot_be_a_test_is_refused(policy):
    other = replace(PIPELINE, model="other")
    rows = replace(new(30, 2), pipeline=to_text(other))
    with pytest.raises(PolicyError, match="model = “m” there, “other” here"):
        confirm_on(replace(policy, pipeline=PIPELINE), rows, ())
    with pytest.raises(CalibrationError, match="Every label of “s” is right"):
        confirm_on(policy, replace(new(30, 0), one_kind=frozenset("s")), ())


def test_looks_that_have_spent_delta_leave_no_test(policy):
    rows, looks = new(30, 2), []
    for place in range(30):
        moved = replace(policy, threshold=0.5 + place / 100)
        looks.append(confirm_on(moved, rows, looks).look)
    with pytest.raises(CalibrationError, match="30 looks at these labels have spent δ"):
        confirm_on(policy.with_threshold(0.05, 0, 0), rows, looks)


@pytest.mark.slow
def test_a_promise_that_does_not_hold_is_rarely_called_kept(policy):
    """Three policies in a row on each of 200 draws, all of them wrong in 20.5%: δ is 10%."""
    rng, kept = np.random.default_rng(0), 0
    for _ in range(200):
        drawn, looks, outcomes = new(40, 40), [], []
        right = rng.random(80) >= 0.205
        drawn = replace(drawn, correct={"s": right}, numbered=np.arange(80))
        for threshold in (0.5, 0.4, 0.3):
            checked = confirm_on(replace(policy, threshold=threshold), drawn, looks)
            looks.append(checked.look)
            outcomes.append(checked.keeps_target)
        kept += any(outcomes)
    assert stats.binomtest(kept, 200, 0.1, "greater").pvalue > 0.01 and kept
