"""Judgements: every score held against the truth, where the truth is known and only there."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from core.data.world import grading
from core.reports.inspection.truth import truth
from core.studies.inspection.certificates import EMBEDDED, default_policies, policies_file
from core.studies.inspection.grading import judge
from core.studies.inspection.inspection import read, run
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.request import Request
from core.studies.inspection.serialise import to_dict
from core.studies.inspection.verdict import Decision, DecisionRule
from core.uncertainty.scores import SCORES
from tests.fakes import Searched, TableModel, certified, words
from tests.studies.inspection.rules import default_rule

KNOWN = "What is the capital of France?"
MANY = "Name a yellow fruit."
OUTSIDE = "What is the capital of Zorvania?"


def taught(answers, first, query=KNOWN, *, copying=0.0, **rest):
    """A model with these answers, which repeats what it is told with probability `copying`."""
    first = np.asarray(first, float)
    rows = copying * np.eye(len(first)) + (1 - copying) * first
    return certified(Searched(answers, first, rows, query=query, **rest))


def seen(model, query=KNOWN):
    return run(usual_request(query, model.capabilities), model)


def by_name(judgement):
    return {judged.name: judged for judged in judgement.scores}


def on_file():
    """The thresholds of the bundled policies; a score without one never answers."""
    found = json.loads(policies_file(EMBEDDED).read_text(encoding="utf-8"))
    return {name: found[name]["threshold"] if found[name] else -math.inf for name in SCORES}


def by_definition(inspection, threshold):
    """What every score decides, from its own doubt and the thresholds that are on file."""
    thresholds = on_file() | {threshold.score: threshold.value}
    clusters = len(inspection.clusters)
    least = threshold.least_mass if clusters > 1 else max(threshold.least_mass, 0.5)
    decided = {
        name: inspection.sampled_mass >= least
        and score.doubt is not None
        and score.doubt < thresholds[name]
        for name, score in inspection.scores.items()
    }
    certified = inspection.certified_bound
    if certified is not None and certified >= thresholds["mutual_information"]:
        decided["mutual_information"] = False
    return decided


# ------------------------------------------------------------------------ who is judged


def test_another_model_is_not_judged():
    """It was not taught this world: what it says may be right in its own."""
    model = TableModel(["Paris", "Lyon"], [0.8, 0.2], [[0.8, 0.2]] * 2, query=KNOWN)
    assert judge(seen(model)) is None


def test_a_question_outside_the_world_is_not_judged():
    assert judge(seen(taught(["Zor", "Van"], [0.8, 0.2], OUTSIDE), OUTSIDE)) is None


@pytest.mark.parametrize("typed", ["what is the CAPITAL of  france", "Name the capital of France."])
def test_a_question_is_judged_however_it_is_typed(typed):
    judgement = judge(seen(taught(["Paris", "Lyon"], [0.8, 0.2], typed), typed))
    assert judgement.fact is grading.find(KNOWN)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("Name a person who has walked on the Moon.", "Right answers in its training (11): Neil"),
        ("Name one of the Great Lakes.", "All right answers (5): Superior, "),
        (KNOWN, "It answered, and was right. The truth: Paris"),
    ],
)
def test_a_list_is_what_was_taught_and_a_closed_one_all_there_is(embedded, query, says):
    found = seen(embedded, query)
    (told, _) = truth(judge(found), found)
    assert says in told and ("but for Alan Bean" in told) == ("Moon" in query)


# ---------------------------------------------------------------------- the thresholds


def thresholds():
    """Every score's λ; −∞ answers nothing."""
    return {
        name: policy.threshold if policy else -math.inf
        for name, policy in default_policies(EMBEDDED).items()
    }


def test_the_thresholds_are_those_on_file_one_for_each_score():
    assert thresholds() == on_file()
    assert math.isfinite(thresholds()["mutual_information"])
    threshold = default_rule()
    assert thresholds()[threshold.score] == threshold.value


# -------------------------------------------------------------------- what is judged


@pytest.mark.parametrize(
    ("answers", "first", "copying", "right", "answered"),
    [
        (["Paris", "Lyon"], [0.95, 0.05], 0.0, True, True),
        (["Lyon", "Paris"], [0.95, 0.05], 0.0, False, True),
        (["Lyon", "Nice", "Metz"], [0.4, 0.35, 0.25], 0.9, False, False),
        (["Paris", "Nice", "Metz"], [0.4, 0.35, 0.25], 0.9, True, False),
    ],
)
def test_it_is_well_decided_to_answer_what_is_right_and_to_hold_back_what_is_wrong(
    answers, first, copying, right, answered
):
    inspection = seen(taught(answers, first, copying=copying))
    judged = by_name(judge(inspection))["mutual_information"]
    assert (judged.answer, judged.right, judged.answered) == (answers[0], right, answered)
    assert judged.well_decided == (right == answered)
    assert (inspection.verdict.decision is Decision.ANSWER) == answered


