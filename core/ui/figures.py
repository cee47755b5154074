"""Drawing charts in the page's theme, and handing them out as files."""

import hashlib
import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

import streamlit as st
from streamlit.dataframe_util import convert_anything_to_arrow_bytes

from core.charts import export
from core.charts.export import Figure
from core.charts.theme import DARK, LIGHT, Palette
from core.reports.report import Picture
from core.ui import downloads

MOST_CHARTS: Final = 512  # remembered by this process: some ten kilobytes each
MOST_ROWS_INSIDE: Final = 60  # of a set of rows, in all layers that show it


def palette() -> Palette:
    """Return the palette of the theme that the person's browser shows."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def draw(
    chart: Callable[..., Figure],
    *data: object,
    key: str,
    alt_text: str,
    selects: str | None = None,
    height: int | None = None,
) -> None:
    """Show a chart of the data in the page's palette.

    Building a chart costs more than everything else on most pages, and a page is run again for
    every click: a chart of the same data is built once.

    `chart`: a function of the data and a palette.
    `*data`: what pickle can write.
    `selects`: the chart's parameter in which a person chooses; the page is run again then.
    `height`: pixels of all of it, instead of the chart's own.
    """
    picture = partial(chart, *data, palette())
    what = pickle.dumps((picture.func.__qualname__, picture.args, picture.keywords))
    digest = hashlib.sha256(what).hexdigest()
    spec = _specification(picture, f"{picture.func.__module__} {digest}")
    spec = spec | {"padding": {"bottom": 5}}  # Streamlit would leave four times as much
    if height is not None:
        spec = spec | {"height": height, "autosize": {"type": "fit", "contains": "padding"}}
    st.vega_lite_chart(
        spec=spec,
        theme=None,
        key=key,
        alt=alt_text,
        width="stretch",
        on_select="rerun" if selects else "ignore",
        selection_mode=selects,
    )


def show(picture: Picture, key: str, selects: str | None = None, height: int | None = None) -> None:
    """Show a picture of a document; see `draw`."""
    draw(
        picture.chart, *picture.data, key=key, alt_text=picture.alt, selects=selects, height=height
    )


@st.cache_data(show_spinner=False, max_entries=MOST_CHARTS)
def _specification(_picture: Callable[[], Figure], key: str) -> dict[str, Any]:
    # The tests of the charts hold every one of them against the schema of Vega-Lite.
    return _light(_picture().to_dict(validate=False))


def _light(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a chart as it costs Streamlit little to send, again for every run of the page.

    Streamlit makes an Arrow table of every named set of rows, which takes a millisecond or more.
    Here the small ones go into the layers that they belong to, the others become tables once.
    """
    rows: dict[str, Any] = spec.get("datasets", {})
    uses = Counter(name for name in _data_of(spec) if name in rows)
    small = {name for name in uses if len(rows[name]) * uses[name] <= MOST_ROWS_INSIDE}
    if "name" in spec.get("data", {}):  # Streamlit takes what lies here for the whole chart's
        small.discard(spec["data"]["name"])
    light = _with_rows(spec, {name: rows[name] for name in small})
    light["datasets"] = {
        name: convert_anything_to_arrow_bytes(rows[name]) for name in rows.keys() - small
    }
    return light


def _data_of(view: Mapping[str, Any]) -> Iterator[str]:
    """Yield the name of the data of a chart and of all its layers, once for each use."""
    if "name" in view.get("data", {}):
        yield view["data"]["name"]
    for inner in (*view.get("layer", ()), *filter(None, [view.get("spec")])):
        yield from _data_of(inner)


def _with_rows(view: Mapping[str, Any], rows: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chart with these rows in place of their names."""
    whole = dict(view)
    if (name := whole.get("data", {}).get("name")) in rows:
        whole["data"] = {"values": rows[name]}
    if "layer" in whole:
        whole["layer"] = [_with_rows(inner, rows) for inner in whole["layer"]]
    if "spec" in whole:
        whole["spec"] = _with_rows(whole["spec"], rows)
    return whole


def as_files(name: str, picture: Picture, question: str = "") -> None:
    """Offer a picture as PNG and SVG; it is drawn when somebody asks for it."""
    figure = partial(picture.figure, palette(), question)
    with st.container(
        horizontal=True, width="stretch", vertical_alignment="center", key=f"as_files_{name}"
    ):
        st.text(picture.title, width="stretch")
        downloads.download("PNG", lambda: export.to_png(figure()), f"{name}.png")
        downloads.download("SVG", lambda: export.to_svg(figure()), f"{name}.svg")
