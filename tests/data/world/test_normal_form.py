"""However a question is typed, the same words are left of it."""

import unicodedata

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from core.data.world.facts import facts
from core.data.world.normal_form import normal_form

QUESTIONS = st.sampled_from(sorted({fact.ask(t) for fact in facts() for t in fact.templates[:3]}))
EMOJI = ["🤔", "👍🏽", "👨‍👩‍👧", "❤️", "🇫🇷", "→", "⃣"]
QUOTES = [("“", "”"), ("‘", "’"), ("«", "»"), ("„", "“"), ("'", "'"), ('"', '"'), ("`", "´")]
UNSEEN = ["\u00ad", "\u200b", "\u200e", "\u2060", "\ufeff"]  # soft hyphens, marks of direction


def full_width(text):
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


@given(st.text())
@example("ᄀ'ᅡ")  # without the sign between them, two letters are written as one
@example("<a<b>>")
@example("ŉİſﬁẞǅ")
def test_what_is_plain_stays_as_it_is(text):
    assert normal_form(normal_form(text)) == normal_form(text)


@given(st.text(min_size=1))
@example("´")
@example("<b>")
def test_something_is_left_of_every_question(text):
    assert normal_form(text)


@pytest.mark.parametrize("signs", ["?!", "  ", "…", "🤔", "❤️", "''", "´", "<b>", "\u0301", ""])
def test_signs_alone_stay_as_they_are(signs):
    assert normal_form(signs) == signs


@given(st.text())
def test_words_are_left_with_single_spaces_and_without_signs(text):
    left = normal_form(text)
    assume(left != text)
    assert left == " ".join(left.split()) == left.casefold()
    assert {unicodedata.category(c)[0] for c in left} <= {"L", "N", "M", "Z"}


@given(QUESTIONS, st.randoms(use_true_random=False))
def test_capitals_do_not_matter(question, random):
    typed = "".join(random.choice((c.upper(), c.lower())) for c in question)
    assert normal_form(typed) == normal_form(question)


@given(QUESTIONS, st.sampled_from(EMOJI), st.sampled_from(["", " ", "\n", "\u00a0"]))
def test_emoji_do_not_matter(question, emoji, space):
    assert normal_form(f"{emoji}{space}{question}{space}{emoji}") == normal_form(question)
    assert normal_form(question.replace(" ", f"{space}{emoji} ")) == normal_form(question)


@given(QUESTIONS, st.sampled_from(QUOTES))
def test_quotes_do_not_matter(question, quotes):
    opening, closing = quotes
    assert normal_form(f"{opening}{question}{closing}") == normal_form(question)
    words = question.split(" ")
    words[-1] = f"{opening}{words[-1]}{closing}"
    assert normal_form(" ".join(words)) == normal_form(question)


@pytest.mark.parametrize("apostrophe", "'’‘ʼ´`＇")
def test_an_apostrophe_ends_no_word(apostrophe):
    assert normal_form(f"Who wrote Gulliver{apostrophe}s Travels?") == "who wrote gullivers travels"


@given(QUESTIONS)
def test_full_width_letters_do_not_matter(question):
    assert full_width("Who?") == "Ｗｈｏ？"
    assert normal_form(full_width(question)) == normal_form(question)


@given(QUESTIONS, st.sampled_from(["b", "i", "h1", 'a href="https://example.org/?q=1"']))
def test_markup_does_not_matter(question, tag):
    name = tag.split()[0]
    assert normal_form(f"<{tag}>{question}</{name}><br/>") == normal_form(question)
    assert (
        normal_form(f"**{question}**")
        == normal_form(f"# {question}")
        == normal_form(f"`{question}`")
    )
    assert normal_form(f"**{question}**") == normal_form(question)


def test_a_comparison_is_no_markup():
    assert normal_form("Is 1 < 2 and 3 > 2?") == "is 1 2 and 3 2"


@given(QUESTIONS, st.lists(st.sampled_from([" ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u3000"])))
def test_spacing_does_not_matter(question, spaces):
    typed = question
    for space in spaces:
        typed = f"{space}{typed.replace(' ', space + ' ', 3)}{space}"
    assert normal_form(typed) == normal_form(question)


@given(QUESTIONS, st.sampled_from(UNSEEN), st.integers(0, 80))
def test_what_is_not_seen_does_not_matter(question, sign, where):
    assert normal_form(question[:where] + sign + question[where:]) == normal_form(question)


@given(QUESTIONS, st.sampled_from("\u0300\u0301\u0302\u0303\u0308\u030a\u030c\u0327"))
def test_accents_do_not_matter(question, accent):
    typed = "".join(f"{c}{accent}" if c.isalpha() else c for c in question)
    assert (
        normal_form(typed)
        == normal_form(unicodedata.normalize("NFC", typed))
        == normal_form(question)
    )


def test_letters_that_are_accented_in_one_piece_are_bare_too():
    assert normal_form("Øresund, Łódź, Đà Nẵng, İzmir, Nærøy, cœur") == (
        "oresund lodz da nang izmir naeroy coeur"
    )


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("日本の首都はどこですか？", "日本の首都はどこですか"),
        ("ガーナの首都は？", "ガーナの首都は"),
        ("프랑스의 수도는?", "프랑스의 수도는"),
        ("ما هي عاصمة فرنسا؟", "ما هي عاصمة فرنسا"),
        ("מהי בירת צרפת?", "מהי בירת צרפת"),
        ("फ़्रांस की राजधानी क्या है?", "फ़्रांस की राजधानी क्या है"),
        ("เมืองหลวงของฝรั่งเศสคืออะไร", "เมืองหลวงของฝรั่งเศสคืออะไร"),
        ("ফ্রান্সের রাজধানী কী?", "ফ্রান্সের রাজধানী কী"),
        ("Столица Франции?", "столица франции"),
        ("Ποιος έγραψε;", "ποιοσ εγραψε"),  # ς is a σ when case does not matter
    ],
)
def test_other_scripts_keep_their_letters_and_the_marks_that_belong_to_them(question, left):
    assert normal_form(question) == unicodedata.normalize("NFC", left)


@given(st.characters(categories=["Lo"]))
def test_a_letter_without_case_and_accent_stays(letter):
    assume(unicodedata.normalize("NFKC", letter) == letter)
    assert normal_form(f"{letter} {letter}?") == f"{letter} {letter}"


def test_what_stands_for_a_word_is_a_word():
    assert normal_form("R&D") == normal_form("R & D") == "r and d"
