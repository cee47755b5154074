"""JSON read into rows of text: an object on every line, or an array of objects."""

import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from core.codec import list_of, one_line
from core.data.tabular import rows as limits
from core.data.tabular.json_tables import flat, rows_within
from core.data.tabular.rows import (
    TableRows,
    UploadError,
    as_text,
    check_heading,
    check_size,
    too_long_a_row,
)

_CONSTANTS = {"NaN": None, "Infinity": math.inf, "-Infinity": -math.inf}
_SPACE = re.compile(r"\s*")
HALF = (
    "{}: an escape such as \\ud800 is half a character; write the character itself, or leave it "
    "out."
)
_CUT = 12  # characters: the longest word of JSON (-Infinity, \ud83d) that a piece can end within


class _KeyTwiceError(Exception):
    """A key that an object has more than once."""


def read_json(
    stream: io.TextIOWrapper, is_array: bool, before: int, notes: list[str]
) -> tuple[TableRows, list[str]]:
    """Read an array of objects, or an object on every line; return its rows and keys.

    The stream has universal newlines, and `before` lines of the file in front of it; `notes` gets a
    sentence for what was decided. Raises `UploadError` when it is broken, an object has a key
    twice, or a limit is not kept.
    """
    columns: dict[str, int] = {}
    rows = TableRows()
    items = items_of(stream, before=before) if is_array else _line_items(stream, before)
    line = before + 1
    try:
        for line, item in items:
            rows.add(_cells(flat(item), columns, len(rows.lines) + 1), line)
    except RecursionError as error:
        raise _too_deep(line) from error
    except UnicodeEncodeError as error:
        raise UploadError(HALF.format(f"Line {line}")) from error
    if is_array:
        notes.append("The file is one JSON array; each of its objects was read as a row.")
    if not rows.lines:
        raise UploadError("The file holds an empty array; write one object for every row.")
    if not columns:
        raise UploadError("The objects in the file are empty; write a key for every column.")
    return rows, list(columns)


def read_table_within(content: bytes, notes: list[str]) -> tuple[TableRows, list[str]] | None:
    """Read the table within a file that is one JSON object; None where it is none, or has none.

    The content is UTF-8 or an encoding that shares its first 128 characters; `notes` gets a
    sentence on where the rows were found. Raises `UploadError` when a limit is not kept.
    """
    try:
        document = json.loads(
            content, parse_constant=_CONSTANTS.__getitem__, object_pairs_hook=_object
        )
    except (ValueError, RecursionError, _KeyTwiceError):
        return None  # lines, or broken: what is wrong is said by line
    within = rows_within(document) if isinstance(document, dict) else None
    if within is None:
        return None
    items, note = within
    notes_inside = [note]
    items = _without_long_lists(items, notes_inside)
    columns: dict[str, int] = {}
    rows = TableRows()
    try:
        for number, item in enumerate(items, 1):
            rows.add(_cells(item, columns, number), number)
    except UnicodeEncodeError as error:
        raise UploadError(HALF.format(f"Row {len(rows.lines) + 1}")) from error
    if not columns:
        return None
    notes += notes_inside
    return rows, list(columns)


def _without_long_lists(items: list[dict[str, Any]], notes: list[str]) -> list[dict[str, Any]]:
    """Leave out columns of lists too long for a cell, such as all that happened in a sample."""
    long = {
        key: None
        for item in items
        for key, value in item.items()
        if isinstance(value, list | dict) and len(as_text(value)) > limits.MAX_CELL
    }
    if not long:
        return items
    named = list_of([f"“{one_line(key)}”" for key in long])
    notes.append(f"Left out, as a cell holds more than can be read: {named}.")
    return [{key: value for key, value in item.items() if key not in long} for item in items]


def _cells(item: dict[str, Any], columns: dict[str, int], row: int) -> list[str]:
    """Return an object's values in the order of the columns, which grow by its new keys."""
    if not columns.keys() >= item.keys():
        for key in item:
            check_heading(key)
            columns.setdefault(key, len(columns))
    check_size(row, len(columns))  # before cells are made for all of them
    cells = [""] * len(columns)
    for key, value in item.items():
        cells[columns[key]] = value if type(value) is str else as_text(value)
    "".join((*item, *cells)).encode()  # raises where a text is no valid Unicode
    return cells


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, which must not have a key twice: one value would be lost unnoticed."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise _KeyTwiceError(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return fields


_DECODER = json.JSONDecoder(parse_constant=_CONSTANTS.__getitem__, object_pairs_hook=_object)


def _too_deep(line: int) -> UploadError:
    return UploadError(f"Line {line}: the JSON is nested too deeply; flatten it.")


def _key_twice(line: int, error: _KeyTwiceError) -> UploadError:
    key = one_line(str(error.args[0]))
    return UploadError(
        f"Line {line}: the object here has the key “{key}” more than once; keep one of them."
    )


