"""Tables as plain text, for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

WIDEST: Final = 40  # characters of a text; files have all of it


def display(cell: Any) -> str:
    """Return a cell of a table as it is read: a true minus, no more digits than tell."""
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}".replace("-", "−")
    if isinstance(cell, float):
        return f"{cell:.4g}".replace("-", "−").replace("inf", "∞")
    return str(cell)


def table(columns: Mapping[str, Sequence[object]]) -> list[str]:
    """Return columns under their headings as lines, as wide as they have to be."""
    rows = [
        list(columns),
        *([_short(cell) for cell in row] for row in zip(*columns.values(), strict=True)),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]


def _short(cell: object) -> str:
    text = " ".join(display(cell).split())
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"
