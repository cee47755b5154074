"""Longer chains: what a third and a fourth answer add, and at what cost."""

from typing import Any, Final

import altair as alt
import pandas as pd

from core.charts.laboratory.pictures import LaboratoryPicture, PictureContent
from core.charts.theme import AUTOSIZE, Chart, Palette, contrast, lines_apart, theme
from core.codec import count_of, list_of
from core.studies.laboratory.chains import CERTIFIED, LARGEST, SAMPLED, SCORED

HEIGHT: Final = 220
ROW: Final = 26
DASHES: Final = {SCORED: [1, 0], SAMPLED: [6, 3], CERTIFIED: [2, 2], LARGEST: [1, 0]}


def _colours(palette: Palette) -> dict[str, str]:
    return {
        SCORED: palette.primary,
        SAMPLED: palette.epistemic,
        CERTIFIED: palette.primary,
        LARGEST: palette.muted,
    }


def informations(content: PictureContent, palette: Palette) -> Chart:
    """The mutual information of two, three and four answers, both ways."""
    data = pd.DataFrame(
        [(n, way, value) for way, line in content["lines"].items() for n, value in line],
        columns=["n", "way", "value"],
    )
    ways = [way for way in DASHES if way in content["lines"]]
    colours = {way: _colours(palette)[way] for way in ways}
    color, dash = lines_apart("way:N", colours, {way: DASHES[way] for way in ways}, columns=1)
    x = alt.X(
        "n:O",
        title="answers in a chain, n",
        axis=alt.Axis(labelAngle=0),
        scale=alt.Scale(padding=0.3),
    )
    y = alt.Y("value:Q", title="M.I., nats", axis=alt.Axis(tickCount=5))
    tooltip = [
        alt.Tooltip("way:N"),
        alt.Tooltip("n:O", title="answers"),
        alt.Tooltip("value:Q", format=".3f", title="nats"),
    ]
    ceiling, others = data[data["way"] == LARGEST], data[data["way"] != LARGEST]
    lines = alt.layer(
        # Wide, since an estimate often reaches it.
        alt.Chart(ceiling)
        .mark_line(strokeWidth=8, opacity=0.35)
        .encode(x=x, y=y, color=color, strokeDash=dash, tooltip=tooltip),
        alt.Chart(others)
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=60, filled=True))
        .encode(x=x, y=y, color=color, strokeDash=dash, tooltip=tooltip),
    )
    return theme(lines.properties(height=HEIGHT, autosize=AUTOSIZE), palette)


def informations_alt(content: PictureContent) -> str:
    """Say every value."""
    sentences = [
        f"{way}: {list_of([f'{value:.3f} of {n:d}' for n, value in line])} answers"
        for way, line in content["lines"].items()
    ]
    return f"Mutual information in nats, by the length of the chain: {'; '.join(sentences)}."


def prompts(content: PictureContent, palette: Palette) -> Chart:
    """How many prompts each further answer took, both ways, on a scale of square roots."""
    data = pd.DataFrame(content["costs"])
    data["answer"] = [f"answer {n:d}" for n in data["n"]]
    data["said"] = [_cost_text(row) for row in content["costs"]]
    ways = list(dict.fromkeys(data["way"]))
    colours = _colours(palette)
    room = 3.0 * max(1, data["prompts"].max())  # for the words beside the longest bar
    base = alt.Chart(data).encode(
        y=alt.Y("answer:N", title=None, axis=alt.Axis(ticks=False, domain=False)),
        yOffset=alt.YOffset("way:N", sort=ways, scale=alt.Scale(domain=ways)),
        x=alt.X(
            "prompts:Q",
            title="prompts (square-root scale)",
            scale=alt.Scale(type="sqrt", domain=[0, room], nice=False),
            axis=alt.Axis(tickCount=4, format=",d"),
        ),
        tooltip=[
            alt.Tooltip("answer:N"),
            alt.Tooltip("way:N"),
            alt.Tooltip("prompts:Q", format=",d"),
            alt.Tooltip("texts:Q", format=",d", title="texts drawn or scored"),
        ],
    )
    legend = alt.Legend(columns=1)
    bars = base.mark_bar(height=10).encode(
        color=contrast(alt.Color, "way:N", {w: colours[w] for w in ways}, legend=legend)
    )
    text = base.mark_text(align="left", dx=5, color=palette.text).encode(text=alt.Text("said:N"))
    return theme((bars + text).properties(height=alt.Step(ROW), autosize=AUTOSIZE), palette)


def _cost_text(row: dict[str, Any]) -> str:
    if not row["prompts"]:
        return "recorded already"
    return f"{count_of(row['prompts'], 'prompt')}, {count_of(row['texts'], 'text')}"


def prompts_alt(content: PictureContent) -> str:
    """Say what each further answer took."""
    sentences = [
        f"answer {row['n']:d}, {row['way']}: {_cost_text(row)}" for row in content["costs"]
    ]
    return f"What a further answer takes: {'; '.join(sentences)}."


PICTURES = (
    LaboratoryPicture(
        "informations",
        "What further answers add",
        informations,
        informations_alt,
        "At most possible, wide: ΣHᵢ − max Hᵢ. Sampled chains are adjusted for chance.",
        there=lambda content: bool(content["lines"]),
    ),
    LaboratoryPicture(
        "prompts",
        "What they cost",
        prompts,
        prompts_alt,
        "What the recording of the question holds is not asked again.",
        there=lambda content: bool(content["costs"]),
    ),
)
