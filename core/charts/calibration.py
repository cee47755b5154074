"""Charts of a calibration; each says its finding in words too (`…_alt`).

Right and wrong answers are blue and orange, which everybody can tell apart, and never
differ by colour alone. Curves are thinned for drawing; every number shown is exact.
"""

import math
from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
from numpy.typing import NDArray

from core.abstention.metrics import Bin, Curve
from core.abstention.policy import Policy, own_direction
from core.charts.line_labels import before_names, same_word
from core.charts.shapes import FilledShape, Rows, Shape, records, shape
from core.charts.theme import Palette, by, share
from core.codec import limit_in_words
from core.once import once
from core.uncertainty.scores import SCORES

HEIGHT = 260
WORDS_ROOM = 150  # pixels behind the bars of groups


def name_of(score: str) -> str:
    """Return a score's title, or the column's heading as it can be drawn."""
    return SCORES[score].title if score in SCORES else _one_line(score)


def _one_line(text: str) -> str:
    """Return text without line breaks: Vega puts names into expressions, where they are errors."""
    return " ".join(text.splitlines())


def _group(name: str) -> str:
    return _one_line(name) or "(none)"


def histogram_alt(
    shares: Mapping[str, NDArray[np.float64]], score: str, threshold: float | None
) -> str:
    """Say how many right and wrong answers there are, and where λ is."""
    counts = f"{int(shares['right'].sum()):,} right and {int(shares['wrong'].sum()):,} wrong"
    where = "no threshold" if threshold is None else f"threshold {number(threshold)}"
    return f"Histogram of {name_of(score)} for {counts} answers; {where}."


def risk_coverage(
    curve: Curve,
    policy: Policy | None,
    moved: Policy | None,
    target: float,
    confidence: float,
    larger_is_surer: bool,
    palette: Palette,
) -> FilledShape:
    """Error among the answered against the share answered, with its band and the target.

    The certified policy is a filled diamond on the curve, one moved by hand an open circle.
    """
    thinned = curve.outline()
    lower, upper = thinned.band(confidence)
    rows = {
        "curve": records(
            coverage=thinned.coverage,
            error=thinned.selective_error,
            lower=lower,
            upper=upper,
            score=own_direction(thinned.doubts, larger_is_surer),
        ),
        "target": [{"α": target}],
        "certified": _answering(policy),
        "moved": _answering(moved),
    }
    highest = max(float(thinned.selective_error.max(initial=0)) * 1.25, 2 * target)
    few = len(thinned.doubts) < 3
    return FilledShape(
        _risk_coverage(few, larger_is_surer, palette), rows, {"most": min(1.0, highest)}
    )


def _answering(policy: Policy | None) -> Rows:
    """Return where a policy lies on the curve, if it answers anything."""
    if policy is None or not policy.answered:
        return []
    answered = policy.answered
    return records(coverage=[answered / policy.labels], error=[policy.errors / answered])


@once
def _risk_coverage(few: bool, larger_is_surer: bool, palette: Palette) -> Shape:
    """Return the shape of the curve; a `few` points are marked."""
    y = alt.Scale(domain=[0, alt.ExprRef("most")], clamp=True)
    base = alt.Chart(alt.NamedData("curve")).encode(
        x=alt.X("coverage:Q", **share("share answered"))
    )
    band = base.mark_area(opacity=0.25, color=palette.rest, clip=True).encode(
        y=alt.Y("lower:Q", scale=y, title="wrong among the answered", axis=alt.Axis(format="%")),
        y2=alt.Y2("upper:Q"),
    )
    line = base.mark_line(color=palette.primary, point=few, clip=True).encode(
        y=alt.Y("error:Q", scale=y),
        tooltip=[
            alt.Tooltip("coverage:Q", format=".1%", title="answered"),
            alt.Tooltip("error:Q", format=".1%", title="wrong"),
            alt.Tooltip("lower:Q", format=".1%", title="interval from"),
            alt.Tooltip("upper:Q", format=".1%", title="to"),
            alt.Tooltip(
                "score:Q",
                format=".3f",
                title="smallest confidence" if larger_is_surer else "largest doubt",
            ),
        ],
    )
    limit = _target(palette).encode(y=alt.Y("α:Q"))
    layers: list[alt.Chart] = [band, line, limit]
    for data, name, mark in (("certified", "λ", "diamond"), ("moved", "λ by hand", "circle")):
        point = alt.Chart(alt.NamedData(data)).mark_point(
            size=110, color=palette.text, shape=mark, filled=data == "certified", strokeWidth=2.5
        )
        layers.append(
            point.encode(
                x=alt.X("coverage:Q"),
                y=alt.Y("error:Q", scale=y),
                tooltip=[
                    alt.Tooltip("coverage:Q", format=".1%", title=f"answered at {name}"),
                    alt.Tooltip("error:Q", format=".1%", title=f"wrong at {name}"),
                ],
            )
        )
    return shape(alt.layer(*layers).properties(height=HEIGHT), palette)


