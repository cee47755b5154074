"""Typing a case: a question, its answer, the answer to repeat; and curves kept beside it.

All of it stands in the address, so that a reload, or a colleague, sees the same.
"""

from __future__ import annotations

import json

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.charts.amplification.curves import MOST_CURVES
from core.data.tabular.uploads import shortened
from core.language_models.base import LanguageModel
from core.language_models.errors import ModelError
from core.studies.amplification.curve import MOST_REPETITIONS, Case
from core.studies.amplification.gallery import EXAMPLES, propose
from core.studies.costs import plan
from core.studies.inspection.inspection import read
from core.studies.inspection.recorder import usual_samples
from core.studies.inspection.recording import Recording
from core.studies.inspection.request import (
    MAX_QUERY_CHARACTERS,
    InvalidRequestError,
    Reading,
    Request,
)
from core.studies.progress import Cancelled
from core.ui.addresses import number
from core.ui.inspection.recordings import recordings
from core.ui.jobs import Job
from core.ui.messages import notice, problem
from core.ui.model import asked
from core.ui.payment import agreed
from core.ui.session import this_session
from core.ui.turns import BusyError
from core.ui.watching import how_far

FIELDS = {
    "query": "Question",
    "answer": "Right answer",
    "repeated": "Answer to repeat",
}
FIRST = EXAMPLES["Half known"]
AT_FIRST = tuple(EXAMPLES[name] for name in ("Known", "Many answers"))
QUICK = 1.5  # seconds: proposals that come sooner need no progress bar
CANCELLED = "Cancelled. Nothing changed."
MOST_KEPT = MOST_CURVES - 1
KEPT = "kept"  # in the address: one JSON list of three texts for each curve


def ask() -> Case | None:
    """Let the person type a case; None, with a sentence, while it is none."""
    _fill_in()
    columns = iter(st.columns([2, 1, 1], vertical_alignment="bottom"))
    texts = [_field(next(columns), field) for field in FIELDS]
    with st.container(horizontal=True, vertical_alignment="center"):
        for name, case in EXAMPLES.items():
            st.button(name, key=f"case_{name}", help=case.query, on_click=_set, args=(case,))
        st.button(
            "Propose from samples",
            key="propose",
            icon=":material/auto_awesome:",
            help="Asks the question ten times and fills in the two likeliest answers. For a "
            "question of the embedded world, a right one comes first.",
            on_click=_propose,
            args=(texts[0],),
        )
    with st.container():  # what comes and goes here moves no field below
        _proposal(*texts)
        try:
            return Case(*texts)
        except InvalidRequestError as error:
            problem(str(error))
            return None


def _proposal(*texts: str) -> None:
    """Say whose answers these are, and how far a proposal of others is."""
    if left_over := _left_over(*texts):
        st.text(f"The answers below still belong to “{shortened(left_over)}”.")
    if wanted := st.session_state.get("propose_for"):
        _agree(wanted)
    if waiting := st.session_state.get("proposing"):
        _watch(waiting)
    about, said = st.session_state.get("proposed", (None, None))
    if said and about == st.session_state.get("query"):
        (notice if said == CANCELLED else problem)(said)


def _field(column: DeltaGenerator, name: str) -> str:
    first: str = getattr(FIRST, name)
    if st.query_params.get(name) == first:  # Streamlit skips a default in the address
        st.session_state[name] = first
    typed = column.text_input(
        FIELDS[name],
        first,
        max_chars=MAX_QUERY_CHARACTERS,
        key=name,
        bind="query-params",
        persist_state="session",
    )
    return typed or ""


def _left_over(query: str, *answers: str) -> str | None:
    """Return which question the answers were for, if another one was typed since.

    The fields are not emptied: what somebody typed is theirs.
    """
    belongs, before = st.session_state.get("answers_of", (query, answers))
    if answers != before:
        belongs = query
    st.session_state["answers_of"] = (belongs, answers)
    return belongs if query and belongs != query else None


def most_repetitions() -> int:
    """Let the person say how far the curve goes."""
    return number("most", 1, MOST_REPETITIONS, 100, 10)


