"""Two inspections side by side, worked out by hand."""

from dataclasses import replace

import pytest

from core.studies.inspection.certificates import default_policy
from core.studies.inspection.comparison import compare
from core.studies.inspection.inspection import read, run
from core.studies.inspection.request import Reading, Request
from core.studies.inspection.verdict import DecisionRule
from core.uncertainty.scores import SCORES
from tests.fakes import QUERY, Searched, TableModel, copies, knows


def asked(answers, first, **request):
    model = TableModel(answers, first, [first] * len(first))
    return run(Request(QUERY, 200, **request), model)


def names(found):
    return {each.name: (each.here, each.there) for each in found.differences}


def test_an_inspection_differs_in_nothing_from_itself():
    one = run(Request(QUERY, 10), copies(4))
    found = compare(one, one)
    assert found.differences == ()
    assert [side.name for side in found.scores] == list(SCORES)
    assert {side.difference for side in found.scores} <= {0.0, None}
    assert all(one.here == one.there for one in found.answers)


def test_it_names_what_was_set_differently_and_nothing_else():
    model = copies(4)
    one = run(Request(QUERY, 10, 0.9, seed=1), model)
    other = run(Request(QUERY, 20, 0.9, seed=2), model)
    assert names(compare(one, other)) == {"number of answers k": (10, 20), "seed": (1, 2)}
    read_again = read(one.recording, Reading("ratio", 0.5, 0.1, 0.0), DecisionRule(9.0, 0.0))
    assert names(compare(one, read_again)) == {
        "similarity of two answers": ("same_answer", "ratio"),
        "similarity threshold τ": (0.25, 0.5),
        "stabilisation γ₁": (0.0, 0.1),
        "threshold λ": (None, 9.0),
        "least sampled mass": (None, 0.0),
    }
    elsewhere = replace(one, recording=replace(one.recording, model="other", revision="2"))
    assert names(compare(one, elsewhere))["model"] == ("table", "other")
    assert names(compare(one, elsewhere))["weights and form"] == ("1", "2")


def test_what_a_policy_promises_and_why_it_decides_nothing_is_a_difference():
    one = run(Request(QUERY, 10), copies(4))
    promised, none = (
        read(one.recording, rule=DecisionRule(9.0, 0.0, origin=origin, error=error))
        for origin, error in (("At most 5%.", 0.05), ("No guarantee.", None))
    )
    assert names(compare(promised, none)) == {"policy": ("At most 5%.", "No guarantee.")}
    refused = read(one.recording, policy=default_policy())
    assert one.refused is None and refused.refused
    assert names(compare(one, refused)) == {"policy": (None, refused.refused)}


def test_what_was_searched_for_has_no_seed_and_no_temperature():
    drawn = run(Request(QUERY, 3, seed=5), copies(3))
    found = Searched(*(getattr(copies(3), name) for name in ("answers", "first", "rows")))
    differing = names(compare(drawn, run(Request(QUERY, 3, sampling="likeliest"), found)))
    assert differing["seed"] == (5, None) and differing["temperature"] == (0.9, None)
    assert differing["answers"] == ("drawn", "likeliest")


def test_scores_are_subtracted_in_their_order():
    one, other = run(Request(QUERY, 40), copies(5)), run(Request(QUERY, 40), knows(5))
    for side in compare(one, other).scores:
        here, there = one.scores[side.name].value, other.scores[side.name].value
        assert (side.here, side.there) == (here, there)
        assert side.difference == pytest.approx(here - there)


def test_answers_are_matched_by_their_words_with_both_shares():
    one = asked(["London", "Paris", "Rome"], [0.6, 0.3, 0.1])
    other = asked(["Berlin", "London, UK", "Paris"], [0.5, 0.3, 0.2])
    found = [
        (each.here, each.there, *(m and round(m, 6) for m in (each.mass_here, each.mass_there)))
        for each in compare(one, other).answers
    ]
    assert found == [
        ("London", "London, UK", 0.6, 0.3),
        (None, "Berlin", None, 0.5),
        ("Paris", "Paris", 0.3, 0.2),
        ("Rome", None, 0.1, None),
    ]


def test_each_answer_is_matched_once_and_with_the_most_alike():
    one = asked(["Charles Dickens", "green pear"], [0.7, 0.3])
    other = asked(["Dickens", "Charles Dickens of England"], [0.6, 0.4])
    other = read(other.recording, Reading("token_f1", 1.0))
    pairs = {(each.here, each.there) for each in compare(one, other).answers}
    assert pairs == {
        ("Charles Dickens", "Charles Dickens of England"),
        ("green pear", None),
        (None, "Dickens"),
    }