def risk_coverage_alt(curve: Curve, policy: Policy | None, moved: Policy | None = None) -> str:
    """Say what answering everything, what the policy and what a λ moved by hand would do."""
    if not len(curve.doubts):
        return "No labelled answer has a score."
    everything = (
        f"Answering every question with a score ({curve.coverage[-1]:.0%}) gets "
        f"{curve.selective_error[-1]:.1%} wrong"
    )
    sentences = [everything]
    if policy is None or not policy.answered:
        sentences.append("no threshold is certified")
    for of, where in ((policy, "at the threshold"), (moved, "at λ by hand")):
        if of is not None and of.answered:
            sentences.append(
                f"{where} {of.answered / of.labels:.0%} are answered and "
                f"{of.errors / of.answered:.1%} of them wrong"
            )
    return f"{'; '.join(sentences)}."


def groups(bins: Sequence[Bin], target: float, palette: Palette) -> FilledShape:
    """Wrong among the answered for each group, the most first, beside the target for all."""
    filled = sorted((b for b in bins if b.answered), key=lambda b: -b.error)
    errors, names = [b.error for b in filled], [_group(b.name) for b in filled]
    highest = max(errors, default=0.0)
    rows = {
        "groups": records(
            rank=range(len(filled)),
            group=[name[same_word(names) :] for name in names],
            questions=[b.queries for b in filled],
            answered=[b.answered for b in filled],
            errors=[b.errors for b in filled],
            error=errors,
            at=[max(error, target) for error in errors],  # never across the dashed line
            label=[f"{_wrong(b)} of {b.answered}{_rest(b)}" for b in filled],
            short=[f"{_wrong(b)} of {b.answered}" for b in filled],  # on a telephone
        ),
        "target": [{"α": target}],
    }
    return FilledShape(_groups(palette), rows, {"most": min(1.0, max(2 * target, highest * 1.1))})


@once
def _groups(palette: Palette) -> Shape:
    base = alt.Chart(alt.NamedData("groups")).encode(
        y=alt.Y(
            "group:N",
            sort=by("rank"),
            title=None,
            axis=alt.Axis(labelLimit=200, ticks=False, domain=False),
        )
    )
    bars = base.mark_bar(height=14, color=palette.epistemic).encode(
        x=alt.X(
            "error:Q",
            title="wrong among the answered",
            axis=alt.Axis(format="%", tickCount=5),
            # The plot goes on to the right for the words: there is nothing above 100%.
            scale=alt.Scale(domain=[0, alt.ExprRef("most")], range=before_names(WORDS_ROOM)),
        ),
        tooltip=[
            alt.Tooltip("group:N"),
            alt.Tooltip("questions:Q", format=",d"),
            alt.Tooltip("answered:Q", format=",d"),
            alt.Tooltip("errors:Q", format=",d", title="wrong"),
            alt.Tooltip("error:Q", format=".1%", title="wrong among the answered"),
        ],
    )
    text = alt.ExprRef("width < 400 ? datum.short : datum.label")
    words = base.mark_text(align="left", dx=4, color=palette.text, text=text).encode(
        x=alt.X("at:Q")
    )
    limit = _target(palette).encode(x=alt.X("α:Q"))
    name = limit.mark_text(align="left", baseline="bottom", dx=-3, dy=-3, color=palette.text)
    named = name.encode(y=alt.YValue(0), text=alt.TextValue("target of all"))
    return shape((bars + words + limit + named).properties(height=alt.Step(22)), palette)


def groups_alt(bins: Sequence[Bin]) -> str:
    """Say every group's error."""
    return "; ".join(
        f"{_group(b.name)}: {_wrong(b)} of {b.answered} answered wrong{_rest(b)}" for b in bins
    )


def _wrong(b: Bin) -> str:
    """Return how many are wrong, and in brackets how many by the other label."""
    return f"{b.errors}" if b.other_errors is None else f"{b.errors} ({b.other_errors})"


def _rest(b: Bin) -> str:
    """Return how many are not answered: an error among few answers is small among all."""
    number = b.queries - b.answered
    return f", {number:,} withheld" if number else ""


def number(value: float, digits: int = 3, width: float = math.inf) -> str:
    """Return a threshold as a person reads it, of scores of a width."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    form = ".3g" if abs(value) < 1e-3 and value else f".{digits}f"
    return limit_in_words(value, form, width).replace("-", "−")


def rule_of(score: str, threshold: float, larger_is_surer: bool, width: float = math.inf) -> str:
    """Return when is answered: “agreement > 0.920”; `width`: how far apart its scores lie."""
    relation = ">" if larger_is_surer else "<"
    name = name_of(score)
    if score in SCORES and SCORES[score].larger_is_surer and not larger_is_surer:
        name = f"doubt by {name.lower()}"  # our files hold the doubts of our scores
    return f"{name} {relation} {number(own_direction(threshold, larger_is_surer), width=width)}"


def _target(palette: Palette) -> alt.Chart:
    return alt.Chart(alt.NamedData("target")).mark_rule(color=palette.muted, strokeDash=[4, 3])
