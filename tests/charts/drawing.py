"""Looking into charts: what stands in their data, and in the picture that comes of them."""

import html
import re

import vl_convert


def rows_of(chart, column):
    """The rows of the chart's data that have that column."""
    data = chart.to_dict()["datasets"]
    return [row for rows in data.values() for row in rows if column in row]


def drawn(chart):
    """The picture as SVG: what is wrong in an expression shows only here."""
    return vl_convert.vegalite_to_svg(chart.to_json())


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
