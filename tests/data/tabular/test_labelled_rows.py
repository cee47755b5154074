"""What columns mean: scores and labels as arrays, and every way in which cells can mislead."""

import io
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.abstention.codebook import EVERY_ROW
from core.abstention.metrics import auroc
from core.data.tabular import columns
from core.data.tabular import labelled_rows as module
from core.data.tabular.columns import ColumnKind, kinds, parse_correctness, parse_score
from core.data.tabular.label_meanings import Meaning, UnreadLabelsError, ValueMeaning, unread_values
from core.data.tabular.labelled_rows import (
    Columns,
    ScoreColumn,
    UnknownLabelsError,
    UnknownQuestionsError,
    labelled_rows,
    template,
)
from core.data.tabular.mixed_rows import (
    UnknownMixtureError,
    mixture_columns,
    other_settings,
    rows_that_count,
)
from core.data.tabular.pipelines import pipelines_of
from core.data.tabular.suggestions import suggest
from core.data.tabular.uploads import UploadError, parse
from core.studies.inspection.certificates import default_policy
from core.studies.inspection.pipeline import to_text
from tests.csv_files import csv_file
from tests.data.tabular.files import read


def table(heading, *rows):
    return read(csv_file(heading, rows))


def column(*cells):
    """One column beside another that is never empty: no blank lines."""
    return table(["a", "b"], *([cell, "x"] for cell in cells))


def scored(*scores, query="question", source=None, entropy=None):
    return Columns(query, source, scores, entropy)


PLAIN = scored(ScoreColumn("score", False, "correct"))


def meaning(columns, **meant):
    """Columns with what each of their values means: out of the count, unless it says otherwise."""
    meant = tuple(
        ValueMeaning(column, value, said)
        for column, values in meant.items()
        for value, said in values
    )
    return replace(columns, meant=meant)


OUT = Meaning.OUT
EMPTY_OUT = meaning(PLAIN, correct=[("", OUT)])


def refused(upload, columns=PLAIN):
    with pytest.raises(UploadError) as caught:
        labelled_rows(upload, columns)
    return str(caught.value)


# ------------------------------------------------------------------------------- cells


@pytest.mark.parametrize(
    ("texts", "right"),
    [
        (["1", "1.0", "true", "True", "TRUE", "t", "yes", "Y", "c", "Correct", " right "], True),
        (["Ja", "Richtig", "WAHR", "oui", "Vrai", "sí", "Sì", "verdadero", "vero"], True),
        (["✓", "✅", "✔", "✔\ufe0f", "PASS", "passed", "korrekt", "Верно"], True),
        (["0", "0.0", "false", "F", "no", "N", "i", "incorrect", "WRONG", "\tno\n"], False),
        (["Nein", "FALSCH", "non", "Faux", "falso", "✗", "✘", "❌", "Fail"], False),
        (["", "2", "-1", "0.5", "maybe", "none", "nan", "tr", "11", "not correct"], None),
        (["w", "W", "x", "X", "r", "-", "o", "s", "v", "good", "✓✗"], None),  # of many meanings
    ],
)
def test_words_for_right_and_wrong(texts, right):
    assert [parse_correctness(text) for text in texts] == [right] * len(texts)


@pytest.mark.parametrize(
    ("texts", "number"),
    [
        (["0.5", "+0.5", ".5", "0,5", ",5"], 0.5),
        (["-0.5", "-0,5", "−0.5"], -0.5),  # the last one has a minus sign as it is printed
        (["1e-3", "1E-3"], 0.001),
        (["1,5e-3"], 0.0015),
        (["50%", "50 %", "50,0%", "tensor(0.5)"], 0.5),
        (["np.float64(0.5)", "tensor(0.5, device='cuda:0')", "np.float32(0.5)"], 0.5),
        (["1'234.5", "1’234.5", "1\u202f234,5", "1\xa0234.5"], 1234.5),
        (["12'34", "1'2345", "tensor(x)", "tensor(1, 2)"], None),
        (["5."], 5),
        ([" 7 ", "007"], 7),
        (["inf", "1e999"], math.inf),
        (["-Infinity"], -math.inf),
        (["", "  ", "nan", "NaN", "None", "NULL", "na", "N/A", "-"], math.nan),  # and not 0
        (["x", "0.5x", "1,234.5", "1,234,567", "1_000", "٣", "0x1", "1 2", "--1"], None),
        (["true", "1e", ".", ",", "e5", "infinite", "[0.5, 1]"], None),
    ],
)
def test_a_number(texts, number):
    np.testing.assert_equal([parse_score(text) for text in texts], [number] * len(texts))


@given(st.floats(allow_nan=False), st.text())
def test_every_float_is_read_back_and_any_text_is_a_number_or_not(number, text):
    assert parse_score(repr(number)) == number
    assert parse_score(text) is None or isinstance(parse_score(text), float)
    assert parse_correctness(text) in (True, False, None)


# --------------------------------------------------------------------------------- kinds


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        (ColumnKind.NUMBER, [["0.5", "1", "-3"], ["0,5", "", "nan", "inf"], ["0", "1", "2"]]),
        (ColumnKind.LABEL, [["0", "1", "1"], ["1", "1"], ["1.0", "0.0", ""], ["c", "i"]]),
        (ColumnKind.LABEL, [["yes", "No", "n/a"]]),
        (ColumnKind.TEXT, [["true", "0.5"], ["0.5", "x"], ["Paris", ""], ['["a"]', "a"]]),
        (ColumnKind.TEXT, [["[a", "[1,"], ["[" * 100_000], ["['a'" + " " * 90_000 + "x"]]),
        (ColumnKind.LIST, [['["a"]', "[]"], ["['a', 'b']", "['a' 'b']", '["it\'s"]']]),
        (ColumnKind.EMPTY, [["", "  "], ["None", "nan", "-"]]),
    ],
)
def test_the_kind_of_a_column(kind, columns):
    for cells in columns:
        assert kinds(column(*cells)) == {"a": kind, "b": ColumnKind.TEXT}


