"""Predictions beside references: which columns they are, and what two rules say of them."""

import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.published_files import lines
from core.data.datasets.predictions import (
    asks_for_grading,
    differences,
    grade,
    labelling_order,
    predictions_in,
    predictions_of,
    read_predictions,
    row_hashes,
    with_grades,
)
from core.data.tabular.columns import column_of
from core.data.tabular.csv_export import to_csv
from core.data.tabular.grading import NAMES, Grader
from core.data.tabular.label_meanings import Meaning, ValueMeaning, values_of
from core.data.tabular.labelled_rows import labelled_rows
from core.data.tabular.suggestions import suggest
from core.data.tabular.uploads import UploadError, parse
from tests.hostile import TEXTS

BY_RULE, BY_PAPER = (f"graded by {NAMES[each]}" for each in Grader)


def table(*rows):
    return parse(lines(*rows), "x.jsonl")


def read(*rows):
    upload = table(*rows)
    return read_predictions(upload, predictions_in(upload))


def graded_by(upload, grader):
    rows = predictions_of(upload)
    return with_grades(
        upload, rows, NAMES[grader], {NAMES[each]: grade(rows, each) for each in Grader}
    )


@pytest.mark.parametrize(
    ("headings", "columns"),
    [
        ("question prediction references", ("prediction", "references", "question")),
        ("question answer gold", ("answer", "gold", "question")),
        ("question answer model_answer", ("model_answer", "answer", "question")),
        ("doc_id doc.question target filtered_resps", ("filtered_resps", "target", "doc.question")),
        ("id response reference", ("response", "reference", "")),
        ("question answer", None),
        ("question prediction", None),
        ("question gold answers", None),
    ],
)
def test_the_columns_are_recognised_by_their_headings(headings, columns):
    where = predictions_in(table({name: f"{name} 1" for name in headings.split()}))
    if columns is None:
        assert where is None
    else:
        assert (where.prediction, where.key.answers[0], where.key.question) == columns


def test_a_label_is_a_reference_only_where_the_prediction_says_the_same_words():
    yes, no = {"prediction": "yes", "label": "no"}, {"prediction": "no", "label": "no"}
    assert predictions_in(table(yes, no)).key.answers == ("label",)
    assert predictions_in(table({**yes, "label": 1}, {**no, "label": 0})) is None


def test_columns_can_be_named_and_must_exist_and_differ():
    upload = table({"q": "Q?", "said": "x", "right": "x", "gold": "y"})
    where = predictions_in(upload, "said", "right", "")
    assert (where.prediction, where.key.answers, where.key.question) == ("said", ("right",), "")
    with pytest.raises(UploadError, match="no column “nothing”"):
        predictions_in(upload, "said", "nothing")
    with pytest.raises(UploadError, match="both as prediction and as reference"):
        predictions_in(upload, "said", "said")


def test_it_is_asked_for_only_where_no_column_says_what_is_right():
    row = {"question": "Q?", "prediction": "x", "gold": "x", "confidence": 0.5}
    assert asks_for_grading(table(row))
    assert not asks_for_grading(table({**row, "correct": 1}))
    assert not asks_for_grading(table({"question": "Q?", "answer": "x", "confidence": 0.5}))
    assert not asks_for_grading(graded_by(table(row), Grader.PAPER))


ROWS = [
    ("What is the capital of the UK?", "London, UK", ["London"], 1, 1),
    ("Who was it?", "George Bush", ["George Washington"], 0, 1),  # F1 = ½
    ("How long is it?", "5 years", ["2 years"], 0, 1),
    ("Name a type of rabbit.", "rabbit", ["Angora rabbit"], 0, 1),  # the question's word
    ("How many?", "1,204", ["1204", "東京"], 1, 0),
    ("Where is it?", "京都", ["東京都"], 0, 0),  # not its beginning: that is 東京
    ("Which of them?", "", ["Berlin"], 0, 0),  # no answer is right nowhere
    ("When did it not happen?", "1999", [], 0, 0),  # no answer is right
    ("And this one?", "x", "", math.nan, math.nan),  # nobody knows
    ("Nor that one?", "N/A", "N/A", math.nan, math.nan),
]


def rows(*more):
    return [
        {"question": question, "prediction": prediction, "references": references}
        for question, prediction, references, *_ in (*ROWS, *more)
    ]


def test_each_rule_says_what_it_says_elsewhere():
    compared = read(*rows())
    for grader, labels in (
        (Grader.SAME_ANSWER, [row[3] for row in ROWS]),
        (Grader.PAPER, [row[4] for row in ROWS]),
    ):
        np.testing.assert_array_equal(grade(compared, grader), labels)
    assert compared.ungradable == ("Lines 9 and 10: there is no right answer (not compared).",)


