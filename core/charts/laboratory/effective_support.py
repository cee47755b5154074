"""The paper's Figure 7: over questions, what draws miss and what the found answers hold."""

import math
from functools import partial

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.charts.laboratory.pictures import LaboratoryPicture, PictureContent, powers
from core.charts.theme import Chart, Palette, share, theme

BINS = 20
HEIGHT = 240
TITLES = {
    "high": "U at most: what k draws miss",
    "missing": "Ũ: what they miss of the answers found",
    "mass": "P(X̃): what the answers found hold",
}
#: The cumulative curve of a quantity of which more is better falls, as in the paper.
SURVIVAL = ("mass",)


def histogram(content: PictureContent, palette: Palette, name: str) -> Chart:
    """The distribution of one quantity over questions, with its cumulative curve."""
    values = np.array(content[name], float)
    ends = _ends(values)
    counts, edges = np.histogram(values, BINS, ends)
    bars = pd.DataFrame({"low": edges[:-1], "high": edges[1:], "questions": counts / len(values)})
    ordered = np.sort(values)
    # One step a question: the share of questions with no more, or with more.
    below = np.arange(1, len(values) + 1) / len(values)
    at = np.concatenate([[ends[0]], ordered, [ends[1]]])
    shares = np.concatenate([[0.0], below, [1.0]])
    if name in SURVIVAL:
        shares = 1 - shares
    steps = pd.DataFrame({"value": at, "share": shares})
    x = share(TITLES[name], domain=ends, tickCount=5)
    y = share("share of questions", tickCount=5)
    histogram = (
        alt.Chart(bars)
        .mark_bar(color=palette.rest, opacity=0.75)
        .encode(
            x=alt.X("low:Q", **x),
            x2=alt.X2("high:Q"),
            y=alt.Y("questions:Q", **y),
            y2=alt.Y2Datum(0),
            tooltip=[
                alt.Tooltip("low:Q", format=".0%", title="from"),
                alt.Tooltip("high:Q", format=".0%", title="to"),
                alt.Tooltip("questions:Q", format=".1%", title="questions"),
            ],
        )
    )
    line = (
        alt.Chart(steps)
        .mark_line(interpolate="step-after", color=palette.text, strokeWidth=2)
        .encode(x=alt.X("value:Q", **x), y=alt.Y("share:Q", **y))
    )
    return theme(alt.layer(histogram, line).properties(height=HEIGHT), palette)


def _ends(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the part of [0, 1] that holds all values, in steps of a twentieth."""
    low, high = math.floor(20 * values.min()) / 20, math.ceil(20 * values.max()) / 20
    return (low, high) if high > low else (max(0.0, low - 0.05), min(1.0, low + 0.05))


def histogram_alt(content: PictureContent, name: str) -> str:
    """Say the quantiles of one quantity."""
    low, middle, high = np.quantile(content[name], [0.1, 0.5, 0.9])
    return (
        f"{TITLES[name]}: the median over questions is {middle:.1%}, a tenth is below {low:.1%} "
        f"and a tenth above {high:.1%}."
    )


def sizes(content: PictureContent, palette: Palette) -> Chart:
    """How many answers were found beside what they hold."""
    data = pd.DataFrame({"answers": content["answers"], "mass": content["mass"]})
    ends = _ends(data["mass"].to_numpy())
    points = (
        alt.Chart(data)
        .mark_point(size=60, filled=True, opacity=0.6, color=palette.primary)
        .encode(
            x=alt.X(
                "answers:Q",
                title="answers found",
                scale=alt.Scale(type="log", nice=False),
                axis=alt.Axis(values=powers(1, max(content["answers"])), format="d"),
            ),
            y=alt.Y("mass:Q", **share("P(X̃)", domain=ends, tickCount=5)),
            tooltip=[alt.Tooltip("answers:Q"), alt.Tooltip("mass:Q", format=".1%", title="P(X̃)")],
        )
    )
    return theme(points.properties(height=HEIGHT), palette)


def sizes_alt(content: PictureContent) -> str:
    """Say how many answers were found."""
    answers = np.array(content["answers"])
    return (
        f"Between {answers.min():,} and {answers.max():,} answers were found to a question, "
        f"{np.median(answers):,.0f} in the median."
    )


def _of(name: str, title: str, caption: str) -> LaboratoryPicture:
    chart, words = partial(histogram, name=name), partial(histogram_alt, name=name)
    return LaboratoryPicture(name, title, chart, words, caption)


PICTURES = (
    _of(
        "high",
        "What k draws miss, at most",
        "Bars: questions. Line: the share of questions with no more.",
    ),
    _of("missing", "… of the answers found", "Line: the share of questions with no more."),
    _of("mass", "What the answers found hold", "Line: the share of questions with more."),
    LaboratoryPicture(
        "sizes", "How many answers that takes", sizes, sizes_alt, "A point a question."
    ),
)
