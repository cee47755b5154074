"""A person's file, read into one kind of table: text cells, and the line each row begins on.

No cell is interpreted here: "None", "NA", "007" and "" stay what they are. What a file is comes
from its content, and from its name only where the content leaves it open. Whatever had to be
decided is written down in notes, and whatever cannot be read is refused with a sentence that
says how to mend it. All text of a file is hostile, its name and headings included.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import itertools
import json
import math
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

MAX_BYTES = 200_000_000
MAX_ROWS = 1_000_000
MAX_COLUMNS = 200
MAX_CELL = 10_000_000  # characters: a cell that is longer is a quote that was never closed
MAX_UNPACKED = 2_000_000_000  # bytes that a Parquet file may grow to

KINDS = {
    "CSV": "comma-separated values",
    "TSV": "tab-separated values",
    "JSONL": "JSON lines",
    "Parquet": "Parquet",
}
_SUFFIXES = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".tab": "TSV",
    ".json": "JSONL",
    ".jsonl": "JSONL",
    ".ndjson": "JSONL",
    ".parquet": "Parquet",
    ".pq": "Parquet",
}
_DELIMITERS = (",", "\t", ";", "|")  # in order of preference
_PIECE = 1 << 20  # bytes
_PORTION = 20_000  # rows that wait as Python texts until they are packed
_SAMPLE = 20  # rows that a delimiter must fit
_NAMED = 3  # ragged lines that are named; the others are counted

#: How files begin that are no text, and what they seem to be.
_SIGNATURES = (
    (b"PK\x03\x04", "a zip archive, as Excel workbooks (.xlsx) are"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook (.xls)"),
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG\r\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF89a", "a GIF picture"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"ARROW1\0", "an Arrow (Feather) file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"{\\rtf", "an RTF document"),
)
_MARKUP = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|head|body|\?xml)\b", re.IGNORECASE)
_BYTE_ORDER_MARKS = (  # the longer ones first: UTF-16's begins that of UTF-32
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]")  # not white space, not Escape
#: An object with a first key, or an array of such. A CSV cannot begin so: there, a cell that
#: contains a quote begins with one.
_JSON = re.compile(r'(?:\[\s*)?\{\s*"(?:[^"\\]|\\.)*"[ \t]*:')
_ROW_INDEX = re.compile(r"__index_level_\d+__")  # how pandas writes an index without a name
_CONSTANTS = {"NaN": None, "Infinity": math.inf, "-Infinity": -math.inf}


class UploadError(ValueError):
    """A file that cannot be used: one sentence says what is wrong and how to mend it."""


@dataclass(frozen=True)
class Upload:
    """A file as a table of text.

    Attributes
    ----------
    name : str
        The file's name as given: hostile text.
    sha256 : str
        Of the file's bytes, in hexadecimal.
    kind : str
        A key of `KINDS`.
    table : DataFrame of shape (n, columns)
        Every cell is a str; a missing one is "". The headings are distinct and not empty.
    lines : ndarray of shape (n,)
        The line of the file on which each row begins, from 1; of Parquet, the row's number.
    notes : tuple of str
        What was decided for the person, a sentence each.
    """

    name: str
    sha256: str
    kind: str
    table: pd.DataFrame
    lines: NDArray[np.int64]
    notes: tuple[str, ...]


def parse(content: bytes, name: str) -> Upload:
    """Read a file.

    Parameters
    ----------
    content : bytes
        CSV (separated by commas, tabs, semicolons or bars), JSON lines, a JSON array of
        objects, or Parquet.
    name : str
        Only its ending is looked at.

    Raises
    ------
    UploadError
        When the file is none of these, is damaged or too large, or has no row.
    """
    if not content:
        raise UploadError("The file is empty; choose one with a heading and at least one row.")
    if len(content) > MAX_BYTES:
        raise UploadError(
            f"The file has {len(content):,} bytes, and at most {MAX_BYTES:,} can be read; leave "
            "out columns or rows that are not needed."
        )
    suffix = PurePath(name).suffix.lower()
    notes: list[str] = []
    if _is_parquet(content, suffix):
        kind = "Parquet"
        rows, headings = _read_parquet(content, notes)
    else:
        kind, rows, headings = _read_text(content, suffix, notes)
    expected = _SUFFIXES.get(suffix, kind)
    if kind != expected:
        notes.insert(0, f"The name ends in {suffix}, but the file holds {KINDS[kind]}.")
    if not rows.lines:
        raise UploadError("The file has a heading and no rows; add at least one row.")
    table = rows.table(_distinct(headings, notes))
    lines = np.array(rows.lines, np.int64)
    return Upload(name, hashlib.sha256(content).hexdigest(), kind, table, lines, tuple(notes))


def as_text(value: object) -> str:
    """Return a value of JSON or Parquet as the text of a cell.

    Numbers round-trip, missing values and NaN are "", booleans "true" and "false", times in
    ISO 8601, lists and objects JSON.

    Raises
    ------
    UploadError
        When the value is bytes that are no text.
    """
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case float():
            return "" if math.isnan(value) else repr(float(value))
        case list() | tuple() | dict():
            return json.dumps(value, ensure_ascii=False, default=as_text)
        case bytes():
            try:
                return value.decode()
            except UnicodeDecodeError as error:
                raise UploadError(
                    "A column of the file holds bytes that are no text; leave it out."
                ) from error
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return str(value)


def shortened(text: str, longest: int = 60) -> str:
    """Return the text in one line and not too long to stand in a sentence."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


