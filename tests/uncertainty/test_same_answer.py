"""The rule by which two texts are one answer: pairs with the reason why, and what always holds."""

import csv
import hashlib
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.uncertainty.answer_form import parse
from core.uncertainty.no_answer import is_no_answer
from core.uncertainty.same_answer import contradict, is_right, pairwise_same, same_answer
from core.uncertainty.similarity import ANSWER_RULE, pairwise, token_f1

#: Models that gave these answers equally often, and repeated whatever they were told, had one
#: cluster by token F1 ≥ 0.25: an M.I. of 0 and "Believe it."
CONTRADICTING_SETS = [
    ["2 years", "5 years", "7 years", "9 years"],
    ["5th century", "7th century", "9th century"],
    ["George Washington", "George Bush", "George Adams"],
    ["July 20, 1969", "July 16, 1969"],
    ["C", "C++", "C#"],
    ["-5", "5", "$5"],
    ["Paris", "London", "Rome", "Berlin"],
]

SAME = [
    ("London", "London, UK", "what comes after a comma says more of it"),
    ("London", "London, England, UK", "however much"),
    ("London", "the city of London", "a city is a kind of thing"),
    ("Paris", "The capital of France is Paris.", "after is stands the answer"),
    ("Paris", "Paris is the capital of France", "before it, too"),
    ("Everest", "Mount Everest", "a mount is a kind of thing"),
    ("the Nile", "Nile River", "a river, too"),
    ("Coca-Cola", "The Coca-Cola Company", "a company, too"),
    ("Parkinson's", "Parkinson's disease", "a disease, too"),
    ("Washington", "George Washington", "a family name"),
    ("Washington, George", "George Washington", "a family name in front"),
    ("Napoleon", "Napoleon Bonaparte", "the beginning of a name"),
    ("Leonardo", "Leonardo da Vinci", "before a particle"),
    ("Van Gogh", "Vincent van Gogh", "with its particle"),
    ("John Kennedy", "John F. Kennedy", "an initial is more of a name"),
    ("U.S.A.", "USA", "initials join"),
    ("J. R. R. Tolkien", "JRR Tolkien", "with spaces, too"),
    ("UK", "United Kingdom", "another spelling"),
    ("USA", "United States of America", "another spelling, and more"),
    ("St. Louis", "Saint Louis", "short for saint"),
    ("New York", "New York City", "the one city that its name means"),
    ("e-mail", "email", "written as one word"),
    ("face book", "Facebook", "written as one word"),
    ("O'Brien", "O’Brien", "another apostrophe"),
    ("McDonald's", "McDonalds", "an apostrophe less"),
    ("Cheetahs", "cheetah", "many of one"),
    ("berries", "berry", "many of one"),
    ("1,204", "1204", "a comma between thousands"),
    ("1 204", "1204", "a space"),
    ("1'204", "1204", "an apostrophe"),
    ("3.50", "3.5", "a zero at the end"),
    ("twenty-one", "21", "a word"),
    ("two hundred and five", "205", "words"),
    ("1.2 million", "1,200,000", "a scale"),
    ("half", "half", "itself"),
    ("2½", "2.5", "a fraction as one sign"),
    ("one half", "1/2", "a fraction in words"),
    ("nineteen eighty-four", "1984", "a year in words"),
    ("fifth century", "5th century", "an ordinal"),
    ("World War II", "World War 2", "a Roman numeral"),
    ("Second World War", "world war ii", "and an ordinal in front"),
    ("Henry VIII", "Henry the Eighth", "of a king"),
    ("Chanel No. 5", "Chanel number 5", "no. is number"),
    ("COVID-19", "COVID19", "a hyphen before a number is no minus"),
    ("−5", "minus 5", "a minus sign"),
    ("+5", "5", "a plus says nothing"),
    ("~5", "about 5", "a sign that says nothing"),
    ("#1", "number 1", "a sign that says nothing"),
    ("-5", "negative five", "a minus in words"),
    ("1914–1918", "1914 to 1918", "a range"),
    ("1990s", "1990's", "a decade"),
    ("2 years", "2", "what is counted is said by the question"),
    ("5 km", "5 kilometers", "a unit"),
    ("50%", "50 per cent", "a sign in words"),
    ("$5", "5 dollars", "a sign in words"),
    ("more than 50", "over 50", "a comparison in other words"),
    ("> 50", "more than 50", "a comparison as a sign"),
    ("500 BC", "500 B.C.E.", "before Christ"),
    ("about 50", "50", "a filler"),
    ("1969", "July 20, 1969", "the year of a date"),
    ("1876", "It was invented in 1876", "a year after its preposition"),
    ("1945", "the year 1945", "a year and its kind"),
    ("US$5 million", "$5,000,000", "a dollar"),
    ("tomatoes", "tomato", "many of one"),
    ("20 July 1969", "July 20, 1969", "a date in another order"),
    ("the 20th of July 1969", "1969-07-20", "a date in digits"),
    ("July 1969", "July 20, 1969", "a part of a date"),
    ("20.07.1969", "07/20/1969", "only one reading is a date"),
    ("1969年7月20日", "July 20, 1969", "a date in Japanese"),
    ("don't know", "do not know", "a negation in short"),
    ("No", "No, it isn't.", "no, and why"),
    ("Yes", "Yes, it is.", "yes, and why"),
    ("Tom and Jerry", "Jerry & Tom", "a list in any order"),
    ("red, white and blue", "blue, white, red", "commas and and are one"),
    ("AC/DC", "AC DC", "no operation"),
    ("**Paris**", "Paris", "emphasis"),
    ("*Paris*", "Paris", "emphasis"),
    ("x != 1", "x ≠ 1", "a sign in ASCII"),
    ("H₂O", "H2O", "a lowered digit"),
    ("10⁵", "10^5", "a raised digit is a power"),
    ("１２３", "123", "wide digits"),
    ("Pelé", "Pele", "an accent"),
    ("مُحَمَّد", "محمد", "vowel marks"),
    ("東京。", "東京", "a full stop"),
    ("北京", "北京市", "the city of it"),
    ("東京", "東京都", "the prefecture of it"),
    ("シェイクスピア", "ウィリアム・シェイクスピア", "a family name"),
    ("pa\u200bris", "Paris", "a space of no width"),
    ("The The", "the the", "fillers alone"),
    ("Assad", "Bashar al-Assad", "a particle"),
    ("Sartre", "Jean-Paul Sartre", "a family name"),
    ("Webber", "Andrew Lloyd-Webber", "a family name"),
    ("Marie Curie", "Marie Skłodowska-Curie", "more of the name"),
    ("Spider Man", "Spider-Man", "another spelling"),
    ("Bissau", "The capital of Guinea-Bissau is Bissau.", "named beside the other"),
    ("10 a.m.", "10 AM", "half a day, however written"),
    ("7 p.m", "7pm", "half a day, however written"),
    ("$5M", "$5 million", "a scale of money"),
    ("₹5 crore", "₹50,000,000", "a scale of India"),
    ("2bn", "two billion", "a scale"),
    ("60 km/h", "60 km per hour", "a rate"),
    ("5 mg daily", "5 mg a day", "a rate"),
    ("6 in", "6 inches", "a unit"),
    ("6 ft. 2 in.", "6 feet 2 inches", "units"),
    ("born in 1969", "1969", "a preposition before a year"),
    ("W. Virginia", "West Virginia", "a direction"),
    ("the 100 m sprint", "100m sprint", "a length"),
    ("'6 feet'", "6 feet", "quotation marks"),
    ('"Apollo 11"', "Apollo 11", "quotation marks"),
    ("Толстой", "Лев Толстой", "a family name"),
    ("van Gogh", "vincent van gogh", "a family name in small letters"),
    ("Yes", "Yes, because it rains", "yes, and why"),
    ("Paris", "Paris, the capital of France", "what comes after a comma says more of it"),
    ("J.P.M.", "JPM", "initials, no time of day"),
]

