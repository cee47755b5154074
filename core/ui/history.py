"""Saved results and runs of Evaluation: the list, and what can be done with one."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Final

import streamlit as st
from streamlit.errors import StreamlitAuthError

from core.abstention.policy import NOT_VERIFIED
from core.data.world.normal_form import counting_signs, normal_form
from core.reports.inspection.words import OTHER_WORDS, STAMPS, Headline, outcome, read_outcome
from core.reports.result_files import open_result as opening
from core.store.errors import StoreError
from core.store.results import MAX_RESULT_BYTES, ResultPage, Summary
from core.studies.evaluation.run_folder import RunError
from core.studies.inspection.request import InvalidRequestError
from core.studies.inspection.serialise import from_json
from core.ui import downloads, frame
from core.ui.components import history as component
from core.ui.evaluation import history as evaluation
from core.ui.messages import later, problem
from core.ui.runs.large import result_of
from core.ui.session import alone, has_strangers, memory_of, person, public, signs_in
from core.ui.storage import save, storage, unsaved_beginning
from core.ui.upload_places import content_of, file_field, let_go

KINDS: Final = {
    "all": None,
    "inspections": "inspection",
    "curves": "amplification",
    "policies": "policy",
    "evaluations": evaluation.EVALUATION,
}
A_PAGE = 25  # questions
MOST: Final = 1000  # results that are listed and counted
LARGEST_PAYLOAD: Final = 100_000  # characters of an inspection that is soon computed anew
ALL: Final = "all"
EVERY_MODEL: Final = "all"
_OFFERED = (None, Headline.BELIEVE, Headline.PERHAPS, Headline.ABSTAIN, Headline.TOO_LITTLE)
NO_VERDICT: Final = "No verdict"
_LABELS = [STAMPS[headline].label if headline else ALL for headline in _OFFERED]
_REST = [NO_VERDICT]
VERDICTS: Final = _LABELS + _REST


def list_results() -> None:
    """Search and list; offer what can be done with the results that the person ticks."""
    filters = st.empty()
    with filters.container(key="history_filters"):
        words, kind, model, verdict = st.columns([3, 1, 1, 1])
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
        return
    with model:
        groups = _of_model(_of_one_question(results.results))
    _whose()
    if not groups:
        if not (searches := bool(text or KINDS[which] or results.total)):
            filters.empty()  # there is nothing to search
        _nothing(searches=searches)
        return
    with verdict:
        groups, of_verdict = _of_verdict(groups)
    if not groups:
        st.text("None of these has this verdict.")
        return
    if results.total > MOST:
        st.text(f"The newest {MOST:,} of {results.total:,} results: search finds the older ones.")
    bar = st.container(horizontal=True, vertical_alignment="center", key="history_actions")
    number = _number_listed((text, which, st.session_state["history_model"], of_verdict))
    # Of the latest alone: a question may have been asked a thousand times.
    listed = [[_with_reason(latest), *older] for latest, *older in groups[:number]]
    opened, ticked = component.history(listed, key="history")
    if (older := len(groups) - number) > 0:
        more = f"Show {min(A_PAGE, older):d} more of {older:,d}"
        list_more = partial(st.session_state.update, history_listed=number + A_PAGE)
        st.button(more, key="history_more", icon=":material/expand_more:", on_click=list_more)
    if opened is not None:
        frame.show(opened.kind, opened.id)
    with bar:
        actions(ticked)
    _as_file(list(chain.from_iterable(groups)))


def _with_reason(result: Summary) -> Summary:
    """Return a result with what else than λ gave its word of trust, in today's words.

    Earlier versions saved none, or another. What is computed anew says why where it comes to the
    same.
    """
    then = read_outcome(result.outcome)
    is_perhaps = then.stamp is STAMPS[Headline.PERHAPS]
    lacks_reason = is_perhaps or (then.stamp is STAMPS[Headline.BELIEVE] and not then.why)
    if not lacks_reason or not then.policy or result.kind != "inspection":
        return result
    reasons: dict[str, str] = memory_of("history_reasons", storage(), dict)
    if result.id not in reasons:
        reasons[result.id] = result.outcome
        with suppress(StoreError, InvalidRequestError):
            payload = storage().results.open(result.id).payload
            anew = outcome(from_json(payload)) if len(payload) <= LARGEST_PAYLOAD else ""
            why = read_outcome(anew).why
            # As it reads without its reason, which decides what “Believe it” promises.
            now = read_outcome(anew.replace(f"; {why}", "") if why else anew)
            is_same = now._replace(why="", policy=then.policy) == then._replace(why="")
            if is_same and (now.policy == then.policy or why == OTHER_WORDS):
                reasons[result.id] = anew
    return replace(result, outcome=reasons[result.id])


def _as_file(results: Sequence[Summary]) -> None:
    """Offer the list as a table: no verdict without what the list says beside it."""
    each = [component.outcome_of(result) for result in results]
    downloads.table(
        {
            "title": [r.title for r in results],
            "verdict": [ending.mark.words if ending.mark else "" for ending in each],
            "what came of it": [ending.answer for ending in each],
            "right or wrong": [*map(component.truth_of, results, each)],
            "policy": [ending.policy for ending in each],
            "doubt": [component.doubt_of(ending) for ending in each],
            "why": [ending.why for ending in each],
            "kind": [r.kind for r in results],
            "when (UTC)": [f"{r.created_at:%Y-%m-%d %H:%M}" for r in results],
            "model": [r.model for r in results],
        },
        "history",
    )


def _of_one_question(results: Sequence[Summary]) -> list[list[Summary]]:
    """Return results by what was asked of which model, each group at the place of its latest.

    Questions that differ in case and marks alone are one. What a file says was asked was not asked
    here.
    """
    groups: dict[Hashable, list[Summary]] = {}
    for each in results:
        same = each.kind, _as_one(each.title), _as_one(each.query), each.model
        groups.setdefault((*same, each.outcome.startswith(NOT_VERIFIED)), []).append(each)
    return list(groups.values())


def _as_one(text: str) -> Hashable:
    return normal_form(text), *counting_signs(text)


def _of_model(groups: list[list[Summary]]) -> list[list[Summary]]:
    """Let the person choose a model; return what it was asked."""
    key = "history_model"
    models = Counter(group[0].model for group in groups)
    # What was chosen stays so where nothing of it is found.
    options = [EVERY_MODEL, *(name for name, _ in models.most_common())]
    options.append(st.session_state.get(key, EVERY_MODEL))
    model = st.selectbox("Model", list(dict.fromkeys(options)), key=key, persist_state="session")
    return [group for group in groups if model in (EVERY_MODEL, group[0].model)]


def _of_verdict(groups: list[list[Summary]]) -> tuple[list[list[Summary]], str]:
    """Let the person choose a verdict; return the questions whose latest has it, and its words."""
    key = "history_verdict"
    label_of = {id(group): _label(group[0]) for group in groups}
    number = Counter([*label_of.values(), *[ALL] * len(groups)])
    options = [each for each in VERDICTS if number[each] or each == st.session_state.get(key)]
    if not {*options} - {ALL, NO_VERDICT}:
        return groups, ALL
    verdict = st.selectbox(
        "Verdict",
        options,
        key=key,
        format_func=lambda label: f"{label} ({number[label]:,})",
        persist_state="session",
    )
    return [group for group in groups if verdict in (ALL, label_of[id(group)])], str(verdict)


def _label(result: Summary) -> str:
    """Return the verdict of an inspection, as it is offered."""
    stamp = read_outcome(result.outcome).stamp if result.kind == "inspection" else None
    return stamp.label if stamp else NO_VERDICT


def _number_listed(of: Hashable) -> int:
    """Return how many questions are listed: a page of another search at first."""
    if st.session_state.get("history_of") != of:
        st.session_state["history_of"], st.session_state["history_listed"] = of, A_PAGE
    return int(st.session_state["history_listed"])


def _nothing(*, searches: bool) -> None:
    """Say that the list is empty, and what to do about it."""
    if searches:
        st.text(
            "No saved result has all of these words. Search for fewer, or in every kind and model."
        )
        return
    st.text(
        "Nothing here yet. What Inspection, Amplification and Evaluation ask stands here, and the "
        "policies of Calibration."
    )
    if st.button("Ask a question", key="ask_first", type="primary", icon=":material/search:"):
        st.switch_page(frame.inspection(), query_params={})


def _search(text: str, kind: str | None) -> ResultPage:
    """Search saved results and runs of Evaluation; a run that is asking stands first."""
    saved = ResultPage((), 0)
    if kind != evaluation.EVALUATION:
        saved = storage().results.search(text, kind, limit=MOST)
    if kind not in (None, evaluation.EVALUATION):
        return saved
    evaluations = evaluation.search(text)
    running = [each for each in evaluations if each.outcome.startswith(evaluation.RUNNING)]
    rest = [*(each for each in evaluations if each not in running), *saved.results]
    rest.sort(key=attrgetter("created_at"), reverse=True)
    return ResultPage((*running, *rest)[:MOST], saved.total + len(evaluations))


def _whose() -> None:
    """Say whose list this is, where that is not clear; offer to sign in where that is possible."""
    if public():
        st.text("This is a public demo: the list ends with this browser session.")
    elif alone():
        if has_strangers():
            st.text(
                "Whoever opens this server sees this list, and may rename and delete all of it."
            )
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
            "docs/deploy.md says what it takes."
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
        file = file_field(
            "Result (JSON)", ["json"], MAX_RESULT_BYTES // 1_000_000, key="result_file"
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
        st.text(f"{opened.model}: {opened.outcome}")
        if st.button("Save and open", key="open_file", type="primary", icon=":material/save:"):
            try:
                id = save(
                    opened.kind, opened.query, opened.model, opened.payload, outcome=opened.outcome
                )
            except StoreError as error:
                problem(f"{unsaved_beginning(error)} Press the button again once that is mended.")
                return
            frame.show(opened.kind, id)


def actions(ticked: Sequence[Summary]) -> None:
    """Offer what can be done with the results that are ticked: rename, compare or delete them."""
    if not ticked:
        st.text(f"{component.WORDS['ticked']}.")
        return
    of = hash(tuple(ticked))  # what has changed closes
    if len(ticked) == 1 and (one := ticked[0]).kind != evaluation.EVALUATION:
        with st.popover("Rename", icon=":material/edit:", key=f"rename_of_{of:d}"):
            st.text(one.query)
            title = st.text_input("Title", one.title, key=f"title_{one.id}")
            if st.button("Rename", key="rename_result", type="primary"):
                _do(lambda: storage().results.rename(one.id, title))
    pair = len(ticked) == 2 and all(each.kind == "inspection" for each in ticked)
    if pair and st.button("Compare", key="compare_two", icon=":material/compare_arrows:"):
        frame.beside(*(each.id for each in ticked))
    with st.popover("Delete", icon=":material/delete:", key=f"delete_of_{of:d}"):
        for each in ticked:
            st.text(each.title)
        if st.button("Delete permanently", key="delete_result"):
            _do(lambda: _delete(ticked))


def _delete(results: Sequence[Summary]) -> None:
    for each in results:
        if each.kind == evaluation.EVALUATION:
            evaluation.delete(each.id)
        else:
            storage().results.delete(each.id)


def _do(change: Callable[[], None]) -> None:
    try:
        change()
    except (RunError, StoreError) as error:
        problem(str(error))
        return
    st.rerun()
