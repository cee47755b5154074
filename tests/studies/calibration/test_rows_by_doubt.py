"""The rows behind a threshold, by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from core.data.tabular import uploads
from core.data.tabular.labelled_rows import labelled_rows
from core.data.tabular.suggestions import suggest
from core.studies.calibration.calibration import Target, calibrate
from core.studies.calibration.rows_by_doubt import (
    RowSelection,
    by_doubt,
    question,
    ranks_near,
    table,
)

CONTENT = b"""question,confidence,correct,response,gold answers
Who?,0.9,1,She,She | Her
What?,0.7,0,That,This
,0.5,1,There,There
Why?,,0,Because,Nobody knows
When?,0.3,1,Now,Now
"""


@pytest.fixture(scope="module")
def found():
    upload = uploads.parse(CONTENT, "hand.csv")
    return calibrate(labelled_rows(upload, suggest(upload)), Target(score="confidence"))


@pytest.mark.parametrize(
    ("part", "rows"),
    [
        (RowSelection.ALL, [0, 1, 2, 4, 3]),  # the row without a score is the most doubtful
        (RowSelection.ANSWERED_WRONG, [1]),
        (RowSelection.ANSWERED_RIGHT, [0]),
        (RowSelection.WITHHELD_RIGHT, [2, 4]),
        (RowSelection.WITHHELD_WRONG, [3]),
    ],
)
def test_the_parts_of_a_threshold(found, part, rows):
    behind = by_doubt(found, -0.6)  # answer above 0.6
    assert behind.of(part).tolist() == rows and behind.number(part) == len(rows)


def test_nothing_and_everything(found):
    assert by_doubt(found, -math.inf).number(RowSelection.ANSWERED_RIGHT) == 0
    everything = by_doubt(found, math.inf)
    assert everything.of(RowSelection.WITHHELD_WRONG).tolist() == [3]  # which has no score
    assert everything.number(RowSelection.WITHHELD_RIGHT) == 0


def test_the_rows_beside_thresholds_have_some_of_each_kind():
    """Of right, wrong, right, right, wrong, …: the nearest of each kind on both sides."""
    doubts = np.arange(9) / 10
    lines = [f"q{i},{doubt},{int(i not in (1, 4, 8))}" for i, doubt in enumerate(doubts)]
    upload = uploads.parse("\n".join(["question,doubt,correct", *lines]).encode(), "nine.csv")
    rows = by_doubt(
        calibrate(labelled_rows(upload, suggest(upload)), Target(score="doubt")), math.inf
    )
    # Of all 1 and 2, of the right 0 and 2, of the wrong 1 and 4; then the last of each kind.
    assert ranks_near(rows, np.array([2]), 1).tolist() == [0, 1, 2, 4]
    assert ranks_near(rows, np.array([2, 9]), 1).tolist() == [0, 1, 2, 4, 7, 8]
    assert ranks_near(rows, np.array([0, 9]), 9).tolist() == list(range(9))


def test_a_range_is_of_the_scores_own_numbers_whichever_way_it_was_drawn(found):
    behind = by_doubt(found, -0.6)
    for between in ((0.5, 0.8), (0.8, 0.5)):
        assert behind.of(RowSelection.ALL, between).tolist() == [1, 2]
        assert behind.of(RowSelection.ANSWERED_RIGHT, between).tolist() == []


def test_the_table_says_what_the_file_says(found):
    behind = by_doubt(found, -0.6)
    assert table(behind, behind.of(RowSelection.ALL)) == {
        "row": [1, 2, 3, 5, 4],
        "question": ["Who?", "What?", "3", "When?", "Why?"],
        "answer": ["She", "That", "There", "Now", "Because"],
        "right answer": ["She | Her", "This", "There", "Now", "Nobody knows"],
        "right or wrong": ["right", "wrong", "right", "right", "wrong"],
        "score": [0.9, 0.7, 0.5, 0.3, None],
        "decision": ["served", "served", "withheld", "withheld", "withheld"],
    }
    without = replace(found, data=replace(found.data, answers=None, truths=None))
    assert not {"answer", "right answer"} & set(table(by_doubt(without, 0), np.arange(2)))


def test_a_row_without_a_question_has_none_to_inspect(found):
    assert [question(found.data, place) for place in (0, 2)] == ["Who?", None]


def test_columns_of_scores_and_labels_are_no_answers():
    columns = suggest(uploads.parse(b"question,answer,right\nWho?,0.5,1\nWhat?,0.6,0\n", "odd.csv"))
    assert [score.column for score in columns.scores] == ["answer"] and columns.answer is None
