"""A shape that is filled draws what Altair draws of the same data."""

import json
import math

import altair as alt
import numpy as np
import pandas as pd
import pytest
from jsonschema import ValidationError

from core.charts import export
from core.charts.shapes import FilledShape, records, shape
from core.charts.theme import DARK, LIGHT, theme
from tests.charts.drawing import check, drawn, texts

ROWS = records(x=np.array([0.0, 1.5, 4.0]), y=[1, 2, 3], name=["a", "b", "c"])


def layers(data, highest):
    base = alt.Chart(data).encode(
        x=alt.X("x:Q", scale=alt.Scale(domain=[0, highest])), y=alt.Y("y:Q")
    )
    return alt.layer(base.mark_line(), base.mark_text().encode(text=alt.Text("name:N")))


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_a_filled_shape_is_the_picture_of_its_data(palette):
    empty = shape(layers(alt.NamedData("all"), alt.ExprRef("most")), palette)
    for most in (4.0, 9.0):
        filled = FilledShape(empty, {"all": ROWS}, {"most": most})
        check({"filled": filled}, palette)
        assert drawn(filled) == drawn(theme(layers(pd.DataFrame(ROWS), most), palette))


def test_a_filled_shape_takes_a_title_and_leaves_the_shape_alone():
    empty = shape(layers(alt.NamedData("all"), 4), LIGHT)
    before = json.dumps(empty)
    filled = FilledShape(empty, {"all": ROWS})
    alone = export.alone(filled, "The title", "and a question")
    assert {"The title", "and a question"} <= {*texts(export.to_svg(alone).decode())}
    assert "title" not in filled.to_dict() and json.dumps(empty) == before


def test_what_is_no_shape_is_refused():
    with pytest.raises(ValidationError):
        FilledShape({"layer": [{"mark": "no such mark"}]}, {}).to_dict()


def test_rows_hold_what_json_knows():
    found = records(a=np.array([0.5, math.nan, -math.inf]), b=np.array([1, 2, 3]), c="xyz")
    assert found == [
        {"a": 0.5, "b": 1, "c": "x"},
        {"a": None, "b": 2, "c": "y"},
        {"a": None, "b": 3, "c": "z"},
    ]
    assert json.loads(json.dumps(found)) == found
    with pytest.raises(ValueError):
        records(a=[1, 2], b=[1])
