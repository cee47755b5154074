"""CSV that a spreadsheet opens, and runs nothing of."""

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data.tabular.csv_export import as_it_was, disarm, to_csv
from tests.csv_files import rows_in
from tests.data.tabular.files import read

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    "text",
    [
        *('=HYPERLINK("http://x.example","click")', "=1+1", "+1", "-1+cmd|' /C calc'!A0", "-5-1"),
        *("@SUM(A1)", "\t=1", "\tplain", "  \n-1", " =1", "\u00a0 =1"),
        *("＝1+1", "＋1", "－1", "＠SUM(A1)", "﹦1+1"),
        *("\ufeff=1", "\u200b@x", "\x00=1"),
    ],
)
def test_what_begins_like_a_formula_is_text(text):
    assert disarm(text) == f"'{text}"
    assert rows_in(to_csv(["answer"], [[text]])) == [["answer"], [f"'{text}"]]


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("x;=1+1;y", "x;'=1+1;y"),
        ("x\n=1+1\r\n ＝1", "x\n'=1+1\r\n' ＝1"),
        ("\r=1", "'\r'=1"),
        ('=a,"b";@c', "'=a,\"b\";'@c"),
        ("x;-5;-5-1;\n\ty", "x;-5;'-5-1;\n\ty"),
    ],
)
def test_no_cell_of_a_list_by_semicolons_is_a_formula(text, safe):
    """So Excel lists in most of Europe; what stands in quotes is in pieces there."""
    assert disarm(text) == safe and as_it_was(safe) == text
    content = to_csv(["question", "answer"], [["q,", text]]).decode("utf-8-sig")
    for row in csv.reader(content.splitlines(), delimiter=";"):
        assert not [c for c in row if c.lstrip().startswith(("=", "@", "＝", "-5-"))]


def test_what_was_disarmed_is_read_as_it_was():
    """A judge, a rule and a person see the answer, and the next file says it as this one does."""
    heading, rows = ["=h", "b"], [["=1+1", "-5"], ["@x", "'tis"], [" ＝1", "'"], ["-1-1", "-87%"]]
    content = to_csv(heading, rows)
    table = read(content).table
    assert table.columns.tolist() == heading and table.to_numpy().tolist() == rows
    assert to_csv(heading, rows) == content
    assert as_it_was("'-5") == "-5"  # as an earlier version wrote it


@pytest.mark.parametrize(
    "text",
    [
        *("", "Paris", "1-2", "a=b", "'=1", " a=b", "−5", "é", "None", "007"),
        *("-5", "-007", "-12345678901234567890", "-87%", "-1,5", "-.5e-3"),
    ],
)
def test_other_text_is_left_alone(text):
    assert disarm(text) == text


@pytest.mark.parametrize("number", [-5, -0.25, np.float64(-3.5), np.int64(-2), 0, 7, None])
def test_numbers_are_no_formulas(number):
    assert disarm(number) is number
    assert rows_in(to_csv(["nats", "b"], [[number, "x"]]))[1:] == [
        ["" if number is None else str(number), "x"]
    ]


def test_a_table_keeps_its_heading_and_its_texts():
    rows = [["a,b", 'say "x"', "two\nlines"], ["c", "d\r\ne", ";"]]
    assert rows_in(to_csv(["1", "2", "=1+1"], rows)) == [["1", "2", "'=1+1"], *rows]
    assert rows_in(to_csv(["=1+1", "a"], [])) == [["'=1+1", "a"]]


def test_excel_needs_exactly_one_byte_order_mark():
    data = to_csv(["answer"], [["Malmö"]])
    assert data.startswith(BYTE_ORDER_MARK)
    assert data.count(BYTE_ORDER_MARK) == 1
    assert "Malmö".encode() in data


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2), max_size=5))
def test_what_is_written_is_read_again(rows):
    back = rows_in(to_csv(["a", "b"], rows))[1:]
    assert len(back) == len(rows)
    for row, written in zip(back, rows, strict=True):
        for cell, text in zip(row, written, strict=True):
            assert as_it_was(cell) == as_it_was(text)
            assert not cell.startswith(("=", "+", "@", "\t", "\r"))
            assert not cell.startswith("-") or set(cell) <= set("-+0123456789.,eE%")
