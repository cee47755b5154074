"""Charts of what decides a score: a panel for each setting, and all of them in one small picture.

A filled mark keeps the verdict, an open one does not.
"""

from __future__ import annotations

import math
from typing import Final

import altair as alt
import pandas as pd

from core.charts.theme import Chart, Palette, themed, told_apart
from core.codec import listed
from core.studies.laboratory.deciding import KEEPS, SHOWN, Factor, Variant, Variations
from core.uncertainty.scores import SCORES

PANEL_HEIGHT: Final = 190
STRIP_ROW: Final = 30
#: Factors whose values are numbers, so that a line may join them.
NUMBERS: Final = (Factor.SAMPLES, Factor.THRESHOLD, Factor.TEMPERATURE)
TITLES: Final = {
    Factor.SAMPLES: "number of answers k",
    Factor.THRESHOLD: "similarity threshold τ",
    Factor.SIMILARITY: "similarity",
    Factor.TEMPERATURE: "temperature",
    Factor.SEED: "seed",
    Factor.SAMPLING: "sampling rule",
    Factor.FORM: "form of asking",
}
KEPT, CHANGED = "verdict kept", "verdict changes"
_AUTOSIZE = alt.AutoSizeParams(type="fit-x", contains="padding")
_COLUMNS = ["value", "score", "nats", "lower", "upper", "verdict", "usual", "kept"]


def keeps(found: Variations, variant: Variant) -> bool:
    """Return whether a setting keeps the verdict of every question."""
    return not any(variant in changing for changing in found.changing)


def kept_share(found: Variations, variant: Variant) -> float:
    """Return the share of draws that keep the verdict, the mean over questions."""
    shares = [variant.kept(place, usual) for place, usual in enumerate(found.usual)]
    return sum(shares) / len(shares)


def reach(found: Variations) -> float:
    """Return up to where the axes of nats go, the same in all panels."""
    tops = [
        one.upper
        for variant in found.variants
        for score in SHOWN
        if not math.isnan((one := variant.interval(score)).upper)
    ]
    limit = limit_of(found)
    return 1.08 * max([0.1, *tops, *([] if limit is None else [limit])])


def limit_of(found: Variations) -> float | None:
    """Return λ where it can be drawn: a finite one, of a score that is."""
    rule = found.rule
    if rule.score not in SHOWN or not math.isfinite(rule.value):
        return None
    return rule.value


def _symbol(score: str) -> str:
    return SCORES[score].symbol


def _label(value: float | str) -> str:
    """Return a value as an axis names it: Vega puts names into expressions, so in one line."""
    if isinstance(value, float):
        return f"{value:g}"
    return " ".join(str(value).replace("_", " ").split())


# ------------------------------------------------------------------------ one panel


def panel(found: Variations, factor: Factor, palette: Palette) -> Chart:
    """M.I. and S.E. by the values of one setting, all else as it was, with their intervals."""
    rows = [
        (
            *(_label(v.value), _symbol(score), one.value, one.lower, one.upper),
            *(KEPT if keeps(found, v) else CHANGED, v.usual, kept_share(found, v)),
        )
        for v in found.panel(factor)
        for score in SHOWN
        if not math.isnan((one := v.interval(score)).value)
    ]
    data = pd.DataFrame(rows, columns=_COLUMNS)
    order = [_label(v.value) for v in found.panel(factor)]
    lowest = min([0.0, *data["lower"]])
    scale = alt.Scale(domain=[lowest, reach(found)], nice=False)
    colours = dict(zip(map(_symbol, SHOWN), palette.categories, strict=False))
    color = told_apart(alt.Color, "score:N", colours, legend=None)
    x = alt.X(
        "value:O",
        sort=order,
        title=TITLES[factor],
        axis=alt.Axis(labelAngle=-35 if max(map(len, order), default=0) > 9 else 0),
        scale=alt.Scale(domain=order),
    )
    y = alt.Y("nats:Q", title="nats", scale=scale, axis=alt.Axis(tickCount=4))
    base = alt.Chart(data).encode(x=x, color=color)
    layers: list[alt.Chart] = []
    if (limit := limit_of(found)) is not None:
        at = alt.Chart(pd.DataFrame({"λ": [limit]}))
        layers.append(
            at.mark_rule(color=palette.muted, strokeDash=[4, 3]).encode(y=alt.Y("λ:Q", scale=scale))
        )
        layers.append(
            at.mark_text(align="left", dx=3, dy=-7, color=palette.text, fontSize=12).encode(
                x=alt.XValue(0), y=alt.Y("λ:Q", scale=scale), text=alt.TextValue("λ")
            )
        )
    if factor in NUMBERS:
        layers.append(base.mark_line(strokeWidth=1.5, opacity=0.6).encode(y=y))
    layers.append(
        base.mark_rule(strokeWidth=2.5, opacity=0.45).encode(
            y=alt.Y("lower:Q", title="nats", scale=scale), y2=alt.Y2("upper:Q")
        )
    )
    usual = alt.Chart(data[data["usual"]]).encode(x=x)
    layers.append(
        usual.mark_point(size=240, color=palette.text, opacity=0.8, strokeWidth=1).encode(y=y)
    )
    fills = {KEPT: 1.0, CHANGED: 0.0}
    layers.append(
        base.mark_point(size=65, opacity=1, strokeWidth=2).encode(
            y=y,
            fill=told_apart(alt.Fill, "score:N", colours, legend=None),
            fillOpacity=alt.FillOpacity(
                "verdict:N",
                legend=None,
                scale=alt.Scale(domain=list(fills), range=list(fills.values())),
            ),
            tooltip=[
                alt.Tooltip("score:N"),
                alt.Tooltip("value:O", title=TITLES[factor]),
                *(
                    alt.Tooltip(f"{field}:Q", format=".3f", title=words)
                    for field, words in (("nats", "nats"), ("lower", "from"), ("upper", "to"))
                ),
                alt.Tooltip("kept:Q", format=".0%", title="verdict kept"),
            ],
        )
    )
    layers += _ends(data, order, x, y, colours, palette)
    return themed(alt.layer(*layers).properties(height=PANEL_HEIGHT, autosize=_AUTOSIZE), palette)


