"""Tables as CSV that is safe to open in a spreadsheet, whatever a model has said."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def disarm(cell: object) -> object:
    """Put an apostrophe before text that a spreadsheet would run as a formula.

    Numbers pass unchanged: a negative one begins with ``-`` and is no formula.
    """
    if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS):
        return f"'{cell}"
    return cell


def to_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Return a disarmed CSV in UTF-8, with the byte-order mark that Excel needs to see it."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow([disarm(cell) for cell in header])
    writer.writerows([disarm(cell) for cell in row] for row in rows)
    return buffer.getvalue().encode("utf-8-sig")