def test_two_rules_are_compared_on_one_row_of_every_question():
    compared = read(*rows(*[ROWS[1]] * 30))
    same, paper = (grade(compared, each) for each in Grader)
    both = differences(compared, same, paper)
    assert (both.rows, both.first_alone, both.second_alone) == (8, 1, 3)


def test_the_labels_are_a_column_that_says_who_made_it():
    upload = table(*({**row, "confidence": 0.5 + i / 100} for i, row in enumerate(rows())))
    graded = graded_by(upload, Grader.SAME_ANSWER)
    assert values_of(column_of(graded, BY_RULE)) == {"wrong": 6, "right": 2, "": 2}
    assert graded.sha256 == upload.sha256 and BY_RULE not in upload.table
    columns = suggest(graded)
    (score,) = columns.scores
    assert (score.column, score.correct) == ("confidence", BY_RULE)
    data = labelled_rows(graded, columns)
    assert data.correct["confidence"].sum() == 2 and data.left_out == 2
    book = data.codebooks["confidence"]
    assert (book.grader, book.rows, book.right_rows) == ("the rule “same answer”", 8, 2)
    assert set(book.grading) <= set(data.reading)
    back = parse(to_csv(list(graded.table), graded.table.to_numpy(object).tolist()), "x.csv")
    meant = (ValueMeaning(score.correct, "", Meaning.OUT),)
    again = labelled_rows(back, replace(suggest(back), meant=meant)).codebooks["confidence"]
    assert (again.grader, again.right_rows) == (book.grader, 2)  # a file that comes back says it
    assert "differ on 50.0% of 8 questions (4; 95% interval 15.7% to 84.3%)" in book.grading[1]


def test_numbers_that_are_compared_are_no_scores():
    upload = table(*({"question": f"{i}?", "prediction": i, "gold": 3, "p": i} for i in range(9)))
    assert [score.column for score in suggest(graded_by(upload, Grader.PAPER)).scores] == ["p"]


def test_a_heading_of_ours_in_the_file_stays_the_files():
    graded = graded_by(table({"prediction": "x", "gold": "x", BY_PAPER: "no"}), Grader.PAPER)
    assert graded.grading.label == f"{BY_PAPER} (2)"
    assert graded.table[BY_PAPER].tolist() == ["no"]


def test_hostile_texts_are_graded():
    upload = table(*({"question": text, "prediction": text, "gold": text} for text in TEXTS))
    graded_by(upload, Grader.SAME_ANSWER)


def test_each_different_row_is_labelled_once_and_of_every_question_one_first():
    one = ("Q?", "x", ["y"])
    compared = read(*rows(one, ("Q?", "z", ["y"]), one))
    hashes = row_hashes(compared)
    assert len(set(hashes)) == len(ROWS) + 2
    order = labelling_order(compared, hashes).tolist()
    assert len({hashes[at] for at in order}) == len(order) == len(ROWS) + 2
    assert compared.questions[order[-1]] == compared.questions[-1]  # the question's other row
    assert order != sorted(order)
    assert set(row_hashes(read(*reversed(rows(one, ("Q?", "z", ["y"])))))) == set(hashes)


def test_what_cannot_be_compared_is_a_sentence():
    with pytest.raises(UploadError, match="no column of predictions beside one of references"):
        graded_by(table({"question": "Q?", "correct": 1}), Grader.PAPER)
    with pytest.raises(UploadError, match=r"No row can be compared\. Line 1: there is no right"):
        graded_by(table({"prediction": "x", "gold": ""}), Grader.PAPER)
    long = {"prediction": "x" * 10_001, "gold": "x"}
    with pytest.raises(UploadError, match="prediction has more than 10,000 characters"):
        graded_by(table(long), Grader.PAPER)


def test_names_without_spaces_are_compared_by_pairs_of_characters():
    row = {"question": "Where is it?", "prediction": "東京都", "references": ["東京"]}
    (label,) = grade(read(row), Grader.SAME_ANSWER)
    assert label == 1


def test_what_a_model_thought_is_not_what_it_answered():
    rows = read(
        {"question": "1?", "prediction": "<think>Rome?</think>\nParis", "reference": "Rome"},
        {"question": "2?", "prediction": ["<think>Rome?</think> Paris"], "reference": "Paris"},
        {"question": "3?", "prediction": "<think>It is Rome, if not", "reference": "Rome"},
    )
    assert rows.texts == ["Paris", "Paris", ""]
    assert [grade(rows, each).tolist() for each in Grader] == [[0, 1, 0]] * len(Grader)
