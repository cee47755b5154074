"""Charts of longer chains: what a third and a fourth answer add, and at what cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import altair as alt
import pandas as pd

from core.charts.theme import Chart, Palette, themed, told_apart
from core.codec import counted, listed
from core.studies.laboratory.chains import Chains

HEIGHT: Final = 280
ROW: Final = 26
SCORED, SAMPLED = "every answer after every chain", "sampled chains"
CERTIFIED, LARGEST = "certainly at least", "at most possible"
WAYS: Final = (SCORED, SAMPLED, CERTIFIED, LARGEST)
_DASHES: Final = ([1, 0], [6, 3], [2, 2], [1, 4])
_COLUMNS = ["n", "way", "value"]


def values(found: Chains) -> list[tuple[int, str, float]]:
    """Return what is drawn: n, the way, and nats."""
    rows = [(one.n, SCORED, one.value) for one in found.scored]
    rows += [(one.n, SAMPLED, one.value) for one in found.sampled]
    rows += [(one.n, CERTIFIED, one.certified) for one in found.scored if one.certified is not None]
    return rows + [(one.n, LARGEST, one.largest) for one in found.scored]


def informations(found: Chains, palette: Palette) -> Chart:
    """The mutual information of two, three and four answers, both ways."""
    data = pd.DataFrame(values(found), columns=_COLUMNS)
    ways = [way for way in WAYS if way in set(data["way"])]
    colours = dict(
        zip(
            WAYS,
            (palette.primary, palette.epistemic, palette.primary, palette.muted),
            strict=True,
        )
    )
    dashes = dict(zip(WAYS, _DASHES, strict=True))
    legend = alt.Legend(columns=1, symbolType="stroke", symbolSize=300, symbolStrokeWidth=2)
    color = told_apart(alt.Color, "way:N", {w: colours[w] for w in ways}, legend=legend)
    lines = (
        alt.Chart(data)
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=60, filled=True))
        .encode(
            x=alt.X(
                "n:O",
                title="answers in a chain, n",
                axis=alt.Axis(labelAngle=0),
                scale=alt.Scale(padding=0.3),
            ),
            y=alt.Y("value:Q", title="M.I., nats", axis=alt.Axis(tickCount=5)),
            color=color,
            strokeDash=told_apart(
                alt.StrokeDash, "way:N", {w: dashes[w] for w in ways}, legend=legend
            ),
            tooltip=[
                alt.Tooltip("way:N"),
                alt.Tooltip("n:O", title="answers"),
                alt.Tooltip("value:Q", format=".3f", title="nats"),
            ],
        )
    )
    return themed(lines.properties(height=HEIGHT), palette)


def informations_alt(found: Chains) -> str:
    """Say every value."""
    rows = values(found)
    said = []
    for way in WAYS:
        if here := [f"{value:.3f} of {n}" for n, name, value in rows if name == way]:
            said.append(f"{way}: {listed(here)} answers")
    return f"Mutual information in nats, by the length of the chain: {'; '.join(said)}."


def costs(found: Chains) -> list[tuple[str, str, int, int]]:
    """Return what each further answer took: its place, the way, prompts and texts."""
    ways = ((SCORED, found.scored), (SAMPLED, found.sampled))
    return [
        (f"answer {one.n}", way, one.cost.prompts, one.cost.texts)
        for way, several in ways
        for one in several
    ]


def prompts(found: Chains, palette: Palette) -> Chart:
    """How many prompts each further answer took, both ways, on a scale of square roots."""
    rows = costs(found)
    data = pd.DataFrame(rows, columns=["answer", "way", "prompts", "texts"])
    data["said"] = [_took(row) for row in rows]
    ways = list(dict.fromkeys(data["way"]))
    colours = dict(zip((SCORED, SAMPLED), (palette.primary, palette.epistemic), strict=True))
    base = alt.Chart(data).encode(
        y=alt.Y("answer:N", title=None, axis=alt.Axis(ticks=False, domain=False)),
        yOffset=alt.YOffset("way:N", sort=ways, scale=alt.Scale(domain=ways)),
        x=alt.X(
            "prompts:Q",
            title="prompts (square-root scale)",
            scale=alt.Scale(type="sqrt", domain=[0, _room(data["prompts"])], nice=False),
            axis=alt.Axis(tickCount=4, format="~s"),
        ),
        tooltip=[
            alt.Tooltip("answer:N"),
            alt.Tooltip("way:N"),
            alt.Tooltip("prompts:Q", format=",d"),
            alt.Tooltip("texts:Q", format=",d", title="texts drawn or scored"),
        ],
    )
    bars = base.mark_bar(height=10).encode(
        color=told_apart(
            alt.Color, "way:N", {w: colours[w] for w in ways}, legend=alt.Legend(columns=1)
        )
    )
    text = base.mark_text(align="left", dx=5, color=palette.text).encode(text=alt.Text("said:N"))
    return themed((bars + text).properties(height=alt.Step(ROW)), palette)


def _room(prompts: Sequence[int]) -> float:
    """Return an axis on which the words beside the longest bar have a place, too."""
    return 3.0 * max([*prompts, 1])


def _took(row: tuple[str, str, int, int]) -> str:
    _, _, asked, texts = row
    if not asked:
        return "recorded already"
    return f"{counted(asked, 'prompt')}, {counted(texts, 'text')}"


def prompts_alt(found: Chains) -> str:
    """Say what each further answer took."""
    said = [
        f"{answer}, {way}: {_took((answer, way, *rest))}" for answer, way, *rest in costs(found)
    ]  # type: ignore[arg-type]
    return f"What a further answer takes: {'; '.join(said)}."
