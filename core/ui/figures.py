"""Drawing charts in the page's theme, and handing them out as files."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import streamlit as st

from core.charts import export
from core.charts.theme import DARK, LIGHT, Chart, Palette
from core.ui import downloads

MOST_CHARTS: Final = 512  # remembered by this process: some ten kilobytes each


def palette() -> Palette:
    """Return the palette of the theme that the person's browser shows."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def draw(
    chart: Callable[..., Chart],
    *data: object,
    key: str,
    alt_text: str,
    selects: str | None = None,
) -> None:
    """Show a chart of the data in the page's palette.

    Building a chart costs more than everything else on most pages, and a page is run again for
    every click: a chart of the same data is built once.

    Parameters
    ----------
    chart : callable
        A function of the data and a palette.
    *data : object
        What pickle can write.
    key, alt_text : str
    selects : str, optional
        The chart's parameter in which a person chooses; the page is run again then.
    """
    drawn = partial(chart, *data, palette())
    what = pickle.dumps((drawn.func.__qualname__, drawn.args, drawn.keywords))
    digest = hashlib.sha256(what).hexdigest()
    st.vega_lite_chart(
        spec=_specification(drawn, f"{drawn.func.__module__} {digest}"),
        theme=None,
        key=key,
        alt=alt_text,
        width="stretch",
        on_select="rerun" if selects else "ignore",
        selection_mode=selects,
    )


@st.cache_data(show_spinner=False, max_entries=MOST_CHARTS)
def _specification(_drawn: Callable[[], Chart], key: str) -> dict[str, Any]:
    # The tests of the charts hold every one of them against the schema of Vega-Lite.
    return _drawn().to_dict(validate=False)


def as_files(name: str, title: str, question: str, chart: Callable[[], Chart]) -> None:
    """Offer a chart as PNG and SVG; it is drawn when somebody asks for it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(title, width="stretch")
        downloads.download(
            "PNG", lambda: export.to_png(export.alone(chart(), title, question)), f"{name}.png"
        )
        downloads.download(
            "SVG", lambda: export.to_svg(export.alone(chart(), title, question)), f"{name}.svg"
        )
