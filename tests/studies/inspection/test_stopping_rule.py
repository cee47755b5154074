"""When to stop sampling: how certificate and mass grow, and the sizes on the way."""

import math
from dataclasses import replace

import numpy as np
import pytest

from core.charts.theme import LIGHT
from core.language_models.language_model import Response
from core.reports.inspection.document import growth_picture
from core.studies.inspection.certificates import default_policies
from core.studies.inspection.inspection import read, run
from core.studies.inspection.recorder import record, usual_request
from core.studies.inspection.request import MAX_SAMPLES, Reading, Request
from core.studies.inspection.stopping_rule import ENOUGH_MASS, growth, is_settled, next_size
from core.studies.inspection.verdict import Decision
from tests.fakes import QUERY, Limited, TableModel, copies, knows, words

NEVER = math.inf  # nats: no bound reaches it
SAMPLED = [{"own_log_likelihoods": True}, {}]


def ask(samples, seed=0):
    return Request(QUERY, samples, seed=seed)


@pytest.mark.parametrize("k", [1, 2, 7, 30])
@pytest.mark.parametrize("maker", [knows, copies])
def test_growth_ends_at_the_inspections_own_values(maker, k):
    seen = run(ask(k), maker(40), Reading("ratio", 0.4, 0.1, 0.1))
    points = growth(seen.recording, seen.reading)
    assert points[0].samples == 1
    assert points[-1].samples == k
    assert points[-1].certified == seen.certified_bound
    assert points[-1].sampled_mass == seen.sampled_mass
    for point in points:
        alone = read(seen.recording.first(point.samples), seen.reading)
        assert (point.certified, point.sampled_mass) == (alone.certified_bound, alone.sampled_mass)


def test_it_stops_when_the_bound_has_passed_the_threshold():
    model = copies(30, share=0.95)
    recording = record(ask(60), model)
    bound = read(recording).certified_bound
    mass = read(recording).sampled_mass
    assert bound > 0.1 and mass < ENOUGH_MASS
    assert "Certified" in is_settled(recording, limit=bound)
    assert is_settled(recording, limit=math.nextafter(bound, 9)) is None


def test_it_stops_when_nearly_everything_was_said():
    assert "of the probability" in is_settled(record(ask(100), knows(4)), limit=NEVER)
    assert is_settled(record(ask(2), knows(4)), limit=NEVER) is None


@pytest.mark.parametrize("change", [{}, {"score": "unheard of"}])
def test_no_bound_withholds_where_another_score_or_nothing_decides(embedded, change):
    request = usual_request("What is the state capital of Nevada?", embedded.capabilities)
    recording = record(request, embedded)
    assert "on, an answer is withheld" in is_settled(recording)
    policy = replace(default_policies()["pair_covariance"], **change)
    policy = replace(policy, threshold=0.6, method="by hand", confidence=None, upper_bound=None)
    seen = read(recording, policy=policy)
    assert seen.decision is (Decision.UNDECIDED if change else Decision.ANSWER)
    settled = is_settled(recording, policy=policy)
    assert settled.startswith("Certified: ") and "withheld" not in settled
    drawn = growth_picture(growth(recording), seen.withholding_bound)
    assert "certified from here on" not in str(drawn.chart(*drawn.data, LIGHT).to_dict())


def test_two_wordings_of_one_answer_certify_nothing():
    """Each wording copies itself: that is dependence between texts, not between answers."""
    model = TableModel(["Paris", "Paris, France"], [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
    recording = record(ask(20), model)
    assert read(recording).certified_bound == 0
    assert read(recording, Reading(threshold=1.0)).certified_bound > 0.1
    assert "Certified" not in (is_settled(recording) or "")


def test_mass_of_first_answers_alone_settles_nothing():
    """What comes after A and B was never sampled, however surely A and B come first."""
    words = ["a b", "c d", "e f", "g h"]
    rows = [[0.02, 0.02, 0.96, 0], [0.02, 0.02, 0, 0.96], [0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0]]
    model = TableModel(words, [0.5, 0.5, 0.0, 0.0], rows)
    recording = record(ask(40), model)
    assert read(recording).sampled_mass == pytest.approx(1)
    assert is_settled(recording, limit=NEVER) is None


def test_nothing_certified_when_no_response_came_to_its_end():
    model = TableModel(["a b", "c d"], [0.6, 0.4], np.full((2, 2), 0.5), cut={"a b", "c d"})
    seen = run(ask(10), model)
    assert seen.certified_bound is None
    assert growth(seen.recording)[-1].certified is None
    assert is_settled(seen.recording) is not None  # by its mass


def test_sizes_grow_to_the_limit_and_no_further():
    sizes = [1]
    while sizes[-1] < MAX_SAMPLES:
        sizes.append(next_size(ask(sizes[-1])))
        assert sizes[-1] > sizes[-2]
    assert sizes[-1] == MAX_SAMPLES
    assert len(sizes) < 15
    assert next_size(ask(MAX_SAMPLES)) == MAX_SAMPLES


def test_sampling_that_never_settles_ends_at_the_limit():
    size = 2000
    row = np.full(size, 1 / size)
    model = TableModel(words(size), row, np.tile(row, (size, 1)))
    recording = record(ask(5), model)
    while (why := is_settled(recording, limit=NEVER)) is None:
        recording = record(Request(QUERY, next_size(recording.request)), model, previous=recording)
    assert recording.request.samples == MAX_SAMPLES
    assert str(MAX_SAMPLES) in why
    assert len(model.pairs) == len(set(model.pairs))


@pytest.mark.parametrize("abilities", SAMPLED, ids=["chained", "counted"])
def test_without_likelihoods_of_given_texts_nothing_is_certified(abilities):
    for table in (knows(3), copies(30)):
        made = record(ask(100), Limited(table, **abilities))
        why = is_settled(made)
        assert why.startswith("Nothing can be certified here") and why.endswith(".")
        assert "exact likelihoods of given texts" in why
        points = growth(made)
        assert [point.certified for point in points] == [None] * len(points)
        assert points[-1].sampled_mass == read(made).sampled_mass
        assert all(0 <= point.sampled_mass <= 1 for point in points)


def test_growth_begins_at_the_first_answer_that_is_one():
    """An empty text is no answer; drawn first, it leaves nothing to score."""
    model = TableModel(["", "yes", "no"], [0.4, 0.3, 0.3], [[0.4, 0.3, 0.3]] * 3)
    turns = [Response(text, True) for text in ("", "", "yes", "no", "yes", "")]
    draw = model.sample
    model.sample = lambda prompt, count, *, temperature=1.0, **rest: (
        turns if temperature else draw(prompt, count, temperature=0)
    )
    points = growth(record(Request(QUERY, len(turns)), model))
    assert [point.samples for point in points] == [3, 4, 6]
