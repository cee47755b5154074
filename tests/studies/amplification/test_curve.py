"""Amplification: the paper's prompts, shares by likelihood or frequency, and what they mean."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import binomtest

from core import prompts
from core.codec import encode
from core.language_models.errors import PromptTooLongError
from core.language_models.language_model import Capabilities, LanguageModel, Response
from core.studies.amplification.curve import (
    DEFAULT_REPETITIONS,
    FREQUENCY_REPETITIONS,
    MOST_POINTS,
    MOST_REPETITIONS,
    SAMPLES_A_POINT,
    Amplification,
    Case,
    Origin,
    Point,
    amplify,
    grid,
    most_calls,
    tidy,
)
from core.studies.amplification.serialise import to_dict
from core.studies.inspection.request import InvalidRequestError
from core.studies.progress import Cancelled
from tests.fakes import QUERY, Counted, Limited, copies, falling, times_told

CAPITAL = Case("What is the capital of France?", "Paris", "Lyon")


class Teller(LanguageModel):
    """Told an answer t times it gives the two answers the log-likelihoods `of(t)`."""

    name, revision = "teller", "7"
    capabilities = Capabilities(scores_given_text=True)

    def __init__(self, of):
        self.of, self.asked = of, []

    def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
        raise AssertionError("nothing is sampled here")

    def log_likelihoods(self, prompts, answers):
        self.asked.append((list(prompts), list(answers)))
        return np.array([self.of(times_told(prompt)) for prompt in prompts], float)


def evidence(weight):
    """The answer against the repeated one: 1 to 1 + t · weight, both unlikely."""
    return Teller(lambda t: (-20.0, -20.0 + math.log(1 + t * weight)))


def curve(shares, case=CAPITAL):
    """A curve through {t: share}."""
    points = tuple(Point(t, None, None, share) for t, share in shares.items())
    return Amplification(case, "none", "0", points)


def refusal(make, *values):
    with pytest.raises(InvalidRequestError) as caught:
        make(*values)
    says = str(caught.value)
    assert says.endswith(".")
    return says


# ----------------------------------------------------------------------------- the case


def test_a_prompt_is_the_papers():
    """Word for word in tests/test_prompts.py."""
    assert CAPITAL.prompt(3) == prompts.iterative(CAPITAL.query, ["Lyon"] * 3)
    assert CAPITAL.prompt(0) == prompts.iterative(CAPITAL.query)


def test_a_question_is_asked_as_the_model_reads_it():
    """Scored or counted; as it was typed where the model tells all spellings apart."""
    read_as = CAPITAL.query.casefold()
    assert CAPITAL.prompt(2, read_as) == prompts.iterative(read_as, ["Lyon"] * 2)
    for make in (lambda: evidence(1.0), lambda: Counted(lambda t: ["Paris"])):
        model, plain = make(), make()
        model.reads = str.casefold
        found, usual = amplify(CAPITAL, model, [0, 2]), amplify(CAPITAL, plain, [0, 2])
        assert (found.case, found.read_as) == (CAPITAL, read_as)
        assert usual.read_as is None and usual.points == found.points
        for asked, spelling in ((model.asked, read_as), (plain.asked, CAPITAL.query)):
            each = [first if isinstance(first, list) else [first] for first, *_ in asked]
            said = {prompt for together in each for prompt in together}
            assert said == {prompts.iterative(spelling, ["Lyon"] * t) for t in (0, 2)}


def test_white_space_around_the_texts_is_dropped_and_what_turns_a_line():
    assert Case("\n Which? ", "\tthis \u202e", " that\n") == Case("Which?", "this", "that")


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        ((" ", "a", "b"), "There is no question. Type one."),
        (("q", "", "b"), "There is no answer to test. Type one."),
        (("q", "a", "\n"), "There is no answer to repeat. Type one."),
        (("x" * 2001, "a", "b"), "The question has 2,001 characters; at most 2,000 are allowed."),
        (("q", "x" * 2001, "b"), "The answer to test has 2,001 characters"),
        (("q", "a", "x" * 2001), "The answer to repeat has 2,001 characters"),
        (("q", "a\nb", "c"), "The answer to test has a line break, where a model’s answer ends."),
        (("q", "a", "b\r\nc"), "The answer to repeat has a line break"),
        (("q", "a", "b\u2028c"), "The answer to repeat has a line break"),
        (("\ud800", "a", "b"), "The question is not valid Unicode. Type it again."),
        (("q", "a\udfff", "b"), "The answer to test is not valid Unicode."),
        (("q", "a", "\udc00"), "The answer to repeat is not valid Unicode."),
        (("q", "a", "a"), "The two answers are the same."),
        (("q", " a", "a "), "The two answers are the same."),
        (("q", "Lemon", "LEMON"), "The two answers are the same."),
        (("q", "Paris", "paris."), "The two answers are the same."),
        (("q", "The  harp", "a harp!"), "The two answers are the same."),
        (("q", "Pelé", "pele"), "The two answers are the same."),
    ],
)
def test_a_case_out_of_range_is_refused_with_a_sentence(texts, says):
    assert refusal(Case, *texts).startswith(says)


@pytest.mark.parametrize(
    "texts",
    [
        ("first\nsecond", "x" * 2000, "y" * 2000),
        # Normalised, both are empty, as is the vitamin A beside “the”.
        ("Which sign?", "+", "-"),
        ("Which vitamin?", "A", "the"),
    ],
)
def test_a_case_may_have_lines_full_length_and_no_words(texts):
    case = Case(*texts)
    assert (case.query, case.answer, case.repeated) == texts


# ------------------------------------------------------------------ numbers of repetitions


def test_all_repetitions_go_out_as_one_call_sorted_and_once_each():
    model = evidence(1.0)
    found = amplify(CAPITAL, model, np.array([5, 0, 5, 1, 0]))
    assert [point.repetitions for point in found.points] == [0, 1, 5]
    assert model.asked == [([CAPITAL.prompt(t) for t in (0, 1, 5)], ["Paris", "Lyon"])]
    as_usual = amplify(CAPITAL, evidence(1.0)).points
    assert tuple(point.repetitions for point in as_usual) == DEFAULT_REPETITIONS


@pytest.mark.parametrize(
    ("times", "says"),
    [
        ([], "Name at least one number of repetitions, such as 0,1,10."),
        ([0, -1], "Numbers of repetitions must lie between 0 and 1,000."),
        ([1, 1001], "Numbers of repetitions must lie between 0 and 1,000."),
    ],
)
def test_repetitions_out_of_range_are_refused_before_the_model_is_asked(times, says):
    model = evidence(1.0)
    assert refusal(amplify, CAPITAL, model, times) == says
    assert refusal(tidy, times) == says
    assert model.asked == []


@given(st.integers(0, MOST_REPETITIONS))
def test_a_curve_of_a_model_that_scores_is_dense_and_then_spread(most):
    found = grid(evidence(1.0), most)
    assert list(found) == sorted(set(found))
    assert (found[0], found[-1]) == (0, most)
    assert len(found) <= MOST_POINTS
    dense = most if most < MOST_POINTS else 10
    assert found[: dense + 1] == tuple(range(dense + 1))


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (0, (0,)),
        (1, (0, 1)),
        (7, (0, 1, 5, 7)),
        (100, FREQUENCY_REPETITIONS),
        (1000, (*FREQUENCY_REPETITIONS, 1000)),
    ],
)
def test_a_curve_by_frequencies_has_few_points(most, expected):
    assert grid(Counted(lambda t: ["a"]), most) == expected


def test_a_curve_of_a_large_model_has_few_points():
    model = evidence(1.0)
    model.capabilities = replace(model.capabilities, quick=False)
    assert grid(model, 30) == (0, 1, 2, 5, 10, 20, 30)


@pytest.mark.parametrize("most", [-1, 1001])
@pytest.mark.parametrize("model", [evidence(1.0), Counted(lambda t: ["a"])])
def test_a_curve_out_of_range_is_refused(model, most):
    assert "between 0 and 1,000" in refusal(grid, model, most)


# ------------------------------------------------------------------------ by likelihood


def test_the_share_by_hand():
    """1 to 1 + t / 2: one half, 2/5 after one repetition, 1/7 after ten."""
    found = amplify(CAPITAL, evidence(0.5), [0, 1, 10])
    assert [point.normalised_probability for point in found.points] == pytest.approx(
        [1 / 2, 2 / 5, 1 / 7]
    )
    assert [point.log_likelihood_answer for point in found.points] == [-20.0] * 3
    assert found.points[2].log_likelihood_repeated == pytest.approx(-20 + math.log(6))
    assert (found.model, found.revision, found.case) == ("teller", "7", CAPITAL)
    assert {(point.lower, point.upper) for point in found.points} == {(None, None)}


@given(st.floats(-3000, 0), st.floats(-3000, 0))
def test_the_share_is_the_answers_probability_of_the_two(a, b):
    (point,) = amplify(CAPITAL, Teller(lambda t: (a, b)), [0]).points
    assert 0 <= point.normalised_probability <= 1
    assert point.normalised_probability == pytest.approx(expit(a - b), abs=1e-12)
    assert point.repeated_is_likelier == (point.normalised_probability < 0.5)


# ----------------------------------------------------------------------- prompts too long


class Short(Teller):
    """Has room for `limit` repetitions."""

    def __init__(self, limit):
        super().__init__(lambda t: (-1.0, -1.0))
        self.limit = limit

    def log_likelihoods(self, prompts, answers):
        if max(map(times_told, prompts)) > self.limit:
            raise PromptTooLongError("There is no room.")
        return super().log_likelihoods(prompts, answers)


@given(st.integers(0, MOST_REPETITIONS - 1), st.integers(1, MOST_REPETITIONS))
def test_the_largest_number_of_repetitions_that_fits_is_named(limit, beyond):
    most = min(limit + beyond, MOST_REPETITIONS)
    assert refusal(amplify, CAPITAL, Short(limit), [0, most]) == (
        f"With {most:,} repetition{'' if most == 1 else 's'} the prompt does not fit into the "
        f"model’s context; the most that fits is {limit}."
    )


def test_where_nothing_fits_the_model_says_why():
    assert refusal(amplify, CAPITAL, Short(-1), [0, 100]) == "There is no room."


def test_a_question_that_never_fits_is_to_be_shortened(embedded):
    assert "Shorten the question" in refusal(
        amplify, Case("日" * 2000, "a", "b"), embedded, [0, 1, 100]
    )


def test_what_is_impossible_has_no_logarithm_in_a_file():
    """Neither answer possible: no share; one of them: 0 or 1."""
    told = {0: (-np.inf, -np.inf), 1: (-np.inf, -1.0), 2: (-1.0, -np.inf)}
    found = amplify(CAPITAL, Teller(told.__getitem__), [0, 1, 2])
    assert [p.normalised_probability for p in found.points] == [None, 0.0, 1.0]
    saved = json.loads(encode(to_dict(found)))["curve"]
    assert [p["log_likelihood_answer"] for p in saved] == [None, None, -1.0]


# ------------------------------------------------------------------------ by frequency


@given(st.integers(0, SAMPLES_A_POINT), st.integers(0, SAMPLES_A_POINT))
def test_the_interval_is_wilsons(ours, theirs):
    """As SciPy computes it for that many of the two answers among 40 samples."""
    theirs = min(theirs, SAMPLES_A_POINT - ours)
    texts = ["Paris"] * ours + ["Lyon"] * theirs
    texts += ["Nice"] * (SAMPLES_A_POINT - len(texts))
    (point,) = amplify(CAPITAL, Counted(lambda t: texts), [3]).points
    assert (point.log_likelihood_answer, point.log_likelihood_repeated) == (None, None)
    if not ours + theirs:
        assert (point.normalised_probability, point.lower, point.upper) == (None, None, None)
        assert not point.repeated_is_likelier
        return
    expected = binomtest(ours, ours + theirs).proportion_ci(method="wilson")
    assert point.normalised_probability == ours / (ours + theirs)
    assert (point.lower, point.upper) == pytest.approx((expected.low, expected.high), abs=1e-6)
    assert 0 <= point.lower <= point.normalised_probability + 1e-12
    assert point.normalised_probability - 1e-12 <= point.upper <= 1


def test_where_ends_are_left_out_no_answer_may_begin_the_other():
    """The likelihood of 1 then holds that of 10, which could never overtake it."""
    model = Teller(lambda t: (-1.0, -2.0))
    case = Case("How many?", "1", "10")
    assert amplify(case, model, [0]).crossing is None
    model.capabilities = Capabilities(scores_given_text=True, whole_answers=False)
    assert "leaves out the end" in refusal(amplify, case, model, [0])
    assert amplify(CAPITAL, model, [0]).crossing is None


@pytest.mark.parametrize("times", [[0], [5, 0, 5, 1], FREQUENCY_REPETITIONS])
def test_as_many_answers_are_drawn_as_were_announced(times):
    model = Counted(lambda t: ["Paris", "Lyon"])
    amplify(CAPITAL, model, times, seed=11)
    assert model.calls == most_calls(model, times) == SAMPLES_A_POINT * len(set(times))
    assert model.asked == [(CAPITAL.prompt(t), 1.0, 11) for t in sorted(set(times))]
    assert most_calls(evidence(1.0), times) == 0  # it needs no samples


def test_every_number_of_repetitions_has_its_own_frequencies():
    found = amplify(CAPITAL, Counted(lambda t: ["Paris"] * (4 - t) + ["Lyon"] * t), range(5))
    assert [p.normalised_probability for p in found.points] == [1, 3 / 4, 2 / 4, 1 / 4, 0]
    assert found.crossing == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("King George VI", 1.0),
        ("It was George VI", 1.0),
        ("King George V", 0.0),
        ("the king george v!", 0.0),
        ("King George", None),  # as near to the one as to the other
        ("Nobody knows", None),
    ],
)
def test_a_text_that_matches_both_answers_counts_for_the_nearer(text, expected):
    kings = Case("Who was king in 1940?", "King George VI", "King George V")
    (point,) = amplify(kings, Counted(lambda t: [text]), [0]).points
    assert point.normalised_probability == expected


@pytest.mark.parametrize(
    ("text", "answer", "counts"),
    [
        ("Not Paris", "Paris", False),
        ("Maybe Paris", "Paris", False),
        ("I don't know, Paris?", "Paris", False),
        ("Paris is wrong", "Paris", False),
        ("3 years", "5 years", False),
        ("It was Paris, in 1789", "Paris", True),
        ("Paris, France", "Paris", True),
    ],
)
def test_a_text_that_says_the_contrary_another_number_or_nothing_does_not_count(
    text, answer, counts
):
    case = Case("Which?", answer, "a decade")
    for one in (case, replace(case, answer=case.repeated, repeated=answer)):
        (point,) = amplify(one, Counted(lambda t: [text]), [0]).points
        assert (point.normalised_probability is not None) == counts


@pytest.mark.parametrize(("others", "expected"), [(6, 1.0), (7, None)])
def test_a_text_counts_from_a_token_f1_of_a_quarter(others, expected):
    """One word in common of 1 + 7 is 2 / 8; of 1 + 8 it is less."""
    (point,) = amplify(CAPITAL, Counted(lambda t: ["Paris " + "word " * others]), [0]).points
    assert point.normalised_probability == expected


# ------------------------------------------------------- by likelihoods of sampled answers


class Weighing(Counted):
    """Cannot score texts, but says how likely its own are."""

    name, revision = "weighing", "5"
    capabilities = Capabilities(scores_given_text=False, own_log_likelihoods=True)

    def __init__(self, said):
        self.said = [Response(text, True, math.log(p)) for text, p in said]

    def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
        return [self.said[i % len(self.said)] for i in range(count)]


def test_sampled_answers_are_weighed_by_their_likelihoods():
    """By hand: .5 + .1 against .2, and .1 that may be either; counts would say 2 of 3."""
    said = [("Paris", 0.5), ("In Paris", 0.1), ("Lyon", 0.2), ("Nice", 0.1), ("Paris", 0.4)]
    found = amplify(CAPITAL, Weighing(said), [0])
    (point,) = found.points
    assert found.source is Origin.SAMPLED
    assert point.normalised_probability == pytest.approx(0.6 / 0.8)
    assert (point.lower, point.upper) == pytest.approx((0.6 / 0.9, 0.7 / 0.9))
    logarithms = (point.log_likelihood_answer, point.log_likelihood_repeated)
    assert logarithms == pytest.approx((math.log(0.6), math.log(0.2)))


def test_what_a_likelihood_without_its_end_holds_is_not_counted_twice():
    """“Paris” has “Paris, France” in it: .5 is all of Paris, and .2 is unseen."""
    said = [("Paris", 0.5), ("Paris, France", 0.3), ("Paris, France, Europe", 0.1), ("Lyon", 0.3)]
    model = Weighing(said)
    (point,) = amplify(CAPITAL, model, [0]).points
    assert point.normalised_probability == pytest.approx(0.9 / 1.2)  # each has its end
    model.capabilities = replace(model.capabilities, whole_answers=False)
    (point,) = amplify(CAPITAL, model, [0]).points
    assert point.normalised_probability == pytest.approx(0.5 / 0.8)
    assert (point.lower, point.upper) == pytest.approx((0.5 / 1.0, 0.7 / 1.0))
    assert "leaves out the end" in refusal(amplify, replace(CAPITAL, repeated="Paris II"), model)


@pytest.mark.parametrize("said", [[("", 1.0)], [("Nobody knows", 0.3)]])
def test_where_neither_was_sampled_nothing_is_known(said):
    (point,) = amplify(CAPITAL, Weighing(said), [0]).points
    assert point == Point(0, None, None, None)


def test_the_truth_lies_within_what_was_not_sampled():
    """Of a model whose distribution is known: always, and exactly where both were sampled."""
    case, q = Case(QUERY, "answer2", "answer5"), falling(12)
    truth, exact = q[2] / (q[2] + q[5]), 0
    for seed in range(20):
        model = Limited(copies(12), own_log_likelihoods=True)
        (point,) = amplify(case, model, [0], seed=seed).points
        if point.normalised_probability is not None:
            assert point.lower - 1e-9 <= truth <= point.upper + 1e-9
            exact += point.normalised_probability == pytest.approx(truth)
    assert exact > 10


# ----------------------------------------------------------------------------- progress


@pytest.mark.parametrize("call", [1, 2, 3, 4])
def test_progress_names_every_number_of_repetitions_and_may_cancel(call):
    told = []

    def progress(stage, share):
        told.append((stage, share))
        if len(told) == call:
            raise Cancelled

    model = Counted(lambda t: ["Paris"])
    with pytest.raises(Cancelled):
        amplify(CAPITAL, model, [0, 5, 20], progress)
    assert len(model.asked) == max(call - 2, 0)
    stages = ["Repeating an answer up to 20 times"]
    stages += [f"Sampling after {t} repetitions" for t in (0, 5, 20)]
    assert [stage for stage, _ in told] == stages[:call]
    assert [share for _, share in told] == pytest.approx([0, 0, 1 / 3, 2 / 3][:call])


def test_scoring_is_cancelled_before_it_begins():
    def stop(stage, share):
        raise Cancelled

    model = evidence(1.0)
    with pytest.raises(Cancelled):
        amplify(CAPITAL, model, progress=stop)
    assert model.asked == []
