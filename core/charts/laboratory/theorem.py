"""Theorem 4.5 question by question: D against I, its slack, what is lost, and what breaks it."""

from functools import partial
from typing import Final

import altair as alt
import pandas as pd

from core.charts.laboratory.pictures import COLUMNS, LaboratoryPicture, PictureContent
from core.charts.theme import Chart, Palette, contrast, of_band, theme
from core.studies.questions import BANDS

HEIGHT: Final = 360
SHAPES: Final = ("circle", "square", "triangle-up", "diamond", "cross")
PARTS: Final = {"information": "I(Q̃)", "first_slack": "D(Q̃₁, P)", "second_slack": "D(Q̃₂, P)"}
WAYS: Final = {
    "information": "all pairs of texts",
    "clustered": "clustered",
    "sampled": "k drawn answers",
    "sampled_clustered": "both",
}


def scatter(content: PictureContent, palette: Palette, against: str, title: str) -> Chart:
    """D against I, question by question; on the diagonal both are equal."""
    points = content["points"]
    data = pd.DataFrame({**points, "depends": ["yes" if d else "no" for d in points["depends"]]})
    data = data.dropna(subset=[against])
    right = max([*data["information"], 0.1]) * 1.05
    top = max([right, *(1.05 * data[against])])
    legend = alt.Legend(columns=alt.ExprRef(COLUMNS), symbolOpacity=1)
    colours = {band: of_band(band, palette) for band in BANDS}
    shapes = dict(zip(BANDS, SHAPES, strict=False))
    across, up = (alt.Scale(domain=[0, most], nice=False) for most in (right, top))
    tick = alt.Axis(tickCount=6)
    marks = (
        alt.Chart(data)
        .mark_point(size=45, filled=True, opacity=0.7)
        .encode(
            x=alt.X("information:Q", title="I(Q̃), nats", scale=across, axis=tick),
            y=alt.Y(f"{against}:Q", title=title, scale=up, axis=tick),
            color=contrast(alt.Color, "band:N", colours, legend=legend),
            shape=contrast(alt.Shape, "band:N", shapes, legend=legend),
            tooltip=[
                alt.Tooltip("band:N"),
                alt.Tooltip("exposures:Q", format=",d"),
                alt.Tooltip("information:Q", format=".3f", title="I"),
                alt.Tooltip(f"{against}:Q", format=".3f", title="D"),
            ],
        )
    )
    diagonal = (
        alt.Chart(pd.DataFrame({"information": [0.0, right], against: [0.0, right]}))
        .mark_line(color=palette.text, strokeDash=[6, 4], strokeWidth=1.5)
        .encode(x=alt.X("information:Q", scale=across), y=alt.Y(f"{against}:Q", scale=up))
    )
    return theme(alt.layer(diagonal, marks).properties(height=HEIGHT), palette)


def truth_alt(content: PictureContent) -> str:
    """Say how many questions are on or above the diagonal."""
    return (
        f"D(Q̃, P̃) against I(Q̃): {content['held']} of {len(content['points']['band'])} questions "
        "are on or above the diagonal."
    )


def corpus_alt(content: PictureContent) -> str:
    """Say how many questions are below the diagonal, and how many of them could be."""
    points = content["points"]
    rows = [
        (d < i - 1e-9, depends)
        for d, i, depends in zip(
            points["corpus_divergence"], points["information"], points["depends"], strict=True
        )
        if d is not None
    ]
    below = sum(broken for broken, _ in rows)
    dependent = sum(broken for broken, depends in rows if depends)
    return (
        f"D from the training documents against I(Q̃): {below} of {len(rows)} questions are below "
        f"the diagonal, {dependent} of them with answers that depend on each other."
    )


def has_corpus(content: PictureContent) -> bool:
    """Say whether documents about any question are known."""
    return any(value is not None for value in content["points"]["corpus_divergence"])


def bars(
    content: PictureContent, palette: Palette, parts: dict[str, str], *, stacked: bool
) -> Chart:
    """Means by band: the parts of D, stacked, or what clusters and few answers leave of I."""
    data = pd.DataFrame(
        [
            (row["band"], words, place, row[name])
            for row in content["means"]
            for place, (name, words) in enumerate(parts.items())
        ],
        columns=["band", "part", "place", "nats"],
    )
    order = [band for band in BANDS if band in set(data["band"])]
    colours = dict(zip(parts.values(), palette.categories, strict=False))
    legend = alt.Legend(columns=alt.ExprRef(COLUMNS))
    y = alt.Y(
        "band:N",
        title=None,
        scale=alt.Scale(domain=order),
        axis=alt.Axis(labelLimit=110, ticks=False, domain=False),
    )
    marks = (
        alt.Chart(data)
        .mark_bar()
        .encode(
            y=y,
            x=alt.X("nats:Q", title="nats, mean", axis=alt.Axis(tickCount=5)),
            color=contrast(alt.Color, "part:N", colours, legend=legend),
            order=alt.Order("place:Q"),
            tooltip=[
                alt.Tooltip("band:N"),
                alt.Tooltip("part:N", title=" "),
                alt.Tooltip("nats:Q", format=".3f"),
            ],
        )
    )
    if not stacked:
        marks = marks.encode(
            yOffset=alt.YOffset("part:N", scale=alt.Scale(domain=list(parts.values())))
        )
    return theme(marks.properties(height=HEIGHT - 80), palette)


def bars_alt(content: PictureContent, parts: dict[str, str]) -> str:
    """Say every mean of every band."""
    sentences = [
        f"{row['band']}: " + ", ".join(f"{words} {row[name]:.2f}" for name, words in parts.items())
        for row in content["means"]
    ]
    return f"Means in nats. {'; '.join(sentences)}."


PICTURES = (
    LaboratoryPicture(
        "truth",
        "D from the truth, against I",
        partial(scatter, against="divergence", title="D(Q̃, P̃) from the truth, nats"),
        truth_alt,
        "A point a question. On or above the dashed line, where D = I, the theorem holds.",
    ),
    LaboratoryPicture(
        "corpus",
        "D from the training documents, against I",
        partial(scatter, against="corpus_divergence", title="D from the documents, nats"),
        corpus_alt,
        "One author answers the same twice, so the documents’ answers depend on each other, and "
        "questions fall below the diagonal. Those that no document asks are left out.",
        there=has_corpus,
    ),
    LaboratoryPicture(
        "slack",
        "What D consists of",
        partial(bars, parts=PARTS, stacked=True),
        partial(bars_alt, parts=PARTS),
        "M.I. finds I(Q̃). The rest is how far the first answers, Q̃₁, and the second ones, Q̃₂, are "
        "from the truth by themselves.",
    ),
    LaboratoryPicture(
        "losses",
        "What is left of I",
        partial(bars, parts=WAYS, stacked=False),
        partial(bars_alt, parts=WAYS),
        "Means over questions. Clusters and few answers find less of what is there.",
    ),
)
