"""What a chart costs to send: small data lie in it, large ones are a table."""

import io
import json

import pyarrow as pa
from streamlit.testing.v1 import AppTest


def script():
    import altair as alt
    import pandas as pd

    from core.ui import figures

    def chart(many, few, palette):
        large = alt.Chart(pd.DataFrame({"x": range(many), "y": range(many)})).mark_line()
        small = alt.Chart(pd.DataFrame({"x": range(few), "z": range(few)})).mark_point()
        return alt.layer(
            large.encode(x=alt.X("x:Q"), y=alt.Y("y:Q")),
            small.encode(x=alt.X("x:Q"), y=alt.Y("z:Q")),
            small.encode(x=alt.X("x:Q"), y=alt.Y("z:Q")),
        )

    figures.draw(chart, 500, 3, key="chart", alt_text="two lines")


def test_small_data_lie_in_their_layers_and_large_ones_are_one_table():
    app = AppTest.from_function(script).run()
    app.run()  # the second time it is remembered
    (sent,) = (element.proto for element in app.get("vega_lite_chart"))
    first, second, third = json.loads(sent.spec)["layer"]
    assert (
        second["data"]["values"] == third["data"]["values"] == [{"x": x, "z": x} for x in range(3)]
    )
    (table,) = sent.datasets
    assert table.name == first["data"]["name"]
    read = pa.ipc.open_stream(io.BytesIO(table.data.data)).read_all()
    assert read.to_pylist() == [{"x": x, "y": x} for x in range(500)]
    assert sent.alt == "two lines"
