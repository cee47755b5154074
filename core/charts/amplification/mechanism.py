"""Charts of the mechanism: an idealised head as a statement is repeated, and real heads."""

import math
from collections.abc import Mapping

import altair as alt
import numpy as np
import pandas as pd

from core.charts.amplification.curves import MARKED, crosshair
from core.charts.theme import POWERS, Chart, Palette, contrast, ink_on, repetitions, share, theme
from core.studies.amplification.mechanism import PromptAttention
from core.uncertainty.attention import HeadRepetition

HEIGHT = 260
TIMES = alt.Tooltip("t:Q", title="repetitions", format=",d")
TOOLTIP = [alt.Tooltip("which:N"), TIMES, alt.Tooltip("share:Q", format=".2%")]
ON_QUESTION, ON_ANSWER = "the question", "the answer in the prompt"


def weights(looks: HeadRepetition, palette: Palette) -> Chart:
    """Softmax weight on X against the total on the copies of Y; circles are the closed form."""
    lines = {"on the query X": looks.on_query, "on all copies of Y": looks.on_copies}
    x, y = _copies(looks), alt.Y("share:Q", **share("attention"))
    colours = dict(zip(lines, (palette.primary, palette.ink), strict=True))
    dashes = dict(zip(lines, ([1, 0], [6, 3]), strict=True))
    base = alt.Chart(_long(looks, lines)).encode(x=x, y=y)
    curves = base.mark_line(size=3).encode(
        color=contrast(alt.Color, "which:N", colours, legend=alt.Legend(columns=1)),
        strokeDash=contrast(alt.StrokeDash, "which:N", dashes),
    )
    some = slice(None, None, math.ceil(len(looks.repetitions) / MARKED))
    formula = pd.DataFrame({"t": looks.repetitions[some], "share": looks.closed_form[some]})
    circles = alt.Chart(formula).mark_point(color=palette.text, size=45).encode(x=x, y=y)
    near = crosshair(alt.Chart(_long(looks, lines)), x, y, ["which", "t"], TOOLTIP, palette)
    return theme(alt.layer(curves, circles, *near).properties(height=HEIGHT), palette)


def outputs(looks: HeadRepetition, palette: Palette) -> Chart:
    """The output's shares of the in-weight and of the in-context answer, one on the other."""
    parts = {
        "in-context: stated by Y": looks.in_context,
        "in-weight: learnt for X": looks.in_weight,
    }
    colours = dict(zip(parts, (palette.ink, palette.primary), strict=True))
    base = alt.Chart(_long(looks, parts)).encode(x=_copies(looks), tooltip=TOOLTIP)
    areas = base.mark_area(opacity=0.85).encode(
        y=alt.Y(
            "share:Q",
            title="share of the output",
            scale=alt.Scale(domain=[0, 1], clamp=True),
            axis=alt.Axis(format="%"),
        ),
        order=alt.Order("which:N", sort="descending"),
        color=contrast(alt.Color, "which:N", colours, legend=alt.Legend(columns=1)),
    )
    return theme(areas.properties(height=HEIGHT), palette)


def _long(looks: HeadRepetition, lines: Mapping[str, np.ndarray]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"t": int(t), "share": float(share), "which": which}
            for which, shares in lines.items()
            for t, share in zip(looks.repetitions, shares, strict=True)
        ]
    )


def _copies(looks: HeadRepetition) -> alt.X:
    return repetitions("repetitions of Y", int(looks.repetitions[-1]), POWERS, ",d")


def heads(looking: PromptAttention, which: str, palette: Palette) -> Chart:
    """Every head's attention on one part of the prompt, layer by layer."""
    shares = looking.on_question if which == ON_QUESTION else looking.on_answer
    # One scale for every picture, so that they can be compared.
    scale = alt.Scale(domain=[0, 1], range=list(palette.sequential), interpolate="lab")
    ink = ink_on("attention", 1.0, palette)
    cells = head_by_head(shares, "attention", scale, ink, (".1%", ".0%"))
    return theme(cells.properties(height=170), palette)


def head_by_head(
    values: np.ndarray, name: str, scale: alt.Scale, ink: alt.ColorValue, forms: tuple[str, str]
) -> alt.LayerChart:
    """Return a cell with its number for each head, (layers, heads), where it is no NaN.

    `forms` say how the number is written under the pointer, and in the cell.
    """
    rows = [(i + 1, j + 1, v) for (i, j), v in np.ndenumerate(values) if not np.isnan(v)]
    base = alt.Chart(pd.DataFrame(rows, columns=["layer", "head", name])).encode(
        x=alt.X("head:O", axis=alt.Axis(labelAngle=0, ticks=False, domain=False)),
        y=alt.Y("layer:O", axis=alt.Axis(ticks=False, domain=False)),
    )
    under_pointer, in_cell = forms
    number = alt.Tooltip(f"{name}:Q", format=under_pointer)
    cells = base.mark_rect().encode(
        color=alt.Color(f"{name}:Q", scale=scale, legend=None),
        tooltip=[alt.Tooltip("layer:O"), alt.Tooltip("head:O"), number],
    )
    return cells + base.mark_text().encode(text=alt.Text(f"{name}:Q", format=in_cell), color=ink)