def _ends(
    data: pd.DataFrame,
    order: list[str],
    x: alt.X,
    y: alt.Y,
    colours: dict[str, str],
    palette: Palette,
) -> list[alt.Chart]:
    """Name both scores behind their last points, the larger one a little higher."""
    last = data[data["value"] == (order[-1] if order else "")].sort_values("nats")
    found = []
    for place, (name, dy) in enumerate(zip(last["score"], (6, -6), strict=False)):
        chart = alt.Chart(last.iloc[[place]])
        found.append(
            chart.mark_text(align="left", dx=9, dy=dy, color=colours[name], fontSize=12).encode(
                x=x, y=y, text=alt.Text("score:N")
            )
        )
    return found


def panel_alt(found: Variations, factor: Factor) -> str:
    """Say both scores at every value."""
    said = []
    for variant in found.panel(factor):
        numbers = [
            f"{_symbol(score)} {one.value:.2f}"
            for score in SHOWN
            if not math.isnan((one := variant.interval(score)).value)
        ]
        words = KEPT if keeps(found, variant) else CHANGED
        said.append(f"{_label(variant.value)}: {', '.join([*numbers, words])}")
    return f"By {TITLES[factor]}, nats: {'; '.join(said)}."


# -------------------------------------------------------------------- all in one picture


def strip(found: Variations, palette: Palette) -> Chart:
    """Every value of every setting as one mark: the score that decides, and the verdict."""
    score = found.rule.score if found.rule.score in SHOWN else SHOWN[0]
    rows = [
        (TITLES[v.factor], _label(v.value), one.value, kept_share(found, v), v.usual)
        for v in found.variants
        if not math.isnan((one := v.interval(score)).value)
    ]
    data = pd.DataFrame(rows, columns=["factor", "value", "nats", "kept", "usual"])
    data["verdict"] = [KEPT if kept >= KEEPS else CHANGED for kept in data["kept"]]
    order = [TITLES[f] for f in Factor if TITLES[f] in set(data["factor"])]
    limit = limit_of(found)
    top = 1.08 * max([0.1, *data["nats"], *([] if limit is None else [limit])])
    low = min([0.0, *data["nats"]])
    pad = 0.02 * (top - low)
    x = alt.X(
        "nats:Q",
        title=f"{_symbol(score)}, nats",
        scale=alt.Scale(domain=[low - pad, top], nice=False),
        axis=alt.Axis(tickCount=5),
    )
    y = alt.Y(
        "factor:N",
        sort=order,
        title=None,
        axis=alt.Axis(ticks=False, domain=False, grid=True, labelLimit=150),
    )
    colours = {KEPT: palette.primary, CHANGED: palette.epistemic}
    legend = alt.Legend(orient="bottom", symbolStrokeWidth=2)
    marks = (
        alt.Chart(data)
        .mark_point(size=85, strokeWidth=2, opacity=0.8)
        .encode(
            x=x,
            y=y,
            color=told_apart(alt.Color, "verdict:N", colours, legend=legend),
            shape=told_apart(
                alt.Shape, "verdict:N", {KEPT: "circle", CHANGED: "diamond"}, legend=legend
            ),
            fill=told_apart(
                alt.Fill,
                "verdict:N",
                {KEPT: palette.primary, CHANGED: palette.background},
                legend=legend,
            ),
            tooltip=[
                alt.Tooltip("factor:N", title="setting"),
                alt.Tooltip("value:N"),
                alt.Tooltip("nats:Q", format=".3f"),
                alt.Tooltip("kept:Q", format=".0%", title="verdict kept"),
            ],
        )
    )
    layers: list[alt.Chart] = []
    if limit is not None:
        at = alt.Chart(pd.DataFrame({"λ": [limit]})).encode(x=alt.X("λ:Q"))
        layers.append(at.mark_rule(color=palette.muted, strokeDash=[4, 3]))
        layers.append(
            at.mark_text(dy=-7, color=palette.text, fontSize=13).encode(
                y=alt.YValue(0), text=alt.TextValue("λ")
            )
        )
    drawn = alt.layer(*layers, marks)
    return themed(drawn.properties(height=alt.Step(STRIP_ROW), autosize=_AUTOSIZE), palette)


def strip_alt(found: Variations) -> str:
    """Say by setting how many of its values keep the verdict."""
    said = []
    for factor in Factor:
        if several := found.panel(factor):
            good = sum(kept_share(found, v) >= KEEPS for v in several)
            said.append(f"{TITLES[factor]} {good} of {len(several)}")
    return f"Values that keep the verdict: {listed(said, most=len(said))}."
