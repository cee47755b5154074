"""Files of people: every kind that can be read, and every trap on the way."""

import csv
import datetime
import decimal
import gzip
import hashlib
import io
import json
import tomllib
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.codec import one_line
from core.data.tabular import parquet_rows, rows, uploads
from core.data.tabular.csv_export import as_it_was
from core.data.tabular.rows import MAX_CELL, as_text
from core.data.tabular.uploads import Upload, UploadError, parse
from tests.csv_files import csv_file
from tests.data.tabular.files import as_parquet, cells, headings, read, refused

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def coded(texts, numbers):
    return pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int32()), texts)


# --------------------------------------------------------------------------------- CSV


def test_a_plain_csv():
    upload = read("question,score\nWhy?,0.5\nHow?,1\n")
    assert upload.name == "scores.csv"
    assert upload.kind == "CSV"
    assert headings(upload) == ["question", "score"]
    assert cells(upload) == [["Why?", "0.5"], ["How?", "1"]]
    assert upload.lines.tolist() == [2, 3]
    assert upload.lines.dtype == np.int64
    assert upload.notes == ()
    assert upload.sha256 == hashlib.sha256(b"question,score\nWhy?,0.5\nHow?,1\n").hexdigest()


def test_a_cell_stays_the_text_it_is():
    texts = ["None", "NA", "N/A", "null", "nan", "007", "1.10", "1e3", "True", "2020-01-01", "-"]
    found = cells(read("question,other\n" + "".join(f"{text},x\n" for text in texts)))
    assert found == [[text, "x"] for text in texts]
    assert {type(cell) for row in found for cell in row} == {str}


@pytest.mark.parametrize(
    ("content", "heading", "found", "lines"),
    [
        ("a,b,c\n,x,\n", "a b c", [["", "x", ""]], [2]),
        (" a ,\tb\n 1 , 2\n", "a b", [[" 1 ", " 2"]], [2]),  # white space of cells is theirs
        ("a,b\nx\u2028y,z\x0bw\n1,2\n", "a b", [["x\u2028y", "z\x0bw"], ["1", "2"]], [2, 3]),
        ("a,b\nx\x1fy,z\x07\n", "a b", [["x\x1fy", "z\x07"]], [2]),
        ('a,b\n"x,y","say ""no"""\n', "a b", [["x,y", 'say "no"']], [2]),
        ('a,b\n5" disk,x\n', "a b", [['5" disk', "x"]], [2]),
        # Blank lines are skipped, and lines of separators before the heading; others are rows.
        ("\n\n  \na,b\n\n1,2\n   \n3,4\n\n", "a b", [["1", "2"], ["3", "4"]], [6, 8]),
        (",,\n,,\na,b,c\n1,2,3\n", "a b c", [["1", "2", "3"]], [4]),
        ("a,b\n,\n1,2\n", "a b", [["", ""], ["1", "2"]], [2, 3]),
        ("question\nWhy?", "question", [["Why?"]], [2]),
        ('a\n \n""\nx\n', "a", [[" "], [""], ["x"]], [2, 3, 4]),
    ],
)
def test_what_is_a_cell_and_what_is_a_row(content, heading, found, lines):
    upload = read(content)
    assert headings(upload) == heading.split()
    assert (cells(upload), upload.lines.tolist()) == (found, lines)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_numbers_count_the_lines_within_quoted_cells(end):
    upload = read(end.join(["a,b", '1,"x', 'y"', "", "2,z", '"p', "", 'q",r', "3,s"]))
    broken = [f"x{end}y", f"p{end}{end}q"]
    assert cells(upload) == [["1", broken[0]], ["2", "z"], [broken[1], "r"], ["3", "s"]]
    assert upload.lines.tolist() == [2, 5, 6, 9]


# --------------------------------------------------------------------------- separators


@pytest.mark.parametrize(
    ("content", "heading"),
    [
        ('"a;b;c;d",e\n1,2\n', ["a;b;c;d", "e"]),
        ('"one, two, three";b\n"x, y";2\n', ["one, two, three", "b"]),
        ("Question, asked;score;right\na;1;1\n", ["Question, asked", "score", "right"]),
        ("one;two;three,b\n1,2\n3,4\n", ["one;two;three", "b"]),  # as the rows say
        ("text asked,names\n" + "Q,a|b|c\n" * 5, ["text asked", "names"]),  # no title
    ],
)
def test_what_separates_most_headings_and_fits_the_rows_is_the_separator(content, heading):
    assert headings(read(content)) == heading


def test_a_tie_between_separators_goes_by_the_name():
    content = "a,b\tc\n1,2\t3"
    assert headings(read(content, "x.tsv")) == ["a,b", "c"]
    assert headings(read(content, "x.csv")) == ["a", "b\tc"]


@pytest.mark.parametrize("separator", [";", "|"])
def test_another_separator_is_noted(separator):
    upload = read(f"a{separator}b\n1{separator}0,5")
    assert (upload.kind, cells(upload)) == ("CSV", [["1", "0,5"]])
    assert upload.notes == (f"The columns are separated by “{separator}”.",)


