"""The experiment: its numbers are the model's own, and its judgement is an inspection's."""

import numpy as np
import pytest

from core import prompts
from core.data.world import grading
from core.studies.home import MEASURES, PREPARED, TIMES, Course, Lane, Step, challenge, lane
from core.studies.inspection.grading import judge
from core.studies.inspection.inspection import run
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.request import InvalidRequestError, Request
from core.studies.inspection.verdict import SCORE, Headline
from tests.fakes import QUERY, Searched, TableModel


@pytest.fixture(scope="module")
def prepared(embedded):
    found = {}
    for question in PREPARED:
        inspection = run(usual_request(question, embedded.capabilities), embedded)
        found[question] = inspection, lane(inspection, embedded, right=False)
    return found


def texts(inspection, answer):
    """An answer in all its spellings."""
    every = ([text for text, *_ in cluster.members] for cluster in inspection.clusters)
    return next((found for found in every if answer in found), [answer])


def test_a_lane_holds_the_models_own_probabilities(prepared, embedded):
    for inspection, found in prepared.values():
        assert found.own == inspection.verdict.answer != found.repeated
        assert [step.times for step in found.steps] == list(TIMES)
        asked = [
            prompts.iterative(embedded.reads(found.question), [found.repeated] * times)
            for times in TIMES
        ]
        expected = np.stack(
            [
                np.exp(embedded.log_likelihoods(asked, texts(inspection, answer))).sum(axis=1)
                for answer in (found.own, found.repeated, *found.others)
            ],
            axis=1,
        )
        seen = [(step.own, step.repeated, *step.others) for step in found.steps]
        assert seen == pytest.approx(expected, abs=1e-6)


def test_the_prepared_lanes_tell_the_story(prepared):
    """One known, one with many answers, one that everybody gets wrong, one made up."""
    known, many, mistaken, made_up = (found for _, found in prepared.values())
    assert [one.headline for one in (known, many, mistaken, made_up)] == [
        *(Headline.BELIEVE, Headline.BELIEVE, Headline.ABSTAIN, Headline.UNTAUGHT)
    ]
    assert [one.right for one in (known, many, mistaken, made_up)] == [True, True, False, False]
    assert [one.course for one in (known, many, mistaken, made_up)] == [
        *(Course.STANDS, Course.SHARES, Course.GIVES_WAY, Course.GIVES_WAY)
    ]
    told = TIMES.index(1)
    assert min(step.own for step in known.steps) > 0.9
    assert min(step.own for step in many.steps) > 0.05
    for one in (mistaken, made_up):
        assert one.steps[told].repeated > 0.5 > one.steps[told].own


@pytest.mark.parametrize(
    ("own", "course"),
    [
        ([0.9, 0.5, 0.9], Course.STANDS),
        ([0.9, 0.4, 0.9], Course.GIVES_WAY),
        ([0.4, 0.3, 0.2], Course.SHARES),
        ([0.4, 0.3, 0.1], Course.GIVES_WAY),
        ([0.0, 0.0, 0.0], Course.SHARES),
    ],
)
def test_an_answer_gives_way_when_it_loses_more_than_half(own, course):
    steps = tuple(Step(n, share, 0.0) for n, share in enumerate(own))
    assert Lane("", "", "", steps, Headline.BELIEVE, None, {}).course == course


def test_home_and_the_clusters_of_an_inspection_say_the_same(prepared):
    for inspection, found in prepared.values():
        (cluster,) = (c for c in inspection.clusters if c.text == found.own)
        assert found.steps[0].own == pytest.approx(cluster.mass, abs=1e-5)


def test_where_many_answers_are_right_each_is_named_beside_the_two(prepared):
    inspection, found = prepared["Name a yellow fruit."]
    named = {found.own, found.repeated, *found.others}
    assert len(found.others) > 2
    assert named <= {cluster.text for cluster in inspection.clusters}
    assert all(len(step.others) == len(found.others) for step in found.steps)


def test_right_is_what_an_inspection_judges(prepared):
    for inspection, found in prepared.values():
        if judgement := judge(inspection):
            (judged,) = (score for score in judgement.scores if score.name == SCORE)
            assert found.right == judged.right
        else:
            assert grading.find(found.question) is None and found.right is False


def test_no_threshold_of_entropy_wins_the_challenge_and_some_of_mutual_information_do(prepared):
    drawn = [found for _, found in prepared.values()]
    entropy, information = (challenge(drawn, measure) for measure in MEASURES)
    assert not entropy.can_be_won
    assert information.can_be_won
    assert information.highest > 2 * information.lowest


@pytest.mark.parametrize(
    ("doubts", "right", "won"),
    [
        ([0.1, 0.3], [True, False], [False, True, True, False]),
        ([0.3, 0.1], [True, False], [False] * 4),
        ([0.2, 0.2], [True, False], [False] * 4),
        ([0.1, 0.3], [True, None], [False, True, True, True]),
    ],
)
def test_a_challenge_is_won_between_the_worst_right_and_the_best_wrong(doubts, right, won):
    lanes = [
        Lane("", "", "", (), Headline.BELIEVE, r, {SCORE: d})
        for d, r in zip(doubts, right, strict=True)
    ]
    found = challenge(lanes, SCORE)
    for threshold, expected in zip((0.05, 0.2, 0.3, 0.9), won, strict=True):
        answered = [d < threshold for d in doubts]
        good = all(a == r for a, r in zip(answered, right, strict=True) if r is not None)
        assert good == expected == (found.lowest < threshold <= found.highest)
    assert found.can_be_won == any(won)


def table(answers, first, cls=TableModel):
    model = cls(answers, first, np.tile(first, (len(first), 1)))
    for times in TIMES:
        for told in answers:
            model.table[prompts.iterative(QUERY, [told] * times)] = dict(
                zip(answers, first, strict=True)
            )
    return model


def test_a_question_of_ones_own_is_told_the_models_second_answer():
    model = table(["x", "y", "z"], [0.5, 0.3, 0.2])
    found = lane(run(Request(QUERY, 200), model), model)
    assert (found.own, found.repeated, found.right) == ("x", "y", None)
    assert found.steps[3].own == pytest.approx(0.5)


def test_home_tells_a_single_answer_what_its_inspection_tells_it(prepared):
    """Lyon, for the capital of France: "French" stood there once."""
    inspection, found = prepared["What is the capital of France?"]
    assert found.repeated == inspection.others[0][0] == "Lyon"


def test_a_model_with_one_answer_is_told_one_from_elsewhere_or_says_that_it_has_none():
    model = table(["x"], [1.0], Searched)
    inspection = run(Request(QUERY, 10), model)
    assert len(inspection.clusters) == 1
    if inspection.others:
        assert lane(inspection, model).repeated == inspection.others[0][0]
    else:
        with pytest.raises(InvalidRequestError, match="only one answer"):
            lane(inspection, model)


def test_shares_are_never_more_than_all(prepared):
    for _, found in prepared.values():
        for step in found.steps:
            shares = (step.own, step.repeated, *step.others)
            assert all(0 <= share <= 1 for share in shares) and sum(shares) <= 1 + 1e-6
