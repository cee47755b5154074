"""The pictures of an inspection: the scale of doubt, what it says when told, growth.

Each picture is a function from results to a chart, with a sentence beside it that says
its finding to those who cannot see it (`…_alt`).
"""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from core.charts.shapes import FilledShape, Shape, shape
from core.charts.theme import Chart, Palette, by, lines_apart, mix, share, theme
from core.codec import isolate, no_more, one_line
from core.data.world.nearest import NEAR
from core.once import once
from core.studies.inspection.conditional_rows import ConditionalRows, chance
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.inspection import display as shown
from core.studies.inspection.stopping_rule import GrowthPoint
from core.studies.inspection.taught_questions import TaughtPosition
from core.studies.inspection.verdict import (
    CERTIFIED,
    INFORMED,
    LEAST_KEPT,
    MOST_TO_KEEP,
    SCORE,
    Decision,
    Headline,
    change_in_words,
    digits_apart,
    largest_doubt,
    largest_that_stands,
    least_share,
    repeat_probability,
    scale_end,
)
from core.uncertainty.scores import SCORES


def doubt_scale(
    inspection: Inspection, references: Sequence[tuple[str, float]], palette: Palette
) -> FilledShape:
    """Where this question's doubt lies: which side of λ, and beside which known questions.

    The bar is solid as far as the doubt is certified, which a line beneath says, and hollow as far
    as it is estimated. A doubt beyond the scale stands at its end, with its number. `references`
    are other questions in short, and their doubts. Above, steps say what is said from which doubt
    on: the rule of the verdict. What may be believed is blue, “Perhaps” grey, as their stamps are.
    Neither side has a colour where an answer of low doubt is withheld.
    """
    rule, score = inspection.verdict.rule, inspection.verdict.score
    too_little = inspection.verdict.decision is Decision.TOO_LITTLE
    value = None if too_little else inspection.compared_doubt
    limit = rule.value if rule else inspection.information_threshold
    estimated = 0.0 if value is None else value
    finite = math.isfinite(limit)
    far = limit if finite else 0.0
    others = [1.08 * doubt for _, doubt in references]
    lowest = min(-scale_end(-far, -estimated, least=0.0), *others, 0.0)
    widest = max(scale_end(far, estimated), *others, 0.0)
    if not math.isfinite(widest - lowest):
        lowest, widest = 0.0, 1.0
    span = widest - lowest
    bound = inspection.certified_bound if score in BOUNDED else None
    certified = lowest if bound is None else min(bound, estimated)
    end = widest if limit > 0 else lowest  # what always answers, and what never does
    border = limit if finite else end

    decides = inspection.doubt_decides
    more = palette.epistemic if decides else palette.muted
    believed = inspection.belief_limit
    start = lowest if believed is None else believed
    zones = [_zone(start, border, palette.muted), _zone(border, widest, more)]
    if believed is not None:
        zones.append(_zone(lowest, believed, palette.primary))
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in _LAYERS}
    rows["zones"] = zones
    steps = _steps(inspection, lowest, border, widest)
    _climb(rows, steps, limit if rule is not None and finite else None, palette)
    if value is not None:
        seen, solid = min(max(value, lowest), widest), min(max(certified, lowest), widest)
        name = f"this question: {_number(value, digits(inspection))}"
        least = span / 40  # what the sign at its end leaves in sight
        if solid - lowest > least:
            rows["solid"] = [{"x": lowest, "end": solid, "y": 11, "low": 17}]
        if seen - solid > least:
            rows["hollow"] = [{"x": solid, "end": seen, "y": 11, "low": 17}]
        rows["this"] = [{"x": seen, "y": 14}]
        rows["left" if seen - lowest > 0.4 * span else "right"].append(
            _text(seen, _NAMES, name, palette.text)
        )
        if rows["solid"]:
            words = f"solid: certainly at least {no_more(certified)}"
            rows["right"].append(_text(lowest, _NAMES + 17, words, palette.text))
    elif too_little:
        words = "this question: too little was seen to say"
        rows["right"].append(_text(lowest, _NAMES, words, palette.text))
    top = _NAMES + (39 if rows["solid"] else 22)
    for i, (name, doubt) in enumerate(references):
        text = _text(doubt, top + 19 * i, name, palette.quiet)
        rows["others"].append(text)
        rows["left" if doubt - lowest > 0.4 * span else "right"].append(text)
    title = f"{SCORES[score].title} ({SCORES[score].symbol})"
    if score == SCORE:
        title = f"of several answers: {title[0].lower()}{title[1:]}"
    if unit := SCORES[score].doubt_unit:
        title += f", {unit}"
    if rule is not None and not decides:  # one of both: a telephone has no room for more
        title += "; does not decide here"
    what = _FOLLOWS if score == SCORE else SCORES[score].sign
    title = f"doubt: {what}\n{title}"
    ends = {"lowest": lowest, "widest": widest}
    height = top - 7 + 19 * len(references)
    return FilledShape(_scale_of_doubt(height, len(steps), title, palette), rows, ends)


