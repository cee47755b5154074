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
        Curve(drawn["good_turing"][1], drawn["good_turing"][0], drawn["good_turing"][2]),
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


def _within(curve: Curve) -> Curve:
    """Return what a logarithmic axis has a place for: the rest is on its edge, or beyond it."""
    edges = (
        None if part is None else [_at_least(v) for v in part] for part in (curve.low, curve.high)
    )
    middle = [value if value and value >= LEAST / 2 else None for value in curve.middle]
    return Curve(middle, *edges)


def _at_least(value: float | None) -> float | None:
    return None if value is None else max(value, LEAST / 10)


def missing(drawn: Drawn, palette: Palette) -> Chart:
    """The missing mass over k, on logarithmic axes."""
    by_name = {name: _within(curve) for name, curve in _curves(drawn).items()}
    least = min([v for name in NAMES[:2] for v in by_name[name].middle if v is not None] or [LEAST])
    y = on_logarithms("probability that is missing", max(least, LEAST), 1.0, "~%")
    return curves(drawn["k"], by_name, palette, x="number of draws k", y=y, places=NAMES)


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
        "Lines: medians, where simulated; bands: 90 % of the samples, and what lies between both "
        "limits. Zipf’s rate is of infinitely many kinds. Below 0.01 % nothing is drawn.",
    ),
)
