"""Charts as PNG and SVG, drawn in this process: no browser and no remote service."""

import json
import re
from typing import Any, Final

import altair as alt

from core.charts.shapes import FilledShape
from core.charts.theme import Chart
from core.codec import one_line

Figure = Chart | FilledShape

WIDTH = 560  # pixels; on a page a chart is as wide as its column
#: What no XML may hold: at such a character vl-convert ends the whole process.
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def alone(chart: Figure, title: str, subtitle: str = "") -> Figure:
    """Make a chart speak for itself outside the page: a width, a title, the question."""
    below = one_line(subtitle, 100)  # that a part is missing shows
    return chart.properties(width=WIDTH, title=alt.TitleParams(title, subtitle=below))


def to_roomy_svg(chart: Figure) -> bytes:
    """Return the chart as an SVG document for any reader, whatever letters are installed there.

    Labels are measured here. Where the letters are wider they need room, or one would lie on the
    next. The ground is that of the page: on paper, none.
    """
    import vl_convert

    spec = _specification(chart)
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

    return vl_convert.vegalite_to_png(_specification(chart), scale=2)


def to_svg(chart: Figure) -> bytes:
    """Return the chart as an SVG document."""
    import vl_convert

    return vl_convert.vegalite_to_svg(_specification(chart)).encode("utf-8")


def _specification(chart: Figure) -> dict[str, Any]:
    """Return the chart as Vega-Lite, with a mark in place of every character that no XML holds."""
    spec: dict[str, Any] = _as_xml(json.loads(chart.to_json()))
    return spec


def _as_xml(part: Any) -> Any:
    if isinstance(part, str):
        return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", part)
    if isinstance(part, list):
        return [_as_xml(each) for each in part]
    if isinstance(part, dict):  # columns are named alike in the data and where they are drawn
        return {_as_xml(name): _as_xml(each) for name, each in part.items()}
    return part
