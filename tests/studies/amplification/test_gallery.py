"""Cases: the paper's twelve to the letter, pairs proposed from samples, and the world's by band."""

import re

import numpy as np
import pytest

from core.data.world import facts, grading
from core.data.world.facts import Band
from core.studies.amplification.curve import Case
from core.studies.amplification.gallery import (
    EXAMPLES,
    PAPER,
    by_band,
    draw,
    of_fact,
    propose,
    rival,
)
from core.studies.inspection.inspection import run
from core.studies.inspection.request import InvalidRequestError, Request
from core.studies.inspection.taught_questions import WORLD_OF
from tests.fakes import Steadfast, TableModel, falling

KNOWN = "What is the capital of France?"
MANY = "Name a yellow fruit."
OUTSIDE = "What is the capital of Zorvania?"
FACTS = facts.facts()

# The captions of Figures 1, 2 and 3 in the paper's own source, in its order.
CAPTIONS = [
    r"""
Q: \emph{What is the capital of the UK?} A: \emph{London} ($\approx 1.0$) and \emph{Paris} ($1.29 \times 10^{-10}$).
Q: \emph{Who was the first US president?} A: \emph{George Washington} ($0.999$) and \emph{Abraham Lincoln} ($3.1 \times 10^{-06}$).
Q: \emph{Who is the author of The Grapes of Wrath?} A: \emph{John Steinbeck} ($\approx 1.0$) and \emph{Ernest Hemingway} ($1.34 \times 10^{-10}$).
Q: \emph{What is the largest country in the world?} A: \emph{Russia} ($0.999$) and \emph{United Kingdom} ($9.02 \times 10^{-06}$).
""",  # noqa: E501
    r"""
Q: \emph{What is the national instrument of Ireland?} A: \emph{The harp} ($0.936$) and \emph{Uilleann pipes} ($0.063$).
Q: \emph{Which actor became M in the Bond film Skyfall?} A: \emph{Ralph Fiennes} ($0.651$) and \emph{Judi Dench} ($0.348$).
Q: \emph{Which can last longer with out water a camel or a rat?} A: \emph{A rat} ($0.538$) and \emph{A camel} ($0.461$).
Q: \emph{If Monday's child is fair of face what is Saturday's child?} A: \emph{Work hard for a living} ($0.093$) and \emph{Full of grace} ($0.906$).
""",  # noqa: E501
    r"""
Q: \emph{Name a city in the UK} A: \emph{London} ($0.958$) and \emph{Manchester} ($0.041$).
Q: \emph{Name a yellow fruit} A: \emph{Banana} ($0.715$) and \emph{Lemon} ($0.284$).
Q: \emph{Name an alcoholic drink}, A: \emph{Wine} ($0.685$) and \emph{Beer} ($0.314$).
Q: \emph{Name a ball game that is played by more than 5 players} A: \emph{Volleyball} ($0.542$) and \emph{Soccer} ($0.457$).
""",  # noqa: E501
]
CAPTION = re.compile(
    r"Q: \\emph\{(.+?)\},? A: \\emph\{(.+?)\} \(\$(.+?)\$\) and \\emph\{(.+?)\} \(\$(.+?)\$\)\."
)


def typeset(number):
    """LaTeX as it is printed: 3.1 \\times 10^{-06} is 3.1 × 10⁻⁶."""
    raised = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    number = number.replace(r"\approx", "≈").replace(r"\times", "×")
    return re.sub(r"\^\{(-?\d+)\}", lambda m: str(int(m[1])).translate(raised), number)


class WorldModel(TableModel):
    """Passes for the model that was taught the world."""

    name = WORLD_OF


def seen(answers, first, query=KNOWN, kind=WorldModel, samples=60):
    """An inspection of a model with these answers, which never wavers."""
    model = kind(answers, first, np.tile(first, (len(first), 1)), query=query)
    model.table = Steadfast(model)  # it may be told any answer of the world
    return run(Request(query, samples), model)


# ---------------------------------------------------------------------------- the paper


@pytest.mark.parametrize(("figure", "captions"), [*enumerate(CAPTIONS, start=1)])
def test_the_published_cases_are_spelled_as_in_the_paper(figure, captions):
    assert len(PAPER) == len(CAPTIONS)
    title, published = list(PAPER.items())[figure - 1]
    assert title.endswith(f"(Figure {figure})")
    assert len(published) == 4
    assert [(found.case, found.answer, found.repeated) for found in published] == [
        (Case(query, answer, repeated), typeset(p_answer), typeset(p_repeated))
        for query, answer, p_answer, repeated, p_repeated in CAPTION.findall(captions)
    ]


# ---------------------------------------------------------------------- what one meets first


def test_there_is_one_example_of_each_regime():
    found = {name: grading.find(case.query) for name, case in EXAMPLES.items()}
    assert {name: fact.band for name, fact in found.items()} == {
        "Known": Band.BY_HEART,
        "Half known": Band.HALF_KNOWN,
        "Many answers": Band.MANY_ANSWERS,
    }
    for name, case in EXAMPLES.items():
        # What is half known is got wrong, and told the truth.
        assert grading.is_right(case.answer, found[name]) == (name != "Half known")
        assert grading.is_right(case.repeated, found[name]) == (name != "Known")