@pytest.mark.parametrize(
    ("content", "kind", "names"),
    [
        ("a,b\n1,2", "CSV", ["", "x", "x.txt", "../../etc/passwd", "a\0b", "x.CSV", "ü" * 5000]),
        ("a\tb\n1\t2,3", "TSV", ["x.tsv", "x.tab", "x.txt"]),
        ('{"q": 1}', "JSONL", ["x.json", "x.jsonl", "x"]),
        (BYTE_ORDER_MARK + b'\n\n{"q": 1}', "JSONL", ["x"]),
        (as_parquet({"a": [1]}), "Parquet", ["x.parquet", "x.pq", "x"]),
    ],
)
def test_a_name_that_promises_nothing_else_needs_no_note(content, kind, names):
    for name in names:
        upload = read(content, name)
        assert (upload.name, upload.kind, upload.notes) == (name, kind, ())


@pytest.mark.parametrize(
    ("content", "ending", "holds"),
    [
        ("a\tb\n1\t2\n", ".csv", "tab-separated values"),
        ("a,b\n1,2\n", ".tsv", "comma-separated values"),
        ("a,b\n1,2\n", ".jsonl", "comma-separated values"),
        ('{"q": "x, y"}\n', ".csv", "JSON lines"),
        ('{"q": "x, y"}\n', ".tsv", "JSON lines"),
        (as_parquet({"a": [1]}), ".csv", "Parquet"),
    ],
)
def test_a_name_that_promises_something_else_is_noted(content, ending, holds):
    upload = read(content, f"x{ending}")
    assert uploads.KINDS[upload.kind] == holds
    assert upload.notes == (f"The name ends in {ending}, but the file holds {holds}.",)


# ----------------------------------------------------------------------------- headings


def test_a_heading_that_stands_twice_gets_a_number():
    upload = read("score,score,score\n1,2,3\n")
    assert headings(upload) == ["score", "score (2)", "score (3)"]
    assert upload.notes == (
        "The heading “score” appears more than once; the other is now “score (2)”.",
        "The heading “score” appears more than once; the other is now “score (3)”.",
    )


def test_an_empty_heading_is_named_after_its_place():
    upload = read("a,, \n1,2,3\n")
    assert headings(upload) == ["a", "column 2", "column 3"]
    assert upload.notes[0] == "Column 2 has no heading; it is called “column 2”."


@pytest.mark.parametrize(
    ("content", "heading"),
    [
        ("a,a (2),a, a\n1,2,3,4\n", ["a", "a (2)", "a (3)", "a (4)"]),
        (",column 1\n1,2\n", ["column 1 (2)", "column 1"]),
        ("column 2,\n1,2\n", ["column 2", "column 2 (2)"]),
        ('{" a": 1, "a": 2, "": 3}\n', ["a", "a (2)", "column 3"]),
        (as_parquet(pa.table([[1], [2]], names=["a", "a"])), ["a", "a (2)"]),
    ],
)
def test_a_heading_gets_a_name_that_is_not_taken_already(content, heading):
    assert headings(read(content)) == heading


def test_a_long_or_broken_heading_is_shortened_in_notes():
    heading = "x\ny " + "z" * 900
    upload = read(f'"{heading}","{heading}"\n1,2\n')
    assert headings(upload)[0] == heading
    assert len(upload.notes[0]) < 250 and "\n" not in upload.notes[0]
    assert one_line("a \n b") == "a b"
    assert len(one_line("x" * 61)) == 60
    assert one_line("\ud800a") == "?a"  # which nothing could show
    assert one_line("\u202ea\u2066b") == "ab"  # which would turn the rest of a sentence


# ----------------------------------------------------------------------------- encodings


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_utf_8_needs_no_byte_order_mark_and_other_ones_are_believed(encoding):
    text = '"question",b\nMalmö 🎉,2\n'
    contents = [f"\ufeff{text}".encode(encoding), *([text.encode()] if encoding == "utf-8" else [])]
    for upload in map(read, contents):
        assert headings(upload) == ["question", "b"]
        assert cells(upload) == [["Malmö 🎉", "2"]]
        noted = () if encoding == "utf-8" else (f"The file was read as {encoding[:6].upper()}.",)
        assert upload.notes == noted


@pytest.mark.parametrize(
    ("content", "encoding", "found"),
    [
        ("q,b\nMalmö costs 5 €,“2”\n".encode("cp1252"), "Windows-1252", ["Malmö costs 5 €", "“2”"]),
        (b"q,b\nMalm\xf6 \x81,2\n", "Latin-1", ["Malmö \x81", "2"]),
    ],
)
def test_windows_1252_and_what_it_does_not_know_are_read_with_a_note(content, encoding, found):
    upload = read(content)
    assert cells(upload) == [found]
    assert upload.notes == (
        f"The file is not UTF-8; it was read as {encoding}. If letters look wrong, save it as "
        "UTF-8.",
    )


def test_a_letter_at_the_border_of_two_pieces_is_no_broken_one(monkeypatch):
    monkeypatch.setattr(uploads, "PIECE", 3)
    assert cells(read("q\nMalmö 🎉\n")) == [["Malmö 🎉"]]
    assert read("q\nMalmö 🎉\n").notes == ()
    assert "Windows-1252" in read("q\nMalmö".encode()[:-1]).notes[0]


def test_damaged_utf_16_is_refused():
    assert "UTF-16" in refused(b"\xff\xfe" + "q,b\n1,2".encode("utf-16-le") + b"\x00")
    assert "UTF-16" in refused(b"\xff\xfe" + b"\x00\xd8" + b"a\x00")


