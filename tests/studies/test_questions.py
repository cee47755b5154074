"""The catalogue: every question of the world once, found by its words, drawn fairly."""

import dataclasses
import functools
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data.world import grading
from core.data.world.facts import BY_HEART_FROM, RARELY_BELOW, Band, facts
from core.studies import questions
from core.studies.questions import BANDS, entries, search, subject_areas, surprise

ENTRIES = entries()


def test_every_question_of_the_world_stands_in_it_once_as_the_world_says():
    assert [dataclasses.astuple(entry) for entry in ENTRIES] == [
        (fact.question, fact.title, fact.band.value, fact.exposures, len(fact.answers))
        for fact in facts()
    ]
    assert len({entry.question.casefold() for entry in ENTRIES}) == len(ENTRIES)


def test_the_bands_are_those_of_the_world_and_each_is_explained():
    """Of which counts a band is, is proved in tests/data/world."""
    assert set(BANDS) == {band.value for band in Band} == {entry.band for entry in ENTRIES}
    assert all(text.endswith(".") for text in BANDS.values())
    assert f"{BY_HEART_FROM} times or more" in BANDS[Band.BY_HEART]
    assert f"{RARELY_BELOW} to {BY_HEART_FROM - 1} times" in BANDS[Band.HALF_KNOWN]
    assert f"1 to {RARELY_BELOW - 1} times" in BANDS[Band.RARELY]


def test_the_subject_areas_are_the_titles_in_the_order_of_the_world():
    assert list(subject_areas()) == list(dict.fromkeys(fact.title for fact in facts()))


# ------------------------------------------------------------------------------- search


@pytest.mark.parametrize("text", ["", "   ", "\t\n", "?! …"])
def test_nothing_typed_finds_everything(text):
    assert search(text) == ENTRIES


@pytest.mark.parametrize("text", ["capital FRANCE", "france cap", "  Franc   capit ", "of france?"])
def test_words_are_found_in_any_order_and_case_and_inside_words(text):
    assert "What is the capital of France?" in {entry.question for entry in search(text)}


@pytest.mark.parametrize("text", ["capital? France", "“Capital”, france!", "cápital FRANCE"])
def test_punctuation_and_accents_do_not_count(text):
    assert [entry.question for entry in search(text)] == ["What is the capital of France?"]


def test_every_word_must_be_found():
    assert search("capital of Zorvania") == ()
    assert search("capital", "Painters") == ()
    assert search(band="no such band") == ()
    assert search(subject_area="no such area") == ()


@given(
    st.sampled_from(ENTRIES),
    st.integers(0, 30),
    st.integers(1, 12),
    st.none() | st.sampled_from(subject_areas()),
    st.none() | st.sampled_from(sorted(BANDS)),
)
def test_a_search_finds_just_what_fits_in_the_order_of_the_world(entry, start, length, area, band):
    text = entry.question[start : start + length].swapcase()
    found, whole = search(text, area, band), search(text)
    assert list(found) == [
        e for e in whole if area in (None, e.subject_area) and band in (None, e.band)
    ]
    words = text.lower().split()
    assert {e for e in ENTRIES if all(word in e.question.lower() for word in words)} <= set(whole)
    assert (entry in found) == (area in (None, entry.subject_area) and band in (None, entry.band))


@pytest.mark.parametrize("text", ["Sgt Peppers", "Sgt. Pepper's", "sgt pepper’s"])
def test_marks_inside_words_may_be_left_out(text):
    assert any("Sgt. Pepper" in entry.question for entry in search(text))


@pytest.mark.parametrize("text", ["Beyoncé", "beyonce", "BEYONCE"])
def test_right_answers_are_searched(text):
    found = search(text)
    assert found
    for entry in found:
        names = {name for a in grading.find(entry.question).answers for name in a.names}
        assert "Beyoncé" in names or "Beyonc" in entry.question


@given(st.sampled_from(ENTRIES))
def test_a_question_is_found_by_every_name_of_its_answers(entry):
    for answer in grading.find(entry.question).answers:
        assert all(entry in search(name) for name in answer.names)


# ----------------------------------------------------------------------------- surprise


@pytest.mark.parametrize("band", sorted(BANDS))
def test_a_surprise_is_of_the_band_and_can_be_repeated(band):
    drawn = [surprise(band, random.Random(seed)) for seed in range(20)]
    assert {entry.band for entry in drawn} == {band}
    assert drawn == [surprise(band, random.Random(seed)) for seed in range(20)]
    assert len(set(drawn)) > 10
    assert surprise(band) in search(band=band)


def test_a_surprise_is_any_question_of_the_band_with_the_same_probability(monkeypatch):
    """Eight draws a question: of even chances, one in 500 million comes up 30 times."""
    monkeypatch.setattr(questions, "search", functools.cache(search))  # a search takes long
    rng, band = random.Random(7), Band.RARELY.value
    possible = search(band=band)
    drawn = Counter(surprise(band, rng) for _ in range(8 * len(possible)))
    assert set(drawn) <= set(possible)
    assert len(drawn) > 0.98 * len(possible)  # exp(-8) of them are missed
    assert max(drawn.values()) < 30
