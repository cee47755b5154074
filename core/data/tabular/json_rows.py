"""JSON read into rows of text: an object on every line, or an array of objects."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from core.codec import shortened
from core.data.tabular import rows as limits
from core.data.tabular.rows import (
    Rows,
    UploadError,
    as_text,
    check_heading,
    check_size,
    too_long_a_row,
)

_CONSTANTS = {"NaN": None, "Infinity": math.inf, "-Infinity": -math.inf}
_SPACE = re.compile(r"\s*")


class _KeyTwiceError(Exception):
    """A key that an object has more than once."""


def read_json(
    stream: io.TextIOWrapper, is_array: bool, before: int, notes: list[str]
) -> tuple[Rows, list[str]]:
    """Read JSON; return its rows and keys.

    Parameters
    ----------
    stream : text stream
        With universal newlines.
    is_array : bool
        Whether it is an array of objects, not an object on every line.
    before : int
        How many lines of the file come before the stream.
    notes : list of str
        Gets a sentence for what was decided.

    Raises
    ------
    UploadError
        When it is broken, an object has a key twice, or a limit is not kept.
    """
    columns: dict[str, int] = {}
    rows = Rows()
    items = _array_items(stream.read(), before) if is_array else _line_items(stream, before)
    line = before + 1
    try:
        for line, item in items:
            rows.add(_cells(item, columns, len(rows.lines) + 1), line)
    except RecursionError as error:
        raise _too_deep(line) from error
    except UnicodeEncodeError as error:
        raise UploadError(
            f"Line {line}: an escape such as \\ud800 is half a character; write the character "
            "itself, or leave it out."
        ) from error
    if is_array:
        notes.append("The file is one JSON array; each of its objects was read as a row.")
    if not rows.lines:
        raise UploadError("The file holds an empty array; write one object for every row.")
    if not columns:
        raise UploadError("The objects in the file are empty; write a key for every column.")
    return rows, list(columns)


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


def _constant(name: str) -> float | None:
    return _CONSTANTS[name]


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, which must not have a key twice: one value would be lost unnoticed."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _KeyTwiceError(key)
            seen.add(key)
    return found


_DECODER = json.JSONDecoder(parse_constant=_constant, object_pairs_hook=_object)


def _too_deep(line: int) -> UploadError:
    return UploadError(f"Line {line}: the JSON is nested too deeply; flatten it.")


def _key_twice(line: int, error: _KeyTwiceError) -> UploadError:
    key = shortened(str(error.args[0]).encode(errors="replace").decode())
    return UploadError(
        f"Line {line}: the object here has the key “{key}” more than once; keep one of them."
    )


def _line_items(stream: io.TextIOWrapper, before: int) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(stream, before + 1):
        if len(line) > limits.MAX_ROW:
            raise too_long_a_row(number)
        if text := line.strip(" \t\r\n"):
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
            yield number, item


# -------------------------------------------------------------------------------- arrays


def _array_items(text: str, before: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a JSON array one by one, with the line on which each begins."""
    at, line = 0, before + 1

    def go_to(place: int) -> str:
        """Go to a place and past white space; return the next character, "" at the end."""
        nonlocal at, line
        found = _SPACE.match(text, place)
        end = found.end() if found else place
        line += text.count("\n", at, end)
        at = end
        return text[at : at + 1]

    go_to(0)
    following = go_to(at + len("["))
    while following != "]":
        item, end = _array_item(text, at, line)
        if not isinstance(item, dict):
            raise UploadError(
                f"Line {line}: an entry of the array is not an object; write an object "
                "for every row."
            )
        yield line, item
        following = go_to(end)
        if following == ",":
            following = go_to(at + len(","))
        elif following != "]":
            raise UploadError(
                f"Line {line}: the array neither continues nor ends here; put commas "
                "between its objects and a ] at the end."
            )
    if go_to(at + len("]")):
        raise UploadError(f"Line {line}: there is more text after the array; remove it.")


def _array_item(text: str, at: int, line: int) -> tuple[object, int]:
    """Return the value that begins at a place, and where it ends."""
    try:
        found, end = _DECODER.raw_decode(text, at)
    except RecursionError as error:
        raise _too_deep(line) from error
    except _KeyTwiceError as error:
        raise _key_twice(line, error) from error
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError):
            # A quote that is never closed takes all that follows it.
            is_open = error.msg.startswith("Unterminated string")
            if (len(text) if is_open else error.pos) - at > limits.MAX_ROW:
                raise too_long_a_row(line) from error
            line += text.count("\n", at, error.pos)
        raise UploadError(
            f"Line {line}: the JSON is broken here; write an array of objects, or better "
            "every row as an object on a line of its own."
        ) from error
    if end - at > limits.MAX_ROW:
        raise too_long_a_row(line)
    return found, end
