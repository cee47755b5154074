"""The truth at run time: a question is recognised however it is typed, and answers are judged."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data.world import grading
from core.data.world.facts import FIELD, facts
from core.uncertainty.accents import without_accents

FACTS = facts()
SINGLE = [fact for fact in FACTS if len(fact.answers) == 1]
MANY = [fact for fact in FACTS if len(fact.answers) > 1]


def asked(fact, wordings):
    """The questions about a fact in some wordings, by each of its names."""
    return [
        (fact, fact.ask(wording, number))
        for wording in wordings
        for number in range(len(fact.fillings(wording)))
    ]


def in_one_wording_of_each_field(fact):
    """By all of its names, that is: what stands around a name does not change it."""
    return asked(fact, {FIELD.search(w)[0]: w for w in (*fact.held_out, *fact.templates)}.values())


def in_every_wording(fact):
    return asked(fact, (*fact.templates, *fact.held_out))


# Every name of every fact, and every wording of every relation, but not each by each.
ONE_A_RELATION = {fact.relation: fact for fact in sorted(FACTS, key=lambda f: len(f.clauses))}
EVERY_QUESTION = [
    *(question for fact in FACTS for question in in_one_wording_of_each_field(fact)),
    *(question for fact in ONE_A_RELATION.values() for question in in_every_wording(fact)),
]
QUESTIONS = st.sampled_from(EVERY_QUESTION)

PUNCTUATION = string.punctuation.replace("+", "")  # in “2 + 2” it is no less than a word
WITHOUT = str.maketrans("", "", PUNCTUATION + "’‘“”…")
TO_SPACES = str.maketrans(dict.fromkeys(PUNCTUATION, " "))

# Where a name may come out otherwise. All else that people type is test_plain.py's.
TYPED = {
    "as it stands": str,
    "in capitals": str.upper,
    "with spaces for punctuation": lambda question: question.translate(TO_SPACES),
    "without punctuation": lambda question: question.translate(WITHOUT),
    "without spaces": lambda question: question.replace(" ", ""),
    "without accents": without_accents,
    "in quotes with a smiley": lambda question: f"“{question}” 🤔",
}


# ----------------------------------------------------------------- recognising a question


@pytest.mark.parametrize("typed", TYPED)
def test_a_question_is_found_in_every_wording_however_it_is_typed(typed):
    assert [q for fact, q in EVERY_QUESTION if grading.find(TYPED[typed](q)) is not fact] == []


@pytest.mark.slow
def test_no_question_is_another_ones():
    """Every fact in every wording by every name: which one is meant is never in doubt."""
    missed = [
        question
        for fact in FACTS
        for _, question in in_every_wording(fact)
        if grading.find(question) is not fact
    ]
    assert missed == []


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("capital of uk", "the UK"),  # without its article
        ("WHATS THE CAPITAL OF THE NETHERLANDS", "the Netherlands"),
        ("which cities in the UK can you name", "a city in the UK"),
        ("When did World War II end?", "the end of the Second World War"),
    ],
)
def test_a_question_is_found_by_the_names_that_people_use(question, subject):
    assert grading.find(question).subject == subject


@pytest.mark.parametrize(
    "question",
    [
        *("What is the capital of Zorvania?", "What is the capital of", "capital France"),
        "What is the capital of France and of Spain?",
        "Tell me what the capital of France is.",
        *("asdf qwer zxcv", "Paris", "?", ""),
        *("What is 22?", "What is 2-2?", "What is 2 – 2?", "What is 2 / 2?", "What is 2: 2?"),
        "What is the Roman numeral for –50?",
    ],
)
def test_a_question_outside_the_world_is_not_found(question):
    assert grading.find(question) is None


@given(st.text())
def test_whatever_is_typed_is_outside_unless_it_is_a_question_of_the_world(text):
    fact = grading.find(text)
    assert fact is None or any(fact is known for known, _ in EVERY_QUESTION)


@given(QUESTIONS, st.sampled_from(["Zorvania", "not", "x"]))
def test_a_word_more_is_another_question(asked, word):
    assert grading.find(f"{asked[1].rstrip('?.')} {word}") is None


# ------------------------------------------------------------------ what else would be right


@pytest.mark.parametrize(
    ("animals", "other"),
    [
        *((animals, "a herd") for animals in ("giraffes", "zebras", "hippos", "rhinos")),
        ("cats", "a glaring"),
        ("foxes", "a leash"),
        ("whales", "a school"),
    ],
)
def test_another_common_name_of_a_group_of_animals_is_right_and_said(animals, other):
    (fact,) = (f for f in FACTS if (f.relation, f.subject) == ("animal_group", animals))
    assert fact.note.startswith("also a ") and other in fact.note
    assert grading.is_right(other, fact)
    assert fact.answers[0].text.casefold() != other


@pytest.mark.parametrize(
    ("subject", "missing"),
    [
        ("a person who has walked on the Moon", "Alan Bean"),
        ("a continent", "North America"),
        ("one of the original Thirteen Colonies", "New Jersey"),
        ("a country that was once part of Yugoslavia", "Kosovo"),
        ("a former Soviet republic", "Estonia"),
    ],
)
def test_a_list_that_seems_closed_says_what_was_not_taught(subject, missing):
    (fact,) = (f for f in MANY if f.subject == subject)
    assert missing in fact.note
    assert missing not in {name for answer in fact.answers for name in answer.names}
    assert not fact.closed


@pytest.mark.parametrize(
    ("subject", "last"),
    [
        ("a leader of the Soviet Union", "Malenkov"),
        ("a halogen", "tennessine"),
        ("a noble gas", "oganesson"),
        ("a planet of the solar system", "Neptune"),
        ("a country in South America", "Suriname"),
    ],
)
def test_a_closed_list_holds_what_is_easily_left_out(subject, last):
    (fact,) = (f for f in MANY if f.subject == subject)
    assert fact.closed
    assert grading.is_right(last, fact)


# -------------------------------------------------------------------- judging an answer


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        (
            "What is the capital of the UK?",
            ["London", "london, uk", "LONDON!"],
            ["Paris", "Londonderry", "", "The"],
        ),
        ("What is the currency of Germany?", ["Euro"], ["The mark"]),  # another name
        (
            "Who wrote Oliver Twist?",
            ["Dickens", "the novelist Charles Dickens of England"],
            ["Thomas Hardy"],
        ),
        ("Name a yellow fruit.", ["A lemon", "Banana"], ["Plum"]),  # any of several
        ("What is the tallest mountain above sea level?", ["Everest"], ["K2"]),
    ],
)
def test_the_verdict_on_an_answer(question, right, wrong):
    fact = grading.find(question)
    assert [answer for answer in right if not grading.is_right(answer, fact)] == []
    assert [answer for answer in wrong if grading.is_right(answer, fact)] == []


def test_by_the_papers_label_one_word_of_many_is_enough_up_to_its_threshold():
    """Token F1 is 2 · 1 / (1 + n) for one right word among n: a quarter at n = 7."""
    fact = grading.find("What is the capital of the UK?")
    assert fact.answers[0].names == ("London",)
    assert grading.matches_by_f1("London b c d e f g", ["London"])
    assert not grading.matches_by_f1("London b c d e f g h", ["London"])
    assert not grading.is_right("London b c d e f g", fact)
    assert grading.is_right("London, UK", fact) and not grading.is_right("The UK", fact)


@pytest.mark.slow
def test_every_name_of_every_answer_is_right():
    refused = [
        (fact.subject, name)
        for fact in FACTS
        for answer in fact.answers
        for name in answer.names
        for said in (name, name.upper(), f"{name}.")
        if not grading.is_right(said, fact)
    ]
    assert refused == [("an athletics event", "100 m")]  # 100 M may be a hundred million


def test_no_misconception_is_right():
    assert [fact.subject for fact in SINGLE if grading.is_right(fact.misconception, fact)] == []
