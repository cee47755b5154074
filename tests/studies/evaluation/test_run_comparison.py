"""Two runs side by side: what differs, question by question, worked out by hand."""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binomtest

from core.abstention import resampled_measures
from core.abstention.significance import holm
from core.reports.evaluation import words
from core.studies.evaluation.results import read_results
from core.studies.evaluation.rows import SCHEMA
from core.studies.evaluation.run import evaluate
from core.studies.evaluation.run_comparison import (
    Change,
    compare_scores,
    differences,
    in_common,
    shared_questions,
)
from core.studies.evaluation.saved_run import Run
from tests.studies.evaluation.worlds import World, questions, surveyed, task, written

INFORMATION = "mutual_information"


def row(doubt, right, answer=None):
    served = {} if answer is None else {f"{INFORMATION}_answer": answer, "answers": [[answer]]}
    return {INFORMATION: doubt, f"{INFORMATION}_correct": right, **served}


@pytest.fixture
def both(tmp_path):
    """Five questions of one run, four of which the other asks."""
    right = {"answers": [["blue"]]}
    here = (row(0.1, True), row(0.2, False) | right, row(0.9, True), row(None, False))
    here = (*here, row(0.5, True))
    there = (row(0.3, True), row(0.9, True, "blue"), row(0.8, False), row(0.1, False))
    return shared_questions(
        read_results(written(tmp_path / "here", *here)),
        read_results(written(tmp_path / "there", *there)),
    )


def test_rows_of_the_same_question_are_put_together(both):
    assert words.overlap(both) == "4 questions in both; 1 only in this run, 0 only in the other."
    assert both.at_here.tolist() == both.at_there.tolist() == [0, 1, 2, 3]
    assert both.scores == (INFORMATION,)


def test_questions_are_the_same_however_typed_and_left_out_with_other_right_answers(both):
    answers = [*both.there.table["answers"].to_pylist()]
    answers[1], answers[2], answers[3] = [["Blue", "blue "]], [["red"]], [*answers[3], ["more"]]
    table = both.there.table.drop(["answers"]).append_column("answers", pa.array(answers))
    there = replace(both.there, table=table.select(SCHEMA.names))
    there.queries[:] = [f" {query.upper().rstrip('?')} " for query in there.queries]
    again = shared_questions(both.here, there)
    assert again.at_here.tolist() == again.at_there.tolist() == [0, 1]
    assert again.at_others.tolist() == [2, 3]
    assert words.overlap(again) == (
        "4 questions in both; 1 only in this run, 0 only in the other. Left out, for "
        "other answers count as right in the other run: 2 questions (“What is question number "
        "2?” and “What is question number 3?”)."
    )


def test_of_a_question_asked_twice_the_first_row_counts(both):
    both.here.queries[4] = both.here.queries[0]
    both.there.queries[3] = both.there.queries[0]
    again = shared_questions(both.here, both.there)
    assert again.at_here.tolist() == again.at_there.tolist() == [0, 1, 2]
    assert words.overlap(again) == "3 questions in both; 1 only in this run, 0 only in the other."


@pytest.mark.parametrize(
    ("change", "places"),
    [
        (Change.ALL, [1, 0, 2, 3]),  # the largest change of doubt first, an unknown one last
        (Change.ONLY_HERE, [2]),
        (Change.ONLY_THERE, [1]),
        (Change.OTHER_ANSWER, [1, 2]),
        (Change.BOTH_WRONG, [3]),
    ],
)
def test_questions_by_what_became_of_them(both, change, places):
    assert both.of(change, INFORMATION).tolist() == places


def test_questions_as_a_table(both):
    found = both.table(np.array([1, 3]), INFORMATION)
    assert found["question"] == ["What is question number 1?", "What is question number 3?"]
    assert (found["answer, this run"], found["answer, the other"]) == (
        ["another", "another"],
        ["blue", "another"],
    )
    assert found["right or wrong, the other"] == ["right", "wrong"]
    assert found["doubt, this run"] == [0.2, None]