def object_on_line(line: str, number: int) -> dict[str, Any]:
    """Return the one JSON object on a line.

    Raises `UploadError` when the line holds anything else, or an object with a key twice.
    """
    text = line.strip(" \t\r\n")
    try:
        item, end = _DECODER.raw_decode(text)
    except RecursionError as error:
        raise _too_deep(number) from error
    except _KeyTwiceError as error:
        raise _key_twice(number, error) from error
    except ValueError:  # broken, or a whole number of thousands of digits
        item, end = None, 0
    if not isinstance(item, dict) or end < len(text):
        raise UploadError(
            f"Line {number} is not one JSON object; write every row as an object on a "
            "line of its own."
        )
    return item


def _line_items(stream: io.TextIOWrapper, before: int) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(stream, before + 1):
        if len(line) > limits.MAX_ROW:
            raise too_long_a_row(number)
        if line.strip(" \t\r\n"):
            yield number, object_on_line(line, number)


class _Window:
    """The part of a text that is at hand; the text is read on as it is used up.

    Reading goes on `at` a place in it, which is on this `line` of the file.
    """

    def __init__(self, stream: io.TextIOWrapper, before: int) -> None:
        self.text, self.at, self.line = "", 0, before + 1
        self._stream = stream
        self._ended = False

    def skip(self, number: int = 0) -> str:
        """Go on by some characters and white space; return the next character, "" at the end."""
        self._go_to(self.at + number)
        while True:
            match = _SPACE.match(self.text, self.at)
            self._go_to(match.end() if match else self.at)
            if self.at < len(self.text) or self._ended:
                break
            self._read_on()
        if len(self.text) - self.at <= limits.MAX_ROW and not self._ended:
            self._read_on()
        return self.text[self.at : self.at + 1]

    def item(self) -> tuple[object, int]:
        """Return the value that begins here, and its length."""
        try:
            value, end = _DECODER.raw_decode(self.text, self.at)
        except RecursionError as error:
            raise _too_deep(self.line) from error
        except _KeyTwiceError as error:
            raise _key_twice(self.line, error) from error
        except ValueError as error:
            raise self._syntax_error(error) from error
        if end - self.at > limits.MAX_ROW:
            raise too_long_a_row(self.line)
        return value, end - self.at

    def _syntax_error(self, error: ValueError) -> UploadError:
        """Return what is wrong where JSON breaks off, or only what is at hand of it does."""
        line = self.line
        if isinstance(error, json.JSONDecodeError):
            at_end = error.pos >= len(self.text) - _CUT
            if not self._ended and (at_end or error.msg.startswith("Unterminated string")):
                return too_long_a_row(line)
            line += self.text.count("\n", self.at, error.pos)
        return UploadError(
            f"Line {line}: the JSON is broken here; write an array of objects, or better "
            "every row as an object on a line of its own."
        )

    def _go_to(self, end: int) -> None:
        self.line += self.text.count("\n", self.at, end)
        self.at = end

    def _read_on(self) -> None:
        # Twice as much as has to be at hand: what is left over is copied half as often.
        size = 2 * limits.MAX_ROW
        more = self._stream.read(size)
        self._ended = len(more) < size
        self.text, self.at = self.text[self.at :] + more, 0


def items_of(
    stream: io.TextIOWrapper, key: str = "", before: int = 0
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a JSON array one by one, each with the line on which it begins.

    If a key is given, the array may also be its value in a JSON object; what else that object has
    is passed over. The stream has universal newlines, and `before` lines of the file in front of
    it; no more of it is in memory than a few rows may take.

    Raises `UploadError` when the JSON is broken, there is no such array, or a limit is not kept.
    """
    window = _Window(stream, before)
    begins = window.skip()
    if begins == "[":
        yield from _entries(window)
    elif key and begins == "{":
        yield from _entries_under(key, window)
    else:
        raise UploadError(f"Line {window.line}: no array of objects begins here.")
    if window.skip(len("]")):
        raise UploadError(f"Line {window.line}: there is more text after the array; remove it.")


def _entries(window: _Window) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of the array that begins here, and go on to its end."""
    following = window.skip(len("["))
    while following != "]":
        item, length = window.item()
        if not isinstance(item, dict):
            raise UploadError(
                f"Line {window.line}: an entry of the array is not an object; write an object "
                "for every row."
            )
        yield window.line, item
        following = window.skip(length)
        if following == ",":
            following = window.skip(len(","))
        elif following != "]":
            raise UploadError(
                f"Line {window.line}: the array neither continues nor ends here; put commas "
                "between its objects and a ] at the end."
            )


def _entries_under(key: str, window: _Window) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of the array under a key of the object that begins here."""
    there = False
    following = window.skip(len("{"))
    while following != "}":
        name, length = window.item()
        if not isinstance(name, str) or window.skip(length) != ":":
            raise UploadError(f"Line {window.line}: the JSON is broken here; a key is expected.")
        if window.skip(len(":")) == "[" and name == key:
            there = True
            yield from _entries(window)
            following = window.skip(len("]"))
        else:
            following = window.skip(window.item()[1])
        if following == ",":
            following = window.skip(len(","))
        elif following != "}":
            raise UploadError(f"Line {window.line}: the object neither continues nor ends here.")
    if not there:
        raise UploadError(f"The JSON object in the file has no array “{key}”.")
