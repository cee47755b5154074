"""Files in the shape that other tools write, each read as its README says."""

import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from core.cli import main
from core.data.datasets.tables import uploaded_questions
from core.data.tabular.directions import UnknownDirectionError
from core.data.tabular.grading import Grader
from core.data.tabular.labelled_rows import UnknownLabelsError, labelled_rows
from core.data.tabular.suggestions import suggest
from core.data.tabular.suspicion import Claim, SuspiciousScoreError
from core.data.tabular.uploads import parse
from tests.data.datasets.test_predictions import graded_by

FOLDER = Path(os.environ.get("BELIEVE_TEST_DATA", "")) / "foreign_files"
pytestmark = pytest.mark.skipif(
    not os.environ.get("BELIEVE_TEST_DATA"), reason="BELIEVE_TEST_DATA names no folder of files"
)


def upload(name):
    (path,) = FOLDER.glob(f"{name}_*")
    return parse(path.read_bytes(), path.name)


MIXED = {"g03": (("temperature", None),)}  # of two, and all rows count


def read(name, claims=Claim, filters=None):
    table, columns = upload(name), suggest(upload(name))
    filters = MIXED.get(name, ()) if filters is None else filters
    vouched = tuple((score.column, claim) for score in columns.scores for claim in claims)
    return labelled_rows(table, replace(columns, vouched=vouched, filters=filters))


@pytest.mark.parametrize(
    ("name", "label", "right", "rows"),
    [
        ("g01", "is_hallucination", 1, 80),
        ("g02", "incorrect", 1, 80),
        ("g03", "verdict", 50, 80),
        ("g05", "verdict", 48, 60),
        ("g06", "correct", 48, 60),
        ("g07", "correct", 48, 60),
        ("g14", "result.correct", 48, 60),
        ("g15", "richtig?", 18, 20),
        ("g16", "correct", 18, 20),
        ("g18", "correct", 26, 30),
        ("g21", "hallucination", 67, 160),
    ],
)
def test_labels_mean_what_their_heading_or_words_say(name, label, right, rows):
    data = read(name)
    (score,) = suggest(upload(name)).scores
    assert score.correct == label
    (correct,) = data.correct.values()
    assert (correct.sum(), len(correct)) == (right, rows)


@pytest.mark.parametrize("name", ["g03", "g05", "g06", "g07", "g14", "g21"])
def test_scores_that_were_made_up_without_a_mistake_are_asked_about(name):
    with pytest.raises(SuspiciousScoreError, match="AUROC 1"):
        read(name, ())


def test_rows_of_one_question_count_once():
    data = read("g08")
    assert (len(data.kept), len(set(data.questions.tolist()))) == (120, 30)


def test_numbers_are_read_as_other_programs_write_them():
    for name, score, first in (
        ("g06", "confidence", [0.89, 0.16, 0.57, 0.62, 0.71, 0.93, math.nan]),
        ("g07", "confidence", [0.89, 0.16]),
        ("g14", "result.confidence", [0.89, 0.16]),
        ("g16", "confidence", [0.89, 0.16]),
        ("g18", "perplexity", [975.7, 3243.8]),
    ):
        numbers = read(name).numbers(score)[: len(first)]
        np.testing.assert_allclose(numbers, first)
    assert read("g06").problems == ("Line 8: “confidence” is not a number (counts as missing).",)


def test_forty_questions_under_two_filters_are_forty():
    for value, rows in (("strict", 40), (None, 80)):
        data = read("g09", filters=(("filter", value),))
        assert (len(data.kept), len(set(data.questions.tolist()))) == (rows, 40)


def test_of_a_gold_and_a_predicted_column_neither_is_taken_as_labels():
    with pytest.raises(UnknownLabelsError):
        read("g04")
    table = graded_by(upload("g04"), Grader.SAME_ANSWER)
    (correct,) = labelled_rows(table, suggest(table)).correct.values()
    assert (correct.sum(), len(correct)) == (44, 80)


def test_minus_the_logarithm_of_a_probability_is_asked_about():
    with pytest.raises(UnknownDirectionError):
        read("g22")


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("g01", [], "(100.0%), and the target is 5%"),
        ("g02", [], "(100.0%), and the target is 5%"),
        ("g04", [], "Add --grade same-answer, paper, person or model, or --correct COLUMN."),
        ("g04", ["--correct", "label"], "Add --meaning VALUE=right"),
        ("g07", [], "Add --vouch SCORE"),
        ("g09", [], "Add --filter COLUMN=VALUE"),
        ("g09", ["--filter", "filter=strict"], "Too few labelled answers have a score: 40."),
        ("g22", [], "Add --larger-is-surer or --larger-is-doubt"),
    ],
)
def test_the_command_refuses_with_the_option_to_add(name, options, says):
    (path,) = FOLDER.glob(f"{name}_*")
    result = CliRunner().invoke(main, ["calibrate", str(path), *options, "--no-keep"])
    assert (result.exit_code, result.stdout) == (1, "") and says in result.stderr


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        ("g10", [(("Crew 4",), ("The fourth crew",)), (("Crew 9",),)]),
        ("g11", [(("Crew 4",),), ()]),  # to the other, any answer is wrong
        ("g12", [(("Crew 4",),), (("Crew 9",),)]),
        ("g13", [(("Nothing happens",), ("It has two names",))]),
        ("g17", [(("Crew 4", "B"),), (("Crew 9", "A"),)]),
        ("g19", [(("Crew 0",),), (("Crew 1",),), (("Crew 2",),)]),
        ("g20", [(("7",),), (("1,200",),)]),
    ],
)
def test_questions_have_their_right_answers(name, answers):
    table = upload(name)
    assert [each.answers for each in uploaded_questions(table, print)] == answers
    if name == "g17":
        assert "B: Crew 4" in next(uploaded_questions(table)).query


@pytest.mark.parametrize(("name", "number"), [("g10", 2), ("g12", 2), ("g13", 1), ("g19", 3)])
def test_the_command_reads_the_same_questions(name, number, tmp_path):
    (path,) = FOLDER.glob(f"{name}_*")
    out = tmp_path / "questions.jsonl"
    result = CliRunner().invoke(main, ["dataset", "file", str(path), "--out", str(out)])
    assert result.exit_code == 0 and len(out.read_text().splitlines()) == number
