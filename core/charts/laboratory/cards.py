"""What the laboratory's cards show: each claim in one small picture, in two colours."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from core.charts.evaluation import WRONG_FIRST, Estimate, estimates
from core.charts.laboratory.pictures import CurveColumns, PictureContent, curves, on_logarithms
from core.charts.theme import AUTOSIZE, Chart, Palette, contrast, share, theme
from core.data.world.facts import Band
from core.uncertainty.scores import SCORES

HEIGHT = 210  # pixels of a picture, all of it: the cards of a row are alike
TALL = 280  # of one with a row for each of several settings
NO_TICKS: dict[str, Any] = {"ticks": False, "domain": False}
EXACT = 0.001  # nats: what an estimate is off by that counts as exact
INTERVALS = "lines: 95% intervals, each by itself"
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
    """What becomes of guesses at things never taught, right and wrong."""
    guesses: Mapping[str, tuple[int, int]] = content["guesses"]
    data = pd.DataFrame(
        [
            (f"{kind}: {right:,} right, {wrong:,} wrong", number, name)
            for kind, (right, wrong) in guesses.items()
            for name, number in (("right", right), ("wrong", wrong))
        ],
        columns=["kind", "guesses", "is"],
    )
    looks = {"right": palette.primary, "wrong": palette.epistemic}
    above: dict[str, Any] = {"labelAlign": "left", "labelBaseline": "bottom", "labelPadding": 0}
    bars = alt.Chart(data).encode(
        y=alt.Y(
            "kind:N",
            sort=None,
            title=None,
            scale=alt.Scale(paddingInner=0.6, paddingOuter=0.4),
            axis=alt.Axis(labelLimit=300, labelOffset=-26, labelFontSize=12, **above, **NO_TICKS),
        ),
        x=alt.X("guesses:Q", title="guesses", axis=alt.Axis(tickCount=4, grid=False)),
        color=contrast(alt.Color, "is:N", looks),
        order=alt.Order("is:N"),
    )
    return theme(bars.mark_bar().properties(autosize=AUTOSIZE), palette)


def deciding(content: PictureContent, palette: Palette) -> Chart:
    """The share of verdicts that stay, by what is moved."""
    keeps, few = content["keeps"], ", ".join(content["too few"])
    rows = [
        Estimate(
            name,
            group["values"] + ": “Can’t tell yet”" * (group["values"] == few),
            *ends,
            f"{ends[0]:.1%}",
            f"{round(ends[0] * group['verdicts']):,} of {group['verdicts']:,}",
            is_main=ends[1] >= keeps,
        )
        for name, group in content["groups"].items()
        for ends in [_ends(group["stable"])]
    ]
    line = keeps, f"stable from {keeps:.0%}", "", ""
    return estimates(rows, line, f"verdicts that stay\n{INTERVALS}", ".0%", palette)


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
    base = alt.Chart(pd.DataFrame(rows, columns=["held", "share"])).encode(
        x=x, y=alt.Y("share:Q", **share("facts that resist", tickCount=4))
    )
    numbers = base.mark_text(dy=-8, color=palette.text).encode(
        text=alt.Text("share:Q", format=".0%")
    )
    bars = base.mark_bar(color=palette.primary)
    heart = by_heart(content)
    at = alt.Chart(pd.DataFrame({"share": [heart]})).encode(y="share:Q")
    line = (
        at.mark_rule(color=palette.text),
        at.mark_text(
            align="left", baseline="top", dx=4, dy=4, fontSize=12, color=palette.text
        ).encode(x=alt.XValue(0), text=alt.TextValue(f"known {Band.BY_HEART}: {heart:.0%}")),
    )
    return theme(alt.layer(bars, numbers, *line).properties(autosize=AUTOSIZE), palette)


def by_heart(content: PictureContent) -> float:
    """Return which share of the facts known by heart never gives way."""
    facts = zip(content["band"], content["turns"], strict=True)
    never = [turns is None for band, turns in facts if band == Band.BY_HEART.value]
    return float(np.mean(never)) if never else math.nan


def scores(content: PictureContent, palette: Palette) -> Chart:
    """How well mutual information and entropy find wrong answers, with untaught lists or not."""
    rows = [
        Estimate(of.title, which, *ends, f"{ends[0]:.0%}", is_main=of.symbol == "M.I.")
        for which, each in (("with untaught lists", "with lists"), ("without them", "scores"))
        for of in (SCORES["mutual_information"], SCORES["semantic_entropy"])
        for ends in [_ends(content[each][of.symbol])]
    ]
    line = 0.5, "chance: 50%", "", ""
    return estimates(rows, line, f"{WRONG_FIRST} →\n{INTERVALS}", ".0%", palette)
