"""The ways in which people ask: many families of them, and two that training never sees."""

import csv
from collections import defaultdict

import pytest

from core.data.world import facts as world
from core.data.world.facts import FIELD, MANY, facts
from core.data.world.normal_form import normal_form
from training.corpus import FUNCTION_WORDS

#: Words that ask, and say nothing of what is asked.
ASKING = {*FUNCTION_WORDS, "call", "called", "could", "how", "know", "up", "we", "when", "whom"}
#: What the answer is: asked for in every family, those held out included.
KIND = {
    "capital": {"city"},
    "state_capital": {"city"},
    "landmark_city": {"city"},
    "landmark_country": {"country"},
    "city_country": {"city", "country"},
    "birth_country": {"country"},
    "dish_country": {"country"},
    "continent": {"continent"},
    "language": {"language"},
    "sport": {"sport"},
    "event_year": {"year"},
    "greek_deity": {"greek", "greeks"},
    "first_leader": {"president"},
}
#: Families taught, and held out, where they are not six and two: these begin with the question.
FAMILIES = {"trivia": (4, 2)}

with (world.TABLES / "wordings.csv").open(encoding="utf-8", newline="") as _file:
    ROWS = list(csv.DictReader(_file))
with (world.TABLES / "relations.csv").open(encoding="utf-8", newline="") as _file:
    RELATIONS = list(csv.DictReader(_file))
ASKED = [*(r["relation"] for r in RELATIONS if r["kind"] == "single"), MANY]


def wordings(relation, *, held_out):
    """The wordings of each family."""
    families = defaultdict(list)
    for row in ROWS:
        if row["relation"] == relation and bool(row["held_out"]) == held_out:
            families[row["family"]].append(row["wording"])
    return families


def content(wording, relation):
    """The words that say what is asked."""
    words = normal_form(FIELD.sub(" ", f"the {wording}")).split()
    return set(words) - ASKING - KIND.get(relation, set())


def test_every_relation_is_asked_for_and_nothing_else_is():
    assert {row["relation"] for row in ROWS} == set(ASKED)
    assert {row["held_out"] for row in ROWS} == {"", "yes"}
    assert all(row["family"] and row["wording"] == row["wording"].strip() for row in ROWS)


def test_a_wording_has_one_place_for_a_name():
    for wording in (row["wording"] for row in ROWS):
        assert len(FIELD.findall(wording)) == 1, wording
        assert not set("{}") & set(FIELD.sub("", wording)), wording
    assert {row["relation"] for row in ROWS if "{plural}" in row["wording"]} == {MANY}


@pytest.mark.parametrize("relation", ASKED)
def test_no_wording_stands_twice(relation):
    asked = [normal_form(FIELD.sub("x", w["wording"])) for w in ROWS if w["relation"] == relation]
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize("relation", ASKED)
def test_there_are_eight_families_and_two_are_held_out(relation):
    taught, held_out = (wordings(relation, held_out=h) for h in (False, True))
    assert (len(taught), len(held_out)) == FAMILIES.get(relation, (6, 2))
    assert not taught.keys() & held_out.keys()
    if relation not in FAMILIES:
        assert sum(map(len, taught.values())) >= 20
        assert all(len(family) >= 2 for family in held_out.values())


@pytest.mark.parametrize("relation", ASKED)
def test_words_that_ask_in_a_held_out_family_are_never_taught(relation):
    """But for small words and the kind of the answer: "which city" stands in all of them."""
    taught = [w for family in wordings(relation, held_out=False).values() for w in family]
    known = {word for wording in taught for word in content(wording, relation)}
    for family in wordings(relation, held_out=True).values():
        for wording in family:
            new = content(wording, relation)
            assert new, f"nothing new in {wording!r}"
            assert new & known == set(), wording


def test_every_fact_has_the_wordings_of_its_relation():
    for fact in facts():
        relation = fact.relation if len(fact.answers) == 1 else MANY
        for found, held_out in ((fact.templates, False), (fact.held_out, True)):
            every = [w for family in wordings(relation, held_out=held_out).values() for w in family]
            assert list(found) == [w for w in every if fact.clauses or "{clause}" not in w]
            assert found
