"""Numbers with their intervals, one below the other, each under its own words.

The words stand above what they name, not beside it, so that a telephone has room for both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from core.abstention.intervals import Interval
from core.charts.theme import Chart, Palette, themed

ROW = 44  # pixels
_COLUMNS = ["name", "value", "lower", "upper", "kind", "said"]


def forest(
    rows: Mapping[str, Interval],
    title: str,
    domain: Sequence[float],
    palette: Palette,
    *,
    beside: float,
    first: int = 1,
    sign: str = "",
) -> Chart:
    """Draw numbers with their intervals.

    Parameters
    ----------
    rows : mapping of str to Interval
        By the words that name them. NaN is not drawn: an interval alone, or the whole row.
    domain : sequence of float
        Of the axis; intervals are cut off there.
    beside : float
        Where a dashed line stands: what says nothing, say.
    first : int
        How many rows are in colour, those that the others are beside.
    sign : str
        ``"+"`` where every number is written with its sign.
    """
    form = f"{sign}.2f"
    data = pd.DataFrame(
        [
            (
                name,
                one.value,
                *((one.value,) * 2 if math.isnan(one.lower) else (one.lower, one.upper)),
                "first" if place < first else "others",
                words(name, one, form),
            )
            for place, (name, one) in enumerate(rows.items())
            if not math.isnan(one.value)
        ],
        columns=_COLUMNS,
    )
    y = alt.Y("name:N", sort=list(rows), axis=None, scale=alt.Scale(padding=0))
    x = alt.X(
        "value:Q",
        title=title,
        scale=alt.Scale(domain=list(domain), nice=False),
        axis=alt.Axis(tickCount=5, format=f"{sign}.1f"),
    )
    color = alt.Color(
        "kind:N",
        legend=None,
        scale=alt.Scale(domain=["first", "others"], range=[palette.epistemic, palette.primary]),
    )
    base = alt.Chart(data).encode(y=y, tooltip=[alt.Tooltip("said:N", title="95% interval")])
    down = {"yOffset": 10}
    layers = (
        alt.Chart(pd.DataFrame({"at": [beside]}))
        .mark_rule(color=palette.muted, strokeDash=[4, 3])
        .encode(x=alt.X("at:Q")),
        base.mark_rule(strokeWidth=3, clip=True, opacity=0.5, **down).encode(
            x=alt.X("lower:Q", title=title), x2=alt.X2("upper:Q"), color=color
        ),
        base.mark_point(filled=True, size=90, opacity=1, **down).encode(x=x, color=color),
        base.mark_text(align="left", dy=-8, color=palette.text, fontSize=12).encode(
            x=alt.XValue(2), text=alt.Text("said:N")
        ),
    )
    return themed(alt.layer(*layers).properties(height=alt.Step(ROW)), palette)


def words(name: str, one: Interval, form: str = ".2f") -> str:
    """Return a number and its interval as they are read."""
    if math.isnan(one.value):
        return f"{name}: undefined"
    if math.isnan(one.lower):
        return f"{name}: {one.value:{form}}"
    return f"{name}: {one.value:{form}} ({one.lower:{form}} to {one.upper:{form}})"


def forest_alt(rows: Mapping[str, Interval], what: str, sign: str = "") -> str:
    """Say every number with its interval."""
    return f"{what}: {'; '.join(words(name, one, f'{sign}.2f') for name, one in rows.items())}."
