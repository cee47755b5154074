"""Files to take along: one menu a page, and our CSV, in which no formula runs.

Streamlit's own download of a table is switched off (`.streamlit/config.toml`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import streamlit as st

from core.data.tabular.csv_export import to_csv
from core.reports.report import Report, to_html
from core.store.results import Result
from core.ui.saved_result import why_unverified

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
    """Offer a file of this content, or of what makes it when somebody asks for it.

    `name`: with one of the endings in `TYPES`. `help`: Markdown.
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


def menu(offer: Callable[[], None]) -> None:
    """Offer all files of a page in one menu.

    `offer`: draws the buttons, each time the page runs while the menu is open.
    """
    opened = st.popover("Export", icon=":material/download:", key="export", on_change="rerun")
    if opened.open:
        with opened, st.container(horizontal=True, gap="small", key="files_export"):
            offer()


def report(
    build: Callable[[], Report], name: str, result: Result | None = None, then: str | None = None
) -> None:
    """Offer a report as a file; it is made when somebody asks for it.

    `result`: the saved one that it is of, if any; `then`: what that said, if it was otherwise.
    """
    saved = result.created_at if result else None
    warning = " ".join(filter(None, [why_unverified(result) if result else None, then]))
    download(
        "Report (HTML)",
        lambda: to_html(build(), saved=saved, warning=warning),
        f"{name}_report.html",
        help="One file with the pictures, settings and versions. It opens without a network, and "
        "prints.",
    )


Columns = Mapping[str, Sequence[object]]


def csv(label: str, columns: Columns | Callable[[], Columns], name: str) -> None:
    """Offer a table by heading, all columns of the same length, or what makes it when asked."""

    def content() -> bytes:
        by_heading = columns() if callable(columns) else columns
        return to_csv(list(by_heading), zip(*by_heading.values(), strict=True))

    download(label, content, f"{name}.csv")


def table(columns: Columns | Callable[[], Columns], name: str) -> None:
    """Offer the table that is on the page; see `csv`."""
    csv("Table (CSV)", columns, name)
