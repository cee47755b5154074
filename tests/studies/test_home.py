"""The tour: what it calls known is known to the world, and its numbers are the model's own."""

import functools
import math

import numpy as np
import pytest
from scipy.special import expit

from core import prompts
from core.data.world import grading
from core.data.world.facts import Band
from core.studies.home import (
    CONTRADICTED,
    EXAMPLES,
    MEASURES,
    SHORT,
    TIMES,
    Doubted,
    contradict,
    doubts,
    widest,
)
from core.studies.inspection.inspection import run
from core.studies.inspection.request import Request
from core.studies.inspection.verdict import default_thresholds
from core.uncertainty.scores import SCORES
from tests.fakes import TableModel, Turning


@functools.cache
def inspections():
    """The examples under table models: two that never waver, two that copy."""
    found = {}
    for example, copying in zip(SHORT, (0.0, 0.6, 0.8, 0.0), strict=True):
        first = np.full(4, 0.25) if example == "Many answers" else np.array([0.7, 0.1, 0.1, 0.1])
        rows = copying * np.eye(4) + (1 - copying) * first
        query = EXAMPLES[example]
        model = TableModel(["a", "b", "c", "d"], first, rows, query=query)
        found[example] = run(Request(query, 200), model)
    return found


# ------------------------------------------------------------------------- the examples


def test_an_example_is_of_the_band_that_it_stands_for():
    found = {name: grading.find(query) for name, query in EXAMPLES.items()}
    assert {name: fact and fact.band for name, fact in found.items()} == {
        "Known": Band.BY_HEART,
        "Half known": Band.HALF_KNOWN,
        "Many answers": Band.MANY_ANSWERS,
        "Unknown": None,
        "Nonsense": None,
    }


def test_what_is_drawn_has_an_example_and_a_short_name():
    assert set(SHORT) <= set(EXAMPLES)
    assert set(CONTRADICTED) <= set(SHORT)
    assert len(set(SHORT.values())) == len(SHORT)


def test_short_names_do_not_say_what_the_model_knows():
    bands = {word for name in EXAMPLES for word in name.casefold().split()} - {"answers"}
    for name in SHORT.values():
        assert not bands & set(name.casefold().split())


def test_the_model_is_told_a_wrong_answer_where_the_right_one_is_known():
    for example, (right, wrong) in CONTRADICTED.items():
        fact = grading.find(EXAMPLES[example])
        assert grading.is_right(right, fact)
        assert not grading.is_right(wrong, fact)
        assert wrong == fact.misconception


def test_the_measures_are_scores_that_have_a_threshold():
    assert set(MEASURES.values()) <= set(SCORES) & set(default_thresholds())
    assert all(SCORES[name].unit == "nats" for name in MEASURES.values())


# ------------------------------------------------------------------- being contradicted


@pytest.mark.parametrize("times", TIMES)
def test_the_share_of_the_right_answer_is_what_the_likelihoods_say(times):
    """As likely as the other one untold, it loses half a nat at every repetition."""
    model = Turning(known=0.5, pull=0.5)
    found = contradict(times, model)
    assert {turned.example: (turned.right, turned.told) for turned in found} == CONTRADICTED
    assert [turned.share for turned in found] == pytest.approx([expit(-0.5 * times)] * 2)
    assert model.asked == [(times,)] * 2


@pytest.mark.parametrize("times", [TIMES[0], TIMES[-1]])
def test_the_shipped_model_can_be_told_that_often(embedded, times):
    for turned in contradict(times, embedded):
        read = embedded.reads(EXAMPLES[turned.example])
        question = prompts.iterative(read, [turned.told] * times)
        right, told = embedded.log_likelihoods([question], [turned.right, turned.told])[0]
        assert 0 <= turned.share <= 1
        expected = math.exp(right) / (math.exp(right) + math.exp(told))
        assert turned.share == pytest.approx(expected, abs=1e-6)


# --------------------------------------------------------------------------- the doubts


def test_a_doubt_is_the_scores_value_and_threshold_and_right_is_what_the_world_teaches():
    seen = inspections()
    values = []
    for measure in MEASURES.values():
        found = doubts(measure, seen)
        assert [doubted.example for doubted in found] == list(SHORT)
        for doubted in found:
            values.append(doubted.value)
            assert doubted.value == seen[doubted.example].scores[measure].value
            assert doubted.threshold == default_thresholds()[measure]
            assert doubted.answers == (doubted.value < doubted.threshold)
            assert doubted.right == (doubted.example in ("Known", "Many answers"))
    assert widest(seen) == max(values) > 0


def test_a_doubt_at_the_threshold_is_not_answered():
    assert Doubted("Known", 0.2999, 0.3, True).answers
    assert not Doubted("Known", 0.3, 0.3, True).answers
