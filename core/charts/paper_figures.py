"""The paper's Figures 5 and 6, of a run and of labelled rows alike.

The score drawn first is blue; no other is orange, which means wrong.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import Any, Final

import altair as alt
import pandas as pd

from core.abstention.intervals import ConfidenceBand
from core.abstention.mixtures import Bar, Mixture
from core.charts.calibration import name_of
from core.charts.theme import DASHES, IN_LINES, Chart, Palette, contrast, lines_apart, share, theme
from core.studies.evaluation.mixing import RULES

#: The scores of the paper's Figure 5.
PAPERS: Final = (
    "mutual_information",
    "semantic_entropy",
    "greedy_probability",
    "self_verification",
)
HEIGHT: Final = 320
BARS_HEIGHT: Final = 260
RECALL, ERROR = "recall", "error"
TITLES: Final = {RECALL: "share answered (recall)", ERROR: "wrong among the answered"}
MIXTURE_TITLES: Final = {RECALL: "Recall by entropy", ERROR: "Error by entropy"}
#: Answered questions, on average, below which no share of wrong ones is drawn: one or none says
#: nothing.
FEWEST_ANSWERED: Final = 1.0
THINNEST: Final = 0.008  # of the axis: a bar of 0 % is a line
#: Of a legend above the plot: a telephone has room for one name, or two.
COLUMNS: Final = alt.ExprRef("width > 700 ? 4 : width > 420 ? 2 : 1")
FILLED: Final = {RULES["empirical"]: 1.0, RULES["ltt"]: 0.4}  # opacity, by rule


def papers(scores: Iterable[str], first: str, most: int) -> list[str]:
    """Return a score and others to draw beside it, those of the paper before any."""
    return sorted(scores, key=lambda name: (name != first, name not in PAPERS))[:most]


def _looks(scores: Iterable[str], of: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(map(name_of, scores), cycle(of), strict=False))


def _inks(palette: Palette) -> Sequence[str]:
    return palette.primary, palette.muted, *palette.categories[2:6], palette.categories[7]


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
                    "score": name_of(name),
                }
            )
            for name, band in bands.items()
        ]
        or [pd.DataFrame(columns=["recall", "precision", "lower", "upper", "score"])]
    )
    lowest = data["precision"].min() - 0.05 if len(data) else 0.0
    # Bands of the first few questions reach far down: they are cut off.
    domain = [max(0.0, math.floor(20 * lowest) / 20), 1.0] if math.isfinite(lowest) else [0.0, 1.0]
    y = share("share right (precision)", domain=domain)
    names = list(bands)
    colours, dashes = _looks(names, _inks(palette)), _looks(names, DASHES)
    color, dash = lines_apart("score:N", colours, dashes, orient="top", columns=COLUMNS)
    x = alt.X("recall:Q", **share(TITLES[RECALL], tickCount=10))
    # Several bands hide each other: only the first score has one, and without resamples none.
    first = data[data["score"] == name_of(names[0])] if names else data
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
            name_of(each.score),
            RULES[each.rule],
            f"{name_of(each.score)}, {RULES[each.rule]}",
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
    scores = dict.fromkeys(each.score for each in mixtures)
    several = len({each.rule for each in mixtures}) > 1
    rules = FILLED if several else dict.fromkeys(FILLED, 1.0)
    by_rule = alt.Legend(orient="top", symbolFillColor=palette.text, symbolStrokeWidth=0)
    layers = (
        alt.Chart(data)
        .mark_bar(clip=True)
        .encode(
            x=x,
            xOffset=offset,
            y=alt.Y("height:Q", **y),
            color=contrast(alt.Color, "score:N", _looks(scores, _inks(palette))),
            opacity=alt.Opacity(
                "rule:N",
                title=None,
                scale=alt.Scale(domain=list(rules), range=list(rules.values())),
                legend=by_rule if several else None,
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