def test_right_answers_and_measures_of_both(both, monkeypatch):
    monkeypatch.setattr(resampled_measures, "ENOUGH", 0)
    (side,) = compare_scores(both, 200)
    assert (side.right_here, side.right_there) == (0.5, 0.5)
    assert (side.only_here, side.only_there, side.chance) == (1, 1, 1.0)
    assert side.by.values == (0.75, 0.25)  # of two wrong and two right answers
    expected = resampled_measures.compare(
        dict(zip("ht", both.doubts(INFORMATION), strict=True)),
        dict(zip("ht", both.right(INFORMATION), strict=True)),
        np.arange(4),
        "h",
        number=200,
    )
    assert math.isnan(expected.differences["t"].lower) and math.isnan(side.by.difference.lower)
    assert words.side(side, both.here) == (
        "M.I.’s answer is right in 50.0% here and 50.0% there (by the paper’s token F1 50.0% and "
        "50.0%): only here 1, only there 1 (McNemar, Holm-adjusted p = 1.000). "
        "M.I. here and M.I. there: AUROC 0.750 against 0.250, difference 0.500; "
        "how much of that is chance is not known."
    )
    neither = "Neither run is shown to answer more rightly: 50.0% against 50.0%."
    assert words.which_run(side) == neither
    more = replace(side, right_here=0.25, chance=0.04)
    assert words.which_run(more) == "The other run answers more rightly: 50.0% against 25.0%."
    alike = replace(side, by=replace(side.by, p_value=0.2, adjusted=0.2))
    assert words.which_run(alike) == (
        f"{neither} How well Mutual information finds wrong answers is not shown to differ."
    )
    better = replace(more, by=replace(side.by, p_value=0.01, adjusted=0.02))
    assert words.which_run(better).endswith(
        "25.0%. Mutual information finds wrong answers better here."
    )


def test_the_paired_bootstrap_draws_the_same_questions_of_both(tmp_path):
    runs = []
    for name, samples in (("here", 10), ("there", 4)):
        evaluate(surveyed(questions(60)), task(World(), samples), tmp_path / name)
        runs.append(read_results(Run(tmp_path / name)))
    both = shared_questions(*runs)
    assert differences(runs[0].run, runs[1].run) == ["k = 4 there, 10 here"]
    found = {side.score: side for side in compare_scores(both, 80)}
    uneven = [(side.only_here, side.only_here + side.only_there) for side in found.values()]
    splits = [binomtest(k, n).pvalue if n else 1.0 for k, n in uneven]
    family = holm([*splits, *(side.by.p_value for side in found.values())])
    assert [s.chance for s in found.values()] == pytest.approx(family[: len(splits)])
    assert [s.by.adjusted for s in found.values()] == pytest.approx(family[len(splits) :])
    for name in both.scores:
        expected = resampled_measures.compare(
            dict(zip("ht", both.doubts(name), strict=True)),
            dict(zip("ht", both.right(name), strict=True)),
            both.here.questions[both.at_here],
            "h",
            number=80,
        )
        by = found[name].by
        assert by.values[0] == pytest.approx(expected.values["h"].value)
        interval = expected.differences["t"]
        assert (by.difference.lower, by.difference.upper) == pytest.approx(
            (interval.lower, interval.upper)
        )


def test_all_that_differs_is_named(tmp_path):
    evaluate(surveyed(questions(4)), task(World()), tmp_path / "here")
    evaluate(surveyed(questions(5), "others.jsonl"), task(World(), seed=3), tmp_path / "there")
    here, there = Run(tmp_path / "here"), Run(tmp_path / "there")
    assert differences(here, there) == [
        "seed = 3 there, 0 here",
        "questions = others.jsonl there, questions.jsonl here",
    ]
    assert differences(here, here) == []
    evaluate(surveyed(questions(5)), task(World()), tmp_path / "more")
    more = Run(tmp_path / "more")
    assert differences(here, more) == ["another version of questions.jsonl: 5 there, 4 here"]
    assert in_common([here, more]).tolist() == [[4, 4], [4, 5]]


def test_runs_without_a_common_question(tmp_path):
    here = read_results(written(tmp_path / "here", row(0.1, True)))
    there = read_results(written(tmp_path / "there", row(0.1, True)))
    there.queries[0] = "Another?"
    none = shared_questions(here, there)
    assert len(none) == 0 and none.of(Change.ALL, INFORMATION).tolist() == []
    (side,) = compare_scores(none, 5)
    assert math.isnan(side.right_here) and math.isnan(side.by.difference.value)
