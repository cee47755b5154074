"""Saved results and runs of Evaluation: the list, and what can be done with one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Final

import pandas as pd
import streamlit as st
from streamlit.errors import StreamlitAuthError

from core.codec import count_of
from core.reports.inspection.words import STAMPS
from core.reports.inspection.words import outcome as in_words
from core.reports.result_files import MAX_BYTES
from core.reports.result_files import open_result as opening
from core.store.errors import StoreError
from core.store.results import ResultPage, Summary
from core.studies.evaluation.files import RunError
from core.studies.inspection.request import InvalidRequestError
from core.studies.inspection.verdict import Headline
from core.ui import downloads, figures, frame
from core.ui.evaluation import listing
from core.ui.messages import later, problem
from core.ui.results import save, storage, unsaved_beginning
from core.ui.runs.large import result_of
from core.ui.session import alone, person, public, signs_in
from core.ui.uploaders import content_of, let_go, wait_for

KINDS: Final = {
    "everything": None,
    "inspections": "inspection",
    "curves": "amplification",
    "policies": "policy",
    "evaluations": listing.EVALUATION,
}
A_PAGE = 100
TITLE: Final = 170  # pixels: a phone shows that something stands beside it
WHAT_A_ROW_DOES: Final = "Open one. Tick one to rename or delete it, or two inspections to compare."
CLICK, CHOICE = "history_click", "history_choice"  # the row whose button was pressed, its result
_LISTS = "history_lists"  # how many tables this session has seen


def list_results() -> tuple[Summary, ...]:
    """Search and list; return the results that the person chose, in the order of the list."""
    if (pressed := st.session_state.pop(CHOICE, None)) is not None:
        frame.show(pressed.kind, pressed.id)
    words, kind = st.columns([3, 1])
    text = words.text_input(
        "Search",
        key="history_words",
        placeholder="words of the question, title, verdict or model",
        bind="query-params",
        persist_state="session",
    )
    which = kind.selectbox(
        "Kind", list(KINDS), key="history_kind", bind="query-params", persist_state="session"
    )
    try:
        results = _search(text or "", KINDS[which])
    except StoreError as error:
        problem(str(error))
        return ()
    _whose()
    if not results.total:
        _nothing(searches=bool(text or KINDS[which]))
        return ()
    number = count_of(results.total, "result")
    older = f" The newest {A_PAGE} are listed; search for older ones."
    st.text(f"{number}.{older if results.total > A_PAGE else ''} {WHAT_A_ROW_DOES}")
    columns = {
        "title": [r.title for r in results.results],
        "verdict": [in_words(r.outcome) for r in results.results],
        "kind": [r.kind for r in results.results],
        "when (UTC)": [f"{r.created_at:%Y-%m-%d %H:%M}" for r in results.results],
        "model": [r.model for r in results.results],
    }
    opens = {"open": ["Open"] * len(results.results)}
    picked = st.dataframe(
        pd.DataFrame(opens | columns).style.map(_colour, subset=["verdict"]),
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        row_height=44,
        height="content",
        column_config={
            "open": st.column_config.ButtonColumn(
                "", width=64, pinned=True, key=CLICK, on_click=_press, args=(results.results,)
            ),
            "title": st.column_config.TextColumn(width=TITLE),
            "kind": st.column_config.TextColumn(width="small"),
        },
        key=f"history_{st.session_state.get(_LISTS, 0)}",
        alt="Saved results, newest first",
    )
    downloads.table(columns, "history")
    rows = [row for row in sorted(picked.selection.rows) if row < len(results.results)]
    return tuple(results.results[row] for row in rows)


def _colour(cell: object) -> str:
    """Return the colour that a verdict has on its own page; its words say the same."""
    verdict = str(cell)
    if verdict.startswith(STAMPS[Headline.BELIEVE].words):
        return f"color: {figures.palette().primary}"
    if verdict.startswith(STAMPS[Headline.ABSTAIN].words):
        return f"color: {figures.palette().epistemic}"
    return ""


def _press(results: Sequence[Summary]) -> None:
    """Remember the result whose button was pressed, of those that were listed then."""
    st.session_state[CHOICE] = results[st.session_state[CLICK]["row"]]


def _nothing(*, searches: bool) -> None:
    """Say that the list is empty, and what to do about it."""
    if searches:
        st.text("No saved result has all of these words. Search for fewer of them.")
        return
    st.text("Nothing here yet. What Inspection, Amplification and Evaluation ask stands here.")
    if st.button("Ask a question", key="ask_first", type="primary", icon=":material/search:"):
        st.switch_page(frame.inspection(), query_params={})


def _search(text: str, kind: str | None) -> ResultPage:
    """Search saved results and runs of Evaluation; a run that is asking stands first."""
    saved = ResultPage((), 0)
    if kind != listing.EVALUATION:
        saved = storage().results.search(text, kind, limit=A_PAGE)
    if kind not in (None, listing.EVALUATION):
        return saved
    evaluations = listing.search(text)
    running = [each for each in evaluations if each.outcome.startswith(listing.RUNNING)]
    rest = [*(each for each in evaluations if each not in running), *saved.results]
    rest.sort(key=attrgetter("created_at"), reverse=True)
    return ResultPage((*running, *rest)[:A_PAGE], saved.total + len(evaluations))


def _whose() -> None:
    """Say whose list this is, where that is not clear; offer to sign in where that is possible."""
    if public():
        st.text("This is a public demo: the list ends with this browser session.")
    elif alone():
        return
    elif person():
        name = f" as {st.user['email']}" if st.user.get("email") else ""
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(f"Only you see this list. You are signed in{name}.")
            st.button("Sign out", key="sign_out", on_click=st.logout)
    else:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(
                "Others may use this server too. Only you see this list, and it ends with this "
                "browser session. Copy the address of a result to open it later."
            )
            if signs_in():
                st.button("Sign in", key="sign_in", on_click=_sign_in)


def _sign_in() -> None:
    try:
        st.login()
    except StreamlitAuthError:  # its sentence is for the owner alone, and in Markdown
        later(
            "Nobody can sign in: something is missing for it. If you run this server, "
            "docs/security.md says what it takes."
        )


def bring() -> None:
    """Let the person open a result that was saved as JSON, on this machine or another."""
    with st.expander(
        "Open a result from a file", icon=":material/upload_file:", key="bring_result"
    ):
        st.text(
            "Choose a file that was downloaded as “Inspection (JSON)”, “Curves (JSON)” or “Policy "
            "(JSON)”, here or on another machine. It is saved to this list; no model is called."
        )
        wait_for("result_file", ["json"], MAX_BYTES // 1_000_000)
        file = st.file_uploader(
            "Result (JSON)",
            ["json"],
            key="result_file",
            max_upload_size=MAX_BYTES // 1_000_000,
        )
        if file is None:
            return
        content = content_of(file)  # a job has no session to ask
        try:
            # The largest takes some seconds of a processor.
            opened = result_of(
                "opened_file",
                file.file_id,
                lambda _: opening(content),
                large=True,
                refuses=InvalidRequestError,
            )
        except InvalidRequestError as error:
            problem(str(error))
            return
        if opened is None:
            return
        let_go(file)
        st.text(f"{opened.kind.capitalize()}: {opened.query}")
        st.text(f"{opened.model}: {in_words(opened.outcome)}")
        if st.button("Save and open", key="open_file", type="primary", icon=":material/save:"):
            try:
                id = save(
                    opened.kind,
                    opened.query,
                    opened.model,
                    opened.payload,
                    outcome=opened.outcome,
                )
            except StoreError as error:
                problem(f"{unsaved_beginning(error)} Press the button again once that is mended.")
                return
            frame.show(opened.kind, id)


def choice(result: Summary) -> None:
    """Offer to open, rename or delete a result."""
    with st.container(border=True, key="chosen"):
        st.text(result.query)
        if result.outcome:
            st.text(in_words(result.outcome))
        is_run = result.kind == listing.EVALUATION
        title = "" if is_run else st.text_input("Title", result.title, key=f"title_{result.id}")
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button("Open", key="open_result", type="primary", icon=":material/open_in_new:"):
                frame.show(result.kind, result.id)
            if not is_run and st.button("Rename", key="rename_result", icon=":material/edit:"):
                _do(lambda: storage().results.rename(result.id, title))
            sure = st.checkbox("Delete permanently", key=f"sure_{result.id}")
            if st.button(
                "Delete", key="delete_result", icon=":material/delete:", disabled=not sure
            ):
                _do(lambda: _delete(result))


def compare(results: Sequence[Summary]) -> None:
    """Offer to compare two inspections; say what can be done with any other choice."""
    with st.container(border=True, key="chosen_two"):
        if len(results) != 2 or any(result.kind != "inspection" for result in results):
            st.text("Choose one result, or two inspections to compare them.")
            return
        for result in results:
            st.text(f"{result.title}, {result.model}, {result.created_at:%Y-%m-%d %H:%M} UTC")
        if st.button(
            "Compare", key="compare_two", type="primary", icon=":material/compare_arrows:"
        ):
            frame.beside(*(result.id for result in results))


def _delete(result: Summary) -> None:
    if result.kind == listing.EVALUATION:
        listing.delete(result.id)
    else:
        storage().results.delete(result.id)
    # Another table: in the same one the row that moves up would be the chosen one.
    st.session_state[_LISTS] = st.session_state.get(_LISTS, 0) + 1


def _do(change: Callable[[], None]) -> None:
    try:
        change()
    except (RunError, StoreError) as error:
        problem(str(error))
        return
    st.rerun()
