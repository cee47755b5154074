"""A file row by row: arrays, and an array within an object, whatever stands around it."""

import json
import tracemalloc

import pytest

from core.data.datasets.files import array, beginning
from core.data.tabular.rows import MAX_ROW, UploadError

ROWS = [{"a": 1}, {"b": [1, {"Data": []}]}, {"c": ']}\\"'}]


def file(folder, text):
    path = folder / "file.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refused(folder, text, key=""):
    with pytest.raises(UploadError) as caught:
        list(array(file(folder, text), key))
    return str(caught.value)


@pytest.mark.parametrize("indent", [None, 0, 2])
@pytest.mark.parametrize("mark", ["", "\ufeff", " \n"])
def test_an_array_is_read(tmp_path, indent, mark):
    path = file(tmp_path, mark + json.dumps(ROWS, indent=indent))
    assert [item for _, item in array(path)] == ROWS
    assert [item for _, item in array(path, "Data")] == ROWS


@pytest.mark.parametrize(
    "around",
    [
        {"Data": ROWS},
        {"Version": 1.0, "Data": ROWS, "Domain": "Web"},
        {"Meta": {"Data": [{"not": "here"}]}, "List": [{"nor": "here"}], "Data": ROWS},
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_within_an_object_is_read(tmp_path, around, indent):
    path = file(tmp_path, json.dumps(around, indent=indent))
    assert [item for _, item in array(path, "Data")] == ROWS


def test_lines_are_counted(tmp_path):
    text = '{\n "Version": 1,\n "Data": [\n  {"a":\n 1},\n\n  {"b": 2}]}'
    assert [line for line, _ in array(file(tmp_path, text), "Data")] == [4, 7]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "Line 1: no array of objects begins here."),
        ("\n\n7", "Line 3: no array of objects begins here."),
        ('{"Data": []', "Line 1: the object neither continues nor ends here."),
        ('{"Other": [{}]}', "The JSON object in the file has no array “Data”."),
        ('{"Data": {}}', "The JSON object in the file has no array “Data”."),
        ('{"Data" []}', "Line 1: the JSON is broken here; a key is expected."),
        ("{7: []}", "Line 1: the JSON is broken here; a key is expected."),
        ('{"Data": [\n{"a": }]}', "Line 2: the JSON is broken here"),
        (b'{"Data": [{"a": "\xe9"}]}', "is not UTF-8"),
    ],
)
def test_broken_json_is_refused_with_its_line(tmp_path, text, says):
    assert says in refused(tmp_path, text, "Data")


def test_an_object_holds_no_array_unless_a_key_is_given(tmp_path):
    assert refused(tmp_path, '{"Data": [{}]}') == "Line 1: no array of objects begins here."


def test_a_row_has_a_limit(tmp_path):
    text = json.dumps({"Data": [{"a": "x" * (MAX_ROW + 1)}]})
    assert "more than 1,000,000 characters" in refused(tmp_path, text, "Data")


def test_no_more_than_some_rows_are_in_memory(tmp_path):
    path = tmp_path / "large.json"
    with path.open("w", encoding="utf-8") as stream:
        stream.write('{"Data": [')
        for number in range(1000):
            stream.write(("," if number else "") + json.dumps({"a": "x" * 50_000}))
        stream.write('], "Domain": "Web"}')
    assert path.stat().st_size > 50_000_000
    tracemalloc.start()
    try:
        assert sum(1 for _ in array(path, "Data")) == 1000
        assert tracemalloc.get_traced_memory()[1] < 15_000_000
    finally:
        tracemalloc.stop()


def test_a_beginning_has_no_white_space(tmp_path):
    assert beginning(file(tmp_path, b"\xef\xbb\xbf \n[1]"), 100) == b"[1]"
    with pytest.raises(UploadError, match="cannot be read"):
        beginning(tmp_path / "none", 100)