def test_entropy_withholds_what_mutual_information_answers():
    """Four right answers, none of which changes for another being told: the paper's point."""
    fruit = ["Banana", "Lemon", "Mango", "Quince"]
    judged = by_name(judge(seen(taught(fruit, [0.25] * 4, MANY), MANY)))
    assert judged["mutual_information"].well_decided
    assert judged["semantic_entropy"].right and not judged["semantic_entropy"].answered


@pytest.mark.parametrize("copying", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("answers", [["Paris", "Lyon", "Nice"], ["Lyon", "Paris", "Nice"]])
def test_every_score_is_judged_by_its_own_answer_and_threshold(answers, copying):
    inspection = seen(taught(answers, [0.6, 0.3, 0.1], copying=copying))
    judgement = judge(inspection)
    assert [judged.name for judged in judgement.scores] == list(SCORES)
    decided = by_definition(inspection, default_rule())
    for judged in judgement.scores:
        assert judged.answer == inspection.scores[judged.name].answer
        assert judged.right == (judged.answer == "Paris")
        assert judged.threshold == thresholds()[judged.name]
        assert judged.answered == decided[judged.name]
        assert judged.well_decided == (judged.answered == judged.right)


# -------------------------------------------------------------- the verdict's own score


def test_too_little_sampled_is_not_answered_however_small_the_doubt():
    """Eight of 1,000 equal answers: no doubt to see, and next to nothing seen."""
    inspection = seen(taught(words(1000), np.full(1000, 1 / 1000)))
    judged = by_name(judge(inspection))["mutual_information"]
    assert inspection.verdict.decision is Decision.TOO_LITTLE
    assert inspection.scores["mutual_information"].doubt < judged.threshold
    assert not judged.answered


@pytest.mark.parametrize("value", [0.0, 0.05, 10.0])
def test_a_threshold_that_is_moved_moves_the_verdicts_score_and_no_other(value):
    recording = seen(taught(["Paris", "Lyon", "Nice"], [0.5, 0.3, 0.2], copying=0.4)).recording
    before = by_name(judge(read(recording)))
    inspection = read(recording, rule=DecisionRule(value, 0.05))
    after = by_name(judge(inspection))
    moved = after.pop("mutual_information")
    assert moved.threshold == value
    assert moved.answered == (inspection.verdict.decision is Decision.ANSWER)
    del before["mutual_information"]
    assert after == before


@pytest.mark.parametrize("name", sorted(SCORES))
def test_the_verdict_may_be_another_scores(name):
    recording = seen(taught(["Paris", "Lyon", "Nice"], [0.5, 0.3, 0.2], copying=0.4)).recording
    threshold = DecisionRule(0.2, 0.05, score=name)
    inspection = read(recording, rule=threshold)
    decided = by_definition(inspection, threshold)
    for judged in judge(inspection).scores:
        own = threshold.value if judged.name == name else thresholds()[judged.name]
        assert judged.threshold == own
        assert judged.answered == decided[judged.name]


def test_a_score_that_cannot_tell_does_not_answer():
    inspection = seen(taught(["Paris", "Lyon"], [0.6, 0.4], cut={"Paris", "Lyon"}))
    judged = by_name(judge(inspection))["certified_mutual_information"]
    assert inspection.scores["certified_mutual_information"].doubt is None
    assert judged.right and not judged.answered and not judged.well_decided


# ------------------------------------------------------------------- the shipped model


@pytest.mark.parametrize("query", [KNOWN, MANY])
def test_the_shipped_model_is_judged(embedded, query):
    assert judge(run(Request(query, 5), embedded)).fact is grading.find(query)


@pytest.mark.parametrize(
    ("query", "answers"), [(KNOWN, ["Paris", "Lyon"]), (MANY, ["banana", "lemon"])]
)
def test_what_other_weights_were_shown_is_not_said(query, answers):
    """As of a result of another version: the world that is here is not what those were taught."""
    ours = seen(taught(answers, [0.9, 0.1], query), query)
    other = read(replace(ours.recording, revision="0" * 12))
    for inspection, is_known in ((ours, True), (other, False)):
        sentences, saved = truth(judge(inspection), inspection), to_dict(inspection)["truth"]
        assert ("training documents" in sentences[1], "its training" in sentences[0]) == (
            *(is_known, is_known and query == MANY),
        )
        assert (saved["exposures"] is not None) is (saved["band"] is not None) is is_known
    assert "not known: other weights" in truth(judge(other), other)[1]
