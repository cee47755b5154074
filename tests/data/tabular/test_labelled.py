"""What columns mean: scores and labels as arrays, and every way in which cells can mislead."""

import csv
import io
import json
import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.abstention.metrics import auroc
from core.data.tabular import columns
from core.data.tabular.columns import Kind, kinds, parse_correctness, parse_score
from core.data.tabular.gold_questions import MAX_GOLD, gold_questions
from core.data.tabular.labelled import Columns, Score, labelled, pipelines_of, suggest, template
from core.data.tabular.labels import Meaning, Meant
from core.data.tabular.uploads import UploadError, parse
from core.uncertainty.scores import SCORES


def read(content, name="scores.csv"):
    return parse(content.encode() if isinstance(content, str) else content, name)


def table(heading, *rows):
    buffer = io.StringIO()
    csv.writer(buffer).writerows([heading, *rows])
    return read(buffer.getvalue())


def column(*cells):
    """One column beside another that is never empty: no blank lines."""
    return table(["a", "b"], *([cell, "x"] for cell in cells))


def scored(*scores, query="question", source=None, entropy=None):
    return Columns(query, source, scores, entropy)


PLAIN = scored(Score("score", False, "correct"))


def meaning(columns, **meant):
    """Columns with what each of their values means: out of the count, unless it says otherwise."""
    meant = tuple(
        Meant(column, value, said) for column, values in meant.items() for value, said in values
    )
    return replace(columns, meant=meant)


OUT = Meaning.OUT
EMPTY_OUT = meaning(PLAIN, correct=[("", OUT)])


def refused(upload, columns=PLAIN):
    with pytest.raises(UploadError) as caught:
        labelled(upload, columns)
    return str(caught.value)


# ------------------------------------------------------------------------------- cells


@pytest.mark.parametrize(
    ("texts", "right"),
    [
        (["1", "1.0", "true", "True", "TRUE", "t", "yes", "Y", "c", "Correct", " right "], True),
        (["0", "0.0", "false", "F", "no", "N", "i", "incorrect", "WRONG", "\tno\n"], False),
        (
            ["Ja", "Richtig", "WAHR", "oui", "Vrai", "sí", "Sì", "verdadero", "vero", "✓", "✅"],
            True,
        ),
        (["Nein", "FALSCH", "non", "Faux", "falso", "✗", "✘", "❌"], False),
        (["✔\ufe0f", "✔"], True),
        (["", "2", "-1", "0.5", "maybe", "none", "nan", "tr", "11", "not correct"], None),
        (["w", "W", "x", "X", "r", "-", "o", "s", "v", "pass", "✓✗"], None),  # of many meanings
    ],
)
def test_words_for_right_and_wrong(texts, right):
    assert [parse_correctness(text) for text in texts] == [right] * len(texts)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.5", 0.5),
        ("1e-3", 0.001),
        ("1E-3", 0.001),
        ("-0.5", -0.5),
        ("+0.5", 0.5),
        ("−0.5", -0.5),  # a minus sign as it is printed
        (" 7 ", 7.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("007", 7.0),
        ("inf", math.inf),
        ("-Infinity", -math.inf),
        ("1e999", math.inf),
        ("0,5", 0.5),
        ("-0,5", -0.5),
        (",5", 0.5),
        ("1,5e-3", 0.0015),
    ],
)
def test_a_number(text, number):
    assert parse_score(text) == number


@pytest.mark.parametrize("text", ["", "  ", "nan", "NaN", "None", "NULL", "na", "N/A", "-"])
def test_a_missing_number_is_nan_and_not_0(text):
    assert math.isnan(parse_score(text))


@pytest.mark.parametrize(
    "text",
    ["x", "0.5x", "1,234.5", "1,234,567", "1_000", "٣", "50%", "0x1", "1 2", "--1", "true", "1e",
     ".", ",", "e5", "infinite", "[0.5]"],
)  # fmt: skip
def test_what_is_no_number(text):
    assert parse_score(text) is None


@given(st.floats(allow_nan=False))
def test_every_float_is_read_back(number):
    assert parse_score(repr(number)) == number