def nearness(taught: TaughtPosition, palette: Palette) -> FilledShape:
    """How far the nearest taught questions are, and how far one is near, in the same look.

    What is near has no colour: its doubt decides.
    """
    nearest = sorted(taught.nearest[1:], key=lambda offer: -offer.similarity)
    marks = [
        (1 - offer.similarity, f"{offer.distance}: {offer.question}")
        for offer in [*taught.nearest[:1], *nearest]
    ]
    return _shares(
        [(0.0, "near"), (1 - NEAR, f"{_SIDES[1]} above {1 - NEAR:.0%}")],
        (palette.muted, palette.epistemic),
        marks or [(1.0, "100%: no taught question is like it at all")],
        "0%: the same words as a taught question, 100%: none",
        palette,
    )


def keeping(inspection: Inspection, palette: Palette) -> FilledShape:
    """How likely a single answer is not given again, told others, on average."""
    rule, decides = inspection.verdict.rule, inspection.doubt_decides
    limit = LEAST_KEPT if rule is None else least_share(rule.value)
    less, more = _SIDES if decides else _UNDECIDED
    perhaps = _PERHAPS if inspection.promises else f"{_PERHAPS}, no promise"
    if inspection.headline is Headline.PERHAPS:
        less = perhaps
    steps = [(0.0, less)]
    if inspection.belief_limit is not None:
        further = [(1 - LEAST_KEPT, f"{perhaps} above {1 - LEAST_KEPT:.0%}")]
        steps = [(0.0, _BELIEVE), *further * (limit < LEAST_KEPT)]
    mean = repeat_probability(inspection.others)
    return _shares(
        [*steps, (1 - limit, f"{more} above {change_in_words(limit)}")],
        (palette.muted, palette.epistemic if decides else palette.muted),
        [(1 - mean, f"this question: {change_in_words(mean)}")],
        f"doubt: {_FOLLOWS}\nof a single answer: how likely it says another",
        palette,
    )


def _shares(
    steps: Sequence[tuple[float, str]],
    sides: tuple[str, str],
    marks: Sequence[tuple[float, str]],
    title: str,
    palette: Palette,
) -> FilledShape:
    """Marks on a scale from 0 to 1, the first of them the diamond, and their names beneath.

    The last of the steps parts the `sides`, two colours.
    """
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in _LAYERS}
    border = steps[-1][0]
    believed = steps[1][0] if steps[0][1].startswith(_BELIEVE) else 0.0
    rows["zones"] = [_zone(believed, border, sides[0]), _zone(border, 1.0, sides[1])]
    if believed:
        rows["zones"].append(_zone(0.0, believed, palette.primary))
    _climb(rows, steps, border, palette)
    for i, (at, name) in enumerate(marks):
        words = _text(
            0.0, _NAMES + 19 * i, one_line(name, _LONGEST), palette.quiet if i else palette.text
        )
        rows["right"].append(words)
        rows["others" if i else "this"].append(words | {"x": at, "y": 14})
    height = _NAMES - 7 + 19 * len(marks)
    scale = _scale_of_doubt(height, len(steps), title, palette, "format(datum.value, '.0%')")
    return FilledShape(scale, rows, {"lowest": 0.0, "widest": 1.0})


