"""What a comma in a number means: its column tells, or it is asked for; nothing is guessed."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.data.tabular import columns
from core.data.tabular.columns import Cell, ColumnKind, column_of, kinds
from core.data.tabular.labelled_rows import Columns, ScoreColumn, doubts_of, labelled_rows
from core.data.tabular.suggestions import suggest
from core.data.tabular.uploads import UploadError, parse
from tests.csv_files import csv_file


def table(*cells, heading="doubt", **others):
    """A column of numbers beside labels of both kinds and further columns."""
    rows = (
        [cell, row % 2, *(column[row] for column in others.values())]
        for row, cell in enumerate(cells)
    )
    return parse(csv_file([heading, "correct", *others], rows), "x.csv")


def numbers(*cells):
    return doubts_of(table(*cells), "doubt", False).tolist()


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["0,5", "1"], [0.5, 1]),
        (["0,425", "0,175"], [0.425, 0.175]),  # nobody begins a group with 0
        ([",425", "1"], [0.425, 1]),
        (["-0,425", "-1,250"], [-0.425, -1.25]),
        (["1,234", "12,25"], [1.234, 12.25]),  # the second says what the first means
        (["1,234", "1234,567"], [1.234, 1234.567]),
        (["1,5e-3", "2"], [0.0015, 2]),
        (["3.425", "175"], [3.425, 175]),
        (["0,5", "nan"], [0.5, math.nan]),
    ],
)
def test_a_comma_that_can_only_part_decimals(cells, expected):
    np.testing.assert_equal(numbers(*cells), expected)


@pytest.mark.parametrize(
    ("named", "columns"),
    [
        ("3,425", [["3,425", "175"], ["3,425", "1,250"], ["0.5", "3,425"], [" 3,425 ", "", "nan"]]),
        ("3,425", [["12,25", "3,425", "0.5"]]),
        ("-3,425", [["175", "-3,425"]]),
        ("0,5", [["0,5", "0.5"]]),  # a comma and a dot: one of them parts thousands
        ("1,234.5", [["1,234.5", "175"]]),
        ("1,234,567", [["1,234,567", "175"]]),
        ("1.234,5", [["1.234,5", "3.425"]]),
        ("1.234.567", [["1.234.567", "3.425"], ["1.234.567", "0,5"]]),
    ],
)
def test_a_number_that_can_be_read_in_two_ways_is_refused_and_named(named, columns):
    for upload in (table(*cells) for cells in columns):
        assert kinds(upload)["doubt"] is ColumnKind.NUMBER
        for read in (
            lambda it=upload: labelled_rows(
                it, Columns("", None, (ScoreColumn("doubt", False, "correct"),))
            ),
            lambda it=upload: labelled_rows(it, replace(suggest(it), query="")),
            lambda it=upload: doubts_of(it, "doubt", False),
        ):
            with pytest.raises(UploadError) as caught:
                read()
            message = str(caught.value)
            assert message.startswith(f"“doubt” has the number “{named}”: ")
            assert message.endswith("3425 or 3.425, not 3,425.")


@pytest.mark.parametrize(
    ("labels", "scores"),
    [
        (["tensor(1)", "tensor(0)"], ["[0.9]", "[0.25]"]),
        (["[1]", "[0]"], ["['0.9']", "['0.25']"]),
        (["[True]", "[tensor(False)]"], ["array([0.9])", "np.float32(0.25)"]),
        (["np.True_", "np.False_"], ["tensor([0.9], device='cuda:0')", "tensor(0.25)"]),
    ],
)
def test_what_programs_print_around_one_value_is_no_part_of_it(labels, scores):
    rows = "".join(f'"{score}","{label}"\n' for score, label in zip(scores, labels, strict=True))
    upload = parse(f"confidence,correct\n{rows}".encode(), "x.csv")
    read = labelled_rows(upload, replace(suggest(upload), query=""))
    assert read.numbers("confidence").tolist() == [0.9, 0.25]
    assert read.correct["confidence"].tolist() == [True, False]


def test_no_cell_with_a_comma_is_read_where_one_can_mean_two_things():
    values, unread = column_of(table("3,425", "175", "0.5"), "doubt").numbers()
    np.testing.assert_equal(values, [math.nan, 175, 0.5])
    assert unread.tolist() == [True, False, False]


def test_a_doubtful_column_stands_in_no_other_ones_way():
    upload = table("0.1", "0.2", perplexity=["3,425", "175"])
    assert [score.column for score in suggest(upload).scores] == ["doubt"]
    assert labelled_rows(upload, replace(suggest(upload), query="")).doubts["doubt"].tolist() == [
        0.1,
        0.2,
    ]


def test_a_doubtful_entropy_is_none_and_complained_of():
    upload = table("0.1", "0.2", entropy=["3,425", "175"])
    chosen = Columns("", None, (ScoreColumn("doubt", False, "correct"),), "entropy")
    found = labelled_rows(upload, chosen)
    assert found.entropies is None
    (problem,) = found.problems
    assert problem.startswith("“entropy” has the number “3,425”: ")


def test_words_with_commas_are_words():
    assert kinds(table("1,2,3", "1,23,456"))["doubt"] is ColumnKind.TEXT
    assert column_of(table("1,2,3", "0,5"), "doubt").doubtful_number() is None


# ------------------------------------------------------------- what a cell says, found once a file


PLAIN = ["1", "0", "1.0", "+1.5", "-.5", "2.", "1e5", "1E-3", "1" * 64, "1" * 65, "1_000", "1e999"]
WORDS = ["yes", "No", "RICHTIG", "sí", "✔️", "nan", "N/A", "-", "none", "", "inf", "-Infinity", "in"]
OTHERS = [
    "12:34:56",
    "0,5",
    "1,234",
    "1,2,3",
    "1.2.3",
    "−1",
    "٣",
    "[1]",
    "['a', 'b']",
    "['0,9']",
    "[tensor(0.9, device='cuda:0')]",
    "tensor([nan])",
    "np.True_",
    "np.int64(0)",
    "[[true]]",
    '["No"]',
    "[]",
    "['']",
    "tensor(oh)",
    "[oh",
    "a b",
]
SPACES = ["{}", " {}", "{}\t", "\x1c{}\x0b", "\u00a0{} ", "\u2003{}"]


@pytest.mark.parametrize("cell", [s.format(c) for c in PLAIN + WORDS + OTHERS for s in SPACES])
def test_a_cell_says_what_it_says_by_itself(cell):
    """Arrow recognises most cells sooner than Python, and no other ones."""
    found = columns.column_from(pd.Series([cell, "text"], dtype="str"))
    number, right = columns.parse_score(cell), columns.parse_correctness(cell)
    doubtful = found.doubtful is not None and "," in cell
    expected = math.nan if number is None or doubtful else number
    np.testing.assert_equal(found.values.tolist(), [expected, math.nan])
    says = {what for what in Cell if found.has(what)[0]}
    is_list = columns.parse_list(cell) is not None
    assert says == {
        *([Cell.MISSING] if columns.is_missing(cell) else []),
        *([Cell.BLANK] if not cell.strip() else []),
        *([Cell.ODD] if number is None or doubtful else []),
        *([Cell.LIST] if is_list else []),
        *([Cell.RIGHT] if right else [Cell.WRONG] if right is False else []),
    }
    assert {what for what in Cell if found.has(what)[1]} == {Cell.ODD}


def test_questions_are_numbered_in_the_order_of_their_texts_and_spelling_makes_no_other():
    texts = ["b", "a", "é", "B", "a", "😀", "", "b ", "ab", "a\u0301", "“A?”", "a b"]
    numbers = [1, 2, 6, 1, 2, 7, 0, 1, 4, 5, 2, 3]
    assert columns.question_numbers(np.array(texts, object)).tolist() == numbers
    column = column_of(table(*map(str, range(12)), question=texts), "question")
    assert column.ranks is not None
    assert column.questions(np.array([0, 1, 4, 7, 8])).tolist() == [0, 1, 1, 0, 2]


@pytest.mark.parametrize(
    ("texts", "questions"),
    [
        (["Who mapped it?", "who mapped it", " WHO  mapped it ?", "Who, mapped it…?"], 1),
        (["What’s up?", "Whats up", "What's up"], 1),
        (["誰？", "誰?", "誰"], 1),
        (["3 - 2 = ?", "3 / 2 = ?", "3 + 2 = ?", "3 * 2 = ?", "1.5?", "15?", "1,5"], 7),
        (["In 1999?", "in 1999."], 1),
        (["Who made C?", "Who made C#?", "Who made C++?"], 3),
        (["?", "!", ""], 3),
        (["1. Who mapped it?", "Q2: who mapped it", "b) Who mapped it?", "[3] Who mapped it"], 1),
        (["Who mapped it? (attempt 2)", "Who mapped it? #3", "Who mapped it?\nRun 4"], 1),
        (["Who mapped it?", "Q: Who mapped it?\nA:", "[INST] Who mapped it? [/INST]"], 1),
        (["Who ma\u00adpped\u200b it?", "Who mapped it? Thanks!"], 1),
        (["Who ma\u034fpped\ufe0f it\u3164?", "Who mapped it?"], 1),
        (["Wie heißt er?", "WIE HEISST ER?"], 1),
        (["Ποιος είναι ο Οδυσσέας;", "ΠΟΙΟΣ ΕΊΝΑΙ Ο ΟΔΥΣΣΈΑΣ;"], 1),
        (["Isparta nerede?", "ısparta nerede?", "ISPARTA NEREDE?"], 1),
        (["من هو مُحَمَّد؟", "من هو محمد؟", "من هو محمود؟"], 2),
        (["Who mapped it?", "Who mapped it? Answer briefly.", "Who mapped it? Please be brief"], 1),
        (["In physics: explain why ice floats.", "In physics: explain why it rains."], 2),
        (["Name a bay. Give its depth.", "Name a bay. Give its size.", "Name a bay."], 3),
        (["IV. Who mapped it?", "Who mapped&nbsp;it?", "Who mapped it? [1a2b3c4d]"], 1),
        (["<p>Who mapped it?</p>", "Who mapped <b>it</b>?"], 1),
        (
            ["Who mapped Apollo 7?", "Who mapped Apollo 8?", "Who released version 3?", "1.", "2."],
            5,
        ),
    ],
)
def test_case_spaces_and_marks_make_no_other_question(texts, questions):
    assert len(set(columns.question_numbers(np.array(texts, object)).tolist())) == questions


@pytest.mark.parametrize(
    ("headings", "cells", "name"),
    [
        (["id", "Question"], ["1", "a"], "Question"),
        (["doc.question", "vars.prompt"], ["a", "b"], "doc.question"),
        (["Prüfungsfrage"], ["a"], "Prüfungsfrage"),
        (["user_input"], ["a"], "user_input"),
        (["model_question_count"], ["a"], None),
        (["num_question"], ["3"], None),
        (["doc_id"], ["1"], None),  # no value repeats: rows may be numbered so
        (["user_id"], ["1"], None),
    ],
)
def test_the_column_that_tells_one_question_from_another(headings, cells, name):
    others = {heading: [cell] for heading, cell in zip(headings, cells, strict=False)}
    assert columns.question_column(table("0.5", **others)) == name


def test_an_id_whose_values_repeat_tells_questions_where_no_heading_does():
    upload = table(*"abcd", doc_id=["1", "1", "2", "2"], annotator_id=["1", "2", "1", "2"])
    assert columns.question_column(upload) == "doc_id"
