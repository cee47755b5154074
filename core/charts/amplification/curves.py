"""Charts of amplification: what becomes of an answer as another one is repeated.

A colour says what becomes of the answer to test: blue that it stands, orange that it gives way,
grey that both are alive. Both probabilities have those of a model's own and of a told answer.
"""

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import altair as alt
import pandas as pd

from core.charts.line_labels import LINE, ROOM, before_names, ends_of_lines
from core.charts.theme import (
    AUTOSIZE,
    IN_LINES,
    POWERS,
    Chart,
    Palette,
    contrast,
    repetitions,
    share,
    theme,
)
from core.codec import one_line
from core.studies.amplification.curve import Amplification, Case, Point
from core.studies.amplification.fate import ALIVE, Fate, fate, fates_at, last_fate, quartiles

SCALES = ("linear", "log")
MOST_CURVES = 7  # on one page
HEIGHT, SMALL, LARGE = 280, 170, 300
Line = Literal["dashed", "dotted"]
DASHES: Final[Mapping[Line, list[int]]] = {"dashed": [5, 3], "dotted": [1, 2]}
MARKED = 20  # points of a line, of which each can be marked
MOST_POWERS = 6  # of ten, marked on an axis besides 1
TICKS = (0, 1, 3, 10, 30, 100, 300, 1000)  # as far apart as a telephone has room for
REPETITIONS = alt.Tooltip("t:Q", title="repetitions")
SHARE = alt.Tooltip("share:Q", title="the answer’s share of the two", format=".2%")
REPEATED = alt.Tooltip("told:N", title="repeated")
QUARTILES = [
    REPETITIONS,
    alt.Tooltip("median:Q", format=".1%"),
    alt.Tooltip("lower:Q", title="lower quartile", format=".1%"),
    alt.Tooltip("upper:Q", title="upper quartile", format=".1%"),
]
LONGEST_NAME = 70
LONGEST_ANSWER = 28
LEGEND_WIDTH = 46  # characters a line: what a telephone has room for
LONGEST_END = 17
_LETTER = 7  # pixels of a letter of a name, at most
# Where a curve ends is its fate, in the words of its colours.
MEANINGS = {
    Fate.STAYS: f"stands: ends above {ALIVE[1]:.0%}",
    Fate.ALIVE: "both alive: ends between",
    Fate.GIVES_WAY: f"gives way: ends below {ALIVE[0]:.0%}",
}
NOT_SURE = "not sure"
# A telephone has no room for where that is.
ON_A_PHONE = alt.ExprRef("width < 450 ? split(datum.is, ':')[0] : datum.is")
VALUES = (0, ALIVE[0], 0.5, ALIVE[1], 1)  # of an axis of shares
TITLE_WIDTH = 22  # characters a line: what a fifth of the page has room for
# One below the other, so that a telephone shows them.
CAPTIONS = alt.Legend(columns=1, labelLimit=480, labelExpr=IN_LINES, rowPadding=4)


def name(amplification: Amplification) -> str:
    """Return what the legend calls a curve, in lines: its query, answers, and probabilities.

    The probabilities are those before any repetition, as in the paper's captions; where they
    are not known the answers stand alone.
    """
    case, first = amplification.case, amplification.points[0]
    scored = first.repetitions == 0 and first.log_likelihood_answer is not None
    values = (first.log_likelihood_answer, first.log_likelihood_repeated)
    ours, theirs = (
        f"“{one_line(text, LONGEST_ANSWER)}”{f' {initial(value)}' if scored else ''}"
        for text, value in zip((case.answer, case.repeated), values, strict=True)
    )
    answers = [f"{ours},", f"repeated: {theirs}"]
    together = [" ".join(answers)] if len(" ".join(answers)) <= LEGEND_WIDTH else answers
    parts = [one_line(case.query, LONGEST_NAME), *together]
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


# --------------------------------------------------------------------------- the curves


