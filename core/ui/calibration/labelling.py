"""A person labels predictions on the page, one at a time, by keyboard.

A label is saved as it is given, by a hash of the question, the prediction and its references: after
a reload, on another day or in another file with the same row it is there.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.data.datasets.predictions import Predictions, labelling_order, row_hashes
from core.data.tabular.grading import RIGHT, SKIP, VALUES, WRONG
from core.store.errors import StoreError
from core.ui.messages import problem
from core.ui.session import alone, memory_of, person, public
from core.ui.storage import storage

MOST_NAMES: Final = 10  # of accepted answers, in words
SESSION_ONLY: Final = (
    "Your labels last as long as this page is open: nobody could find them again here. Download "
    "the graded table before you leave."
)
_LABELS, _UNSAVED = "labels_by_hand", "labels_by_hand_unsaved"

Labels = NDArray[np.float64]


def label_here(rows: Predictions, by_rule: Mapping[str, Labels], key: str) -> Labels | None:
    """Let a person label rows; return the labels that they want used, (n,), None before that.

    Labels that are given later wait until the person wants these used, too: each use is a look.
    What rules say, (n,), stands beside each row; `key` tells the file from others.

    Raises `StoreError` when those that are saved cannot be read.
    """
    _load_once(rows)
    _one_at_a_time(rows, by_rule, key)
    labels = used_labels(rows, key)
    return None if np.isnan(labels).all() else labels


def used_labels(rows: Predictions, key: str) -> Labels:
    """Return the labels that the person wants used, (n,); NaN for none.

    Raises `StoreError` when those that are saved cannot be read.
    """
    if number := st.session_state.get(_use_key(key), 0):
        _load_once(rows)
    used = dict(_own_labels(rows)[:number])
    return np.array([VALUES[used.get(item, SKIP)] for item in _items(rows)])


@st.fragment
def _one_at_a_time(rows: Predictions, by_rule: Mapping[str, Labels], key: str) -> None:
    """Draw the row whose turn it is. A fragment: what follows from the labels waits."""
    own, items = dict(_own_labels(rows)), _items(rows)
    order = memory_of("labelling_order", rows, lambda: labelling_order(rows, items))
    place = next((at for at in order.tolist() if items[at] not in own), None)
    skips = list(own.values()).count(SKIP)
    st.text(  # and not how many are right: nobody is to stop because of that
        f"{len(own):,} of {len(order):,} labelled, {skips:,} of them left out. Rows come in random "
        "order. Decide beforehand how many you label: to stop when they look good spoils the "
        "promise."
    )
    if place is None:
        st.text("Every row is labelled.")
    else:
        _row(rows, by_rule, place)
    with st.container(horizontal=True):
        for word, label, shortcut, icon in (
            (RIGHT, "Right", "1", ":material/check:"),
            (WRONG, "Wrong", "2", ":material/close:"),
            (SKIP, "Cannot tell", "3", ":material/question_mark:"),
        ):
            st.button(
                label,
                key=f"label_{word}",
                icon=icon,
                shortcut=shortcut,
                disabled=place is None,
                on_click=_label,
                args=("" if place is None else items[place], word),
            )
        st.button(
            "Undo",
            key="label_undo",
            type="tertiary",
            icon=":material/undo:",
            shortcut="U",
            disabled=not own,
            on_click=_undo,
            args=([next(reversed(own), "")],),
        )
        with st.popover("Delete all", key="label_delete", type="tertiary", disabled=not own):
            st.text(
                "What you said of the rows of this file is deleted, here and where it is saved. "
                "Looks at these labels stay counted."
            )
            if st.button(
                f"Delete {len(own):d} labels",
                key="label_delete_all",
                icon=":material/delete:",
                on_click=_undo,
                args=([*own],),
            ):
                st.session_state[_use_key(key)] = 0
                st.rerun()
    if not _save():
        problem(
            "What you did last is not saved yet; the next label tries again. Until then, a reload "
            "of the page undoes it."
        )
    elif public() or not (alone() or person()):
        st.text(SESSION_ONLY)
    number = len(own)
    if st.button(
        f"Use these {number:d} labels",
        key="use_labels",
        type="primary",
        disabled=len(own) == skips or st.session_state.get(_use_key(key)) == number,
        help="The result follows from them. Each use of more labels is another look at them.",
    ):
        st.session_state[_use_key(key)] = number
        st.rerun()


def _row(rows: Predictions, by_rule: Mapping[str, Labels], place: int) -> None:
    """Show a row: its texts are hostile."""
    names = rows.names[place]
    more = len(names or ()) - MOST_NAMES
    accepted = "\n".join((names or ())[:MOST_NAMES]) or "(none: no answer is right)"
    rules = [float(by_rule[name][place]) for name in ("same-answer", "paper")]
    with st.container(border=True, key="row_to_label"):
        if rows.queries[place]:
            st.caption("Question")
            st.text(rows.queries[place])
        st.caption("Answer")
        st.text(rows.texts[place] or "(empty)")
        st.caption("Accepted answers")
        st.text("(none in the file)" if names is None else accepted)
        if more > 0:
            st.text(f"and {more:,} more")
        st.text(f"Same answer: {_word(rules[0])}. The paper’s F1: {_word(rules[1])}.")


def _word(label: float) -> str:
    return "says nothing" if np.isnan(label) else RIGHT if label else WRONG


# ------------------------------------------------------------------------- what was said


def _items(rows: Predictions) -> Sequence[str]:
    return memory_of("row_hashes", rows, lambda: row_hashes(rows))


def _all_labels() -> dict[str, str]:
    labels: dict[str, str] = st.session_state.setdefault(_LABELS, {})
    return labels


def _own_labels(rows: Predictions) -> list[tuple[str, str]]:
    """Return the labels of these rows, the newest last."""
    items = memory_of("items_of_rows", rows, lambda: frozenset(_items(rows)))
    return [(item, word) for item, word in _all_labels().items() if item in items]


def _load_once(rows: Predictions) -> None:
    # Anew once the database opens: the one in memory has none of them.
    memory_of("labels_loaded", rows, lambda: _load(rows), storage().why)


def _load(rows: Predictions) -> bool:
    """Take what is saved of these rows into the session."""
    stored = storage().labels.of(sorted(set(_items(rows))))
    labels = _all_labels()
    for item, word in stored.items():
        if word in VALUES:
            labels.setdefault(item, word)
    return True


def _label(item: str, word: str) -> None:
    """Take a label; a key that was pressed twice labels no row twice, nor one that nobody saw."""
    if item and item not in _all_labels():
        _all_labels()[item] = word
        _backlog()[item] = word
        _save()


def _undo(items: Sequence[str]) -> None:
    for item in items:
        if _all_labels().pop(item, None) is not None:
            _backlog()[item] = None
    _save()


def _backlog() -> dict[str, str | None]:
    unsaved: dict[str, str | None] = st.session_state.setdefault(_UNSAVED, {})
    return unsaved


def _save() -> bool:
    """Save what is not saved yet; say whether all is."""
    unsaved = _backlog()
    try:
        if gone := [item for item, word in unsaved.items() if word is None]:
            storage().labels.forget(gone)
        for item, word in list(unsaved.items()):
            if word is not None:
                storage().labels.save(item, word)
            del unsaved[item]
    except StoreError:
        return False
    return True


def _use_key(key: str) -> str:
    return f"labels_used_{key}"  # so that a reload brings it back
