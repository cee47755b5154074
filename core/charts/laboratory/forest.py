"""Numbers with their intervals, one below the other, each under its own words.

The words stand above what they name, not beside it, so that a telephone has room for both.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import altair as alt
import pandas as pd

from core.charts.theme import AUTOSIZE, Chart, Palette, theme
from core.codec import with_interval

ROW: Final = 44  # pixels
#: A number and the ends of its interval; None where there is none.
Ends = Sequence[float | None]
_COLUMNS = ["name", "value", "lower", "upper", "kind", "said"]


def forest(
    rows: Mapping[str, Ends],
    title: str,
    domain: Sequence[float],
    palette: Palette,
    *,
    beside: float,
    form: str = ".2f",
) -> Chart:
    """Draw numbers with their intervals, the first in a colour of its own.

    Of the rows, by the words that name them, what is None is not drawn; intervals are cut off at
    the ends of `domain`. A dashed line stands at `beside`: what says nothing, say. Numbers are
    written in a `form`.
    """
    data = pd.DataFrame(
        [
            (
                name,
                value,
                value if lower is None else lower,
                value if upper is None else upper,
                "others" if place else "first",
                words(name, (value, lower, upper), form),
            )
            for place, (name, (value, lower, upper)) in enumerate(rows.items())
            if value is not None
        ],
        columns=_COLUMNS,
    )
    row: Any = {"sort": list(rows), "axis": None, "scale": alt.Scale(padding=0)}
    scale = alt.Scale(domain=list(domain), nice=False)
    x = alt.X(
        "value:Q",
        title=title,
        scale=scale,
        axis=alt.Axis(tickCount=5, format=form.replace("2", "1")),
    )
    color = alt.Color(
        "kind:N",
        legend=None,
        scale=alt.Scale(domain=["first", "others"], range=[palette.primary, palette.muted]),
    )
    base = alt.Chart(data).encode(
        y=alt.Y("name:N", **row), tooltip=[alt.Tooltip("said:N", title="95% interval")]
    )
    layers = (
        # Beneath the words, not through them.
        base.mark_rule(color=palette.muted, strokeDash=[4, 3]).encode(
            x=alt.XDatum(beside, scale=scale),
            y=alt.Y("name:N", bandPosition=0.5, **row),
            y2=alt.Y2("name:N", bandPosition=1),
        ),
        base.mark_rule(strokeWidth=3, clip=True, opacity=0.5, yOffset=10).encode(
            x=alt.X("lower:Q", title=title, scale=scale), x2=alt.X2("upper:Q"), color=color
        ),
        base.mark_point(filled=True, size=90, opacity=1, yOffset=10).encode(x=x, color=color),
        base.mark_text(align="left", dy=-8, color=palette.text, fontSize=12).encode(
            x=alt.XValue(2), text=alt.Text("said:N")
        ),
    )
    return theme(alt.layer(*layers).properties(height=alt.Step(ROW), autosize=AUTOSIZE), palette)


def words(name: str, ends: Ends, form: str = ".2f") -> str:
    """Return a number and its interval under its name, as they are read."""
    return f"{name}: {with_interval(ends, form)}"


def forest_alt(rows: Mapping[str, Ends], what: str, form: str = ".2f") -> str:
    """Say every number with its interval."""
    return f"{what}: {'; '.join(words(name, ends, form) for name, ends in rows.items())}."