@given(st.text())
def test_any_text_is_a_number_or_not(text):
    assert parse_score(text) is None or isinstance(parse_score(text), float)
    assert parse_correctness(text) in (True, False, None)


# --------------------------------------------------------------------------------- kinds


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["0.5", "1", "-3"], Kind.NUMBER),
        (["0,5", "", "nan", "inf"], Kind.NUMBER),
        (["0", "1", "1"], Kind.LABEL),
        (["1", "1"], Kind.LABEL),
        (["1.0", "0.0", ""], Kind.LABEL),
        (["yes", "No", "n/a"], Kind.LABEL),
        (["c", "i"], Kind.LABEL),
        (["0", "1", "2"], Kind.NUMBER),
        (["true", "0.5"], Kind.TEXT),
        (["0.5", "x"], Kind.TEXT),
        (["Paris", ""], Kind.TEXT),
        (['["a"]', "[]"], Kind.LIST),
        (["['a', 'b']", "['a' 'b']", '["it\'s"]'], Kind.LIST),
        (['["a"]', "a"], Kind.TEXT),
        (["[a", "[1,"], Kind.TEXT),
        (["", "  "], Kind.EMPTY),
        (["None", "nan", "-"], Kind.EMPTY),
    ],
)
def test_the_kind_of_a_column(cells, kind):
    assert kinds(column(*cells)) == {"a": kind, "b": Kind.TEXT}


def test_kinds_are_words():
    assert [str(kind) for kind in Kind] == ["number", "right or wrong", "text", "list", "empty"]


def test_deeply_nested_lists_are_text():
    assert kinds(column("[" * 100_000))["a"] is Kind.TEXT


def test_long_white_space_in_what_looks_like_a_list_takes_no_time():
    assert kinds(column("['a'" + " " * 90_000 + "x"))["a"] is Kind.TEXT


# --------------------------------------------------------------------------- suggestions


def test_a_plain_file():
    upload = table(
        ["id", "Question", "source", "confidence", "correct"],
        ["1", "a", "s", "0.9", "1"],
        ["2", "b", "s", "0.2", "0"],
        ["3", "c", "s", "0.8", "1"],
    )
    assert suggest(upload) == Columns(
        "Question", "source", (Score("confidence", True, "correct"),), None
    )


@pytest.mark.parametrize("heading", ["question", "QUERY", "Prompt", " q ", "in_put"])
def test_names_of_queries(heading):
    assert suggest(table([heading, "x"], ["a", "b"])).query == heading.strip()


@pytest.mark.parametrize(
    "heading", ["source", "Dataset", "category", "relation", "topic", "subject", "band"]
)
def test_names_of_sources(heading):
    assert suggest(table([heading, "x"], ["a", "b"])).source == heading


@pytest.mark.parametrize(
    "heading", ["correct", "Is Correct", "is-correct", "label", "right", "correctness", "is_right"]
)
def test_names_of_correctness(heading):
    upload = table(["s", heading, "flag"], ["0.5", "1", "0"], ["0.7", "0", "0"])
    assert [score.correct for score in suggest(upload).scores] == [heading]


def test_the_only_column_of_right_and_wrong_is_the_correctness():
    upload = table(["s", "judged"], ["0.5", "yes"], ["0.7", "no"])
    assert suggest(upload).scores == (Score("s", False, "judged"),)
    two = table(["s", "judged", "other"], ["0.5", "yes", "1"], ["0.7", "no", "1"])
    assert suggest(two).scores == ()


def test_a_correctness_of_its_own_for_each_score():
    upload = table(
        ["M.I.", "m i_correct", "s e", "correct_S E", "t0", "t0_Correct", "lonely"],
        *([0.1, 1, 0.1, 0, 0.1, 1, 0.3], [0.2, 0, 0.2, 1, 0.2, 0, 0.4]),
    )
    # "M.I." keeps its dots, so that "m i_correct" belongs to another score.
    assert suggest(upload).scores == (
        Score("s e", True, "correct_S E"),
        Score("t0", False, "t0_Correct"),
    )
    shared = table(["a", "a_correct", "b", "correct"], [0.1, 0, 0.1, 1], [0.2, 1, 0.2, 0])
    assert suggest(shared).scores == (Score("a", True, "a_correct"), Score("b", False, "correct"))