# ------------------------------------------------------------------------- refused files


def archive(part="[Content_Types].xml"):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(part, "<Types/>")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("what", "contents"),
    [
        ("zip archive", [archive()]),
        ("Excel", [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest"]),
        ("PDF", [b"%PDF-1.7\n%\xe2\xe3"]),
        ("PNG", [b"\x89PNG\r\n\x1a\n\0\0"]),
        ("JPEG", [b"\xff\xd8\xff\xe0\0\x10JFIF"]),
        ("gzip", [gzip.compress(b"a,b\n1,2\n", mtime=0)]),
        ("HTML", [b"<!DOCTYPE html>\n<html><body>404</body></html>"]),
        ("HTML", [BYTE_ORDER_MARK + b"\n <HTML lang=en>"]),
        ("XML", [b"<?xml version='1.0'?><a/>"]),
        ("SQLite", [b"SQLite format 3\0rest"]),
        ("binary", [b"a,b\n1,\x00\n", "a,b\n1,2\n".encode("utf-16-le"), bytes(range(1, 256))]),
        ("binary", [b"\x80\x04\x95\x0f\x01\x02"]),
    ],
)
def test_what_is_no_table_of_text_is_named_and_refused(what, contents):
    for content in contents:
        for name in ("scores.csv", "scores"):
            message = refused(content, name)
            assert what in message
            assert "save the table in it as CSV" in message


def test_a_log_of_inspect_says_what_writes_it_as_json():
    assert "inspect log dump FILE > log.json" in refused(archive("_journal/start.json"), "a.eval")
    for log in ({"samples": [1, None]}, {"samples": []}, {"plan": {"steps": [{"solver": "a"}]}}):
        assert "no list of objects" in refused(json.dumps({"eval": {}, **log}), "log.json")


def test_headings_that_begin_like_a_binary_file_or_json_are_text():
    for heading in ("PK", "PAR1", "<b>", "{question}", "[question]", "{", "["):
        assert headings(read(f"{heading},name\n1,2\n")) == [heading, "name"]
    assert headings(read('{\n""\n""\n')) == ["{"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (BYTE_ORDER_MARK, "only blank lines"),
        (b"\n\n", "only blank lines"),
        (b"  \r\n\t\n", "only blank lines"),
        ("\n".encode("utf-16"), "only blank lines"),
        ("a,b", "no rows"),
        ("a,b\n", "no rows"),
        ("a,b\n\n  \n", "no rows"),
        ("question\n", "no rows"),
        (",,\n,,\n", "no heading"),
        (as_parquet({"a": pa.array([], pa.int64())}), "no rows"),
        (as_parquet(pa.table({})), "no columns"),
    ],
)
def test_what_holds_no_row_is_refused(content, says):
    assert says in refused(content)
    if says == "only blank lines":
        assert says in refused(content, "x.jsonl")


def test_ragged_rows_are_named_by_line():
    assert refused("a,b,c,d\n1,2,3,4\n1,2,3,4,5\n") == (
        "Line 3 has 5 cells, the heading has 4. Quote cells that contain the separator."
    )
    content = 'a,b\n"x\ny",2\n1,2,3\n1\n\n1,2,3\n1\n1\n1,2\n'
    assert refused(content) == (
        "Line 4 has 3 cells, the heading has 2; line 5 has 1 cell; line 7 has 3 cells; "
        "…and 2 more lines. Quote cells that contain the separator."
    )
    assert "…and 1 more line. " in refused("a,b\n1\n1\n1\n1\n")


def test_a_quote_in_the_wrong_place_does_not_swallow_the_file():
    message = refused('a,b\n1,2\n3,"4\n5,6\n7,8\n')
    assert message.startswith("Line 3: ") and "never closed" in message
    message = refused('a,b\n1,2\n"x" y,3\n')
    assert message.startswith("Line 3: ") and "twice" in message
    before = csv.field_size_limit()  # one for the whole process
    message = refused('a,b\n1,2\n1,"' + "x\n" * (MAX_CELL + 1) + '"\n')
    assert message.startswith("Line 3: a cell has more than 100,000 characters")
    assert "never closed" in message and csv.field_size_limit() == before


def test_too_many_bytes_rows_or_columns(monkeypatch):
    monkeypatch.setattr(rows, "MAX_UPLOAD_BYTES", 20)
    assert "more than 20 bytes" in refused("a" * 21)
    monkeypatch.undo()
    monkeypatch.setattr(rows, "MAX_ROWS", 2)
    monkeypatch.setattr(rows, "MAX_COLUMNS", 3)
    assert cells(read("a,b,c\n1,2,3\n4,5,6")) == [list("123"), list("456")]
    for content in (
        "a,b,c,d\n1,2,3,4\n",
        '{"a": 1, "b": 1}\n{"c": 1, "d": 1}\n',
        as_parquet({name: [1] for name in "abcd"}),
    ):
        assert "4 columns, and at most 3" in refused(content)
    for content in (
        "a\n1\n2\n3\n",
        '{"a": 1}\n' * 2 + "{}",
        '[{"a": 1}, {"a": 1}, {"a": 1}]',
        as_parquet({"a": [1, 2, 3]}),
    ):
        assert "more than 2 rows" in refused(content)
    monkeypatch.setattr(parquet_rows, "MAX_UNPACKED", 10)
    assert "unpacks to" in refused(as_parquet({"a": [1, 2]}))


