"""Q̃ beside P̃ over pairs of answers, and the mass that should not be there."""

from functools import partial
from typing import Any, Final

import altair as alt
import numpy as np
import pandas as pd

from core.charts.laboratory.pictures import COLUMNS, LaboratoryPicture, PictureContent
from core.charts.theme import Chart, Palette, by, contrast, ink_on, pairs, share, theme
from core.codec import whole_percent

MOST: Final = 12  # texts
LEAST: Final = 0.005  # what a text has to weigh in Q̃ or P̃, as a first or a second answer
LONGEST: Final = 22  # characters of a text beside an axis
MODEL, TRUTH = "the model, Q̃", "the truth, P̃"


def _places(content: PictureContent) -> list[int]:
    """Return the texts that are drawn: what is right, and what has a weight."""
    q, p = np.array(content["q"], float), np.array(content["p"], float)
    weight = np.max(
        [q.sum(axis=1), q.sum(axis=0), p.sum(axis=1) * np.array(content["right"])], axis=0
    )
    return np.flatnonzero(weight >= LEAST)[:MOST].tolist()


def _names(content: PictureContent) -> list[str]:
    """Return texts as they are drawn: short, in one line, and the right ones marked."""
    shown = []
    for place in _places(content):
        text, right = content["texts"][place], content["right"][place]
        line = " ".join(text.split()) or "(no text)"
        line = line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
        shown.append(f"✓ {line}" if right else line)
    return [f"{name} ({i + 1})" if name in shown[:i] else name for i, name in enumerate(shown)]


def cells(content: PictureContent, palette: Palette, which: str) -> Chart:
    """A table over pairs of answers: Q̃, P̃, or Q̃ − P̃ where it is above 0."""
    names = _names(content)
    m = len(names)
    at = np.ix_(_places(content), _places(content))
    table = {key: np.array(content[key], float)[at] for key in ("q", "p", "excess")}
    data = pairs(names, table)
    data["label"] = [f"{v:.0%}" if v >= 0.005 else "" for v in data[which]]
    reach = max(float(table["q"].max()), float(table["p"].max()))  # one scale for all three
    axis: dict[str, Any] = {"ticks": False, "domain": False, "labelLimit": 110}
    far = palette.epistemic if which == "excess" else palette.primary
    colours = alt.Scale(domain=[0, reach], range=[palette.sequential[0], far], interpolate="rgb")
    base = alt.Chart(data).encode(
        x=alt.X(
            "second:N",
            sort=by("column"),
            title="second answer",
            axis=alt.Axis(labelAngle=-40, **axis),
        ),
        y=alt.Y("first:N", sort=by("row"), title="first answer", axis=alt.Axis(**axis)),
        tooltip=[
            alt.Tooltip("first:N", title="first answer"),
            alt.Tooltip("second:N", title="second answer"),
            alt.Tooltip("q:Q", format=".2%", title="Q̃"),
            alt.Tooltip("p:Q", format=".2%", title="P̃"),
        ],
    )
    rects = base.mark_rect(stroke=palette.background, strokeWidth=1).encode(
        color=alt.Color(f"{which}:Q", scale=colours, legend=None)
    )
    labels = base.mark_text(fontSize=10).encode(
        text=alt.Text("label:N"), color=ink_on(which, reach, palette)
    )
    return theme(alt.layer(rects, labels).properties(height=150 + 22 * max(m, 6)), palette)


def answers(content: PictureContent, palette: Palette) -> Chart:
    """How likely each first answer is, by the model and in truth."""
    names = _names(content)
    m = len(names)
    rows = [
        (place, name, who, float(np.array(content[key], float).sum(axis=1)[place]))
        for place, name in zip(_places(content), names, strict=True)
        for who, key in ((MODEL, "q"), (TRUTH, "p"))
    ]
    data = pd.DataFrame(rows, columns=["place", "answer", "who", "share"])
    looks = {MODEL: palette.primary, TRUTH: palette.muted}
    bars = (
        alt.Chart(data)
        .mark_bar()
        .encode(
            y=alt.Y(
                "answer:N",
                sort=by("place"),
                title=None,
                axis=alt.Axis(ticks=False, domain=False, labelLimit=140),
            ),
            yOffset=alt.YOffset("who:N", scale=alt.Scale(domain=list(looks))),
            x=alt.X("share:Q", **share("probability as a first answer", tickCount=5)),
            color=contrast(
                alt.Color, "who:N", looks, legend=alt.Legend(columns=alt.ExprRef(COLUMNS))
            ),
            tooltip=[
                alt.Tooltip("answer:N"),
                alt.Tooltip("who:N", title=" "),
                alt.Tooltip("share:Q", format=".2%"),
            ],
        )
    )
    return theme(bars.properties(height=120 + 24 * max(m, 4)), palette)


def answers_alt(content: PictureContent) -> str:
    """Say how likely a wrong first and a wrong second answer is."""
    first, second = map(whole_percent, content["wrong"])
    return (
        f"The model gives a wrong first answer with a probability of {first}, and told it, a "
        f"wrong second one with {second}."
    )


def model_alt(content: PictureContent) -> str:
    """Say the largest cell."""
    top = whole_percent(_top(content, "q"))
    return f"Q̃ over {len(content['texts']) ** 2} pairs; the likeliest has {top}."


def _top(content: PictureContent, which: str) -> float:
    return float(np.array(content[which], float).max())


PICTURES = (
    LaboratoryPicture(
        "answers",
        "First answers",
        answers,
        answers_alt,
        "✓ marks what is right. The truth is smoothed: a little of it is everywhere. Texts of less "
        "than 0.5% are in the table only.",
    ),
    LaboratoryPicture(
        "excess",
        "Mass that should not be there",
        partial(cells, which="excess"),
        lambda of: f"{whole_percent(of['misplaced'])} of Q̃ is more than the truth has.",
        "Q̃ − P̃ over pairs of answers, where it is above 0. The scale is that of Q̃ and P̃.",
    ),
    LaboratoryPicture("model", "What the model says, Q̃", partial(cells, which="q"), model_alt),
    LaboratoryPicture(
        "truth",
        "What is true, P̃",
        partial(cells, which="p"),
        lambda of: f"P̃ over the same pairs; the likeliest has {whole_percent(_top(of, 'p'))}.",
    ),
)
