"""Excel workbooks: as openpyxl and pandas write them, and what hostile ones can do."""

import datetime
import io
import zipfile
from functools import partial

import pandas as pd
import pytest
from openpyxl import Workbook

from core.data.tabular import excel_rows, rows
from core.data.tabular.uploads import UploadError, parse
from tests.data.tabular import files
from tests.data.tabular.files import cells


def saved(book):
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def workbook(*filled, sheets=()):
    book = Workbook()
    for row in filled:
        book.active.append(row)
    for title, content in sheets:
        sheet = book.create_sheet(title)
        for row in content:
            sheet.append(row)
    return saved(book)


def read(content, name="scores.xlsx"):
    upload = parse(content, name)
    assert upload.kind == "Excel"
    return upload


refused = partial(files.refused, name="scores.xlsx")


def test_every_kind_of_cell_is_text():
    day = datetime.datetime(2026, 3, 1)
    moment = datetime.datetime(2026, 3, 1, 12, 30)
    upload = read(
        workbook(
            ["question", "score", "correct", "day", "moment"],
            ["What is 2 + 2?", 0.25, True, day, moment],
            ["=1+1", 3.0, 0, None, None],
            ["  spaces ", 1e20, False],
        )
    )
    assert cells(upload) == [
        ["What is 2 + 2?", "0.25", "true", "2026-03-01", "2026-03-01T12:30:00"],
        ["", "3", "0", "", ""],  # a formula that no program has computed
        ["  spaces ", "1e+20", "false", "", ""],
    ]
    assert (list(upload.lines), upload.unit, upload.notes) == ([1, 2, 3], "row", ())


def test_what_pandas_writes():
    table = pd.DataFrame({"question": ["a", "b"], "score": [0.5, 1.5], "correct": [1, 0]})
    buffer = io.BytesIO()
    table.to_excel(buffer, index=False)
    upload = read(buffer.getvalue())
    assert list(upload.table.columns) == ["question", "score", "correct"]
    assert cells(upload) == [["a", "0.5", "1"], ["b", "1.5", "0"]]


def test_blank_rows_and_cells_at_the_end_are_left_out_and_extra_ones_get_a_heading():
    upload = read(workbook([], ["a", "b", None, ""], [], [1, 2], ["", None], [3, 4, 5]))
    assert list(upload.table.columns) == ["a", "b", "column 3"]
    assert cells(upload) == [["1", "2", ""], ["3", "4", "5"]]


def test_the_first_sheet_that_holds_anything_is_read():
    upload = read(workbook(sheets=[("rows", [["a"], [1]]), ("other", [["b"], [2]])]))
    assert cells(upload) == [["1"]]
    assert upload.notes == ("The workbook has 3 sheets; “rows” was read.",)


def test_of_several_sheets_in_sight_with_the_same_columns_none_is_chosen():
    heading, titled = ["score", "correct"], ["Of llama"]
    sheets = [("llama", [titled, [], heading, [0.5, 1]]), ("to fill in", [heading])]
    with pytest.raises(UploadError, match="same columns, “Sheet” and “llama”, and nothing says"):
        read(workbook(heading, [0.9, 1], [0.1, 0], sheets=sheets))
    assert len(read(workbook(heading, [0.9, 1], sheets=sheets[1:])).table) == 1
    assert len(read(workbook(["Notes"], ["x"], sheets=[("more", [["Notes"], ["y"]])])).table) == 1


def test_a_workbook_by_another_name():
    assert "the file holds an Excel workbook" in read(workbook(["a"], [1]), "x.csv").notes[0]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (workbook(), "The workbook is empty"),
        (workbook(["a", "b"]), "no rows"),
        (workbook(["a" * 1001], [1]), "heading"),
        (workbook(["a"] * 201, [1]), "columns"),
    ],
)
def test_what_holds_no_table_is_refused(content, says):
    assert says in refused(content)


