"""Colours and Altair configuration for a light and a dark page.

The hues are Okabe and Ito's, which people with any of the common colour blindnesses can
tell apart; meaning never rests on colour alone. The page's own colours stand in
``.streamlit/config.toml`` and are the same values.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import altair as alt
import numpy as np
import pandas as pd
from altair.utils import schemapi
from numpy.typing import NDArray

from core.data.world.facts import Band

# The palettes below are all the theme there is, and a chart may have as many rows as it wants.
alt.theme.enable("none")
alt.data_transformers.disable_max_rows()
# The tests hold whole charts against the schema; part by part takes longer than all the rest.
schemapi.disable_debug_mode()
# Parts are given to `encode` as channels (``alt.Text("label:N")``, never ``"label:N"`` or
# `alt.condition`): for every other one Altair writes out and hashes its whole schema.

Channel = TypeVar("Channel", alt.Color, alt.Fill, alt.StrokeDash, alt.Shape)
Chart = alt.Chart | alt.LayerChart | alt.FacetChart

# Beside the colours of `Palette.categories`, so that no meaning rests on colour alone.
DASHES: tuple[list[int], ...] = (
    *([], [6, 3], [2, 2], [8, 3, 2, 3], [4, 1], [1, 3], [10, 4], [12, 2, 2, 2]),
)
POWERS = (0, 1, 10, 100, 1000)  # of ten, and 0, on an axis of repetitions
# As wide as its column, and as high as the plot and its legend, which may be long.
AUTOSIZE = alt.AutoSizeParams(type="fit-x", contains="padding")
# A phone has no room for “0.5 to 1.0” in one. A constant, so that no text of a person or a model is
# ever read as an expression.
IN_LINES = "split(datum.label, '\\n')"
FONT = "Inter, 'Source Sans', sans-serif"


@dataclass(frozen=True)
class Palette:
    """The colours of one theme, by what they mean."""

    background: str
    text: str
    muted: str
    grid: str
    epistemic: str
    rest: str
    primary: str
    sequential: tuple[str, ...]
    diverging: tuple[str, str, str]
    on_high: str  # text on the far end of a colour scale
    #: From which share of a sequential scale, and of either side of a diverging one, that text is
    #: read better than the usual one.
    high: tuple[float, float]
    takes: str  # what takes from M.I., as in `matrices.css`: a neutral, no answer's colour
    #: The same of `contributions`, whose two sides are not equally dark.
    high_contributions: tuple[float, float]
    zone: float  # how opaque the field of a decision is behind what stands on it, in [0, 1]
    categories: tuple[str, ...]  # one after the other; dashes tell them apart as well

    @property
    def ink(self) -> str:
        """The colour of an answer that is put into the prompt: ink, as in `common.css`."""
        return mix(self.text, self.background, 0.84)

    @property
    def quiet(self) -> str:
        """The colour of what stands beside the point, and is read on every field of a decision."""
        return mix(self.text, self.background, 0.8)

    @property
    def contributions(self) -> tuple[str, str, str]:
        """Colours of what takes from M.I., of 0, and of what adds to it: what repeats is ink."""
        return self.takes, self.diverging[1], self.ink


LIGHT = Palette(
    background="#FDFCFA",
    text="#05090E",
    muted="#5B6675",
    grid="#DEDCD5",
    epistemic="#D55E00",
    rest="#56B4E9",
    primary="#0B5FA5",
    sequential=("#F2F1EC", "#A9CCE8", "#3C86C4", "#083D6E"),
    diverging=("#0072B2", "#F2F1EC", "#D55E00"),
    on_high="#FFFFFF",
    high=(0.7, 1.0),
    takes="#B9AD95",
    high_contributions=(1.0, 0.62),
    zone=0.14,
    categories=(
        *("#0072B2", "#D55E00", "#009E73", "#CC79A7"),
        *("#8A6D00", "#56B4E9", "#5B6675", "#7A3E9D"),
    ),
)
DARK = Palette(
    background="#11181F",
    text="#E6EAEE",
    muted="#A3AEBB",
    grid="#2D3943",
    epistemic="#F08A45",
    rest="#56B4E9",
    primary="#6CB4EE",
    sequential=("#1B252E", "#1F4E79", "#3F93D6", "#D3EAFF"),
    diverging=("#56B4E9", "#1B252E", "#F08A45"),
    on_high="#11181F",
    high=(0.55, 0.6),
    takes="#9C9078",
    high_contributions=(0.7, 0.49),
    zone=0.2,
    categories=(
        *("#56B4E9", "#F08A45", "#2FBF93", "#E29BC4"),
        *("#E6C229", "#A8D5F2", "#A3AEBB", "#C3A6FF"),
    ),
)


def mix(ink: str, ground: str, share: float) -> str:
    """Return a colour between two, each like “#0B5FA5”, of which the first has this share."""
    parts = ((int(ink[i : i + 2], 16), int(ground[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02X}" for a, b in parts)


def ink_on(
    field: str, reach: float, palette: Palette, *, diverging: bool = False
) -> alt.ColorValue:
    """Return the colour of a number on a cell whose colour scale goes as far as `reach`."""
    size = f"abs(datum.{field})" if diverging else f"datum.{field}"
    high = {"test": f"{size} > {palette.high[diverging] * reach}", "value": palette.on_high}
    return alt.ColorValue(palette.text, condition=high)


def share(title: str | None, *, domain: Sequence[float] = (0, 1), **axis: Any) -> dict[str, Any]:
    """Return what makes an axis one of shares, in percent."""
    return {
        "title": title,
        "scale": alt.Scale(domain=list(domain)),
        "axis": alt.Axis(format="%", **axis),
    }


def repetitions(
    title: str, most: int, ticks: Sequence[int], form: str = "d", **scale: Any
) -> alt.X:
    """Return a logarithmic axis of repetitions, which has a place for 0 and names its end."""
    before = [t for t in ticks if math.log1p(t) < 0.9 * math.log1p(most)]
    return alt.X(
        "t:Q",
        title=title,
        scale=alt.Scale(type="symlog", constant=1, nice=False, domain=[0, most], **scale),
        axis=alt.Axis(values=[*before, most], format=form),
    )


def of_band(band: str, palette: Palette) -> str:
    """Return a band's colour: from blue, by heart, to grey, never seen; green for many answers."""
    return {
        Band.BY_HEART.value: palette.primary,
        Band.HALF_KNOWN.value: palette.categories[3],
        Band.RARELY.value: palette.categories[4],
        Band.NEVER_SEEN.value: palette.muted,
    }.get(band, palette.categories[2])


def by(field: str) -> alt.EncodingSortField:
    """Order an axis by a number: a list of the texts would become part of an expression."""
    return alt.EncodingSortField(field, op="min")


def pairs(names: Sequence[str], tables: Mapping[str, NDArray[np.float64]]) -> pd.DataFrame:
    """Return a row for every pair of answers, with its place in the tables and what is there."""
    m = len(names)
    return pd.DataFrame(
        {
            "row": np.repeat(np.arange(m), m),
            "column": np.tile(np.arange(m), m),
            "first": [name for name in names for _ in range(m)],
            "second": [*names] * m,
            **{name: table.ravel() for name, table in tables.items()},
        }
    )


def contrast(
    channel: type[Channel], field: str, looks: Mapping[str, Any], **legend: Any
) -> Channel:
    """Return an encoding that tells parts apart by their looks, given by the name of the part."""
    scale = alt.Scale(domain=list(looks), range=list(looks.values()))
    return channel(field, title=None, scale=scale, **legend)


def lines_apart(
    field: str, colours: Mapping[str, str], dashes: Mapping[str, Sequence[int]], **legend: Any
) -> tuple[alt.Color, alt.StrokeDash]:
    """Return what tells lines apart, their colours and their dashes, with one legend of both."""
    # The same for both channels, or there would be a legend for each.
    strokes = alt.Legend(
        symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=2, symbolSize=300, **legend
    )
    return (
        contrast(alt.Color, field, colours, legend=strokes),
        contrast(alt.StrokeDash, field, dashes, legend=strokes),
    )


def across(y: alt.Y, value: float, name: str, palette: Palette) -> list[alt.Chart]:
    """Return a dashed line across, which stands for one value, with its name."""
    at = alt.Chart(pd.DataFrame({y.shorthand.split(":")[0]: [value]}))
    text = at.mark_text(align="left", dx=4, dy=-7, color=palette.text, fontSize=12)
    return [
        at.mark_rule(color=palette.muted, strokeDash=[4, 3]).encode(y=y),
        text.encode(x=alt.XValue(0), y=y, text=alt.TextValue(name)),
    ]


def theme(chart: Chart, palette: Palette) -> Chart:
    """Give a finished chart the palette's configuration."""
    return chart.configure(
        # A chart has one sentence for those who cannot see it, and a table behind it.
        mark=alt.MarkConfig(aria=False),
        background=palette.background,
        font=FONT,
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(
            labelColor=palette.text,
            titleColor=palette.muted,
            titleFontWeight="normal",
            gridColor=palette.grid,
            domainColor=palette.grid,
            tickColor=palette.grid,
            labelFontSize=12,
            labelFlush=False,  # each number stands beneath its tick
            labelSeparation=6,
            titleFontSize=12,
        ),
        legend=alt.LegendConfig(
            labelColor=palette.text,
            titleColor=palette.muted,
            titleFontWeight="normal",
            orient="bottom",
            labelFontSize=12,
            labelLimit=260,
        ),
        title=alt.TitleConfig(
            color=palette.text,
            fontSize=14,
            fontWeight="bold",
            anchor="start",
            subtitleColor=palette.muted,
        ),
    )