def test_the_server_takes_no_larger_file_than_can_be_read():
    settings = (Path(__file__).parents[3] / ".streamlit/config.toml").read_text("utf-8")
    assert tomllib.loads(settings)["server"]["maxUploadSize"] * 2**20 == rows.MAX_UPLOAD_BYTES


# -------------------------------------------------------------------------------- JSON


def test_json_lines_with_keys_that_come_and_go():
    upload = read('{"q": "x", "n": 1}\n\n{"n": 2, "new": "y"}\n{}\n', "x.jsonl")
    assert upload.kind == "JSONL"
    assert headings(upload) == ["q", "n", "new"]
    assert cells(upload) == [["x", "1", ""], ["", "2", "y"], ["", "", ""]]
    assert upload.lines.tolist() == [1, 3, 4]
    assert upload.notes == ()


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (["null", "NaN", '""'], ""),
        (["Infinity"], "inf"),
        (["-Infinity"], "-inf"),
        (["1e-7"], "1e-07"),
        (['"None"'], "None"),
        (['"007"'], "007"),
        (["[NaN]"], "[null]"),
        ([r'"\ud83c\udf89 \u00e9"'], "🎉 é"),
        ([r'"two\nlines, and \"quotes\""'], 'two\nlines, and "quotes"'),
        (["true", "false", "7", "-0.5", "0.1", "1.0", "12345678901234567890123"], None),
        (['["é", 1, null, true]', '[{"b": [1.5], "a": {}}, 2]'], None),
    ],
)
def test_a_json_value_as_a_cell(values, text):
    """Those without a text stay as they are written."""
    for value in values:
        for content in (f'{{"a": {value}}}\n', f'[{{"a": {value}}}]'):
            assert cells(read(content, "x.jsonl")) == [[value if text is None else text]]


def test_numbers_of_json_and_numpy_round_trip():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=1000) * 10.0 ** rng.integers(-300, 300, size=1000)
    content = "".join(json.dumps({"n": number}) + "\n" for number in numbers.tolist())
    assert [float(cell) for (cell,) in cells(read(content))] == numbers.tolist()
    assert [float(as_text(number)) for number in numbers] == numbers.tolist()


def test_a_json_array_of_objects():
    content = '[\n  {"q": "x",\n   "n": 1},\n  {"q": "y"},\n\n  {"n": 3}]\n'
    upload = read(content, "x.json")
    assert upload.kind == "JSONL"
    assert cells(upload) == [["x", "1"], ["y", ""], ["", "3"]]
    assert upload.lines.tolist() == [2, 4, 6]
    assert upload.notes == ("The file is one JSON array; each of its objects was read as a row.",)
    assert read(content.replace("\n", "\r\n")).lines.tolist() == [2, 4, 6]
    assert read(content.replace("\n", "\r")).lines.tolist() == [2, 4, 6]


@pytest.mark.parametrize(
    ("content", "start"),
    [
        ('{"q": 1}\n\n{"q": \n', "Line 3 is not one JSON object"),
        ('{"q": 1}\n[1]\n', "Line 2 is not one JSON object"),
        ('{"q": 1}\n"x"\n', "Line 2 is not one JSON object"),
        ('{"q": 1} {"q": 2}\n', "Line 1 is not one JSON object"),
        ('{\n"q": 1\n}\n', "Line 1 is not one JSON object"),
        ('"x"\n{"q": 1}\n', "Line 1 is not one JSON object"),
        ('{"q": ' + "1" * 5000 + "}\n", "Line 1 is not one JSON object"),
        ('{"q": 1}\n{"q": "\\ud800"}\n', "Line 2: an escape such as"),
        ('{"q": 1}\n{"\\udc00": 1}\n', "Line 2: an escape such as"),
        ('{"q": 1}\n{"q": ["\\udfff"]}\n', "Line 2: an escape such as"),
        ('[{"q": 1},\n{"q": "\\ud83c"}]', "Line 2: an escape such as"),
        ('[{"q": 1},\n\n{"q": }]', "Line 3: the JSON is broken"),
        ('[{"q": 1},\n', "Line 2: the JSON is broken"),
        ('[{"q": 1},\n\n{"q": "x}]', "Line 3: the JSON is broken"),
        ('[{"q": 1},\n[2]]', "Line 2: an entry of the array is not an object"),
        ("[1, 2]", "Line 1: an entry of the array is not an object"),
        ('[{"q": 1}\n{"q": 2}]', "Line 2: the array neither continues"),
        ('[{"q": 1}]\n[{"q": 2}]', "Line 2: there is more text after the array"),
        ('[{"q": ' + "1" * 5000 + "}]", "Line 1: the JSON is broken"),
        ("[]", "The file holds an empty array"),
        ("{}\n{}\n", "The objects in the file are empty"),
    ],
)
def test_broken_json_is_named_by_line(content, start):
    assert refused(content, "x.jsonl").startswith(start)


@pytest.mark.parametrize("deep", ["[" * 200_000, "[" * 200_000 + "]" * 200_000])
@pytest.mark.parametrize(
    ("opening", "closing"), [('{"q": 1}\n{"q": ', "}"), ('[{"q":1},\n{"q":', "}]")]
)
def test_deeply_nested_json_is_refused(deep, opening, closing):
    assert refused(opening + deep + closing).startswith("Line 2: the JSON is nested too deeply")


