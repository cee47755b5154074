"""The three pictures of the home page; each says its finding in words too (`…_alt`)."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from core.charts.inspection import shown
from core.charts.theme import QUARTERS, Chart, Palette, share, themed, told_apart
from core.studies.amplification.curve import percent
from core.studies.home import SHORT, Doubted, Turned
from core.studies.inspection.inspection import Inspection

MOST_ANSWERS = 6
BAR = 26
TEXT = 15  # pixels: read from the back of a room, and on a telephone
OTHERS = "anything else"


def answers(inspection: Inspection, palette: Palette) -> Chart:
    """What the model says, by how probable it finds it; what was not found is one grey bar."""
    data = pd.DataFrame(_answers(inspection), columns=["answer", "probability"])
    data["order"] = range(len(data))
    data["written"] = [_short(share) for share in data["probability"]]
    base = alt.Chart(data).encode(
        y=alt.Y("answer:N", sort=alt.EncodingSortField("order"), title=None, axis=_names()),
        x=alt.X("probability:Q", **share("probability", values=QUARTERS)),
    )
    bars = base.mark_bar(height=BAR).encode(
        color=alt.ColorValue(
            palette.primary,
            condition={"test": alt.datum.order == len(data) - 1, "value": palette.grid},
        )
    )
    numbers = base.mark_text(align="left", dx=5, color=palette.text, fontSize=TEXT).encode(
        text=alt.Text("written:N")
    )
    return _large((bars + numbers).properties(height=alt.Step(BAR + 10)), palette)


def answers_alt(inspection: Inspection) -> str:
    """Say what the model answers."""
    said = ", ".join(f"{text} {percent(share)}" for text, share in _answers(inspection))
    return f"Asked “{inspection.query}”, the model answers: {said}."


def _answers(inspection: Inspection) -> list[tuple[str, float]]:
    likeliest = sorted(inspection.clusters, key=lambda c: -c.mass)[:MOST_ANSWERS]
    said = [(shown(c.text), c.mass) for c in likeliest]
    return [*said, (OTHERS, max(0.0, 1 - sum(share for _, share in said)))]


def turned(cases: Sequence[Turned], palette: Palette) -> Chart:
    """One bar a question: the right answer's share and the told one's, always 100 % together."""
    right, told = "the right answer", "the answer in the prompt"
    rows = []
    for case in cases:
        name = SHORT[case.example]
        rows += [
            (name, right, case.right, 0.0, case.share),
            (name, told, case.told, case.share, 1.0),
        ]
    data = pd.DataFrame(rows, columns=["question", "part", "answer", "start", "end"])
    data["share"] = data["end"] - data["start"]
    data["written"] = [percent(share) for share in data["share"]]
    y = alt.Y("question:N", sort=[SHORT[case.example] for case in cases], title=None, axis=_names())
    base = alt.Chart(data).encode(y=y)
    bars = base.mark_bar(height=44).encode(
        x=alt.X("start:Q", **share("share of the two answers", values=QUARTERS)),
        x2=alt.X2("end:Q"),
        color=told_apart(alt.Color, "part:N", {right: palette.rest, told: palette.epistemic}),
        tooltip=[
            alt.Tooltip("answer:N"),
            alt.Tooltip("part:N"),
            alt.Tooltip("written:N", title="share"),
        ],
    )
    wide = data[data["share"] > 0.25].assign(middle=lambda d: (d["start"] + d["end"]) / 2)
    # A letter takes about half its height; a name wider than its bar is left out.
    fits = f"datum.share * width > {0.55 * TEXT} * length(datum.answer)"
    names = alt.Chart(wide).encode(y=y)
    labels = names.mark_text(color="#11181F", fontWeight="bold", fontSize=TEXT).encode(
        x=alt.X("middle:Q"),
        text=alt.Text("answer:N"),
        opacity=alt.OpacityValue(0, condition={"test": fits, "value": 1}),
    )
    return _large((bars + labels).properties(height=alt.Step(58)), palette)


def turned_alt(cases: Sequence[Turned]) -> str:
    """Say what became of the right answers."""
    return "; ".join(
        f"{SHORT[case.example]}: {case.right} keeps {percent(case.share)} against {case.told}"
        for case in cases
    )


def doubts(cases: Sequence[Doubted], measure: str, widest: float, palette: Palette) -> Chart:
    """One bar a question up to its doubt, a dashed line at the threshold.

    The scale ends beyond `widest`, so that the measures can be compared.
    """
    data = pd.DataFrame(
        {
            "question": [SHORT[case.example] for case in cases],
            "nats": [case.value for case in cases],
            "decision": [_decision(case) for case in cases],
        }
    )
    base = alt.Chart(data).encode(
        y=alt.Y(
            "question:N", sort=[SHORT[case.example] for case in cases], title=None, axis=_names()
        ),
        x=alt.X(
            "nats:Q",
            title=f"{measure.lower()} in nats",
            scale=alt.Scale(domain=[0, 1.6 * widest]),
            axis=alt.Axis(tickCount=5),
        ),
    )
    colours = {"decides well": palette.rest, "decides badly": palette.epistemic}
    bars = base.mark_bar(height=BAR).encode(color=told_apart(alt.Color, "decision:N", colours))
    # At the right edge: beside a short bar, the threshold would run through them.
    words = base.mark_text(align="right", dx=-4, color=palette.text, fontSize=TEXT).encode(
        x=alt.XValue("width"), text=alt.Text("label:N")
    )
    words.data = data.assign(
        label=[f"{_does(case)}{'' if case.well_decided else ': bad'}" for case in cases]
    )
    limit = alt.Chart(pd.DataFrame({"λ": [cases[0].threshold]}))
    rule = limit.mark_rule(color=palette.text, strokeDash=[4, 3], size=2).encode(x=alt.X("λ:Q"))
    return _large((bars + words + rule).properties(height=alt.Step(BAR + 14)), palette)


def doubts_alt(cases: Sequence[Doubted], measure: str) -> str:
    """Say every value and decision."""
    said = "; ".join(
        f"{SHORT[case.example]} {case.value:.2f} nats, {_does(case)}, {_decision(case)}"
        for case in cases
    )
    return f"{measure}, threshold {cases[0].threshold:.2f} nats: {said}."


def _does(case: Doubted) -> str:
    return "answers" if case.answers else "abstains"


def _decision(case: Doubted) -> str:
    return "decides well" if case.well_decided else "decides badly"


def _names() -> alt.Axis:
    return alt.Axis(labelLimit=150, ticks=False, domain=False)


def _short(share: float) -> str:
    return percent(share).replace("less than ", "<").replace("more than ", ">")


def _large(chart: alt.LayerChart, palette: Palette) -> Chart:
    """Give the chart the palette's configuration in larger letters."""
    result = themed(chart, palette)
    for part in (result.config.axis, result.config.legend):
        part.labelFontSize = TEXT
    result.config.axis.titleFontSize = TEXT
    result.config.legend.columns = 1  # side by side, the words would not fit on a telephone
    return result
