"""Tables in one JSON object: pandas' forms, and exports that keep their rows in a list."""

import io
import json
from functools import partial

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data.tabular.json_tables import flat
from core.data.tabular.uploads import UploadError
from tests.data.tabular import files
from tests.data.tabular.files import cells

TABLE = pd.DataFrame(
    {"question": ["Who?", "Where?", "When?"], "score": [0.5, None, 2.25], "correct": [1, 0, 1]}
)
CELLS = [["Who?", "0.5", "1"], ["Where?", "", "0"], ["When?", "2.25", "1"]]


read = partial(files.read, name="scores.json")


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("orient", ["columns", "index", "split", "table"])
def test_what_pandas_writes(orient, indent):
    upload = read(TABLE.to_json(orient=orient, indent=indent))
    assert upload.kind == "JSON"
    found = upload.table.drop(columns="index", errors="ignore")
    assert list(found.columns) == list(TABLE.columns)
    assert found.to_numpy(object).tolist() == CELLS
    assert (list(upload.lines), upload.unit) == ([1, 2, 3], "row")


def test_rows_under_the_keys_of_an_object():
    rows = {f"q{n}": {"question": f"Who is {n}?", "result": {"score": n / 9}} for n in range(300)}
    upload = read(json.dumps(rows))
    assert list(upload.table.columns) == ["id", "question", "result.score"]
    assert cells(upload)[9] == ["q9", "Who is 9?", "1.0"] and len(upload.table) == 300
    assert upload.notes == ("The file has a row under each key; the keys are the column “id”.",)


def test_an_object_of_lists():
    upload = read(json.dumps(TABLE.astype(object).where(TABLE.notna(), None).to_dict("list")))
    assert cells(upload) == CELLS


def test_the_longest_list_of_objects_is_read_and_named():
    content = {
        "version": 2,
        "config": {"tests": [{"vars": 1}]},
        "results": {"rows": [{"a": {"b": {"c": 1}, "d": []}, "e": {}}, {"a": {"d": [1]}}]},
    }
    upload = read(json.dumps(content, indent=1))
    assert list(upload.table.columns) == ["a.b.c", "a.d", "e"]
    assert cells(upload) == [["1", "[]", "{}"], ["", "[1]", ""]]
    assert upload.notes == (
        "The rows were read from “results.rows”; the rest of the file was left out.",
    )


def test_of_several_tables_of_the_same_columns_none_is_taken_for_the_file():
    rows = [{"id": 1, "score": 0.5}, {"id": 2, "score": 0.1}]
    for parts in ({"train": rows, "test": rows[:1]}, {"runs": {"gpt-4": rows, "llama": rows}}):
        with pytest.raises(UploadError, match="several tables of the same columns, “"):
            read(json.dumps(parts))


def test_a_list_that_is_too_long_for_a_cell_is_left_out():
    samples = [{"input": "a", "events": ["x" * 1000] * 200}, {"input": "b", "events": []}]
    upload = read(json.dumps({"samples": samples}))
    assert list(upload.table.columns) == ["input"]
    assert upload.notes[-1] == "Left out, as a cell holds more than can be read: “events”."


@pytest.mark.parametrize(
    "content",
    [
        '{"columns": ["a", "b", "a"], "data": [[1, 2, 3]]}',
        '{"columns": [1, "1"], "data": [[1, 2]]}',
        '{"rows": [{"a": {"b": 1}, "a.b": 2}]}',
    ],
)
def test_no_column_is_lost_to_another_of_the_same_heading(content):
    with pytest.raises(UploadError, match="more than once; rename one of them"):
        read(content)


@pytest.mark.parametrize("key", [r"\ud800", r"<b>\ud800" + "x" * 5_000_000])
def test_a_hostile_key_is_named_so_that_it_can_be_shown(key):
    content = [f'{{"{key}": [{{"q": "a"}}]}}']
    long_list = json.dumps([1] * 50_000)
    content.append(f'{{"rows": [{{"q": "a", "{key}": {long_list}}}]}}')
    for text in content:
        upload = read(text)
        assert cells(upload) == [["a"]]
        assert all(note.encode() and len(note) < 200 for note in upload.notes)


@pytest.mark.parametrize(
    ("row", "headings"),
    [
        ({"q": "a", "answers": ["b", "c"]}, ["q", "answers"]),
        ({"q": "a", "meta": {"seed": 1}}, ["q", "meta.seed"]),
        ({"aliases": ["b", "c"]}, ["aliases"]),
        ({"a": {"x": 1}, "b": {"x": 2}}, ["a.x", "b.x"]),
        ({"columns": ["a"], "data": [[1, 2]]}, ["columns", "data"]),
    ],
)
def test_an_object_without_a_table_is_one_row(row, headings):
    upload = read(json.dumps(row))
    assert upload.kind == "JSONL"
    assert list(upload.table.columns) == headings
    assert len(upload.table) == 1


def test_lines_of_json_stay_lines():
    upload = read('{"a": {"0": 1}}\n{"a": {"0": 2}}\n')
    assert (upload.kind, cells(upload)) == ("JSONL", [["1"], ["2"]])
    assert [*upload.table] == ["a.0"]


def test_a_null_beside_objects_is_no_column_of_its_own():
    rows = [{"a": {"b": {"c": 1}}, "d": 2}, {"a": None, "d": {"e": 3}}, {"a": {"b": None}, "d": 4}]
    upload = read("\n".join(map(json.dumps, [*rows, {"a": {}}])))
    assert [*upload.table] == ["a.b.c", "d", "d.e"]
    assert cells(upload) == [["1", "2", ""], ["", "", "3"], ["", "4", ""], ["", "", ""]]


def test_a_long_table_is_read():
    buffer = io.StringIO()
    pd.DataFrame({"question": ["x" * 50] * 20_000, "score": range(20_000)}).to_json(buffer)
    assert len(read(buffer.getvalue()).table) == 20_000


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["0", "1", "a", "data", "columns"]), inner, max_size=3
            )
        ),
        max_leaves=12,
    ).filter(lambda found: isinstance(found, dict) and found)
)
def test_whatever_the_object_it_is_read(found):
    try:
        assert len(read(json.dumps(found)).table) >= 1
    except UploadError as error:
        assert "several tables of the same columns" in str(error)


def test_metrics_in_a_list_are_columns_by_their_names():
    row = {"input": "Q?", "metricsData": [{"name": "Faithfulness", "score": 0.5, "success": True}]}
    assert flat(row) == {
        "input": "Q?",
        "metricsData.Faithfulness.name": "Faithfulness",
        "metricsData.Faithfulness.score": 0.5,
        "metricsData.Faithfulness.success": True,
    }
