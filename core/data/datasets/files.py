"""A dataset's file, row by row: no more of it is in memory than a few rows may take."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.data.tabular.json_rows import items_of, object_on_line
from core.data.tabular.rows import MAX_ROW, UploadError, too_long_a_row

_MOST_BYTES = 4 * MAX_ROW  # of a row: a character has at most four
_MARK = b"\xef\xbb\xbf"  # some programs begin UTF-8 with it


def lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, bytes]]:
    """Yield a file's lines that are not blank, cut off if too long, or raise `UploadError`."""
    with _reading(path), Path(path).open("rb") as file:
        number = 0
        while line := file.readline(_MOST_BYTES + 1):
            number += 1
            rest = line
            while len(rest) > _MOST_BYTES and not rest.endswith(b"\n"):
                rest = file.readline(_MOST_BYTES + 1)
            line = line.removeprefix(_MARK) if number == 1 else line
            if line.strip():
                yield number, line


def object_of(line: bytes, number: int) -> dict[str, Any]:
    """Return the JSON object on a line, or raise `ValueError`."""
    if len(line) > _MOST_BYTES:
        raise too_long_a_row(number)
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise ValueError("the line is not UTF-8.") from error
    if len(text) > MAX_ROW:
        raise too_long_a_row(number)
    return object_on_line(text, number)


def array(path: str | os.PathLike[str], key: str = "") -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a JSON array, each with the line on which it begins.

    `key`: if given, the array may also be the value of this key in a JSON object.

    Raises `UploadError` when the file cannot be read, is no such JSON, or an object is too long.
    """
    with _reading(path), Path(path).open(encoding="utf-8-sig") as stream:
        yield from items_of(stream, key)


def beginning(path: str | os.PathLike[str], most: int) -> bytes:
    """Return a file's first bytes behind white space, or raise `UploadError`."""
    with _reading(path), Path(path).open("rb") as file:
        return file.read(most).removeprefix(_MARK).lstrip()


@contextlib.contextmanager
def _reading(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        raise UploadError(f"{path} is not UTF-8; save it as UTF-8.") from error
    except OSError as error:
        raise UploadError(f"{path} cannot be read: {error.strerror}.") from error
