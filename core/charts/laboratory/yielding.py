"""Why a model gives way: measures against the repetitions that turn each fact."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.charts.amplification.mechanism import head_by_head
from core.charts.laboratory.forest import forest, forest_alt, words
from core.charts.laboratory.pictures import LaboratoryPicture, PictureContent
from core.charts.theme import AUTOSIZE, Chart, Palette, contrast, ink_on, of_band, theme
from core.codec import count_of
from core.studies.laboratory.yielding import MEASURES, OF_BANDS

HEIGHT: Final = 340
HEADS_HEIGHT: Final = 190
SHAPES: Final = ("circle", "square", "triangle-up", "diamond")
SPREAD: Final = 0.13  # of ln (1 + repetitions)
TICKS: Final = (0, 1, 2, 5, 10, 20, 50, 100, 200)
WITH: Final = "rank correlation with the repetitions"


def scatter(content: PictureContent, palette: Palette, measure: str) -> Chart:
    """One measure of every fact against the repetitions that turn it."""
    most = content["most"]
    never = most * 1.8  # above all others
    data = pd.DataFrame(
        {
            "x": content["measures"][measure],
            "y": _spread([never if t is None else float(t) for t in content["turns"]]),
            "turns": ["never" if t is None else f"{t:d}" for t in content["turns"]],
            "question": content["question"],
            "band": content["band"],
        }
    )
    names = [band.value for band in OF_BANDS]
    bands = [name for name in names if name in set(data["band"])]
    colours = {name: of_band(name, palette) for name in bands}
    shapes = dict(zip(names, SHAPES, strict=True))
    legend = alt.Legend(columns=2)
    many = measure == "exposures"
    ticks: dict[str, Any] = {"values": [0, 10, 100, 1000, 10_000]} if many else {"tickCount": 6}
    points = (
        alt.Chart(data)
        .mark_point(size=46, filled=True, opacity=0.6)
        .encode(
            x=alt.X(
                "x:Q",
                title=MEASURES[measure],
                scale=alt.Scale(type="symlog" if many else "linear", zero=False, padding=8),
                axis=alt.Axis(**ticks),
            ),
            y=alt.Y(
                "y:Q",
                title="repetitions that turn it",
                scale=alt.Scale(
                    type="symlog", constant=1, domain=[0, never], nice=False, padding=14
                ),
                axis=alt.Axis(
                    values=[*(t for t in TICKS if t <= most), never],
                    labelExpr=f"datum.value > {most:d} ? 'never' : format(datum.value, 'd')",
                ),
            ),
            color=contrast(alt.Color, "band:N", colours, legend=legend),
            shape=contrast(alt.Shape, "band:N", {b: shapes[b] for b in bands}, legend=legend),
            tooltip=[
                alt.Tooltip("question:N"),
                alt.Tooltip("band:N"),
                alt.Tooltip("x:Q", format=".3f", title=MEASURES[measure]),
                alt.Tooltip("turns:N", title="repetitions"),
            ],
        )
    )
    return theme(points.properties(height=HEIGHT, autosize=AUTOSIZE), palette)


def _spread(values: Sequence[float]) -> NDArray[np.float64]:
    """Move marks of the same number a little apart, on the scale on which they are drawn."""
    apart = np.random.default_rng(0).uniform(-SPREAD, SPREAD, len(values))
    return np.asarray(np.expm1(np.log1p(values) + apart))


def scatter_alt(content: PictureContent, measure: str) -> str:
    """Say how the measure goes with the repetitions."""
    what = words("rank correlation", content["intervals"][MEASURES[measure]], "+.2f")
    return (
        f"{MEASURES[measure][0].upper()}{MEASURES[measure][1:]} of "
        f"{count_of(len(content['turns']), 'fact')} against the repetitions that turn each; {what}."
    )


def correlations(content: PictureContent, palette: Palette) -> Chart:
    """Every rank correlation with its 95% interval, that of the section first."""
    return forest(content["intervals"], WITH, [-1, 1], palette, beside=0.0, form="+.2f")


def correlations_alt(content: PictureContent) -> str:
    """Say every rank correlation with its interval."""
    return forest_alt(content["intervals"], f"{WITH.capitalize()}, 95% interval", "+.2f")


def _measurable(content: PictureContent) -> np.ndarray:
    heads = np.array(content["heads"], float)
    return heads[np.isfinite(heads)]


def heads(content: PictureContent, palette: Palette) -> Chart:
    """The rank correlation of every head's own overlap, layer by layer."""
    reach = max(0.5, float(np.abs(_measurable(content)).max(initial=0.0)))
    # Blue where the section's claim holds, orange where it is the other way.
    colours = list(reversed(palette.diverging))
    scale = alt.Scale(domain=[-reach, 0, reach], range=colours, interpolate="lab")
    ink = ink_on("correlation", reach, palette, diverging=True)
    of_heads = np.array(content["heads"], float)
    cells = head_by_head(of_heads, "correlation", scale, ink, ("+.2f", "+.2f"))
    return theme(cells.properties(height=HEADS_HEIGHT), palette)


def heads_alt(content: PictureContent) -> str:
    """Say the smallest and the largest of them."""
    measurable = _measurable(content)
    if not measurable.size:
        return "No head has a rank correlation."
    return (
        "Rank correlation of each head’s own overlap with the repetitions, "
        f"{count_of(measurable.size, 'head')}: from {measurable.min():+.2f} to "
        f"{measurable.max():+.2f}."
    )


def _of(measure: str, title: str, caption: str = "") -> LaboratoryPicture:
    return LaboratoryPicture(
        measure,
        title,
        partial(scatter, measure=measure),
        partial(scatter_alt, measure=measure),
        caption,
        there=lambda content: measure in content["measures"],
    )


PICTURES = (
    _of(
        "overlap",
        "The section’s measure",
        "Each mark is a fact; those of the same number are drawn a little apart. The large "
        "components of a head hold half of its squared singular values; the overlap is the mean "
        "over all heads.",
    ),
    LaboratoryPicture(
        "correlations",
        "What goes with the repetitions",
        correlations,
        correlations_alt,
        "With 95% intervals. If the section holds, overlap and logit are to the right of 0.",
    ),
    _of("gap", "Attention on the question against one telling"),
    _of("odds", "How sure the model is before any repetition"),
    _of("exposures", "How often training showed the fact"),
    LaboratoryPicture(
        "heads",
        "Head by head",
        heads,
        heads_alt,
        "The rank correlation of each head’s own overlap. The largest of so many proves nothing.",
        there=lambda content: bool(_measurable(content).size),
    ),
)