def curves(
    curve: Amplification,
    scale: str,
    palette: Palette,
    *,
    beside: Sequence[Amplification] = (),
    captions: bool = False,
) -> Chart:
    """The normalised probability of the answer against the repetitions, and others', thinner.

    `captions` name query and answers below, where nothing beside the picture does.
    """
    every = [curve, *beside]
    rows = [
        (
            *(place, name(one), p.repetitions, p.normalised_probability, p.lower, p.upper),
            *(one.case.answer, one.case.repeated, last_fate(one).value),
        )
        for place, one in enumerate(every)
        for p in one.points
        if p.normalised_probability is not None
    ]
    columns = ["place", "query", "t", "share", "lower", "upper", "answer", "told", "fate"]
    data = pd.DataFrame(rows, columns=columns)
    names = [_end(one, i if beside else 0, captions) for i, one in enumerate(every, 1)]
    room = min(ROOM, _LETTER * max(len(line) for text in names for line in text.split("\n")) + 30)
    x = _repetitions(every, scale, room=room)
    title = "the answer’s share of the two" if captions else None  # the page has it above
    y = alt.Y("share:Q", **share(title, values=VALUES))
    colour = _fate(palette)
    base = alt.Chart(data).encode(x=x)
    own = base.transform_filter(alt.FieldEqualPredicate(field="place", equal=0))
    middle = alt.Chart(pd.DataFrame({"t": [0], "end": [_most(every)], "y": [0.5]}))
    half = middle.mark_rule(color=palette.muted, strokeDash=[2, 4])
    layers = [*_fates(every, x, palette), half.encode(x=x, x2=alt.X2("end:Q"), y=alt.Y("y:Q"))]
    if data["lower"].notna().any():
        area = own.mark_area(opacity=0.18)
        layers.append(area.encode(y=alt.Y("lower:Q"), y2=alt.Y2("upper:Q"), color=colour))
    legend = CAPTIONS if captions else None
    dashes = contrast(
        alt.StrokeDash, "query:N", {name(one): [1, 0] for one in every}, legend=legend
    )
    if beside:
        thin = base.mark_line(size=1.5)
        layers.append(thin.encode(y=y, color=colour, detail=alt.Detail("place:N")))
    layers.append(
        own.mark_line(interpolate="linear", size=2.5, point=_marks([curve])).encode(
            y=y, color=colour, strokeDash=dashes
        )
    )
    # A long stretch without a mark would look as if nothing was measured at its ends.
    ticks = own.transform_filter(alt.FieldOneOfPredicate(field="t", oneOf=list(TICKS)))
    layers.append(ticks.mark_point(filled=True, size=35, opacity=1).encode(y=y, color=colour))
    ends = [
        (text, one.points[-1].normalised_probability, last_fate(one).value)
        for text, one in zip(names, every, strict=True)
    ]
    layers += ends_of_lines(ends, _most(every), x, y, colour, (0, 1), HEIGHT, palette, room=room)
    tooltip = [alt.Tooltip("query:N"), alt.Tooltip("answer:N"), REPEATED, REPETITIONS, SHARE]
    layers += crosshair(base, x, y, ["place", "t"], tooltip, palette)
    return theme(alt.layer(*layers).properties(height=HEIGHT, autosize=AUTOSIZE), palette)


def _end(curve: Amplification, number: int, captions: bool) -> str:
    """Return the name of a line: its number in the page's list, its answer, and what becomes of it.

    A figure by itself has no such list: with `captions`, it names what another answers, too.
    """
    answer = one_line(f"{number}. {curve.case.answer}" if number else curve.case.answer, LINE)
    is_sure = curve.informative and len(fates_at(curve.informative[-1])) == 1
    lines = [answer, MEANINGS[last_fate(curve)].split(":")[0] if is_sure else NOT_SURE]
    if captions and number > 1:
        lines.append(one_line(curve.case.query, 2 * LINE))
    return "\n".join(lines)


def probabilities(curve: Amplification, scale: str, palette: Palette) -> Chart:
    """The raw probabilities of both answers, on a logarithmic axis."""
    rows = [
        (which, text, p.repetitions, value / math.log(10), math.exp(value))
        for p in curve.points
        for which, text, value in _possible(curve.case, p)
    ]
    data = pd.DataFrame(rows, columns=["which", "text", "t", "log10", "probability"])
    powers = _powers(data["log10"].tolist())
    x = _repetitions([curve], scale, room=ROOM)
    y = alt.Y(
        "log10:Q",
        title="probability",
        scale=alt.Scale(domainMin=min(powers), domainMax=0, nice=False),
        axis=alt.Axis(values=powers, labelExpr="datum.value == 0 ? '1' : '1e' + datum.value"),
    )
    above = alt.Legend(orient="top", symbolType="stroke")
    colours = {"answer": palette.primary, "repeated": palette.ink}
    colour = contrast(alt.Color, "which:N", colours, legend=above)
    base = alt.Chart(data).encode(x=x)
    lines = base.mark_line(size=2, point=_marks([curve])).encode(
        y=y,
        color=colour,
        strokeDash=contrast(
            alt.StrokeDash, "which:N", {"answer": [1, 0], "repeated": [5, 3]}, legend=above
        ),
    )
    ends = [
        (one_line(text, LONGEST_END), value / math.log(10), which)
        for which, text, value in _possible(curve.case, curve.points[-1])
    ]
    tooltip = [
        alt.Tooltip("text:N", title="answer"),
        alt.Tooltip("which:N", title="which"),
        REPETITIONS,
        alt.Tooltip("probability:Q", format=".3~g"),
    ]
    layers = [
        lines,
        *ends_of_lines(ends, _most([curve]), x, y, colour, (min(powers), 0), HEIGHT, palette),
        *crosshair(base, x, y, ["which", "t"], tooltip, palette),
    ]
    return theme(alt.layer(*layers).properties(height=HEIGHT, autosize=AUTOSIZE), palette)