def _climb(
    rows: dict[str, list[dict[str, Any]]],
    steps: Sequence[tuple[float, str]],
    limit: float | None,
    palette: Palette,
) -> None:
    """Place what is said from which doubt on, line over line; the rule at `limit` is dashed."""
    for i, (at, words) in enumerate(steps):
        up = -_STEP * (len(steps) - i)
        rows["steps"].append(_text(at, up, words, palette.text))
        rows["line" if at == limit else "stairs"].append({"x": at, "y": up - 8})


def _steps(
    inspection: Inspection, lowest: float, border: float, widest: float
) -> list[tuple[float, str]]:
    """Return what is said from which doubt on: each number stands where it is on the scale.

    What no doubt can lead to has no step; nothing is said of trust where none is served.
    """
    rule, believed = inspection.verdict.rule, inspection.belief_limit
    places = digits(inspection, border)
    less, more = _SIDES if inspection.doubt_decides else _UNDECIDED
    perhaps = _PERHAPS if inspection.promises else f"{_PERHAPS}, no promise"
    is_perhaps = inspection.headline is Headline.PERHAPS
    if is_perhaps and believed is None:  # what it is, wherever below λ
        less = perhaps
    limit = _number(rule.value, places) if rule else ""
    if border <= lowest:
        return [(border, f"{more} from {limit}")]
    if border >= widest:
        return [(lowest, less)]
    if not rule and is_perhaps:
        return [(lowest, less), (border, f"{more} above {_number(border, places)}")]
    if not rule:
        return [(lowest, "no limit λ is certified here"), (lowest, less), (border, more)]
    steps = [(border, f"{more} from {limit}")]
    if believed is None:
        most = largest_doubt(inspection.scores, rule.score)
        if is_perhaps and lowest < most < border:  # whatever it does, it is served
            steps.insert(0, (most, f"at most {_number(most)}, even if it only repeats"))
        return [(lowest, less), *steps]
    if believed >= border:
        return [(lowest, _BELIEVE), *steps]
    above = f"{perhaps} above {_number(believed, digits(inspection, believed))}"
    if believed == largest_that_stands(answers := inspection.evidence.answers):
        above += f", {MOST_TO_KEEP:.0%} of ln({answers} answers)"
    return [(lowest, _BELIEVE), (believed, above), *steps]


def digits(inspection: Inspection, *limits: float | None) -> int:
    """Return how many digits tell the doubt from these limits, of all that are drawn by default."""
    rule, value = inspection.verdict.rule, inspection.compared_doubt
    if not limits:
        believed = inspection.belief_limit if inspection.evidence.answers > 1 else None
        limits = (rule.value if rule else inspection.information_threshold, believed)
    return 3 if value is None else digits_apart(value, *limits)


def belief_in_words(inspection: Inspection, limit: float) -> str:
    """Return up to which doubt an answer is believed, and what part of which it is."""
    answers = inspection.evidence.answers
    tenth = f": 1/10 of what {answers} answers allow" * (limit == largest_that_stands(answers))
    return f"up to {limit:.{digits(inspection, limit)}f}{tenth}"


def _number(doubt: float, places: int = 3) -> str:
    """Return nats as they stand on the scale of doubt."""
    return f"{doubt:z.{places}f}".replace("-", "−").replace("inf", "∞")


def _zone(start: float, end: float, colour: str) -> dict[str, Any]:
    return {"x": start, "end": end, "colour": colour, "y": 0.0}


def _text(at: float, height: float, label: str, colour: str) -> dict[str, Any]:
    return {"x": at, "y": height, "label": label, "colour": colour}


