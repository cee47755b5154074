"""A person's file, read into one kind of table: text cells, and the line each row begins on.

No cell is interpreted here: "None", "NA", "007" and "" stay what they are. What a file is comes
from its content, and from its name only where the content leaves it open. Whatever had to be
decided is written down in notes, and whatever cannot be read is refused with a sentence that
says how to mend it. All text of a file is hostile, its name and headings included.
"""

from __future__ import annotations

import codecs
import functools
import hashlib
import io
import itertools
import json
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.codec import one_line
from core.data.tabular import rows as limits
from core.data.tabular.delimited_rows import delimiter_of, read_separated
from core.data.tabular.excel_rows import is_workbook, read_excel
from core.data.tabular.joined_tables import without_headings
from core.data.tabular.json_rows import read_json, read_table_within
from core.data.tabular.json_tables import without_empty_parents
from core.data.tabular.long_form import one_row_a_trace
from core.data.tabular.parquet_rows import read_parquet
from core.data.tabular.rows import TableRows, UploadError

if TYPE_CHECKING:
    from core.data.tabular.columns import Column
    from core.data.tabular.grading import Grading

KINDS = {
    "CSV": "comma-separated values",
    "TSV": "tab-separated values",
    "JSONL": "JSON lines",
    "JSON": "a JSON object",
    "Parquet": "Parquet",
    "Excel": "an Excel workbook",
}
#: Of these, rows are named by their number, of the others by their line in the file.
_WITHOUT_LINES = frozenset({"JSON", "Parquet", "Excel"})
_SUFFIXES = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".tab": "TSV",
    ".json": "JSONL",
    ".jsonl": "JSONL",
    ".ndjson": "JSONL",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".xlsx": "Excel",
    ".xlsm": "Excel",
}
PIECE = 1 << 20  # bytes

#: How files begin that are no text, and what they seem to be.
_SIGNATURES = (
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
#: Parts of zip archives that say what wrote them.
_ARCHIVES = (
    (
        re.compile(r"_journal/start\.json"),
        "a log of Inspect; “inspect log dump FILE > log.json” writes it as JSON, which can be read",
    ),
    (re.compile(r".*/data\.pkl"), "a PyTorch file, as LM-Polygraph's (.man) are"),
    (re.compile(r".*\.npy"), "an archive of NumPy arrays"),
)
_MARKUP = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|head|body|\?xml)\b", re.IGNORECASE)
_BYTE_ORDER_MARKS = (  # the longer ones first: UTF-16's begins that of UTF-32
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_SEPARATOR = re.compile(rb"\"?sep=([,;|\t])\"?\r?\n", re.IGNORECASE)
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]")  # not white space, not Escape
#: An object with a first key, or an array of such. A CSV cannot begin so: there, a cell that
#: contains a quote begins with one.
_JSON = re.compile(r'(?:\[\s*)?\{\s*"(?:[^"\\]|\\.)*"[ \t]*:')

TOO_MUCH_MEMORY = (
    "Reading the file takes too much memory; save it as plain CSV in UTF-8, with fewer rows or "
    "columns."
)


@dataclass(frozen=True)
class Upload:
    """A file as a table of text."""

    name: str  # the file's name as given: hostile text
    sha256: str  # of the file's bytes, in hexadecimal
    kind: str  # a key of `KINDS`
    # (n, columns): every cell is a str; a missing one is "". The headings are distinct and not
    # empty.
    table: pd.DataFrame
    # (n,): the line of the file on which each row begins, from 1; its number where the file has no
    # lines (`unit`).
    lines: NDArray[np.int64]
    notes: tuple[str, ...]  # what was decided for the person, a sentence each
    # What the columns say, as far as it is found: `core.data.tabular.columns.column_of`.
    columns: dict[str, Column] = field(default_factory=dict, compare=False, repr=False)
    # How one of its columns was made here: the labels of predictions beside references.
    grading: Grading | None = None

    @functools.cached_property
    def headings(self) -> tuple[str, ...]:
        """The headings in their order: to list those of a table takes long where it is wide."""
        return tuple(self.table.columns)

    @property
    def unit(self) -> str:
        """What `lines` counts: "line" or "row"."""
        return "row" if self.kind in _WITHOUT_LINES else "line"


def parse(content: bytes, name: str) -> Upload:
    """Read a file; one that a stranger wrote through `core.data.tabular.isolation.parse_isolated`.

    It is CSV (separated by commas, tabs, semicolons or bars), JSON lines, a JSON array of objects,
    a JSON object with a table in it, Parquet, or an Excel workbook (.xlsx). Of its name only the
    ending is looked at.

    Raises `UploadError` when the file is none of these, is damaged or too large, or has no row.
    """
    if not content:
        raise UploadError("The file is empty; choose one with a heading and at least one row.")
    if len(content) > limits.MAX_UPLOAD_BYTES:
        raise UploadError(
            f"The file has more than {limits.MAX_UPLOAD_BYTES:,} bytes, the most that can be read; "
            "leave out columns or rows that are not needed."
        )
    try:
        return _parse(content, name)
    except MemoryError as error:
        raise UploadError(TOO_MUCH_MEMORY) from error


