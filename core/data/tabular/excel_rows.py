"""Excel workbooks (.xlsx) read into rows of text: the first sheet in sight that holds a table.

A workbook is a zip archive of XML, and a small one can unpack to gigabytes: what it says of its
parts is checked first, and `core.data.tabular.isolation` limits the memory and time of reading.
"""

import io
import itertools
import re
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any

from core.codec import one_line, quotes
from core.data.tabular import rows as limits
from core.data.tabular.headings import heads_a_table
from core.data.tabular.rows import (
    ABOVE,
    SEVERAL,
    TableRows,
    UploadError,
    as_text,
    check_heading,
    check_size,
)

MAX_UNPACKED = 400_000_000  # bytes: XML takes many times the text in it
MOST_TITLES = 30  # rows above a heading
_AHEAD = 5  # rows that show whether the one above them is a heading
_WORKBOOK = "xl/workbook.xml"
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_HIDDEN_ROW = re.compile(rb'<row\b[^>]{0,400}\bhidden="(1|true)"')
_CHUNK, _OVERLAP = 1 << 20, 500  # bytes
_VISIBLE = "visible"


def is_workbook(content: bytes) -> bool:
    """Return whether a file is a zip archive with a workbook in it."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _WORKBOOK in archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return False


def read_excel(content: bytes, notes: list[str]) -> tuple[TableRows, list[str]]:
    """Read a workbook; return rows and headings, and add to the notes what was left out.

    A formula is the value that Excel computed last. The number of a row counts the rows of the
    sheet that hold anything, without the headings.

    Raises `UploadError` when it is damaged, locked with a password, empty, has several tables of
    the same columns, or a limit is not kept.
    """
    # Only here: it takes a tenth of a second, and no other file needs it.
    from openpyxl import load_workbook

    _check_description(content)
    try:
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        # Those in sight come first.
        sheets = sorted(book.worksheets, key=lambda sheet: sheet.sheet_state != _VISIBLE)
        for fits in (_is_table, bool):  # before any other that holds something
            for sheet in sheets:
                sheet.reset_dimensions()  # what a file says of its size need not be true
                above, filled = _titles_above(_filled_rows(sheet))
                if not fits(first := next(filled, [])):
                    continue
                alike = [
                    each.title for each in sheets if each is sheet or _is_alike(each, sheet, first)
                ]
                if len(alike) > 1 and _is_table(first):
                    raise UploadError(SEVERAL.format(quotes(alike)))
                if len(sheets) > 1:
                    hidden = "" if sheet.sheet_state == _VISIBLE else ", which is hidden,"
                    notes.append(
                        f"The workbook has {len(sheets)} sheets; “{one_line(sheet.title)}”{hidden} "
                        "was read."
                    )
                if _hides_rows(content):
                    notes.append("The workbook hides rows; those of this table were read, too.")
                notes += [ABOVE.format(one_line(text)) for text in above]
                return _table(first, filled)
    except (UploadError, MemoryError):
        raise
    except Exception as error:  # a damaged file can fail in any way, deep inside the reader
        raise UploadError(
            "The file is an Excel workbook that cannot be read; it is damaged or of an unknown "
            "kind. Save it again, or save the table in it as CSV."
        ) from error
    raise UploadError("The workbook is empty; add a heading and at least one row.")


def _titles_above(rows: Iterator[list[str]]) -> tuple[list[str], Iterator[list[str]]]:
    """Return the titles above a heading, and the rows from the heading on.

    A title stands alone in its row, above a row of more than two cells or one that heads a table;
    rows have no empty cells at their ends.
    """
    first = list(itertools.islice(rows, MOST_TITLES + 1 + _AHEAD))
    alone = list(itertools.takewhile(lambda row: len(row) == 1, first[:MOST_TITLES]))
    heading, *below = first[len(alone) :] or [[]]
    titles = [row[0] for row in alone]
    is_table = len(heading) > 2 or heads_a_table(heading, below[:_AHEAD], titles)
    number = len(alone) if is_table else 0
    return titles[:number], itertools.chain(first[number:], rows)


def _is_table(heading: list[str]) -> bool:
    return len(heading) > 1  # or it holds notes


def _is_alike(sheet: Any, other: Any, heading: list[str]) -> bool:
    """Return whether a sheet, in sight as another is, has its heading and a row below."""
    if sheet.sheet_state != other.sheet_state:
        return False
    sheet.reset_dimensions()
    return heading in [*_filled_rows(sheet, MOST_TITLES + 2)][:-1]


def _check_description(content: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        unpacked = sum(part.file_size for part in archive.infolist())
    if unpacked > MAX_UNPACKED:
        raise UploadError(
            f"The workbook unpacks to {unpacked:,} bytes, and at most {MAX_UNPACKED:,} can be "
            "read; leave out sheets, columns or rows that are not needed."
        )


def _hides_rows(content: bytes) -> bool:
    """Whether some row is out of sight, as behind a filter; openpyxl does not say it of a part."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in filter(_SHEET.fullmatch, archive.namelist()):
            with archive.open(name) as part:
                before = b""
                while chunk := part.read(_CHUNK):
                    if _HIDDEN_ROW.search(before + chunk):
                        return True
                    before = chunk[-_OVERLAP:]
    return False


def _filled_rows(sheet: Any, most: int | None = None) -> Iterator[list[str]]:
    """Yield the rows of a sheet that hold anything, each without empty cells at its end.

    `most`: how many rows are looked at; all, where there is none.
    """
    for number, row in enumerate(itertools.islice(sheet.iter_rows(values_only=True), most), 1):
        if number > limits.MAX_LINES:
            raise UploadError(
                f"The sheet has more than {limits.MAX_LINES:,} rows, the most that can be read; "
                "leave out blank rows and those that are not needed."
            )
        width = next((n for n in range(len(row), 0, -1) if row[n - 1] not in (None, "")), 0)
        if width:
            yield [_text(value) for value in row[:width]]


def _table(headings: list[str], filled: Iterator[list[str]]) -> tuple[TableRows, list[str]]:
    rows = TableRows()
    for heading in headings:
        check_heading(heading)
    for row in filled:
        # Columns beyond the headings have none: they are named after their place.
        headings += [""] * (len(row) - len(headings))
        check_size(len(rows.lines) + 1, len(headings))
        missing = itertools.repeat("", len(headings) - len(row))
        rows.add([*row, *missing], len(rows.lines) + 1)
    return rows, headings


def _text(value: object) -> str:
    """Return a cell as text; Excel keeps whole numbers as 3.0, and days as midnights."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime) and value.time() == time():
        return date.isoformat(value)
    return as_text(value)
