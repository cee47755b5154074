"""What the laboratory's cards show: each claim in one small picture, in two colours."""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from core.charts.evaluation import WRONG_FIRST, Estimate, estimates
from core.charts.laboratory.pictures import CurveColumns, PictureContent, curves, on_logarithms
from core.charts.theme import AUTOSIZE, Chart, Palette, contrast, share, theme
from core.codec import one_line
from core.uncertainty.scores import SCORES

HEIGHT = 210  # pixels of a picture, all of it: the cards of a row are alike
TALL = 280  # of one with a row for each of several settings
MOST_ANSWERS = 6
NO_TICKS: dict[str, Any] = {"ticks": False, "domain": False}
PLAIN: dict[str, Any] = {"fontSize": 12, "fontWeight": "normal"}
EXACT = 0.001  # nats: what an estimate is off by that counts as exact
OURS, COUNTS, UNSEEN, LIMITS = "this program", "counting alone", "not seen yet", "its limits"


def estimator(content: PictureContent, palette: Palette) -> Chart:
    """How far off the estimate is, beside the best one from counts."""
    error = content["error"]
    counts = min((v for name, v in error.items() if name != "Algorithm 1"), key=lambda v: v[-1])
    lines = {OURS: error["Algorithm 1"], COUNTS: counts}
    every = [value for line in lines.values() for value in line if value > 0]
    y = on_logarithms("error, nats", min(every), max(every))
    columns = {name: CurveColumns([v or None for v in line]) for name, line in lines.items()}
    looks: dict[str, Any] = {"muted": [COUNTS], "height": HEIGHT, "room": 0, "exact": EXACT}
    return curves(content["k"], columns, palette, x="answers", y=y, **looks)


def missing_mass(content: PictureContent, palette: Palette) -> Chart:
    """What samples have not shown, between its limits."""
    low, high = content["limits"]
    columns = {UNSEEN: CurveColumns(content["missing"][1]), LIMITS: CurveColumns(high, low, high)}
    y = alt.Y("middle:Q", **share("share not seen yet", tickCount=4))
    looks: dict[str, Any] = {"muted": [LIMITS], "height": HEIGHT, "room": 0}
    return curves(content["k"], columns, palette, x="answers", y=y, ends=(0.0, 1.0), **looks)


def theorem(content: PictureContent, palette: Palette) -> Chart:
    """Every question's distance from the documents against its doubt; the claim fails below."""
    of = {"information": "information", "corpus_divergence": "divergence"}
    points = pd.DataFrame({name: content["points"][each] for each, name in of.items()}).dropna()
    most = 1.05 * max(0.1, points["information"].max())
    below = pd.DataFrame({"information": [0.0, most], "divergence": [0.0, most]})
    x = alt.X("information:Q", title="doubt, nats", scale=alt.Scale(domain=[0, most], nice=False))
    y = alt.Y("divergence:Q", title="distance from truth, nats", axis=alt.Axis(tickCount=4))
    breaks = {"test": "datum.divergence < datum.information", "value": palette.epistemic}
    layers = (
        alt.Chart(below).mark_area(color=palette.epistemic, opacity=0.15).encode(x=x, y=y),
        alt.Chart(points)
        .mark_point(size=35, filled=True, opacity=0.7)
        .encode(x=x, y=y, color=alt.ColorValue(palette.primary, condition=breaks)),
        alt.Chart(below[1:].assign(divergence=0.0, text="more doubt than distance"))
        .mark_text(color=palette.text, align="right", baseline="bottom", dx=-4, dy=-3, fontSize=12)
        .encode(x=x, y=y, text=alt.Text("text:N")),
    )
    return theme(alt.layer(*layers).properties(autosize=AUTOSIZE), palette)


