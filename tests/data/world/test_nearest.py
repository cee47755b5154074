"""The nearest taught question: found in strangers' words, and not where there is none."""

import csv
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.nearest import other_questions
from core.data.world import grading
from core.data.world.facts import facts
from core.data.world.nearest import (
    MEANT,
    MOST_WORDS,
    NEAR,
    OFFERS,
    meant_among,
    nearest,
    nearest_questions,
)

DATA = Path(__file__).parents[1]
FACTS = facts()

# A little below what `benchmarks/nearest.py` measures: facts change, and so do their names.
RIGHT, RIGHT_AND_NEAR = 0.7, 0.35


def test_how_near_a_question_is_does_not_change_from_one_start_to_the_next():
    """Of “springtime” and “springs”, both as like “Springfield”, a set named another each time."""
    script = "from core.data.world.nearest import nearest_questions as nearest\n"
    script += "print([each.similarity for each in nearest('Who is the mayor of Springfield?')])"
    starts = [
        subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        for seed in "01"
    ]
    assert starts[0].stdout == starts[1].stdout > "[0.4"


def rows(name):
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def named(fact):
    return f"{fact.relation}: {fact.subject}"


# ------------------------------------------------------------------- strangers' wordings


def test_the_facts_that_strangers_ask_for_are_in_the_world():
    wanted = {row["fact"] for row in rows("foreign_wordings")} - {""}
    assert len(wanted) > 100 and wanted <= set(map(named, FACTS))


def test_most_of_strangers_wordings_find_their_fact_and_few_offer_another():
    asked = [row for row in rows("foreign_wordings") if row["fact"]]
    found = [nearest(row["question"]) for row in asked]
    right = [
        one is not None and named(one.fact) == row["fact"]
        for one, row in zip(found, asked, strict=True)
    ]
    near = [one is not None and one.near for one in found]
    assert np.mean(right) >= RIGHT
    assert np.mean(np.logical_and(right, near)) >= RIGHT_AND_NEAR
    assert np.sum(np.greater(near, right)) <= 0.03 * len(asked)


def test_what_asks_for_nothing_of_the_world_is_near_none_of_its_questions():
    asked = [row["question"] for row in rows("outside")]
    assert len(asked) == 120 and not any(map(grading.find, asked))
    assert np.mean([bool(found and found.near) for found in map(nearest, asked)]) <= 0.05


def test_what_visitors_ask_outside_the_world_is_near_none_of_its_questions():
    """The threshold was chosen on other questions, but settled after a look at these."""
    asked = [row["question"] for row in rows("visitors") if row["kind"] == "outside"]
    near = [question for question in asked if (found := nearest(question)) and found.near]
    assert len(near) <= 0.02 * len(asked), near


# ---------------------------------------------------------------------- what is measured


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("waht is the captial of Frnace", "What is the capital of France?"),
        ("Who's the author of Prid and Prejudise", "Who is the author of Pride and Prejudice?"),
        ("Nigerias capital", "What is the capital of Nigeria?"),
        ("who inventd dinamite", "Who invented dynamite?"),
    ],
)
def test_a_misspelt_question_is_near(asked, meant):
    assert grading.find(asked) is None and grading.find(meant) is not None
    found = nearest(asked)
    assert found.near and found.fact is grading.find(meant)


@pytest.mark.parametrize(
    ("asked", "relation"),
    [
        ("Which money does one pay with over in India?", "currency"),
        ("Which continent would you look on for India?", "continent"),
        ("The main capital city over in India, please?", "capital"),
    ],
)
def test_the_relation_decides_between_facts_of_one_subject(asked, relation):
    fact = nearest(asked).fact
    assert (fact.relation, fact.subject) == (relation, "India")


def test_another_kind_of_answer_counts_against_a_question():
    """Who painted it is taught; when and why are not."""
    who, when, why = (
        nearest(f"{word} was it that painted Guernica?") for word in ("who", "when", "why")
    )
    assert who.near and who.similarity > max(when.similarity, why.similarity)
    assert not when.near and not why.near


def test_yes_or_no_is_no_answer_of_the_world():
    assert not nearest("Do you love me?").near and not nearest("Do you dream?").near