# --------------------------------------------------------------------------- suggestions


def test_a_plain_file():
    upload = table(
        ["id", "Question", "source", "confidence", "correct"],
        ["1", "a", "s", "0.9", "1"],
        ["2", "b", "s", "0.2", "0"],
        ["3", "c", "s", "0.8", "1"],
    )
    assert suggest(upload) == Columns(
        "Question", "source", (ScoreColumn("confidence", True, "correct"),), None
    )


@pytest.mark.parametrize(
    ("role", "headings"),
    [
        ("query", ["question", "QUERY", "Prompt", " q ", "in_put"]),
        ("source", ["Group", "band", "source", "Dataset", "category", "relation", "topic"]),
    ],
)
def test_names_of_queries_and_sources(role, headings):
    for heading in headings:
        assert getattr(suggest(table([heading, "x"], ["a", "b"])), role) == heading.strip()


def test_names_of_correctness():
    for heading in (
        "correct",
        "Is Correct",
        "is-correct",
        "right",
        "correctness",
        "is_hallucination",
    ):
        upload = table(["s", heading, "flag"], ["0.5", "1", "0"], ["0.7", "0", "0"])
        assert [score.correct for score in suggest(upload).scores] == [heading]


def test_what_no_heading_calls_right_is_proposed_and_of_two_neither():
    upload = table(["s", "judged"], ["0.5", "yes"], ["0.7", "no"])
    assert suggest(upload).scores == (ScoreColumn("s", None, "judged"),)
    for heading in (
        ["s", "human_a", "human_b"],  # two annotators
        ["s", "gold", "prediction"],  # right is where they agree
        ["s", "correct", "hallucination"],
    ):
        two = table(heading, ["0.5", "yes", "no"], ["0.7", "no", "no"])
        (score,) = suggest(two).scores
        assert score.correct is None
        with pytest.raises(UnknownLabelsError, match="which column tells whether the answers of"):
            labelled_rows(two, scored(replace(score, larger_is_surer=True), query=EVERY_ROW))
    words = table(["s", "verdict", "temperature"], ["0.5", "PASS", "1"], ["0.7", "fail", "0"])
    assert [score.correct for score in suggest(words).scores] == ["verdict"]
    assert suggest(table(["s", "temperature"], ["0.5", "1"], ["0.7", "0"])).scores == ()
    assert suggest(table(["a", "b"], ["x", "y"])) == Columns(None, None, ())


def test_a_score_that_is_the_label_certifies_nothing():
    """A trace tool's long form has both in one column: it is the label wherever that counts."""
    rows = [["a", "1", "correct"], ["b", "0", "wrong"], ["c", "0.7", ""]]
    columns = meaning(scored(ScoreColumn("value", True, "verdict")), verdict=[("", OUT)])
    for turned in (rows, [[a, {"1": "0", "0": "1"}.get(b, b), c] for a, b, c in rows]):
        upload = table(["question", "value", "verdict"], *turned)
        assert "“value” is no score: in every row it says the same as “verdict”" in refused(
            upload, columns
        )


def test_a_correctness_of_its_own_for_each_score():
    upload = table(
        ["M.I.", "m i_correct", "s e", "correct_S E", "t0", "t0_Correct", "lonely"],
        *([0.1, 1, 0.1, 0, 0.1, 1, 0.3], [0.2, 0, 0.2, 1, 0.2, 0, 0.4]),
    )
    # "M.I." keeps its dots, so that "m i_correct" belongs to another score.
    assert suggest(upload).scores == (
        ScoreColumn("s e", None, "correct_S E"),
        ScoreColumn("t0", None, "t0_Correct"),
    )
    shared = table(["a", "a_correct", "b", "correct"], [0.1, 0, 0.1, 1], [0.2, 1, 0.2, 0])
    assert suggest(shared).scores == (
        ScoreColumn("a", None, "a_correct"),
        ScoreColumn("b", None, "correct"),
    )


def test_a_correctness_with_a_few_unreadable_cells_is_still_one():
    rows = [["0.5", "1"], ["0.7", "0"], ["0.7", "1"], ["0.6", "?"]]
    assert suggest(table(["s", "correct"], *rows)).scores == (ScoreColumn("s", None, "correct"),)
    mostly = [["0.5", "1"], ["0.7", "bad"], ["0.7", "good"]]
    assert suggest(table(["s", "label"], *mostly)).scores == ()


def test_ids_counters_judgements_sources_and_queries_are_no_scores():
    for heading in (
        *("id", "ID", "index", "row", "seed", "n", "k", "samples", "clusters", "sampled_mass"),
        *("exposures", "question_id", "n_samples", "num clusters", "temperature"),
        *("f1_best_alias", "EM", "rouge-l", "query", "category"),
    ):
        upload = table([heading, "correct"], ["5", "1"], ["7", "0"])
        assert kinds(upload)[heading] is ColumnKind.NUMBER
        assert suggest(upload).scores == ()


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=20))
def test_labels_have_no_say_in_the_direction_of_what_they_certify(rows):
    for name, surer in (("confidence", True), ("doubt", False), ("x", None)):
        for turned in (False, True):
            cells = ([f"0.{number}5", int(right != turned)] for number, right in rows)
            upload = table([name, "correct"], *cells)
            assert suggest(upload).scores == (ScoreColumn(name, surer, "correct"),)


def test_scores_that_say_which_way_they_point_are_preferred():
    heading = ["x", "confidence", "y", "perplexity", "correct"]
    numbers = [["0.5", "0.5", "0.5", cell, "1"] for cell in ("1.5", "1,500")]
    scores = ScoreColumn("confidence", True, "correct"), ScoreColumn("perplexity", False, "correct")
    assert suggest(table(heading, numbers[0])).scores == scores
    assert suggest(table(heading, numbers[1])).scores == scores[:1]  # the other cannot be read
    alone = table(["x", "perplexity", "correct"], ["0.5", "1,500", "1"])
    assert suggest(alone).scores == (ScoreColumn("x", None, "correct"),)