@once
def _scale_of_doubt(
    height: int, steps: int, title: str, palette: Palette, label: str = "datum.label"
) -> Shape:
    """Return the shape of a scale from `lowest` to `widest`, parameters; heights are in pixels.

    The data of each layer are named as in `_LAYERS`. `title` has two lines; `label` is an
    expression of what is written at a place of the axis.
    """
    above = _STEP * steps + 10
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[alt.ExprRef("lowest"), alt.ExprRef("widest")], nice=False),
        title=title.split("\n"),
        axis=alt.Axis(grid=False, tickCount=5, labelExpr=label),
    )
    y = alt.Y("y:Q", scale=alt.Scale(domain=[height, -above], nice=False, zero=False), axis=None)
    end, low = alt.X2("end:Q"), alt.Y2("low:Q")
    text, colour = alt.Text("label:N"), alt.Color("colour:N", scale=None)
    ink = palette.text

    def layer(name: str) -> alt.Chart:
        return alt.Chart(alt.NamedData(name)).encode(x=x, y=y)

    def words(name: str, **place: Any) -> alt.Chart:
        return layer(name).mark_text(fontSize=12, **place).encode(text=text, color=colour)

    point: dict[str, Any] = {"filled": True, "size": 150, "opacity": 1}
    layers = {
        "zones": layer("zones")
        .mark_rect(opacity=palette.zone)
        .encode(x2=end, y2=alt.Y2Datum(_BAND), color=colour),
        "steps": words("steps", align="left", dx=6),
        "stairs": layer("stairs").mark_rule(color=palette.muted).encode(y2=alt.Y2Datum(0)),
        "line": layer("line")
        .mark_rule(color=ink, strokeDash=[4, 3], size=2)
        .encode(y2=alt.Y2Datum(_BAND)),
        "solid": layer("solid").mark_rect(color=ink).encode(x2=end, y2=low),
        "hollow": layer("hollow")
        .mark_rect(filled=False, color=ink, strokeWidth=1.5)
        .encode(x2=end, y2=low),
        "this": layer("this").mark_point(shape="diamond", color=ink, stroke=ink, **point),
        "others": layer("others")
        .mark_point(shape="stroke", angle=90, **point)
        .encode(color=colour, stroke=alt.Stroke("colour:N", scale=None)),
        "left": words("left", align="right", dx=-10),
        "right": words("right", align="left", dx=10),
    }
    chart = alt.layer(*(layers[name] for name in _LAYERS))
    return shape(chart.properties(height=height + above + _AXIS), palette)


# What lies on the scale of doubt, from the lowest layer to the highest.
_LAYERS = (
    *("zones", "steps", "stairs", "line", "solid", "hollow", "this", "others"),
    *("left", "right"),
)
_STEP = 18  # pixels of a line above the scale, which says what is said from there on
_BAND = 28  # pixels of the fields that say what is decided
_NAMES = 40  # where names begin, which cross no border there
_AXIS = 54  # pixels of an axis with its title
_LONGEST = 52  # characters that a telephone has room for
BOUNDED = (*INFORMED, CERTIFIED)  # scores that are at least what is certified
_FOLLOWS = "how far it follows what it is told"
_BELIEVE, _PERHAPS = "✓ Believe it", "≈ Perhaps"  # as on stamps
_SIDES, _UNDECIDED = ("would be answered", "? I don’t know"), ("less doubt", "more doubt")


def answer_name(text: str) -> str:
    """Return an answer as it is named beside others, or beside a number."""
    return isolate(shown(text))