# ----------------------------------------------------------------------------- Parquet


def test_every_type_of_parquet_as_text():
    time = datetime.datetime(2024, 5, 6, 7, 8, 9)
    some = coded(["x", "yé"], [0, 1, 1, None, None])
    columns = {
        "whole": (pa.array([1, None, 2**62]), ["1", "", "4611686018427387904"]),
        "float": ([0.1, float("nan"), None], ["0.1", "", ""]),
        "half": (pa.array(np.array([0.5, np.nan, 2], np.float16)), ["0.5", "", "2.0"]),
        "truth": ([True, False, None], ["true", "false", ""]),
        "text": (["None", "", None], ["None", "", ""]),
        "list": ([["é", "a"], [], None], ['["é", "a"]', "[]", ""]),
        "time": ([time, None, None], ["2024-05-06T07:08:09", "", ""]),
        "exact": (
            pa.array([1, None, None], pa.timestamp("ns")),
            ["1970-01-01T00:00:00.000000001", "", ""],
        ),
        "day": ([datetime.date(2024, 5, 6), None, None], ["2024-05-06", "", ""]),
        "days": ([[datetime.date(2024, 5, 6)], None, None], ['["2024-05-06"]', "", ""]),
        "bytes": ([b"caf\xc3\xa9", None, b""], ["café", "", ""]),
        "decimal": ([decimal.Decimal("1.10"), None, None], ["1.10", "", ""]),
        "coded": (coded(["x", "y"], [0, 1, 0]), ["x", "y", "x"]),
        "coded list": (
            pa.ListArray.from_arrays([0, 2, 5, 5], some),
            ['["x", "yé"]', '["yé", null, null]', "[]"],
        ),
        "nothing": (pa.nulls(3), ["", "", ""]),
        "no numbers": (pa.nulls(3, pa.int8()), ["", "", ""]),
        "no texts": (pa.nulls(3, pa.string()), ["", "", ""]),
        "no lists": (pa.nulls(3, pa.list_(pa.float64())), ["", "", ""]),
    }
    upload = read(as_parquet({name: given for name, (given, _) in columns.items()}), "x.parquet")
    assert (upload.kind, upload.notes) == ("Parquet", ())
    assert upload.lines.tolist() == [1, 2, 3]
    assert headings(upload) == list(columns)
    for name, (_, expected) in columns.items():
        assert upload.table[name].tolist() == expected, name


def test_a_structured_column_of_parquet_is_opened_as_an_object_of_json_is():
    upload = read(as_parquet({"s": [{"x": 1, "y": {"z": ["a"]}}, None, {"x": None, "y": None}]}))
    assert headings(upload) == ["s.x", "s.y.z"]
    assert cells(upload) == [["1", '["a"]'], ["", ""], ["", ""]]


def test_parquet_from_pandas_leaves_out_a_row_index_without_a_name():
    frame = pd.DataFrame({"a": [1.5, None], "b": ["x", None]}, index=[7, 9])
    upload = read(frame.to_parquet())
    assert headings(upload) == ["a", "b"]
    assert cells(upload) == [["1.5", "x"], ["", ""]]
    assert any("row index" in note for note in upload.notes)
    upload = read(frame.rename_axis("question").to_parquet())
    assert sorted(headings(upload)) == ["a", "b", "question"]


def test_parquet_in_several_portions(monkeypatch):
    monkeypatch.setattr(parquet_rows, "BATCH", 3)
    upload = read(as_parquet({"a": list(range(10)), "b": [None] * 10}))
    assert upload.table["a"].tolist() == [str(i) for i in range(10)]
    assert upload.lines.tolist() == list(range(1, 11))
    assert list(upload.table.index) == list(range(10))


def test_damaged_parquet():
    content = as_parquet({"a": list(range(100)), "b": ["x"] * 100})
    middle = len(content) // 2
    for damaged in (
        *(content[:-9], content[:middle], content[:middle] + b"PAR1"),
        content[:4] + bytes(middle) + content[4 + middle :],
        *(b"PAR1" + b"\xff" * 40 + b"PAR1", b"PAR1PAR1", b"PAR1"),
    ):
        assert "cannot be read" in refused(damaged, "x.parquet")
    for cell in (b"\xff\xfe", [b"\xff\xfe"]):
        assert "bytes that are not text" in refused(as_parquet({"a": [cell]}))


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array([[("x", 1)]], pa.map_(pa.string(), pa.int32())), "map<string, int32"),
        (pa.array([2**31 - 1], pa.int32()).cast(pa.date32()), "date32[day]"),
        (pa.array([2**62], pa.duration("s")), "duration[s]"),
        (pa.array([1], pa.timestamp("s", tz="Mars/Phobos")), "Mars/Phobos"),
    ],
)
def test_a_column_of_parquet_that_cannot_be_read_is_named(column, kind):
    said = refused(as_parquet({"score": [0.5], "odd": column}))
    assert "“odd”" in said and kind in said and "leave it out" in said


def test_parquet_with_any_byte_wrong_is_read_or_refused():
    content = as_parquet({"a": list(range(50)), "b": ["some", "text"] * 25})
    rng = np.random.default_rng(0)
    for _ in range(100):
        damaged = bytearray(content)
        damaged[rng.integers(4, len(content))] = rng.integers(256)
        try:
            assert isinstance(parse(bytes(damaged), "x.parquet"), Upload)
        except UploadError as error:
            assert str(error)