DIFFERENT = [
    ("1e-6", "1e6", "the sign of a power of ten"),
    ("5 MW", "5 mW", "mega, milli"),
    ("5 GB", "5 Gb", "bytes, bits"),
    ("Paris", "ikke Paris", "a negation in Danish"),
    ("Paris", "Paris değil", "a negation in Turkish"),
    ("Paris", "Anything but Paris", "everything else"),
    ("Paris", "Lyon rather than Paris", "the other one"),
    ("Paris", "It is unlikely Paris", "perhaps not"),
    ("He won", "He lost", "the opposite"),
    ("quarter past five", "quarter to five", "half an hour"),
    ("Paris", "near Paris", "another place"),
    ("London", "Greater London", "another place"),
    ("guilty", "not guilty", "a negation"),
    ("yes", "no", "a negation"),
    ("should", "shouldn't", "a negation in short"),
    ("schuldig", "nicht schuldig", "a negation in German"),
    ("是", "不是", "a negation in Chinese"),
    ("with sugar", "without sugar", "a negation"),
    ("New York", "New Delhi", "another name"),
    ("York", "New York", "another place"),
    ("Mexico", "New Mexico", "another place"),
    ("Virginia", "West Virginia", "another place"),
    ("Korea", "North Korea", "another place"),
    ("Sudan", "South Sudan", "another place"),
    ("Kansas", "Kansas City", "another place"),
    ("Mexico", "Gulf of Mexico", "a gulf is no kind of country"),
    ("Republic of the Congo", "Democratic Republic of the Congo", "another country"),
    ("London", "London Bridge", "named after it"),
    ("carbon", "carbon dioxide", "made of it"),
    ("France", "Paris, France", "what comes first is the answer"),
    ("president", "vice president", "another office"),
    ("Lincoln", "Lincoln's wife", "another person"),
    ("Guinea", "Guinea-Bissau", "another country"),
    ("Guinea", "Guinea Bissau", "another country"),
    ("Bissau", "Guinea–Bissau", "its capital"),
    ("Guinea", "Republic of Guinea-Bissau in West Africa", "another country"),
    ("Guinea and Mali", "Guinea-Bissau and Mali", "another country"),
    ("Hungary", "Austria-Hungary", "a part"),
    ("Stratford", "Stratford-upon-Avon", "another town"),
    ("Niger", "Nigeria", "another country"),
    ("Dominica", "Dominican Republic", "another country"),
    ("Korea", "South Korea", "which one is not said"),
    ("Prince", "Prince Charles", "a title is no name"),
    ("oil", "oil painting", "made of it"),
    ("Lincoln", "the father of Lincoln", "another person"),
    ("Adam", "Adams", "another family"),
    ("George W. Bush", "George H. W. Bush", "other initials"),
    ("Elizabeth I", "Elizabeth II", "another queen"),
    ("Elizabeth", "Elizabeth II", "which one is not said"),
    ("World War I", "World War II", "another war"),
    ("vitamin A", "vitamin B", "a letter is a name"),
    ("hepatitis", "hepatitis B", "a letter is a name"),
    ("London or Paris", "Paris", "a hedge"),
    ("either London or Paris", "London", "a hedge"),
    ("Paris", "Paris and London", "one more"),
    ("2 cats and 3 dogs", "3 cats and 2 dogs", "other numbers of each"),
    ("Austria beat Hungary", "Hungary beat Austria", "the other won"),
    ("3-1", "1-3", "the other won"),
    ("5", "-5", "a sign"),
    ("$5", "-$5", "a sign"),
    ("x", "-x", "a sign"),
    ("x", "−x", "a sign"),
    ("50%", "50", "a percentage"),
    ("$5", "5%", "another sign"),
    ("10⁵", "105", "a power"),
    ("1990s", "1990", "a decade"),
    ("half a million", "a million", "half of it"),
    ("twenty", "twenty-one", "another number"),
    ("1/2", "1/3", "another fraction"),
    ("Python 3.10", "Python 3.1", "another version"),
    ("5 km", "5 miles", "another unit"),
    ("20 °C", "20 °F", "another unit"),
    ("10:30 am", "10:30 pm", "half a day later"),
    ("more than 50", "50", "a comparison"),
    ("more than 50", "less than 50", "another comparison"),
    ("before 1900", "after 1900", "another time"),
    ("500 BC", "AD 500", "a thousand years later"),
    ("July 16, 1969", "July 20, 1969", "another day"),
    ("1969", "July 20, 1970", "another year"),
    ("5/7/1969", "July 5, 1969", "which is the month is not said"),
    ("A+", "A-", "another mark"),
    ("A+", "A", "another mark"),
    ("Na+", "Na", "an ion"),
    ("x += 1", "x -= 1", "another operator"),
    ("a < b", "a >= b", "another operator"),
    ("x = 1", "x == 1", "another operator"),
    ("i++", "i--", "another operator"),
    ("!x", "x", "not"),
    ("x ⊂ y", "x ⊄ y", "not"),
    ("Java", "JavaScript", "another language"),
    ("football", "American football", "another sport"),
    ("1 11", "11 1", "other numbers in a row"),
    ("京都", "東京都", "not the beginning"),
    ("水", "水星", "one character is too little"),
    ("北京", "北京大学", "its university"),
    ("日本", "日本語", "its language"),
    ("👍", "👎", "another picture"),
    ("?", "!", "another sign"),
    ("", "London", "nothing"),
    ("the", "a", "nothing but fillers, and not alike"),
    ("5", "Paris", "nothing in common"),
    ("10 a.m.", "10 p.m.", "half a day later"),
    ("7 a. m.", "7 p. m.", "half a day later"),
    ("seven A.M.", "seven P.M.", "half a day later"),
    ("6 ft", "6 in", "another unit"),
    ("5 in.", "5 ft.", "another unit"),
    ("6 in long", "6 ft long", "another unit"),
    ("5'", '5"', "another unit"),
    ("5′", "5″", "another unit"),
    ("6'2\"", "6'3\"", "an inch more"),
    ("$5M", "$5", "a million times"),
    ("$5bn", "$5", "a billion times"),
    ("€5 k", "€5", "a thousand times"),
    ("5M people", "5 people", "a million times"),
    ("5m people", "5 people", "a million times"),
    ("5 crore", "5", "ten million times"),
    ("5 lakh", "5 crore", "another scale"),
    ("5 mg/kg", "5 mg", "a rate"),
    ("5 mg/kg", "5 mg/kg/day", "another rate"),
    ("5 mg per kg", "5 mg", "a rate"),
    ("5 mg daily", "5 mg", "a rate"),
    ("5 a week", "5", "a rate"),
    ("(3, 4)", "(4, 3)", "another point"),
    ("(x, y)", "(y, x)", "another tuple"),
    ("51.5, -0.1", "-0.1, 51.5", "another place"),
    ("1, 2, 3", "3, 2, 1", "another order"),
    ("W. Virginia", "Virginia", "another place"),
    ("True", "Partly true", "less of it"),
    ("guilty", "probably guilty", "a doubt"),
    ("Paris", "Maybe Paris", "a doubt"),
    ("Maybe Paris", "Probably Paris", "another doubt"),
    ("Yes", "Yes, provided that it rains", "a condition"),
    ("Yes", "Yes, unless pregnant", "an exception"),
    ("No", "No, except on Sundays", "an exception"),
    ("No", "No, only if it rains", "a condition"),
    ("legal", "legal only in Nevada", "a restriction"),
    ("Paris", "Paris; Lyon", "one more"),
    ("Mars", "Mars, Venus, Earth, Saturn, Jupiter, Uranus, Neptune, Mercury", "all of them"),
    ("aman", "tidak aman", "a negation in Malay"),
    ("Bezpečné", "Není bezpečné", "a negation in Czech"),
    ("sigur", "nu este sigur", "a negation in Romanian"),
    ("sigurno", "nije sigurno", "a negation in Croatian"),
    ("segura", "ez segura", "a negation in Basque"),
    ("sábháilte", "níl sábháilte", "a negation in Irish"),
    ("নিরাপদ", "নিরাপদ নয়", "a negation in Bengali"),
    ("ایمن", "ایمن نیست", "a negation in Persian"),
    ("பாதுகாப்பானது", "பாதுகாப்பானது அல்ல", "a negation in Tamil"),
    ("안전", "안전 아님", "a negation in Korean"),
    ("უსაფრთხო", "არ არის უსაფრთხო", "a negation that no list here has"),
    ("Аман", "Аман емес", "a negation that no list here has"),
    ("N. Korea", "S. Korea", "another country"),
]


