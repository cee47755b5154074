"""The rows of a run: searched, filtered, opened, and taken along."""

from functools import partial

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.charts import evaluation as charts
from core.codec import count_of
from core.studies.evaluation.results import Results
from core.studies.evaluation.row_table import (
    RowPart,
    Table,
    as_csv,
    as_parquet,
    listed_rows,
    rows_table,
)
from core.ui import downloads
from core.ui.evaluation.cells import MOST_SHOWN, NATS, chosen_place, digest
from core.ui.evaluation.row_inspection import offer
from core.ui.session import memory_of

LONGEST_SEARCH = 200


def rows(results: Results) -> None:
    """List the rows that a person looks for, and offer all of them as files."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = st.text_input(
            "Search",
            key="results_words",
            placeholder="words of the question, the answers or the source",
            max_chars=LONGEST_SEARCH,
            persist_state="session",
        )
        score = st.selectbox(
            "Answer and doubt of",
            list(results.scores) or ["mutual_information"],
            format_func=charts.symbol_of,
            key="results_rows_score",
            persist_state="session",
        )
    part = st.pills(
        "Which rows",
        list(RowPart),
        default=RowPart.ALL,
        required=True,
        key="results_part",
        persist_state="session",
        label_visibility="collapsed",
    )
    key = (score, part, words or "")
    places = memory_of("results_listed", results, lambda: listed_rows(results, *key), key)
    st.caption(f"Rows: {len(places):,d} of {len(results):,d}, the least doubtful first.")
    downloads.menu(partial(_files, results))
    if not len(places):
        st.text("No row has all of these words. Search for fewer, or among all rows.")
        return
    chosen_row(results, score, places, key="results_rows")


def _files(results: Results) -> None:
    downloads.download("All rows (CSV)", lambda: as_csv(results), "evaluation_rows.csv")
    downloads.download("All rows (Parquet)", lambda: as_parquet(results), "evaluation_rows.parquet")


def chosen_row(results: Results, score: str, places: NDArray[np.int64], *, key: str) -> None:
    """Show rows, let a person choose one, and offer its inspection."""
    columns = rows_table(results, score, places[:MOST_SHOWN])
    at = chosen_place(
        columns,
        len(places),
        key=f"{key}_{digest(results.run.folder, score, places.tobytes())}",
        alt=f"{count_of(len(places), 'row')}, the least doubtful first",
        column_config=dict.fromkeys(("doubt", "entropy"), NATS),
    )
    if len(places) > MOST_SHOWN:
        st.caption(f"Shown: the first {MOST_SHOWN:,d} rows.")
    if len(places) == 1:
        at = 0
    if at is None:
        st.text("Choose a row to open its inspection.")
        return
    in_full(columns, at)
    offer(results.run, str(results.ids[places[at]]), key="results_open_row")


def in_full(columns: Table, at: int) -> None:
    """Show the texts of one row whole, which its cells may have cut."""
    for name, cells in columns.items():
        if isinstance(cells[at], str) and name != "source":
            st.text(f"{name.capitalize()}: {cells[at]}")