def test_names_of_the_entropy():
    for heading in ("semantic_entropy", "Entropy"):
        assert suggest(table([heading, "x"], ["0.5", "b"])).entropy == heading
        assert suggest(table([heading, "x"], ["high", "b"])).entropy is None
    upload = table(["entropy", "semantic_entropy", "correct"], ["1.5", "0.5", "1"])
    assert suggest(upload).entropy == "semantic_entropy"
    assert [score.column for score in suggest(upload).scores] == ["entropy", "semantic_entropy"]
    # In our own table a doubt is missing where too little was seen; the entropy is known.
    heading = ["semantic_entropy", "semantic_entropy_correct", "entropy"]
    assert suggest(table(heading, ["", "1", "1.5"], ["0.5", "0", "0.5"])).entropy == "entropy"
    assert suggest(table(heading[:2], ["0.5", "0"])).entropy == "semantic_entropy"


def test_a_doubt_of_ours_is_a_score_though_all_of_it_is_0():
    heading = ["mutual_information", "mutual_information_correct", "other", "other_correct"]
    suggested = suggest(table(heading, ["0.0", "1", "0.0", "1"], ["0.0", "0", "1", "0"]))
    expected = ScoreColumn("mutual_information", False, "mutual_information_correct")
    assert suggested.scores == (expected,)
    assert suggest(table(["mutual_information", "correct"], ["0", "1"])).scores == ()


# -------------------------------------------------------------------------------- arrays


def test_a_plain_table_as_arrays():
    own = to_text(default_policy().pipeline)
    upload = table(
        ["question", "source", "score", "correct", "h", "pipeline"],
        ["Why?", "s", "0.5", "yes", "0.1", f" {own} "],
        ["How?", "", "1", "no", "", own],
    )
    found = labelled_rows(
        upload, scored(ScoreColumn("score", False, "correct"), source="source", entropy="h")
    )
    assert (found.name, found.sha256) == ("scores.csv", upload.sha256)
    assert found.queries.tolist() == ["Why?", "How?"]
    assert found.sources.tolist() == ["s", ""]
    assert found.doubts["score"].tolist() == [0.5, 1.0]
    assert found.doubts["score"].dtype == np.float64
    assert found.correct["score"].tolist() == [True, False]
    assert found.correct["score"].dtype == np.bool_
    np.testing.assert_equal(found.entropies, [0.1, math.nan])
    assert found.surer == {"score": False}
    assert found.pipeline == own
    assert found.kept.tolist() == [0, 1]
    assert found.problems == ()


def test_the_doubt_of_a_confidence_is_its_negative():
    cells = ["0.9", "0", "-0", "inf", "-inf", ""]
    upload = table(["c", "correct"], *([cell, "1"] for cell in cells))
    doubts = [0.9, 0.0, 0.0, math.inf, -math.inf, math.nan]
    for surer, expected in ((False, doubts), (True, np.subtract(0, doubts))):
        found = labelled_rows(
            upload, Columns(EVERY_ROW, None, (ScoreColumn("c", surer, "correct"),))
        )
        np.testing.assert_equal(found.doubts["c"], expected)
        assert not np.signbit(found.doubts["c"][1:3]).any(), "minus zero looks odd"
        assert found.surer == {"c": surer}


def test_rows_without_query_are_numbered_as_in_the_table():
    upload = table(["score", "correct"], ["0.1", "1"], ["0.2", ""], ["0.3", "0"])
    found = labelled_rows(upload, replace(EMPTY_OUT, query=EVERY_ROW))
    assert found.queries.tolist() == ["1", "3"]
    assert found.sources.tolist() == ["", ""]
    assert found.entropies is None


def test_rows_without_a_question_count_as_one_for_they_may_repeat_the_one_above():
    rows = [["None", "0.1", "1"], ["", "0.2", "1"], [" ", "0.3", "0"], ["007", "0.3", "1"]]
    found = labelled_rows(
        table(["question", "score", "correct"], *rows, ["", "0.3", ""]), EMPTY_OUT
    )
    assert found.queries.tolist() == ["None", "2", "3", "007"]
    assert found.problems[1:] == (
        "Lines 3 and 4: “question” is empty (all of these count as one question; if they repeat "
        "the one above, fill it in).",
    )
    first, *blank, last = found.questions
    assert len(set(blank)) == 1 and len({first, blank[0], last}) == 3


def test_a_missing_score_is_nan_and_only_an_unreadable_one_is_complained_of():
    rows = [*([score, "1"] for score in ["", "NA", "0", "0,5", "high", "1,2,3"]), ["bad", ""]]
    found = labelled_rows(table(["score", "correct"], *rows), replace(EMPTY_OUT, query=EVERY_ROW))
    nan = math.nan
    np.testing.assert_equal(found.doubts["score"], [nan, nan, 0, 0.5, nan, nan])
    assert found.problems == (
        "Line 8: “correct” is empty (left out).",
        "Lines 6 and 7: “score” is not a number (counts as missing).",
    )


@pytest.mark.parametrize(
    "silent", [("I don't know.", ""), ("<think>Rome?</think> I don't know.", "<think>Is it Rome")]
)
def test_a_refusal_that_counts_as_right_is_not_answered_and_a_wrong_one_is(silent):
    heading = ["question", "gold", "answer", "llm_output", "score", "correct"]
    texts = ["<think>He?</think> She", *silent, "N/A", "Unknown"]
    rows = [[f"{n}?", "unknown", a, "x", f"0.{n}", "01"[n < 4]] for n, a in enumerate(texts, 1)]
    found = labelled_rows(table(heading, *rows), PLAIN)
    np.testing.assert_equal(found.doubts["score"], [0.1, math.nan, math.nan, 0.4, 0.5])
    assert found.problems[1:] == (
        "Lines 3 and 4: “answer” holds no answer, though “correct” calls it right (counts as not "
        "answered).",
    )
    assert found.problems[1] in found.codebooks["score"].left_out  # and so in the policy
    with pytest.raises(UploadError, match="No row with a number in “score” has an answer"):
        labelled_rows(table(heading, *rows[1:3]), PLAIN)
    own = table(
        ["question", "answer", "score_answer", "score", "correct"], ["1?", "", "a", "1", "1"]
    )
    assert labelled_rows(own, PLAIN).doubts["score"] == [1]


