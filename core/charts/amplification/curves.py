"""Charts of amplification: what becomes of an answer as another one is repeated.

Colour and dash tell the queries apart; each chart says its finding in words too (`…_alt`).
"""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Sequence

import altair as alt
import pandas as pd

from core.charts.theme import (
    DASHES,
    POWERS,
    QUARTERS,
    Chart,
    Palette,
    repetitions,
    share,
    themed,
    told_apart,
)
from core.codec import shortened
from core.studies.amplification.curve import Amplification, Point
from core.studies.amplification.gallery import quartiles

SCALES = ("linear", "log")
MOST_CURVES = 7  # as many as there are colours
HEIGHT, SMALL = 260, 170
# As wide as its column, and as high as the plot and its legend, which may be long.
AUTOSIZE = alt.AutoSizeParams(type="fit-x", contains="padding")
MOST_POWERS = 6  # of ten, marked on an axis besides 1
TICKS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
REPETITIONS = alt.Tooltip("t:Q", title="repetitions")
SHARE = alt.Tooltip("share:Q", title="P(answer) of the two", format=".2%")
LONGEST_NAME = 70
LONGEST_ANSWER = 28
LEGEND_WIDTH = 46  # characters a line: what a telephone has room for
# A constant, so that no text of a person or a model is ever read as an expression.
IN_LINES = "split(datum.label, '\\n')"
# One below the other, so that a telephone shows them.
LEGEND = alt.Legend(columns=1, labelLimit=480, labelExpr=IN_LINES, rowPadding=4)


def name(amplification: Amplification, number: int) -> str:
    """Return what the legend calls a curve, in lines: its number, query, answers, probabilities.

    The probabilities are those before any repetition, as in the paper's captions; where they
    are not known the answers stand alone.
    """
    case, first = amplification.case, amplification.points[0]
    told = first.repetitions == 0 and first.log_likelihood_answer is not None
    values = (first.log_likelihood_answer, first.log_likelihood_repeated)
    ours, theirs = (
        f"“{shortened(text, LONGEST_ANSWER)}”{f' {initial(value)}' if told else ''}"
        for text, value in zip((case.answer, case.repeated), values, strict=True)
    )
    answers = [f"{ours},", f"repeated: {theirs}"]
    together = [" ".join(answers)] if len(" ".join(answers)) <= LEGEND_WIDTH else answers
    parts = [f"{number}. {shortened(case.query, LONGEST_NAME)}", *together]
    return "\n".join(line for part in parts for line in textwrap.wrap(part, LEGEND_WIDTH))


def initial(log_likelihood: float | None) -> str:
    """Return a probability as the paper's captions write it, from its logarithm in nats."""
    if log_likelihood is None:
        return "unknown"
    if log_likelihood == -math.inf:
        return "0"
    if log_likelihood >= math.log(0.9995):
        return "≈ 1.0"
    if log_likelihood >= math.log(0.001):
        return f"{math.exp(log_likelihood):.3f}"
    exponent = math.floor(log_likelihood / math.log(10))
    mantissa = f"{math.exp(log_likelihood - exponent * math.log(10)):.2g}"
    if mantissa == "10":
        mantissa, exponent = "1", exponent + 1
    raised = str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{mantissa} × 10{raised}"


def described(amplification: Amplification) -> str:
    """Return query and answers with their initial probabilities, as the paper's captions do."""
    case, first = amplification.case, amplification.points[0]
    a, b = initial(first.log_likelihood_answer), initial(first.log_likelihood_repeated)
    if first.log_likelihood_answer is None or first.repetitions:
        return f"Q: {case.query}  A: {case.answer} and, repeated, {case.repeated}"
    return f"Q: {case.query}  A: {case.answer} ({a}) and, repeated, {case.repeated} ({b})"


# --------------------------------------------------------------------------- the curves


