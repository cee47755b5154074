"""The report of amplification: the curves, every point of them, and what they were made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.charts.amplification import curves as charts
from core.charts.theme import LIGHT
from core.reports.report import Cell, Part, Picture, Report, Table
from core.studies.amplification import serialise
from core.studies.amplification.curve import Amplification
from core.studies.costs import spending

READING: Final = (
    "One answer is repeated in the prompt, ever more often, and the model is asked each time. The "
    "first curve is the probability of the right answer, divided by that of it and the repeated "
    "one together.",
    "What the model knows stays near 1, however often the prompt says otherwise. What it half "
    "knows falls at once. Of many right answers, each keeps a share.",
    "Below one half, the repeated answer has overtaken. The second picture shows both "
    "probabilities by themselves, on a logarithmic axis.",
    f"{charts.MEANING} {charts.REGION}",
)


def report(curves: Sequence[Amplification], scale: str = "log") -> Report:
    """Return the report of curves, at least one.

    Parameters
    ----------
    scale : str
        Of the axis of repetitions, one of `SCALES`.
    """
    first = curves[0]
    pictures = [
        Picture(
            "Share of the answer against the repeated one",
            charts.curves_alt(curves),
            charts.curves(curves, scale, LIGHT, captions=True),
        )
    ]
    if any(one.has_likelihoods for one in curves):
        pictures.append(
            Picture(
                "Probabilities of both answers",
                charts.probabilities_alt(curves),
                charts.probabilities(curves, scale, LIGHT, captions=True),
            )
        )
    named = [f"{number}. {charts.description(one)}" for number, one in enumerate(curves, 1)]
    most = first.points[-1].repetitions
    return Report(
        kind="Amplification of an answer",
        title=first.case.query,
        finding=first.verdict,
        texts=list(dict.fromkeys(remark for one in curves for remark in one.remarks)),
        parts=[
            Part("The curves", named, pictures, _tables(curves)),
            Part(
                "The prompt",
                [f"The prompt of the first curve, with {min(2, most)} repetitions."],
                code=[first.case.prompt(min(2, most), first.read_as)],
            ),
        ],
        settings=_settings(curves),
        reading=READING,
    )


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
        "Right answer": first.case.answer,
        "Answer that is repeated": first.case.repeated,
        "Made of": ", ".join(dict.fromkeys(one.source.value for one in curves)),
        "Repetitions": ", ".join(f"{point.repetitions}" for point in first.points),
    }
    if first.read_as:
        settings["Question as it was asked"] = first.read_as
    if used := [one.used for one in curves if one.used is not None]:
        settings["Used of the service"] = "; ".join(map(spending, used))
    return settings
