"""What a model is told that is not its own answer: answers, and of its kind."""

import pytest

from core.data.world import facts, grading
from core.data.world.facts import answers_of_its_kind, every_answer, names_of
from core.studies.inspection.certificates import SMOLLM2
from core.studies.inspection.counter_answers import OTHERS, counter_answers, is_whole
from core.studies.inspection.taught_questions import WORLD_OF


@pytest.mark.parametrize(
    ("query", "answer", "texts", "expected"),
    [
        (
            "What is the capital of France?",
            "Paris",
            ["Berlin", "French", "Lisbon"],
            ["Lyon", "Berlin", "Lisbon"],
        ),
        (
            "Who painted the Mona Lisa?",
            "Leonardo da Vinci",
            ["Leonardo2", "Raphael", "Da Vinci", "Frida Kahlo"],
            ["Michelangelo", "Raphael", "Frida Kahlo"],
        ),
        (  # not recognised: what it says beside its own answer elsewhere is of its kind
            "Who wrote the novel Dracula?",
            "Bram Stoker",
            ["Ruth Handler", "dracula", "Oscar Wilde"],
            ["Oscar Wilde", "William Shakespeare", "J. K. Rowling"],
        ),
        (  # names of the one country are no other answer
            "In which country is the city of Las Vegas?",
            "The USA",
            ["America", "United States", "US", "Spain"],
            ["Mexico", "Spain", "Australia"],
        ),
    ],
)
def test_the_embedded_model_is_told_answers_of_the_kind(query, answer, texts, expected):
    assert counter_answers(query, WORLD_OF, answer, texts) == expected


def test_of_every_fact_of_the_world_something_whole_is_known_to_tell():
    for fact in facts.facts():
        answer = fact.answers[0].text
        others = counter_answers(fact.question, WORLD_OF, answer, ["French2", answer])
        assert len(others) <= OTHERS and every_answer() >= {*others}
        assert not {*others} & names_of(answer)
        assert others or fact.relation == "trivia" or len(answers_of_its_kind(fact)) < 3, fact


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Leonardo2", "Leonardo da Vinci"),
        ("Leonardoa", "Leonardo da Vinci"),
        ("Leon", "Leonardo"),
        ("Zagrer", "Zagreb"),
        ("dracula", "Bram Stoker"),
        ("the novel Dracula", "Bram Stoker"),
        ("", "Bram Stoker"),
        ("?!", "Bram Stoker"),
    ],
)
def test_what_is_no_answer_beside_another(text, answer):
    assert not is_whole(text, "Who wrote the novel Dracula?", answer)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Mary Shelley", "Bram Stoker"),
        ("1898", "1897"),
        ("CO2", "H2O"),
        ("He", "Fe"),
        ("Berlin", "Bern"),
    ],
)
def test_what_is_one(text, answer):
    assert is_whole(text, "What is it?", answer)


def test_of_another_model_its_own_whole_texts_are_told_in_their_order():
    texts = ["French", "1789", "Parisian", "London", "Lond", "Rome", "Madrid", "Oslo"]
    query = "What is the capital of France?"
    assert grading.find(query) is not None
    assert counter_answers(query, SMOLLM2, "Paris", texts) == ["French", "London", "Rome"]
