"""What was looked at of labels: in the database and, where that fails, in this session."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from core.abstention.ledger import Look, related_looks
from core.data.tabular.fingerprints import fingerprints
from core.data.tabular.labelled import Labelled
from core.store.errors import StoreError
from core.studies.calibration.looks import from_json, to_json
from core.ui.results import storage

_LOOKS = "calibration_looks"  # by setting; those of the database, too, once they were read


def all_looks() -> tuple[Look, ...]:
    """Return every look at labels that is known here."""
    looks: dict[str, Look] = st.session_state.setdefault(_LOOKS, {})
    try:
        for text in storage().looks.all():
            each = from_json(text)
            looks.setdefault(each.setting, each)
    except StoreError:  # those of this session are known
        pass
    return tuple(looks.values())


def note(taken: Iterable[Look]) -> None:
    """Remember what is looked at, before it is shown."""
    looks: dict[str, Look] = st.session_state.setdefault(_LOOKS, {})
    new = {each.setting: each for each in taken if each.setting not in looks}
    looks |= new
    if not new:
        return
    try:
        storage().looks.save((each.setting, to_json(each)) for each in new.values())
    except StoreError as error:
        st.text(f"A later session does not know that these labels were looked at. {error}")


def looks_at(data: Labelled) -> int:
    """Return how many looks there were at any of these rows."""
    looks: dict[str, Look] = st.session_state.setdefault(_LOOKS, {})
    rows = fingerprints(data, next(iter(data.doubts)))
    return len(related_looks(rows, tuple(looks.values())))