# ------------------------------------------------------------------------- rows on the way


class _Rows:
    """Rows of text on their way into columns.

    A text is a large object in Python, so that a million rows of them need many times the
    file; therefore they are packed every few thousand rows.
    """

    def __init__(self) -> None:
        self.lines = array("q")
        self._waiting: list[list[str]] = []
        self._packed: list[pd.DataFrame] = []

    def add(self, cells: list[str], line: int) -> None:
        """Add a row; it may have fewer cells than later ones."""
        if len(self.lines) == MAX_ROWS:
            raise UploadError(_too_many_rows())
        self.lines.append(line)
        self._waiting.append(cells)
        if len(self._waiting) == _PORTION:
            self._pack()

    def add_columns(self, columns: list[list[str]]) -> None:
        """Add rows given by columns; their numbers are their lines."""
        before = len(self.lines)
        self.lines.extend(range(before + 1, before + 1 + len(columns[0])))
        self._packed.append(pd.DataFrame(dict(enumerate(columns)), dtype="str"))

    def table(self, headings: Sequence[str]) -> pd.DataFrame:
        """Return all rows; cells that a row never had are empty."""
        self._pack()
        for part in self._packed:
            for column in range(part.shape[1], len(headings)):
                part[column] = ""
        table = pd.concat(self._packed, ignore_index=True)
        table.columns = pd.Index(headings)
        return table

    def _pack(self) -> None:
        if self._waiting:
            columns = itertools.zip_longest(*self._waiting, fillvalue="")
            self._packed.append(pd.DataFrame(dict(enumerate(columns)), dtype="str"))
            self._waiting = []


def _distinct(given: Sequence[str], notes: list[str]) -> list[str]:
    """Return headings without white space around, none empty and none twice."""
    stripped = [text.strip() for text in given]
    headings: list[str] = []
    used: set[str] = set()
    for number, text in enumerate(stripped, 1):
        heading = text or f"column {number}"
        if heading in used or (not text and heading in stripped):
            copies = (f"{heading} ({count})" for count in itertools.count(2))
            heading = next(c for c in copies if c not in used and c not in stripped)
        if not text:
            notes.append(f"Column {number} has no heading; it is called “{heading}”.")
        elif heading != text:
            was, now = shortened(text), shortened(heading)
            notes.append(f"The heading “{was}” stands more than once; another one is “{now}”.")
        headings.append(heading)
        used.add(heading)
    return headings


def _too_many_rows() -> str:
    return f"The file has more than {MAX_ROWS:,} rows, the most that can be read; split it."


