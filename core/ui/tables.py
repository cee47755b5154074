"""Tables to take along: our CSV, in which no formula comes alive.

Streamlit's own download of a table is switched off (`.streamlit/config.toml`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core.data.tabular.csv_export import to_csv


def download(columns: Mapping[str, Sequence[object]], name: str) -> None:
    """Offer a table as a disarmed CSV, written when somebody asks for it.

    Parameters
    ----------
    columns : mapping of str to sequence
        By heading, all of the same length.
    name : str
        Of the file, without its ending.
    """
    st.download_button(
        "Table (CSV)",
        lambda: to_csv(list(columns), zip(*columns.values(), strict=True)),
        file_name=f"{name}.csv",
        mime="text/csv",
        key=f"{name}_csv",
        icon=":material/download:",
        on_click="ignore",
    )
