"""Charts of a run: what its scores are worth, and its questions by two of them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

import altair as alt
import numpy as np
import pandas as pd

from core.charts.line_labels import before_names, same_word
from core.charts.theme import Chart, Palette, contrast, theme
from core.studies.evaluation.row_table import QuestionPoints
from core.studies.evaluation.saved_run import DIVERSE
from core.uncertainty.scores import SCORES

HEIGHT: Final = 320
ROW_HEIGHT: Final = 42  # of a dot
LINE_HEIGHT: Final = 15  # of an axis' title
NUMBER_WIDTH, NOTE_WIDTH = 56, 88  # pixels of a number behind the plot, and with a note
NAMES: Final = alt.ExprRef("width < 350 ? datum.short : datum.name")
NUMBERS: Final = alt.ExprRef("datum.number")
OF_NUMBERS: Final = alt.ExprRef("datum.note ? -7 : 0")
#: Names that are too long beside a dot on a phone.
SHORT: Final = {
    "Minimum conditional entropy": "Min. cond. entropy",
    "Certified mutual information": "Certified mutual inf.",
}
#: On a phone, few, so that none of their labels is left out.
TICKS: Final = alt.ExprRef("width < 350 ? 3 : 5")
#: What AUROC is, as an axis says it.
WRONG_FIRST: Final = "pairs with the wrong answer doubted more"
MOST_POINTS: Final = 4_000  # in a scatter; Altair draws no more than 5,000 rows
MOST_SOURCES: Final = 5  # with a shape of their own
#: Of the names of sources: on a phone, each has a line of its own.
COLUMNS: Final = alt.ExprRef("width < 350 ? 1 : 2")
NAME_WIDTH: Final = alt.ExprRef("width / (width < 350 ? 1 : 2) - 40")
OTHERS: Final = "other sources"
SHAPES: Final = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


def symbol_of(score: str) -> str:
    """Return what the paper calls a score."""
    return SCORES[score].symbol


def one_line(text: str) -> str:
    """Return a source as it can be drawn: Vega puts names into expressions."""
    return " ".join(text.split()) or "(none)"


# ------------------------------------------------------------------- dots and whiskers


@dataclass(frozen=True)
class Estimate:
    """A number with its interval, as it is drawn: a row."""

    name: str
    sign: str  # beneath the name: what it is
    value: float
    # lower, upper: NaN where there is no interval.
    lower: float
    upper: float
    number: str  # behind the plot, and what is beneath it
    note: str = ""
    is_shown: bool = True  # a filled dot; else a ring
    is_main: bool = False


def estimates(
    rows: Sequence[Estimate],
    line: tuple[float, str, str, str],
    title: str,
    form: str,
    palette: Palette,
) -> Chart:
    """Numbers with their intervals, a row each, beside a line; the main one in blue.

    `line`: where it stands, what is written above it, above the numbers behind the plot, and above
    the names where there is a ring: what it means.
    """
    reference, label, heading, ring_means = line
    ring_means *= not all(each.is_shown for each in rows)
    data = pd.DataFrame([vars(each) for each in rows], columns=[f.name for f in fields(Estimate)])
    data = data.assign(short=data["name"].replace(SHORT), place=range(len(rows)))
    ends = np.append(data[["value", "lower", "upper"]].to_numpy(float).ravel(), reference)
    if form.endswith("%"):
        ends = np.append(ends, 1.0)  # which is perfect
    ends = ends[np.isfinite(ends)]
    room = before_names(NOTE_WIDTH if data["note"].any() else NUMBER_WIDTH)
    scale = alt.Scale(
        domain=[float(ends.min()), float(ends.max())], nice=True, zero=False, range=room
    )
    x = alt.X(
        "value:Q",
        title=title.split("\n"),
        scale=scale,
        axis=alt.Axis(tickCount=TICKS, labelSeparation=8, format=form),
    )
    y = alt.Y("place:O", title=None, axis=None)
    is_main = {"test": "datum.is_main", "value": palette.primary}
    ink = alt.ColorValue(palette.muted, condition=is_main)
    ring = {"test": "!datum.is_shown", "value": palette.background}
    at = alt.Chart(pd.DataFrame({"at": [reference], "label": [label]})).encode(
        x=alt.X("at:Q", scale=scale)
    )
    layers = (
        at.mark_rule(color=palette.text),
        at.mark_text(baseline="bottom", color=palette.text).encode(
            y=alt.YValue(-4), text=alt.Text("label:N")
        ),
        *(
            at.mark_text(align="right", baseline="bottom", dx=dx, color=palette.muted).encode(
                x=alt.XValue(end), y=alt.YValue(-4), text=alt.TextValue(words)
            )
            for end, dx, words in ((0, -8, ring_means), ("width", 0, heading))
        ),
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
        *(
            alt.Chart(data)
            .mark_text(align="right", dx=dx, dy=down, text=text, **looks)
            .encode(x=alt.XValue(at), y=y, **({"color": ink} if at else {}))
            for at, dx, text, down, looks in (
                (0, -8, NAMES, -7, {"fontSize": 12, "color": palette.text}),
                (0, -8, alt.ExprRef("datum.sign"), 7, {"fontSize": 11, "color": palette.muted}),
                # In a column of their own, where no line crosses them.
                ("width", 0, NUMBERS, OF_NUMBERS, {"fontSize": 12, "fontWeight": "bold"}),
                ("width", 0, alt.ExprRef("datum.note"), 7, {"fontSize": 11}),
            )
        ),
    )
    more = LINE_HEIGHT * max(title.count("\n") - 1, 0)  # beneath the axis
    height = ROW_HEIGHT * max(len(rows), 1) + more
    return theme(alt.layer(*layers).properties(height=height), palette)


# ---------------------------------------------------------------------------- scatter


CHOSEN: Final = "chosen"  # the scatter's parameter in which a person chooses
FIELDS: Final = ("entropy", "information")
TEN_TICKS: Final = alt.Axis(tickCount=10)


def scatter(points: QuestionPoints, palette: Palette) -> Chart:
    """Semantic entropy against mutual information: wrong answers filled, a shape for a source.

    Two lines part what either doubts from the rest.
    """
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
    line = alt.Chart(pd.DataFrame({"doubted above": [DIVERSE]})).mark_rule(color=palette.text)
    lines = line.encode(x="doubted above:Q") + line.encode(y="doubted above:Q")
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
                    columns=COLUMNS,
                    labelLimit=NAME_WIDTH,
                    labelExpr=f"slice(datum.label, {same_word(shapes)})",
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
    return theme((lines + marks).properties(height=HEIGHT + 60), palette)