def test_a_correctness_with_a_few_unreadable_cells_is_still_one():
    rows = [["0.5", "1"], ["0.7", "0"], ["0.7", "1"], ["0.6", "?"]]
    assert suggest(table(["s", "correct"], *rows)).scores == (Score("s", False, "correct"),)
    mostly = [["0.5", "1"], ["0.7", "bad"], ["0.7", "good"]]
    assert suggest(table(["s", "label"], *mostly)).scores == ()


@pytest.mark.parametrize(
    "heading",
    ["id", "ID", "index", "row", "seed", "n", "k", "samples", "clusters", "sampled_mass",
     "exposures", "question_id", "n_samples", "num clusters", "temperature", "f1_best_alias",
     "EM", "rouge-l"],
)  # fmt: skip
def test_ids_counters_and_judgements_are_no_scores(heading):
    upload = table([heading, "correct"], ["5", "1"], ["7", "0"])
    assert kinds(upload)[heading] is Kind.NUMBER
    assert suggest(upload).scores == ()


def test_a_numeric_source_or_query_is_no_score():
    upload = table(
        ["query", "category", "s", "correct"], ["5", "5", "5", "1"], ["7", "7", "7", "0"]
    )
    assert [score.column for score in suggest(upload).scores] == ["s"]


@pytest.mark.parametrize("name", SCORES)
def test_our_own_scores_are_doubts_whatever_the_data_say(name):
    upload = table([name, "correct"], ["0.9", "1"], ["0.1", "0"])
    assert suggest(upload).scores == (Score(name, False, "correct"),)


@pytest.mark.parametrize("name", ["confidence", "doubt", "x"])
def test_the_data_say_whether_larger_is_surer(name):
    surer = table([name, "correct"], ["0.9", "1"], ["0.5", "0"], ["0.1", "0"])
    assert suggest(surer).scores[0].larger_is_surer is True
    doubt = table([name, "correct"], ["0.9", "0"], ["0.5", "0"], ["0.1", "1"])
    assert suggest(doubt).scores[0].larger_is_surer is False


@given(
    st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=20).filter(
        lambda rows: {right for _, right in rows} == {True, False}
    )
)
def test_the_suggested_direction_finds_wrong_answers(rows):
    upload = table(["s", "correct"], *([f"{n}.5", int(right)] for n, right in rows))
    (score,) = suggest(upload).scores
    found = labelled(upload, Columns(None, None, (score,)))
    assert auroc(found.doubts["s"], found.correct["s"]) >= 0.5


def test_missing_scores_do_not_decide_the_direction():
    rows = [["0.9", "0"], ["0.1", "1"], *([["", "1"]] * 5)]
    assert suggest(table(["x", "correct"], *rows)).scores[0].larger_is_surer is False


@pytest.mark.parametrize(
    ("name", "surer"),
    [
        ("confidence", True),
        ("Max Prob", True),
        ("p_true", True),
        ("log_likelihood", True),
        ("logprob", True),
        ("agreement", True),
        ("certainty", True),
        ("uncertainty", False),
        ("neg_log_likelihood", False),
        ("predictive entropy", False),
        ("score", False),
    ],
)
def test_the_name_breaks_a_tie(name, surer):
    for rows in ([["0.5", "1"]], [["0.5", "1"], ["0.5", "0"]], [["0.5", "0"], ["0.7", "0"]]):
        assert suggest(table([name, "correct"], *rows)).scores == (Score(name, surer, "correct"),)


def test_scores_without_labels_beside_them_have_no_direction():
    upload = table(["x", "correct"], ["0.9", ""], ["", "1"], ["", "0"])
    assert suggest(upload).scores == (Score("x", False, "correct"),)


@pytest.mark.parametrize("heading", ["semantic_entropy", "Entropy"])
def test_names_of_the_entropy(heading):
    assert suggest(table([heading, "x"], ["0.5", "b"])).entropy == heading
    assert suggest(table([heading, "x"], ["high", "b"])).entropy is None


