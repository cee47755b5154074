"""Every estimate and bound over k, beside the exact value; and how far off each is."""

from functools import partial

from core.charts.laboratory.pictures import (
    CurveColumns,
    LaboratoryPicture,
    PictureContent,
    between,
    curves,
    on_logarithms,
    values_of,
)
from core.charts.theme import Chart, Palette
from core.studies.laboratory.estimator import BOUNDS, ESTIMATES


def _of(content: PictureContent, bounds: bool) -> dict[str, CurveColumns]:
    """Return the curves; the first alone has a band: several would hide each other."""
    of = [
        (name, band)
        for name, band in content["bands"].items()
        if (name in content["bounds"]) is bounds
    ]
    return {
        name: CurveColumns(middle) if place else CurveColumns(middle, low, high)
        for place, (name, (low, middle, high)) in enumerate(of)
    }


def bands(content: PictureContent, palette: Palette, bounds: bool) -> Chart:
    """Every estimate, as the paper draws Algorithm 1, or what bounds the exact value."""
    by_name, exact = _of(content, bounds), content["exact"]
    places = list((BOUNDS if bounds else ESTIMATES).values())
    # A bound that says nothing is far below 0, and would leave no room for the others.
    middles = [v for curve in by_name.values() for v in curve.middle if v is not None]
    high = max(exact * 1.6, *(v for v in values_of(by_name) if v < 3 * max(exact, *middles)))
    low = min(0.0, max(min(values_of(by_name)), -exact)) if bounds else min(values_of(by_name))
    ends = min(low, exact), high
    return curves(
        content["k"], by_name, palette, y=between(ends), exact=exact, places=places, ends=ends
    )


def errors(content: PictureContent, palette: Palette) -> Chart:
    """The root mean square error of every estimate."""
    by_name = {
        name: CurveColumns([v if v and v > 1e-9 else None for v in values])
        for name, values in content["error"].items()
    }
    all_values = values_of(by_name) or [1.0]
    y = on_logarithms("nats", min(all_values), max(all_values))
    return curves(content["k"], by_name, palette, y=y, places=list(ESTIMATES.values()))


def bands_alt(content: PictureContent, bounds: bool) -> str:
    """Say the ends of every curve."""
    of = "; ".join(
        f"{name} {curve.middle[0]:.3f} at k = {content['k'][0]:,}, {curve.middle[-1]:.3f} at "
        f"{content['k'][-1]:,}"
        for name, curve in _of(content, bounds).items()
    )
    return f"The exact value is {content['exact']:.3f} nats. Medians: {of}."


def errors_alt(content: PictureContent) -> str:
    """Say every estimate's error at the largest k."""
    last_values = [f"{name} {values[-1]:.2g}" for name, values in content["error"].items()]
    return f"Root mean square error at k = {content['k'][-1]:,}, nats: {', '.join(last_values)}."


PICTURES = (
    LaboratoryPicture(
        "estimates",
        "Estimates",
        partial(bands, bounds=False),
        partial(bands_alt, bounds=False),
        "Line: the median over seeds. Band: 90% of those of Algorithm 1. Dashed: the exact value.",
    ),
    LaboratoryPicture(
        "bounds",
        "Bounds",
        partial(bands, bounds=True),
        partial(bands_alt, bounds=True),
        "Below the exact value: the certified bound, the lower limit, the theorem’s bound. L and U "
        "hold on average only.",
    ),
    LaboratoryPicture(
        "errors",
        "How far off each estimate is",
        errors,
        errors_alt,
        "Root mean square difference from the exact value, over seeds.",
        wide=True,
    ),
)