def _parse(content: bytes, name: str) -> Upload:
    suffix = PurePath(name).suffix.lower()
    notes: list[str] = []
    if _is_parquet(content, suffix):
        kind = "Parquet"
        rows, headings = read_parquet(content, notes)
    elif is_workbook(content):
        kind = "Excel"
        rows, headings = read_excel(content, notes)
    else:
        kind, rows, headings = _read_text(content, suffix, notes)
    expected = _SUFFIXES.get(suffix, kind)
    if kind not in (expected, "JSON" if expected == "JSONL" else expected):
        notes.insert(0, f"The name ends in {suffix}, but the file holds {KINDS[kind]}.")
    if not rows.lines:
        raise UploadError("The file has a heading and no rows; add at least one row.")
    table, lines = rows.table(_distinct(headings, notes)), np.array(rows.lines, np.int64)
    unit = "row" if kind in _WITHOUT_LINES else "line"
    table, lines = without_headings(table, headings, lines, unit, notes)
    if kind.startswith("JSON"):
        table = without_empty_parents(table)
    table, lines = one_row_a_trace(table, lines, notes)
    table = table.set_axis(_distinct(table.columns.tolist(), notes), axis=1)
    return Upload(name, hashlib.sha256(content).hexdigest(), kind, table, lines, tuple(notes))


def _distinct(names: Sequence[str], notes: list[str]) -> list[str]:
    """Return headings without white space around, none empty and none twice."""
    stripped = [text.strip() for text in names]
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
            was, now = one_line(text), one_line(heading)
            notes.append(f"The heading “{was}” appears more than once; the other is now “{now}”.")
        headings.append(heading)
        used.add(heading)
    return headings


def _read_text(content: bytes, suffix: str, notes: list[str]) -> tuple[str, TableRows, list[str]]:
    _refuse_what_is_no_text(content)
    content, encoding = _decoding(content, notes)
    content, before = _without_blank_beginning(content)
    separator = _SEPARATOR.match(content)
    if separator:  # Excel's hint, and no heading
        content, before = content[separator.end() :], before + 1

    def again(newline: str | None = "") -> io.TextIOWrapper:
        # Line by line: as one text, a file with a single emoji takes four times its size.
        # With newline="" line ends stay, which quoted cells need.
        return io.TextIOWrapper(io.BytesIO(content), encoding, newline=newline)

    first_line = next((line.lstrip() for line in again() if line.strip()), "")
    if not first_line:
        raise UploadError("The file has only blank lines; choose one with a heading and rows.")
    beginning = again().read(PIECE).lstrip()  # the first key of an array may stand lines below
    if _is_json(beginning, first_line, _SUFFIXES.get(suffix) == "JSONL"):
        if not first_line.startswith("[") and (within := read_table_within(content, notes)):
            return "JSON", *within
        rows, headings = read_json(again(None), first_line.startswith("["), before, notes)
        return "JSONL", rows, headings
    first = "\t" if _SUFFIXES.get(suffix) == "TSV" else ","
    delimiter = separator[1].decode() if separator else delimiter_of(again, first)
    if delimiter in ";|":
        notes.append(f"The columns are separated by “{delimiter}”.")
    rows, headings = read_separated(again(), delimiter, before, notes)
    return "TSV" if delimiter == "\t" else "CSV", rows, headings


def _without_blank_beginning(content: bytes) -> tuple[bytes, int]:
    """Return what comes after the blank lines at the beginning, and how many these are.

    What looks at the beginning of a file need not go through millions of them; where there are
    too many lines in the whole file, it is refused.
    """
    text = len(content) - len(content.lstrip())
    begins = max(content.rfind(b"\n", 0, text), content.rfind(b"\r", 0, text)) + 1
    blank, rest = content[:begins], content[begins:]
    if max(rest.count(b"\n"), rest.count(b"\r")) > limits.MAX_LINES:
        raise UploadError(
            f"The file has more than {limits.MAX_LINES:,} lines, the most that can be read; leave "
            "out blank lines and rows that are not needed."
        )
    return rest, blank.count(b"\n") + blank.count(b"\r") - blank.count(b"\r\n")


def _refuse_what_is_no_text(content: bytes) -> None:
    what = next((what for sign, what in _SIGNATURES if content.startswith(sign)), None)
    if content.startswith(b"PK\x03\x04"):
        what = _what_archive(content)
    if what is None and _MARKUP.match(content):
        what = "an HTML or XML page"
    if what:
        mend = "" if ";" in what else "; save the table in it as CSV"
        raise UploadError(f"The file seems to be {what}{mend}.")


def _what_archive(content: bytes) -> str:
    """Say what a zip archive is that is no workbook."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return "a damaged zip archive or Excel workbook"
    kinds = (what for part, what in _ARCHIVES if any(map(part.fullmatch, parts)))
    return next(kinds, "a zip archive")


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
        return content.removeprefix(codecs.BOM_UTF8), "utf-8"
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
        for start in range(0, len(content), PIECE):
            decoder.decode(content[start : start + PIECE])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


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


def _is_parquet(content: bytes, suffix: str) -> bool:
    """Return whether a file is Parquet, perhaps damaged, and no CSV that begins with PAR1."""
    if not content.startswith(b"PAR1"):
        return False
    return content.endswith(b"PAR1") or b"\0" in content or _SUFFIXES.get(suffix) == "Parquet"
