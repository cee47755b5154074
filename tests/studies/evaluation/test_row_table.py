"""Rows one by one: found by their words, in order, and as files in which no formula runs."""

import io
from dataclasses import replace

import numpy as np
import pytest
from pyarrow import parquet

from core.data.datasets.tables import QuestionFile
from core.reports.evaluation import words
from core.studies.evaluation.results import read_results
from core.studies.evaluation.row_table import (
    RowPart,
    as_csv,
    as_parquet,
    listed_rows,
    rows_table,
    scatter_points,
)
from core.studies.evaluation.rows import SCHEMA
from tests.csv_files import records_in
from tests.hostile import TEXTS
from tests.studies.evaluation.worlds import written

INFORMATION, ENTROPY = "mutual_information", "semantic_entropy"


def row(doubt, right, **more):
    return {INFORMATION: doubt, f"{INFORMATION}_correct": right, ENTROPY: 0.5, **more}


@pytest.fixture
def found(tmp_path):
    return read_results(
        written(
            tmp_path / "run",
            row(0.4, True, query="Which sea is RED?", source="seas"),
            row(0.1, False, mutual_information_answer="Élan"),
            row(None, False, mutual_information_answer="green"),  # wrong by the paper’s label
            row(
                0.2, True, answers=[["green", "lime"], ["blue"]], mutual_information_answer="green"
            ),
        )
    )


@pytest.mark.parametrize(
    ("part", "words", "rows"),
    [
        (RowPart.ALL, "", [1, 3, 0, 2]),  # the least doubtful first, without a doubt last
        (RowPart.RIGHT, "", [3, 0, 2]),
        (RowPart.WRONG, " ", [1]),
        (RowPart.UNKNOWN, "", [2]),
        (RowPart.LABELS_DIFFER, "", [2]),
        (RowPart.ALL, "sea red", [0]),
        (RowPart.ALL, "SEAS", [0]),
        (RowPart.ALL, "élan", [1]),
        (RowPart.ALL, "lime number", [3]),
        (RowPart.RIGHT, "élan", []),
        (RowPart.ALL, "a word that is nowhere", []),
    ],
)
def test_rows_are_found(found, part, words, rows):
    assert listed_rows(found, INFORMATION, part, words).tolist() == rows


def test_rows_as_a_table(found):
    table = rows_table(found, INFORMATION, np.array([3, 1]))
    assert table["answer"] == ["green", "Élan"]
    assert table["right answers"] == ["green | blue", "green"]
    assert table["right or wrong"] == ["right", "wrong"] and table["doubt"] == [0.2, 0.1]
    unseen = rows_table(found, INFORMATION, np.array([2]))
    assert unseen["doubt"] == [None] and unseen["right or wrong"] == ["right"]
    assert unseen["token F1 ≥ 0.25 (the paper’s)"] == ["wrong"]
    assert rows_table(found, INFORMATION, np.zeros(0, int))["question"] == []


def test_files_hold_every_column_and_no_formula(tmp_path):
    hostile = [row(-0.5, True, mutual_information_answer=text, query=text) for text in TEXTS]
    found = read_results(written(tmp_path / "run", *hostile))
    cells = records_in(as_csv(found))
    assert list(cells[0]) == SCHEMA.names and len(cells) == len(TEXTS)
    assert not [cell["query"] for cell in cells if cell["query"].startswith(("=", "+", "@"))]
    assert {cell[INFORMATION] for cell in cells} == {"-0.5"}
    assert (cells[0]["answers"], cells[0]["mutual_information_correct"]) == ('[["red"]]', "1")
    assert parquet.read_table(io.BytesIO(as_parquet(found))).equals(found.table)


def test_who_asks_the_questions_of_a_table_again_has_the_same_right_answers(found, tmp_path):
    """Names of one answer were joined by “ = ”, and read as one name that nobody gives."""
    files = {tmp_path / "rows.csv": as_csv(found), tmp_path / "rows.parquet": as_parquet(found)}
    for path, content in files.items():
        path.write_bytes(content)
    read = [[one.answers for one in QuestionFile(path).questions()] for path in files]
    assert read[0] == read[1] and (("green", "lime"), ("blue",)) in read[0]


def test_questions_are_plotted_that_have_both_doubts(found):
    drawn = scatter_points(found, 100)
    assert drawn.rows.tolist() == [0, 1, 3] and drawn.right.tolist() == [True, False, True]
    assert drawn.information.tolist() == [0.4, 0.1, 0.2]
    assert words.scatter(drawn) == [
        "Not drawn: 1 question of which too little was seen, or nothing may be served."
    ]
    doubts = {"entropy": np.array([1.0, 1.0, 0.5]), "information": np.array([0.1, 0.9, 0.2])}
    assert words.above(replace(drawn, **doubts)) == (
        "Of 2 right answers, entropy doubts 1 and mutual information 0; of 1 wrong ones, 1 and 1. "
        "Doubted: above 0.7 nats, the lines."
    )
    few = scatter_points(found, 2)
    assert (
        len(few.rows) == 2
        and words.scatter(few)[1] == "Drawn: a random sample of 2 of 3 questions."
    )
