"""What a picture of an experiment is, and the one kind that most of them are: curves over k."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import altair as alt
import numpy as np
import pandas as pd

from core.charts.line_labels import before_names, ends_of_lines
from core.charts.theme import DASHES, Chart, Palette, contrast, lines_apart, theme
from core.studies.laboratory.settings import always

PictureContent = Mapping[str, Any]
HEIGHT: Final = 300
AXIS: Final = 50  # pixels of it that the axis below takes
#: Of a legend: on a phone, the names of two would be cut off.
COLUMNS: Final = "width < 350 ? 1 : 2"
NAME_ROOM: Final = 190  # pixels for the names at the ends of the lines


@dataclass(frozen=True)
class LaboratoryPicture:
    """A picture of an experiment."""

    # name, title, caption: of its file, above it, and below it; title and caption are read as
    # Markdown.
    name: str
    title: str
    chart: Callable[[PictureContent, Palette], Chart]  # Given `Outcome.drawn` and a palette
    alt: Callable[
        [PictureContent], str
    ]  # says the same in a sentence or two, given `Outcome.drawn`
    caption: str = ""
    # Whether there is anything to draw, given `Outcome.drawn`.
    there: Callable[[PictureContent], bool] = always
    wide: bool = False  # whether it takes all of the width; of others, two stand side by side


@dataclass(frozen=True)
class CurveColumns:
    """A line over k, with a band where there are several samples."""

    middle: Sequence[float | None]
    # low, high: the band; without one, the line itself.
    low: Sequence[float | None] | None = None
    high: Sequence[float | None] | None = None


def curves(
    k: Sequence[float],
    by_name: Mapping[str, CurveColumns],
    palette: Palette,
    *,
    x: str = "number of draws k",
    y: alt.Y,
    exact: float | None = None,
    places: Sequence[str] = (),
    ends: tuple[float, float] | None = None,
    muted: Sequence[str] = (),
    height: int = HEIGHT,
    room: int = NAME_ROOM,
) -> Chart:
    """Draw curves over k, each named at its end, and the exact value across.

    `y`: of the field `middle`.
    `exact`: drawn as a dashed line, named in the legend by nobody: the caption says what it is.
    `places`: all names that there may be, so that each looks the same whichever others are drawn.
    `ends`: of the axis: lines end there, and bands are cut off. (Vega cuts off itself, but not anew
    where the width of the page changes.)
    `muted`: names of those that are there to compare with: grey.
    `room`: pixels for the names at the ends; with none, they stand in a legend above.
    """
    frames = [
        pd.DataFrame(
            {
                "k": k,
                "name": name,
                "middle": np.array(curve.middle, float),
                "low": np.array(curve.low or curve.middle, float),
                "high": np.array(curve.high or curve.middle, float),
            }
        )
        for name, curve in by_name.items()
    ]
    data = pd.concat(frames)
    if ends is not None:
        data["middle"] = data["middle"].where(data["middle"].between(*ends))
        data[["low", "high"]] = data[["low", "high"]].clip(*ends)
    order = list(places) or list(by_name)
    at = {name: order.index(name) for name in by_name}
    colours = {n: palette.categories[i % len(palette.categories)] for n, i in at.items()}
    colours |= dict.fromkeys(muted, palette.muted)
    dashes = {n: DASHES[i % len(DASHES)] for n, i in at.items()}
    if room:
        color = contrast(alt.Color, "name:N", colours, legend=None)
        dash = contrast(alt.StrokeDash, "name:N", dashes, legend=None)
    else:
        color, dash = lines_apart("name:N", colours, dashes, orient="top", columns=2)
    across = alt.X(
        "k:Q",
        title=x,
        scale=alt.Scale(type="log", nice=False, range=before_names(room)),
        axis=alt.Axis(
            values=powers(min(k), max(k)),
            format="~s",
            labelExpr="replace(datum.label, 'G', 'B')",  # a billion, not a giga
        ),
    )
    tooltip = [
        alt.Tooltip("name:N", title=" "),
        alt.Tooltip("k:Q", format=",d"),
        *(alt.Tooltip(f"{name}:Q", format=".4~g") for name in ("low", "middle", "high")),
    ]
    base = alt.Chart(data.dropna(subset=["middle"]))
    bands = alt.Chart(data.dropna(subset=["low", "high"]))
    layers: list[alt.Chart] = [
        bands.mark_area(opacity=0.15, clip=True).encode(
            x=across, y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), color=color
        ),
        base.mark_line(clip=True, strokeWidth=2).encode(
            x=across, y=y, color=color, strokeDash=dash
        ),
        base.mark_point(clip=True, size=90, opacity=0).encode(x=across, y=y, tooltip=tooltip),
    ]
    if exact is not None:
        layers.append(
            alt.Chart(pd.DataFrame({"exact": [exact], "k": [min(k)], "end": [max(k)]}))
            .mark_rule(color=palette.text, strokeDash=[6, 4], strokeWidth=1.5, clip=True)
            .encode(x=across, x2=alt.X2("end:Q"), y=alt.Y("exact:Q"))
        )
    if room:
        last = data.dropna(subset=["middle"]).groupby("name", sort=False)["middle"].last()
        axis: Any = y.to_dict()
        scale = axis["scale"]
        layers += ends_of_lines(
            [(str(name), float(value), str(name)) for name, value in last.items()],
            *(max(k), across, y, color, scale["domain"], height - AXIS, palette),
            room=room,
            logarithmic=scale.get("type") == "log",
        )
    return theme(alt.layer(*layers).properties(height=height), palette)


def powers(low: float, high: float) -> list[float]:
    """Return the powers of ten for the ticks of an axis, at most ten; 2 and 5 between a few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    step = math.ceil((last - first + 1) / 10)
    parts = (1, 2, 5) if last - first <= 3 else (1,)
    ticks = [n * 10.0**e for e in range(first, last + 1, step) for n in parts]
    return [tick for tick in ticks if low <= tick <= high]


def on_logarithms(title: str, low: float, high: float, form: str = ".1~g") -> alt.Y:
    """Return a logarithmic axis of the field `middle`."""
    return alt.Y(
        "middle:Q",
        title=title,
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(values=powers(low, high), format=form),
    )


def between(ends: Sequence[float], title: str = "nats", ticks: int = 6) -> alt.Y:
    """Return an axis of the field `middle` from the one end to the other."""
    scale = alt.Scale(domain=list(ends), nice=False)
    return alt.Y("middle:Q", title=title, scale=scale, axis=alt.Axis(tickCount=ticks))


def values_of(by_name: Mapping[str, CurveColumns]) -> list[float]:
    """Return everything that is drawn, for the ends of an axis."""
    return [
        value
        for curve in by_name.values()
        for part in (curve.middle, curve.low or (), curve.high or ())
        for value in part
        if value is not None
    ]
