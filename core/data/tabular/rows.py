"""Rows of text on their way into a table, and the limits that every kind of file must keep.

A limit is checked before what it limits is made: a small file can stand for a large table.
`core.data.tabular.isolation` has the last word, with limits on the memory and time of a process.
"""

import itertools
import json
import math
from array import array
from collections.abc import Sequence

import pandas as pd
import pyarrow as pa
from pyarrow import compute

from core.codec import one_line

#: Bytes of a file. The server holds a whole file in memory before any of it is read, one for
#: every session. A question with its answer, scores and label takes 100 to 500 bytes, so that
#: this is room for 100,000 labelled rows and more; a calibration needs some thousands.
#: `server.maxUploadSize` in .streamlit/config.toml is the same, in MB of 2²⁰ bytes.
MAX_UPLOAD_BYTES = 50 * 2**20
MAX_LINES = 2_000_000  # blank ones, too, each of which costs time
MAX_ROWS = 500_000
MAX_COLUMNS = 200
#: Rows times columns; of Parquet also the values within lists. The slowest to write as text, its
#: times of day, take some 3 µs each, and all cells are to take well below 10 seconds.
MAX_CELLS = 2_000_000
MAX_TEXT = 100_000_000  # characters of all cells, after decompression
MAX_ROW = 1_000_000  # characters
#: Characters: a long document has fewer. Python's csv module stops at 131,072 by itself, so
#: that its limit, which is one for the whole process, can stay as it is.
MAX_CELL = 100_000
MAX_HEADING = 1_000  # characters; the page sends headings to the browser whole

SEVERAL = (
    "The file has several tables of the same columns, {}, and nothing says which of them counts. "
    "Give one by itself."
)
ABOVE = "Left out, above the headings: “{}”."
PORTION = 20_000  # rows that wait as Python texts until they are packed
PORTION_CELLS = 200_000
PORTION_TEXT = 8_000_000  # characters, of up to 4 bytes


class UploadError(ValueError):
    """A file that cannot be used: one sentence says what is wrong and how to mend it."""


def as_text(value: object) -> str:
    """Return a value of JSON or Parquet as the text of a cell.

    Numbers round-trip, missing values and NaN are "", booleans "true" and "false", times in
    ISO 8601, lists and objects JSON.

    Raises `UploadError` when the value is bytes that are no text.
    """
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return "" if math.isnan(value) else repr(float(value))
        case list() | tuple() | dict():
            return json.dumps(value, ensure_ascii=False, default=as_text)
        case bytes():
            try:
                return value.decode()
            except UnicodeDecodeError as error:
                raise UploadError(
                    "A column of the file contains bytes that are not text; leave it out."
                ) from error
    return str(value.isoformat() if hasattr(value, "isoformat") else value)


def check_size(rows: int, columns: int) -> None:
    """Raise `UploadError` where a table has too many rows, columns or cells."""
    if rows > MAX_ROWS:
        raise UploadError(
            f"The file has more than {MAX_ROWS:,} rows, the most that can be read; split it."
        )
    if columns > MAX_COLUMNS:
        raise UploadError(
            f"The file has {columns:,} columns, and at most {MAX_COLUMNS} can be read; leave out "
            "those that are not needed."
        )
    check_cells(rows * columns)


def check_cells(number: int) -> None:
    """Raise `UploadError` where there are too many cells, or values within them."""
    if number > MAX_CELLS:
        raise UploadError(
            f"The file has more than {MAX_CELLS:,} cells, counted as rows times columns and "
            "with the values inside lists, the most that can be read; leave out columns or rows "
            "that are not needed."
        )


def check_cell(characters: int, where: str) -> None:
    """Raise `UploadError` where a cell is too long; `where` begins the sentence."""
    if characters > MAX_CELL:
        raise UploadError(
            f"{where}: a cell has more than {MAX_CELL:,} characters, the most that can be read; "
            "shorten it, or leave its column out."
        )