def test_semantic_entropy_comes_before_entropy_and_is_a_score_as_well():
    upload = table(["entropy", "semantic_entropy", "correct"], ["1.5", "0.5", "1"])
    assert suggest(upload).entropy == "semantic_entropy"
    assert [score.column for score in suggest(upload).scores] == ["entropy", "semantic_entropy"]


def test_entropy_comes_before_a_doubt_that_can_be_missing():
    """Our own table: too little was seen for a doubt, and the entropy is known."""
    heading = ["semantic_entropy", "semantic_entropy_correct", "entropy"]
    assert suggest(table(heading, ["", "1", "1.5"], ["0.5", "0", "0.5"])).entropy == "entropy"
    assert suggest(table(heading[:2], ["0.5", "0"])).entropy == "semantic_entropy"


def test_a_doubt_of_ours_is_a_score_though_all_of_it_is_0():
    heading = ["mutual_information", "mutual_information_correct", "other", "other_correct"]
    suggested = suggest(table(heading, ["0.0", "1", "0.0", "1"], ["0.0", "0", "1", "0"]))
    expected = Score("mutual_information", False, "mutual_information_correct")
    assert suggested.scores == (expected,)
    assert suggest(table(["mutual_information", "correct"], ["0", "1"])).scores == ()


def test_nothing_to_suggest():
    assert suggest(table(["a", "b"], ["x", "y"])) == Columns(None, None, ())


# -------------------------------------------------------------------------------- arrays


def test_a_plain_table_as_arrays():
    upload = table(
        ["question", "source", "score", "correct", "h", "pipeline"],
        ["Why?", "s", "0.5", "yes", "0.1", " p1 "],
        ["How?", "", "1", "no", "", "p1"],
    )
    found = labelled(upload, scored(Score("score", False, "correct"), source="source", entropy="h"))
    assert (found.name, found.sha256) == ("scores.csv", upload.sha256)
    assert found.queries.tolist() == ["Why?", "How?"]
    assert found.sources.tolist() == ["s", ""]
    assert found.doubts["score"].tolist() == [0.5, 1.0]
    assert found.doubts["score"].dtype == np.float64
    assert found.correct["score"].tolist() == [True, False]
    assert found.correct["score"].dtype == np.bool_
    np.testing.assert_equal(found.entropies, [0.1, math.nan])
    assert found.surer == {"score": False}
    assert found.pipeline == "p1"
    assert found.kept.tolist() == [0, 1]
    assert found.problems == ()


def test_the_doubt_of_a_confidence_is_its_negative():
    upload = table(["c", "correct"], ["0.9", "1"], ["0", "0"], ["inf", "1"], ["-inf", "1"], ["", 1])
    found = labelled(upload, Columns(None, None, (Score("c", True, "correct"),)))
    np.testing.assert_equal(found.doubts["c"], [-0.9, 0.0, -math.inf, math.inf, math.nan])
    assert not np.signbit(found.doubts["c"][1]), "minus zero is a zero that looks odd"
    assert found.surer == {"c": True}


def test_an_infinite_doubt_is_kept():
    upload = table(["score", "correct"], ["inf", "1"], ["-0", "0"])
    found = labelled(upload, Columns(None, None, PLAIN.scores))
    assert found.doubts["score"].tolist() == [math.inf, 0.0]
    assert not np.signbit(found.doubts["score"]).any()


def test_rows_without_query_are_numbered_as_in_the_table():
    upload = table(["score", "correct"], ["0.1", "1"], ["0.2", ""], ["0.3", "0"])
    found = labelled(upload, replace(EMPTY_OUT, query=None))
    assert found.queries.tolist() == ["1", "3"]
    assert found.sources.tolist() == ["", ""]
    assert found.entropies is None


def test_queries_without_text_are_not_one_query():
    rows = [["a", "0.1", "1"], ["", "0.2", "1"], [" ", "0.3", "0"], ["", "0.3", ""]]
    found = labelled(table(["question", "score", "correct"], *rows), EMPTY_OUT)
    assert found.queries.tolist() == ["a", "2", "3"]
    assert found.problems[1:] == (
        "Lines 3 and 4: “question” is empty (each counts as a separate question).",
    )


