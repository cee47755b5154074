"""What the embedded model was taught: recognised, near, or neither, and never of another model."""

import json
import re
from dataclasses import asdict

import numpy as np
import pytest

from core.data.world import grading
from core.data.world.nearest import nearest_questions
from core.reports.inspection.words import about_training, beneath, outcome, served_sentence
from core.studies.inspection import serialise
from core.studies.inspection.inspection import run
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.taught_questions import (
    WORLD_OF,
    Offer,
    in_taught_words,
    taught_position,
)
from core.studies.inspection.verdict import Decision, Headline
from tests.fakes import Searched, certified

RECOGNISED = "What is the capital of France?"
HELD_OUT = "What is the seat of government of France?"
NEAR = "waht is the captial of Frnace"
OUTSIDE = "Where did my cat go last night?"
NOTHING = "zzqx vvkj"


def inspected(query, passing_for=certified):
    first = np.array([0.995, 0.005])
    model = passing_for(Searched(["Paris", "Lyon"], first, [first, first], query=query))
    return run(usual_request(query, model.capabilities), model)


def test_a_question_is_recognised_near_or_neither():
    found = taught_position(RECOGNISED, WORLD_OF)
    assert found.recognised and not found.near and not found.outside
    assert (found.offers, about_training(found)) == ((), [])
    found = taught_position(NEAR, WORLD_OF)
    assert found.near and not found.recognised and not found.outside
    best = found.offers[0]
    assert best.question == RECOGNISED and about_training(found)[0].startswith(
        "The model was not taught"
    )
    offered = f"  {RECOGNISED} ({best.distance})"
    assert about_training(found)[1:3] == ["Did you mean:", offered]
    found = taught_position(HELD_OUT, WORLD_OF)
    assert grading.find(HELD_OUT) and found.near and not found.recognised
    assert found.offers[0].question == RECOGNISED
    for query in (OUTSIDE, NOTHING):
        found = taught_position(query, WORLD_OF)
        assert found.outside and not found.recognised and not found.near
        made_up, *nearest = about_training(found)
        assert "a guess, whatever its doubt" in made_up
        assert nearest[:1] == ["Nearest that it was taught, though not near:"] * bool(nearest)
        assert len(nearest[1:]) == len(found.nearest)
        assert bool(found.nearest) is (query == OUTSIDE)


@pytest.mark.parametrize(
    ("query", "number"),
    [("What is the capital of Zorvania?", 1), ("Who was the king of the United States?", 3)],
)
def test_a_question_that_shares_half_as_much_as_another_is_not_called_near(query, number):
    """“What is the name of a young whale?” shares with a capital only how one asks."""
    assert len(nearest_questions(query)) == 3
    similar = [offer.similarity for offer in taught_position(query, WORLD_OF).nearest]
    assert len(similar) == number and 2 * min(similar) >= max(similar)


def test_what_is_surely_meant_is_asked_in_its_taught_words():
    model = certified(Searched(["Paris"], [1.0], [[1.0]]))
    request = usual_request(NEAR, model.capabilities)
    rewritten = in_taught_words(request, model)
    assert (rewritten.query, rewritten.typed) == (RECOGNISED, NEAR)
    assert rewritten == usual_request(RECOGNISED, model.capabilities)  # one recording serves both
    for query in (
        RECOGNISED,
        RECOGNISED.upper(),
        OUTSIDE,
        "What was the capital of France in 1250?",
    ):
        request = usual_request(query, model.capabilities)
        assert in_taught_words(request, model) is request
    another = Searched(["Paris"], [1.0], [[1.0]])
    assert in_taught_words(usual_request(NEAR, another.capabilities), another).query == NEAR


def test_it_is_said_which_question_was_asked_and_saved_with_what_was_typed():
    first = np.array([0.995, 0.005])
    model = certified(Searched(["Paris", "Lyon"], first, [first, first], query=RECOGNISED))
    seen = run(in_taught_words(usual_request(NEAR, model.capabilities), model), model)
    assert seen.read_as == f"Read as: {RECOGNISED}"
    assert re.fullmatch(
        r"Believe it \(0\.000 nats, λ = .+, default policy: .+\)\. Paris", outcome(seen)
    )
    assert beneath(seen)[0] == seen.read_as
    data = serialise.to_dict(seen)
    assert (data["query"], data["typed"]) == (RECOGNISED, NEAR)
    assert serialise.from_json(serialise.to_json(seen)).read_as == seen.read_as


@pytest.mark.parametrize("query", [RECOGNISED, NEAR, OUTSIDE])
def test_of_another_model_nobody_here_knows_what_it_was_taught(query):
    assert taught_position(query, "table") is None
    seen = inspected(query, lambda model: model)
    assert seen.nearest_taught is None and seen.headline is Headline.PERHAPS
    assert serialise.to_dict(seen)["taught"] is None


@pytest.mark.parametrize(
    ("query", "headline"),
    [
        (RECOGNISED, "answer"),
        (NEAR, "perhaps"),
        (OUTSIDE, Headline.UNTAUGHT),
        (NOTHING, Headline.UNTAUGHT),
    ],
)
def test_no_answer_is_served_to_what_was_not_taught(query, headline):
    """Its doubt is as small as that of an answer that it knows."""
    seen = inspected(query)
    assert seen.verdict.decision is Decision.ANSWER
    assert seen.headline == headline
    assert outcome(seen).endswith("Paris") == (not seen.conceals)
    assert ("λ" in outcome(seen)) == (not seen.conceals)  # elsewhere doubt did not decide
    assert seen.conceals == (headline is Headline.UNTAUGHT)


@pytest.mark.parametrize("query", [OUTSIDE, NOTHING])
def test_what_it_makes_up_is_told_to_who_asks_for_it_only(query):
    seen = inspected(query)
    assert "Paris" not in " ".join((*served_sentence(seen), *beneath(seen), outcome(seen)))
    asked_for = (*served_sentence(seen, untaught=True), *beneath(seen, untaught=True))
    assert asked_for[1].endswith("Paris") and seen.verdict.reason in asked_for
    assert serialise.to_dict(seen)["verdict"]["answer"] == "Paris"


@pytest.mark.parametrize("query", [RECOGNISED, NEAR, OUTSIDE, NOTHING])
def test_json_says_where_the_question_stands_and_a_saved_inspection_finds_it_again(query):
    seen = inspected(query)
    text = serialise.to_json(seen)
    data = json.loads(text)
    found = taught_position(query, WORLD_OF)
    assert data["taught"] == json.loads(json.dumps(asdict(found)))
    assert all(isinstance(offer, Offer) for offer in found.nearest)
    assert {*found.offers} <= {*found.nearest}
    assert data["headline"] == seen.headline
    assert data["verdict"]["decision"] == "answer"
    assert serialise.from_json(text).nearest_taught == found
