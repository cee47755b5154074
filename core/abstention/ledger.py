"""A ledger of labels: which rows were looked at, and what part of δ each look may spend.

Labels are a budget. Whoever adds rows after a failure and calibrates again, names another score, or
picks a setting after seeing several, tests once more; each test may be wrong with probability δ.
So all looks at the same labels share one δ: the first spends δ/2, the second δ/4, and so on, which
is δ in all, however many follow and whatever decides that they follow (the union bound).

A row is a number of 64 bits made of its question and its label. Of a look the smallest are kept,
`MOST_KEPT` at most: a file that has all rows of the look has these, too.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.uint64]

MOST_KEPT: Final = 2048  # rows of a look; 1% of a larger one has one of these in 1 of 1e9 cases
LABEL: Final = np.uint64(1)  # the bit that says whether the answer is right


def smallest(rows: Rows) -> Rows:
    """Return the rows that stand for all: sorted, each once, `MOST_KEPT` at most."""
    return np.unique(rows)[:MOST_KEPT]


def to_text(rows: Rows) -> str:
    """Return the rows that stand for all as text, 11 characters each."""
    return base64.b64encode(smallest(rows).astype("<u8").tobytes()).decode("ascii")


def from_text(text: str) -> Rows:
    """Return the rows in a text.

    Raises
    ------
    ValueError
        When it is none of `to_text`.
    """
    try:
        content = base64.b64decode(text.encode("ascii"), validate=True)
        rows = np.frombuffer(content, "<u8").astype(np.uint64)
    except (UnicodeEncodeError, binascii.Error, ValueError):
        raise ValueError("these are no rows") from None
    if len(rows) > MOST_KEPT:
        raise ValueError("these are too many rows")
    return rows


def asks_the_same(rows: Rows, others: Rows) -> NDArray[np.bool_]:
    """Return of each row whether others ask its question, whatever their labels, (n,)."""
    return np.isin(rows | LABEL, others | LABEL)
