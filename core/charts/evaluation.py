"""Charts of a run, the paper's Figures 5 and 6 among them.

A score has the same colour in all of them, whichever others are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Final

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.abstention.intervals import ConfidenceBand
from core.abstention.mixtures import Bar, Mixture
from core.charts.theme import DASHES, Chart, Palette, contrast, lines_apart, share, theme
from core.studies.evaluation.mixing import RULES
from core.uncertainty.scores import SCORES

#: The scores of the paper's Figure 5.
PAPERS: Final = (
    "mutual_information",
    "semantic_entropy",
    "greedy_probability",
    "self_verification",
)
HEIGHT: Final = 320
BARS_HEIGHT: Final = 260
ROW_HEIGHT: Final = 42  # of a dot, with its number above it
LONGEST_LINE: Final = 19  # characters of a score's name beside its dot
MOST_POINTS: Final = 4_000  # in a scatter; Altair draws no more than 5,000 rows
MOST_SOURCES: Final = 5  # with a shape of their own
NAME_WIDTH: Final = 130  # pixels of a source: a phone has room for two of them
OTHERS: Final = "other sources"
SHAPES: Final = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
RECALL, ERROR = "recall", "error"
TITLES: Final = {RECALL: "recall: share answered", ERROR: "wrong among the answered"}
MIXTURE_TITLES: Final = {RECALL: "Recall by entropy", ERROR: "Error by entropy"}
#: Answered questions, on average, below which no share of wrong ones is drawn: one or none says
#: nothing.
FEWEST_ANSWERED: Final = 1.0
THINNEST: Final = 0.008  # of the axis: a bar of 0 % is a line
IN_LINES: Final = "split(datum.label, '\\n')"  # a phone has no room for “0.5 to 1.0” in one
FILLED: Final = {RULES["empirical"]: 1.0, RULES["ltt"]: 0.4}  # opacity, by rule


def symbol_of(score: str) -> str:
    """Return what the paper calls a score."""
    return SCORES[score].symbol


def one_line(text: str) -> str:
    """Return a source as it can be drawn: Vega puts names into expressions."""
    return " ".join(text.split()) or "(none)"


def _looks(scores: Sequence[str], of: Sequence[Any]) -> dict[str, Any]:
    """Return what each score is told apart by, the same wherever it is drawn."""
    places = {name: i for i, name in enumerate(SCORES)}
    return {symbol_of(name): of[places[name] % len(of)] for name in scores}


# ------------------------------------------------------------------- dots and whiskers


@dataclass(frozen=True)
class Estimate:
    """A number of a score with its interval, as it is drawn: a row."""

    score: str
    value: float
    # lower, upper: NaN where there is no interval.
    lower: float
    upper: float
    is_shown: bool = True  # a filled dot; else a ring
    is_main: bool = False


def estimates(rows: Sequence[Estimate], reference: float, title: str, palette: Palette) -> Chart:
    """Numbers with their intervals, a row each, beside a line; the score to use in blue."""
    data = pd.DataFrame(
        {
            "score": ["\n".join(wrap(SCORES[each.score].title, LONGEST_LINE)) for each in rows],
            "value": [each.value for each in rows],
            "lower": [each.lower for each in rows],
            "upper": [each.upper for each in rows],
            "main": [each.is_main for each in rows],
            "shown": [each.is_shown for each in rows],
        }
    )
    ends = np.append(data[["value", "lower", "upper"]].to_numpy(float).ravel(), reference)
    ends = ends[np.isfinite(ends)]
    scale = alt.Scale(domain=[float(ends.min()), float(ends.max())], nice=True, zero=False)
    x = alt.X("value:Q", title=title, scale=scale, axis=alt.Axis(tickCount=5))
    # Vega hangs two lines from where one stands: half a line up, they are beside their dot.
    two = {"test": "indexof(datum.label, '\\n') >= 0", "value": -7}
    names = alt.Axis(labelExpr=IN_LINES, labelLimit=200, labelOffset={"condition": two, "value": 0})
    y = alt.Y("score:N", title=None, sort=None, axis=names)
    is_main = {"test": "datum.main", "value": palette.primary}
    ink = alt.ColorValue(palette.muted, condition=is_main)
    ring = {"test": "!datum.shown", "value": palette.background}
    layers = (
        alt.Chart(pd.DataFrame({"at": [reference]}))
        .mark_rule(color=palette.text)
        .encode(x=alt.X("at:Q", scale=scale)),
        alt.Chart(data.dropna())
        .mark_rule(strokeWidth=2.5)
        .encode(x=alt.X("lower:Q", scale=scale), x2=alt.X2("upper:Q"), y=y, color=ink),
        alt.Chart(data)
        .mark_point(size=90, strokeWidth=2, opacity=1)
        .encode(
            x=x,
            y=y,
            stroke=alt.StrokeValue(palette.muted, condition=is_main),
            fill=alt.FillValue(palette.muted, condition=[ring, is_main]),
        ),
        alt.Chart(data)
        .mark_text(dy=-13)
        .encode(x=x, y=y, text=alt.Text("value:Q", format=".2f"), color=ink),
    )
    return theme(alt.layer(*layers).properties(height=ROW_HEIGHT * max(len(rows), 1)), palette)


# --------------------------------------------------------------------------- Figure 5


def precision_recall(bands: Mapping[str, ConfidenceBand], palette: Palette) -> Chart:
    """The paper's Figure 5: the share right among the answered against the share answered."""
    data = pd.concat(
        [
            pd.DataFrame(
                {
                    "recall": band.recalls,
                    "precision": band.precision,
                    "lower": band.lower,
                    "upper": band.upper,
                    "score": symbol_of(name),
                }
            )
            for name, band in bands.items()
        ]
        or [pd.DataFrame(columns=["recall", "precision", "lower", "upper", "score"])]
    )
    lowest = data["precision"].min() - 0.05 if len(data) else 0.0
    # Bands of the first few questions reach far down: they are cut off.
    domain = [max(0.0, math.floor(20 * lowest) / 20), 1.0] if math.isfinite(lowest) else [0.0, 1.0]
    y = share("precision: share right", domain=domain)
    names = list(bands)
    colours, dashes = _looks(names, palette.categories), _looks(names, DASHES)
    color, dash = lines_apart("score:N", colours, dashes, orient="top")
    x = alt.X("recall:Q", **share("recall: share answered", tickCount=10))
    # Several bands hide each other: only the first score has one, and without resamples none.
    first = data[data["score"] == symbol_of(names[0])] if names else data
    area = alt.Chart(first.dropna()).mark_area(opacity=0.15, clip=True)
    line = alt.Chart(data.drop(columns=["lower", "upper"]).dropna())
    tooltip = [
        alt.Tooltip("score:N"),
        *(alt.Tooltip(f"{name}:Q", format=".1%") for name in ("recall", "precision")),
    ]
    layers = (
        area.encode(x=x, y=alt.Y("lower:Q", **y), y2=alt.Y2("upper:Q"), color=color),
        line.mark_line(clip=True, strokeWidth=2).encode(
            x=x, y=alt.Y("precision:Q", **y), color=color, strokeDash=dash, tooltip=tooltip
        ),
    )
    return theme(alt.layer(*layers).properties(height=HEIGHT), palette)


