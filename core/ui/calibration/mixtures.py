"""Rows of several models, filters or epochs: the page asks which of them count."""

from functools import partial

import streamlit as st

from core.codec import one_line
from core.data.tabular.columns import column_of
from core.data.tabular.labels import display, spellings_of
from core.data.tabular.mixtures import RowFilter, UnknownMixtureError, mixture_columns
from core.data.tabular.uploads import Upload
from core.ui.session import memory_of


def filters_of(upload: Upload) -> tuple[RowFilter, ...]:
    """Return what a person said of each column, under a field to change it."""
    names = [
        n for n in mixture_columns(upload) if st.session_state.get(_key(upload, n)) is not None
    ]
    return tuple((name, _value(upload, name)) for name in names)


def ask_which_counts(upload: Upload, error: UnknownMixtureError) -> None:
    """Ask which value of a column counts, or whether all do."""
    with st.container(border=True, key="mixture"):
        st.badge("Your answer is needed", icon=":material/help:", color="orange")
        st.text(str(error))
        _value(upload, error.column)


def _value(upload: Upload, name: str) -> str | None:
    """Draw the field of a column; its texts are hostile, so they stand in options alone."""
    spellings = memory_of("values", upload, lambda: spellings_of(column_of(upload, name)), name)
    values = list(spellings)
    chosen: int | None = st.selectbox(
        "Rows that count",
        range(len(values) + 1),
        None,
        format_func=partial(_option, name, list(spellings.values())),
        key=_key(upload, name),
        persist_state="session",
        placeholder="Choose which rows count",
    )
    return None if chosen is None or chosen == len(values) else values[chosen]


def _option(name: str, spellings: list[str], place: int) -> str:
    if place == len(spellings):
        return f"All of “{one_line(name)}”, as a mix"
    return f"“{one_line(name)}” is {display(spellings[place])}"


def _key(upload: Upload, name: str) -> str:
    return f"filter_{upload.sha256[:16]}_{name}"
