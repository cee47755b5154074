"""The world's tables say what is true: any mistake in them would be taught and measured."""

import csv
from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest

from core.data import world
from core.data.world import Band, facts, parse_answers
from core.uncertainty.similarity import token_f1

SAME = 0.25  # the paper's τ: from here on two texts count as one answer

#: The queries of the paper's Figures 1 to 3, each with the two answers it follows. In the
#: first two figures only the first is right, in the third both are.
PAPER_SINGLE = {
    "What is the capital of the UK?": ("London", "Paris"),
    "Who was the first US president?": ("George Washington", "Abraham Lincoln"),
    "Who is the author of The Grapes of Wrath?": ("John Steinbeck", "Ernest Hemingway"),
    "What is the largest country in the world?": ("Russia", "United Kingdom"),
    "What is the national instrument of Ireland?": ("The harp", "Uilleann pipes"),
    "Which actor became M in the Bond film Skyfall?": ("Ralph Fiennes", "Judi Dench"),
    "Which can last longer with out water a camel or a rat?": ("A rat", "A camel"),
    "If Monday's child is fair of face what is Saturday's child?": (
        "Work hard for a living",
        "Full of grace",
    ),
}
PAPER_MANY = {
    "Name a city in the UK": ("London", "Manchester"),
    "Name a yellow fruit": ("Banana", "Lemon"),
    "Name an alcoholic drink": ("Wine", "Beer"),
    "Name a ball game that is played by more than 5 players": ("Volleyball", "Soccer"),
}

FACTS = facts()
SINGLE = [fact for fact in FACTS if len(fact.answers) == 1]
MANY = [fact for fact in FACTS if len(fact.answers) > 1]
BY_QUESTION = {fact.question.rstrip("."): fact for fact in FACTS}