def curves(found: Sequence[Amplification], scale: str, palette: Palette) -> Chart:
    """The normalised probability of each query's answer against the repetitions."""
    rows = [
        (
            *(name(a, i + 1), a.case.answer, a.case.repeated),
            *(p.repetitions, p.normalised_probability, p.lower, p.upper),
        )
        for i, a in enumerate(found)
        for p in a.points
        if p.normalised_probability is not None
    ]
    columns = ["query", "answer", "told", "t", "share", "lower", "upper"]
    data = pd.DataFrame(rows, columns=columns)
    base, colour = alt.Chart(data).encode(x=_repetitions(found, scale)), _colour(found, palette)
    y = alt.Y("share:Q", **share("P(answer) of the two", tickCount=5))
    half = alt.Chart(pd.DataFrame({"y": [0.5]})).mark_rule(color=palette.muted, strokeDash=[2, 4])
    layers: list[alt.Chart | alt.LayerChart] = [half.encode(y=alt.Y("y:Q"))]
    if data["lower"].notna().any():
        layers.append(
            base.mark_area(opacity=0.18).encode(
                y=alt.Y("lower:Q"), y2=alt.Y2("upper:Q"), color=colour
            )
        )
    layers += [
        base.mark_line(interpolate="linear", size=2.5).encode(
            y=y, color=colour, strokeDash=_dash(found)
        ),
        base.mark_point(filled=True, size=_size(found)).encode(
            y=y,
            color=colour,
            tooltip=[
                alt.Tooltip("query:N"),
                alt.Tooltip("answer:N"),
                alt.Tooltip("told:N"),
                REPETITIONS,
                SHARE,
            ],
        ),
    ]
    return themed(alt.layer(*layers).properties(height=HEIGHT, autosize=AUTOSIZE), palette)


def curves_alt(found: Sequence[Amplification]) -> str:
    """Say what became of every answer."""
    return " ".join(f"{a.case.query} {a.verdict}" for a in found)


def probabilities(found: Sequence[Amplification], scale: str, palette: Palette) -> Chart:
    """The raw probabilities of both answers of each query, on a logarithmic axis."""
    rows = [
        (name(a, i + 1), which, text, p.repetitions, value / math.log(10), math.exp(value))
        for i, a in enumerate(found)
        for p in a.points
        for which, text, value in (
            ("answer", a.case.answer, p.log_likelihood_answer),
            ("repeated", a.case.repeated, p.log_likelihood_repeated),
        )
        if value is not None and value > -math.inf
    ]
    data = pd.DataFrame(rows, columns=["query", "which", "text", "t", "log10", "probability"])
    powers = _powers(data["log10"].tolist())
    base = alt.Chart(data).encode(
        x=_repetitions(found, scale),
        y=alt.Y(
            "log10:Q",
            title="probability",
            scale=alt.Scale(domainMin=min(powers), domainMax=0, nice=False),
            axis=alt.Axis(values=powers, labelExpr="datum.value == 0 ? '1' : '1e' + datum.value"),
        ),
        color=_colour(found, palette, legend=len(found) > 1),
    )
    legend = alt.Legend(
        orient="top", symbolFillColor=palette.text, symbolStrokeColor=palette.text
    )  # beside the other legend, below, a telephone has no room
    lines = base.mark_line(size=2).encode(
        strokeDash=told_apart(
            alt.StrokeDash, "which:N", {"answer": [1, 0], "repeated": [5, 3]}, legend=legend
        ),
        detail=alt.Detail("query:N"),
    )
    points = base.mark_point(filled=True, size=_size(found)).encode(
        shape=told_apart(
            alt.Shape, "which:N", {"answer": "circle", "repeated": "square"}, legend=legend
        ),
        tooltip=[
            alt.Tooltip("query:N"),
            alt.Tooltip("text:N", title="answer"),
            alt.Tooltip("which:N", title="which"),
            REPETITIONS,
            alt.Tooltip("probability:Q", format=".3~g"),
        ],
    )
    return themed((lines + points).properties(height=HEIGHT, autosize=AUTOSIZE), palette)


def probabilities_alt(found: Sequence[Amplification]) -> str:
    """Say where the probabilities begin and end."""
    return " ".join(
        f"{a.case.query} {text}: from {initial(_of(a.points[0], which))} to "
        f"{initial(_of(a.points[-1], which))}."
        for a in found
        for which, text in (("answer", a.case.answer), ("repeated", a.case.repeated))
    )


def _powers(exponents: Sequence[float]) -> list[int]:
    """Return the powers of ten to mark: whole ones, from certainty to below the smallest."""
    lowest = min(math.floor(min(exponents, default=-1)), -1)
    steps = (digit * 10**power for power in range(9) for digit in (1, 2, 5))
    step = next(step for step in steps if -lowest <= step * MOST_POWERS)
    return list(range(0, step * math.floor(lowest / step) - 1, -step))


def _of(point: Point, which: str) -> float | None:
    return point.log_likelihood_answer if which == "answer" else point.log_likelihood_repeated


# ------------------------------------------------------------------------ small multiples