def test_a_damaged_workbook_is_refused():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("xl/workbook.xml", "<broken")
    assert "cannot be read" in refused(buffer.getvalue())
    good = workbook(["a", "b"], [1, 2])
    for cut in (30, len(good) // 2, len(good) - 30):
        assert refused(good[:cut])


def with_sheet(xml):
    """A workbook whose sheet is this text, whatever it does to the reader."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook(["a"], [1]))) as good,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as bad,
    ):
        for name in good.namelist():
            bad.writestr(name, xml if name == "xl/worksheets/sheet1.xml" else good.read(name))
    return buffer.getvalue()


SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    '<dimension ref="A1:XFD1048576"/><sheetData>{}</sheetData></worksheet>'
)


def test_a_sheet_that_claims_to_be_huge_is_as_large_as_it_is():
    rows_of_one = '<row r="{0}"><c r="A{0}"><v>{0}</v></c></row>'
    upload = read(with_sheet(SHEET.format(rows_of_one.format(1) + rows_of_one.format(2))))
    assert cells(upload) == [["2"]]


def test_a_cell_far_away_is_too_many_columns():
    far = '<row r="1"><c r="XFD1"><v>1</v></c></row><row r="2"><c r="A2"><v>1</v></c></row>'
    assert "columns" in refused(with_sheet(SHEET.format(far)))


def test_what_unpacks_to_too_much_is_refused_unread(monkeypatch):
    monkeypatch.setattr(excel_rows, "MAX_UNPACKED", 10_000)
    assert "unpacks to" in refused(with_sheet(SHEET.format(" " * 20_000)))


def test_too_many_rows(monkeypatch):
    monkeypatch.setattr(rows, "MAX_LINES", 3)
    far = '<row r="1"><c r="A1"><v>1</v></c></row><row r="9"><c r="A9"><v>1</v></c></row>'
    assert "more than 3 rows" in refused(with_sheet(SHEET.format(far)))


def test_entities_that_multiply_are_not_followed():
    laughs = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(9))
    xml = f'<!DOCTYPE x [<!ENTITY a0 "ha">{laughs}]>' + SHEET.format(
        '<row r="1"><c r="A1" t="str"><v>&a9;</v></c></row>'
    )
    assert refused(with_sheet(xml))


def test_a_title_above_the_headings_and_a_sheet_of_notes_are_left_out():
    table = (["Results of July"], [], ["question", "score", "correct"], ["Q?", 0.5, 1])
    upload = parse(workbook(["Read me"], ["Made in July"], sheets=[("Scores", table)]), "x.xlsx")
    assert upload.table.to_dict("records") == [{"question": "Q?", "score": "0.5", "correct": "1"}]
    assert upload.notes == (
        "The workbook has 2 sheets; “Scores” was read.",
        "Left out, above the headings: “Results of July”.",
    )


def test_a_title_above_two_columns_is_left_out_and_a_heading_of_one_is_none():
    titled = parse(workbook(["Results"], ["question", "correct"], ["Q?", 1], ["R?", 0]), "x.xlsx")
    assert list(titled.table.columns) == ["question", "correct"]
    plain = parse(workbook(["question"], ["Q?", "a note"], ["R?"]), "x.xlsx")
    assert plain.table.columns[0] == "question"


def test_what_is_in_sight_is_read_first_and_what_is_hidden_is_said():
    book = Workbook()
    book.active.title, book.active.sheet_state = "Draft", "hidden"
    for sheet, answer in ((book.active, "draft"), (book.create_sheet("Final"), "final")):
        for row in (["question", "answer"], ["Q?", answer], ["R?", answer]):
            sheet.append(row)
    seen = read(saved(book))
    assert seen.table["answer"].tolist() == ["final"] * 2
    assert seen.notes == ("The workbook has 2 sheets; “Final” was read.",)
    book["Final"].row_dimensions[3].hidden = True
    book["Final"].delete_cols(2)
    hidden = read(saved(book))
    assert hidden.table["answer"].tolist() == ["draft"] * 2
    assert hidden.notes == (
        "The workbook has 2 sheets; “Draft”, which is hidden, was read.",
        "The workbook hides rows; those of this table were read, too.",
    )
