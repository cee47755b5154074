"""What the laboratory's cards show: each claim in one small picture, in two colours."""

import math
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from core.charts.evaluation import AUROCS, Estimate, estimates
from core.charts.laboratory.deciding import CHANGED, KEPT, verdict
from core.charts.laboratory.pictures import CurveColumns, PictureContent, curves, on_logarithms
from core.charts.theme import AUTOSIZE, Chart, Palette, contrast, share, theme
from core.codec import one_line
from core.studies.laboratory.deciding import TITLES, Factor

HEIGHT = 210  # pixels of a picture, all of it: the cards of a row are alike
MOST_ANSWERS = 6
LONGEST_VALUE = 4  # characters of a setting below its mark
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
    """Every other value of every setting: filled where the verdict stays."""
    rows = []
    draws = [TITLES[factor] for factor in (Factor.TEMPERATURE, Factor.SEED)]
    searches = not any(any(content["panels"].get(name, {}).get("usual", ())) for name in draws)
    for setting, values in content["panels"].items():
        if setting == TITLES[Factor.SAMPLING]:
            continue  # its other rule stands under the temperatures, too
        others = [
            (verdict(content, part), value)
            for part, usual, value in zip(
                values["kept"], values["usual"], values["values"], strict=True
            )
            if not usual
        ]
        name = setting.removesuffix(" k").removesuffix(" τ")
        if setting in draws and searches:
            name = f"{name}, if drawn"
        rows += [(name, at, *each) for at, each in enumerate(others)]
    looks = {KEPT: palette.primary, CHANGED: palette.epistemic}
    fills = {KEPT: palette.primary, CHANGED: palette.background}
    data = pd.DataFrame(rows, columns=["setting", "place", "is", "value"])
    data["value"] = data["value"].where(data["value"].str.len() <= LONGEST_VALUE, "")
    base = alt.Chart(data)
    y = alt.Y("setting:N", sort=None, title=None, axis=alt.Axis(labelLimit=150, **NO_TICKS))
    x = alt.X("place:Q", axis=None, scale=alt.Scale(zero=False, padding=12))
    marks = base.mark_point(size=110, strokeWidth=2, opacity=1).encode(
        x=x, y=y, color=contrast(alt.Color, "is:N", looks), fill=contrast(alt.Fill, "is:N", fills)
    )
    # A telephone has room for small ones.
    size = alt.ExprRef("width < 230 ? 9 : 11")
    labels = base.mark_text(dy=14, fontSize=size, color=palette.muted).encode(
        x=x, y=y, text=alt.Text("value:N")
    )
    return theme((marks + labels).properties(autosize=AUTOSIZE), palette)


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
    rows = []
    for score, name in (("mutual_information", "M.I."), ("semantic_entropy", "S.E.")):
        value, low, high = (math.nan if end is None else end for end in content["scores"][name])
        rows.append(Estimate(score, value, low, high, is_main=name == "M.I."))
    return estimates(rows, *AUROCS, palette)