@pytest.mark.parametrize("texts", CONTRADICTING_SETS)
def test_contradicting_answers_are_not_one(texts):
    np.testing.assert_array_equal(pairwise_same(texts), np.eye(len(texts)))


@pytest.mark.parametrize(("a", "b", "why"), SAME)
def test_are_the_same(a, b, why):
    assert same_answer(a, b), (why, parse(a), parse(b))
    assert same_answer(b, a), (why, parse(a), parse(b))


@pytest.mark.parametrize(("a", "b", "why"), DIFFERENT)
def test_are_not_the_same(a, b, why):
    assert not same_answer(a, b), (why, parse(a), parse(b))
    assert not same_answer(b, a), (why, parse(a), parse(b))


def test_hostile_pairs_are_parted_and_harmless_ones_are_not():
    path = Path(__file__).parent / "data" / "answer_pairs.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = [
            (each["one"], each["other"], each["same"] == "yes") for each in csv.DictReader(file)
        ]
    assert [row for row in rows if same_answer(row[0], row[1]) is not row[2]] == []


def test_what_the_rule_decides_has_a_number_of_its_own():
    """So that no policy certified by one rule decides by another."""
    path = Path(__file__).parent / "data" / "answer_pairs.csv"
    with path.open(encoding="utf-8", newline="") as file:
        texts = sorted(
            {text for row in csv.DictReader(file) for text in (row["one"], row["other"])}
        )
    alike = np.packbits(pairwise_same(texts) > 0)
    none = np.packbits([is_no_answer(text) for text in texts])
    digest = hashlib.sha256(alike.tobytes() + none.tobytes()).hexdigest()[:12]
    assert (ANSWER_RULE, digest) == (2, "f55a6cd8201f"), (
        "raise ANSWER_RULE and certify anew, unless only the file of pairs grew"
    )


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        *((a, b, True) for a, b in [("2 years", "5 years"), ("2 years ago", "5 years")]),
        *((a, b, True) for a, b in [("5", "7"), ("-5", "$5"), ("C", "C++"), ("x += 1", "x -= 1")]),
        *((a, b, True) for a, b in [("yes", "no"), ("Yes, it is", "No, it is not")]),
        *((a, b, True) for a, b in [("guilty", "not guilty"), ("North Korea", "South Korea")]),
        *((a, b, True) for a, b in [("July 20, 1969", "July 16, 1969"), ("1969", "1970")]),
        *((a, b, False) for a, b in [("2 years", "Paris"), ("5", "Paris"), ("Oslo", "Rome")]),
        *((a, b, False) for a, b in [("London", "London, UK"), ("1969", "July 20, 1969")]),
        *((a, b, False) for a, b in [("George Washington", "George Bush"), ("", "")]),
    ],
)
def test_what_alone_keeps_two_answers_apart_contradicts(a, b, expected):
    assert contradict(a, b) is expected
    assert contradict(b, a) is expected