def conditional_answers(rows: ConditionalRows, palette: Palette) -> Chart:
    """Bars of what the model says after each answer that it was told; each answer has its shade.

    An answer that was told, and is said again, has the colour of ink, unless it is the model's own
    first; anything else is grey.
    """
    names = [answer_name(text) for text in rows.answers]
    parts: list[tuple[Any, ...]] = []
    for place, row in enumerate(rows.rows):
        label = TOLD_NOTHING if row.after is None else f"Told “{answer_name(row.after)}”"
        start = 0.0
        shares = list(zip(rows.answers, names, row.says, strict=True))
        for rank, (text, name, probability) in enumerate(shares):
            again = rank > 0 and text == row.after
            shade = _SHADES[min(rank, len(_SHADES) - 1)]
            dark = again or shade > _LEGIBLE
            blue = mix(palette.primary, palette.background, shade)
            colour = palette.ink if again else blue
            ink = palette.background if dark else palette.text
            number = chance(probability, rows.is_counted)
            room = round(75 * probability) - len(number)  # characters
            words = f"{isolate(one_line(name, room))} {number}" if room > 4 else number
            words = words if probability >= _LEAST_NAMED else ""
            end = min(1.0, start + probability)
            parts.append((place, label, name, start, end, probability, colour, words, ink))
            start = end
        rest = (start, 1.0, 1 - start, palette.grid, "", palette.text)
        parts.append((place, label, ANYTHING_ELSE, *rest))
    columns = ["rank", "row", "answer", "start", "end", "share", "colour", "label", "ink"]
    base = alt.Chart(pd.DataFrame(parts, columns=columns)).encode(
        y=alt.Y(
            "row:N",
            sort=by("rank"),
            title=None,
            axis=alt.Axis(labelLimit=190, ticks=False, domain=False),
        )
    )
    bars = base.mark_bar(height=20, stroke=palette.background, strokeWidth=1).encode(
        x=alt.X("start:Q", **share("probability of the next answer", tickCount=5)),
        x2=alt.X2("end:Q"),
        color=alt.Color("colour:N", scale=None),
        tooltip=[
            alt.Tooltip("row:N", title="prompt"),
            alt.Tooltip("answer:N"),
            alt.Tooltip("share:Q", format=".1%"),
        ],
    )
    labels = base.mark_text(align="left", dx=5).encode(
        x=alt.X("start:Q"), text=alt.Text("label:N"), color=alt.Color("ink:N", scale=None)
    )
    return theme(alt.layer(bars, labels).properties(height=alt.Step(26)), palette)


TOLD_NOTHING, ANYTHING_ELSE = "Told nothing", "anything else"
_LEAST_NAMED = 0.12  # the share of a bar in which a name can be read
# Of the ink, the likeliest answer first; as in `core/ui/components/rows.js`.
_SHADES = (1.0, 0.5, 0.38, 0.3, 0.23, 0.17, 0.13, 0.1)
_LEGIBLE = 0.6  # the shade from which light letters are read


def growth(points: Sequence[GrowthPoint], threshold: float | None, palette: Palette) -> Chart:
    """Two lines over the number of answers, k: the certified bound and the sampled mass."""
    bound, mass = "certified lower bound (nats)", "sampled mass (probability)"
    rows = [
        {"samples": p.samples, "what": what, "value": value}
        for p in points
        for what, value in ((bound, p.certified), (mass, p.sampled_mass))
        if value is not None
    ]
    colours = {bound: palette.primary, mass: palette.muted}
    color, dash = lines_apart(
        "what:N", colours, {bound: [1, 0], mass: [5, 3]}, orient="top", columns=1
    )
    base = alt.Chart(pd.DataFrame(rows))
    lines = base.mark_line(point=alt.OverlayMarkDef(size=36), strokeWidth=2).encode(
        x=alt.X("samples:Q", title="number of answers k", scale=alt.Scale(type="log", nice=False)),
        y=alt.Y("value:Q", title=None, scale=alt.Scale(domainMin=0)),
        color=color,
        strokeDash=dash,
        tooltip=[
            alt.Tooltip("samples:Q", title="k"),
            alt.Tooltip("what:N"),
            alt.Tooltip("value:Q", format=".3f"),
        ],
    )
    if threshold is None:  # no bound withholds anything
        return theme(lines.properties(height=260), palette)
    limit = alt.Chart(pd.DataFrame({"λ": [threshold], "samples": [points[-1].samples]})).encode(
        y=alt.Y("λ:Q")
    )
    rule = limit.mark_rule(color=palette.text, strokeDash=[4, 3], size=2)
    label = limit.mark_text(align="right", dx=-6, dy=-9, fontSize=12, color=palette.text).encode(
        x=alt.X("samples:Q"), text=alt.TextValue(f"certified from here on: {_SIDES[1]}")
    )
    return theme(alt.layer(rule, lines, label).properties(height=260), palette)