def test_none_and_007_are_queries():
    rows = [["None", "0.1", "1"], ["007", "0.2", "1"]]
    found = labelled(table(["question", "score", "correct"], *rows), PLAIN)
    assert found.queries.tolist() == ["None", "007"]


def test_a_missing_score_is_nan_and_no_complaint():
    rows = [["a", "", "1"], ["b", "NA", "0"], ["c", "0", "1"], ["d", "0,5", "1"]]
    found = labelled(table(["question", "score", "correct"], *rows), PLAIN)
    np.testing.assert_equal(found.doubts["score"], [math.nan, math.nan, 0.0, 0.5])
    assert found.problems == ()


def test_an_unreadable_score_counts_as_missing_and_is_complained_of():
    rows = [["a", "0.5", "1"], ["b", "high", "0"], ["c", "1,2,3", "1"], ["d", "bad", ""]]
    found = labelled(table(["question", "score", "correct"], *rows), EMPTY_OUT)
    np.testing.assert_equal(found.doubts["score"], [0.5, math.nan, math.nan])
    assert found.problems == (
        "Line 5: “correct” is empty (left out).",
        "Lines 3 and 4: “score” is not a number (counts as missing).",
    )


def test_rows_without_label_are_left_out_and_named_by_line():
    labels = ["1", "", "maybe", *[""] * 7, "0"]
    content = "question,score,correct\n" + "".join(
        f'"q\n{i}",0.5,{x}\n' for i, x in enumerate(labels)
    )
    meant = [("", OUT), ("maybe", OUT)]
    found = labelled(read(content), meaning(PLAIN, correct=meant))
    assert found.kept.tolist() == [0, 10] and found.left_out == 9
    assert found.queries.tolist() == ["q\n0", "q\n10"]
    assert found.problems == (
        "Lines 4, 8, 10, 12, 14 and 3 more: “correct” is empty (left out).",
        "Line 6: “correct” is “maybe” (left out).",
    )


def test_of_parquet_rows_are_named():
    buffer = io.BytesIO()
    pd.DataFrame({"score": [0.5, 0.25], "correct": [1.0, None]}).to_parquet(buffer)
    found = labelled(read(buffer.getvalue(), "x.parquet"), replace(EMPTY_OUT, query=None))
    assert found.problems == ("Row 2: “correct” is empty (left out).",)


def test_booleans_of_json_are_labels():
    content = '{"score": 0.5, "correct": true}\n{"score": null, "correct": false}\n'
    found = labelled(read(content, "x.jsonl"), Columns(None, None, PLAIN.scores))
    assert found.correct["score"].tolist() == [True, False]
    np.testing.assert_equal(found.doubts["score"], [0.5, math.nan])


def test_a_row_is_used_for_all_scores_or_for_none():
    rows = [[0.1, 1, 0.2, 0], [0.3, "", 0.4, 1], [0.5, 0, 0.6, "?"], [0.7, 0, 0.8, 1]]
    upload = table(["a", "a_correct", "b", "b_correct"], *rows)
    both = (Score("a", False, "a_correct"), Score("b", True, "b_correct"))
    out = {"a_correct": [("", OUT)], "b_correct": [("?", OUT)]}
    found = labelled(upload, meaning(Columns(None, None, both), **out))
    assert found.kept.tolist() == [0, 3]
    assert found.doubts["a"].tolist() == [0.1, 0.7]
    assert found.doubts["b"].tolist() == [-0.2, -0.8]
    assert found.correct["a"].tolist() == [True, False]
    assert found.correct["b"].tolist() == [False, True]
    assert found.problems == (
        "Line 3: “a_correct” is empty (left out).",
        "Line 4: “b_correct” is “?” (left out).",
    )


def test_a_correctness_that_serves_two_scores_is_complained_of_once():
    upload = table(["a", "b", "correct"], [0.1, 0.2, 1], [0.3, 0.4, ""])
    both = (Score("a", False, "correct"), Score("b", False, "correct"))
    columns = meaning(Columns(None, None, both), correct=[("", OUT)])
    assert len(labelled(upload, columns).problems) == 1


