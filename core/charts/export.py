"""Charts as PNG and SVG, drawn in this process: no browser and no remote service."""

from __future__ import annotations

import json

import altair as alt

from core.charts.shapes import Filled
from core.charts.theme import Chart

Figure = Chart | Filled

WIDTH = 560  # pixels; on a page a chart is as wide as its column


def alone(chart: Figure, title: str, subtitle: str = "") -> Figure:
    """Make a chart speak for itself outside the page: a width, a title, the question."""
    return chart.properties(width=WIDTH, title=alt.TitleParams(title, subtitle=subtitle[:100]))


def to_roomy_svg(chart: Figure) -> bytes:
    """Return the chart as an SVG document for any reader, whatever letters are installed there.

    Labels are measured here. Where the letters are wider they need room, or one would lie on the
    next. The ground is that of the page: on paper, none.
    """
    import vl_convert

    spec = json.loads(chart.to_json())
    spec["padding"] = {"left": 28, "right": 14, "top": 5, "bottom": 5}
    config = spec["config"]
    config["background"] = "transparent"
    config["font"] = "Arial, Helvetica, 'Liberation Sans', sans-serif"
    config["axis"] |= {"titlePadding": 18}
    config["legend"] |= {"columnPadding": 44}
    return vl_convert.vegalite_to_svg(spec).encode("utf-8")


def to_png(chart: Figure) -> bytes:
    """Return the chart as a PNG at twice the screen's resolution."""
    import vl_convert  # a hundred megabytes, for who wants a picture

    return vl_convert.vegalite_to_png(chart.to_json(), scale=2)


def to_svg(chart: Figure) -> bytes:
    """Return the chart as an SVG document."""
    import vl_convert

    return vl_convert.vegalite_to_svg(chart.to_json()).encode("utf-8")
