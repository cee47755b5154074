"""Tables as CSV that is safe to open in a spreadsheet, whatever a model has said."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence

_FORMULA_STARTS = ("=", "+", "-", "@")
_LINE_STARTS = ("\t", "\r", "\n")  # which some spreadsheets drop, with what stands before them
_NEGATIVE = re.compile(r"-(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?%?")


def disarm(cell: object) -> object:
    """Put an apostrophe before text that a spreadsheet would run as a formula.

    White space and characters without width before a formula do not hide it, nor do wide forms
    of its signs (＝, ＋, －, ＠), which some spreadsheets take for the plain ones. Numbers pass
    unchanged, as text, too: a negative one begins with ``-`` and is no formula.
    """
    if isinstance(cell, str) and _is_formula(cell) and not _NEGATIVE.fullmatch(cell):
        return f"'{cell}"
    return cell


def as_it_was(cell: str) -> str:
    """Return a text that `disarm` may have written as it was before."""
    return cell[1:] if cell[:1] == "'" and _is_formula(cell[1:]) else cell


def _is_formula(text: str) -> bool:
    if text.startswith(_LINE_STARTS):
        return True
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