def test_every_different_pipeline_of_a_table_is_told():
    upload = table(["s", "Pipeline"], ["1", "p1"], ["2", ""], ["3", "p2"], ["4", "p1"])
    assert pipelines_of(upload) == ["p1", "", "p2"]
    assert pipelines_of(table(["s"], ["1"])) == []


def test_different_pipelines_are_no_pipeline():
    heading = ["score", "correct", "Pipeline"]
    plain = Columns(None, None, PLAIN.scores)
    mixed = labelled(table(heading, ["0.1", "1", "p1"], ["0.2", "0", "p2"]), plain)
    assert mixed.pipeline == ""
    assert mixed.problems == (
        "“Pipeline” names 2 different pipelines, whose scores cannot be compared; upload each "
        "by itself.",
    )
    upload = table(heading, ["0.1", "1", "p1"], ["0.2", "", "p2"])
    left_out = labelled(upload, replace(EMPTY_OUT, query=None))
    assert left_out.pipeline == "p1"


# ---------------------------------------------------------------------- what is refused


def test_no_score_chosen():
    assert "No score is chosen" in refused(table(["a", "b"], ["1", "2"]), Columns(None, None, ()))


@pytest.mark.parametrize(
    "columns",
    [
        scored(Score("x", False, "correct"), query=None),
        scored(Score("score", False, "x"), query=None),
        scored(*PLAIN.scores, query="x"),
        scored(*PLAIN.scores, query=None, source="x"),
        scored(*PLAIN.scores, query=None, entropy="x"),
    ],
)
def test_a_column_that_does_not_exist(columns):
    assert "no column “x”" in refused(table(["score", "correct"], ["0.5", "1"]), columns)


def test_a_score_cannot_be_its_own_correctness_or_stand_twice():
    upload = table(["score", "correct"], ["0.5", "1"])
    assert "two columns" in refused(upload, scored(Score("correct", True, "correct"), query=None))
    assert "chosen twice" in refused(upload, scored(*PLAIN.scores, *PLAIN.scores, query=None))


@pytest.mark.parametrize(
    ("cells", "holds"),
    [
        (["0.5", "0.7"], "numbers"),
        ([f"answer {n}" for n in range(13)], "text"),
        (["[1]", "[2]"], "lists"),
        (["", "NA"], "empty"),
    ],
)
def test_a_correctness_that_is_none_says_what_it_holds(cells, holds):
    upload = table(["score", "correct"], *([0.1, cell] for cell in cells))
    assert refused(upload, Columns(None, None, PLAIN.scores)) == (
        f"No cell of “correct” says whether an answer is right: its cells are {holds}. Choose "
        "a column of 1 (right) and 0 (wrong)."
    )


@pytest.mark.parametrize(
    ("cells", "holds"),
    [
        (["yes", "no"], "say right or wrong"),
        (["Paris", "Rome"], "are text"),
        (["[1]", "[2]"], "are lists"),
        (["", "NA"], "are empty"),
    ],
)
def test_a_score_without_a_number_says_what_it_holds(cells, holds):
    upload = table(["score", "correct"], *zip(cells, "10", strict=True))
    assert refused(upload, Columns(None, None, PLAIN.scores)) == (
        f"“score” has no number: its cells {holds}. Choose another column as score."
    )


def test_a_score_without_a_number_where_there_are_labels():
    upload = table(["score", "correct"], ["", "1"], ["0.5", ""])
    message = refused(upload, replace(EMPTY_OUT, query=None))
    assert "no number in any row that says whether its answer is right" in message


def test_no_row_is_labelled_for_every_score():
    upload = table(["a", "x", "b", "y"], [0.1, 1, 0.1, ""], [0.2, "", 0.2, 0])
    both = (Score("a", False, "x"), Score("b", False, "y"))
    columns = meaning(Columns(None, None, both), x=[("", OUT)], y=[("", OUT)])
    assert "No row says for every chosen score" in refused(upload, columns)


def test_an_entropy_without_a_number_is_none_and_complained_of():
    upload = table(["score", "correct", "h"], ["0.5", "1", "high"])
    found = labelled(upload, scored(*PLAIN.scores, query=None, entropy="h"))
    assert found.entropies is None
    assert found.problems == (
        "“h” has no number: its cells are text. Choose another column as entropy.",
    )


