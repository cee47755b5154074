"""Looking into charts: what stands in their data, and in the picture that comes of them."""

import html
import json
import math
import re

import vl_convert


def spec_of(chart):
    """The specification, without Altair's validation of it, which `check` does once."""
    return chart.to_dict(validate=False)


def rows_of(chart, column):
    """The rows of the chart's data that have that column."""
    return [row for rows in spec_of(chart)["datasets"].values() for row in rows if column in row]


def drawn(chart):
    """The picture as SVG: what is wrong in an expression shows only here."""
    return vl_convert.vegalite_to_svg(spec_of(chart))


def texts(picture):
    """What stands in the picture."""
    return [html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", picture)]


def numbers(value):
    """Every float in a specification."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [number for part in value for number in numbers(part)]
    return [value] if isinstance(value, float) else []


def check(charts, palette, empty=()):
    """Hold charts, by name, against what every chart has to be.

    A valid specification in the colours of its palette, with numbers (unless it is named among the
    `empty`), all finite, that fetches nothing from anywhere, and of which a picture with words can
    be drawn.
    """
    for name, chart in charts.items():
        spec = chart.to_dict()  # Altair validates it against Vega-Lite's schema
        assert spec["config"]["background"] == palette.background, name
        found = list(numbers(spec))
        assert found or name in empty, name
        assert all(map(math.isfinite, found)), name
        assert '"url"' not in json.dumps(spec), name
        # Hostile texts in the data may look like addresses.
        outside = json.dumps({key: part for key, part in spec.items() if key != "datasets"})
        assert [part for part in outside.split('"') if "://" in part] == [spec["$schema"]], name
        assert texts(vl_convert.vegalite_to_svg(spec)), name


def only_text(picture):
    """Whether a picture holds no element that could run or fetch anything."""
    return not re.search(r"<(img|image|script|a)\b", picture)
