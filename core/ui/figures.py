"""Drawing charts in the page's theme, and handing them out as files."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.charts import export
from core.charts.theme import DARK, LIGHT, Chart, Palette


def palette() -> Palette:
    """Return the palette of the theme that the person's browser shows."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def draw(chart: Chart, *, key: str, alt_text: str) -> None:
    """Show a chart as wide as its column."""
    st.altair_chart(chart, theme=None, key=key, alt=alt_text, width="stretch")


def downloads(name: str, title: str, question: str, chart: Callable[[], Chart]) -> None:
    """Offer a chart as PNG and SVG; it is drawn when somebody asks for it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(title, width="stretch")
        st.download_button(
            "PNG",
            lambda: export.to_png(export.alone(chart(), title, question)),
            file_name=f"{name}.png",
            mime="image/png",
            key=f"{name}_png",
            on_click="ignore",
        )
        st.download_button(
            "SVG",
            lambda: export.to_svg(export.alone(chart(), title, question)),
            file_name=f"{name}.svg",
            mime="image/svg+xml",
            key=f"{name}_svg",
            on_click="ignore",
        )
