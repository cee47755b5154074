"""Files to take along: one menu a page, and our CSV, in which no formula runs.

Streamlit's own download of a table is switched off (`.streamlit/config.toml`).
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final

import streamlit as st

from core.data.tabular.csv_export import to_csv
from core.reports.report import Report, to_html

TYPES: Final = {
    "csv": "text/csv",
    "html": "text/html",
    "json": "application/json",
    "png": "image/png",
    "svg": "image/svg+xml",
    "parquet": "application/vnd.apache.parquet",
}


def download(
    label: str, content: bytes | Callable[[], str | bytes], name: str, *, help: str | None = None
) -> None:
    """Offer a file.

    Parameters
    ----------
    label : str
        On the button.
    content : bytes or callable
        What is in the file, or what writes it when somebody asks for it.
    name : str
        Of the file, with one of the endings in `TYPES`.
    help : str, optional
        Markdown.
    """
    st.download_button(
        label,
        content,
        file_name=name,
        mime=TYPES[name.rpartition(".")[2]],
        key=f"download_{name}",
        icon=":material/download:",
        on_click="ignore",
        help=help,
    )


def menu(offer: Callable[[], None], *, key: str = "export") -> None:
    """Offer all files of a page in one menu.

    Parameters
    ----------
    offer : callable
        Draws the buttons, each time the page runs while the menu is open.
    key : str
        Tells the menus of a page apart.
    """
    opened = st.popover("Export", icon=":material/download:", key=key, on_change="rerun")
    if opened.open:
        with opened, st.container(horizontal=True, gap="small", key=f"files_{key}"):
            offer()


def report(
    build: Callable[[], Report],
    name: str,
    *,
    saved: datetime | None = None,
    from_file: bool = False,
) -> None:
    """Offer a report as a file; it is made when somebody asks for it. See `to_html`."""
    download(
        "Report (HTML)",
        lambda: to_html(build(), saved=saved, from_file=from_file),
        f"{name}_report.html",
        help="One file with the pictures, settings and versions. It opens without a network, and "
        "prints.",
    )


Columns = Mapping[str, Sequence[object]]


def as_csv(columns: Columns | Callable[[], Columns]) -> bytes:
    """Return a table by heading, all columns of the same length, as CSV."""
    content = columns() if callable(columns) else columns
    return to_csv(list(content), zip(*content.values(), strict=True))


def table(columns: Columns | Callable[[], Columns], name: str) -> None:
    """Offer a table, or what makes it when asked; see `as_csv`."""
    download("Table (CSV)", partial(as_csv, columns), f"{name}.csv")
