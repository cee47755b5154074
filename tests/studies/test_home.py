"""The tour: what it calls known is known to the world, and its numbers are the model's own."""

import math

import numpy as np
import pytest

from core import prompts
from core.data.world import grading
from core.data.world.facts import Band
from core.language_models.base import Capabilities, LanguageModel
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
from tests.fakes import TableModel


class Counting(LanguageModel):
    """Believes each answer in proportion to 1 and to `weight` a mention in the prompt."""

    name, revision = "counting", "1"
    capabilities = Capabilities(scores_given_text=True)

    def __init__(self, weight):
        self.weight, self.asked = weight, []

    def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
        raise AssertionError("nothing is sampled here")

    def log_likelihoods(self, prompts, answers):
        self.asked += prompts
        return np.log([[1 + self.weight * p.count(a) for a in answers] for p in prompts]) - 20


def inspections():
    """The examples under table models: two that never waver, two that copy."""
    found = {}
    for example, copying in zip(SHORT, (0.0, 0.6, 0.8, 0.0), strict=True):
        first = np.full(4, 0.25) if example == "Many answers" else np.array([0.7, 0.1, 0.1, 0.1])
        rows = copying * np.eye(4) + (1 - copying) * first
        query = EXAMPLES[example]
        found[example] = run(
            Request(query, 200), TableModel(["a", "b", "c", "d"], first, rows, query=query)
        )
    return found


# ------------------------------------------------------------------------- the examples


@pytest.mark.parametrize(
    ("example", "band"),
    [
        ("Known", Band.BY_HEART),
        ("Half known", Band.HALF_KNOWN),
        ("Many answers", Band.MANY_ANSWERS),
    ],
)
def test_an_example_is_of_the_band_that_it_stands_for(example, band):
    assert grading.find(EXAMPLES[example]).band is band


@pytest.mark.parametrize("example", ["Unknown", "Nonsense"])
def test_what_nobody_knows_is_outside_the_world(example):
    assert grading.find(EXAMPLES[example]) is None


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


def test_the_times_grow_from_none():
    assert TIMES[0] == 0
    assert list(TIMES) == sorted(set(TIMES))


# ------------------------------------------------------------------- being contradicted


@pytest.mark.parametrize("times", TIMES)
def test_the_share_of_the_right_answer_is_what_the_likelihoods_say(times):
    """Told n times at weight w: 1 against 1 + n w."""
    model = Counting(0.5)
    for turned in contradict(times, model):
        assert (turned.right, turned.told) == CONTRADICTED[turned.example]
        assert turned.share == pytest.approx(1 / (2 + 0.5 * times))


def test_both_examples_are_contradicted_in_the_papers_prompt():
    model = Counting(1.0)
    assert [turned.example for turned in contradict(3, model)] == list(CONTRADICTED)
    assert model.asked == [
        prompts.iterative(EXAMPLES[example], [wrong] * 3)
        for example, (_, wrong) in CONTRADICTED.items()
    ]


def test_nothing_told_is_the_bare_question():
    model = Counting(1.0)
    contradict(0, model)
    assert model.asked == [prompts.iterative(EXAMPLES[example]) for example in CONTRADICTED]


@pytest.mark.parametrize("times", [TIMES[0], TIMES[-1]])
def test_the_shipped_model_can_be_told_that_often(embedded, times):
    for turned in contradict(times, embedded):
        question = prompts.iterative(EXAMPLES[turned.example], [turned.told] * times)
        right, told = embedded.log_likelihoods([question], [turned.right, turned.told])[0]
        assert 0 <= turned.share <= 1
        expected = math.exp(right) / (math.exp(right) + math.exp(told))
        assert turned.share == pytest.approx(expected, abs=1e-6)


# --------------------------------------------------------------------------- the doubts


@pytest.mark.parametrize("measure", MEASURES.values())
def test_a_doubt_is_the_scores_value_and_threshold(measure):
    seen = inspections()
    found = doubts(measure, seen)
    assert [doubted.example for doubted in found] == list(SHORT)
    for doubted in found:
        assert doubted.value == seen[doubted.example].scores[measure].value
        assert doubted.threshold == default_thresholds()[measure]
        assert doubted.answers == (doubted.value < doubted.threshold)


def test_only_what_the_world_teaches_for_certain_counts_as_answered_rightly():
    for doubted in doubts("semantic_entropy", inspections()):
        fact = grading.find(EXAMPLES[doubted.example])
        taught = fact is not None and fact.band in (Band.BY_HEART, Band.MANY_ANSWERS)
        assert doubted.right == taught


def test_many_answers_are_a_doubt_to_entropy_and_none_to_mutual_information():
    seen = inspections()
    of = {
        measure: {d.example: d for d in doubts(measure, seen)}["Many answers"]
        for measure in MEASURES.values()
    }
    assert of["semantic_entropy"].value == pytest.approx(math.log(4))
    assert of["mutual_information"].value == pytest.approx(0, abs=1e-9)
    assert of["mutual_information"].answers


def test_a_doubt_at_the_threshold_is_not_answered():
    assert Doubted("Known", 0.2999, 0.3, True).answers
    assert not Doubted("Known", 0.3, 0.3, True).answers


def test_the_widest_doubt_is_the_largest_by_any_measure():
    seen = inspections()
    values = [d.value for measure in MEASURES.values() for d in doubts(measure, seen)]
    assert widest(seen) == max(values) > 0