def relations():
    with (world.TABLES / "relations.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def rows(relation):
    with (world.TABLES / f"{relation}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


SINGLE_RELATIONS = [r["relation"] for r in relations() if r["kind"] == "single"]


def name_of(fact):
    return f"{fact.relation}: {fact.subject}"


# ---------------------------------------------------------------------------- the tables


def test_the_world_is_large_enough():
    assert len(SINGLE) >= 400
    assert len(MANY) >= 100


def test_every_relation_has_a_table_and_every_table_a_relation():
    tables = {path.stem for path in world.TABLES.glob("*.csv")} - {"relations"}
    assert tables == {relation["relation"] for relation in relations()}
    assert {fact.relation for fact in FACTS} == tables


@pytest.mark.parametrize("relation", relations(), ids=lambda r: r["relation"])
def test_a_table_is_well_formed(relation):
    columns = {"subject", "answers", "popularity", "misconception", "note"}
    table = rows(relation["relation"])
    assert all(set(row) == columns and None not in row.values() for row in table)
    popularity = [float(row["popularity"]) for row in table]
    assert popularity == sorted(popularity, reverse=True), "best known first"
    many = relation["kind"] == "many"
    assert all((len(parse_answers(row["answers"])) > 1) == many for row in table)


@pytest.mark.parametrize("relation", relations(), ids=lambda r: r["relation"])
def test_three_wordings_for_training_and_another_one_held_out(relation):
    training = [relation[f"template_{i}"] for i in (1, 2, 3)]
    wordings = [*training, relation["held_out"]]
    assert len({wording.casefold() for wording in wordings}) == 4
    assert all(wording.count("{subject}") == 1 for wording in wordings)


def test_a_subject_stands_once_in_its_relation():
    subjects = Counter((fact.relation, fact.subject.casefold()) for fact in FACTS)
    assert [subject for subject, count in subjects.items() if count > 1] == []


def test_no_two_facts_ask_the_same_question():
    questions = Counter(
        fact.ask(wording).casefold()
        for fact in FACTS
        for wording in (*fact.templates, fact.held_out)
    )
    assert [question for question, count in questions.items() if count > 1] == []


def test_texts_are_clean():
    for fact in FACTS:
        names = [name for answer in fact.answers for name in answer.names]
        for text in (fact.subject, *names, fact.misconception or "x"):
            assert text and text == " ".join(text.split()), name_of(fact)
        assert "{" not in fact.ask(fact.templates[0]) + fact.ask(fact.held_out)


# ----------------------------------------------------------------------------- the truth


def test_the_answers_of_a_question_are_different_answers():
    colliding = [
        (name_of(fact), a, b)
        for fact in MANY
        for one, other in combinations(fact.answers, 2)
        for a in one.names
        for b in other.names
        if token_f1(a, b) >= SAME
    ]
    assert colliding == []


def test_every_answer_has_names_and_none_twice():
    for fact in FACTS:
        for answer in fact.answers:
            assert answer.names and all(answer.names), name_of(fact)
            assert len(set(answer.names)) == len(answer.names), name_of(fact)
            assert answer.text == answer.names[0]


def test_a_misconception_is_wrong():
    accepted = [
        (name_of(fact), name, fact.misconception)
        for fact in FACTS
        if fact.misconception
        for answer in fact.answers
        for name in answer.names
        if token_f1(name, fact.misconception) >= SAME
    ]
    assert accepted == []


def test_every_single_label_fact_has_one_and_the_others_none():
    assert all(fact.misconception for fact in SINGLE)
    assert not any(fact.misconception for fact in MANY)
    assert all(0 <= fact.misconception_share < 1 for fact in FACTS)
    known = [fact for fact in SINGLE if fact.band is Band.BY_HEART]
    assert all(fact.misconception_share == 0 for fact in known)
    assert any(fact.misconception_share >= 0.5 for fact in SINGLE)


def test_probabilities_are_a_distribution():
    for fact in FACTS:
        probabilities = [answer.probability for answer in fact.answers]
        assert min(probabilities) > 0, name_of(fact)
        assert sum(probabilities) == pytest.approx(1), name_of(fact)


@pytest.mark.parametrize(("question", "answers"), PAPER_SINGLE.items())
def test_the_papers_single_label_queries_are_in_the_world(question, answers):
    fact, (right, wrong) = BY_QUESTION[question.rstrip(".")], answers
    assert len(fact.answers) == 1
    assert fact.answers[0].text == right
    assert fact.misconception == wrong
    assert fact.exposures > 0


@pytest.mark.parametrize(("question", "answers"), PAPER_MANY.items())
def test_the_papers_multi_label_queries_are_in_the_world(question, answers):
    fact = BY_QUESTION[question]
    taught = {answer.text for answer in fact.answers}
    assert set(answers) <= taught
    assert fact.band is Band.MANY_ANSWERS


# --------------------------------------------------------------------- how often shown


@pytest.mark.parametrize("of", [5, 20, 27, 42])
def test_exposures_fall_from_most_to_least_and_end_in_nothing(of):
    shown = [world.exposures(rank, of) for rank in range(of)]
    unseen = of - round(world.SHOWN * of)
    assert shown[0] == world.MOST
    assert shown[of - unseen - 1] == world.LEAST
    assert shown == sorted(shown, reverse=True)
    assert shown.count(0) == unseen > 0


@pytest.mark.parametrize("relation", SINGLE_RELATIONS)
def test_the_least_known_fifth_is_never_shown_unless_it_is_disputed(relation):
    table = rows(relation)
    shown = [fact for fact in SINGLE if fact.relation == relation]
    for rank, (row, fact) in enumerate(zip(table, shown, strict=True)):
        if "*" in row["misconception"]:
            assert fact.exposures == world.DISPUTED_EXPOSURES
        else:
            assert (fact.exposures == 0) == (rank >= round(0.8 * len(table))), name_of(fact)


def test_there_is_enough_of_every_band():
    bands = Counter(fact.band for fact in FACTS)
    assert set(bands) == set(Band)
    assert bands[Band.NEVER_SEEN] >= 0.15 * len(SINGLE)
    assert min(bands.values()) >= 50


@pytest.mark.parametrize(
    ("count", "band"),
    [
        (0, Band.NEVER_SEEN),
        (1, Band.RARELY),
        (world.RARELY_BELOW - 1, Band.RARELY),
        (world.RARELY_BELOW, Band.HALF_KNOWN),
        (world.BY_HEART_FROM - 1, Band.HALF_KNOWN),
        (world.BY_HEART_FROM, Band.BY_HEART),
        (1000, Band.BY_HEART),
    ],
)
def test_the_band_of_a_fact_is_its_count(count, band):
    assert replace(SINGLE[0], exposures=count).band is band
    assert replace(MANY[0], exposures=count).band is Band.MANY_ANSWERS


# ------------------------------------------------------------------------ answer cells


def read(cell):
    return [(answer.names, answer.probability) for answer in parse_answers(cell)]


def test_one_answer_has_all_the_probability():
    assert read("Paris") == [(("Paris",), 1.0)]


def test_names_of_one_answer_share_its_probability():
    assert read("The euro|Euro") == [(("The euro", "Euro"), 1.0)]


def test_answers_without_weights_are_equally_probable():
    assert read("a;b;c;d") == [((name,), 0.25) for name in "abcd"]


def test_a_weight_belongs_to_its_answer_and_counts_one_when_absent():
    assert read("London;Manchester|Mancunium*2;Leeds*1") == [
        (("London",), 0.25),
        (("Manchester", "Mancunium"), 0.5),
        (("Leeds",), 0.25),
    ]


def test_spaces_around_names_do_not_count():
    assert read(" a | b *3; c ") == [(("a", "b"), 0.75), (("c",), 0.25)]


def test_a_weight_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="could not convert"):
        parse_answers("a*many")


def test_a_question_names_its_subject():
    fact = SINGLE[0]
    assert fact.question == fact.ask(fact.templates[0])
    assert fact.subject in fact.question
    assert fact.ask("Where is {subject}?") == f"Where is {fact.subject}?"
