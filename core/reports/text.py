"""Tables as plain text, for a terminal, and what several results say alike."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.abstention.mixtures import Bar
from core.codec import count_of, limit_in_words, one_line, percent

WIDEST: Final = 40  # characters of a text; files have all of it

#: Why a question of a run has no doubt.
NO_DOUBT: Final = "too little was seen, or nothing may be served"


def display(cell: Any) -> str:
    """Return a cell of a table as it is read: a true minus, no more digits than tell."""
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}".replace("-", "−")
    if isinstance(cell, float):
        shown = limit_in_words(cell, ".4g") if math.isfinite(cell) else str(cell)
        return shown.replace("-", "−").replace("inf", "∞")
    return str(cell)


def table(columns: Mapping[str, Sequence[object]]) -> list[str]:
    """Return columns under their headings as lines, as wide as they have to be."""
    rows = [
        list(columns),
        *(
            [one_line(display(cell), WIDEST) for cell in row]
            for row in zip(*columns.values(), strict=True)
        ),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]


def curve_ends(doubts: Mapping[str, NDArray[np.float64]], reason: str) -> list[str]:
    """Say why curves of precision by recall end early, if they do.

    `doubts` are those of every score, (n,); NaN is missing. `reason` is why no score answers such a
    question, as in “too little was seen”.
    """
    rows = len(next(iter(doubts.values()), ()))
    least = min((int(np.isnan(each).sum()) for each in doubts.values()), default=0)
    if not least:
        return []
    return [
        f"Of {least:,} of {count_of(rows, 'question')} {reason}, so no score answers them: the "
        f"curves end at a recall of {percent(1 - least / rows)} at most."
    ]


def brackets(other: str) -> str:
    """Say by what answers are judged whose numbers stand in brackets; "" without one."""
    return f"In brackets: wrong {other}." if other else ""


def by_other(bar: Bar, digits: int = 1) -> str:
    """Return the share of wrong answers by the other label in brackets; "" where there is none."""
    return "" if math.isnan(bar.other_error) else f" ({bar.other_error:.{digits}%})"
