"""Texts that differ in what counts the trials of a question, and texts that are questions."""

import json

import pytest

from core.data.tabular.repeated_questions import why_open
from core.data.tabular.suggestions import suggest
from core.data.tabular.uploads import parse

NOUNS = ("crew", "river", "planet", "violin", "harbour", "senator")


def table(*questions):
    rows = [{"question": each, "confidence": 0.5, "correct": 1} for each in questions]
    return parse(json.dumps(rows).encode(), "scores.json")


@pytest.mark.parametrize(
    "form",
    [
        *("{} (run_{})", "{} – {}", "{}_{}", "{} {}/4", "{} v{}", "{} take {}", "{} @{}"),
        *("{} (t=0.{})", "{} ({}回目)", "{} [gpt-{}]", "{} (2024-01-0{})", "{} | run {}"),
    ],
)
def test_texts_that_only_a_counter_parts_are_asked_about(form):
    upload = table(*[form.format(f"Which {noun}?", trial) for noun in NOUNS for trial in (1, 2, 3)])
    assert suggest(upload).query is None
    assert "are 6 different ones, each several times" in why_open(upload, "question")


@pytest.mark.parametrize("form", ["{1}: {0}", "({1}/4) {0}", "{1} {0}"])
def test_so_are_letters_and_signs_before_them(form):
    rows = [form.format(f"Which {noun}?", sign) for noun in NOUNS for sign in "A🙂"]
    assert why_open(table(*rows), "question")


@pytest.mark.parametrize(
    "fronts",
    [
        ("{}", "Answer briefly: {}"),
        ("Answer briefly: {}", "You are an expert. Do not guess. {}", "In one word, {}"),
        ("Question: {} Answer:", "You know rivers.\nQ: {}\nA:"),
        ("简短回答：{}", "你是专家。{}"),
    ],
)
def test_so_are_prompts_in_front_of_one_question(fronts):
    questions = [f"Which {noun} did Dr. Lee see?" for noun in NOUNS]
    upload = table(*(front.format(q) for q in questions for front in fronts))
    assert suggest(upload).query is None
    assert "several prompts in front of one question" in why_open(upload, "question")


def test_so_are_prompts_behind_one_question():
    behind = ("Speak like a pirate.", "Mind the units!", "Use the metric system")
    upload = table(*(f"Which {noun} did Dr. Lee see? {say}" for noun in NOUNS for say in behind))
    assert suggest(upload).query is None
    assert "several prompts behind one question" in why_open(upload, "question")


def test_a_place_or_a_text_in_front_of_the_same_few_questions_asks_for_nothing():
    ends = ("which person leads it?", "how large is it now?", "when was it named?", "is it open?")
    places = (*NOUNS, "museum", "choir", "parish", "glacier", "ferry", "tower")
    rows = [f"Of a {place}, {end}" for place in places for end in ends]
    facts = [f"What is the {what} of {place}?" for place in places for what in ("depth", "size")]
    assert not why_open(table(*rows), "question")
    assert not why_open(table(*facts), "question")


LAKES = [f"{noun} of lake {name}" for noun in NOUNS for name in ("Bai", "Como", "Inari", "Van")]


@pytest.mark.parametrize("form", ["ok who saw the {}", "Who saw the {}, be brief"])
def test_texts_that_begin_or_end_with_others_are_asked_about(form):
    plain = [f"Who saw the {lake}?" for lake in LAKES]
    alone = [f"Which whale is {noun}{number}x?" for noun in NOUNS for number in range(9)]
    forms = [form.format(lake) for lake in LAKES]
    assert "begin or end with other ones" in why_open(table(*alone, *plain, *forms), "question")
    assert not why_open(table(*plain, *alone, *forms[:4]), "question")


@pytest.mark.parametrize(
    "forms",
    [
        ("Tell me who saw the {}", "Do you know who saw the {}", "Who saw the {} in one go"),
        ("### Ask: who saw the {}? ### Say", "I wonder who saw the {}"),
        ("请简短回答谁写了{}", "你知道谁写了{}吗"),
    ],
)
def test_so_are_texts_that_are_left_without_the_commonest_beginnings_and_ends(forms):
    upload = table(*(form.format(lake) for lake in LAKES for form in forms))
    assert suggest(upload).query is None
    assert "commonest beginnings and ends" in why_open(upload, "question")


def test_questions_of_which_numbers_are_the_matter_ask_for_nothing():
    sums = [f"What is {a} {sign} {b}?" for a in range(9) for sign in "+-" for b in range(9)]
    years = [f"Who won the {cup} of {year}?" for cup in ("Cup", "Bowl") for year in (1990, 1994)]
    plain = [f"Which {noun} is largest?" for noun in NOUNS]
    for rows in (sums, years, plain, [*plain, *plain], [f"q{i}" for i in range(20)], years + plain):
        assert not why_open(table(*rows), "question")
        assert suggest(table(*rows)).query == "question"
