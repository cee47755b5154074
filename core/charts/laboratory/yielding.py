"""Charts of why a model gives way: a measure against the repetitions that turn each fact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import altair as alt
import numpy as np
import pandas as pd

from core.abstention.intervals import Interval
from core.charts.laboratory.forest import forest, forest_alt, words
from core.charts.theme import Chart, Palette, themed, told_apart
from core.codec import counted
from core.studies.laboratory.yielding import MEASURES, OF_BANDS, Yielding

HEIGHT: Final = 360
HEADS_HEIGHT: Final = 190
SHAPES: Final = ("circle", "square", "triangle-up", "diamond")
TICKS: Final = (0, 1, 2, 5, 10, 20, 50, 100, 200)
#: What a measure is called at an axis.
AXES: Final = {
    "overlap": "overlap with the large components",
    "every_token": "overlap, all tokens of the question",
    "logit": "logit through the large components",
    "gap": "attention gap, nats",
    "exposures": "times that training showed it",
    "odds": "log-odds before any repetition, nats",
}


def measures(found: Yielding) -> list[str]:
    """Return the measures that can be drawn of this model."""
    return list(found.correlations)


def scatter(found: Yielding, measure: str, palette: Palette) -> Chart:
    """One measure of every fact against the repetitions that turn it."""
    most = found.settings.most
    never = most * 1.8
    turned = [row.repetitions for row in found.rows]
    data = pd.DataFrame(
        {
            "x": found.of(measure),
            "y": [never if t is None else float(t) for t in turned],
            "turns": ["never" if t is None else f"{t}" for t in turned],
            "question": [row.question for row in found.rows],
            "band": [row.band for row in found.rows],
        }
    )
    bands = [band.value for band in OF_BANDS if band.value in set(data["band"])]
    colours = (palette.primary, palette.categories[2], palette.categories[4], palette.epistemic)
    looks = dict(zip([band.value for band in OF_BANDS], colours, strict=True))
    shapes = dict(zip([band.value for band in OF_BANDS], SHAPES, strict=True))
    legend = alt.Legend(columns=2)
    symlog = measure == "exposures"
    points = (
        alt.Chart(data)
        .mark_point(size=46, filled=True, opacity=0.6)
        .encode(
            x=alt.X(
                "x:Q",
                title=AXES[measure],
                scale=alt.Scale(type="symlog" if symlog else "linear", zero=False, padding=8),
                axis=alt.Axis(
                    **({"values": [0, 10, 100, 1000, 10000]} if symlog else {"tickCount": 6})
                ),
            ),
            y=alt.Y(
                "y:Q",
                title="repetitions that turn it",
                scale=alt.Scale(
                    type="symlog", constant=1, domain=[0, never], nice=False, padding=10
                ),
                axis=alt.Axis(
                    values=[*(t for t in TICKS if t <= most), never],
                    labelExpr=f"datum.value > {most} ? 'never' : format(datum.value, 'd')",
                ),
            ),
            color=told_apart(alt.Color, "band:N", {b: looks[b] for b in bands}, legend=legend),
            shape=told_apart(alt.Shape, "band:N", {b: shapes[b] for b in bands}, legend=legend),
            tooltip=[
                alt.Tooltip("question:N"),
                alt.Tooltip("band:N"),
                alt.Tooltip("x:Q", format=".3f", title=AXES[measure]),
                alt.Tooltip("turns:N", title="repetitions"),
            ],
        )
    )
    return themed(points.properties(height=HEIGHT), palette)


def scatter_alt(found: Yielding, measure: str) -> str:
    """Say how the measure goes with the repetitions."""
    what = words("rank correlation", found.correlations[measure], "+.2f")
    return (
        f"{MEASURES[measure].capitalize()} of {counted(len(found.rows), 'fact')} against the "
        f"repetitions that turn each; {what}."
    )


def intervals(found: Yielding) -> dict[str, Interval]:
    """Return every rank correlation with the repetitions, in words."""
    rows = {AXES[name]: one for name, one in found.correlations.items()}
    rows["overlap, within relations"] = found.within
    return rows | {
        f"overlap, {band} ({facts:,})": one for band, (facts, one) in found.by_band.items()
    }


def correlations(found: Yielding, palette: Palette) -> Chart:
    """Every rank correlation with its 95% interval, that of the section first."""
    rows = intervals(found)
    title = "rank correlation with the repetitions"
    return forest(rows, title, [-1, 1], palette, beside=0.0, sign="+")


def correlations_alt(found: Yielding) -> str:
    """Say every rank correlation with its interval."""
    rows: Mapping[str, Interval] = intervals(found)
    return forest_alt(rows, "Rank correlation with the repetitions, 95% interval", "+")


def heads(found: Yielding, palette: Palette) -> Chart:
    """The rank correlation of every head's own overlap, layer by layer."""
    rows = [
        (int(layer) + 1, int(head) + 1, float(value))
        for (layer, head), value in np.ndenumerate(found.heads)
        if np.isfinite(value)
    ]
    data = pd.DataFrame(rows, columns=["layer", "head", "correlation"])
    reach = max(0.5, float(np.nanmax(np.abs(found.heads), initial=0.0)))
    base = alt.Chart(data).encode(
        x=alt.X("head:O", axis=alt.Axis(labelAngle=0, ticks=False, domain=False)),
        y=alt.Y("layer:O", axis=alt.Axis(ticks=False, domain=False)),
    )
    cells = base.mark_rect().encode(
        color=alt.Color(
            "correlation:Q",
            scale=alt.Scale(
                # Blue where the section's claim holds, orange where it is the other way.
                domain=[-reach, 0, reach],
                range=list(reversed(palette.diverging)),
                interpolate="lab",
            ),
            legend=None,
        ),
        tooltip=[
            alt.Tooltip("layer:O"),
            alt.Tooltip("head:O"),
            alt.Tooltip("correlation:Q", format="+.2f"),
        ],
    )
    strong = f"abs(datum.correlation) > {0.7 * reach:.3f}"
    numbers = base.mark_text().encode(
        text=alt.Text("correlation:Q", format="+.2f"),
        color=alt.ColorValue(palette.text, condition={"test": strong, "value": palette.on_high}),
    )
    return themed((cells + numbers).properties(height=HEADS_HEIGHT), palette)


def heads_alt(found: Yielding) -> str:
    """Say the smallest and the largest of them."""
    known = found.heads[np.isfinite(found.heads)]
    if not known.size:
        return "No head has a rank correlation."
    return (
        f"Rank correlation of each head’s own overlap with the repetitions, "
        f"{counted(known.size, 'head')}: from {known.min():+.2f} to {known.max():+.2f}."
    )
