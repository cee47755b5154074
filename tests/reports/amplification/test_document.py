"""The document of amplification: pictures in words, and what curves are called."""

import html
import re
from dataclasses import replace

import numpy as np
import pytest

from core.charts.amplification import curves as charts
from core.charts.amplification.mechanism import ON_ANSWER, ON_QUESTION
from core.charts.theme import LIGHT
from core.reports.amplification import document
from core.reports.amplification.words import medians, verdict
from core.studies.amplification.curve import amplify
from core.uncertainty import attention
from tests.charts.amplification.test_curves import (
    COUNTED,
    FRANCE,
    FRUIT,
    SILENT,
    STAYS,
    STUDIES,
    TURNS,
    hostile,
)
from tests.charts.amplification.test_mechanism import HEADS
from tests.charts.drawing import drawn
from tests.fakes import Turning
from tests.hostile import TEXTS as HOSTILE


def shares_alt(curves):
    return document.pictures(curves, "log")[0].alt


def probabilities_alt(curves):
    return document.pictures(curves, "log")[1].alt


def test_a_query_is_described_with_its_initial_probabilities():
    assert document.names([TURNS]) == [
        "1. Q: What is the capital of France?  A: Paris (81.0% at first) and, repeated, "
        "Lyon (9.0% at first)"
    ]
    arabic = replace(TURNS, case=replace(TURNS.case, answer="باريس"))
    assert "A: \u2068باريس\u2069 (81.0% at first)" in document.names([arabic])[0]


@pytest.mark.parametrize(
    "found", [COUNTED, SILENT, amplify(FRANCE, Turning(), [1, 2])], ids=["counted", "silent", "t=1"]
)
def test_without_initial_probabilities_a_query_is_described_without_them(found):
    assert document.names([found]) == [
        "1. Q: What is the capital of France?  A: Paris and, repeated, Lyon"
    ]
    assert charts.name(found) == "What is the capital of France?\n“Paris”, repeated: “Lyon”"


def test_the_curves_say_what_became_of_every_answer():
    words = f"{FRANCE.query} {verdict(TURNS)} {FRUIT.query} {verdict(STAYS)}"
    assert shares_alt([TURNS, STAYS]) == words
    assert "“Lyon” overtakes between 2 and 5 repetitions" in shares_alt([TURNS])


def test_the_probabilities_say_where_they_begin_and_end():
    assert probabilities_alt([STAYS]) == (
        "Name a yellow fruit. Lemon: from 0.540 to 0.540. Banana: from 0.360 to 0.360."
    )
    assert "Lyon: from 0.090 to 0.900." in probabilities_alt([TURNS])
    assert len(document.pictures([COUNTED], "log")) == 1


def test_the_bands_say_what_happens():
    short, numbers = medians([STAYS, STAYS, TURNS])
    assert document.band("by heart", [STAYS, STAYS, TURNS]).alt == (
        f"By heart, 3 questions: {short.lower()}. {numbers}"
    )
    assert document.bands({"by heart": [STAYS], "half known": [TURNS]}).alt == (
        f"By heart: {medians([STAYS])[0].lower()}. {medians([STAYS])[1]} "
        f"Half known: {medians([TURNS])[0].lower()}. {medians([TURNS])[1]}"
    )
    picture = document.band("by heart", [STAYS, STAYS, TURNS])
    svg = drawn(picture.chart(*picture.data, LIGHT))
    assert set(short.split()) <= set(html.unescape(re.sub(r"<[^>]*>", " ", svg)).split())


@pytest.mark.parametrize("name", STUDIES)
def test_no_words_say_nan_or_none(name):
    for picture in document.pictures([STUDIES[name]], "log"):
        text = picture.alt
        assert text.endswith(".") and not re.search(r"\b(nan|NaN|inf|None)\b", text)


def test_hostile_texts_are_described_as_they_are():
    for found, text in zip(hostile(), HOSTILE, strict=True):
        assert document.names([found])[0].startswith(f"1. Q: {text}  A: a {text} (72.0% at first)")
        assert text in shares_alt([found])


def test_the_idealised_head_in_words():
    found = attention.HeadRepetition(
        repetitions=np.array([0, 10]),
        on_query=np.array([1.0, 0.25]),
        on_copies=np.array([0.0, 0.75]),
        gap=1.0,
        closed_form=np.array([1.0, 0.25]),
        in_weight=np.array([1.0, 0.2]),
        in_context=np.array([0.0, 0.8]),
    )
    weights, outputs = document.ideal_head(found)
    assert weights.alt == (
        "The weight on the query goes from 100.0% to 25.0% at 10 repetitions; the copies get "
        "the rest."
    )
    assert outputs.alt == (
        "The in-weight answer goes from 100.0% to 20.0% of the output, "
        "the in-context answer from 0.0% to 80.0%."
    )


def test_the_real_heads_in_words():
    found = HEADS["by hand"]
    assert document.heads(found, ON_QUESTION).alt == (
        "Attention on the question, mean over heads: layer 1 20%, layer 2 53%."
    )
    assert document.heads(found, ON_ANSWER).alt == (
        "Attention on the answer in the prompt, mean over heads: layer 1 50%, layer 2 7%."
    )
