"""Typing a case: a question, its answer, the answer to repeat; and curves kept beside it.

All of it stands in the address, so that a reload, or a colleague, sees the same.
"""

import json

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.charts.amplification.curves import MOST_CURVES
from core.codec import one_line
from core.language_models.errors import ModelError
from core.studies.amplification.curve import Case
from core.studies.amplification.gallery import EXAMPLES, propose
from core.studies.costs import plan
from core.studies.inspection.inspection import read
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.request import InvalidRequestError, Reading
from core.ui.examples import examples
from core.ui.inspection.recordings import recordings
from core.ui.messages import problem
from core.ui.model import study_model
from core.ui.runs.widget import drop, forget, run, run_of, want

FIELDS = {"query": "Question", "answer": "Answer to test", "repeated": "Answer to repeat"}
HELP = "The right answer or, if you do not know it, the model’s own: press “Propose answers”."
FIRST = EXAMPLES["Half known"]
AT_FIRST = tuple(EXAMPLES[name] for name in ("Known", "Many answers"))
PROPOSAL = "propose"
_PROPOSED, _ANSWERS_OF = "amplification_proposed", "amplification_answers_of"
_BESIDE = "amplification_beside"
MOST_KEPT = MOST_CURVES - 1
KEPT = "kept"  # in the address: one JSON list of three texts for each curve


def case_form() -> Case | None:
    """Let the person type a case; None, with a sentence, while it is none.

    With the answers of the question before, it is none.
    """
    if proposed := st.session_state.pop(_PROPOSED, None):
        _set(proposed)  # before the fields are drawn, or it is too late
    columns = iter(st.columns([2, 1, 1], vertical_alignment="bottom"))
    texts = [_field(next(columns), field) for field in FIELDS]
    with st.container(horizontal=True, vertical_alignment="center"):
        now = next((case for case in EXAMPLES.values() if _texts(case) == texts), None)
        examples(EXAMPLES, now, _set)
        st.button(
            "Propose answers",
            key="propose",
            icon=":material/auto_awesome:",
            help="Asks the question, as Inspection does, and fills in the two likeliest answers. "
            "For a question of the embedded world, a right one comes first.",
            on_click=want,
            args=(PROPOSAL, texts[0]),
        )
    with st.container():  # what comes and goes here moves no field below
        left_over = _is_stale(*texts)
        _proposal(texts[0])
        try:
            return None if left_over else Case(*texts)
        except InvalidRequestError as error:
            problem(str(error))
            return None


def _proposal(query: str) -> None:
    """Say how far a proposal of answers is, and fill it in once it is there."""
    try:
        case = _propose(query)
    except (InvalidRequestError, ModelError) as error:
        problem(str(error))
        return
    if case:
        st.session_state[_PROPOSED] = case
        forget(PROPOSAL)
        st.rerun()  # the fields to fill in stand above


def _field(column: DeltaGenerator, name: str) -> str:
    first: str = getattr(FIRST, name)
    if st.query_params.get(name) == first:  # Streamlit skips a default in the address
        st.session_state[name] = first
    typed = column.text_input(
        FIELDS[name],
        first,
        key=name,
        bind="query-params",
        persist_state="session",
        help=HELP if name == "answer" else None,
    )
    return typed or ""


def _is_stale(query: str, *answers: str) -> bool:
    """Say, and return, whether the answers were for another question than is typed now.

    The fields are not emptied: what somebody typed is theirs.
    """
    belongs, before = st.session_state.get(_ANSWERS_OF, (query, answers))
    if answers != before:
        belongs = query
    st.session_state[_ANSWERS_OF] = (belongs, answers)
    if not query or belongs == query:
        return False
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"The answers are still those to “{one_line(belongs)}”. Type others, or:")
        st.button(
            "Propose answers",
            key="propose_others",
            type="primary",
            on_click=want,
            args=(PROPOSAL, query),
        )
        these = {_ANSWERS_OF: (query, answers)}
        st.button("Keep these", key="keep_answers", on_click=st.session_state.update, args=(these,))
    return True


def _set(case: Case) -> None:
    for name in FIELDS:
        st.session_state[name] = getattr(case, name)


# ---------------------------------------------------------------------------- proposing


def _propose(query: str) -> Case | None:
    """Return the question with answers of the model, where they are wanted and there."""
    if run_of(PROPOSAL, query) is None:
        drop(PROPOSAL)  # another question was typed meanwhile
        return None
    model = study_model()
    request = usual_request(query, model.capabilities)
    recording = recordings().find(request, model) or run(
        PROPOSAL,
        query,
        lambda: recordings().ask(request, model),
        paid=None if model.capabilities.local else (model, plan(request, model.capabilities)),
        cancelled="Cancelled. Nothing changed.",
        retry=False,
    )
    return Case(query, *propose(read(recording, Reading()))) if recording else None


# ------------------------------------------------------------------ kept beside the case


def cases_beside(case: Case | None) -> list[Case]:
    """Return the cases whose curves stand beside this one, as the address says."""
    if KEPT not in st.session_state and (texts := st.query_params.get_all(KEPT)):
        st.session_state[KEPT] = [*map(_parse, texts)]
    chosen = st.session_state.get(KEPT)
    # Beside somebody's own question nothing stands that nobody asked for.
    usual = list(AT_FIRST) if case in EXAMPLES.values() else []
    every = dict.fromkeys(one for one in (usual if chosen is None else chosen) if one is not None)
    first = list(every)[:MOST_KEPT]
    st.session_state[_BESIDE] = first
    if chosen is not None:
        st.session_state[KEPT] = first
    addresses = [json.dumps(_texts(one), ensure_ascii=False) for one in first] or [""]
    # Only where it changes: writing sends the whole address as this run knows it, and what the
    # person has typed meanwhile would be gone from it.
    if first == usual:
        st.query_params.pop(KEPT, None)
    elif st.query_params.get_all(KEPT) != addresses:
        st.query_params[KEPT] = addresses
    return first


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
    st.session_state[KEPT] = [*(c for c in st.session_state[_BESIDE] if c != case), case]


def remove(case: Case) -> None:
    """Take a curve away again."""
    st.session_state[KEPT] = [c for c in st.session_state[_BESIDE] if c != case]