@pytest.mark.parametrize("cell", ["0.9;0.8", "0.9, 0.8", "0.9,0.8", "0,9 | 0,8", "[0.9 0.8]"])
def test_cells_with_several_numbers_are_named_with_a_mend(cell):
    rows = [["A?", cell, "1"], ["B?", "oops", "0"], ["C?", "0.5", "1"]]
    (problem,) = labelled_rows(table(["question", "score", "correct"], *rows), PLAIN).problems
    assert problem == (
        "Lines 2 and 3: “score” is not a number (counts as missing). "
        f"“{cell}” holds several numbers; write one, such as their mean."
    )


def test_rows_without_label_are_left_out_and_named_by_line():
    labels = ["1", "", "maybe", *[""] * 7, "0"]
    content = "question,score,correct\n" + "".join(
        f'"q\n{i}",0.5,{x}\n' for i, x in enumerate(labels)
    )
    meant = [("", OUT), ("maybe", OUT)]
    found = labelled_rows(read(content), meaning(PLAIN, correct=meant))
    assert found.kept.tolist() == [0, 10] and found.left_out == 9
    assert found.queries.tolist() == ["q\n0", "q\n10"]
    assert found.problems == (
        "Lines 4, 8, 10, 12, 14 and 3 more: “correct” is empty (left out).",
        "Line 6: “correct” is “maybe” (left out).",
    )


def test_of_parquet_rows_are_named():
    buffer = io.BytesIO()
    pd.DataFrame({"score": [0.5, 0.25], "correct": [1.0, None]}).to_parquet(buffer)
    found = labelled_rows(read(buffer.getvalue(), "x.parquet"), replace(EMPTY_OUT, query=EVERY_ROW))
    assert found.problems == ("Row 2: “correct” is empty (left out).",)


def test_a_row_is_used_for_all_scores_or_for_none():
    rows = [[0.1, 1, 0.2, 0], [0.3, "", 0.4, 1], [0.5, 0, 0.6, "?"], [0.7, 0, 0.8, 1]]
    upload = table(["a", "a_correct", "b", "b_correct"], *rows)
    scores = (ScoreColumn("a", False, "a_correct"), ScoreColumn("b", True, "b_correct"))
    out = {"a_correct": [("", OUT)], "b_correct": [("?", OUT)]}
    found = labelled_rows(upload, meaning(Columns(EVERY_ROW, None, scores), **out))
    assert found.kept.tolist() == [0, 3]
    assert {name: doubts.tolist() for name, doubts in found.doubts.items()} == {
        "a": [0.1, 0.7],
        "b": [-0.2, -0.8],
    }
    assert found.correct["a"].tolist() == [True, False]
    assert found.correct["b"].tolist() == [False, True]
    complaints = (
        "Line 3: “a_correct” is empty (left out).",
        "Line 4: “b_correct” is “?” (left out).",
    )
    assert found.problems == complaints
    # Labels that serve two scores are complained of once.
    both = (scores[0], ScoreColumn("b", True, "a_correct"))
    columns = meaning(Columns(EVERY_ROW, None, both), a_correct=out["a_correct"])
    assert labelled_rows(upload, columns).problems == complaints[:1]


def test_only_a_pipeline_that_can_be_read_is_one():
    """Anybody may call a column so; that switches off no check, and nothing is guessed by it."""
    heading = ["score", "correct", "Pipeline"]
    own, every = to_text(default_policy().pipeline), replace(PLAIN, query=EVERY_ROW)
    assert labelled_rows(table(heading, ["1", "1", own], ["2", "0", own]), every).pipeline == own
    foreign = labelled_rows(table(heading, ["1", "1", "p1"], ["2", "0", "p1"]), every)
    assert foreign.pipeline == "" and "“Pipeline” is “p1”" in " ".join(foreign.problems)
    assert foreign.codebooks["score"].only == (("Pipeline", "p1"),)


@pytest.mark.parametrize(
    ("heading", "asks"),
    [
        *((name, True) for name in ("llm_name", "llm_model", "base_model", "Model used")),
        *((name, True) for name in ("answered_by", "GeneratedBy", "seed", "shots")),
        *(
            (name, True)
            for name in (
                "model_version",
                "deployment_id",
                "prompt_version",
                "judgeLLM",
                "num_shots",
            )
        ),
        *(
            (name, False)
            for name in ("model_answer", "system_output", "dataset", "runtime", "lang")
        ),
    ],
)
def test_a_phrase_about_models_tells_them_apart(heading, asks):
    upload = table(["score", "correct", heading], *[[i / 9, i % 2, f"m{i % 2}"] for i in range(9)])
    assert (heading in mixture_columns(upload)) is asks


def test_an_id_of_each_row_tells_nothing_apart():
    rows = [[i / 9, i % 2, f"m{i}"] for i in range(9)]
    assert mixture_columns(table(["score", "correct", "run_id"], *rows)) == []


