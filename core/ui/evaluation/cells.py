"""How numbers and texts of a run are shown in a table, and what tells widgets apart."""

from __future__ import annotations

import math
from hashlib import sha256

import streamlit as st

from core.abstention.intervals import Interval
from core.studies.evaluation.comparison import signed

NONE = "–"  # where nothing can be said
LONGEST_CELL = 200  # characters
NATS = st.column_config.NumberColumn(format="%.3f")


def measured(of: Interval) -> str:
    """Return a measure with its interval, as far as there is one."""
    value = number_shown(of.value)
    if not (math.isfinite(of.lower) and math.isfinite(of.upper)):
        return value
    return f"{value} ({signed(of.lower, 3)} to {signed(of.upper, 3)})"


def number_shown(value: float) -> str:
    """Return a measure without its interval."""
    return signed(value, 3) if math.isfinite(value) else NONE


def percent(value: float) -> str:
    """Return a share as a person reads it."""
    return NONE if math.isnan(value) else f"{value:.1%}"


def finite(value: float) -> float | None:
    """Return a number of a file, where there is none nothing."""
    return value if math.isfinite(value) else None


def shown(cell: object) -> object:
    """Return a cell, a long text cut off."""
    is_long = isinstance(cell, str) and len(cell) > LONGEST_CELL
    return f"{str(cell)[:LONGEST_CELL]}…" if is_long else cell


def source_shown(name: str) -> str:
    """Return a source's name; questions may have none."""
    return name or "(none)"


def digest(*what: object) -> str:
    """Return what tells the widgets of some rows from those of others."""
    made = sha256()
    for part in what:
        made.update(part if isinstance(part, bytes) else f"{part}\n".encode())
    return made.hexdigest()[:12]