def check_text(characters: int) -> None:
    """Raise `UploadError` where all cells together are too long."""
    if characters > MAX_TEXT:
        raise UploadError(
            f"The cells of the file have more than {MAX_TEXT:,} characters together, the most "
            "that can be read; leave out columns or rows that are not needed."
        )


def check_heading(heading: str) -> None:
    """Raise `UploadError` where a heading is too long."""
    if len(heading) > MAX_HEADING:
        raise UploadError(
            f"The heading that begins “{one_line(heading[:MAX_HEADING])}” has {len(heading):,} "
            f"characters, and at most {MAX_HEADING:,} can be read; shorten it."
        )


def too_long_a_row(line: int) -> UploadError:
    """Return what is wrong with a row that is longer than `MAX_ROW`."""
    return UploadError(
        f"Line {line}: the row here has more than {MAX_ROW:,} characters, the most that can be "
        "read; shorten its cells, write every row on a line of its own, and close every quote."
    )


class TableRows:
    """Rows of text on their way into columns, counted against the limits.

    A text is a large object in Python, so that a million rows of them need many times the
    file; therefore they are packed every few thousand rows. `lines` is where each row begins;
    `characters` counts those of all cells so far.
    """

    def __init__(self) -> None:
        self.lines = array("q")
        self.characters = 0
        self._waiting: list[list[str]] = []
        self._waiting_text = 0
        self._packed: list[pd.DataFrame] = []

    def add(self, cells: list[str], line: int) -> None:
        """Add a row; it may have fewer cells than later ones."""
        row, width = len(self.lines) + 1, len(cells)
        if row > MAX_ROWS or row * width > MAX_CELLS:
            check_size(row, width)
        length = sum(map(len, cells))
        if length > MAX_CELL:
            check_cell(max(map(len, cells)), f"Line {line}")
        self._count(length)
        self.lines.append(line)
        self._waiting.append(cells)
        self._waiting_text += length
        number = len(self._waiting)
        cells_enough = number * width >= PORTION_CELLS
        if number >= PORTION or cells_enough or self._waiting_text >= PORTION_TEXT:
            self.pack()

    def add_columns(self, columns: Sequence[pa.Array]) -> None:
        """Add rows given by columns of text without nulls; their numbers are their lines."""
        before, number = len(self.lines), len(columns[0])
        check_size(before + number, len(columns))
        for column in columns:
            self._check_column(column)
        self.lines.extend(range(before + 1, before + 1 + number))
        self._packed.append(pd.DataFrame({at: as_strings(c) for at, c in enumerate(columns)}))

    def table(self, headings: Sequence[str]) -> pd.DataFrame:
        """Return all rows; cells that a row never had are empty."""
        self.pack()
        for part in self._packed:
            for column in range(part.shape[1], len(headings)):
                part[column] = ""
        table = pd.concat(self._packed, ignore_index=True)
        table.columns = pd.Index(headings)
        return table

    def _check_column(self, column: pa.Array) -> None:
        lengths = compute.utf8_length(column)
        longest = compute.max(lengths).as_py() or 0
        if longest > MAX_CELL:
            row = len(self.lines) + 1 + compute.index(lengths, longest).as_py()
            check_cell(longest, f"Row {row}")
        self._count(compute.sum(lengths).as_py() or 0)

    def _count(self, characters: int) -> None:
        self.characters += characters
        check_text(self.characters)

    def pack(self) -> None:
        """Make columns of the rows that wait."""
        if self._waiting:
            columns = itertools.zip_longest(*self._waiting, fillvalue="")
            self._packed.append(pd.DataFrame(dict(enumerate(columns)), dtype="str"))
            self._waiting = []
            self._waiting_text = 0


def as_strings(column: pa.Array | pa.ChunkedArray) -> pd.api.extensions.ExtensionArray:
    """Return texts of Arrow as a column of pandas, without making Python's texts of them."""
    return pd.array(column, dtype="str")
