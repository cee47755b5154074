"""What decides a score: a panel for each setting, and all of them in one small picture.

A filled mark keeps the verdict, an open one does not.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import altair as alt
import pandas as pd

from core.charts.laboratory import cards
from core.charts.laboratory.pictures import LaboratoryPicture, PictureContent
from core.charts.theme import AUTOSIZE, Chart, Palette, across, contrast, theme
from core.codec import list_of, with_interval
from core.studies.laboratory.deciding import TITLES, Factor

PANEL_HEIGHT: Final = 190
STRIP_ROW: Final = 30
LONG: Final = 9  # characters of a value that is written at an angle
KEPT, CHANGED = "same verdict", "another"


def axis_name(value: str) -> str:
    """Return a value as an axis names it: Vega puts names into expressions, so in one line."""
    return " ".join(value.replace("_", " ").split())


def reach(content: PictureContent) -> float:
    """Return up to where the axes of nats go, the same in all panels."""
    tops = [
        upper
        for panel in content["panels"].values()
        for several in panel["scores"].values()
        for _, _, upper in several
        if upper is not None
    ]
    limit = content["limit"]
    return 1.08 * max([0.1, *tops, *([] if limit is None else [limit])])


def verdict(content: PictureContent, share: float) -> str:
    """Say whether so many draws keep the verdict."""
    return KEPT if share >= content["keeps"] else CHANGED


# ------------------------------------------------------------------------ one panel


def panel(content: PictureContent, palette: Palette, title: str) -> Chart:
    """M.I. and S.E. by the values of one setting, all else as it was, with their intervals."""
    values: Mapping[str, Any] = content["panels"][title]
    order = [axis_name(value) for value in values["values"]]
    rows = [
        (order[i], symbol, *ends, verdict(content, share), usual, share)
        for symbol, several in values["scores"].items()
        for i, (ends, usual, share) in enumerate(
            zip(several, values["usual"], values["kept"], strict=True)
        )
        if ends[0] is not None
    ]
    columns = ["value", "score", "nats", "lower", "upper", "verdict", "usual", "kept"]
    data = pd.DataFrame(rows, columns=columns)
    scale = alt.Scale(domain=[min([0.0, *data["lower"]]), reach(content)], nice=False)
    colours = dict(zip(values["scores"], (palette.primary, palette.muted), strict=True))
    color = contrast(alt.Color, "score:N", colours, legend=None)
    x = alt.X(
        "value:O",
        title=title,
        axis=alt.Axis(labelAngle=-35 if max(map(len, order), default=0) > LONG else 0),
        scale=alt.Scale(domain=order),
    )
    y = alt.Y("nats:Q", title="nats", scale=scale, axis=alt.Axis(tickCount=4))
    base = alt.Chart(data).encode(x=x, color=color)
    limit = content["limit"]
    layers = [] if limit is None else across(alt.Y("λ:Q", scale=scale), limit, "λ", palette)
    if values["joined"]:
        layers.append(base.mark_line(strokeWidth=1.5, opacity=0.6).encode(y=y))
    for symbol, aside in zip(colours, (-3, 3), strict=False):
        layers.append(
            alt.Chart(data[data["score"] == symbol])
            .mark_rule(strokeWidth=2.5, opacity=0.45, color=colours[symbol], xOffset=aside)
            .encode(x=x, y=alt.Y("lower:Q", title="nats", scale=scale), y2=alt.Y2("upper:Q"))
        )
    usual = alt.Chart(data[data["usual"].astype(bool)]).encode(x=x)
    layers.append(
        usual.mark_point(size=240, color=palette.text, opacity=0.8, strokeWidth=1).encode(y=y)
    )
    fills = {KEPT: 1.0, CHANGED: 0.0}
    layers.append(
        base.mark_point(size=65, opacity=1, strokeWidth=2).encode(
            y=y,
            fill=contrast(alt.Fill, "score:N", colours, legend=None),
            fillOpacity=alt.FillOpacity(
                "verdict:N",
                legend=None,
                scale=alt.Scale(domain=list(fills), range=list(fills.values())),
            ),
            tooltip=[
                alt.Tooltip("score:N"),
                alt.Tooltip("value:O", title=title),
                *(
                    alt.Tooltip(f"{field}:Q", format=".3f", title=words)
                    for field, words in (("nats", "nats"), ("lower", "from"), ("upper", "to"))
                ),
                alt.Tooltip("kept:Q", format=".0%", title="verdict kept"),
            ],
        )
    )
    # Both scores are named behind their last points, the larger one a little higher.
    last = data[data["value"] == (order[-1] if order else "")].sort_values("nats")
    for place, (name, dy) in enumerate(zip(last["score"], (6, -6), strict=False)):
        layers.append(
            alt.Chart(last.iloc[[place]])
            .mark_text(align="left", dx=9, dy=dy, color=colours[name], fontSize=12)
            .encode(x=x, y=y, text=alt.Text("score:N"))
        )
    return theme(alt.layer(*layers).properties(height=PANEL_HEIGHT, autosize=AUTOSIZE), palette)


def panel_alt(content: PictureContent, title: str) -> str:
    """Say both scores at every value."""
    values, sentences = content["panels"][title], []
    for i, (value, share) in enumerate(zip(values["values"], values["kept"], strict=True)):
        numbers = [
            f"{symbol} {several[i][0]:.2f}"
            for symbol, several in values["scores"].items()
            if several[i][0] is not None
        ]
        sentences.append(f"{axis_name(value)}: {', '.join([*numbers, verdict(content, share)])}")
    return f"By {title}, nats: {'; '.join(sentences)}."


# -------------------------------------------------------------------- all in one picture


def strip(content: PictureContent, palette: Palette) -> Chart:
    """Every value of every setting as one mark: the score that decides, and the verdict."""
    symbol = content["score"]
    rows = [
        (title, axis_name(value), ends[0], share, verdict(content, share))
        for title, values in content["panels"].items()
        for value, ends, share in zip(
            values["values"], values["scores"][symbol], values["kept"], strict=True
        )
        if ends[0] is not None
    ]
    data = pd.DataFrame(rows, columns=["setting", "value", "nats", "kept", "verdict"])
    limit = content["limit"]
    top = 1.08 * max([0.1, *data["nats"], *([] if limit is None else [limit])])
    low = min([0.0, *data["nats"]])
    x = alt.X(
        "nats:Q",
        title=f"{symbol}, nats",
        scale=alt.Scale(domain=[low - 0.02 * (top - low), top], nice=False),
        axis=alt.Axis(tickCount=5),
    )
    y = alt.Y(
        "setting:N",
        sort=list(content["panels"]),
        title=None,
        axis=alt.Axis(ticks=False, domain=False, grid=True, labelLimit=150, labelPadding=10),
    )
    legend = alt.Legend(orient="bottom", symbolStrokeWidth=2)
    colours = {KEPT: palette.primary, CHANGED: palette.epistemic}
    fills = {KEPT: palette.primary, CHANGED: palette.background}
    shapes = {KEPT: "circle", CHANGED: "diamond"}
    marks = (
        alt.Chart(data)
        .mark_point(size=85, strokeWidth=2, opacity=0.8)
        .encode(
            x=x,
            y=y,
            color=contrast(alt.Color, "verdict:N", colours, legend=legend),
            shape=contrast(alt.Shape, "verdict:N", shapes, legend=legend),
            fill=contrast(alt.Fill, "verdict:N", fills, legend=legend),
            tooltip=[
                alt.Tooltip("setting:N"),
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
    both = alt.layer(*layers, marks)
    return theme(both.properties(height=alt.Step(STRIP_ROW), autosize=AUTOSIZE), palette)


def strip_alt(content: PictureContent) -> str:
    """Say by setting how many of its values keep the verdict."""
    sentences = [
        f"{title} {sum(share >= content['keeps'] for share in values['kept']):d} of "
        f"{len(values['kept']):d}"
        for title, values in content["panels"].items()
    ]
    return f"Values that keep the verdict: {list_of(sentences, most=len(sentences))}."


def groups_alt(content: PictureContent) -> str:
    """Say which share of verdicts stays, by what is moved."""
    parts = (
        f"{name} ({group['values']}) {with_interval(group['stable'], '.0%')}"
        for name, group in content["groups"].items()
    )
    return f"Verdicts that stay, by what is moved: {'; '.join(parts)}."


def _of(factor: Factor) -> LaboratoryPicture:
    title = TITLES[factor]
    return LaboratoryPicture(
        factor.name.lower(),
        f"By the {title}",
        partial(panel, title=title),
        partial(panel_alt, title=title),
        there=lambda content: title in content["panels"],
    )


PICTURES = (
    LaboratoryPicture(
        "strip",
        "Every setting at a glance",
        strip,
        strip_alt,
        "Each mark is one value of one setting, all else unchanged: filled where at least 90% of "
        "the draws keep the verdict. Dashed: λ. In the panels below, a ring is the value in use "
        "and a bar is where 90% of the draws lie.",
        there=lambda content: content["questions"] == 1,
        wide=True,
    ),
    LaboratoryPicture(
        "groups",
        "Verdicts that stay",
        cards.deciding,
        groups_alt,
        "Lines: 95% intervals over questions. In the panels below, a ring is the value in use, a "
        "bar the 90% interval of the mean, and a mark is filled where at least 90% of the verdicts "
        "stay.",
        there=lambda content: content["questions"] > 1,
        wide=True,
    ),
    *(_of(factor) for factor in Factor),
)