# ------------------------------------------------------------------------- round trips

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"))
# A heading that begins with a brace and a key would be JSON, and one full of other separators
# would decide for them; quotes end both.
HEADING = TEXT.map(str.strip).filter(bool)


@st.composite
def tables(draw):
    width = draw(st.integers(1, 5))
    heading = draw(st.lists(HEADING, min_size=width, max_size=width, unique=True))
    row = st.lists(TEXT, min_size=width, max_size=width)
    return heading, draw(st.lists(row, min_size=1, max_size=8))


@given(tables(), st.sampled_from([",", ";", "\t", "|"]), st.sampled_from(["\n", "\r\n"]))
def test_any_table_of_quoted_text_is_read_as_it_was_written(table, separator, end):
    heading, rows = table
    assume(len(heading) > 1 or heading[0][0] != "#")  # a line of one such text is a comment
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=separator, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([heading, *rows])
    upload = read(BYTE_ORDER_MARK + buffer.getvalue().encode())
    assert headings(upload) == heading
    assert cells(upload) == [[*map(as_it_was, row)] for row in rows]  # '= may be ours
    assert buffer.getvalue().split("\n")[upload.lines[0] - 1].startswith('"')
    starts = np.cumsum([1, *(1 + sum(c.count("\n") for c in row) for row in [heading, *rows])])
    assert upload.lines.tolist() == starts[1:-1].tolist()


@given(tables())
def test_any_table_of_text_is_read_as_csv_writes_it(table):
    heading, rows = table
    heading = [f"c{i}" for i in range(len(heading))]
    upload = read(csv_file(heading, rows))
    assert headings(upload) == heading
    assert cells(upload) == [[*map(as_it_was, row)] for row in rows]  # '= may be ours


@given(tables())
def test_any_table_of_text_is_read_from_json_lines(table):
    heading, rows = table
    objects = [dict(zip(heading, row, strict=True)) for row in rows]
    lines = "".join(json.dumps(each) + "\n" for each in objects)
    for content in (lines, json.dumps(objects, indent=1, ensure_ascii=False)):
        upload = read(content, "x.jsonl")
        assert headings(upload) == heading
        assert cells(upload) == rows


@given(tables())
def test_any_table_of_text_is_read_from_parquet(table):
    heading, rows = table
    columns = [list(column) for column in zip(*rows, strict=True)]
    upload = read(as_parquet(pa.table(columns, names=heading)))
    if headings(upload) == heading:  # unless one looks like the row index of pandas
        assert cells(upload) == rows


@given(st.binary(), st.sampled_from(["x.csv", "x.tsv", "x.jsonl", "x.parquet", "x"]))
def test_whatever_the_bytes_they_are_read_or_refused(content, name):
    try:
        upload = parse(content, name)
    except UploadError as error:
        assert str(error)
    else:
        assert len(upload.table) == len(upload.lines) >= 1


@given(st.text('ab,;\t|"\n\r {}[]:1'), st.sampled_from(["x.csv", "x.jsonl"]))
def test_whatever_the_text_it_is_read_or_refused(content, name):
    try:
        upload = parse(content.encode(), name)
    except UploadError as error:
        assert str(error)
    else:
        assert all(type(cell) is str for row in cells(upload) for cell in row)
        assert len(set(headings(upload))) == len(headings(upload))
        assert (np.diff(upload.lines) > 0).all()


# -------------------------------------------------------------------------------- size


def test_memory_grows_with_the_file_and_not_with_its_cells():
    """As Python texts, these cells would take more than twenty times the file."""
    content = b"a,b,c,d\n" + b"10,20,30,40\n" * 200_000
    tracemalloc.start()
    try:
        parse(content, "x.csv")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 8 * len(content)


# ----------------------------------------------------- small files that stand for large ones


def test_a_small_parquet_file_that_stands_for_a_large_table_is_refused(monkeypatch):
    texts = coded(["x" * 90_000], [0] * 2000)
    items = pa.array(np.zeros(rows.MAX_CELLS + 1, bool))
    for column, says in (
        (texts, "100,000,000 characters"),
        (pa.ListArray.from_arrays([0, 2000], texts), "100,000,000 characters"),
        (pa.ListArray.from_arrays([0, len(items)], items), "2,000,000 cells"),
    ):
        content = as_parquet({"a": column})
        assert len(content) < 20_000
        assert f"more than {says}" in refused(content)
    content = as_parquet({str(at): pa.nulls(30_000, pa.int8()) for at in range(100)})
    assert "more than 2,000,000 cells" in refused(content)
    item = {f"x{at}": 1 for at in range(parquet_rows.MAX_LEAVES + 1)}
    assert "1,001 columns, counted with those inside" in refused(as_parquet({"a": [item]}))
    monkeypatch.setattr(parquet_rows, "MAX_CHUNKS", 3)
    assert "more than 3 pieces" in refused(as_parquet({"a": range(4)}, row_group_size=1))


@pytest.mark.parametrize("dictionary", [True, False])
def test_a_long_cell_of_parquet_is_named_by_its_row(dictionary):
    for length in (MAX_CELL + 1, 5 * MAX_CELL):
        content = as_parquet({"a": ["x", "y", "z" * length]}, use_dictionary=dictionary)
        assert refused(content).startswith("Row 3: a cell has more than 100,000 characters")


