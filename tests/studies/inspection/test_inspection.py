"""Inspections: reading a recording, moving what can be moved, and the certified bound."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import prompts
from core.studies.inspection.inspection import cannot_decide, read, run
from core.studies.inspection.recorder import record
from core.studies.inspection.request import MAX_SAMPLES, InvalidRequestError, Reading, Request
from core.studies.inspection.stopping import ENOUGH_MASS, growth, is_settled, next_size
from core.studies.inspection.verdict import (
    Decision,
    DecisionRule,
    default_policy,
    default_threshold,
)
from core.uncertainty.scores import SCORES
from core.uncertainty.similarity import SIMILARITIES
from tests.fakes import QUERY, TableModel, copies, falling, knows, words

KNOWN_BY_HEART = "What is the capital of France?"
NEVER = DecisionRule(value=math.inf, least_mass=0.5, origin="by hand")


def ask(samples, seed=0):
    return Request(QUERY, samples, seed=seed)


def tables(seed, size):
    """A model that was thrown together: nothing about it is special."""
    rng = np.random.default_rng(seed)
    first = rng.dirichlet(np.full(size, 0.7))
    rows = 0.5 * rng.dirichlet(np.full(size, 0.5), size) + 0.5 * rng.dirichlet(np.ones(size))
    return TableModel(words(size), first, rows)


# ------------------------------------------------------------------------------ the read


def test_a_whole_vocabulary_gives_the_models_own_mutual_information():
    model = copies(5, share=0.6)
    seen = run(ask(200), model)
    assert len(seen.clusters) == 5
    assert seen.sampled_mass == pytest.approx(1)
    assert seen.scores["mutual_information"].value == pytest.approx(model.mutual_information)
    assert seen.certified == pytest.approx(model.mutual_information)
    assert seen.verdict.decision is Decision.ABSTAIN


def test_many_right_answers_are_answered_and_one_of_them_is_served():
    seen = run(ask(200), knows(5))
    assert seen.scores["mutual_information"].value == pytest.approx(0, abs=1e-9)
    assert seen.scores["semantic_entropy"].value > 1
    assert seen.verdict.decision is Decision.ANSWER
    assert seen.verdict.answer == "answer0"


def test_clusters_hold_every_text_once_and_all_the_probability():
    texts = ["London", "London, UK", "Paris", "the London", "Berlin"]
    model = TableModel(texts, falling(5), np.tile(falling(5), (5, 1)))
    seen = run(ask(200), model)
    assert [c.text for c in seen.clusters] == ["London", "Paris", "Berlin"]
    members = [text for c in seen.clusters for text, _, _ in c.members]
    assert sorted(members) == sorted(texts)
    assert sum(c.probability for c in seen.clusters) == pytest.approx(1)
    assert sum(c.mass for c in seen.clusters) == pytest.approx(seen.sampled_mass)
    assert sum(c.samples for c in seen.clusters) == 200
    london = seen.clusters[0]
    assert london.mass == pytest.approx(model.first[[0, 1, 3]].sum())
    for text, log_likelihood, count in london.members:
        assert log_likelihood == np.log(model.first[texts.index(text)])
        assert count == [s.text for s in seen.recording.samples].count(text)


def test_a_cell_says_what_it_was_computed_from():
    model = copies(4, share=0.5)
    seen = run(ask(100), model)
    information = seen.evidence.mutual_information
    for i in range(4):
        for j in range(4):
            cell = seen.cell(i, j)
            first, second = seen.clusters[i].text, seen.clusters[j].text
            assert (cell.first, cell.second) == (first, second)
            assert cell.prompt == prompts.iterative(QUERY, [first])
            row, column = model.answers.index(first), model.answers.index(second)
            assert cell.log_likelihoods == ((second, np.log(model.rows[row, column])),)
            assert cell.joint == information.joint[i, j]
            assert cell.product == information.product[i, j]
            assert cell.contribution == information.contributions[i, j]


def test_doubt_has_two_parts_that_add_up():
    seen = run(ask(100), copies(6, share=0.5))
    assert seen.doubt.total == pytest.approx(seen.doubt.epistemic + seen.doubt.remaining)
    assert seen.doubt.epistemic == pytest.approx(seen.scores["mutual_information"].value)


def test_self_verification_is_the_share_of_true():
    model = copies(4)
    seen = run(ask(20), TableModel(model.answers, model.first, model.rows, true=0.9))
    assert seen.scores["self_verification"].value == pytest.approx(0.9)


def test_each_stabilisation_parameter_has_its_place():
    recording = record(ask(30), copies(6, share=0.5))

    def value(gamma_1, gamma_2):
        seen = read(recording, Reading(gamma_1=gamma_1, gamma_2=gamma_2))
        return seen.scores["mutual_information"].value

    assert value(0.2, 0.0) > value(0.0, 0.0) > value(0.0, 0.2)


def test_every_score_is_there():
    assert list(run(ask(10), knows(5)).scores) == list(SCORES)


# ------------------------------------------------------------- moving what can be moved


def test_moving_settings_asks_the_model_nothing():
    model = copies(10, share=0.6)
    recording = record(ask(30), model)
    asked = len(model.sampled), len(model.scored)
    for similarity in SIMILARITIES:
        for threshold in (0.05, 0.25, 1.0):
            read(recording, Reading(similarity, threshold))
    base, moved = read(recording), read(recording, Reading(gamma_1=0.01, gamma_2=0.02))
    never = read(recording, threshold=NEVER)
    growth(recording)
    is_settled(recording)
    assert (len(model.sampled), len(model.scored)) == asked
    assert moved.scores["mutual_information"] != base.scores["mutual_information"]
    assert never.verdict.decision is Decision.ANSWER
    assert base.verdict.decision is Decision.ABSTAIN


def test_the_similarity_and_its_threshold_decide_what_counts_as_one_answer():
    texts = ["London", "London, UK", "Londom"]
    recording = record(ask(100), TableModel(texts, falling(3), np.tile(falling(3), (3, 1))))

    def count(*reading):
        return len(read(recording, Reading(*reading)).clusters)

    assert count("token_f1", 0.25) == 2
    assert count("token_f1", 0.7) == 3
    assert count("ratio", 0.8) == 2  # London with Londom
    assert count("ratio", 0.5) == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"similarity": "vibes"}, "no similarity called “vibes”"),
        ({"threshold": 0.0}, "above 0"),
        ({"threshold": 1.01}, "at most 1"),
        ({"threshold": math.nan}, "above 0"),
        ({"gamma_1": -0.1}, "between 0 and 1"),
        ({"gamma_2": 1.5}, "between 0 and 1"),
        ({"gamma_2": math.nan}, "between 0 and 1"),
    ],
)
def test_settings_outside_their_limits_are_refused_with_a_sentence(change, says):
    with pytest.raises(InvalidRequestError, match=says) as caught:
        Reading(**change)
    assert str(caught.value).endswith(".")


def test_nothing_certified_when_no_response_came_to_its_end():
    model = TableModel(["a b", "c d"], [0.6, 0.4], np.full((2, 2), 0.5), cut={"a b", "c d"})
    seen = run(ask(10), model)
    assert seen.certified is None
    assert growth(seen.recording)[-1].certified is None
    assert is_settled(seen.recording) is not None  # by its mass


# --------------------------------------------------------------------------- certificate


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), size=st.integers(2, 12))
def test_the_certified_bound_is_never_above_the_truth_and_grows(seed, size):
    model = tables(seed, size)
    recording = record(ask(40, seed=seed), model)
    points = growth(recording)
    certified = [point.certified for point in points]
    assert max(certified) <= model.mutual_information + 1e-9
    assert min(certified) >= 0
    for sooner, later in itertools.pairwise(points):
        assert later.samples > sooner.samples
        assert later.sampled_mass >= sooner.sampled_mass - 1e-12
        assert later.certified >= sooner.certified - 1e-9


def test_the_certified_bound_arrives_once_everything_was_said():
    model = copies(8, share=0.7)
    points = growth(record(ask(300), model))
    assert points[0].certified < 0.01 < points[-1].certified
    assert points[-1].certified == pytest.approx(model.mutual_information)


def test_a_model_that_knows_is_certified_to_know_nothing_wrong():
    assert growth(record(ask(100), knows(50)))[-1].certified == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("k", [1, 2, 7, 30])
@pytest.mark.parametrize("maker", [knows, copies])
def test_growth_ends_at_the_inspections_own_values(maker, k):
    seen = run(ask(k), maker(40), Reading("ratio", 0.4, 0.1, 0.1))
    points = growth(seen.recording, seen.reading)
    assert points[0].samples == 1
    assert points[-1].samples == k
    assert points[-1].certified == seen.certified
    assert points[-1].sampled_mass == seen.sampled_mass
    for point in points:
        alone = read(seen.recording.first(point.samples), seen.reading)
        assert (point.certified, point.sampled_mass) == (alone.certified, alone.sampled_mass)


# ------------------------------------------------------------------------- when to stop


def test_it_stops_when_the_bound_has_passed_the_threshold():
    model = copies(30, share=0.95)
    recording = record(ask(60), model)
    bound = read(recording).certified
    mass = read(recording).sampled_mass
    assert bound > 0.1 and mass < ENOUGH_MASS
    assert "Certified" in is_settled(recording, threshold=DecisionRule(bound, 0.1))
    assert is_settled(recording, threshold=DecisionRule(math.nextafter(bound, 9), 0.1)) is None


def test_it_stops_when_nearly_everything_was_said():
    assert "of the probability" in is_settled(record(ask(100), knows(4)), threshold=NEVER)
    assert is_settled(record(ask(2), knows(4)), threshold=NEVER) is None


def test_two_wordings_of_one_answer_certify_nothing():
    """Each wording copies itself: that is dependence between texts, not between answers."""
    model = TableModel(["Paris", "Paris, France"], [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
    recording = record(ask(20), model)
    assert read(recording).certified == 0
    assert read(recording, Reading(threshold=1.0)).certified > 0.1
    assert "Certified" not in (is_settled(recording) or "")


def test_mass_of_first_answers_alone_settles_nothing():
    """What comes after A and B was never sampled, however surely A and B come first."""
    words = ["a b", "c d", "e f", "g h"]
    rows = [[0.02, 0.02, 0.96, 0], [0.02, 0.02, 0, 0.96], [0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0]]
    model = TableModel(words, [0.5, 0.5, 0.0, 0.0], rows)
    recording = record(ask(40), model)
    assert read(recording).sampled_mass == pytest.approx(1)
    assert is_settled(recording, threshold=NEVER) is None


def test_other_settings_than_those_of_the_default_are_said(embedded):
    recording = record(Request(KNOWN_BY_HEART), embedded)
    assert read(recording).caveat is None
    assert "γ₁ = 0.0 there, 0.1 here" in read(recording, Reading(gamma_1=0.1)).caveat
    assert "k = 10 there, 7 here" in read(recording.first(7)).caveat
    assert "M.I. grows" in read(recording.first(7)).caveat
    assert "M.I. grows" not in read(recording, Reading(gamma_1=0.1)).caveat
    other = read(record(ask(10), knows(5))).caveat
    assert "certified for embedded, not for this model" in other


def test_a_policy_of_this_pipeline_decides(embedded):
    recording = record(Request(KNOWN_BY_HEART), embedded)
    policy = replace(default_policy(), score="semantic_entropy", threshold=math.inf)
    inspection = read(recording, policy=policy)
    assert inspection.verdict.threshold.score == "semantic_entropy"
    assert inspection.verdict.threshold.origin == policy.sentence
    assert (inspection.refused, inspection.caveat) == (None, None)


def test_a_policy_of_another_pipeline_is_refused_and_the_default_decides(embedded):
    recording = record(Request(KNOWN_BY_HEART), embedded)
    policy = replace(default_policy(), score="semantic_entropy")
    for reading, differs in (
        (Reading(threshold=0.5), "0.5 here"),
        (Reading(gamma_2=0.2), "0.2 here"),
    ):
        inspection = read(recording, reading, policy=policy)
        assert differs in inspection.refused and differs in inspection.caveat
        assert inspection.verdict.threshold == default_threshold()
    unknown = replace(policy, pipeline=None)
    assert "unknown origin" in read(recording, policy=unknown).refused


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"pipeline": None}, "unknown origin"),
        ({"score": "confidence"}, "“confidence”, which is not computed here"),
        ({"larger_is_surer": True}, "here it is a sign of doubt"),
    ],
)
def test_a_policy_that_can_decide_nothing_here_is_refused(embedded, change, reason):
    policy = replace(default_policy(), **change)
    assert reason in cannot_decide(policy)
    inspection = read(record(Request(KNOWN_BY_HEART), embedded), policy=policy)
    assert inspection.refused == cannot_decide(policy)
    assert inspection.verdict.threshold == default_threshold()
    assert cannot_decide(default_policy()) is None


def test_sizes_grow_to_the_limit_and_no_further():
    sizes = [1]
    while sizes[-1] < MAX_SAMPLES:
        sizes.append(next_size(sizes[-1]))
        assert sizes[-1] > sizes[-2]
    assert sizes[-1] == MAX_SAMPLES
    assert len(sizes) < 15
    assert next_size(MAX_SAMPLES) == MAX_SAMPLES


def test_sampling_that_never_settles_ends_at_the_limit():
    size = 2000
    row = np.full(size, 1 / size)
    model = TableModel(words(size), row, np.tile(row, (size, 1)))
    recording = record(ask(1), model)
    while (why := is_settled(recording, threshold=NEVER)) is None:
        larger = Request(QUERY, next_size(recording.request.samples))
        recording = record(larger, model, previous=recording)
    assert recording.request.samples == MAX_SAMPLES
    assert str(MAX_SAMPLES) in why
    assert len(model.pairs) == len(set(model.pairs))


# --------------------------------------------------------------------- the shipped model


def test_the_shipped_model_can_be_inspected(embedded):
    first = run(Request("What is the capital of Zorvania?", 8), embedded)
    again = run(Request("What is the capital of Zorvania?", 8), embedded)
    assert first.scores == again.scores
    assert all(score.available for score in first.scores.values())
    assert 0 < first.sampled_mass <= 1 + 1e-6
    assert 0 <= first.certified <= math.log(len(first.recording.texts))
    assert first.verdict == again.verdict
