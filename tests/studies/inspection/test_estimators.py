"""What is shown of the ladder is what the shipped model does."""

import json

import numpy as np
import pytest

from benchmarks import ladder
from benchmarks.shared.measuring import Question
from core.data.world import grading
from core.data.world.facts import Band
from core.language_models.true_false import OPINIONS
from core.studies.inspection.estimators import MEASURED, MIXTURE, TITLES, measures, table
from core.studies.inspection.recorder import FEWEST_CHAINS, SECONDS
from core.studies.inspection.recording import Estimator
from core.studies.inspection.request import MAX_SAMPLES, Request
from core.uncertainty.scores import SCORES

AGAIN = "run python -m benchmarks.ladder --write again"


@pytest.fixture(scope="module")
def each():
    return json.loads(MEASURED.read_text(encoding="utf-8"))["each"]


def test_it_was_measured_on_the_shipped_model(embedded):
    assert measures().revision == embedded.revision, AGAIN


def test_half_of_two_hundred_different_questions_have_many_answers(each):
    assert len({row["question"] for row in each}) == measures().questions == 200
    many = [grading.find(row["question"]).band is Band.MANY_ANSWERS for row in each]
    assert many == [False] * 100 + [True] * 100


def test_every_rung_was_measured():
    assert [rung.estimator for rung in measures().rungs] == list(TITLES)
    for rung in measures().rungs:
        missing = {*SCORES} - {*rung.rankings[MIXTURE]}
        expected = set()
        if rung.estimator is not Estimator.EXACT:
            expected |= {"certified_mutual_information", "weighted_doubt"}
        if rung.estimator is Estimator.COUNTED:
            expected.add("greedy_probability")
        assert missing == expected


def test_the_words_have_the_numbers_of_the_recorder():
    first = Request("?").samples
    exact, chained, counted = TITLES.values()
    assert f"{first} samples" in exact
    assert f"{FEWEST_CHAINS} pairs" in chained
    assert f"{first} samples and {SECONDS} after each" in counted
    assert OPINIONS == 10 and any("by ten samples" in name for name in table(measures()))


def test_errors_are_those_of_the_questions(each):
    values = {
        name: np.array([row[name] for row in each])
        for name in (*(e.name for e in TITLES), ladder.LONG)
    }
    for rung in measures().rungs:
        for samples, true in ((Request("?").samples, "EXACT"), (MAX_SAMPLES, ladder.LONG)):
            off = values[rung.estimator.name] - values[true]
            expected = off.mean(), np.sqrt(np.mean(off**2))
            assert rung.errors[samples] == pytest.approx(expected, abs=1e-5), AGAIN


@pytest.mark.parametrize("estimator", TITLES, ids=lambda e: e.name)
def test_questions_drawn_at_random_are_what_the_model_says(each, embedded, estimator):
    few = 2 if estimator is Estimator.CHAINED else 6
    for i in np.random.default_rng(3).choice(len(each), few, replace=False):
        row = each[i]
        asked = Question(row["question"], grading.find(row["question"]), row["seed"])
        made = ladder.ask(asked, estimator, embedded)
        found = ladder.read(asked, made, embedded).information
        assert found == pytest.approx(row[estimator.name], rel=1e-4, abs=2e-6), AGAIN