@pytest.mark.parametrize(
    ("asked", "lacks"),
    [
        ("first king of the usa", "king"),
        ("Who was the second president of the USA?", "second"),
        ("Who is the Roman god of war?", "roman"),
        ("What's the largest city in Turkey?", "largest"),
        ("What is Europe's longest river?", "europes"),
        ("Name the longest river in South America", "longest"),
        ("a month with 30 days", "30"),
        ("Who painted the ceiling of the Sistine Chapel in 2015?", "2015"),
        ("Who really invented the telephone?", "really"),
        ("Who never painted the Mona Lisa?", "never"),
        ("Who invented no telephone?", "no"),
        ("What is 2 - 2?", "-"),
        ("boiling point of water in fahrenheit", "fahrenheit"),
        ("what band was freddie mercury in", "band"),
        ("Who is Harry Potter's godfather?", "godfather"),
        ("what state is the grand canyon in", "state"),
        ("Who made the music of Jaws?", "music"),
        ("One state of the USA?", "one"),
        ("say the name of any character in harry potter", "any"),
    ],
)
def test_a_question_that_lacks_what_decides_is_offered_and_not_near(asked, lacks):
    """Strangers asked most of these: by similarity alone the wrong question was near."""
    found = nearest(asked)
    assert found.missing == (lacks,) and not found.near
    assert found.similarity >= NEAR and found.is_plausible


@pytest.mark.parametrize(
    "asked",
    [
        "when did ww2 end, in which year",
        "The second world war ended in what year?",
        "a month with 31 days",
        "E=mc2, whose equation is that",
        "Which Dutchman painted the girl wearing a pearl earring",
        "wat is the captial of Mauritania",
        "at what temperature does water boil in celsius",
    ],
)
def test_a_number_in_another_form_and_a_word_beside_the_point_do_not_decide(asked):
    found = nearest(asked)
    assert found.near and not found.missing


@pytest.mark.parametrize(
    ("asked", "lacks"),
    [
        ("president of italy", "first"),
        ("who walked on the moon", "first"),
        ("when did the war end", "first"),
        ("fastest animal", "world"),
        ("How many days are there in a year?", "leap"),
        ("What is the largest in the solar system?", "planet"),
        ("What is the only prime number?", "even"),
        ("Who was the first to win a Nobel Prize?", "woman"),
        ("Name a German.", "state"),
        ("Name a board game published 1990.", "after"),
        ("What day of the week is it?", "it"),
        ("I have a hobby.", "i"),
        ("What can a mammal do?", "do"),
        ("Name the mammal.", "the"),
        ("Name the continents.", "continents"),
        ("Who knows the author of Hamlet?", "knows"),
        ("Who can paint the Mona Lisa?", "can"),
        ("Who is painting the Mona Lisa?", "painting"),
        ("Who are the first presidents of the United States?", "presidents"),
        ("What is the then capital of the UK?", "then"),
        ("Which people speak in France?", "language"),
        ("Who painted the Mona Lisa again?", "again"),
    ],
)
def test_a_question_that_lacks_a_word_or_has_one_more_is_not_asked_as_the_taught_one(asked, lacks):
    """A word left out was no difference: a year had 366 days, and it was always Friday."""
    found = nearest(asked)
    assert found.similarity >= MEANT and lacks in found.unexplained and not found.is_meant


@pytest.mark.parametrize(
    "asked",
    [
        *("when did world war one end", "who was the frist man on teh moon"),
        *("whats the capitol of spain please", "what yr did the berlin wall come down"),
        *(
            "largest animal in the world",
            "Could you tell me what the longest river in the world is?",
        ),
        *("how many days in a leap year", "name any city in the UK please", "Name one mammal."),
        *("the Italian capital", "name the greek god of the sea please"),
        *("hi there what's the capital of Finland? thanks", "tallest mountain on earth"),
        *("what's the longest river in the world called", "who was it that wrote Hamlet"),
        *("an example of a metal", "what is an example of a noble gas", "where is Machu Picchu"),
        *("name an African country", "any European country", "what Italian cities do you know"),
        *("who are some us presidents", "What are some breeds of dog?", "i need a reptile"),
        "I need an example of a reptile for my homework",
    ],
)
def test_slips_requests_and_words_that_may_be_left_out_leave_no_doubt_of_what_is_meant(asked):
    assert nearest(asked).is_meant


