"""What a file leaves open of labels, scores and rows: the page asks, the person answers."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from core.codec import one_line
from core.data.tabular.columns import column_of
from core.data.tabular.label_meanings import (
    Meaning,
    UnreadValue,
    ValueMeaning,
    complaint_of,
    display,
    meanings_of,
    spellings_of,
    unread_values,
    values_of,
)
from core.data.tabular.mixed_rows import (
    RowFilter,
    UnknownMixtureError,
    mixture_columns,
    rows_that_count,
)
from core.data.tabular.suspicion import Claim, SuspiciousScoreError
from core.data.tabular.uploads import Upload
from core.store.labelled_files import hash_of
from core.ui.calibration.result import reading_of
from core.ui.session import memory_of

CHOICES = {
    Meaning.RIGHT: "The answer is right",
    Meaning.WRONG: "The answer is wrong",
    Meaning.OUT: "Leave these rows out",
}
_OTHER = {Meaning.RIGHT: Meaning.WRONG, Meaning.WRONG: Meaning.RIGHT}


def meanings(
    upload: Upload, columns: Sequence[str], filters: tuple[RowFilter, ...] = ()
) -> tuple[ValueMeaning, ...] | None:
    """Ask what each value means of which nothing says whether it is right.

    Return what was answered, None while an answer is missing. `columns` are those of labels, each
    once; `filters` say which rows count.

    Raises `UploadError` when a column is no column of labels, or a filter does not fit.
    """

    def questions_about() -> list[UnreadValue]:
        counts = rows_that_count(upload, filters)
        return [each for name in columns for each in unread_values(upload, name, counts)]

    questions = memory_of("unread", upload, questions_about, (tuple(columns), filters))
    if not questions:
        return ()
    with st.container(border=True, key="meanings"):
        head = st.empty()
        meant = []
        for number, each in enumerate(questions):
            if number == 0 or each.column != questions[number - 1].column:
                of_column = [other for other in questions if other.column == each.column]
                st.text(f"{complaint_of(upload, of_column)} What does each of them mean?")
            meant.append(_meaning(upload, each, number))
        answered = tuple(each for each in meant if each is not None)
        if len(answered) == len(meant):
            return answered
        head.badge("Your answer is needed", icon=":material/help:", color="orange")
        st.text(
            "Nothing is promised until each of them has a meaning. If you leave rows out, "
            "the promise covers only questions like the remaining ones."
        )
    return None


def reversal(upload: Upload, columns: Sequence[str]) -> tuple[ValueMeaning, ...]:
    """Let the person turn the labels: what reads as right is wrong, and the other way around."""
    if len(columns) != 1:  # our own scores have labels of their own
        return ()
    (name,) = columns
    values = {each: way for each, way in meanings_of(upload, name).items() if way in _OTHER}
    if not values or not st.checkbox(
        "What reads as right is wrong, and what reads as wrong is right",
        key=turned_key(upload.sha256[:16], name),
        persist_state="session",
    ):
        return ()
    there = values_of(column_of(upload, name))
    return tuple(
        ValueMeaning(name, each, _OTHER[way]) for each, way in values.items() if each in there
    )


def turned_key(key: str, column: str) -> str:
    """Return the name in the session of whether a column of labels is turned."""
    return f"turned_{key}_{column}"


def _meaning(upload: Upload, unread: UnreadValue, number: int) -> ValueMeaning | None:
    """Ask about one value: its text is hostile, and stands beside the field, not in its label."""
    value, field = st.columns(2, vertical_alignment="center")
    value.text(str(unread))
    chosen: Meaning | None = field.selectbox(
        f"What value {number + 1:d} means",
        list(Meaning),
        None,
        format_func=CHOICES.__getitem__,
        key=f"meaning_{upload.sha256[:16]}_{unread.column}_{hash_of(unread.value.encode())}",
        placeholder="Choose what it means",
        label_visibility="collapsed",
        persist_state="session",
    )
    return None if chosen is None else ValueMeaning(unread.column, unread.value, chosen)


def claims_of(upload: Upload) -> tuple[tuple[str, Claim], ...]:
    """Return what a person vouches for of the scores of a file."""
    return tuple((score, Claim(claim)) for score, claim in _claims(_claims_key(upload)))


def vouch_for(upload: Upload, error: SuspiciousScoreError) -> None:
    """Say what was read and what is odd about a score, and let the person vouch for it."""
    reading_of(error.reading)
    with st.container(border=True, key="vouching"):
        st.badge("Your answer is needed", icon=":material/help:", color="orange")
        st.text(str(error))
        key = _claims_key(upload)
        st.button(
            f"It {Claim[error.claim.name]}",
            key="vouch",
            icon=":material/verified_user:",
            on_click=st.session_state.update,
            args=({key: [*_claims(key), [error.score, error.claim.value]]},),
        )


def _claims_key(upload: Upload) -> str:
    return f"claims_{upload.sha256[:16]}"  # so that a reload brings it back


def _claims(key: str) -> list[list[str]]:
    return st.session_state.get(key, [])


def filters_of(upload: Upload) -> tuple[RowFilter, ...]:
    """Return what a person said of each column, under a field to change it."""
    names = [
        n for n in mixture_columns(upload) if st.session_state.get(_rows_key(upload, n)) is not None
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
        key=_rows_key(upload, name),
        persist_state="session",
        placeholder="Choose which rows count",
    )
    return None if chosen is None or chosen == len(values) else values[chosen]


def _option(name: str, spellings: list[str], place: int) -> str:
    if place == len(spellings):
        return f"All of “{one_line(name)}”, as a mix"
    return f"“{one_line(name)}” is {display(spellings[place])}"


def _rows_key(upload: Upload, name: str) -> str:
    return f"filter_{upload.sha256[:16]}_{name}"