def _check_columns(number: int) -> None:
    if number > MAX_COLUMNS:
        raise UploadError(
            f"The file has {number:,} columns, and at most {MAX_COLUMNS} can be read; leave out "
            "those that are not needed."
        )


# -------------------------------------------------------------------------------- text


def _read_text(content: bytes, suffix: str, notes: list[str]) -> tuple[str, _Rows, list[str]]:
    _refuse_what_is_no_text(content)
    content, encoding = _decoding(content, notes)

    def again() -> io.TextIOWrapper:
        # Line by line: as one text, a file with a single emoji takes four times its size.
        # With newline="" line ends stay, which quoted cells need.
        return io.TextIOWrapper(io.BytesIO(content), encoding, newline="")

    first_line = next((line.lstrip() for line in again() if line.strip()), "")
    if not first_line:
        raise UploadError("The file has only blank lines; choose one with a heading and rows.")
    beginning = again().read(_PIECE).lstrip()  # the first key of an array may stand lines below
    if _is_json(beginning, first_line, _SUFFIXES.get(suffix) == "JSONL"):
        rows, headings = _read_json(again, first_line.startswith("["), notes)
        return "JSONL", rows, headings
    first = "\t" if _SUFFIXES.get(suffix) == "TSV" else ","
    delimiter = _delimiter(again, first)
    if delimiter in ";|":
        notes.append(f"The columns are separated by “{delimiter}”.")
    rows, headings = _read_delimited(again(), delimiter)
    return "TSV" if delimiter == "\t" else "CSV", rows, headings


def _refuse_what_is_no_text(content: bytes) -> None:
    what = next((what for sign, what in _SIGNATURES if content.startswith(sign)), None)
    if what is None and _MARKUP.match(content):
        what = "an HTML or XML page"
    if what:
        raise UploadError(f"The file seems to be {what}; save the table in it as CSV.")


def _decoding(content: bytes, notes: list[str]) -> tuple[bytes, str]:
    """Return the content and the encoding that decodes all of it, or say that it is no text."""
    binary = UploadError(
        "The file seems to be binary, not text; save the table in it as CSV in UTF-8."
    )
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            try:
                content = content.decode(encoding).encode()
            except UnicodeError as error:
                raise UploadError(
                    f"The file begins like {encoding} text but is damaged; save it as CSV in UTF-8."
                ) from error
            notes.append(f"The file was read as {encoding}.")
            break
    if b"\0" in content:
        raise binary
    if _decodes(content, "utf-8"):
        return content, "utf-8-sig"
    if _CONTROL.search(content):
        raise binary
    latin = not _decodes(content, "cp1252")
    notes.append(
        f"The file is not UTF-8; it was read as {'Latin-1' if latin else 'Windows-1252'}. If "
        "letters look wrong, save it as UTF-8."
    )
    return content, "latin-1" if latin else "cp1252"