def test_json_whose_columns_grow():
    every = json.dumps({f"k{at}": 1 for at in range(200)}) + "\n"
    assert "more than 2,000,000 cells" in refused(every + '{"k0": 1}\n' * 10_001)
    # Refused while the columns grow, and not once the cells are there.
    assert "more than 2,000,000 cells" in refused('{"k0": 1}\n' * 10_001 + every)
    growing = "".join(f'{{"k{at}": 1}}\n' for at in range(200))
    assert len(headings(read(growing))) == 200
    assert "201 columns" in refused(growing + '{"k": 1}')


def test_a_line_of_commas_and_a_row_over_many_lines_are_rows(monkeypatch):
    for before, line in (("", 1), ("a,b\n", 2)):
        message = refused(before + "," * 1_000_001)
        assert message.startswith(f"Line {line}: the row here has more than 1,000,000")
    monkeypatch.setattr(rows, "MAX_ROW", 100)
    assert refused("a,b\n1,2\n" + '"\n",' * 30).startswith("Line 3: the row here")
    assert len(cells(read("a,b\n" + '"\n",""\n' * 30))) == 30


@pytest.mark.parametrize("end", ["\r", " \n"])
def test_millions_of_blank_lines(end):
    assert "more than 2,000,000 lines" in refused("a,b\n" + end * 2_000_001 + "1,2\n")


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize(
    "content", ["a,b{}1,2{}", '{{"a": 1,{}"b": 2}}{}', '[{{"a": 1}},{}{{}}]{}']
)
def test_blank_lines_before_are_counted(end, content, monkeypatch):
    monkeypatch.setattr(rows, "MAX_LINES", 4)
    text = (" \n" * 9 + "  " + content.format("\n", "\n")).replace("\n", end)
    if content.startswith("{"):
        assert refused(text).startswith("Line 10 is not one JSON object")
    else:
        assert read(text).lines.tolist()[-1] == 11


def test_a_heading_is_looked_for_in_the_first_lines_only():
    assert "no heading" in refused(",\n" * 1000 + "a,b\n1,2\n")
    assert headings(read(",\n" * 999 + "a,b\n1,2\n")) == ["a", "b"]


def test_a_cell_that_is_too_long():
    most = "x" * MAX_CELL
    assert cells(read(f"a,b\n1,{most}\n")) == [["1", most]]
    long = f"{most}x"
    for content in (f"a,b\n1,2\n1,{long}\n", f'{{"a": 1}}\n{{"a": 2}}\n{{"a": "{long}"}}'):
        assert refused(content).startswith("Line 3: a cell has more than 100,000 characters")
    assert refused(f'[{{"a": 1}},\n{{"a": ["{long}"]}}]').startswith("Line 2: a cell has more")


def test_a_heading_that_is_too_long():
    long = "x" * 1001
    for content in (f"{long},b\n1,2\n", f'{{"{long}": 1}}\n', as_parquet({long: [1]})):
        message = refused(content)
        assert "1,001 characters, and at most 1,000" in message and len(message) < 200


def test_all_cells_together_may_be_too_long(monkeypatch):
    monkeypatch.setattr(rows, "MAX_TEXT", 10)
    for content in ("a\n12345\n678901\n", '{"a": 12345}\n{"a": 678901}', '[{"a": 12345678901}]'):
        assert "more than 10 characters together" in refused(content)
    assert "more than 10 characters together" in refused(as_parquet({"a": [12345, 678901]}))
    assert cells(read("a\n12345\n67890\n")) == [["12345"], ["67890"]]


@pytest.mark.parametrize("limit", ["PORTION", "PORTION_CELLS", "PORTION_TEXT"])
def test_rows_in_several_portions(monkeypatch, limit):
    packed = []
    monkeypatch.setattr(rows, limit, 6)
    monkeypatch.setattr(
        rows.TableRows,
        "pack",
        lambda self, pack=rows.TableRows.pack: packed.append(1) or pack(self),
    )
    upload = read("a,b\n" + "".join(f"{at},x\n" for at in range(20)))
    assert cells(upload) == [[str(at), "x"] for at in range(20)]
    assert upload.lines.tolist() == list(range(2, 22))
    assert len(packed) > 2


# ------------------------------------------------------------------------ JSON, piece by piece


def test_an_array_is_read_piece_by_piece(monkeypatch):
    monkeypatch.setattr(rows, "MAX_ROW", 60)
    rng = np.random.default_rng(0)
    found = [{"q": f"é😀 \n{at}", "n": [at, {"x": None}]} for at in range(200)]
    text, lines, line = "[", [], 1
    for at, item in enumerate(found):
        blank = "".join(
            rng.choice([" ", "\n", "\t"], int(rng.integers(0, 200 if at % 50 == 0 else 9)))
        )
        line += blank.count("\n")
        lines.append(line)
        text += blank + json.dumps(item, ensure_ascii=False) + " ,"
    upload = read(text[:-1] + "\n" * 99 + "]" + " " * 300, "x.json")
    assert upload.lines.tolist() == lines
    assert upload.table["q"].tolist() == [item["q"] for item in found]
    assert upload.table["n"].tolist() == [json.dumps(item["n"]) for item in found]
    broken = text + "\n" * 150 + '\n{"q": }]' + " " * 500
    assert refused(broken).startswith(f"Line {line + 151}: the JSON is broken")
    assert refused(text[:-1] + "]" + "\n" * 200 + "x").startswith(
        f"Line {line + 200}: there is more text"
    )