def test_one_unreadable_entropy_counts_as_missing():
    upload = table(["score", "correct", "h"], ["0.5", "1", "high"], ["0.5", "1", "0.7"])
    found = labelled(upload, scored(*PLAIN.scores, query=None, entropy="h"))
    np.testing.assert_equal(found.entropies, [math.nan, 0.7])
    assert found.problems == ("Line 2: “h” is not a number (counts as missing).",)


def test_hostile_headings_are_short_and_in_one_line_in_complaints():
    heading = "x\n" * 450
    upload = table(["score", heading.strip()], ["0.5", "1"], ["0.5", "?"])
    columns = Columns(None, None, (Score("score", False, heading.strip()),))
    assert len(refused(upload, columns)) < 300 and "\n" not in refused(upload, columns)
    (problem,) = labelled(upload, meaning(columns, **{heading.strip(): [("?", OUT)]})).problems
    assert len(problem) < 150 and "\n" not in problem


# -------------------------------------------------------------------------------- size


def test_many_rows():
    rng = np.random.default_rng(0)
    scores, right = rng.random(40_000), rng.random(40_000) < 0.7
    scores[right] /= 2
    rows = zip(scores.tolist(), right.astype(int).tolist(), strict=True)
    lines = [f"question {i},{score!r},{ok}" for i, (score, ok) in enumerate(rows)]
    upload = read("question,x,correct\n" + "\n".join(lines))
    assert suggest(upload) == scored(Score("x", False, "correct"))
    found = labelled(upload, suggest(upload))
    np.testing.assert_array_equal(found.doubts["x"], scores)
    np.testing.assert_array_equal(found.correct["x"], right)
    assert found.queries[-1] == "question 39999"


def test_a_distinct_text_is_read_once(monkeypatch):
    asked = []
    monkeypatch.setattr(columns, "parse_score", lambda text: asked.append(text) or 0.5)
    upload = table(["score", "correct"], *([["0.5", "1"], ["0.7", "0"]] * 1000))
    labelled(upload, Columns(None, None, PLAIN.scores))
    assert sorted(asked) == ["0.5", "0.7"]


# ----------------------------------------------------------------------- gold questions


def test_questions_as_nq_open_has_them():
    rows = [("who", ["A", "B", "A", " "]), ("how", ["C"])]
    lines = [json.dumps({"question": asked, "answer": told}) for asked, told in rows]
    upload = read("\n".join(lines), "NQ.jsonl")
    found = gold_questions(upload)
    assert (found.name, found.sha256) == ("NQ.jsonl", upload.sha256)
    assert found.questions == ("who", "how")
    assert found.answers == (("A", "B"), ("C",))
    assert found.sources == ("", "")
    assert found.problems == ()


@pytest.mark.parametrize(
    "heading",
    ["answer", "Answers", "gold", "gold_answers", "golden_answers", "golden answer", "aliases",
     "reference", "Gold-Aliases"],
)  # fmt: skip
def test_names_of_gold_answers(heading):
    assert gold_questions(table(["query", heading], ["q", "a"])).answers == (("a",),)


def test_gold_answers_come_before_what_a_model_answered():
    upload = table(["question", "answer", "golden_answers"], ["q", "Rome", "Paris"])
    assert gold_questions(upload).answers == (("Paris",),)


@pytest.mark.parametrize(
    ("cells", "answers"),
    [
        (["a|b; c", "d;e"], [("a", "b; c"), ("d;e",)]),
        (["a; b", "c, d"], [("a", "b"), ("c, d",)]),
        (["a, b", "c"], [("a, b",), ("c",)]),
        (['["a|b", "c"]', "d;e"], [("a|b", "c"), ("d", "e")]),
        (["['it', \"isn't\"]", "['it\\'s' 'b']"], [("it", "isn't"), ("it's", "b")]),
        (["None", "007"], [("None",), ("007",)]),
        (['["None", null, 7, 1.5, true]', "na"], [("None", "7", "1.5", "true"), ("na",)]),
        (["a|a| |", "b"], [("a",), ("b",)]),
        (["[a", "[1, 2"], [("[a",), ("[1, 2",)]),
        ([r'["\ud83c\udf89"]', r'["\ud800"]'], [("🎉",), (r"\ud800",)]),  # half a character
    ],
)
def test_how_answers_are_separated(cells, answers):
    upload = table(["question", "answers"], *(["q", cell] for cell in cells))
    assert list(gold_questions(upload).answers) == answers