def _possible(case: Case, point: Point) -> list[tuple[str, str, float]]:
    """Return which of both answers a logarithm axis has a place for, with texts, and ln of them."""
    both = (
        ("answer", case.answer, point.log_likelihood_answer),
        ("repeated", case.repeated, point.log_likelihood_repeated),
    )
    return [(which, text, ln) for which, text, ln in both if ln is not None and ln > -math.inf]


def _powers(exponents: Sequence[float]) -> list[int]:
    """Return the powers of ten to mark: whole ones, from certainty to below the smallest."""
    lowest = min(math.floor(min(exponents, default=-1)), -1)
    steps = (digit * 10**power for power in range(9) for digit in (1, 2, 5))
    step = next(step for step in steps if -lowest <= step * MOST_POWERS)
    return list(range(0, step * math.floor(lowest / step) - 1, -step))


# ------------------------------------------------------------------------ small multiples


def small(
    amplification: Amplification, beside: Mapping[Line, Amplification], palette: Palette
) -> Chart:
    """One query's normalised probability, small enough to stand beside others.

    `beside` has the same query's curves of other models.
    """
    x = _repetitions([amplification], "log", ticks=POWERS)
    y = alt.Y("share:Q", **share(None, values=[0, 0.5, 1]))
    layers = _fates([amplification], x, palette)
    for dash, curve in beside.items():
        other = _points(curve).encode(x=x, y=y)
        colour = _colours(palette)[last_fate(curve)]
        layers.append(other.mark_line(color=colour, size=1.5, strokeDash=DASHES[dash]))
    colour = _colours(palette)[last_fate(amplification)]
    base = _points(amplification)
    line = base.mark_line(
        color=colour, size=2, point=_marks([amplification], colour=colour)
    ).encode(x=x, y=y)
    layers += [line, *crosshair(base, x, y, ["t"], [REPETITIONS, SHARE], palette)]
    return theme(alt.layer(*layers).properties(height=SMALL), palette)


def _points(amplification: Amplification) -> alt.Chart:
    points = [(p.repetitions, p.normalised_probability) for p in amplification.points]
    rows = [point for point in points if point[1] is not None]
    return alt.Chart(pd.DataFrame(rows, columns=["t", "share"]))


# ------------------------------------------------------------------------ the world by band


def bands(by_band: Mapping[str, Sequence[Amplification]], palette: Palette) -> Chart:
    """The medians of all bands, each named at its end."""
    summaries = {band: _summary(several) for band, several in by_band.items()}
    ends = [
        (band, one["median"].iloc[-1], fate(one["median"].iloc[-1]).value)
        for band, one in summaries.items()
    ]
    data = pd.concat([summaries[band].assign(band=band, fate=end) for band, _, end in ends])
    every = [one for several in by_band.values() for one in several]
    x = _repetitions(every, "log", room=ROOM)
    y = alt.Y("median:Q", **share(None, values=VALUES))
    colour, base = _fate(palette), alt.Chart(data).encode(x=x)
    lines = base.mark_line(size=3.5, point=_marks(every, size=45)).encode(
        y=y, color=colour, detail=alt.Detail("band:N")
    )
    layers = [
        *_fates(every, x, palette, named=True),
        lines,
        *ends_of_lines(ends, _most(every), x, y, colour, (0, 1), LARGE, palette),
        *crosshair(base, x, y, ["band", "t"], [alt.Tooltip("band:N"), *QUARTILES], palette),
    ]
    return theme(alt.layer(*layers).properties(height=LARGE), palette)


def band(title: str, series: Sequence[Amplification], palette: Palette) -> Chart:
    """Several questions' curves: each one thin, their quartiles a band, the median on top."""
    each = pd.DataFrame(
        [
            {"case": i, "t": p.repetitions, "share": p.normalised_probability}
            for i, a in enumerate(series)
            for p in a.points
        ]
    )
    summary = _summary(series)
    colour = _colours(palette)[fate(summary["median"].iloc[-1])]
    x = _repetitions(series, "log", ticks=POWERS)
    y = alt.Y("share:Q", **share(None, values=[0, 0.5, 1]))
    base, median = alt.Chart(summary).encode(x=x), alt.Y("median:Q", title=None)
    thin = alt.Chart(each).mark_line(color=colour, size=1, opacity=0.45)
    area = base.mark_area(color=colour, opacity=0.2)
    layers = [
        *_fates(series, x, palette),
        thin.encode(x=x, y=y, detail=alt.Detail("case:N")),
        area.encode(y=alt.Y("lower:Q", title=None), y2=alt.Y2("upper:Q")),
        base.mark_line(color=colour, size=3).encode(y=median),
        *crosshair(base, x, median, ["t"], QUARTILES, palette),
    ]
    lines = alt.TitleParams(textwrap.wrap(title, TITLE_WIDTH))
    return theme(alt.layer(*layers).properties(height=SMALL, title=lines), palette)


