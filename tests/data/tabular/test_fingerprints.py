"""Rows are known again: by question and label, however the question is typed."""

from dataclasses import replace

import numpy as np

from core.abstention.codebook import EVERY_ROW
from core.data.tabular.fingerprints import fingerprints, of_contents, of_questions
from core.data.tabular.labelled_rows import labelled_rows
from core.data.tabular.suggestions import suggest
from core.data.tabular.uploads import parse


def read(*lines):
    upload = parse("\n".join(lines).encode(), "scores.csv")
    columns = suggest(upload)
    return labelled_rows(upload, replace(columns, query=columns.query or EVERY_ROW))


def test_a_question_is_the_same_however_it_is_typed():
    spellings = [
        "Who wrote Émile?",
        "who  wrote “Emile”",
        " WHO WROTE ÉMILE ",
        "Who wrote Emile ?!",
        "Question: who wrote Emile?",
        "Q3: Question:Who wrote Emile?",
    ]
    numbers = of_questions(np.array([*spellings, "Who wrote Emil?", "?", "!", "誰?"], object))
    assert len({*numbers[:6].tolist()}) == 1 and len({*numbers.tolist()}) == 5
    assert not (numbers & np.uint64(1)).any()
    assert of_questions(np.array(["Q"], object)).tolist() == [3824889971554137386]  # for ever


def test_a_row_is_a_question_with_its_label():
    data = read("question,doubt,correct", "One?,0.1,1", "Two?,0.2,0", "one,0.3,0")
    rows = fingerprints(data, "doubt")
    assert (rows & np.uint64(1)).tolist() == [1, 0, 0]
    assert rows[0] == rows[2] + np.uint64(1) and rows[0] >> np.uint64(1) != rows[1] >> np.uint64(1)
    more = read("correct,doubt,question", "0,0.9,TWO", "1,0.5,Three?", "1,0,One?")
    assert np.isin(fingerprints(more, "doubt"), rows).tolist() == [True, False, True]


def test_rows_without_a_question_are_known_by_their_cells_whichever_is_the_score():
    lines = "spread,correct,margin", "0.1,1,0.3", "0.2,0,0.4", "0.1,0,0.5"
    upload = parse("\n".join(lines).encode(), "scores.csv")
    columns = replace(suggest(upload), query=EVERY_ROW)

    def rows(score):
        choice = replace(columns.scores[0], column=score, larger_is_surer=False)
        return fingerprints(labelled_rows(upload, replace(columns, scores=(choice,))), score)

    assert np.array_equal(rows("spread"), rows("margin"))
    assert len(set(rows("margin").tolist())) == 3
    moved = read("margin,doubt,correct", "0.9,0.9,1", "0.3,0.1,1")
    assert np.isin(fingerprints(moved, "doubt"), rows("spread")).tolist() == [False, True]


def test_rows_of_one_column_are_known_by_their_score():
    rows = fingerprints(read("doubt,correct", "0.1,1", "0.2,0", "0.1,0"), "doubt")
    assert rows[0] == rows[2] + np.uint64(1)
    more = read("doubt,correct", "0.7,1", "0.2,0", "0.1,1")
    assert np.isin(fingerprints(more, "doubt"), rows).tolist() == [False, True, True]


def test_an_order_takes_right_rows_and_wrong_ones():
    scores, questions = {"doubt": np.array([0.1, 0.2, np.nan, np.inf])}, np.array([*"abcd"], object)
    for right, number in (([1, 1, 1, 1], 0), ([0, 0, 0, 0], 0), ([1, 0, 1, 1], 2)):
        labels = {"doubt": np.array(right, bool)}
        assert len(of_contents(scores, labels, questions)[1]) == number
