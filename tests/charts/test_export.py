"""Charts as files: whatever their texts hold."""

import altair as alt
import pandas as pd
import pytest

from core.charts import export
from tests.hostile import HALF

UNPRINTABLE = "\x00\x01\x1b\x7f\x85\ufffe\uffff"


@pytest.mark.parametrize("written", [export.to_svg, export.to_roomy_svg, export.to_png])
def test_characters_that_no_xml_holds_are_drawn_as_marks(written):
    """Of the first of them, vl-convert makes an end of the process."""
    name = f"column{UNPRINTABLE}"
    data = pd.DataFrame({name: [f"Madrid{UNPRINTABLE}", "Paris"], "y": [1, 2]})
    chart = alt.Chart(data).mark_bar().encode(x=alt.X(name, type="nominal"), y="y:Q")
    chart = chart.configure_axis(labelLimit=0).configure_legend()
    title = f"title{HALF}{UNPRINTABLE}"
    picture = written(export.alone(chart, title, title))
    if written is not export.to_png:
        for text in ("column", "Madrid", "title"):
            assert f"{text}\N{REPLACEMENT CHARACTER}" in picture.decode()
