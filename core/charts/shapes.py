"""Charts whose shape is built once, and filled with the data of each drawing.

Altair takes 20 to 100 ms for a chart of a few layers, most of it for what is the same every time.
A shape is a chart of named, empty data (`alt.NamedData`) and of parameters without a value yet
(`alt.param`); filling it takes a thousandth of that.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import altair as alt
import numpy as np

from core.charts.theme import Chart, Palette, theme

Rows = Sequence[Mapping[str, Any]]
Shape = Mapping[str, Any]


def shape(chart: Chart, palette: Palette) -> Shape:
    """Return the specification of a chart without data, in the palette."""
    specification: dict[str, Any] = theme(chart, palette).to_dict(validate=False)
    return specification


def records(**columns: Iterable[Any]) -> Rows:
    """Return columns of the same length as rows of plain values; what is not finite is None."""
    plain = (
        values.tolist() if isinstance(values, np.ndarray) else values for values in columns.values()
    )
    return [dict(zip(columns, map(_finite, row), strict=True)) for row in zip(*plain, strict=True)]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


@dataclass(frozen=True)
class FilledShape:
    """A shape with its data; used as an Altair chart is."""

    shape: Shape  # of `shape`
    rows: Mapping[str, Rows]  # by the names of the data in the shape: numbers, texts, and None
    # By the names of the shape's parameters.
    values: Mapping[str, float] = field(default_factory=dict)
    # Further properties of the whole chart, such as its title.
    looks: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self, validate: bool = True) -> dict[str, Any]:
        """Return the specification, held against the schema of Vega-Lite unless told not to."""
        specification = {**self.shape, **self.looks, "datasets": dict(self.rows)}
        if self.values:
            specification["params"] = [
                {"name": name, "value": v} for name, v in self.values.items()
            ]
        if validate:
            alt.LayerChart.from_dict(specification)
        return specification

    def to_json(self) -> str:
        """Return the specification as text."""
        return json.dumps(self.to_dict(validate=False))

    def properties(self, **looks: Any) -> FilledShape:
        """Return the chart with a width, a title, and so on."""
        plain = {
            name: look.to_dict() if isinstance(look, alt.SchemaBase) else look
            for name, look in looks.items()
        }
        return replace(self, looks={**self.looks, **plain})
