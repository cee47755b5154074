"""Charts as PNG and SVG, drawn in this process: no browser and no remote service."""

from __future__ import annotations

import altair as alt

from core.charts.shapes import Filled
from core.charts.theme import Chart

Figure = Chart | Filled

WIDTH = 560  # pixels; on a page a chart is as wide as its column


def alone(chart: Figure, title: str, subtitle: str = "") -> Figure:
    """Make a chart speak for itself outside the page: a width, a title, the question."""
    return chart.properties(width=WIDTH, title=alt.TitleParams(title, subtitle=subtitle[:100]))


def to_png(chart: Figure) -> bytes:
    """Return the chart as a PNG at twice the screen's resolution."""
    import vl_convert  # a hundred megabytes, for who wants a picture

    return vl_convert.vegalite_to_png(chart.to_json(), scale=2)


def to_svg(chart: Figure) -> bytes:
    """Return the chart as an SVG document."""
    import vl_convert

    return vl_convert.vegalite_to_svg(chart.to_json()).encode("utf-8")
