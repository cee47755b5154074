"""The listing's twelve panels: three numbers of coordinates in a picture for each temperature."""

from functools import partial

from core.charts.laboratory.pictures import (
    CurveColumns,
    LaboratoryPicture,
    PictureContent,
    between,
    curves,
    values_of,
)
from core.charts.theme import Chart, Palette
from core.studies.laboratory.listing import TEMPERATURES


def _of(content: PictureContent, temperature: float) -> dict[str, CurveColumns]:
    return {
        f"n = {panel['n']} (exact {panel['exact']:.3f})": CurveColumns(panel["off"])
        for panel in content["panels"]
        if panel["temperature"] == temperature
    }


def _chart(content: PictureContent, palette: Palette, temperature: float) -> Chart:
    by_name = _of(content, temperature)
    ends = min(0.0, *values_of(by_name)), max(0.0, *values_of(by_name))
    if ends[0] == ends[1]:
        ends = -0.01, 0.01
    return curves(content["k"], by_name, palette, y=between(ends, "off by, nats", 5), exact=0.0)


def _alt(content: PictureContent, temperature: float) -> str:
    of = "; ".join(
        f"{name} off by {curve.middle[0]:.3f} at k = {content['k'][0]:,} and "
        f"{curve.middle[-1]:.3f} at {content['k'][-1]:,}"
        for name, curve in _of(content, temperature).items()
    )
    return f"At temperature {temperature:g}, nats: {of}."


PICTURES = tuple(
    LaboratoryPicture(
        f"temperature-{temperature:g}".replace(".", "_"),
        f"Temperature {temperature:g}",
        partial(_chart, temperature=temperature),
        partial(_alt, temperature=temperature),
        "Algorithm 1 less the exact value, which is dashed.",
    )
    for temperature in TEMPERATURES
)
