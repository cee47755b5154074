"""A saved result on its page: the address that names it, opening it, and leaving it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import streamlit as st

from core.abstention.policy import NOT_VERIFIED
from core.reports.inspection.words import words_then
from core.reports.result_files import FROM_FILE, is_from_file
from core.store.errors import StoreError
from core.store.results import Result
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.serialise import from_json, saved_reason
from core.ui.components.history import FOLDERS
from core.ui.messages import problem
from core.ui.session import alone, public
from core.ui.storage import open_saved, storage

SAVED = "saved"  # in the address: the id of a result that is shown as it was kept
BESIDE = "beside"  # and of an inspection that stands beside it
ANOTHERS_POLICY: Final = (
    "A policy of a file, of somebody else or of another session decided: nobody here checked the "
    "labels that made it."
)
#: In JSON of ours; in a text its quotation marks are escaped.
_OF_POLICY: Final = '"policy": {'
_OF_FILE: Final = '"from_file": true'


def open_result(kind: str) -> Result | None:
    """Return the kept result that the address names, with a word about it on the page.

    Where it is not there, the page ends with a sentence and the way on.
    """
    id = st.query_params.get(SAVED)
    if not id:
        return None
    try:
        result = open_saved(id)
        if result.kind != kind:
            raise StoreError(f"This link is to a saved {result.kind}; open it from History.")
    except StoreError as error:
        problem(str(error))  # it stays, however often the page is drawn meanwhile
        st.button("Go on without it", key="close_notice", on_click=leave)
        st.stop()  # beneath that sentence, another question would pass for its result
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="kept_one"):
        st.badge("Saved result", icon=":material/history:", color="blue")
        model = FOLDERS.sub("gguf:", result.model)
        st.text(f"{result.title} · {model} · {result.created_at:%Y-%m-%d %H:%M} UTC")
        st.button("Ask a new question", key="leave_kept", on_click=leave)
    if why := why_unverified(result):
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.badge(NOT_VERIFIED, icon=":material/upload_file:", color="orange")
            st.text(why)
    return result


def inspection_of(result: Result) -> Inspection:
    """Return a saved inspection; there is no word of trust on what nobody here checked."""
    unverified = why_unverified(result) is not None
    return replace(from_json(result.payload), from_file=unverified)


def otherwise(result: Result, inspection: Inspection) -> str | None:
    """Return what a saved inspection said when it was saved, if it says something else today."""
    return words_then(result.outcome, saved_reason(result.payload), inspection)


def say_if_otherwise(result: Result, inspection: Inspection) -> None:
    """Say what a saved inspection said when it was saved, where it says something else today."""
    if then := otherwise(result, inspection):
        with st.container(border=True, horizontal=True, vertical_alignment="center", key="then"):
            st.badge("Read otherwise today", icon=":material/history:", color="orange")
            st.text(then, width="stretch")


def why_unverified(result: Result) -> str | None:
    """Return why a saved result may be none of what this program makes; None if nothing says so."""
    if is_from_file(result.payload):
        return FROM_FILE
    by_policy = result.kind == "inspection" and _OF_POLICY in result.payload
    is_others = by_policy and (_OF_FILE in result.payload or not is_there(result.id))
    return ANOTHERS_POLICY if is_others else None


def leave() -> None:
    """Leave the kept result that the address names; the page is asked anew."""
    st.query_params.pop(SAVED, None)
    st.query_params.pop(BESIDE, None)


def permalink(id: str | None, keep: Callable[[], None]) -> None:
    """Show the address under which a result opens again; offer to keep one that is not kept.

    `id` is of what is on the screen, if it was kept (it may have been deleted since); `keep` keeps
    that.
    """
    if public():
        return
    if id is None or not is_there(id):
        about = "What you ask is saved by itself. This saves an example, or another reading, too."
        label, icon = "Save to History", ":material/history:"
        st.button(label, key="keep_view", icon=icon, on_click=keep, help=about)
        return
    if storage().why:  # an address that may still lead nowhere is not handed on
        st.caption("This result will be in History once the database opens.")
        return
    whom = "" if alone() else ", for whoever has it"
    page, _, _ = (st.context.url or "").partition("?")
    with st.popover("In History: link", icon=":material/history:", key="link"):
        st.caption(f"In History. This address opens it again{whom}, without calling the model:")
        st.code(f"{page}?{SAVED}={id}", language=None, wrap_lines=True)


def is_there(id: str) -> bool:
    """Say whether a result of who looks at the page is saved, as far as anybody can say."""
    try:
        return storage().results.exists(id)
    except StoreError:  # no link that may be dead; keeping says what is wrong
        return False
