"""Tables as CSV that is safe to open in a spreadsheet, whatever a model has said."""

import csv
import io
import unicodedata
from collections.abc import Iterable, Sequence

_FORMULA_STARTS = ("=", "+", "-", "@")
_LINE_STARTS = ("\t", "\r", "\n")  # which some spreadsheets drop, with what stands before them


def disarm(cell: object) -> object:
    """Put an apostrophe before text that a spreadsheet would run as a formula.

    White space and characters without width before a formula do not hide it, nor do wide forms
    of its signs (＝, ＋, －, ＠), which some spreadsheets take for the plain ones. Numbers pass
    unchanged: a negative one begins with ``-`` and is no formula.
    """
    if isinstance(cell, str) and (cell.startswith(_LINE_STARTS) or _is_formula(cell)):
        return f"'{cell}"
    return cell


def as_it_was(cell: str) -> str:
    """Return a text that `disarm` may have written as it was before."""
    return cell[1:] if cell[:1] == "'" and disarm(cell[1:]) == cell else cell


def _is_formula(text: str) -> bool:
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
