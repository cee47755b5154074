"""How numbers and texts of a run are shown in a table, and what tells widgets apart."""

from hashlib import sha256

import streamlit as st

LONGEST_CELL = 200  # characters
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
