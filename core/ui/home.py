"""Home: one experiment on one screen, a challenge, and the ways on."""

from functools import partial

import streamlit as st

from core.language_models.language_model import LanguageModel
from core.once import once
from core.studies.home import MEASURES, PREPARED, TIMES, Lane, challenge, lane
from core.studies.inspection.conditional_rows import chance
from core.studies.inspection.request import InvalidRequestError
from core.studies.inspection.taught_questions import has_taught_words
from core.studies.questions import questions
from core.ui import frame, model, model_opening, model_picker
from core.ui.components.challenge import challenge as draw_challenge
from core.ui.components.lanes import doubt_in_words, lanes, own_answer
from core.ui.components.presentation import OWN_QUESTION, presentation
from core.ui.components.suggestions import suggest
from core.ui.folds import fold
from core.ui.inspection.recordings import example_inspection
from core.ui.messages import problem
from core.ui.policy_badge import IN_USE

_STORIES = 3  # to present: one known, one with many answers, one that everybody gets wrong
_MEASURES = (
    "The number is the threshold λ. How much the model’s answers differ is their semantic entropy. "
    "How much an answer that it is told changes the next one is their mutual information. Both "
    "are in nats."
)
_OWN = "own"  # in the address: the visitor's question, once asked


def experiment() -> None:
    """Draw the prepared lanes, the visitor's own, and the field that it is asked in."""
    shown = list(prepared_lanes())
    own = _own()
    if own is not None:
        shown.append(own)
    if model.current() is not model.embedded_model() or IN_USE in st.session_state:
        st.text(
            "The four examples are always asked of the embedded model, and decided by the policy "
            "that is built in. Your own question goes to "
            + (
                "the model in use."
                if _at_once(model.current())
                else "Inspection, to the model and the policy in use."
            )
        )
    opened = lanes(shown, key="lanes")
    if opened is not None:
        frame.inspect(shown[opened].question)
    with st.form("own", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        question = st.text_input(
            OWN_QUESTION,
            key="own_question",
            placeholder="Your own question",
            label_visibility="collapsed",
        )
        if st.form_submit_button("Ask", type="primary") and question.strip():
            _ask(question)
    suggest(
        "Your own question",
        questions() if has_taught_words(model.current()) else (),
        key="suggestions",
    )
    with st.container(horizontal=True):
        st.button("What about my model?", key="own_model", on_click=model_picker.show, args=(True,))
        fold("The numbers", partial(_numbers, shown), key="lane_table", icon=":material/table:")
        presentation(prepared_lanes()[:_STORIES], st.context.url or "", key="present")


def the_challenge() -> None:
    """Let the person look for a threshold that decides all lanes well."""
    lanes = prepared_lanes()
    st.header("Now decide by a number", anchor=False, help=_MEASURES)
    entropy, information = (challenge(lanes, measure) for measure in MEASURES)
    st.markdown(
        "Drag the dashed line: what lies left of it is answered. **Find a place where all four "
        "decisions are right.**"
    )
    draw_challenge(lanes, list(PREPARED.values()), key="challenge")
    if not entropy.can_be_won and information.can_be_won:
        with st.expander("Is there such a place?", icon=":material/lightbulb:"):
            st.text(
                "Not by how much the model’s answers differ: that is "
                f"{entropy.lowest:.2f} nats for a question with many right answers, and only "
                f"{entropy.highest:.2f} for a wrong one. By how much what it is told changes what "
                f"it says, yes: anywhere between {information.lowest:.2f} and "
                f"{information.highest:.2f}."
            )


def onward() -> None:
    """Offer the ways on."""
    with st.container(horizontal=True):
        if st.button("What does repeating an answer do?", key="repeating"):
            st.switch_page(frame.amplification())
        if st.button("When should it answer?", key="threshold"):
            st.switch_page(frame.calibration())
        if st.button("What can I ask?", key="catalogue"):
            st.switch_page(frame.questions())
        if model_opening.smollm2_here() and st.button(
            "Ask SmolLM2, a real language model", key="real", icon=":material/smart_toy:"
        ):
            model_opening.use("smollm2", None, None)
            st.switch_page(frame.inspection())


@once
def prepared_lanes() -> tuple[Lane, ...]:
    """Return the prepared lanes, computed once a process on the embedded model."""
    embedded = model.embedded_model()
    return tuple(
        lane(example_inspection(question, embedded), embedded, right=False) for question in PREPARED
    )


def _ask(question: str) -> None:
    """Ask the visitor's question; what is slow, paid for or decided otherwise, on its own page."""
    if not _at_once(model.current()):
        frame.inspect(question)
    st.query_params[_OWN] = question
    st.rerun()


def _at_once(local: LanguageModel) -> bool:
    """Whether a model answers free of charge while one waits, and its own policy decides."""
    able = local.capabilities
    return able.local and able.quick and IN_USE not in st.session_state


def _own() -> Lane | None:
    question = st.query_params.get(_OWN)
    current = model.current()
    if question is None or not _at_once(current):
        return None
    try:
        return lane(example_inspection(question, current), current)
    except InvalidRequestError as error:
        problem(str(error))
        return None


def _numbers(lanes: list[Lane]) -> None:
    st.dataframe(
        {
            "question": [one.question for one in lanes],
            "its own answer": [own_answer(one) for one in lanes],
            "told": [one.repeated for one in lanes],
            "doubt beside its limit": [doubt_in_words(one) for one in lanes],
        }
        | {
            f"{times} ×": [chance(one.steps[at].own, False, 1) for one in lanes]
            for at, times in enumerate(TIMES)
        },
        hide_index=True,
        key="lane_numbers",
        alt="How likely each question’s own answer is after the other was told so many times",
    )
