"""The related scores: beside M.I., by threshold, and what V̂ promises."""

import math
from typing import Final

import altair as alt
import pandas as pd

from core.charts.laboratory.forest import forest, forest_alt
from core.charts.laboratory.pictures import LaboratoryPicture, PictureContent
from core.charts.theme import AUTOSIZE, Chart, Palette, across, lines_apart, theme
from core.codec import count_of

HEIGHT: Final = 260
PASSES, TESTED = "a single candidate is sure", "a single candidate is tested like several"


def scores(content: PictureContent, palette: Palette) -> Chart:
    """How well each score finds wrong answers, with its 95% interval."""
    rows = content["scores"]
    ends = [value for several in rows.values() for value in several if value is not None]
    low = min([0.4, *(math.floor(10 * end) / 10 for end in ends)])
    return forest(rows, "AUROC for wrong answers", [low, 1.0], palette, beside=0.5)


def scores_alt(content: PictureContent) -> str:
    """Say every AUROC with its interval."""
    questions = count_of(content["questions"], "question")
    return forest_alt(content["scores"], f"AUROC for wrong answers on {questions}, 95% interval")


def _lines(content: PictureContent) -> dict[str, list[tuple[str, float]]]:
    """Return the known AUROCs of either way, by threshold."""
    return {
        which: [
            (least, rank)
            for least, rank in zip(content["thresholds"], content[name], strict=True)
            if rank is not None
        ]
        for which, name in ((PASSES, "sure"), (TESTED, "tested"))
    }


def thresholds(content: PictureContent, palette: Palette) -> Chart:
    """The two-stage test at every threshold of its first stage, and M.I. beside it."""
    rows = [(which, *point) for which, line in _lines(content).items() for point in line]
    data = pd.DataFrame(rows, columns=["which", "threshold", "auroc"])
    ours = content["information"]
    lowest = min([0.5, *data["auroc"], *([] if ours is None else [ours])])
    y = alt.Y(
        "auroc:Q",
        title="AUROC for wrong answers",
        scale=alt.Scale(domain=[math.floor(10 * lowest) / 10, 1], nice=False),
        axis=alt.Axis(tickCount=6, format=".1f"),
    )
    colours = {PASSES: palette.primary, TESTED: palette.muted}
    color, dash = lines_apart("which:N", colours, {PASSES: [1, 0], TESTED: [6, 3]}, columns=1)
    layers: list[alt.Chart] = [
        alt.Chart(data)
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=50, filled=True))
        .encode(
            x=alt.X(
                "threshold:O",
                title="threshold of the first stage, p̂(y|x)",
                axis=alt.Axis(labelAngle=0, labelOverlap=True),
                scale=alt.Scale(domain=content["thresholds"]),
            ),
            y=y,
            color=color,
            strokeDash=dash,
            tooltip=[
                alt.Tooltip("which:N", title="way"),
                alt.Tooltip("threshold:O"),
                alt.Tooltip("auroc:Q", format=".3f", title="AUROC"),
            ],
        )
    ]
    if ours is not None:
        layers += across(y, ours, f"M.I. {ours:.2f}", palette)
    return theme(alt.layer(*layers).properties(height=HEIGHT, autosize=AUTOSIZE), palette)


def thresholds_alt(content: PictureContent) -> str:
    """Say the best threshold of either way, and M.I. beside it."""
    sentences = []
    for which, line in _lines(content).items():
        if line:
            least, rank = max(line, key=lambda point: point[1])
            sentences.append(f"where {which}, at best {rank:.2f} at {least}")
    ours = content["information"]
    sentences.append("M.I. undefined" if ours is None else f"M.I. {ours:.2f}")
    return f"AUROC of the two-stage test by its threshold: {'; '.join(sentences)}."


def calibration(content: PictureContent, palette: Palette) -> Chart:
    """The squared error of answers against the V̂ that allows for it; calibrated on the diagonal."""
    rows = [
        (count, promised, value, value if low is None else low, value if high is None else high)
        for count, promised, (value, low, high) in zip(
            content["answers"][:-1], content["promised"][:-1], content["errors"][:-1], strict=True
        )
    ]
    data = pd.DataFrame(rows, columns=["answers", "promised", "error", "lower", "upper"])
    reach = max([0.05, *data["upper"], *data["promised"]])
    low = min([0.0, *data["promised"]])
    pad = 0.04 * (reach - low)
    scale = alt.Scale(domain=[low - pad, reach + pad], nice=False)
    axis = alt.Axis(tickCount=5, format=".2~f")
    x = alt.X("promised:Q", title="V̂(y|x): the squared error allowed for", scale=scale, axis=axis)
    title = "mean squared error of p̂(y|x)"
    y = alt.Y("error:Q", title=title, scale=scale, axis=axis)
    base = alt.Chart(data).encode(
        x=x,
        tooltip=[
            alt.Tooltip("answers:Q", format=",d"),
            alt.Tooltip("promised:Q", format=".4f", title="V̂"),
            alt.Tooltip("error:Q", format=".4f", title="squared error"),
            alt.Tooltip("lower:Q", format=".4f", title="interval from"),
            alt.Tooltip("upper:Q", format=".4f", title="to"),
        ],
    )
    layers = (
        alt.Chart(pd.DataFrame({"promised": [0.0, reach], "error": [0.0, reach]}))
        .mark_line(color=palette.muted, strokeDash=[4, 3], strokeWidth=1.5)
        .encode(x=x, y=y),
        base.mark_rule(color=palette.primary, strokeWidth=2.5, opacity=0.5).encode(
            y=alt.Y("lower:Q", title=title, scale=scale), y2=alt.Y2("upper:Q")
        ),
        base.mark_point(filled=True, size=80, opacity=1, color=palette.primary).encode(y=y),
    )
    return theme(alt.layer(*layers).properties(height=HEIGHT, autosize=AUTOSIZE), palette)


def calibration_alt(content: PictureContent) -> str:
    """Say what V̂ allows and what the error is, over all answers."""
    value, low, high = content["errors"][-1]
    span = "" if low is None or high is None else f" ({low:.3f} to {high:.3f})"
    return (
        f"Squared error of the model’s probabilities against V̂, "
        f"{count_of(content['answers'][-1], 'answer')}: {value:.3f}{span} where V̂ allows "
        f"{content['promised'][-1]:.3f}; {content['beyond']:.0%} of the answers err by more than "
        f"{content['times']:g} times V̂."
    )


PICTURES = (
    LaboratoryPicture(
        "scores",
        "Who finds the wrong answers",
        scores,
        scores_alt,
        "With 95% intervals over questions. Dashed: guessing.",
    ),
    LaboratoryPicture(
        "thresholds",
        "The two-stage threshold",
        thresholds,
        thresholds_alt,
        "Only answers at least so probable are told. Where one is left, the paper leaves open "
        "whether the model is sure of it.",
    ),
    LaboratoryPicture(
        "calibration",
        "Second-order calibration",
        calibration,
        calibration_alt,
        "Each mark is an eighth of all answers, by V̂, with a 95% interval over questions. Dashed: "
        "calibrated. Below it, the model errs less than it says.",
        wide=True,
    ),
)