@pytest.mark.parametrize(
    ("answer", "names", "question", "expected"),
    [
        ("Rabbit", ["Angora rabbit", "cottontail rabbit"], "Name a type of rabbit.", False),
        ("Angora", ["Angora rabbit"], "Name a type of rabbit.", True),
        ("cottontail", ["cottontail rabbit"], "Name a type of rabbits.", True),
        ("Rabbits", ["Angora rabbit"], "Name a type of rabbit.", False),
        ("France", ["France"], "Is Paris in France or Germany?", True),
        ("Germany", ["France"], "Is Paris in France or Germany?", False),
        ("2 years", ["5 years"], "For how many years?", False),
        ("5", ["5 years"], "For how many years?", True),
        ("Al Pacino", ["Jimi Hendrix", "Al Hendrix"], "Who played the guitar?", False),
        ("Parkinson's disease", ["motor neuron disease"], "Which disease had he?", False),
        ("1969", ["July 20, 1969"], "When did they land?", True),
        ("1969", ["July 20, 1969"], "On which day of 1969 did they land?", False),
        ("July 1969", ["July 20, 1969"], "On which day of July 1969 did they land?", False),
        ("20 July", ["July 20, 1969"], "On which day of July 1969 did they land?", True),
        ("London", ["Paris", "London, UK"], "", True),
        ("London", [], "", False),
        ("", ["London"], "Where?", False),
        ("Mars, Venus", ["Mars"], "Which planet is red?", False),
        ("Mars, a red planet", ["Mars"], "Which planet is red?", True),
        ("London, England, UK", ["London"], "Where?", True),
        ("France, Germany", ["France"], "Where?", False),
        ("Washington, D.C.", ["Washington"], "Where?", True),
        ("Kiss Me, Kate", ["Kiss Me Kate"], "Which play?", True),
        ("red, white and blue", ["blue, white, red"], "Which colours?", True),
        ("Maltese is the only language.", ["Maltese"], "Which is the only language?", True),
        ("Only Maltese", ["Maltese"], "Which language?", False),
        *((f"Mars{mark}Venus", ["Mars"], "Which planet is red?", False) for mark in "\n.:-"),
        ("Cain killed Abel", ["Cain"], "Who killed Abel?", True),
        ("Abel killed Cain", ["Cain"], "Who killed Abel?", False),
        ("Abel was killed by Cain", ["Cain"], "Who killed Abel?", True),
        ("Cain was killed by Abel", ["Cain"], "Who killed Abel?", False),
        ("Cain killed Abel", ["Abel"], "Whom did Cain kill?", True),
        ("Abel killed Cain", ["Abel"], "Whom did Cain kill?", False),
        ("Did you mean Paris?", ["Paris"], "What is the capital?", False),
        ("People think it is Paris", ["Paris"], "What is the capital?", False),
        ("bear", ["grizzly bear"], "Name a type of bear.", False),
        ("bear", ["grizzly bear"], "Name a type of animal.", True),
        ("The war ended in 1945", ["1945"], "When did the war end?", True),
        ("The war began in 1945", ["1945"], "When did the war end?", False),
        ("Paris", ["Paris"], "Is Paris or Lyon larger?", True),
        ("Paris, Lyon", ["Paris"], "Is Paris or Lyon larger?", False),
        ("matter", ["dark matter"], "What is there most of?", False),
    ],
)
def test_right_answers_earn_it(answer, names, question, expected):
    assert is_right(answer, names, question) is expected


