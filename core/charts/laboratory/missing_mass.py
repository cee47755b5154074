"""What k draws miss, and every word about it, on one picture over k."""

from __future__ import annotations

from typing import Final

from core.charts.laboratory.pictures import Curve, Drawn, Picture, curves, on_logarithms
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
    "Limits of U, each with the confidence",
)


def _curves(drawn: Drawn) -> dict[str, Curve]:
    low, high = drawn["limits"]
    every = (
        Curve(drawn["missing"][1], drawn["missing"][0], drawn["missing"][2]),
        Curve(drawn["expected"]),
        Curve(drawn["good_turing"]),
        Curve(drawn["finite_support"]),
        Curve(drawn["entropy"]),
        Curve(drawn["zipf"] or ()),
        Curve(high, low, high),
    )
    return {
        name: curve
        for name, curve in zip(NAMES, every, strict=True)
        if any(value is not None for value in curve.middle)
    }


def missing(drawn: Drawn, palette: Palette) -> Chart:
    """The missing mass over k, on logarithmic axes."""
    ends = max(min(drawn["expected"]), LEAST), 1.0
    y = on_logarithms("probability that is missing", *ends, "~%")
    k, x = drawn["k"], "number of draws k"
    return curves(k, _curves(drawn), palette, x=x, y=y, places=NAMES, ends=ends)


def missing_alt(drawn: Drawn) -> str:
    """Say every curve at its end."""
    said = [
        f"{name} {curve.middle[-1]:.2%}"
        for name, curve in _curves(drawn).items()
        if curve.middle[-1] is not None
    ]
    return f"Missing mass at k = {drawn['k'][-1]:,}: {', '.join(said)}."


PICTURES = (
    Picture(
        "missing",
        "The missing mass",
        missing,
        missing_alt,
        "U simulated: the median, and 90% of the samples; Good–Turing: the mean. Grey: what lies "
        "between both limits. Zipf’s rate is of infinitely many kinds.",
    ),
)