def _decodes(content: bytes, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for start in range(0, len(content), _PIECE):
            decoder.decode(content[start : start + _PIECE])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


# ------------------------------------------------------------------- separated by something

Again = Callable[[], io.TextIOWrapper]


def _records(stream: io.TextIOWrapper, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which a record begins, and its cells; blank lines are left out."""
    csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))
    # Strict: otherwise a quote that is never closed swallows the rest of the file unnoticed.
    reader = csv.reader(stream, delimiter=delimiter, strict=True)
    while True:
        begins = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise UploadError(_misquoted(begins, str(error))) from error
        if cells:
            yield begins, cells


def _misquoted(line: int, error: str) -> str:
    if "end of data" in error or "field larger" in error:
        return (
            f'Line {line}: a quote (") opens a cell and is never closed; close it, and write a '
            'quote that belongs to a cell twice ("").'
        )
    return (
        f'Line {line}: after the quote (") that closes a cell there is more text; write a quote '
        'that belongs to a cell twice ("") and put the whole cell in quotes.'
    )


def _heading(records: Iterator[tuple[int, list[str]]]) -> list[str]:
    """Return the first record with any text: spreadsheets put lines of separators before it."""
    return next((cells for _, cells in records if "".join(cells).strip()), [])


def _delimiter(again: Again, first: str) -> str:
    """Return what separates most columns in the heading, if the rows below agree."""
    widths: dict[str, int] = {}
    fitting: set[str] = set()
    for delimiter in sorted(_DELIMITERS, key=lambda each: each != first):
        records = itertools.islice(_records(again(), delimiter), _SAMPLE)
        try:
            width = len(_heading(records))
            if width > 1:
                widths[delimiter] = width
                if all(len(cells) == width for _, cells in records):
                    fitting.add(delimiter)
        except UploadError:
            continue  # misquoted, if this is the delimiter: the last word has the whole file
    chosen = [delimiter for delimiter in widths if not fitting or delimiter in fitting]
    return max(chosen, key=widths.__getitem__, default=first)


def _read_delimited(stream: io.TextIOWrapper, delimiter: str) -> tuple[_Rows, list[str]]:
    records = _records(stream, delimiter)
    heading = _heading(records)
    if not heading:
        raise UploadError("The file has no heading; name every column in its first line.")
    width = len(heading)
    _check_columns(width)
    rows = _Rows()
    ragged: list[str] = []
    more = 0
    for line, cells in records:
        if len(cells) == width:
            rows.add(cells, line)
        elif len(cells) == 1 and not cells[0].strip():
            continue  # a line of spaces
        elif len(ragged) < _NAMED:
            has = f"line {line} has {len(cells)} {'cell' if len(cells) == 1 else 'cells'}"
            ragged.append(has if ragged else f"L{has[1:]}, the heading has {width}")
        else:
            more += 1
    if ragged:
        if more:
            ragged.append(f"…and {more:,} more {'line' if more == 1 else 'lines'}")
        raise UploadError(f"{'; '.join(ragged)}. Quote cells that contain the separator.")
    return rows, heading


# -------------------------------------------------------------------------------- JSON


def _is_json(beginning: str, first_line: str, named: bool) -> bool:
    """Return whether text is JSON: it looks so, or its name says so and it could be."""
    if _JSON.match(beginning):
        return True
    if not named or first_line[0] in "[{":
        return named
    try:
        json.loads(first_line)
    except (ValueError, RecursionError):
        return False
    return True


def _constant(name: str) -> float | None:
    return _CONSTANTS[name]


def _read_json(again: Again, is_array: bool, notes: list[str]) -> tuple[_Rows, list[str]]:
    columns: dict[str, int] = {}
    rows = _Rows()
    items = _array_items(again) if is_array else _line_items(again())
    line = 1
    try:
        for line, item in items:
            rows.add(_json_cells(item, columns), line)
    except RecursionError as error:
        raise _too_deep(line) from error
    except UnicodeEncodeError as error:
        raise UploadError(
            f"Line {line}: an escape such as \\ud800 stands for half a character; write the "
            "character itself, or leave it out."
        ) from error
    if is_array:
        notes.append("The file is one JSON array; each of its objects was read as a row.")
    if not rows.lines:
        raise UploadError("The file holds an empty array; write one object for every row.")
    if not columns:
        raise UploadError("The objects in the file are empty; write a key for every column.")
    return rows, list(columns)


def _json_cells(item: dict[str, Any], columns: dict[str, int]) -> list[str]:
    """Return an object's values in the order of the columns, which grow by its new keys."""
    for key in item:
        columns.setdefault(key, len(columns))
    _check_columns(len(columns))
    cells = [""] * len(columns)
    for key, value in item.items():
        cells[columns[key]] = as_text(value)
    "".join((*item, *cells)).encode()  # raises where a text is no valid Unicode
    return cells


def _too_deep(line: int) -> UploadError:
    return UploadError(f"Line {line}: the JSON is nested too deeply; flatten it.")


def _line_items(stream: io.TextIOWrapper) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(stream, 1):
        if line.strip():
            try:
                item = json.loads(line, parse_constant=_constant)
            except RecursionError as error:
                raise _too_deep(number) from error
            except ValueError:  # broken, or a whole number of thousands of digits
                item = None
            if not isinstance(item, dict):
                raise UploadError(
                    f"Line {number} is not one JSON object; write every row as an object on a "
                    "line of its own."
                )
            yield number, item


def _array_items(again: Again) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a JSON array one by one, with the line on which each begins."""
    text = again().read().replace("\r\n", "\n").replace("\r", "\n")
    decoder = json.JSONDecoder(parse_constant=_constant)
    space = re.compile(r"\s*")
    line, counted = 1, 0

    def skip(at: int) -> int:
        nonlocal line, counted
        match = space.match(text, at)
        end = match.end() if match else at
        line, counted = line + text.count("\n", counted, end), end
        return end

    at = skip(text.index("[") + 1)
    while text[at : at + 1] != "]":
        try:
            item, end = decoder.raw_decode(text, at)
        except RecursionError as error:
            raise _too_deep(line) from error
        except ValueError as error:
            where = error.lineno if isinstance(error, json.JSONDecodeError) else line
            raise UploadError(
                f"Line {where}: the JSON is broken here; write an array of objects, or better "
                "every row as an object on a line of its own."
            ) from error
        if not isinstance(item, dict):
            raise UploadError(
                f"Line {line}: an entry of the array is not an object; write an object for every "
                "row."
            )
        yield line, item
        at = skip(end)
        if text[at : at + 1] == ",":
            at = skip(at + 1)
        elif text[at : at + 1] != "]":
            raise UploadError(
                f"Line {line}: the array does not go on or end here; put commas between its "
                "objects and a ] at the end."
            )
    skip(at + 1)
    if counted < len(text):
        raise UploadError(f"Line {line}: more text comes after the array; leave it out.")


# ----------------------------------------------------------------------------- Parquet


def _is_parquet(content: bytes, suffix: str) -> bool:
    """Return whether a file is Parquet, perhaps damaged, and no CSV that begins with PAR1."""
    if not content.startswith(b"PAR1"):
        return False
    return content.endswith(b"PAR1") or b"\0" in content or _SUFFIXES.get(suffix) == "Parquet"


def _read_parquet(content: bytes, notes: list[str]) -> tuple[_Rows, list[str]]:
    # Slow to import, and not needed for most files. Not through pandas, which makes floats of
    # whole numbers, refuses a heading that stands twice and cannot tell the size beforehand.
    from pyarrow import parquet

    rows = _Rows()
    try:
        file = parquet.ParquetFile(io.BytesIO(content))
        _check_parquet(file)
        names = list(file.schema_arrow.names)
        kept = [at for at, name in enumerate(names) if not _ROW_INDEX.fullmatch(name)]
        if len(kept) < len(names):
            notes.append("The row index that pandas wrote into the file was left out.")
        if not kept:
            raise UploadError("The file has no columns; choose one with a heading and rows.")
        for batch in file.iter_batches(batch_size=_PORTION):
            values = [batch.column(at).to_pylist() for at in kept]
            rows.add_columns([[as_text(value) for value in column] for column in values])
    except UploadError:
        raise
    except Exception as error:  # a damaged file can fail in any way, deep inside the reader
        raise UploadError(
            "The file begins like Parquet but cannot be read; it is damaged or of an unknown "
            "kind. Write it anew, or save it as CSV."
        ) from error
    return rows, [names[at] for at in kept]


def _check_parquet(file: Any) -> None:
    about = file.metadata
    if about.num_rows > MAX_ROWS:
        raise UploadError(_too_many_rows())
    _check_columns(len(file.schema_arrow.names))
    unpacked = sum(about.row_group(at).total_byte_size for at in range(about.num_row_groups))
    if unpacked > MAX_UNPACKED:
        raise UploadError(
            f"The file unpacks to {unpacked:,} bytes, and at most {MAX_UNPACKED:,} can be read; "
            "leave out columns or rows that are not needed."
        )
