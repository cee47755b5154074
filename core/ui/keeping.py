"""The database behind the pages: what was paid for, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core.store.calls import Calls
from core.store.database import Database, open_database
from core.store.errors import StoreError
from core.store.results import Results
from core.ui.shared import public, shared

IN_MEMORY = "sqlite://"


@dataclass(frozen=True)
class Kept:
    """The open database, and a sentence where something about it must be said."""

    database: Database
    notice: str | None

    @property
    def calls(self) -> Calls:
        """The call cache."""
        return Calls(self.database)

    @property
    def results(self) -> Results:
        """The saved results."""
        return Results(self.database)


def kept() -> Kept:
    """Return the database; one in memory, and why, where the real one cannot be opened."""
    return shared("database", _open)


def _open() -> Kept:
    if public():
        return Kept(open_database(IN_MEMORY), None)
    try:
        database = open_database()
    except StoreError as error:
        notice = f"{error} Until then nothing is kept beyond this run of the program."
        return Kept(open_database(IN_MEMORY), notice)
    return Kept(database, database.notice)


def save(kind: str, query: str, model: str, payload: str, *, outcome: str) -> str | None:
    """Keep a result and return its id; None, with a notice on the page, where that fails."""
    try:
        return kept().results.save(kind, query, query, model, payload, outcome=outcome)
    except StoreError as error:
        st.session_state["not_kept"] = str(error)
        return None