def _summary(series: Sequence[Amplification]) -> pd.DataFrame:
    lower, median, upper = quartiles(series)
    times = [point.repetitions for point in series[0].points]
    return pd.DataFrame({"t": times, "lower": lower, "median": median, "upper": upper})


# --------------------------------------------------------------------------------- parts


def _repetitions(
    series: Sequence[Amplification], scale: str, ticks: Sequence[int] = TICKS, room: int = 0
) -> alt.X:
    """Return the axis of repetitions; `room` stays free behind its end."""
    most = _most(series)
    free: dict[str, Any] = {"range": before_names(room)} if room else {}
    if scale == "linear":
        return alt.X(
            "t:Q",
            title="repetitions",
            scale=alt.Scale(domain=[0, most], nice=False, **free),
            axis=alt.Axis(tickMinStep=1, tickCount=6, format="d"),
        )
    return repetitions("repetitions", most, ticks, **free)


def _most(series: Sequence[Amplification]) -> int:
    return max((a.points[-1].repetitions for a in series), default=0) or 1


def _colours(palette: Palette) -> dict[Fate, str]:
    return {
        Fate.STAYS: palette.primary,
        Fate.ALIVE: palette.muted,
        Fate.GIVES_WAY: palette.epistemic,
    }


def _fate(palette: Palette) -> alt.Color:
    """Return a colour for what becomes of the answer; the edge says what it means."""
    looks = {fate.value: colour for fate, colour in _colours(palette).items()}
    return contrast(alt.Color, "fate:N", looks, legend=None)


def _marks(series: Sequence[Amplification], size: int = 35, colour: str | None = None) -> Any:
    """Return how the points of lines are marked: many marks would hide a line."""
    if max((len(a.points) for a in series), default=0) > MARKED:
        return False
    return alt.OverlayMarkDef(filled=True, size=size, color=colour or alt.Undefined)


def _fates(
    series: Sequence[Amplification], x: alt.X, palette: Palette, *, named: bool = False
) -> list[Any]:
    """Draw where curves end what one that ends there has become, and say it.

    At the edge alone: a ground in these colours is one on which doubt lies, under a verdict's λ.
    """
    low, high = ALIVE
    bounds = {Fate.STAYS: (high, 1), Fate.ALIVE: (low, high), Fate.GIVES_WAY: (0, low)}
    rows = [(_most(series), *bounds[each], _colours(palette)[each]) for each in Fate]
    edge = alt.Chart(pd.DataFrame(rows, columns=["t", "low", "high", "colour"]))
    layers = [
        edge.mark_rule(size=6, opacity=0.6).encode(
            x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), color=alt.Color("colour:N", scale=None)
        )
    ]
    # Each at the border of its part that fewer curves end at: what is known lies on top.
    for each, border, dy in (
        (Fate.STAYS, high, -12),
        (Fate.ALIVE, high, 13),
        (Fate.GIVES_WAY, low, 13),
    ):
        at = pd.DataFrame({"t": [_most(series)], "at": [border], "is": [MEANINGS[each]]})
        words = alt.Chart(at).mark_text(
            align="right", dx=-9, dy=dy, fontSize=12, color=palette.muted, text=ON_A_PHONE
        )
        layers.append(words.encode(x=x, y=alt.Y("at:Q")))
    return layers if named else layers[:1]


def crosshair(
    base: alt.Chart,
    x: alt.X,
    y: alt.Y,
    fields: Sequence[str],
    tooltip: Sequence[alt.Tooltip],
    palette: Palette,
) -> list[Any]:
    """Mark the point nearest to the pointer, told from others by `fields`, and say what it is."""
    near = alt.selection_point(
        name="near",
        fields=list(fields),
        nearest=True,
        on="pointermove",
        clear="pointerout",
        empty=False,
    )
    points = base.mark_point(filled=True, size=80, color=palette.text).encode(
        x=x,
        y=y,
        opacity=alt.OpacityValue(0, condition={"param": "near", "empty": False, "value": 1}),
        tooltip=list(tooltip),
    )
    rule = base.transform_filter(near).mark_rule(color=palette.muted, strokeDash=[2, 2]).encode(x=x)
    return [rule, points.add_params(near)]
