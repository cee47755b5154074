"""When an inspection is saved in History, and under which id."""

from collections.abc import Hashable

import streamlit as st

from core.store.errors import StoreError
from core.studies.inspection.inspection import Inspection
from core.ui.messages import problem
from core.ui.storage import save_inspection, unsaved_beginning

_LAST, _VIEWS = "inspection_saved", "inspection_saved_views"
_FAILED = "inspection_unsaved_views"


def keep(inspection: Inspection) -> None:
    """Keep a new inspection as it is first read; what nobody asked or paid for is not kept."""
    request = inspection.recording.request
    identity = (inspection.recording.model, inspection.recording.revision, request)
    may_keep = inspection.recording.used is not None or is_a_persons()
    if not may_keep or st.session_state.get(_LAST) == identity:
        return
    st.session_state[_LAST] = identity
    keep_view(inspection)


def is_a_persons() -> bool:
    """Say whether a person asked the question, which also stands here as an example."""
    return "q" in st.query_params or bool(st.session_state.get("ask"))


def keep_view(inspection: Inspection) -> None:
    """Keep an inspection as it is read and decided now, and remember under which id."""
    this, views = view(inspection), st.session_state.get(_VIEWS, {})
    failed = dict(st.session_state.get(_FAILED, {}))
    failed.pop(this, None)
    id = None
    try:
        id = save_inspection(inspection)
    except StoreError as error:
        failed[this] = unsaved_beginning(error)
    st.session_state.update({_VIEWS: {**views, this: id}, _FAILED: failed})


def id_in_history(inspection: Inspection) -> str | None:
    """Return the id of what is on the screen, which is kept first if it was not."""
    if saved_view(inspection) is None:
        keep_view(inspection)
    return saved_view(inspection)


def say_if_unsaved(inspection: Inspection) -> None:
    """Say why what is on the screen could not be saved, if it was to be."""
    if why := st.session_state.get(_FAILED, {}).get(view(inspection)):
        problem(f"{why} It stays on this page. Press “Save to History” below once that is mended.")


def saved_view(inspection: Inspection) -> str | None:
    """Return the id of what is on the screen, if it was saved just as it is."""
    result: str | None = st.session_state.get(_VIEWS, {}).get(view(inspection))
    return result


def view(inspection: Inspection) -> Hashable:
    """Return what tells one view of a recording from all others."""
    recording = inspection.recording
    identity = (recording.model, recording.revision, recording.request)
    return (*identity, inspection.reading, inspection.verdict.rule, inspection.refused)