# ---------------------------------------------------------------------------- what always holds

WORDS = (
    "the a London UK New York not no two 5 -5 1,204 1969 July 20 , . and or ( + += < % $ 5th II J. "
    "R. isn't 北京 市 é Ⅷ ½ ⁵ ≠ million hundred 's ' * ** - – a/b more than of is yes"
)
PIECES = st.sampled_from(WORDS.split())
TEXTS = st.lists(PIECES, max_size=7).map(" ".join) | st.text(max_size=12)


@given(st.text())
def test_any_text_is_the_same_as_itself(text):
    assert same_answer(text, text)
    assert same_answer(text, f" {text}\n")
    assert not contradict(text, text)


@given(TEXTS, TEXTS)
def test_it_does_not_matter_which_comes_first(a, b):
    assert same_answer(a, b) is same_answer(b, a)
    assert contradict(a, b) is contradict(b, a)
    assert not (same_answer(a, b) and contradict(a, b))
    assert is_right(a, [b], a) in (True, False)


@given(TEXTS)
def test_composed_or_decomposed_a_text_has_one_form(text):
    assert parse(unicodedata.normalize("NFD", text)) == parse(unicodedata.normalize("NFC", text))


NAMES = ["London", "Oslo", "river", "Marie", "Curie", "seven", "12", "not", "north", "1969"]
PLAIN = st.lists(st.sampled_from(NAMES), min_size=1, max_size=6).map(" ".join)


