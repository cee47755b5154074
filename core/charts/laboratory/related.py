"""Charts of the related scores: beside M.I., by threshold, and what V̂ promises."""

from __future__ import annotations

import math
from typing import Final

import altair as alt
import pandas as pd

from core.abstention.intervals import Interval
from core.charts.laboratory.forest import forest, forest_alt
from core.charts.theme import Chart, Palette, themed, told_apart
from core.codec import counted
from core.studies.laboratory.related import Related

HEIGHT: Final = 280
#: What the scores of the study are called beside their numbers.
NAMES: Final = {
    "mutual_information": "M.I.",
    "semantic_entropy": "S.E.",
    "min_conditional_entropy": "min C.E. (Ahdritz et al.)",
    "two_stage": "two-stage min C.E., tuned",
    "pair_covariance": "Pair cov. (Johnson et al.)",
    "covariance": "V̂ of the answer served",
    "cheat_corrected": "p̂(y) / p̂(y|y) of that answer",
}
PASSES, TESTED = "a single candidate is sure", "a single candidate is tested"


def intervals(found: Related) -> dict[str, Interval]:
    """Return the AUROC of every score, by its name."""
    return {name: found.comparison.values[key] for key, name in NAMES.items()}


def scores(found: Related, palette: Palette) -> Chart:
    """How well each score finds wrong answers, with its 95% interval."""
    rows = intervals(found)
    lowest = min((one.lower for one in rows.values() if not math.isnan(one.lower)), default=0.5)
    low = max(0.0, min(0.4, math.floor(10 * lowest) / 10))
    return forest(rows, "AUROC for wrong answers", [low, 1.0], palette, beside=0.5)


def scores_alt(found: Related) -> str:
    """Say every AUROC with its interval."""
    what = f"AUROC for wrong answers on {counted(len(found.questions), 'question')}, 95% interval"
    return forest_alt(intervals(found), what)


# ------------------------------------------------------------------------- the two stages


def thresholds(found: Related, palette: Palette) -> Chart:
    """The two-stage test at every threshold of its first stage, and M.I. beside it."""
    rows = [
        (f"{least:g}", which, rank)
        for which, fewest in ((PASSES, 2), (TESTED, 1))
        for least, rank in found.by_threshold(fewest)
        if not math.isnan(rank)
    ]
    data = pd.DataFrame(rows, columns=["threshold", "which", "auroc"])
    order = [f"{least:g}" for least, _ in found.by_threshold()]
    ours = found.comparison.values["mutual_information"].value
    lowest = min([0.5, *data["auroc"], *([] if math.isnan(ours) else [ours])])
    y = alt.Y(
        "auroc:Q",
        title="AUROC for wrong answers",
        scale=alt.Scale(domain=[math.floor(10 * lowest) / 10, 1], nice=False),
        axis=alt.Axis(tickCount=6),
    )
    colours = {PASSES: palette.primary, TESTED: palette.epistemic}
    legend = alt.Legend(columns=1, symbolType="stroke", symbolSize=300, symbolStrokeWidth=2)
    x = alt.X(
        "threshold:O",
        sort=order,
        title="threshold of the first stage, p̂(y|x)",
        axis=alt.Axis(labelAngle=0, labelOverlap=True),
        scale=alt.Scale(domain=order),
    )
    lines = (
        alt.Chart(data)
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=50, filled=True))
        .encode(
            x=x,
            y=y,
            color=told_apart(alt.Color, "which:N", colours, legend=legend),
            strokeDash=told_apart(
                alt.StrokeDash, "which:N", {PASSES: [1, 0], TESTED: [6, 3]}, legend=legend
            ),
            tooltip=[
                alt.Tooltip("which:N", title="way"),
                alt.Tooltip("threshold:O"),
                alt.Tooltip("auroc:Q", format=".3f", title="AUROC"),
            ],
        )
    )
    layers: list[alt.Chart] = [lines]
    if not math.isnan(ours):
        at = alt.Chart(pd.DataFrame({"auroc": [ours], "name": [f"M.I. {ours:.2f}"]}))
        layers.append(at.mark_rule(color=palette.text, strokeDash=[4, 3]).encode(y=y))
        layers.append(
            at.mark_text(align="left", dx=4, dy=-7, color=palette.text).encode(
                x=alt.XValue(0), y=y, text=alt.Text("name:N")
            )
        )
    return themed(alt.layer(*layers).properties(height=HEIGHT), palette)


def thresholds_alt(found: Related) -> str:
    """Say the best threshold of either way, and M.I. beside it."""
    said = []
    for which, fewest in ((PASSES, 2), (TESTED, 1)):
        known = [(rank, least) for least, rank in found.by_threshold(fewest) if rank == rank]
        if known:
            rank, least = max(known)
            said.append(f"where {which}, at best {rank:.2f} at {least:g}")
    ours = found.comparison.values["mutual_information"].value
    said.append("M.I. undefined" if math.isnan(ours) else f"M.I. {ours:.2f}")
    return f"AUROC of the two-stage test by its threshold: {'; '.join(said)}."


# -------------------------------------------------------------- second-order calibration


def calibration(found: Related, palette: Palette) -> Chart:
    """The squared error of answers against the V̂ that allows for it; calibrated on the diagonal."""
    bins = found.calibration()
    data = pd.DataFrame(
        [
            (one.promised, one.error.value, *_span(one.error), one.answers)
            for one in bins
            if not math.isnan(one.error.value)
        ],
        columns=["promised", "error", "lower", "upper", "answers"],
    )
    reach = max([0.05, *data["upper"], *data["promised"]]) if len(data) else 0.05
    low = min([0.0, *data["promised"]]) if len(data) else 0.0
    pad = 0.04 * (reach - low)
    scale = alt.Scale(domain=[low - pad, reach + pad], nice=False)
    # Above 0, or there would be a square error below it.
    y_scale = alt.Scale(domain=[min(low, 0.0) - pad, reach + pad], nice=False)
    x = alt.X("promised:Q", title="V̂: what it allows", scale=scale, axis=alt.Axis(tickCount=6))
    y_title = "mean squared error of p̂"
    y = alt.Y("error:Q", title=y_title, scale=y_scale, axis=alt.Axis(tickCount=6))
    diagonal = pd.DataFrame({"promised": [max(low, 0.0), reach], "error": [max(low, 0.0), reach]})
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
        alt.Chart(diagonal)
        .mark_line(color=palette.muted, strokeDash=[4, 3], strokeWidth=1.5)
        .encode(x=x, y=y),
        base.mark_rule(color=palette.primary, strokeWidth=2, opacity=0.6).encode(
            y=alt.Y("lower:Q", title=y_title, scale=y_scale), y2=alt.Y2("upper:Q")
        ),
        base.mark_point(filled=True, size=80, opacity=1, color=palette.primary).encode(y=y),
    )
    return themed(alt.layer(*layers).properties(height=HEIGHT), palette)


def _span(one: Interval) -> tuple[float, float]:
    return (one.value, one.value) if math.isnan(one.lower) else (one.lower, one.upper)


def calibration_alt(found: Related) -> str:
    """Say what V̂ allows and what the error is, over all answers."""
    all_ = found.overall
    return (
        f"Squared error of the model’s probabilities against V̂, "
        f"{counted(all_.answers, 'answer')}: {all_.error.value:.3f} "
        f"({all_.error.lower:.3f} to {all_.error.upper:.3f}) where V̂ allows {all_.promised:.3f}."
    )