# --------------------------------------------------------------------------- Figure 6


def mixture_bars(mixtures: Sequence[Mixture], measure: str, palette: Palette) -> Chart:
    """The paper's Figure 6: recall, or error, by entropy, each score by both rules.

    A diamond is the error by the other label. `measure`: `RECALL` or `ERROR`.
    """
    rows = [
        (
            symbol_of(each.score),
            RULES[each.rule],
            f"{symbol_of(each.score)}, {RULES[each.rule]}",
            bar.name,
            bar.queries,
            _in_two_lines(bar.name),
            bar_value(bar, measure),
            getattr(bar, f"{measure}_spread"),
            bar.other_error if measure == ERROR else math.nan,
        )
        for each in mixtures
        for bar in each.bars
    ]
    columns = ["score", "rule", "bar", "entropy", "questions", "bin", "share", "spread", "other"]
    data = pd.DataFrame(rows, columns=columns)
    order = list(dict.fromkeys(data["bin"]))
    bars = list(dict.fromkeys(data["bar"]))
    data = data.dropna(subset=["share"])
    data["low"] = (data["share"] - data["spread"].fillna(0)).clip(lower=0)
    data["high"] = (data["share"] + data["spread"].fillna(0)).clip(upper=1)
    highest = max((*data["high"], *data["other"].dropna()), default=1.0)
    top = 1.0 if measure == RECALL else min(1.0, max(0.1, math.ceil(10 * highest) / 10))
    data["height"] = data["share"].clip(lower=THINNEST * top)  # 0 % is no missing bar
    x = alt.X(
        "bin:N",
        title="semantic entropy of the answers, nats",
        axis=alt.Axis(labelAngle=0, labelExpr=IN_LINES),
        scale=alt.Scale(domain=order),
    )
    offset = alt.XOffset("bar:N", scale=alt.Scale(domain=bars))
    y = share(TITLES[measure], domain=[0, top], tickCount=5)
    if data["other"].notna().any():
        y["title"] = [TITLES[measure], "diamonds: by the other label"]
    scores = list(dict.fromkeys(each.score for each in mixtures))
    layers = (
        alt.Chart(data)
        .mark_bar(clip=True)
        .encode(
            x=x,
            xOffset=offset,
            y=alt.Y("height:Q", **y),
            color=contrast(alt.Color, "score:N", _looks(scores, palette.categories)),
            opacity=alt.Opacity(
                "rule:N",
                title=None,
                scale=alt.Scale(domain=list(FILLED), range=list(FILLED.values())),
                legend=alt.Legend(symbolFillColor=palette.text, symbolStrokeWidth=0),
            ),
            tooltip=[
                *(alt.Tooltip(f"{name}:N") for name in ("score", "rule", "entropy")),
                alt.Tooltip("questions:Q", format=".1f", title="questions, on average"),
                alt.Tooltip("share:Q", format=".1%", title=TITLES[measure]),
                alt.Tooltip("spread:Q", format=".1%", title="two standard deviations"),
            ],
        )
    )
    spread = (  # of a single repetition there is none
        alt.Chart(data.dropna(subset=["spread"]))
        .mark_rule(color=palette.text, strokeWidth=1.5)
        .encode(x=x, xOffset=offset, y=alt.Y("low:Q", **y), y2=alt.Y2("high:Q"))
    )
    other = (
        alt.Chart(data.dropna(subset=["other"]))
        .mark_point(shape="diamond", fill=palette.background, stroke=palette.text, opacity=1)
        .encode(x=x, xOffset=offset, y=alt.Y("other:Q", **y))
    )
    return theme(alt.layer(layers, spread, other).properties(height=BARS_HEIGHT), palette)