@pytest.mark.parametrize("value", ['"{}"', "[{}0]", "{}0", '{{"x": {}0}}'])
def test_an_object_that_is_longer_than_a_row(value, monkeypatch):
    monkeypatch.setattr(rows, "MAX_ROW", 60)
    for length in (60, 120, 200):
        item = '{"a": ' + value.format("1," * 30 if "[" in value else "1" * length) + "}"
        for content in (f'[{{"a": 1}},\n{item}]', f'{{"a": 1}}\n{item}\n'):
            assert refused(content, "x.json").startswith("Line 2: the row here has more than 60")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ('{"q": 1}\n{"q": 1, "q": 2}\n', 2),
        ('[{"q": 1},\n\n{"q": 1, "n": 0, "q": 1}]', 3),
        ('{"n": {"q": 1, "q": 2}}', 1),
        ('[{"n": [{"q": 1, "q": 2}]}]', 1),
    ],
)
def test_a_key_of_json_that_stands_twice_is_named(content, line):
    assert refused(content) == (
        f"Line {line}: the object here has the key “q” more than once; keep one of them."
    )
    assert len(refused(content.replace('"q"', f'"\\ud800{"x" * 5000}"'))) < 200


def test_titles_and_comments_above_the_headings_are_left_out():
    for content in (
        b"Results of July,,\n,,\nquestion,score,correct\nQ?,0.5,1\n",
        b"# made by a tool\nquestion,score,correct\nQ?,0.5,1\n",
        b"Results of July\nMade by me\n\nquestion;score;correct\nQ?;0.5;1\n",
    ):
        upload = read(content)
        assert headings(upload) == ["question", "score", "correct"]
        assert cells(upload) == [["Q?", "0.5", "1"]]
        assert any(note.startswith("Left out, above the headings: “") for note in upload.notes)


@pytest.mark.parametrize(
    ("content", "heading", "first"),
    [
        ("Results\nquestion,correct\nQ?,1\nR?,0\n", ["question", "correct"], ["Q?", "1"]),
        ("Results of July\nscore;correct\n0,5;1\n0,7;0\n", ["score", "correct"], ["0,5", "1"]),
        ("Results\nJuly\nQuestion,Answer\nQ?,A\n", ["Question", "Answer"], ["Q?", "A"]),
        ("Results\nscore,correct,n\n0.5,1,x\n", ["score", "correct", "n"], ["0.5", "1", "x"]),
        ("Our results\nanswer,judge\nA,x\nB,y\nC,x\n", ["answer", "judge"], ["A", "x"]),
        ("Our results,\n,\nanswer,judge\nA,x\nB,y\nC,x\n", ["answer", "judge"], ["A", "x"]),
        ("Results\nName,Judge\nA,x\nB,y\nC,x\n", ["Name", "Judge"], ["A", "x"]),
        ("Made by\n" * 9 + "answer,judge\nA,x\nB,y\nC,x\n", ["answer", "judge"], ["A", "x"]),
        ("question\nWho?\nWhere?\n", ["question"], ["Who?"]),
        ("score,\n0.5,1\n0.7,0\n0.6,1\n0.4,1\n", ["score", "column 2"], ["0.5", "1"]),
    ],
)
def test_a_title_of_one_word_or_above_two_columns(content, heading, first):
    upload = read(content.encode())
    assert headings(upload) == heading and cells(upload)[0] == first
    titles = [note for note in upload.notes if note.startswith("Left out, above the headings: ")]
    above = content.split(heading[0])[0].splitlines()
    assert len(titles) == min(3, sum(bool(line.strip(",")) for line in above))


@pytest.mark.parametrize(
    "content",
    [
        "question\nWho, me?\nWho, he?\n",
        "question\nWho?\nWhat, me?\nWhy?\n",
        "town\nParis, France\nLyon, France\nRome, Italy\nOslo, Norway\n",
    ],
)
def test_a_text_with_a_comma_below_one_heading_makes_no_title_of_it(content):
    why = refused(content)
    assert "has 2 cells, the heading has 1" in why and "if it is a title." in why


@pytest.mark.parametrize(
    ("again", "rows"),
    [
        ("question,confidence,correct", 2),
        (" Question ,CONFIDENCE,correct", 2),
        ("confidence,0.5,1", 3),  # a question of one word
        ("question,0.5,correct", None),  # most of them
        ("question,correct,confidence", None),  # the columns below are others
    ],
)
def test_headings_among_the_rows_are_left_out_or_refused(again, rows):
    """They stand where files were put one below the other; “correct” would count as right."""
    content = f"question,confidence,correct\na,0.9,1\n{again}\nb,0.2,0\n".encode()
    if rows is None:
        with pytest.raises(UploadError, match="In line 3 stand headings again"):
            parse(content, "x.csv")
        return
    upload = parse(content, "x.csv")
    assert upload.lines.tolist() == ([2, 4] if rows == 2 else [2, 3, 4])
    assert upload.notes == (("Line 3: the headings again (left out).",) if rows == 2 else ())


def test_headings_again_need_several_columns():
    assert parse(b"answer\nanswer\nyes\n", "x.csv").table["answer"].tolist() == ["answer", "yes"]
