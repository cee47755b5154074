"""Tables as CSV that is safe to open in a spreadsheet, whatever a model has said."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence

_FORMULA_STARTS = ("=", "+", "-", "@")
_LINE_STARTS = ("\t", "\r", "\n")  # which some spreadsheets drop, with what stands before them
#: What is another cell to who lists by semicolons: quotes count only where a cell begins.
_INNER = re.compile("(?<=[;\r\n])[^;\r\n]+")
_NEGATIVE = re.compile(r"-(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?%?")


def disarm(cell: object) -> object:
    """Put an apostrophe before text that a spreadsheet would run as a formula.

    White space and characters without width before a formula do not hide it, nor do wide forms
    of its signs (＝, ＋, －, ＠), which some spreadsheets take for the plain ones. Numbers pass
    unchanged, as text, too: a negative one begins with ``-`` and is no formula. Nor may one begin
    behind a semicolon or a line break, where half of Europe's spreadsheets begin another cell.
    """
    if not isinstance(cell, str) or _NEGATIVE.fullmatch(cell):
        return cell
    mark = "'" * _is_formula(cell)
    return mark + _INNER.sub(_disarm_inner, cell)


def _disarm_inner(part: re.Match[str]) -> str:
    is_formula = _has_sign(part[0]) and not _NEGATIVE.fullmatch(part[0].strip())
    return f"'{part[0]}" if is_formula else part[0]


def as_it_was(cell: str) -> str:
    """Return a text that `disarm` may have written as it was before."""
    if "'" not in cell:
        return cell
    whole = cell[1:] if cell[0] == "'" and _is_formula(cell[1:]) else cell
    return _INNER.sub(lambda part: part[0].removeprefix("'" * _has_sign(part[0][1:])), whole)


def _is_formula(text: str) -> bool:
    return text.startswith(_LINE_STARTS) or _has_sign(text)


def _has_sign(text: str) -> bool:
    # Controls, and characters that only shape others, hide no formula.
    seen = (c for c in text if not c.isspace() and unicodedata.category(c) not in {"Cc", "Cf"})
    return unicodedata.normalize("NFKC", next(seen, "")).startswith(_FORMULA_STARTS)


def to_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Return a disarmed CSV in UTF-8, with the byte-order mark that Excel needs to see it."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow([disarm(cell) for cell in header])
    writer.writerows([disarm(cell) for cell in row] for row in rows)
    return buffer.getvalue().encode("utf-8-sig")