@given(PLAIN)
def test_letter_case_spaces_and_marks_around_do_not_matter(text):
    for other in (text.upper(), text.lower(), text.replace(" ", "  "), f"{text}.", f"“{text}”"):
        assert same_answer(text, other)
    assert same_answer(text, f"**{text}**!")
    assert same_answer(text, f"*{text}!*")


@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_the_matrix_is_the_rule_and_says_how_many_words_are_shared(texts):
    matrix = pairwise_same(texts)
    expected = [[same_answer(a, b) for b in texts] for a in texts]
    np.testing.assert_array_equal(matrix >= 0.5, expected)
    np.testing.assert_array_equal(matrix > 0, expected)
    np.testing.assert_array_equal(matrix, matrix.T)
    assert (np.diag(matrix) == 1).all()
    assert matrix.max() <= 1


def test_a_larger_threshold_is_stricter_by_words():
    matrix = pairwise(["London", "London, UK", "Oslo", "London"], "same_answer")
    expected = (1 + token_f1("london", "london united kingdom")) / 2
    np.testing.assert_array_equal(
        matrix, [[1, expected, 0, 1], [expected, 1, 0, expected], [0, 0, 1, 0], [1, expected, 0, 1]]
    )


@pytest.mark.parametrize(
    "text",
    [
        *("1" + " million" * 2_000, "one" + " hundred million" * 2_000, "9" * 9_000, "1/0", "0/0"),
        *("½" * 99, "\0date", "July \0date", "- - -", "a," * 3_000, "1,234" * 2_000, "''''", "'s"),
        *("twenty " * 2_000, " 1/2" * 2_000, "U." * 4_000, " may 1" * 1_000, "\ud800", "x" * 9_000),
    ],
)
def test_no_text_is_too_odd(text):
    assert same_answer(text, text + " ")
    assert not same_answer(text, "Oslo")


@pytest.mark.parametrize("piece", ["a, ", "and b ", "1,234 ", "U.", "*", "x's ", "(", "ten ", "北"])
def test_work_grows_with_the_length_of_a_text_and_no_faster(piece):
    """Counted in calls, for time depends on the machine."""

    def calls(repeats):
        count = 0

        def counting(frame, event, argument):
            nonlocal count
            count += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(counting)
        try:
            parse(piece * repeats)
        finally:
            sys.setprofile(before)
        return count

    calls(10)
    assert calls(800) < 5 * calls(200)