def bar_value(bar: Bar, measure: str) -> float:
    """Return what is drawn of a bar; NaN where so little is answered that no error can be told."""
    if measure == ERROR and not bar.queries * bar.recall >= FEWEST_ANSWERED:
        return math.nan
    return float(getattr(bar, measure))


def _in_two_lines(bin: str) -> str:
    """Return “0.5 to 1.0” or “2.0 or more” in two lines."""
    head, _, last = bin.rpartition(" ")
    return f"{head}\n{last}" if head else bin


# ---------------------------------------------------------------------------- scatter


@dataclass(frozen=True)
class Points:
    """Questions by their entropy and their mutual information, for drawing."""

    # entropy, information: (n,): Doubts, nats; rounded, so that what is drawn is what is chosen.
    entropy: NDArray[np.float64]
    information: NDArray[np.float64]
    right: NDArray[np.bool_]  # (n,)
    sources: NDArray[np.object_]  # (n,)


CHOSEN: Final = "chosen"  # the scatter's parameter in which a person chooses
FIELDS: Final = ("entropy", "information")
TEN_TICKS: Final = alt.Axis(tickCount=10)


def scatter(points: Points, palette: Palette) -> Chart:
    """Semantic entropy against mutual information: wrong answers filled, a shape for a source."""
    names = [one_line(str(source)) for source in points.sources]
    counts = pd.Series(names).value_counts()
    largest = sorted(counts.index[: MOST_SOURCES if len(counts) > MOST_SOURCES + 1 else None])
    data = pd.DataFrame(
        {
            "entropy": points.entropy,
            "information": points.information,
            "answer": np.where(points.right, "right", "wrong"),
            "source": [name if name in largest else OTHERS for name in names],
        }
    )
    shapes = largest + [OTHERS] * (len(largest) < len(counts))
    kinds = {"right": palette.diverging[0], "wrong": palette.diverging[2]}
    above = alt.Legend(orient="top")  # beside the sources, a phone has no room for it
    chosen = alt.selection_point(CHOSEN, fields=list(FIELDS), on="click", empty=False)
    marks = (
        alt.Chart(data)
        .mark_point(size=60, opacity=0.75)
        .encode(
            x=alt.X("entropy:Q", title="S.E.: semantic entropy, nats", axis=TEN_TICKS),
            y=alt.Y("information:Q", title="M.I.: mutual information, nats", axis=TEN_TICKS),
            color=contrast(alt.Color, "answer:N", kinds, legend=above),
            fill=contrast(
                alt.Fill,
                "answer:N",
                {"right": palette.background, "wrong": kinds["wrong"]},
                legend=above,
            ),
            shape=contrast(
                alt.Shape,
                "source:N",
                dict(zip(shapes, SHAPES, strict=False)),
                legend=alt.Legend(
                    columns=2,
                    labelLimit=NAME_WIDTH,
                    symbolFillColor=palette.muted,
                    symbolStrokeColor=palette.muted,
                ),
            ),
            strokeWidth=alt.StrokeWidthValue(
                1.5, condition={"param": CHOSEN, "empty": False, "value": 4}
            ),
            tooltip=[
                alt.Tooltip("answer:N"),
                alt.Tooltip("source:N"),
                alt.Tooltip("entropy:Q", format=".3f", title="S.E."),
                alt.Tooltip("information:Q", format=".3f", title="M.I."),
            ],
        )
        .add_params(chosen)
    )
    return theme(marks.properties(height=HEIGHT + 60), palette)
