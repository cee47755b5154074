"""The labelled file after a reload: its hash stands in the address, and the store has the rest.

A reload is another session. What was said of the file's columns, which targets were looked at on
its rows and which settings were tried comes back with it, or a reload would make choices that
were made after looking seem to be made before.
"""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.data.tabular.label_meanings import Meaning
from core.store.errors import StoreError
from core.store.labelled_files import File, TooLargeError, hash_of
from core.ui.calibration import target
from core.ui.calibration.run import forget_run
from core.ui.messages import later
from core.ui.session import alone, person, public
from core.ui.storage import storage, until_saved

_ADDRESS = "file"
_HASH = "calibration_file"  # of the file in this session, where it is saved
_UNSAVED = "calibration_file_unsaved"  # why it never will be
_WAITING = "calibration_file_waiting"  # its content and name, until they can be saved
_NOTED = "calibration_file_notes"
NOT_HERE = "The file that this address names is not saved here. Upload it again."
_SHARED = (
    "Several people use this server, so it saves no files of people who have not signed in. After "
    "a reload of the page, upload it again."
)
_UNTIL_THEN = (
    "Until then, a reload of the page loses this file. It is saved by itself once that is mended."
)
_PUBLIC = "This public demo saves no files. After a reload of the page, upload it again."


def keep(content: bytes, name: str) -> None:
    """Save a file that was brought, or remember why it cannot be, or has to wait."""
    forget_address()
    if public() or not (alone() or person()):  # nobody could find it again after a reload
        st.session_state[_UNSAVED] = _PUBLIC if public() else _SHARED
        return
    try:
        _save(content, name)
    except TooLargeError as error:
        st.session_state[_UNSAVED] = f"{error} After a reload of the page, upload it again."
    except StoreError:
        st.session_state[_WAITING] = content, name


def _save(content: bytes, name: str) -> None:
    st.session_state[_HASH] = storage().files.save(name, content)
    st.session_state.pop(_WAITING, None)


def forget() -> None:
    """Delete the file that a person removes."""
    if hash := st.session_state.get(_HASH):
        try:
            storage().files.forget(hash)
        except StoreError as error:
            later(f"The file is not deleted: its address opens it again. {error}")
    forget_address()


def forget_address() -> None:
    """Name no file in the address any more, and no run."""
    forget_run()
    for key in (_HASH, _UNSAVED, _WAITING, _NOTED):
        st.session_state.pop(key, None)
    st.query_params.pop(_ADDRESS, None)


def after_reload() -> File | str | None:
    """Return the file that the address names, or a sentence if it is not here.

    Raises `StoreError` when nobody can say whether it is.
    """
    hash = st.query_params.get(_ADDRESS)
    if not hash:
        return None
    where = storage()
    stored = None if public() else where.files.open(hash)
    if stored is None:
        if why := where.why:
            raise StoreError(why)
        return NOT_HERE
    st.session_state[_HASH] = hash_of(stored.content)
    _remember(stored.notes)
    return stored


def names_file() -> bool:
    """Say whether the address names a file."""
    return _ADDRESS in st.query_params


def why_not() -> None:
    """Say why the file is not saved, if it is not; where that can pass, try again."""
    if waiting := st.session_state.get(_WAITING):
        until_saved(partial(_save, *waiting), _UNTIL_THEN)
    if why := st.session_state.get(_UNSAVED):
        st.text(why)


def note(*tables: str) -> None:
    """Save what is remembered of the file, and name it in the address.

    `tables`: the SHA-256 of the file, and of the rows that a run made of its questions.
    """
    hash = st.session_state.get(_HASH)
    if hash is None:
        return
    if st.query_params.get(_ADDRESS) != hash:
        st.query_params[_ADDRESS] = hash
    notes = json.dumps({"widgets": _widgets(tables), "firsts": target.firsts()})
    if st.session_state.get(_NOTED) != notes:
        try:
            storage().files.note(hash, notes)
            st.session_state[_NOTED] = notes
        except StoreError as error:
            st.text(str(error))


def _widgets(tables: Sequence[str]) -> dict[str, Any]:
    """Return what was chosen in every widget that belongs to one of some tables."""
    keys = {table[:16] for table in tables}
    return {
        name: value
        for name, value in st.session_state.items()
        if isinstance(name, str)
        and (name == "hold" or any(key in name for key in keys))
        and (value is None or isinstance(value, str | int | list))
    }


def _remember(notes: str) -> None:
    try:
        notes_by_name = json.loads(notes or "{}")
        for name, value in notes_by_name.get("widgets", {}).items():
            is_meaning = name.startswith("meaning_") and value is not None
            st.session_state[name] = Meaning(value) if is_meaning else value
        target.set_first(notes_by_name.get("firsts", []))
    except (ValueError, TypeError, AttributeError, KeyError):
        return  # of another version: the file is there, and the person says it again
