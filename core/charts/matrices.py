"""Pictures of an inspection's clusters, and of the matrices that mutual information is made of."""

import math
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.charts.theme import Chart, Palette, by, ink_on, pairs, share, theme
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.inspection import display as shown

# A matrix shows at most this many clusters, the likeliest; the page says so.
MOST_CLUSTERS = 40
MOST_BARS = 20
VALUES_UP_TO = 7  # clusters, for which numbers fit into the cells
LABELS_UP_TO = 24  # clusters, for which the axes can name them

NOT_FOUND = "(not found)"

MATRICES = {
    "joint": "Joint: how likely each pair is",
    "product": "Product: if being told changed nothing",
    "contribution": "Contribution: where M.I. comes from",
}


def clusters(inspection: Inspection, palette: Palette) -> Chart:
    """Bars: each cluster's share of all probability, and what was not found, in grey."""
    listed = sorted(inspection.clusters, key=lambda c: -c.mass)[:MOST_BARS]
    mass = sum(c.mass for c in inspection.clusters)
    data = pd.DataFrame(
        {
            "rank": range(len(listed) + 1),
            "answer": [*(shown(c.text) for c in listed), NOT_FOUND],
            "mass": [*(c.mass for c in listed), max(0.0, 1 - mass)],
            "samples": [*(c.samples for c in listed), 0],
        }
    )
    most = math.ceil(4 * data["mass"].max()) / 4
    title = "share of all probability"
    base = alt.Chart(data)
    bars = base.mark_bar(cornerRadiusEnd=2).encode(
        x=alt.X("mass:Q", **share(title, domain=[0, most], tickCount=5)),
        y=alt.Y(
            "answer:N", sort=by("rank"), title=None, axis=alt.Axis(labelLimit=150, ticks=False)
        ),
        color=alt.ColorValue(
            palette.primary,
            condition={"test": alt.datum.rank == len(listed), "value": palette.grid},
        ),
        tooltip=[
            alt.Tooltip("answer:N"),
            alt.Tooltip("mass:Q", format=".3f", title=title),
            *([alt.Tooltip("samples:Q")] if inspection.recording.request.draws else []),
        ],
    )
    return theme(bars.properties(height=alt.Step(24)), palette)


def matrix(inspection: Inspection, which: str, palette: Palette) -> Chart:
    """One of the three matrices as a heat map; rows are answers in the prompt, columns come next.

    The joint and the product share one colour scale, or they would look alike however
    different they are. The contributions diverge around 0, by roots: a small one is seen.
    """
    m = min(len(inspection.clusters), MOST_CLUSTERS)
    tables = tables_of(inspection, m)
    data = pairs([shown(c.text) for c in inspection.clusters[:m]], tables)
    signed = "+.3f" if which == "contribution" else ".3f"
    data["label"] = [
        "0" if abs(value) < 0.0005 else format(value, signed).replace("-", "−")
        for value in data[which]
    ]
    if which == "contribution":
        reach = contribution_reach(inspection, m)
        colours, ends = [*palette.contributions], [-reach, 0, reach]
        scale = alt.Scale(type="sqrt", domain=ends, range=colours, interpolate="rgb")
        takes, adds = (reach * share**2 for share in palette.high_contributions)
        test = f"datum.contribution < {-takes} || datum.contribution > {adds}"
        ink = alt.ColorValue(palette.text, condition={"test": test, "value": palette.on_high})
    else:
        reach = max(float(tables["joint"].max()), float(tables["product"].max()))
        scale = alt.Scale(domain=[0, reach], range=list(palette.sequential))
        ink = ink_on(which, reach, palette)
    labels = m <= LABELS_UP_TO
    axis: dict[str, Any] = {"labels": labels, "ticks": False, "domain": False, "labelLimit": 96}
    # Room for title, axes and legend, then the cells, no lower than the title beside them.
    size = (170 if labels and m > 1 else 110) + min(max(44 * m, 150), 320)
    base = alt.Chart().encode(
        x=alt.X(
            "second:N",
            sort=by("column"),
            title="second answer",
            axis=alt.Axis(labelAngle=0 if m == 1 else -40, **axis),
        ),
        y=alt.Y(
            "first:N", sort=by("row"), title="first answer (in the prompt)", axis=alt.Axis(**axis)
        ),
        tooltip=[
            alt.Tooltip("first:N", title="first answer (in the prompt)"),
            alt.Tooltip("second:N", title="second answer"),
            alt.Tooltip("joint:Q", format=".4f"),
            alt.Tooltip("product:Q", format=".4f"),
            alt.Tooltip("contribution:Q", format="+.4f", title="contribution, nats"),
        ],
    )
    cells = base.mark_rect(
        stroke=palette.background, strokeWidth=1 if m <= LABELS_UP_TO else 0
    ).encode(
        color=alt.Color(
            f"{which}:Q",
            scale=scale,
            legend=alt.Legend(
                title=None, gradientLength=140, gradientThickness=8, tickCount=3, labelSeparation=10
            ),
        )
    )
    layers = [cells]
    if m <= VALUES_UP_TO:
        layers.append(base.mark_text(fontSize=12).encode(text=alt.Text("label:N"), color=ink))
    title = alt.TitleParams(MATRICES[which])
    return theme(alt.layer(*layers, data=data, height=size, title=title), palette)


def contribution_reach(inspection: Inspection, most: int) -> float:
    """Return where the colours of the contributions end, in nats.

    At the largest of the likeliest `most` clusters, but at no less than a quarter of what M.I. may
    be: of a tiny one, nothing looks large.
    """
    values = inspection.evidence.mutual_information.contributions[:most, :most]
    return max(float(abs(values).max()), inspection.information_threshold / 4)


def tables_of(inspection: Inspection, m: int) -> dict[str, NDArray[np.float64]]:
    """Return the values behind `MATRICES`, of the likeliest m clusters."""
    information = inspection.evidence.mutual_information
    return {
        "joint": information.joint[:m, :m],
        "product": information.product[:m, :m],
        "contribution": information.contributions[:m, :m],
    }


def matrix_note(inspection: Inspection, most: int = MOST_CLUSTERS) -> str:
    """Say how much of the joint is drawn, unless all of it is, and what M.I. is less by."""
    m = len(inspection.clusters)
    information = inspection.evidence.mutual_information
    sentences = []
    if m > most:
        share = information.joint[:most, :most].sum()
        sentences.append(
            f"The first {most} of {m} clusters are drawn; they cover {share:.1%} of the joint "
            "distribution. The table of all pairs and the JSON contain all."
        )
    if abs(information.correction) >= 0.0005:
        sentences.append(
            f"The contributions add up to {information.plug_in:z.3f} nats. Adjusted for "
            f"chance, M.I. is {information.value:z.3f}."
        )
    return " ".join(sentences)