def _set(case: Case) -> None:
    for name in FIELDS:
        st.session_state[name] = getattr(case, name)
    st.session_state.pop("proposed", None)


# ---------------------------------------------------------------------------- proposing


def _propose(query: str) -> None:
    st.session_state.pop("proposed", None)
    try:
        model = asked()
        request = Request(query, usual_samples(model.capabilities))
    except (InvalidRequestError, ModelError) as error:
        _say(str(error))
        return
    if not model.capabilities.local and recordings().find(request, model) is None:
        st.session_state["propose_for"] = request  # the cost is said first
        return
    try:
        _start(request, model)
    except BusyError as error:
        _say(str(error))


def _agree(request: Request) -> None:
    """Say what proposing takes of a service, and begin when the person wants that."""
    try:
        model = asked()
        if request.query != (st.session_state.get("query") or "").strip():  # another was typed
            del st.session_state["propose_for"]
        elif agreed(model, plan(request, model.capabilities), request, "propose"):
            del st.session_state["propose_for"]
            _start(request, model)
            if st.session_state["proposing"].done:
                st.rerun()  # what fills the fields stands above them
    except ModelError as error:
        _say(str(error))
        del st.session_state["propose_for"]


def _start(request: Request, model: LanguageModel) -> None:
    job = recordings().ask(request, model)
    st.session_state["proposing"] = job
    job.wait(QUICK)


def _say(sentence: str) -> None:
    """Say something about a proposal, until another question is typed."""
    st.session_state["proposed"] = (st.session_state.get("query"), sentence)


def _fill_in() -> None:
    """Take over a proposal that is ready: before the fields are drawn, or it is too late."""
    job: Job[Recording] | None = st.session_state.get("proposing")
    if job is None or not job.done:
        return
    del st.session_state["proposing"]
    try:
        if job.result is None:
            raise job.error or Cancelled
        query = job.result.request.query
        case = Case(query, *propose(read(job.result, Reading())))
    except (InvalidRequestError, ModelError) as error:
        _say(str(error))
    except Cancelled:
        _say(CANCELLED)
    else:
        _set(case)


@st.fragment(run_every=0.5)
def _watch(job: Job[Recording]) -> None:
    if job.done or "proposing" not in st.session_state:
        st.rerun()
    how_far(job)
    st.button("Cancel", on_click=_cancel, args=(job,), key="cancel_proposing")


def _cancel(job: Job[Recording]) -> None:
    """Stop a job, or only leave it where it is another session's too."""
    job.leave(this_session())
    del st.session_state["proposing"]
    _say(CANCELLED)


# ------------------------------------------------------------------ kept beside the case


def kept() -> list[Case]:
    """Return the cases whose curves stand beside, as the address says."""
    if KEPT not in st.session_state:
        given = st.query_params.get_all(KEPT)
        st.session_state[KEPT] = [*map(_parse, given)] if given else list(AT_FIRST)
    every = dict.fromkeys(case for case in st.session_state[KEPT] if case is not None)
    found = list(every)[:MOST_KEPT]
    st.session_state[KEPT] = found
    wanted = [json.dumps(_texts(case), ensure_ascii=False) for case in found] or [""]
    # Only where it changes: writing sends the whole address as this run knows it, and what the
    # person has typed meanwhile would be gone from it.
    if found == list(AT_FIRST):
        st.query_params.pop(KEPT, None)
    elif st.query_params.get_all(KEPT) != wanted:
        st.query_params[KEPT] = wanted
    return found


def _texts(case: Case) -> list[str]:
    return [getattr(case, name) for name in FIELDS]


def _parse(text: str) -> Case | None:
    """Read a case out of an address that anybody may have written."""
    try:
        texts = json.loads(text)
        ours = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
        return Case(*texts) if ours else None
    except (ValueError, TypeError, RecursionError):
        return None


def keep(case: Case) -> None:
    """Keep a case's curve beside those that follow."""
    st.session_state[KEPT] = [*(c for c in st.session_state[KEPT] if c != case), case]


def remove(case: Case) -> None:
    """Take a curve away again."""
    st.session_state[KEPT] = [c for c in st.session_state[KEPT] if c != case]
