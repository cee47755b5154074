"""The pictures of amplification with the same in words, and the report that is made of them."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from core.charts.amplification import curves as charts
from core.charts.amplification import mechanism
from core.codec import isolate
from core.reports.amplification.words import (
    PROBABILITIES,
    RULE,
    SHARES,
    in_words,
    medians,
    remarks,
    verdict,
)
from core.reports.report import Cell, Part, Picture, Report, Table
from core.studies.amplification import serialise
from core.studies.amplification.curve import Amplification, Point
from core.studies.amplification.mechanism import PromptAttention
from core.studies.costs import spending
from core.studies.inspection.conditional_rows import chance
from core.uncertainty.attention import HeadRepetition

READING: Final = (
    "One answer is repeated in the prompt, ever more often, and the model is asked each time. The "
    "first curve is the probability of the answer to test, divided by that of it and the repeated "
    "one together.",
    "What the model knows stands near 1, however often the prompt says otherwise. What it half "
    "knows gives way at once. Of many right answers, each keeps a share.",
    "Below one half, the repeated answer has overtaken. The second picture shows both "
    "probabilities by themselves, on a logarithmic axis.",
    RULE,
)
_ALONE: Final = {"captions": True}


def report(curves: Sequence[Amplification], scale: str = "log") -> Report:
    """Return the report of curves, at least one.

    `scale`: of the axis of repetitions, one of `SCALES`.
    """
    first = curves[0]
    times = min(2, first.points[-1].repetitions)
    finding, *rest = in_words(first)
    return Report(
        kind="Amplification of an answer",
        title=first.case.query,
        finding=finding,
        texts=[*rest, *remarks(curves)],
        parts=[
            Part("The curves", names(curves), pictures(curves, scale), _tables(curves)),
            Part(
                "The prompt",
                [f"The prompt of the first curve, with {times} repetitions."],
                code=[first.case.prompt(times, first.read_as)],
            ),
        ],
        settings=_settings(curves),
        reading=READING,
    )


def names(curves: Sequence[Amplification]) -> list[str]:
    """Return each curve's number, query, and answers with their initial probabilities."""
    return [f"{number}. {_name(one)}" for number, one in enumerate(curves, 1)]


def _name(curve: Amplification) -> str:
    answer, repeated = (f"{text}{before and f' ({before})'}" for text, before in answers(curve))
    return f"Q: {isolate(curve.case.query)}  A: {answer} and, repeated, {repeated}"


def answers(curve: Amplification) -> list[tuple[str, str]]:
    """Return a curve's answer and the repeated one, each with how probable it was at first.

    "" where that is not known.
    """
    case, first = curve.case, curve.points[0]
    return [
        (isolate(case.answer), _at_first(first, first.log_likelihood_answer)),
        (isolate(case.repeated), _at_first(first, first.log_likelihood_repeated)),
    ]


def _at_first(first: Point, ln: float | None) -> str:
    return "" if ln is None or first.repetitions else f"{chance(math.exp(ln), False, 1)} at first"


def pictures(curves: Sequence[Amplification], scale: str) -> list[Picture]:
    """Return the first curve, the others beside it; where they are known, its probabilities."""
    first, *others = curves
    data = (first, scale)
    words = " ".join(map(_verdict, curves))
    every = [Picture(SHARES, words, partial(charts.curves, beside=others), data, _ALONE)]
    if first.has_likelihoods:
        points = first.points
        ends = " ".join(
            f"{text}: from {charts.initial(values[0])} to {charts.initial(values[-1])}."
            for text, values in (
                (first.case.answer, [point.log_likelihood_answer for point in points]),
                (first.case.repeated, [point.log_likelihood_repeated for point in points]),
            )
        )
        words = f"{first.case.query} {ends}"
        every.append(Picture(PROBABILITIES, words, charts.probabilities, data))
    return every


def small(curve: Amplification, beside: Mapping[charts.Line, Amplification]) -> Picture:
    """Return the picture of one curve among others; `beside` has those of other models."""
    return Picture(curve.case.query, _verdict(curve), charts.small, (curve, beside))


def _verdict(curve: Amplification) -> str:
    return f"{curve.case.query} {verdict(curve)}"


def bands(by_band: Mapping[str, Sequence[Amplification]]) -> Picture:
    """Return the picture of the medians of all bands."""
    words = " ".join(_medians(name.capitalize(), several) for name, several in by_band.items())
    return Picture("Medians", words, charts.bands, (by_band,))


def band(name: str, curves: Sequence[Amplification]) -> Picture:
    """Return the picture of the curves of one band."""
    of = f"{name.capitalize()}, {len(curves)} question{'s' if len(curves) > 1 else ''}"
    return Picture(name, _medians(of, curves), charts.band, (medians(curves)[0], curves))


def _medians(of: str, curves: Sequence[Amplification]) -> str:
    short, numbers = medians(curves)
    return f"{of}: {short[0].lower()}{short[1:]}. {numbers}"


def ideal_head(looks: HeadRepetition) -> tuple[Picture, Picture]:
    """Return where the weight of an idealised head goes, and what its output becomes."""
    words = (
        f"The weight on the query goes from {looks.on_query[0]:.1%} to {looks.on_query[-1]:.1%} at "
        f"{looks.repetitions[-1]} repetitions; the copies get the rest.",
        f"The in-weight answer goes from {looks.in_weight[0]:.1%} to {looks.in_weight[-1]:.1%} of "
        f"the output, the in-context answer from {looks.in_context[0]:.1%} to "
        f"{looks.in_context[-1]:.1%}.",
    )
    return (
        Picture("Attention from the last token", words[0], mechanism.weights, (looks,)),
        Picture("Output of the head", words[1], mechanism.outputs, (looks,)),
    )


def heads(looking: PromptAttention, which: str) -> Picture:
    """Return the attention of every head on one part of the prompt, layer by layer."""
    shares = looking.on_question if which == mechanism.ON_QUESTION else looking.on_answer
    by_layer = ", ".join(f"layer {i + 1} {row.mean():.0%}" for i, row in enumerate(shares))
    words = f"Attention on {which}, mean over heads: {by_layer}."
    return Picture(which, words, mechanism.heads, (looking, which))


def _tables(curves: Sequence[Amplification]) -> list[Table]:
    """Return the points of each curve, without its texts: these are in the list above."""
    tables = []
    for number, one in enumerate(curves, 1):
        columns: dict[str, Sequence[Cell]] = dict(serialise.to_table([one], texts=False))
        title = f"Every point of curve {number}" if len(curves) > 1 else "Every point"
        tables.append(Table(title, columns))
    return tables


def _settings(curves: Sequence[Amplification]) -> dict[str, Cell]:
    first = curves[0]
    settings: dict[str, Cell] = {
        "Model": ", ".join(dict.fromkeys(one.model for one in curves)),
        "Revision of the weights": ", ".join(dict.fromkeys(one.revision for one in curves)),
        "Answer to test": first.case.answer,
        "Answer that is repeated": first.case.repeated,
        "Made of": ", ".join(dict.fromkeys(one.source.value for one in curves)),
        "Repetitions": ", ".join(f"{point.repetitions}" for point in first.points),
    }
    if first.read_as:
        settings["Question as it was asked"] = first.read_as
    if used := [one.used for one in curves if one.used is not None]:
        settings["Used of the service"] = "; ".join(map(spending, used))
    return settings