@pytest.mark.parametrize(
    ("score", "label", "other"),
    [
        ("greedy_probability", "mutual_information_correct", True),
        ("greedy_probability", "correct", True),  # as of a person who reads “answer”
        ("mutual_information", "greedy_probability_correct", True),
        ("greedy_probability", "greedy_probability_correct", False),
        ("mutual_information", "correct", False),
        ("weighted_doubt", "mutual_information_correct", False),  # which serves the same answer
    ],
)
def test_labels_of_another_answer_than_the_score_serves_are_refused(score, label, other):
    """A policy serves the answer of its own score; in a run, “answer” is that of M.I."""
    columns = scored(ScoreColumn(score, False, label), query=EVERY_ROW)
    scores = "mutual_information", "greedy_probability", "weighted_doubt"
    heading = list(dict.fromkeys([*scores, *(f"{name}_correct" for name in scores), label]))
    cells, own = ["1"] * (len(heading) - 3), to_text(default_policy().pipeline)
    rows = [["0.1"] * 3 + cells, ["0.2"] * 3 + cells]
    upload = table([*heading, "pipeline"], *([*row, own] for row in rows))
    if other:
        assert f"“{label}” judges other answers than “{score}” serves" in refused(upload, columns)
    else:
        assert labelled_rows(upload, columns).pipeline == own
    foreign = table(heading, *rows)  # whose policy decides nothing here
    assert labelled_rows(foreign, columns).pipeline == ""


def test_the_rows_of_a_run_are_not_calibrated_on_as_it_keeps_them():
    """There “…_correct” is by token F1, whatever the run counts as right."""
    ends = ["", "_raw", "_answer", "_correct", "_exact"]
    names = ("mutual_information", "certified_mutual_information", "weighted_doubt")
    heading = [f"{name}{end}" for name in names for end in ends]
    upload = table(heading, ["0", "0", "a", "1", "1"] * 3, ["1", "1", "b", "0", "0"] * 3)
    score = ScoreColumn("weighted_doubt", False, "weighted_doubt_correct")
    assert "“…_correct” is by token F1 there" in refused(upload, scored(score, query=EVERY_ROW))


@pytest.mark.parametrize("own", [0, 1])
def test_rows_of_several_pipelines_are_asked_about(own):
    texts = [to_text(default_policy().pipeline)] * own + ["p1", "", "p2"]
    upload = table(["score", "correct", "Pipeline"], *[[i, i % 2, p] for i, p in enumerate(texts)])
    assert pipelines_of(upload) == texts and pipelines_of(table(["s"], ["1"])) == []
    every = replace(PLAIN, query=EVERY_ROW)
    with pytest.raises(UnknownMixtureError, match="“Pipeline” is "):
        labelled_rows(upload, every)
    assert labelled_rows(upload, replace(every, filters=(("Pipeline", None),))).pipeline == ""


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (scored(query=EVERY_ROW), "No score is chosen"),
        (scored(ScoreColumn("x", False, "correct"), query=EVERY_ROW), "no column “x”"),
        (scored(ScoreColumn("score", False, "x"), query=EVERY_ROW), "no column “x”"),
        (scored(*PLAIN.scores, query="x"), "no column “x”"),
        (scored(*PLAIN.scores, query=EVERY_ROW, source="x"), "no column “x”"),
        (scored(*PLAIN.scores, query=EVERY_ROW, entropy="x"), "no column “x”"),
        (scored(ScoreColumn("correct", True, "correct"), query=EVERY_ROW), "two columns"),
        (scored(*PLAIN.scores, *PLAIN.scores, query=EVERY_ROW), "chosen twice"),
        (
            replace(EMPTY_OUT, query=EVERY_ROW),
            "number in any row that says whether its answer is right",
        ),
        (
            meaning(
                scored(*PLAIN.scores, ScoreColumn("b", False, "accurate"), query=EVERY_ROW),
                correct=[("", OUT)],
                accurate=[("", OUT)],
            ),
            "No row says for every chosen score",
        ),
        (
            meaning(
                scored(ScoreColumn("b", None, "correct"), query=EVERY_ROW), correct=[("", OUT)]
            ),
            "Say whether a larger “b” means a surer answer or more doubt",
        ),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns, says):
    upload = table(
        ["score", "correct", "b", "accurate"], ["", "1", "0.5", ""], ["0.5", "", "0.5", "1"]
    )
    assert says in refused(upload, columns)


MANY = [(f"Q{i}", i / 20, i % 2, "good" if i % 2 else "bad", i % 3) for i in range(20)]


def test_groups_made_of_the_labels_are_refused():
    upload = table(["question", "score", "correct", "verdict", "kind"], *MANY)
    for groups in ("verdict", "correct"):
        with pytest.raises(UploadError, match="made of the labels"):
            labelled_rows(upload, replace(PLAIN, source=groups))
    assert set(labelled_rows(upload, replace(PLAIN, source="kind")).sources) == {"0", "1", "2"}
    # Every row a group of its own is no such column, and labels of one kind make no groups.
    labelled_rows(upload, replace(PLAIN, source="question"))
    right = table(
        ["question", "score", "correct", "kind"], *((f"Q{i}", i, 1, i % 2) for i in range(9))
    )
    labelled_rows(right, replace(PLAIN, source="kind"))


@pytest.mark.parametrize(
    ("cells", "as_labels", "as_score"),
    [
        (["0.5", "0.7"], "numbers, such as “0.5” in line 2", None),
        (["yes", "no"], None, "say right or wrong, such as “yes” in line 2"),
        (
            [f"answer {n}" for n in range(13)],
            "text, such as “answer 0” in line 2",
            "are text, such as “answer 0” in line 2",
        ),
        (
            ["[1, 0]", "[2, 0]"],
            "lists, such as “[1, 0]” in line 2",
            "are lists, such as “[1, 0]” in line 2",
        ),
        (["", "NA"], "empty", "are empty"),
    ],
)
def test_a_column_that_is_none_says_what_it_holds(cells, as_labels, as_score):
    upload = table(["x", "right", "n"], *([cell, at % 2, at] for at, cell in enumerate(cells)))
    if as_labels:
        assert refused(upload, Columns(EVERY_ROW, None, (ScoreColumn("n", False, "x"),))) == (
            f"No cell of “x” says whether an answer is right: its cells are {as_labels}. Choose "
            "a column of 1 (right) and 0 (wrong)."
        )
    if as_score:
        assert refused(upload, Columns(EVERY_ROW, None, (ScoreColumn("x", False, "right"),))) == (
            f"“x” has no number: its cells {as_score}. Write one number in each cell, or "
            "choose another column as score."
        )


