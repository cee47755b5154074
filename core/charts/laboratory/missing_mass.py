"""What k draws miss, and every word about it, on one picture over k."""

from typing import Final

from core.charts.laboratory.pictures import (
    CurveColumns,
    LaboratoryPicture,
    PictureContent,
    curves,
    on_logarithms,
)
from core.charts.theme import Chart, Palette

LEAST: Final = 1e-4  # of the axis: what is less is missing no more
SIMULATED: Final = "U, simulated"
NAMES: Final = (
    SIMULATED,
    "E U, exactly",
    "Good–Turing",
    "Bound by the number of kinds",
    "Bound by the entropy",
    "Zipf’s rate",
    "Limits of U",
)


def _curves(content: PictureContent) -> dict[str, CurveColumns]:
    low, high = content["limits"]
    every = (
        CurveColumns(content["missing"][1], content["missing"][0], content["missing"][2]),
        CurveColumns(content["expected"]),
        CurveColumns(content["good_turing"]),
        CurveColumns(content["finite_support"]),
        CurveColumns(content["entropy"]),
        CurveColumns(content["zipf"] or ()),
        CurveColumns(high, low, high),
    )
    return {
        name: curve
        for name, curve in zip(NAMES, every, strict=True)
        if any(value is not None for value in curve.middle)
    }


def missing(content: PictureContent, palette: Palette) -> Chart:
    """The missing mass over k, on logarithmic axes."""
    ends = max(min(content["expected"]), LEAST), 1.0
    y = on_logarithms("probability that is missing", *ends, "~%")
    k, x = content["k"], "number of draws k"
    return curves(k, _curves(content), palette, x=x, y=y, places=NAMES, ends=ends)


def missing_alt(content: PictureContent) -> str:
    """Say every curve at its end."""
    sentences = [
        f"{name} {curve.middle[-1]:.2%}"
        for name, curve in _curves(content).items()
        if curve.middle[-1] is not None
    ]
    return f"Missing mass at k = {content['k'][-1]:,}: {', '.join(sentences)}."


PICTURES = (
    LaboratoryPicture(
        "missing",
        "The missing mass",
        missing,
        missing_alt,
        "U simulated: the median, and 90% of the samples; Good–Turing: the mean. Grey: what lies "
        "between both limits. Zipf’s rate is of infinitely many kinds.",
        wide=True,
    ),
)