@pytest.mark.parametrize(
    "asked",
    [
        *("name a European country in Africa", "name an African city", "a former African country"),
        *(
            "name an East African country",
            "name a German speaking city",
            "Name the African country",
        ),
        *("what is not an example of a mammal", "the best example of a metal", "good day"),
        *("an example of a fruit salad", "what is an example of young hare", "OK Computer, who"),
        *("where is the Eiffel Tower restaurant", "Name the city where Machu Picchu is."),
        *("tallest mountain on the moon", "biggest land animal on earth", "tallest man on earth"),
        *("what is the fastest land animal called in French", "who was it that played Hamlet"),
        "What is hummus made for?",
    ],
)
def test_what_may_be_said_otherwise_may_not_be_said_of_something_else(asked):
    found = nearest(asked)
    assert found is None or not found.is_meant


def test_rewordings_are_asked_as_what_they_mean():
    """Four in five are, none as another; and nearly all of the others offer it."""
    asked = rows("rewordings")
    found = [nearest(row["question"]) for row in asked]
    meant = [one is not None and one.is_meant for one in found]
    right = [
        one is not None and named(one.fact) == row["fact"]
        for one, row in zip(found, asked, strict=True)
    ]
    assert np.mean(meant) >= 0.8 and np.mean(right) >= 0.95
    assert all(np.logical_or(right, np.logical_not(meant)))


def test_few_questions_that_were_written_to_mislead_are_asked_as_others():
    """The rules were settled after a look at these."""
    asked = [row["question"] for row in rows("misleading") if not grading.find(row["question"])]
    assert len(asked) > 600
    assert np.mean([bool(one and one.is_meant) for one in map(nearest, asked)]) <= 0.02


@pytest.mark.slow
def test_few_questions_for_something_else_about_a_taught_name_are_asked_as_taught_ones():
    """What was left out decided: most were asked as others, and believed."""
    asked = [question for question, _ in other_questions(names=2)]
    assert len(asked) > 700
    assert np.mean([bool(one and one.is_meant) for one in map(nearest, asked)]) <= 0.02


def test_one_name_of_two_things_is_offered_as_both():
    asked = "What is the capital of Georgia?"
    assert not nearest(asked).is_meant and nearest("What is the capital of Texas?").is_meant
    answers = {one.fact.answers[0].text for one in nearest_questions(asked) if one.is_plausible}
    assert {"Atlanta", "Tbilisi"} <= answers


@pytest.mark.parametrize(
    ("asked", "differs"),
    [
        ("who wrote the foreword of War and Peace", "foreword"),
        ("who painted the mona lisa's frame", "frame"),
        ("How many legs does a spider crab have?", "crab"),
        ("Who wrote the music for Romeo and Juliet?", "music"),
        ("What is the unofficial language of Turkey?", "unofficial"),
        ("Name a nonrenewable source of energy.", "nonrenewable"),
        ("What is the cryptocurrency of Japan?", "cryptocurrency"),
        ("In which county is Stonehenge?", "county"),
        ("On which country is Uruguay?", "country"),
        ("In which city was Albert Einstein born?", "city"),
        ("what state is the grand canyon in", "state"),
        ("What is the chemical name of titanium?", "name"),
        ("What does NDA stand for?", "nda"),
        ("What is France the capital of?", "of"),
        ("Who did Titanic direct?", "direct"),
        ("Who wrote the author of Hamlet?", "wrote"),
        ("What are some animals that lay big eggs?", "big"),
        ("Who wrote The Hamlet?", "The Hamlet"),  # a novel by Faulkner
        ("Who has the telephone?", "invented"),
        ("What was the currency of Germany?", "was"),
        ("What is two plus two plus two?", "plus"),
        ("In which year was the fall of Berlin?", "wall"),
        ("Name an animal with a backbone.", "without"),
        ("What is the boiling point of -water?", "-"),
        ("what is the largest country name in the world", "name"),
        ("Who played Carmen?", "played"),
        ("Who is in the painting Sunflowers?", "in"),
        ("Which city calls France its capital?", "calls"),
        ("In which city is France?", "in"),
    ],
)
def test_a_question_that_says_one_thing_otherwise_is_only_offered(asked, differs):
    found = nearest(asked)
    assert found.similarity >= MEANT and differs in found.unexplained and not found.is_meant


