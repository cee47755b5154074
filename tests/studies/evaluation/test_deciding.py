"""A policy on the rows of a run: what it answers, and whether it is a fair test."""

import csv
import io
import math
from dataclasses import replace

import pytest

from core.abstention.ledger import MOST_KEPT
from core.abstention.policy import PolicyError
from core.abstention.thresholds import clopper_pearson
from core.data.tabular import uploads
from core.data.tabular.labelled import labelled
from core.data.tabular.suggestions import suggest
from core.reports.evaluation import words
from core.studies.calibration.calibration import Target, calibrate
from core.studies.evaluation.deciding import decide, decisions_csv
from core.studies.evaluation.reading import Filter, Run, labelled_csv
from core.studies.evaluation.results import read_results
from core.studies.evaluation.run import evaluate
from tests.studies.evaluation.worlds import World, questions, surveyed, task

SCORE = "mutual_information"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    evaluate(surveyed(questions(60)), task(World()), folder / "one")
    evaluate(surveyed(questions(60, 60)), task(World()), folder / "two")
    return [read_results(Run(folder / name)) for name in ("one", "two")]


@pytest.fixture(scope="module")
def policy(runs):
    upload = uploads.parse(labelled_csv(runs[0].run)[0], "run.csv")
    data = labelled(upload, suggest(upload))
    return calibrate(data, Target(0.3, 0.8, "ltt", SCORE)).policy


def test_it_answers_below_its_threshold_and_counts_what_is_wrong(runs, policy):
    found = decide(runs[1], policy)
    doubts, right = runs[1].doubts[SCORE], runs[1].correct[SCORE]
    answers = doubts < policy.threshold
    assert found.answers.tolist() == answers.tolist() and 0 < answers.sum() < 60
    errors = int((answers & ~right).sum())
    assert (found.observed.answered, found.observed.errors) == (answers.sum(), errors)
    bound = clopper_pearson(errors, int(answers.sum()), 0.8)
    assert found.observed.upper_bound == bound
    first, second = words.decisions(found)
    assert first.startswith(f"The policy answers {answers.sum()} questions of 60 (")
    assert f"{errors} of them wrongly" in first
    assert second.startswith(f"With 80% confidence at most {bound:.1%} of answered questions")
    assert {b.name: b.queries for b in found.by_source} == {"one": 45, "many": 15}
    assert sum(b.answered for b in found.by_source) == found.observed.answered


def test_the_rows_that_it_comes_of_are_no_test_of_it(runs, policy):
    """However they are typed, filtered or judged: no bound stands anywhere."""
    own = decide(runs[0], policy)
    assert words.decisions(own)[1].startswith("All of these questions made this policy")
    filtered = decide(read_results(runs[0].run, [Filter("diverse")], "exact"), policy)
    assert 0 < filtered.observed.queries < 60
    assert words.decisions(filtered)[1].startswith("All of these questions made this policy")
    mixed = read_results(runs[1].run)
    mixed.queries[3] = runs[0].queries[5].upper() + " ?"
    mixed = decide(mixed, policy)
    assert words.decisions(mixed)[1].startswith("1 of 60 of these questions made this policy")
    assert "by the paper’s token F1)." in words.decisions(mixed)[0]
    large = replace(policy, labels=MOST_KEPT + 1)  # of which not every question is known
    large = decide(mixed.results, large)
    assert words.decisions(large)[1].startswith("All of these questions")
    for found in (own, filtered, mixed, large):
        assert math.isnan(found.observed.upper_bound)
        assert not any("confidence" in sentence for sentence in words.decisions(found))
    unknown = decide(runs[0], replace(policy, rows=""))
    assert "does not say which questions made it" in words.decisions(unknown)[1]


def test_more_wrong_answers_than_the_target_are_said(runs, policy):
    strict = replace(policy, threshold=math.inf, target_error=0.01)
    assert words.decisions(decide(runs[1], strict))[1].endswith(
        "not shown to be within the target of 1%. More are wrong here than the target allows."
    )
    nothing = decide(runs[1], replace(policy, threshold=-1.0))
    assert nothing.observed.answered == 0 and len(words.decisions(nothing)) == 1


def test_risk_control_bounds_errors_among_all_questions(runs, policy):
    control = replace(policy, method="crc", confidence=None)
    found = decide(runs[1], control)
    assert found.observed.upper_bound == clopper_pearson(found.observed.errors, 60, 0.9)
    assert "of all questions are answered and wrong" in words.decisions(found)[1]


def test_a_question_asked_twice_counts_once(runs, policy):
    twice = read_results(runs[1].run)
    twice.queries[1] = twice.queries[0]
    assert decide(twice, policy).observed.queries == 59


def test_another_pipeline_or_score_is_refused(runs, policy, tmp_path):
    evaluate(surveyed(questions(4)), task(World(), 20), tmp_path / "more")
    with pytest.raises(PolicyError, match="k = 10 there, 20 here"):
        decide(read_results(Run(tmp_path / "more")), policy)
    for other in (replace(policy, score="mine"), replace(policy, larger_is_surer=True)):
        with pytest.raises(PolicyError, match="No run has the score"):
            decide(runs[1], other)
    with pytest.raises(PolicyError, match="unknown origin"):
        decide(runs[1], replace(policy, pipeline=None))


def test_decisions_as_a_file(runs, policy):
    found = decide(runs[1], policy)
    cells = list(csv.DictReader(io.StringIO(decisions_csv(found).decode("utf-8-sig"), newline="")))
    assert [cell["decision"] for cell in cells] == [
        "answer" if answers else "abstain" for answers in found.answers
    ]
    assert cells[0]["id"] == runs[1].ids[0] and float(cells[0][SCORE]) == runs[1].doubts[SCORE][0]
