"""A policy on the rows of a run: what it answers, and whether it is a fair test."""

import math
from dataclasses import replace

import numpy as np
import pytest

from core.abstention.policy import PolicyError, pipeline_in
from core.data.datasets.world import NEVER_TAUGHT
from core.data.tabular import uploads
from core.data.tabular.labelled_rows import labelled_rows
from core.data.tabular.suggestions import suggest
from core.reports.evaluation import words
from core.studies.calibration.calibration import Target, calibrate
from core.studies.evaluation.decisions import decide, decisions_csv
from core.studies.evaluation.results import read_results
from core.studies.evaluation.row_table import listed_rows, rows_table
from core.studies.evaluation.run import evaluate
from core.studies.evaluation.saved_run import Run, labelled_csv
from tests.csv_files import records_in
from tests.studies.evaluation.worlds import World, questions, surveyed, task, written

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
    return calibrate(labelled_rows(upload, suggest(upload)), Target(0.3, 0.8, "ltt", SCORE)).policy


def test_it_answers_below_its_threshold_and_counts_what_is_wrong(runs, policy):
    found = decide(runs[1], policy)
    doubts, right = runs[1].doubts[SCORE], runs[1].correct[SCORE]
    answers = doubts < policy.threshold
    assert found.answers.tolist() == answers.tolist() and 0 < answers.sum() < 60
    errors = int((answers & ~right).sum())
    assert (found.observed.answered, found.observed.errors) == (answers.sum(), errors)
    first, second = words.decisions(found)
    assert first.startswith(f"The policy answers {answers.sum()} questions of 60 (")
    assert f"{errors} of them wrongly" in first
    for other, says in ((errors, "also"), (0, "0.0%")):
        assert (
            f"; {says} by the paper’s token F1)."
            in words.decisions(replace(found, other_errors=other))[0]
        )
    assert f"It answers where M.I. is {policy.where}. This describes these rows and is no" in second
    assert "%" not in second
    assert math.isnan(found.observed.upper_bound)  # a bound would be a look that nobody paid for
    nothing = decide(runs[1], replace(policy, threshold=-1.0))
    assert nothing.observed.answered == 0 and "wrong" not in words.decisions(nothing)[0]
    assert {b.name: b.queries for b in found.by_source} == {"one": 45, "many": 15}
    assert sum(b.answered for b in found.by_source) == found.observed.answered


def test_whoever_is_judged_the_answer_and_its_label_are_of_one_score(tmp_path, policy):
    run = written(tmp_path / "run", {SCORE: 0.0, f"{SCORE}_correct": False}, {SCORE: 0.0})
    found = read_results(run, served="greedy_probability")
    shown = rows_table(found, SCORE, np.arange(2))
    assert shown["right or wrong"] == ["right", "right"] and "another" not in shown["answer"]
    assert not len(listed_rows(found, SCORE, words="another"))
    decided = decide(found, policy)  # which serves its own
    assert (decided.observed.answered, decided.observed.errors) == (2, 1)
    first, _ = records_in(decisions_csv(decided))
    assert (first["answer"], first[f"{SCORE}_correct"]) == ("another", "0")


def test_what_lists_that_were_never_taught_change_is_counted(runs, policy):
    results = read_results(runs[1].run)
    vars(results)["sources"] = np.where(results.sources == "many", f"many, {NEVER_TAUGHT}", "one")
    answers = (results.doubts[SCORE] < policy.threshold) & (results.sources == "one")
    errors, answered = int((answers & ~results.correct[SCORE]).sum()), int(answers.sum())
    assert 0 < answered < (results.doubts[SCORE] < policy.threshold).sum()
    assert words.decisions(decide(results, policy))[1] == (
        f"Without lists that the model was never taught, {errors} of {answered} answers are wrong "
        f"({errors / answered:.1%})."
    )


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
    cells = records_in(decisions_csv(found))
    assert [cell["decision"] for cell in cells] == [
        "answer" if answers else "abstain" for answers in found.answers
    ]
    assert cells[0]["id"] == runs[1].ids[0] and float(cells[0][SCORE]) == runs[1].doubts[SCORE][0]
    again = uploads.parse(decisions_csv(found), "decisions.csv")  # it says whose labels they are
    read = labelled_rows(again, suggest(again))
    assert read.codebooks[SCORE].of_rule(True, True) and pipeline_in(read.pipeline)