def hallucination(content: PictureContent, palette: Palette) -> Chart:
    """What the model answers first, right or wrong."""
    likely = np.array(content["q"], float).sum(axis=1)
    places = [int(place) for place in np.argsort(-likely)[:MOST_ANSWERS]]
    rows = [
        (one_line(content["texts"][i], 22), likely[i], ("wrong", "right")[content["right"][i]])
        for i in places
    ]
    data = pd.DataFrame(rows, columns=["answer", "share", "is"])
    looks = {"right": palette.primary, "wrong": palette.epistemic}
    base = alt.Chart(data).encode(
        y=alt.Y("answer:N", sort=None, title=None, axis=alt.Axis(labelLimit=130, **NO_TICKS)),
        x=alt.X("share:Q", title=None, axis=None, scale=alt.Scale(domain=[0, 1.15 * max(likely)])),
    )
    bars = base.mark_bar().encode(color=contrast(alt.Color, "is:N", looks))
    numbers = base.mark_text(align="left", dx=5, color=palette.text)
    both = bars + numbers.encode(text=alt.Text("share:Q", format=".0%"))
    title = alt.TitleParams(one_line(content["question"]), **PLAIN)
    return theme(both.properties(title=title, autosize=AUTOSIZE), palette)


def deciding(content: PictureContent, palette: Palette) -> Chart:
    """The share of verdicts that stay, by what is moved."""
    keeps, few = content["keeps"], ", ".join(content["too few"])
    rows = [
        Estimate(
            name,
            group["values"] + ": “Can’t tell yet”" * (group["values"] == few),
            *ends,
            f"{ends[0]:.1%}",
            is_main=ends[1] >= keeps,
        )
        for name, group in content["groups"].items()
        for ends in [_ends(group["stable"])]
    ]
    line = keeps, f"stable from {keeps:.0%}", "", ""
    return estimates(rows, line, "verdicts that stay", ".0%", palette)


def _ends(numbers: Sequence[float | None]) -> tuple[float, float, float]:
    """Return a share with its interval."""
    value, low, high = (math.nan if end is None else end for end in numbers)
    return value, low, high


def quarters(content: PictureContent) -> list[tuple[str, float]]:
    """Return which share of facts never gives way, of each quarter by Section 3.1’s overlap."""
    order = np.argsort(content["measures"]["overlap"], kind="stable")
    never = np.array([turn is None for turn in content["turns"]])[order]
    names = ["least", "less", "more", "most"]
    parts = np.array_split(never, len(names))
    return [(name, part.mean()) for name, part in zip(names, parts, strict=True) if part.size]


def yielding(content: PictureContent, palette: Palette) -> Chart:
    """How many facts never give way, in quarters of all by the overlap of Section 3.1."""
    rows = quarters(content)
    x = alt.X(
        "held:N",
        sort=None,
        title="how firm it calls a quarter of the facts",
        axis=alt.Axis(labelAngle=0),
    )
    top = [0, min(1.0, 1.25 * max([0.1, *(value for _, value in rows)]))]
    base = alt.Chart(pd.DataFrame(rows, columns=["held", "share"])).encode(
        x=x, y=alt.Y("share:Q", **share("facts that resist", domain=top, tickCount=4))
    )
    numbers = base.mark_text(dy=-8, color=palette.text).encode(
        text=alt.Text("share:Q", format=".0%")
    )
    bars = base.mark_bar(color=palette.primary)
    return theme((bars + numbers).properties(autosize=AUTOSIZE), palette)


def scores(content: PictureContent, palette: Palette) -> Chart:
    """How well mutual information and entropy find wrong answers."""
    rows = [
        Estimate(of.title, of.sign, *ends, f"{ends[0]:.0%}", is_main=of.symbol == "M.I.")
        for of in (SCORES["mutual_information"], SCORES["semantic_entropy"])
        for ends in [_ends(content["scores"][of.symbol])]
    ]
    line = 0.5, "chance: 50%", "", ""
    return estimates(rows, line, f"{WRONG_FIRST} →", ".0%", palette)
