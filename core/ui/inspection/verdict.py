"""The verdict: the served sentence first, then where its doubt lies, and why."""

from typing import Final

import streamlit as st

from core.charts import inspection as charts
from core.data.world.normal_form import normal_form
from core.once import once
from core.reports.inspection import document as reports
from core.reports.inspection.truth import AFTERWARDS, truth
from core.reports.inspection.words import (
    BENEATH,
    STAMPS_BY_PROMISE,
    USUAL_NUMBER_ALONE,
    WITHHELD,
    front_sentence,
    introduction,
    reasons,
    source_sentence,
    untaught_words,
)
from core.studies.home import PREPARED
from core.studies.inspection.grading import judge
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.taught_questions import WORLD_OF, TaughtPosition
from core.studies.inspection.verdict import SCORE, Decision
from core.ui import figures, model_opening, model_picker
from core.ui.calibration import policy
from core.ui.glossary import OF_ONE_ANSWER, TERMS, VERDICTS
from core.ui.inspection.form import ask_as_typed, ask_instead
from core.ui.inspection.recordings import example_inspection
from core.ui.inspection.sampling import compare, larger_numbers
from core.ui.model import embedded_model

_REVEALED: Final = "untaught_revealed"  # questions to which somebody wants to see what is made up
LONG: Final = 60  # characters; a longer answer is set smaller
_LONG, _SHORT = "served_long", "served"  # as the style sheet names them


def verdict(inspection: Inspection, *, live: bool) -> None:
    """Say first what to do with the answer, and why.

    `live`: whether more can be asked: not of a kept result.
    """
    with st.container(border=True, key="verdict"):
        if inspection.read_as:
            _read_as(inspection.read_as, live=live)
        words, scale = st.columns(2)
        with words, st.container(key="verdict_words"):
            _in_words(inspection, live=live)
        with scale:
            _decisive(inspection)
        _afterwards(inspection)
        if inspection.conceals:
            with st.container(horizontal=True):
                if not quotes(inspection):
                    reveal(inspection)
                if live and not model_opening.smollm2_here():
                    st.button(
                        "Ask another model",
                        key="ask_another",
                        icon=":material/smart_toy:",
                        on_click=model_picker.show,
                        args=(True,),
                    )
                elif live:
                    st.button(
                        "Ask SmolLM2, which learnt from real texts",
                        key="ask_real",
                        icon=":material/smart_toy:",
                        on_click=model_opening.use,
                        args=("smollm2", None, None),
                    )


def _decisive(inspection: Inspection) -> None:
    """Draw what decided: the doubt or, where nothing near was taught, how far the nearest is."""
    references = _others(inspection) if _comparable(inspection) else ()
    if inspection.conceals:
        title, what = "How far from what it was taught", TERMS["Nearness"]
    else:
        title, what = "How much doubt", OF_ONE_ANSWER if inspection.has_repeats else TERMS["Doubt"]
    st.markdown(f"**{title}**", help=f"{what}\n\n{VERDICTS}")
    figures.show(reports.decisive_picture(inspection, references), "doubt")


def _afterwards(inspection: Inspection) -> None:
    """Say whether the answer is right where that is known: no verdict rests on it."""
    if judgement := judge(inspection):
        with st.container(key="truth", gap="xsmall"):
            st.text(AFTERWARDS)
            for sentence in truth(judgement, inspection):
                st.text(sentence)


def _in_words(inspection: Inspection, *, live: bool) -> None:
    """Say what to do with the answer, and why."""
    for sentence in filter(None, [source_sentence(inspection), front_sentence(inspection)]):
        st.text(sentence)
    serve(inspection)
    if inspection.nearest_taught is not None:
        _beside_what_was_taught(inspection.nearest_taught)
    if inspection.samples_needed is not None:
        st.markdown(
            f":orange[:material/warning: **Only k = {inspection.recording.request.samples:d}: "
            f"a verdict takes {inspection.samples_needed:d}.**]"
        )
    if live:
        _mend(inspection)
    for sentence in reasons(inspection, quotes=quotes(inspection), measured=False):
        st.text(sentence)


def _read_as(sentence: str, *, live: bool) -> None:
    """Say which taught question was asked, and offer to ask what was typed."""
    with st.container(horizontal=True, vertical_alignment="center", key="read_as"):
        st.text(sentence, width="content")
        if live:
            st.button(
                "Ask it as typed", key="ask_as_typed", icon=":material/undo:", on_click=ask_as_typed
            )