@pytest.mark.parametrize(
    ("cells", "entropies", "problem"),
    [
        (
            ["high", ""],
            None,
            "“h” has no number: its cells are text, such as “high” in line 2. Write one number in "
            "each cell, or choose another column as entropy.",
        ),
        (["high", "0.7"], [math.nan, 0.7], "Line 2: “h” is not a number (counts as missing)."),
    ],
)
def test_an_unreadable_entropy_is_missing_and_complained_of(cells, entropies, problem):
    upload = table(["score", "correct", "h"], *(["0.5", "1", cell] for cell in cells))
    found = labelled_rows(upload, scored(*PLAIN.scores, query=EVERY_ROW, entropy="h"))
    np.testing.assert_equal(found.entropies, entropies)
    assert found.problems == (problem,)


def test_hostile_headings_are_short_and_in_one_line_in_complaints():
    heading = "right\n" + "is\n" * 300
    upload = table(["score", heading.strip()], ["0.5", "1"], ["0.5", "?"])
    columns = Columns(EVERY_ROW, None, (ScoreColumn("score", False, heading.strip()),))
    assert len(refused(upload, columns)) < 300 and "\n" not in refused(upload, columns)
    (problem,) = labelled_rows(upload, meaning(columns, **{heading.strip(): [("?", OUT)]})).problems
    assert len(problem) < 150 and "\n" not in problem


# -------------------------------------------------------------------------------- size


def test_a_distinct_text_is_read_once(monkeypatch):
    asked = []
    monkeypatch.setattr(columns, "parse_score", lambda text: asked.append(text) or 0.5)
    # With white space: of plain numbers nobody has to ask.
    upload = table(["score", "correct"], *([["0.5 ", "1"], ["0.7 ", "0"]] * 1000))
    for _ in range(2):
        suggest(upload)
        labelled_rows(upload, Columns(EVERY_ROW, None, PLAIN.scores))
    assert sorted(asked) == ["0.5 ", "0.7 "]


# ------------------------------------------------------------------------------ template


def test_the_template_can_be_uploaded():
    upload = read(template(), "template.csv")
    assert upload.notes == ()
    assert len(upload.table) == 3
    suggested = suggest(upload)
    assert suggested == Columns(
        "question", "source", (ScoreColumn("confidence", True, "correct"),), None
    )
    found = labelled_rows(upload, suggested)
    assert found.problems == ()
    assert auroc(found.doubts["confidence"], found.correct["confidence"]) == 1


def test_more_scores_times_rows_than_can_be_calibrated_on_are_refused(monkeypatch):
    monkeypatch.setattr(module, "MAX_SCORED", 5)
    upload = table(["a", "b", "correct"], *[["0.1", "0.2", "1"], ["0.3", "0.4", "0"]] * 2)
    scores = tuple(ScoreColumn(name, False, "correct") for name in "ab")
    with pytest.raises(UploadError) as caught:
        labelled_rows(upload, Columns(EVERY_ROW, None, scores))
    assert str(caught.value) == (
        "2 scores of 4 rows are more than 5 numbers, the most that can be calibrated on at once; "
        "choose at most 1 of these scores, or upload fewer rows."
    )
    assert len(labelled_rows(upload, Columns(EVERY_ROW, None, scores[:1])).doubts) == 1


def test_what_was_read_is_in_words_and_in_the_policy_of_each_score():
    upload = table(
        ["question", "response", "confidence", "is_hallucination", "model"],
        ["Why?", "so", "0.9", "0", "m"],
        ["why", "no", "0.2", "1", "m"],
        ["How?", "so", "", "1", "m"],
        ["Who?", "so", "0.5", "n/a", "m"],
    )
    data = labelled_rows(upload, meaning(suggest(upload), is_hallucination=[("n/a", OUT)]))
    assert data.codebooks["confidence"].sentences == data.reading
    assert data.reading == (
        "Question: “question”; 3 rows ask 2 different questions.",
        "Right: “is_hallucination” is “0” (1 of 3 rows); wrong: “1”.",
        "Score: “confidence”; larger means a surer answer.",
        "Rows used: 3 of 4.",
        "Line 5: “is_hallucination” is “n/a” (left out).",
        "In every row used: “model” is “m”.",
        "Without “confidence”, and so never answered: 1 row.",
        "Columns not used: “model”.",
        "Line 2: “Why?”, answered “so”, confidence 0.9, right.",
        "Line 3: “why”, answered “no”, confidence 0.2, wrong.",
        "Line 4: “How?”, answered “so”, confidence missing, wrong.",
    )


@pytest.mark.parametrize(
    ("heading", "weighs"), [("Count", True), ("row_weight", True), ("n", False)]
)
def test_rows_that_stand_for_several_are_said_to_count_once(heading, weighs):
    rows = [[f"{n}?", "0.5", "01"[n % 2], str(n)] for n in range(4)]
    upload = table(["question", "confidence", "correct", heading], *rows)
    book = labelled_rows(upload, suggest(upload)).codebooks["confidence"]
    assert book.claims == (f"Each row counts once, whatever its “{heading}” is.",) * weighs
    upload.table[heading] = "7"
    same = labelled_rows(replace(upload, columns={}), suggest(upload))
    assert same.codebooks["confidence"].claims == ()


def test_rows_of_one_document_are_said_to_be_taken_as_independent():
    rows = [[f"{n}?", f"d{n % 3}", "0.5", "01"[n % 2], f"u{n}"] for n in range(9)]
    upload = table(["question", "doc_id", "confidence", "correct", "user"], *rows)
    (claim,) = labelled_rows(upload, suggest(upload)).codebooks["confidence"].claims
    assert claim.startswith("Rows of one “doc_id”, of 3 in all, are taken as independent: if they")
    own = replace(suggest(upload), query="doc_id")
    assert labelled_rows(upload, own).codebooks["confidence"].claims[1:] == ()