def test_questions_or_answers_without_text_are_left_out_and_named():
    rows = [["a", "x"], ["", "x"], ["b", ""], ["c", "[]"], [" ", '[" "]'], ["d", "y"]]
    found = gold_questions(table(["question", "answer"], *rows))
    assert found.questions == ("a", "d")
    assert found.problems == (
        "Lines 3 and 6: “question” is empty (left out).",
        "Lines 4, 5 and 6: “answer” has no answer (left out).",
    )


def test_gold_questions_keep_their_sources():
    found = gold_questions(table(["q", "answer", "topic"], [" a ", "x", "s1"], ["b", "y", ""]))
    assert found.questions == ("a", "b")
    assert found.sources == ("s1", "")


def test_too_many_gold_questions_are_cut(monkeypatch):
    assert MAX_GOLD == 2000
    monkeypatch.setattr("core.data.tabular.gold_questions.MAX_GOLD", 2)
    rows = [["a", "1x"], ["", "2x"], ["b", "3x"], ["c", "4x"], ["", "5x"]]
    found = gold_questions(table(["question", "answer"], *rows))
    assert found.questions == ("a", "b")
    assert found.problems == (
        "Line 3: “question” is empty (left out).",
        "Only the first 2 questions are used, and 2 more rows are not; split the file to use "
        "others.",
    )
    assert len(gold_questions(table(["question", "answer"], *rows[:3])).problems) == 1


def test_scores_with_labels_are_no_gold_questions():
    heading = ["question", "answer", "score", "correct"]
    assert gold_questions(table(heading, ["a", "x", "0.5", "1"])) is None
    assert gold_questions(table(heading, ["a", "x", "", "1"])) is not None


@pytest.mark.parametrize(
    ("heading", "row"),
    [
        (["question", "other"], ["a", "x"]),
        (["other", "answer"], ["a", "x"]),
        (["question", "answer"], ["", "x"]),
        (["question", "answer"], ["a", "[]"]),
    ],
)
def test_no_gold_questions(heading, row):
    assert gold_questions(table(heading, row)) is None


# ------------------------------------------------------------------------------ template


def test_the_template_can_be_uploaded():
    upload = read(template(), "template.csv")
    assert upload.notes == ()
    assert len(upload.table) == 3
    suggested = suggest(upload)
    assert suggested == Columns("question", "source", (Score("confidence", True, "correct"),), None)
    found = labelled(upload, suggested)
    assert found.problems == ()
    assert auroc(found.doubts["confidence"], found.correct["confidence"]) == 1
    assert gold_questions(upload) is None


# --------------------------------------------------------------------------- outside data


def outside(path):
    folder = os.environ.get("BELIEVE_TEST_DATA")
    if not folder:
        pytest.skip("BELIEVE_TEST_DATA names no folder with outside data")
    return read((Path(folder) / path).read_bytes(), Path(path).name)


def test_outside_scores_with_labels():
    upload = outside("calibration/tq_agreement.csv")
    assert len(upload.table) == 1938
    assert {"question", "answer", "score", "correct"} <= set(upload.table.columns)
    suggested = suggest(upload)
    assert suggested == scored(Score("score", True, "correct"))
    found = labelled(upload, suggested)
    assert len(found.kept) == 1938 and found.problems == ()
    assert auroc(found.doubts["score"], found.correct["score"]) > 0.6
    assert gold_questions(upload) is None


def test_outside_gold_questions():
    upload = outside("nq_open/NQ-open.dev.jsonl")
    found = gold_questions(upload)
    assert len(found.questions) == len(found.answers) == 2000
    expected = [json.loads(cell) for cell in upload.table["answer"][:2000]]
    assert [set(a) for a in found.answers] == [{text.strip() for text in e} for e in expected]
    assert "first 2,000" in found.problems[-1]