def test_offers_are_of_different_facts_and_begin_with_the_nearest():
    offers = nearest_questions("fastest animal")
    assert len(offers) == OFFERS == len({id(one.fact) for one in offers})
    assert offers[0] == nearest("fastest animal")
    assert "What is the fastest land animal?" in {one.fact.question for one in offers}


@pytest.mark.parametrize("asked", ["", "   ", "?!", "日本の首都はどこですか", "zzqx vvkj", "🙂"])
def test_nothing_in_common_finds_nothing(asked):
    assert nearest(asked) is None


# ------------------------------------------------------------------------- what is offered


def test_a_question_of_the_world_is_nearest_to_itself():
    """All but a few of the 80,000 wordings are: “Think of a fish” is near “a group of fish”."""
    every = [(fact, one) for fact in FACTS for one in (*fact.templates, *fact.held_out)]
    other = []
    for fact, wording in random.Random(0).sample(every, 600):
        found = nearest(fact.ask(wording))
        same = found.fact is fact or bool(names_of(found.fact) & names_of(fact))
        exact = found.similarity == pytest.approx(1)
        if not (exact or (found.near and same)):
            other.append(fact.ask(wording))
    assert len(other) <= 3, other


def names_of(fact):
    return {name for answer in fact.answers for name in answer.names}


@settings(max_examples=100)
@given(st.text() | st.lists(st.sampled_from([w for f in FACTS for w in f.question.split()])))
def test_whatever_is_asked_the_question_that_is_offered_is_recognised(asked):
    found = nearest(asked if isinstance(asked, str) else " ".join(asked))
    if found is None:
        return
    assert 0 < found.similarity <= 1 and found.near == (
        found.similarity >= NEAR and not found.missing
    )
    assert grading.find(found.question) is not None
    assert found.question in {
        found.fact.ask(template, name)
        for template in found.fact.templates
        for name in range(len(found.fact.fillings(template)))
    }


def test_what_is_offered_asks_for_the_fact_that_was_found():
    """But for names that two facts share, such as a film and its remake."""
    found = [nearest(row["question"]) for row in (*rows("foreign_wordings"), *rows("outside"))]
    other = Counter(grading.find(one.question) is one.fact for one in found if one)
    assert other[False] <= 0.01 * other.total()


def test_a_long_question_is_read_to_its_sixtieth_word():
    told = " ".join(f"blah{n}" for n in range(MOST_WORDS))
    assert nearest(f"{told} Who painted Guernica?") is None
    assert nearest(f"Who painted Guernica? {told}").question == "Who painted Guernica?"


OTHERS = (
    *("What is the chemical symbol for gold?", "What is the square root of 144?"),
    *("Who won the 2018 FIFA World Cup?", "What is the capital of Zorvania?"),
    *("what is tofu made from", "how many zeros are in a million"),
)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("chemical symbol of gold", OTHERS[0]),
        ("chemical symbol for silver", None),
        ("square root of 169", None),
        ("who won the 2018 fifa world cup please", OTHERS[2]),
        ("who won the world cup 2018", None),
        ("who won the 2022 world cup", None),
        ("capital of zorvania", OTHERS[3]),
        ("What is the square root of -144?", None),
        ("What is the square root of –144?", None),
        ("What is the square root of ⁻144?", None),
        ("What is the square root of ∛144?", None),
        ("how many zeros are in a milion", OTHERS[5]),
        ("how many zeros are in a billion", None),
        ("what is tofu made from in tofu", None),
        ("capital of france", None),
        ("what is the largest city of zorvania", None),
        ("what is tofu", None),
        ("", None),
    ],
)
def test_a_question_of_no_table_is_meant_by_the_same_rules(asked, meant):
    assert meant_among(asked, OTHERS) == meant