def quotes(inspection: Inspection) -> bool:
    """Whether the page shows texts of the model: of what it was not taught, only to who asks."""
    return not inspection.conceals or inspection.query in _open_questions()


def reveal(inspection: Inspection) -> None:
    """Offer to show what the model says to a question that it was not taught."""
    st.button(
        "Show the embedded model’s answer",
        key="reveal",
        icon=":material/visibility:",
        on_click=st.session_state.update,
        args=({_REVEALED: _open_questions() | {inspection.query}},),
    )


def _open_questions() -> frozenset[str]:
    questions: frozenset[str] = st.session_state.get(_REVEALED, frozenset())
    return questions


def serve(inspection: Inspection, key: str = "") -> None:
    """Set the answer that is served large beside its stamp; one that is not served is small.

    `key`: which of several inspections on one page it is.
    """
    decision = inspection.decision
    answer = charts.shown(inspection.verdict.answer)
    served = decision is Decision.ANSWER and not inspection.conceals
    stamp = STAMPS_BY_PROMISE[inspection.promises][inspection.headline]
    with st.container(
        key=f"{_LONG if len(answer) > LONG else _SHORT}_{stamp.style}{key}",
        horizontal=True,
        vertical_alignment="center",
        gap="small",
    ):
        if served:
            st.text(answer, width="content")
        with st.container(key=f"stamp_{stamp.style}{key}", width="content"):
            st.header(stamp.label, anchor=False, width="content")
    if inspection.conceals:
        st.markdown(f"**{stamp.reason}**")
        if quotes(inspection):
            _small(BENEATH[inspection.verdict.decision], answer, key)
    elif not served:
        _small(WITHHELD[decision], answer, key)


def _small(introduced: str, answer: str, key: str) -> None:
    with st.container(horizontal=True, gap="small", key=f"withheld{key}"):
        st.text(introduced, width="content")
        st.text(answer, width="content")


def _mend(inspection: Inspection) -> None:
    """Offer what a verdict takes: another policy, or more answers."""
    if inspection.refused and inspection.default_fits:
        st.button(
            "Decide by the default policy", key="mend_policy", type="primary", on_click=policy.stop
        )
    if not inspection.more_can_help:
        return
    usual = (inspection.samples_needed,) if inspection.samples_needed else ()
    larger = [*usual, *larger_numbers(inspection.recording.request)]
    if larger:
        st.button(
            f"Compare up to {larger[0]:d} answers",
            key="mend",
            type="primary",
            help=USUAL_NUMBER_ALONE if inspection.verdict.rule else None,
            on_click=compare,
            args=(larger[0],),
        )


def _comparable(inspection: Inspection) -> bool:
    """Whether the doubts of the examples are of the same model and the same score."""
    return inspection.recording.model == WORLD_OF and inspection.verdict.score == SCORE


def _others(inspection: Inspection) -> tuple[tuple[str, float], ...]:
    """Return the examples that this question is none of, in short, and their doubts."""
    this = normal_form(inspection.query)
    return tuple(
        (short, doubt) for each, short, doubt in _references() if normal_form(each) != this
    )


@once
def _references() -> tuple[tuple[str, str, float], ...]:
    """Return the examples of the home page whose doubt in nats decides, in short, and their doubts.

    That of a single answer is a share, which has no place on their scale.
    """
    model = embedded_model()
    examples = ((each, short, example_inspection(each, model)) for each, short in PREPARED.items())
    return tuple(
        (question, short, example.compared_doubt or 0.0)
        for question, short, example in examples
        if not (example.conceals or example.has_repeats)
    )


def _beside_what_was_taught(taught: TaughtPosition) -> None:
    """Say what a question that is not recognised has to do with what the model was taught."""
    if taught.recognised:
        return
    st.text(untaught_words(taught))
    if taught.offers:
        st.text(introduction(taught))
    for number, offer in enumerate(taught.offers):
        with st.container(horizontal=True, vertical_alignment="center", key=f"offer_{number:d}"):
            shown = f" ({offer.distance})" * (not taught.outside)  # else beside it
            st.text(f"{offer.question}{shown}", width="content")
            st.button(
                "Ask this",
                key=f"ask_nearest_{number:d}",
                icon=":material/subdirectory_arrow_right:",
                on_click=ask_instead,
                args=(offer.question,),
            )
