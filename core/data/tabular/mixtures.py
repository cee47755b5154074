"""Rows of several models, filters or epochs in one file: which of them count is asked.

Each would have a threshold of its own, and a guarantee for their mix promises nothing of one. To
choose another afterwards is a look, for its rows share questions and labels with those before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from core.codec import list_of, one_line
from core.data.tabular.columns import column_of, columns_named, word_of
from core.data.tabular.labels import display, rows, spelling, values_of
from core.data.tabular.uploads import Upload, UploadError

#: A column, and the value whose rows count, as `word_of` gives it; None if all count, as a mix.
RowFilter = tuple[str, str | None]

_HEADINGS = (
    *("model", "modelname", "modelid", "provider", "provider.id", "filter", "epoch", "annotator"),
    *("llm", "lm", "engine", "modell", "modèle", "modele", "modelo", "modello", "checkpoint"),
)
_FEW = 50  # values; a column of more describes rows
_NAMED = 3


class UnknownMixtureError(UploadError):
    """Nobody has said which model, filter or epoch counts.

    Attributes
    ----------
    column : str
        The column that tells them apart.
    """

    def __init__(self, column: str, why: str) -> None:
        super().__init__(why)
        self.column = column


def mixture_columns(upload: Upload) -> list[str]:
    """Return the columns whose headings say that they tell models, filters or epochs apart."""
    return columns_named(upload, _HEADINGS)


def rows_that_count(upload: Upload, filters: Sequence[RowFilter]) -> NDArray[np.bool_]:
    """Return which rows of a table every filter keeps, (n,).

    Raises
    ------
    UploadError
        When a column is none of `mixture_columns`, so that a filter could choose by the labels, or
        no row has a value.
    """
    count = np.ones(len(upload.table), bool)
    for name, value in filters:
        if name not in (columns := mixture_columns(upload)):
            raise UploadError(
                f"“{one_line(name)}” is no column of models, filters or epochs, by which rows can "
                f"be chosen. Of these there {_there_are(columns)}."
            )
        column = column_of(upload, name)
        if value is None:
            continue
        chosen = column.of_word(value)
        if not chosen.any():
            raise UploadError(
                f"No row has {display(value)} in “{one_line(name)}”. It has "
                f"{_spellings(upload, name)}; choose one of them."
            )
        count &= chosen
    return count


def check_mixtures(
    upload: Upload, filters: Sequence[RowFilter], usable: NDArray[np.int64], others: Sequence[str]
) -> None:
    """Refuse rows of several models, filters or epochs of which nobody has said which count.

    Parameters
    ----------
    usable : ndarray of shape (n,)
        Which rows would be used.
    others : sequence of str
        Columns that mean something else.
    """
    settled = {*others, *(name for name, _ in filters)}
    for name in mixture_columns(upload):
        codes = np.unique(column_of(upload, name).codes[usable])
        if name in settled or not 1 < len(codes) <= _FEW or len(_words(upload, name, usable)) < 2:
            continue
        raise UnknownMixtureError(
            name,
            f"“{one_line(name)}” is {_spellings(upload, name, usable)} in the rows that would be "
            "used, and a guarantee for their mix would not hold for one of them alone. Say which "
            "of them counts before you see the result: each further choice costs a look.",
        )


def sentences(
    upload: Upload, filters: Sequence[RowFilter], usable: NDArray[np.int64]
) -> Iterator[str]:
    """Yield what a person said of models, filters and epochs, a sentence each."""
    for name, value in filters:
        if value is not None:
            others = int(np.count_nonzero(~column_of(upload, name).of_word(value)))
            yield f"{_only(upload, name, value)} (left out: {rows(others)} of others)."
        elif len(_words(upload, name, usable)) > 1:
            yield (
                f"“{one_line(name)}” is {_spellings(upload, name, usable)} in the rows used: as "
                "you said, a guarantee holds for this mix, not for one of them alone."
            )


def selection(upload: Upload, filters: Sequence[RowFilter]) -> str:
    """Return what narrows a promise, a sentence for every filter that leaves rows out."""
    chosen = [f"{_only(upload, name, value)}." for name, value in filters if value is not None]
    return " ".join(chosen)


def _only(upload: Upload, name: str, value: str) -> str:
    text = display(spelling(column_of(upload, name), value))
    return f"As you said, only rows in which “{one_line(name)}” is {text} count"


def _words(upload: Upload, name: str, usable: NDArray[np.int64] | None = None) -> list[str]:
    column = column_of(upload, name)
    if usable is None:
        return [*values_of(column)]
    there = np.unique(column.codes[usable]).tolist()
    return [*dict.fromkeys(word_of(column.text(code)) for code in there)]


def _spellings(upload: Upload, name: str, usable: NDArray[np.int64] | None = None) -> str:
    column = column_of(upload, name)
    shown = [display(spelling(column, word)) for word in _words(upload, name, usable)]
    return list_of(shown, most=_NAMED)


def _there_are(columns: Sequence[str]) -> str:
    if not columns:
        return "are none"
    return f"{'are' if len(columns) > 1 else 'is'} {list_of([f'“{one_line(c)}”' for c in columns])}"