def test_copies_of_a_row_that_names_no_question_count_once():
    scores = [f"0.{n}" for n in range(100001, 100011)]
    every = [[number, "01"[n % 2]] for n, number in enumerate(scores)]

    def counted(rows):
        data = labelled_rows(table(["score", "correct"], *rows), replace(PLAIN, query=EVERY_ROW))
        return len(set(data.questions)), data.reading[0]

    assert counted(every) == (
        10,
        "Question: every row asks another; 10 rows are taken as independent.",
    )
    for rows in (3 * every, [*every, *every[:4]]):
        number, said = counted(rows)
        assert number == 10 and said.endswith(
            f"10 of {len(rows)} rows are taken as independent, the others being copies."
        )
    assert counted([*every[:2], *every[:1] * 7])[0] == 9  # few values, as entropies of counts have
    for short in ("0.5", "1e308"):
        assert counted([[short, "1"]] * 3 + every)[0] == 13  # these are alike by chance


@pytest.mark.parametrize("heading", ["split", "Data split", "fold", "is_train"])
def test_rows_on_which_a_score_may_have_been_fitted_are_asked_about(heading):
    rows = [[f"{n}?", "0.5", "01"[n % 2], "01"[n // 2]] for n in range(4)]
    upload = table(["question", "confidence", "correct", heading], *rows)
    with pytest.raises(UnknownMixtureError, match=f"“{heading}” is “0” and “1”"):
        labelled_rows(upload, suggest(upload))


def test_an_endless_score_hides_no_scale():
    rows = [
        [f"{n}?", number, "01"[n % 2]] for n, number in enumerate(["0.4", "inf", "0.9", "-inf"])
    ]
    upload = table(["question", "confidence", "correct"], *rows)
    columns = replace(suggest(upload), scores=(ScoreColumn("confidence", True, "correct"),))
    book = labelled_rows(upload, columns).codebooks["confidence"]
    assert (book.lowest, book.highest) == (0.4, 0.9)
    assert "Give it on the same scale" in book.misfit({}, 90.0)


def test_labels_that_were_not_read_are_asked_about_in_the_rows_that_count():
    rows = [["a", "m", "0.9", "1"], ["a", "N", "0.2", "maybe"], ["b", "m", "0.3", "no"]]
    rows += [["c", "m", "0.1", ""], ["d", "N", "0.1", ""], ["e", "N", "0.3", ""]]
    upload = table(["question", "model", "confidence", "correct"], *rows)
    for model, unread in (("m", {"": 1}), ("n", {"": 2, "maybe": 1})):
        filters = (("model", model),)
        cells = unread_values(upload, "correct", rows_that_count(upload, filters))
        assert {each.value: each.rows for each in cells} == unread
        with pytest.raises(UnreadLabelsError, match=rf"empty \({unread['']} row"):
            labelled_rows(upload, replace(suggest(upload), filters=filters))


def test_two_columns_of_one_heading_that_differ_are_no_score():
    rows = "q,confidence,confidence,correct\na,0.9,{},1\nb,0.2,0.2,0\n"
    twice, other = (parse(rows.format(cell).encode(), "x.csv") for cell in ("0.9", "0.1"))
    assert labelled_rows(twice, suggest(twice)).numbers("confidence").tolist() == [0.9, 0.2]
    for reading in (
        lambda: labelled_rows(other, suggest(other)),
        lambda: module.doubts_of(other, "confidence", True),
    ):
        with pytest.raises(UploadError, match="Two columns are called “confidence”, and differ"):
            reading()


def of_models(*filters):
    """Three questions of two models, one row without a label, as filters choose them."""
    rows = [["a", "m", "0.9", "1"], ["a", "N", "0.2", "0"], ["b", "m", "0.3", "0"]]
    upload = table(["question", "Modell", "confidence", "correct"], *rows, ["c", "n ", "0.4", ""])
    columns = meaning(suggest(upload), correct=[("", OUT)])
    return labelled_rows(upload, replace(columns, filters=filters))


@pytest.mark.parametrize(
    ("heading", "by_program"),
    [
        *(
            (name, True)
            for name in ("judge.label", "exact_match", "autoCorrect", "correct (judge)")
        ),
        *((name, False) for name in ("correct", "author_is_right", "judged right by an expert")),
    ],
)
def test_labels_whose_heading_names_a_program_promise_agreement_with_it(heading, by_program):
    upload = table(["question", "confidence", heading], ["a", "0.9", "1"], ["b", "0.2", "0"])
    score = ScoreColumn("confidence", True, heading)
    right = ValueMeaning(heading, "1", Meaning.RIGHT), ValueMeaning(heading, "0", Meaning.WRONG)
    book = labelled_rows(upload, replace(scored(score), meant=right)).codebooks["confidence"]
    assert book.grader == (f"a judge or a rule, as “{heading}” says" if by_program else "")
    assert ("agreement with it, not truth" in book.of_grader(True)) is by_program


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("question", ""),
        ("row", "2 rows that repeat another’s “question” ask another question."),
        ("kind", "1 row that repeats another’s “question” asks another question."),
        ("", "2 rows that repeat another’s “question” ask another question."),
    ],
)
def test_that_repeated_questions_are_others_is_what_a_person_said(query, says):
    rows = [[n, "Who?", "ab"[n > 1], f"0.{n}", n % 2] for n in (1, 2, 3)]
    upload = table(["row", "question", "kind", "confidence", "correct"], *rows)
    book = labelled_rows(upload, replace(suggest(upload), query=query)).codebooks["confidence"]
    assert book.claims == ((f"As you said, {says}",) if says else ())
    heading = ["question_id", "question", "confidence", "correct"]
    upload = table(heading, *([r > 1, f"Who is {r}?", f"0.{r}", r % 2] for r in (1, 2, 3)))
    (book,) = labelled_rows(upload, replace(suggest(upload), query="question")).codebooks.values()
    assert "1 row that repeats another’s “question_id” asks another" in book.claims[0]


def test_which_of_several_models_counts_is_asked():
    with pytest.raises(UnknownMixtureError, match="“Modell” is “m” and “N” in the rows that") as of:
        of_models()
    assert of.value.column == "Modell"
    one = of_models(("Modell", "m"))
    chosen = "As you said, only rows in which “Modell” is “m” count"
    assert one.kept.tolist() == [0, 2] and one.selection == f"{chosen}."
    assert f"{chosen} (left out: 2 rows of others)." in one.reading
    other = of_models(("Modell", "n"))
    assert one.left_out == 0 and other.left_out == 1  # of those that count, and so in words
    assert other.decided == ("As you said, 1 row in which “correct” is empty was left out.",)
    assert one.decided == ("As you said, 0 rows in which “correct” is empty were left out.",)
    mix = of_models(("Modell", None))
    assert [data.codebooks["confidence"].only for data in (one, other, mix)] == [
        *((("Modell", "m"),), (("Modell", "N"),), (("Modell", "m"), ("Modell", "N")))
    ]
    assert [(b.lowest, b.highest) for b in one.codebooks.values()] == [(0.3, 0.9)]
    assert mix.kept.tolist() == [0, 1, 2]
    assert mix.selection == "“Modell” is “m” and “N”: their mix counts, not one alone."
    (sentence,) = (each for each in mix.reading if "a promise holds for this mix" in each)
    assert sentence.startswith("“Modell” is “m” and “N” in the rows used: as you said,")


@pytest.mark.parametrize(
    ("heading", "models", "says"),
    [
        ("MODEL ", ["n", "m"], ""),
        ("model", ["m"], "“model” is “m”, and a mix of “m” and “N” made the policy"),
        ("model", ["", "m"], "“model” is empty and “m”, and a mix of “m” and “N” made the policy"),
        ("llm_name", ["m"], "“llm_name” is “m”, and nothing says that such rows made the policy"),
        ("id", ["m"], ""),
    ],
)
def test_new_rows_of_other_models_than_a_calibrations_are_told_by_a_sentence(heading, models, says):
    only = (("model", "m"), ("model", "N"))
    upload = table([heading, "score", "seed"], *([model, "1", "7"] for model in models))
    assert other_settings(upload, only, ["seed"]) == says
    assert (other_settings(upload, (), ["seed"]) != "") is (len(models) > 1)
    runs = table(["run", "score"], *([f"at {n}", n] for n in range(60)))
    assert other_settings(runs, (), []) == ""  # names each row, and no kind of them


@pytest.mark.parametrize("heading", ["system", "run.config", "Prompt-Template", "judge", "模型"])
def test_what_tells_systems_apart_is_asked_whatever_it_is_called(heading):
    with pytest.raises(UnknownMixtureError, match="is “x” and “y” in the rows that would be used"):
        beside(heading, "x", "y")


@pytest.mark.parametrize("heading", ["original_question", "base_id", "paraphrase_of"])
def test_questions_that_another_column_holds_for_one_are_asked_about(heading):
    rows = [[f"Who {n}?", n / 60, n % 2, f"w{n % 9}"] for n in range(60)]
    upload = table(["question", "confidence", "correct", heading], *rows)
    with pytest.raises(UnknownQuestionsError, match="may ask one question in other words"):
        labelled_rows(upload, suggest(upload))


def beside(heading, *cells, **more):
    """Sixty labels `pass` beside a column of these cells in turn."""
    rows = [[n, n / 60, (n % 4 and "PASS") or "FAIL", cells[n % len(cells)]] for n in range(60)]
    upload = table(["question", "confidence", "pass", heading], *rows)
    return labelled_rows(upload, replace(suggest(upload), **more))


@pytest.mark.parametrize(
    ("heading", "cells"),
    [
        ("test_kind", ["latency"]),
        ("metric_name", ["Answer Relevancy", "correctness"]),
        ("Kriterium", ["Stil"]),
        ("suite", ["JSON format check"]),
        ("group", ["toxicity", "latency test", "capitals"]),
    ],
)
def test_what_labels_judge_is_asked_and_in_the_promise(heading, cells):
    with pytest.raises(UnknownMixtureError, match="do not say whether an answer is right"):
        beside(heading, *cells)
    data = beside(heading, *cells, filters=((heading, cells[0].casefold()),))
    assert f"Right and wrong are by “{heading}”, which is “{cells[0]}”." in data.selection
    assert "Right and wrong are by" in beside(heading, *cells, filters=((heading, None),)).selection


@pytest.mark.parametrize(
    ("heading", "cells"),
    [("metric", ["exact_match"]), ("check", ["Correctness"]), ("topic", ["safety", "art", "sea"])],
)
def test_what_says_nothing_against_labels_is_not_asked(heading, cells):
    assert beside(heading, *cells).selection == ""


def test_what_every_row_says_is_named_and_many_models_by_their_number():
    assert "In every row used: “phase” is “warm-up”." in beside("phase", "warm-up").reading
    many = [f"m{n}" for n in range(58)]
    assert (
        "“model” has 58 different values, such as “m0”, “m1” and “m2”, which are a mix."
        in beside("model", *many).reading
    )
    rows = [[n, n / 120, n % 2, f"m{n // 2}"] for n in range(120)]  # two rows of each of 60 models
    upload = table(["question", "confidence", "correct", "model"], *rows)
    with pytest.raises(UnknownMixtureError, match="“model” has 60 different values, such as “m0”"):
        labelled_rows(upload, suggest(upload))


def test_rows_are_chosen_by_a_column_of_models_and_a_value_that_it_has_alone():
    for filters, says in (
        (("correct", "1"), "“correct” is no column of models, .* there is “Modell”"),
        (("Modell", "x"), "No row has “x” in “Modell”. It has “m” and “N”; choose one"),
    ):
        with pytest.raises(UploadError, match=says):
            of_models(filters)
