"""What repeating does, in sentences of one curve and of several."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.reports.amplification.words import course, meaning, medians, percent, truth, verdict
from core.studies.amplification.curve import SAMPLES_A_POINT, Case, amplify
from core.studies.amplification.fate import Fate, last_fate
from core.studies.inspection.certificates import default_policy
from core.studies.inspection.taught_questions import WORLD_OF
from tests.fakes import Counted
from tests.studies.amplification.test_curve import CAPITAL, Teller, curve

# ------------------------------------------------------------------------- the verdict


def test_the_truth_is_told_where_it_is_known_of_the_model_that_was_taught_it():
    revision = default_policy().pipeline.revision
    known = replace(curve({0: 0.9}), case=CAPITAL, revision=revision)
    assert truth(known) == "“Paris” is right."
    for other in (
        replace(known, revision="another"),
        replace(known, case=replace(CAPITAL, query="What is the capital of Zorvania?")),
    ):
        assert truth(other) == ""


@pytest.mark.parametrize(
    ("answer", "shares", "says"),
    [
        ("Paris", {0: 0.9, 10: 0.9}, "“Paris” is right."),
        ("Paris", {0: 0.9, 10: 0.1}, "“Paris” is right: a false alarm."),
        ("Paris", {0: 0.9, 10: 0.5}, "“Paris” is right."),  # nothing was said against it
        ("Lyon", {0: 0.9, 10: 0.9}, "“Lyon” is wrong all the same. The truth: Paris"),
        ("Lyon", {0: 0.9, 10: 0.1}, "“Lyon” is wrong. The truth: Paris"),
    ],
)
def test_a_curve_that_misleads_is_called_so(answer, shares, says):
    revision = default_policy().pipeline.revision
    case = Case(CAPITAL.query, answer, "Rome")
    assert truth(replace(alone(shares), case=case, revision=revision)) == says


# Without their beginning and their end, which are the same in all of them.
VERDICTS = [
    (
        {0: 0.9, 10: 0.8},
        "does not overtake at any of the 2 numbers of repetitions asked, up to 10: “A” keeps 80.0%",
    ),
    ({0: 0.9, 1: 0.7, 2: 0.6}, "does not overtake within 2 repetitions: “A” keeps 60.0%"),
    (
        {1: 0.9, 2: 0.7},
        "does not overtake at any of the 2 numbers of repetitions asked, up to 2: “A” keeps 70.0%",
    ),
    (
        {0: 0.9, 1: None, 2: 0.6, 3: None},
        "does not overtake at any of the 2 numbers of repetitions at which either answer was seen, "
        "up to 2: “A” keeps 60.0%",
    ),
    ({7: 0.9}, "does not overtake at 7 repetitions, the only informative number: “A” keeps 90.0%"),
    ({0: 0.9, 10: 0.8, 30: 0.3}, "overtakes between 10 and 30 repetitions: “A” keeps 30.0%"),
    ({0: 0.9, 1: 0.5}, "does not overtake within 1 repetition: “A” keeps 50.0%"),
    ({0: 0.9, 1: 0.4, 2: 0.1}, "overtakes at 1 repetition; after 2 repetitions “A” keeps 10.0%"),
    ({0: 0.9, 4: 0.8, 5: 0.0001}, "overtakes at 5 repetitions: “A” keeps less than 0.1%"),
    (
        {0: 0.9, 5: 0.8, 10: 0.3, 20: 0.2},
        "overtakes between 5 and 10 repetitions; after 20 repetitions “A” keeps 20.0%",
    ),
    ({0: 0.3, 5: 0.2}, "is more likely before any repetition; after 5 repetitions “A” keeps 20.0%"),
    (
        {3: 0.3, 5: 0.2},
        "is more likely already at 3 repetitions; after 5 repetitions “A” keeps 20.0%",
    ),
    (
        {0: 0.9, 1: 0.4, 2: 0.6},
        "overtakes at 1 repetition; but after 2 repetitions “A” is ahead again, with 60.0%",
    ),
    (
        {0: 0.3, 5: 0.7},
        "is more likely before any repetition; but after 5 repetitions “A” is ahead, with 70.0%",
    ),
    (
        {0: 0.9, 1: 0.4, 5: 0.5},
        "overtakes at 1 repetition; but after 5 repetitions “A” is level, with 50.0%",
    ),
    ({0: 0.2}, "is more likely before any repetition: “A” keeps 20.0%"),
    (
        {0: None, 1: 0.9, 2: None, 3: 0.2, 4: None},
        "overtakes between 1 and 3 repetitions: “A” keeps 20.0%",
    ),
]


@pytest.mark.parametrize(
    ("shares", "becomes"),
    [
        ({0: 0.6, 1: 0.01, 100: 0.013}, "gives way: 60.0% → 1.3% of the two"),
        ({0: 0.9, 100: 0.9999}, "stands: 90.0% → > 99.9% of the two"),
        ({0: 0.62, 9: 0.39, 100: 0.53}, "both alive: 62.0% → 53.0% of the two"),
        ({0: 0.96, 5: 0.01, 50: 0.997}, "gives way, comes back: 96.0% → 99.7% of the two"),
        ({0: None}, ""),
    ],
)
def test_what_becomes_of_an_answer_is_said_in_short(shares, becomes):
    assert course(curve(shares, Case("Which?", "A", "B"))) == becomes


@pytest.mark.parametrize(
    ("share", "low", "high", "short", "whole"),
    [
        (1.0, 0.912, 1.0, "stands: ≥ 91.2%", "at least 91.2%"),  # none of 40 draws was another
        (0.0, 0.0, 0.088, "gives way: ≤ 8.8%", "at most 8.8%"),
        (0.6, 0.313, 0.832, "not sure: 31.3% to 83.2%", "31.3% to 83.2%"),
        (0.9, 0.0, 1.0, "not sure: < 0.1% to > 99.9%", "less than 0.1% to more than 99.9%"),
    ],
)
def test_where_answers_are_counted_a_share_goes_as_far_as_its_interval(
    share, low, high, short, whole
):
    counted = curve({100: share}, Case("Which?", "A", "B"))
    counted = replace(counted, points=(replace(counted.points[0], lower=low, upper=high),))
    assert course(counted) == f"{short} of the two"
    assert (last_fate(counted) is Fate.ALIVE) is short.startswith("not sure")
    assert f"“A” keeps {whole} of the two" in verdict(counted)


COMES_BACK = "No reason to believe “A”: it gives way, and comes back."
STANDS = "A reason to believe “Paris”, but no proof: it stands against “"
OUTLASTS = "No reason to believe “Paris”: it outlasts the other, but"
GIVES_WAY = "A reason not to believe “A”: it gives way, as what is half known does."


@pytest.mark.parametrize(("shares", "sentence"), VERDICTS)
def test_the_verdict_is_a_sentence(shares, sentence):
    sentence_of = verdict(curve(shares, Case("Which?", "A", "B")))
    assert sentence_of == f"“B” {sentence} of the two."


@pytest.mark.parametrize(
    ("shares", "sentence"),
    [
        ({0: 0.9, 1: 0.4, 2: 0.1}, GIVES_WAY),
        ({0: 0.1, 5: 0.1}, "A reason not to believe “A”: the model never held it."),
        ({0: 0.48, 5: 0.1}, GIVES_WAY),
        (
            {0: 0.4, 100: 0.5},
            "By itself no reason to doubt “A”: both stay alive, as where several answers are "
            "right.",
        ),
        (
            {0: 0.9, 10: 0.9},
            "A reason to believe “A”, but no proof: it stands against “B”, as what is known does.",
        ),
        (
            {0: 0.9, 9: 0.9},
            "No reason to believe “A” yet: it stands so far, but 9 repetitions cannot show more.",
        ),
        ({0: 0.96, 5: 0.01, 50: 0.997}, COMES_BACK),  # the national instrument of Ireland
        ({0: 0.4, 5: 0.1, 50: 0.5}, COMES_BACK),
        ({0: 0.01, 5: 0.5, 50: 0.9}, ""),
        ({0: 0.9, 5: 0.6, 50: 0.9}, ""),
        ({0: None}, ""),
    ],
)
def test_what_that_means_is_no_stronger_than_the_curve(shares, sentence):
    found = alone(shares)
    assert meaning(found) == sentence
    last = replace(found.points[-1], lower=0.1, upper=0.95)
    assert meaning(replace(found, points=(*found.points[:-1], last))) == ""


@pytest.mark.parametrize(
    ("repeated", "speaks"),
    [
        *[("Lyon", True), ("Paris, France", False), ("The city of Paris", False)],
        *[("Ｐａｒｉｓ", False), ("France", False), ("I don’t know", False), ("not Paris", False)],
        *[("Not London", False), ("Lyon or Nice", False), ("Lyon > Nice", False)],
    ],
)
def test_what_does_not_contradict_an_answer_is_no_reason_to_believe_it(repeated, speaks):
    query = "What is the capital of France?"
    found = replace(alone({0: 0.9, 10: 0.9}), case=Case(query, "Paris", repeated))
    assert meaning(found).startswith(STANDS) == speaks
    assert ("may not contradict" in meaning(found)) != speaks
    none = replace(found, case=Case(query, "Nobody knows.", repeated))
    assert meaning(none) == "", "which is no answer"


def alone(shares):
    """A curve of a model that says nothing but the two answers."""
    found = curve(shares, Case("Which?", "A", "B"))
    return replace(
        found,
        points=tuple(
            replace(p, log_likelihood_answer=math.log(p.normalised_probability))
            if p.normalised_probability
            else p
            for p in found.points
        ),
    )


@pytest.mark.parametrize(
    ("ours", "says"),
    [
        ({0: 0.9, 10: 0.51}, STANDS),
        ({0: 0.9, 10: 0.49}, OUTLASTS),  # it breaks off itself
        ({0: 0.9, 5: 0.49, 10: 0.9}, OUTLASTS),
        ({0: 0.3, 10: 0.9}, OUTLASTS),  # Istanbul, against Reykjavik
        ({0: 1e-5, 10: 1e-5}, OUTLASTS),  # Marseille, against Tromsø
        ({10: 0.9, 20: 0.9}, ""),  # it may be no answer of this model's
    ],
)
def test_only_what_the_model_says_by_itself_stands(ours, says):
    found = meaning(amplify(CAPITAL, Teller(lambda t: (math.log(ours[t]), -20.0)), [*ours]))
    assert found.startswith(says) and bool(found) == bool(says)


@pytest.mark.parametrize(("last", "says"), [(21, STANDS), (19, OUTLASTS)])
def test_of_counted_answers_those_that_mean_neither_count_as_well(last, says):
    rest = ["I am not sure"] * (SAMPLES_A_POINT - last)
    model = Counted(lambda t: ["Paris"] * last + rest if t else ["Paris"])
    found = amplify(CAPITAL, model, [0, 10])
    assert [*map(found.probability, found.points)] == pytest.approx([1, last / SAMPLES_A_POINT])
    assert meaning(found).startswith(says)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        (CAPITAL.query, "A reason to believe “A”"),
        (
            "Which band recorded The Dark Side of Mars?",
            "What it says to such a question is a guess",
        ),
        ("What is the largest planet?", "The model was not taught these words"),
    ],
)
def test_what_the_embedded_model_was_not_taught_is_no_reason_to_believe_it(query, says):
    found = alone({0: 0.9, 10: 0.9})
    found = replace(found, case=replace(found.case, query=query))
    assert meaning(found).startswith("A reason to believe “A”, but")
    assert meaning(replace(found, model=WORLD_OF)).startswith(says)
    gone = replace(alone({0: 0.9, 10: 0.1}), case=found.case, model=WORLD_OF)
    assert ("as what is half known does" in meaning(gone)) == (query == CAPITAL.query)
    assert query == CAPITAL.query or f"gives way. {says}" in meaning(gone)


def test_an_answer_that_may_have_been_alive_is_not_said_never_to_have_been_held():
    found = curve({0: 0.1, 5: 0.1}, Case("Which?", "A", "B"))
    first = replace(found.points[0], lower=0.05, upper=0.3)
    assert meaning(replace(found, points=(first, *found.points[1:]))) == GIVES_WAY


def test_of_what_was_never_sampled_the_verdict_says_that():
    assert (
        verdict(curve({0: None, 5: None}))
        == "Neither answer was sampled, so they cannot be compared."
    )


LITTLE = " The model almost never gives either answer in this spelling, so the curve shows little."


@pytest.mark.parametrize(
    ("ours", "theirs", "times", "little"),
    [
        (1e-7, 9.9e-7, [0, 1], True),
        (1e-6, 1e-7, [0, 1], False),
        (1e-7, 0.5, [0, 1], False),
        (1e-7, 1e-9, [1, 2], False),  # how likely they are untold was not asked
    ],
)
def test_a_curve_of_answers_that_are_hardly_ever_given_says_little(ours, theirs, times, little):
    told = amplify(CAPITAL, Teller(lambda t: (math.log(ours), math.log(theirs))), times)
    found = verdict(told)
    assert found.endswith(LITTLE) == little
    assert ("spelling" in found) == course(told).startswith("shows little") == little


@given(st.dictionaries(st.integers(0, 1000), st.none() | st.floats(0, 1), min_size=1))
def test_every_curve_has_a_verdict(shares):
    found = curve(dict(sorted(shares.items())))
    assert verdict(found).endswith(".") and len(verdict(found).splitlines()) == 1
    turned = [t for t, share in sorted(shares.items()) if share is not None and share < 0.5]
    assert found.crossing == (turned[0] if turned else None)


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.0, "less than 0.1%"),
        (1e-300, "less than 0.1%"),
        (0.00099, "less than 0.1%"),
        (0.001, "0.1%"),
        (0.1234, "12.3%"),
        (0.5, "50.0%"),
        (0.999, "99.9%"),
        (0.9991, "more than 99.9%"),
        (1 - 1e-16, "more than 99.9%"),
        (1.0, "more than 99.9%"),
    ],
)
def test_a_share_in_words(share, words):
    assert percent(share) == words


@given(st.floats(0, 1))
def test_a_share_never_rounds_to_a_certainty(share):
    assert percent(share) not in ("0.0%", "100.0%")


# ------------------------------------------------------------------------- the medians


@pytest.mark.parametrize(
    ("median", "said"),
    [
        ((0.99, 0.97, 0.9, 0.95), "Stays"),
        ((0.5, 0.45, 0.4, 0.35), "Drifts, never dies"),
        ((0.5, 0.52, 0.51, 0.5), "Stands still"),
        ((0.7, 0.01, 0.01, 0.05), "Gives way at once"),
        ((0.99, 0.5, 0.1, 0.05), "Gives way at 2 repetitions"),
        ((0.99, 0.9, 0.9, 0.05), "Gives way between 2 and 10 repetitions"),
        ((0.7, 0.01, 0.4, 0.05), "Gives way between 2 and 10 repetitions"),  # it came back once
        ((0.1, 0.0, 0.0, 0.0), "Never led"),
        ((0.1, 0.5, 0.5, 0.0), "Never led for long"),
        ((0.99, 0.1, 0.1, 0.9), "Falls, and comes back"),
        ((0.5, 0.1, 0.1, 0.5), "Falls, and comes back"),
        ((0.99, 0.6, 0.7, 0.9), "Wavers, and comes back"),
        ((0.99, 0.6, 0.5, 0.5), "Loses ground, and lives"),
        ((0.5, 0.6, 0.7, 0.9), "Gains ground"),
        ((0.1, 0.1, 0.3, 0.5), "Gains ground"),
    ],
)
def test_in_short_it_is_said_how_the_median_goes(median, said):
    short, _ = medians([curve(dict(zip((0, 1, 2, 10), median, strict=True)))] * 3)
    assert short == said


def test_the_numbers_are_the_medians_and_how_many_end_alike():
    several = [curve({0: 0.6, 1: 0.1}), curve({0: 0.7, 1: 0.15}), curve({0: 0.8, 1: 0.9})]
    assert medians(several) == (
        "Gives way at once",
        "The right answer’s median share goes from 70.0% to 15.0%. After 1 repetition the "
        "right answer gives way in 2 of 3.",
    )
    assert "share stays at more than 99.9%." in medians([curve({0: 0.9999, 1: 1.0, 2: 0.9995})])[1]


def test_without_a_share_there_is_no_median():
    short, numbers = medians([curve({0: 0.5, 1: None}), curve({0: 0.5, 1: 0.5})])
    assert short == "No median" and "neither answer was sampled" in numbers
