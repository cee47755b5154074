"""How numbers and texts of a run are shown in a table, and what tells widgets apart."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import streamlit as st

LONGEST_CELL = 200  # characters
MOST_SHOWN = 1000  # rows
OUTCOME = "right or wrong"  # the column of that
NATS = st.column_config.NumberColumn(format="%.3f")


def display(cell: object) -> object:
    """Return a cell, a long text cut off."""
    is_long = isinstance(cell, str) and len(cell) > LONGEST_CELL
    return f"{str(cell)[:LONGEST_CELL]}…" if is_long else cell


def source_name(name: str) -> str:
    """Return a source's name; questions may have none."""
    return name or "(none)"


def digest(*what: object) -> str:
    """Return what tells the widgets of some rows from those of others."""
    sum_of = sha256()
    for part in what:
        sum_of.update(part if isinstance(part, bytes) else f"{part}\n".encode())
    return sum_of.hexdigest()[:12]


def chosen_place(
    columns: Mapping[str, Sequence[object]],
    number: int,
    *,
    key: str,
    alt: str,
    column_config: dict[str, Any] | None = None,
) -> int | None:
    """Show rows by heading, let a person choose one, and return its place; None without one.

    `number`: of all rows, of which the first `MOST_SHOWN` are shown.
    """
    picked = st.dataframe(
        {name: [display(cell) for cell in cells] for name, cells in columns.items()},
        column_config=column_config,
        # What came of a row first: a phone shows it and the question.
        column_order=sorted(columns, key=OUTCOME.__ne__),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        # Another table for other rows: in the same one, another row would be the chosen one.
        key=key,
        alt=alt,
    )
    chosen = picked.selection.rows
    return chosen[0] if chosen and chosen[0] < number else None
