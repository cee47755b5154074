"""Lines that are named where they end, none on top of another."""

import itertools
import math
import textwrap
from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from core.charts.theme import Palette

ROOM = 132  # pixels for the names
APART = 15  # pixels a line of a name
LINE = 16  # characters of such a line: what a card has room for


def same_word(names: Sequence[str]) -> int:
    """Return how long the word is that all names begin with, which tells none apart; 0 if none."""
    first = {name.partition(" ")[:2] for name in names}
    return len("".join(*first)) if len(first) == 1 < len(names) else 0


def before_names(room: int = ROOM) -> list[Any]:
    """Return the range of an axis that leaves room behind its end.

    It is a part of the width, so that a telephone keeps some for the lines.
    """
    return [0, alt.ExprRef(f"width - {_room(room)}")]


def _room(room: int) -> str:
    return f"min({room}, 0.46 * width)"


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
    line: int = LINE,
    logarithmic: bool = False,
) -> list[Any]:
    """Name lines where they end, with a dot of their colour, none on top of another.

    `ends` are the names, in lines, the last values, and what the colours go by. All lines end at
    `most`, of the field of `x`; `domain` is of the axis of `y`, which may be logarithmic. A line of
    a name is broken at `line` characters.
    """
    named = [
        ([part for own in name.split("\n") for part in textwrap.wrap(own, line)], float(value), key)
        for name, value, key in ends
        if value is not None
    ]
    to, back = (math.log, math.exp) if logarithmic else (float, float)
    low, high = to(domain[0]), to(domain[1])
    a_line = (high - low) * APART / height
    sizes = [a_line * len(lines) for lines, _, _ in named]
    at = apart([to(value) for _, value, _ in named], sizes, low, high, a_line)
    fields = [each.shorthand.split(":")[0] for each in (x, y, colour)]
    rows = [
        (most, back(where), key, "\n".join(lines), len(lines))
        for (lines, _, key), where in zip(named, at, strict=True)
    ]
    data = pd.DataFrame(rows, columns=[*fields, "label", "lines"])
    layers = [
        alt.Chart(data)
        .mark_point(filled=True, size=45, opacity=1, xOffset=12)
        .encode(x=x, y=y, color=colour)
    ]
    for number in sorted({len(lines) for lines, _, _ in named}):
        names = alt.Chart(data[data["lines"] == number]).mark_text(
            align="left",
            baseline="middle",
            dx=20,
            dy=-(number - 1) * APART / 2,  # the first line stands at the place
            lineBreak="\n",
            lineHeight=APART,
            fontSize=12,
            limit=alt.ExprRef(f"{_room(room)} - 22"),
            color=palette.text,
        )
        layers.append(names.encode(x=x, y=y, text=alt.Text("label:N")))
    return layers


def apart(
    values: Sequence[float], sizes: Sequence[float], low: float, high: float, out: float
) -> list[float]:
    """Move things of these sizes, within limits, as little as keeps each off the others.

    Half of `out` of a thing may lie beyond a limit.
    """
    order = sorted(range(len(values)), key=lambda i: values[i])
    inside = [max(0.0, size - out) / 2 for size in sizes]
    gaps = [(sizes[i] + sizes[j]) / 2 for i, j in itertools.pairwise(order)]
    room = high - low - sum(inside[i] for i in (*order[:1], *order[-1:]))
    fit = min(1.0, room / (sum(gaps) or 1.0))
    placed: list[float] = []
    for i, gap in zip(order, [0.0, *gaps], strict=False):
        placed.append(max(values[i], low + inside[i], *(p + gap * fit for p in placed[-1:])))
    top = high
    for k in reversed(range(len(placed))):
        placed[k] = min(placed[k], top, high - inside[order[k]])
        top = placed[k] - (gaps[k - 1] * fit if k else 0.0)
    return [placed[order.index(i)] for i in range(len(values))]
