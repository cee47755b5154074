"""A longer text, whose sentences are asked about one by one and marked where they stand."""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Final

import streamlit as st

from core.claims import (
    MOST_CHARACTERS,
    NO_PROMISE,
    Questions,
    TextClaim,
    claims_of,
    questions_about,
    requests_of,
)
from core.language_models.errors import ModelError
from core.language_models.language_model import LanguageModel
from core.store.errors import StoreError
from core.studies.costs import Plan, computed_tokens, lasting, plan
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.request import (
    MAX_FRONT_CHARACTERS,
    MAX_QUERY_CHARACTERS,
    InvalidRequestError,
)
from core.ui import frame
from core.ui.components.marks import draw_marks
from core.ui.components.tab_memory import remember_field
from core.ui.folds import close
from core.ui.messages import problem
from core.ui.model import current, embedded_model, study_model
from core.ui.runs.job import Job
from core.ui.runs.widget import run, want
from core.ui.storage import save_inspection, unsaved_beginning

PLACE, FOLD = "claims", "claims_fold"
_PRESSED: Final = "claim_pressed"
#: Characters that each field takes.
FIELDS: Final = {
    "claims_text": MOST_CHARACTERS,
    "claims_question": MAX_QUERY_CHARACTERS,
    "claims_context": MAX_FRONT_CHARACTERS,
}
UNTAUGHT: Final = (
    "The embedded model never learnt to judge statements. Choose one that follows instructions."
)
Claims = tuple[TextClaim, ...]


def claims() -> None:
    """Let the person bring a text, ask about its sentences, and show them with their marks."""
    st.text(
        "The model is asked whether each sentence is true, and whether its opposite is. "
        f"{NO_PROMISE}"
    )
    if current() is embedded_model():
        st.text(UNTAUGHT)
        return
    for key, characters in FIELDS.items():
        remember_field(key, characters)
    text = st.text_area(
        "Text", key="claims_text", max_chars=MOST_CHARACTERS, persist_state="session"
    )
    question = st.text_input("What it answers", key="claims_question", persist_state="session")
    context = st.text_area(
        "Passages that it was drawn from",
        key="claims_context",
        max_chars=MAX_FRONT_CHARACTERS,
        persist_state="session",
    )
    if not text:
        return
    try:
        requested = questions_about(text, question, context=context)
        model = study_model()
    except (InvalidRequestError, ModelError) as error:
        problem(str(error))
        return
    this = model.name, model.revision, text, question, context
    requests = requests_of(requested, model, context=context)
    local, most = model.capabilities.local, Plan()
    for request in requests:
        most += plan(request, model.capabilities)
    st.button(
        "Ask about each sentence",
        key="claims_ask",
        type="primary",
        on_click=want,
        args=(PLACE, this),
    )
    if takes := lasting(sum(map(computed_tokens, requests)), model):
        st.text(f"That takes {takes} on this machine.")

    result = run(
        PLACE,
        this,
        lambda: Job(
            lambda job: _ask(job, text, requested, model, context),
            model,
            most=None if local else most.requests,
        ),
        paid=None if local else (model, most),
        on_press=True,
        retry=False,
        cancelled="Cancelled before every sentence was asked about.",
        beside=lambda job: _draw(text, job.partial or (), this),
    )
    if result is not None:
        _draw(text, result, this)


def _ask(
    job: Job[Claims], text: str, requested: Questions, model: LanguageModel, context: str
) -> Claims:
    for claim in claims_of(text, requested, model, job.progress, context=context):
        job.partial = (*(job.partial or ()), claim)
    return job.partial or ()


def _draw(text: str, result: Sequence[TextClaim], this: Hashable) -> None:
    """Show the text with its marks, and what is behind the one that was pressed."""
    if not result:
        return
    counts = Counter(claim.mark for claim in result)
    each = ", ".join(f"{count} {mark}" for mark, count in counts.items())
    st.text(f"{each}. Press a sentence to see why.")
    pressed = draw_marks(text, result, key="marks")
    if pressed is not None:
        st.session_state[_PRESSED] = this, pressed
    of, number = st.session_state.get(_PRESSED, (None, 0))
    if of == this and number < len(result):
        _behind(result[number])


def _behind(claim: TextClaim) -> None:
    with st.container(border=True, key="behind_claim"):
        st.text(claim.text)
        st.text(f"{claim.mark.capitalize()}. {claim.reason}")
        with st.container(horizontal=True):
            if claim.inspection and st.button("Open its inspection", key="open_claim"):
                _open(claim.inspection)
            if claim.opposite and st.button("Open that of its opposite", key="open_opposite"):
                _open(claim.opposite)


def _open(inspection: Inspection) -> None:
    """Save an inspection and go to it."""
    try:
        id = save_inspection(inspection)
    except StoreError as error:
        problem(unsaved_beginning(error))
        return
    close(FOLD)  # the verdict is far above it
    frame.show("inspection", id)
