"""Lines that are named where they end, none on top of another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from core.charts.theme import Palette

ROOM = 112  # pixels for the names
APART = 15  # pixels between two of them


def before_names(room: int = ROOM) -> list[Any]:
    """Return the range of an axis that leaves room behind its end.

    It is a part of the width, so that a telephone keeps some for the lines.
    """
    return [0, alt.ExprRef(f"width - {_room(room)}")]


def _room(room: int) -> str:
    return f"min({room}, 0.4 * width)"


def ends_of_lines(
    ends: Sequence[tuple[str, float | None, str]],
    most: float,
    x: alt.X,
    y: alt.Y,
    colour: alt.Color,
    domain: tuple[float, float],
    height: int,
    palette: Palette,
    *,
    room: int = ROOM,
    logarithmic: bool = False,
) -> list[Any]:
    """Name lines where they end, with a dot of their colour, none on top of another.

    Parameters
    ----------
    ends : sequence of tuple
        The names, the last values, and what the colours go by.
    most : float
        Where all lines end, of the field of `x`.
    domain : (float, float)
        Of the axis of `y`.
    logarithmic : bool
        Whether that axis is.
    """
    named = [(name, float(value), key) for name, value, key in ends if value is not None]
    to, back = (math.log, math.exp) if logarithmic else (float, float)
    low, high = to(domain[0]), to(domain[1])
    at = apart([to(value) for _, value, _ in named], (high - low) * APART / height, low, high)
    fields = [each.shorthand.split(":")[0] for each in (x, y, colour)]
    rows = [(most, back(where), key, name) for (name, _, key), where in zip(named, at, strict=True)]
    base = alt.Chart(pd.DataFrame(rows, columns=[*fields, "label"])).encode(x=x, y=y)
    dots = base.mark_point(filled=True, size=45, opacity=1, xOffset=12).encode(color=colour)
    limit = alt.ExprRef(f"{_room(room)} - 22")
    names = base.mark_text(
        align="left", baseline="middle", dx=20, fontSize=12, limit=limit, color=palette.text
    )
    return [dots, names.encode(text=alt.Text("label:N"))]


def apart(values: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move values as little as it takes for no two to be nearer than `gap`, within limits."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    gap = min(gap, (high - low) / max(len(values) - 1, 1))
    placed: list[float] = []
    for i in order:
        placed.append(max(values[i], low, *(p + gap for p in placed[-1:])))
    top = high
    for k in reversed(range(len(placed))):
        placed[k] = min(placed[k], top)
        top = placed[k] - gap
    return [placed[order.index(i)] for i in range(len(values))]