def small(amplification: Amplification, beside: Amplification | None, palette: Palette) -> Chart:
    """One query's normalised probability, small enough to stand beside others.

    `beside` is the same query's curve of another model: dashed.
    """
    x = _repetitions([amplification], "log", ticks=POWERS)
    y = alt.Y("share:Q", **share(None, values=[0, 0.5, 1]))
    layers = []
    if beside is not None:
        other = _points(beside).encode(x=x, y=y)
        layers.append(other.mark_line(color=palette.muted, size=1.5, strokeDash=[4, 3]))
    colour = palette.epistemic if amplification.overtaken_at is not None else palette.primary
    base = _points(amplification).encode(x=x, y=y)
    marks = base.mark_point(filled=True, size=30, color=colour).encode(tooltip=[REPETITIONS, SHARE])
    layers += [base.mark_line(color=colour, size=2), marks]
    return themed(alt.layer(*layers).properties(height=SMALL), palette)


def _points(amplification: Amplification) -> alt.Chart:
    points = [(p.repetitions, p.normalised_probability) for p in amplification.points]
    rows = [point for point in points if point[1] is not None]
    return alt.Chart(pd.DataFrame(rows, columns=["t", "share"]))


def band(found: Sequence[Amplification], palette: Palette) -> Chart:
    """Several questions' curves: each one thin, their quartiles a band, the median on top."""
    lower, median, upper = quartiles(found)
    times = [point.repetitions for point in found[0].points]
    summary = pd.DataFrame({"t": times, "lower": lower, "median": median, "upper": upper})
    each = pd.DataFrame(
        [
            {"case": i, "t": p.repetitions, "share": p.normalised_probability}
            for i, a in enumerate(found)
            for p in a.points
        ]
    )
    x = _repetitions(found, "log", ticks=POWERS)
    y = alt.Y("share:Q", **share(None, values=QUARTERS))
    questions, base = alt.Chart(each), alt.Chart(summary).encode(x=x)
    thin = questions.mark_line(color=palette.muted, size=1, opacity=0.3).encode(
        x=x, y=y, detail=alt.Detail("case:N")
    )
    area = base.mark_area(color=palette.rest, opacity=0.35).encode(
        y=alt.Y("lower:Q", title=None), y2=alt.Y2("upper:Q")
    )
    line = base.mark_line(color=palette.primary, size=3).encode(y=alt.Y("median:Q", title=None))
    points = base.mark_point(color=palette.primary, filled=True, size=35).encode(
        y=alt.Y("median:Q", title=None),
        tooltip=[
            REPETITIONS,
            *(alt.Tooltip(f"{q}:Q", format=".1%") for q in ("lower", "median", "upper")),
        ],
    )
    return themed((thin + area + line + points).properties(height=SMALL + 40), palette)


def band_alt(title: str, found: Sequence[Amplification]) -> str:
    """Say where the median begins and ends."""
    _, median, _ = quartiles(found)
    most = found[0].points[-1].repetitions
    questions = f"{len(found)} question{'s' if len(found) > 1 else ''}"
    return (
        f"{title}, {questions}: the median share of the answer goes from "
        f"{median[0]:.0%} to {median[-1]:.0%} after {most} repetitions."
    )


# --------------------------------------------------------------------------------- parts


def _repetitions(found: Sequence[Amplification], scale: str, ticks: Sequence[int] = TICKS) -> alt.X:
    """Return the axis of repetitions; the logarithmic one has a place for 0."""
    most = max((a.points[-1].repetitions for a in found), default=0)
    if scale == "linear":
        return alt.X("t:Q", title="repetitions", axis=alt.Axis(tickMinStep=1))
    return repetitions("repetitions", max(most, 1), [t for t in ticks if t <= most])


def _colour(found: Sequence[Amplification], palette: Palette, *, legend: bool = True) -> alt.Color:
    looks = dict(zip(_names(found), itertools.cycle(palette.categories), strict=False))
    return told_apart(alt.Color, "query:N", looks, legend=LEGEND if legend else None)


def _dash(found: Sequence[Amplification]) -> alt.StrokeDash:
    dashes = itertools.cycle(dash or [1, 0] for dash in DASHES)
    looks = dict(zip(_names(found), dashes, strict=False))
    return told_apart(alt.StrokeDash, "query:N", looks, legend=LEGEND)


def _names(found: Sequence[Amplification]) -> list[str]:
    return [name(a, i + 1) for i, a in enumerate(found)]


def _size(found: Sequence[Amplification]) -> int:
    """Return the size of the points that carry the tooltips: many of them must not hide a line."""
    return 14 if max((len(a.points) for a in found), default=0) > 20 else 45