# ------------------------------------------------------------------------- from samples


@pytest.mark.parametrize(
    ("query", "said", "proposed"),
    [
        # The model's own answer comes first; where it is wrong, the truth is repeated.
        (KNOWN, ["Paris", "Lyon", "Nice"], ("Paris", "Lyon")),
        (KNOWN, ["Lyon", "Nice", "Paris"], ("Lyon", "Paris")),
        (KNOWN, ["paris, france", "Lyon"], ("paris, france", "Lyon")),
        (KNOWN, ["Paris"], ("Paris", "Lyon")),  # nothing wrong was said: the misconception
        (KNOWN, ["Nice", "Metz"], ("Nice", "Paris")),  # nothing right was said: the truth
        (KNOWN, ["", "Nice"], ("Nice", "Paris")),
        (OUTSIDE, ["", "Nice", "Metz"], ("Nice", "Metz")),  # an empty answer is none
        # Of many right answers two that were said.
        (MANY, ["Lemon", "Plum", "Banana", "Mango"], ("Lemon", "Banana")),
        (MANY, ["Plum", "Banana", "Lemon", "Mango"], ("Banana", "Lemon")),
        (MANY, ["Lemon", "Plum"], ("Lemon", "Banana")),  # one was said: the likeliest other
    ],
)
def test_the_own_answer_is_proposed_beside_the_truth_or_the_likeliest_other(query, said, proposed):
    assert propose(seen(said, falling(len(said)), query)) == proposed


def test_two_names_of_one_answer_are_not_two_answers():
    """“Porridge|Oatmeal” in the table is one breakfast, and “Toast” the next."""
    query = "Name a breakfast food."
    assert grading.find(query).answers[0].names == ("Porridge", "Oatmeal")
    said = ["Oatmeal", "Porridge", "Toast"]
    assert propose(seen(said, falling(3), query)) == ("Oatmeal", "Toast")


def test_of_many_answers_the_table_knows_two_where_none_was_said():
    first, second = grading.find(MANY).answers[:2]
    assert propose(seen(["Plum"], [1.0], MANY)) == (first.text, second.text)


def test_whatever_right_answer_was_said_another_right_one_stands_beside_it():
    many = [fact for fact in FACTS if fact.band is Band.MANY_ANSWERS]
    for fact in many[::90]:
        for answer in fact.answers:
            ours, theirs = propose(seen([answer.text], [1.0], fact.question, samples=1))
            assert ours == answer.text != theirs
            assert grading.is_right(theirs, fact)


@pytest.mark.parametrize(
    ("query", "kind"), [(OUTSIDE, WorldModel), (OUTSIDE, TableModel), (KNOWN, TableModel)]
)
def test_elsewhere_the_two_likeliest_answers_are_proposed(query, kind):
    """Another model was not taught this world, so its truth does not count for it."""
    inspection = seen(["Metz", "Nice", "Paris"], [0.2, 0.5, 0.3], query, kind)
    assert propose(inspection) == ("Nice", "Paris")


def test_one_answer_is_too_few_and_that_is_said():
    with pytest.raises(InvalidRequestError, match="only one answer, “Zor”"):
        propose(seen(["Zor"], [1.0], OUTSIDE))


@pytest.mark.parametrize("query", [KNOWN, MANY])
def test_what_is_proposed_of_the_shipped_model_is_a_case(embedded, query):
    case = Case(query, *propose(run(Request(query), embedded)))
    fact = grading.find(query)
    assert grading.is_right(case.answer, fact)
    assert grading.is_right(case.repeated, fact) == (fact.band is Band.MANY_ANSWERS)


# ----------------------------------------------------------------------- from the world


def test_every_fact_has_a_case_and_its_rival_is_wrong_or_another_of_many():
    for fact in FACTS:
        case = of_fact(fact)
        assert case.query == fact.question
        assert grading.is_right(case.answer, fact)
        if fact.band is Band.MANY_ANSWERS:
            assert rival(fact) == fact.answers[1].text != fact.answers[0].text
        else:
            assert rival(fact) == fact.misconception
            assert not grading.is_right(rival(fact), fact), fact.question


@pytest.mark.parametrize("band", Band)
def test_facts_are_drawn_of_their_band_and_once_each(band):
    found = draw(band, 25, seed=3)
    assert len(found) == len({fact.question for fact in found}) == 25
    assert {fact.band for fact in found} == {band}
    assert draw(band, 25, seed=3) == found
    assert draw(band, 25, seed=4) != found
    assert draw(band, 0) == []
    every = [fact.question for fact in FACTS if fact.band is band]
    assert sorted(fact.question for fact in draw(band, 10_000)) == sorted(every)


def test_cases_are_drawn_of_every_band():
    assert by_band(4, seed=2) == {
        band.value: [of_fact(fact) for fact in draw(band, 4, 2)] for band in Band
    }
