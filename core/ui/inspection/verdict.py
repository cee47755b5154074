"""The verdict: the served sentence first, then where its doubt lies, and why."""

from __future__ import annotations

from typing import Final

import streamlit as st

from core.charts import inspection as charts
from core.once import once
from core.studies.inspection.grading import judge
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.served import (
    BENEATH,
    HEADLINES,
    LEANS,
    NOT_TAUGHT,
    WITHHELD,
    not_the_first,
)
from core.studies.inspection.taught import WORLD_OF, Taught
from core.studies.inspection.verdict import SCORE, Decision
from core.studies.lanes import PREPARED
from core.ui import figures, frame
from core.ui.glossary import TERMS
from core.ui.inspection.form import ask_instead
from core.ui.inspection.grading import truth
from core.ui.inspection.recordings import inspected
from core.ui.inspection.sampling import MORE, compare
from core.ui.model import embedded

LONG: Final = 60  # characters; a longer answer is set smaller
_LONG, _SHORT = "served_long", "served"  # as the style sheet names them


def verdict(inspection: Inspection, *, live: bool) -> None:
    """Say first what to do with the answer, and why.

    Parameters
    ----------
    live : bool
        Whether more can be asked: not of a kept result.
    """
    references = _references() if _comparable(inspection) else ()
    with st.container(border=True, key="verdict"):
        _served(inspection)
        if inspection.taught is not None:
            _beside_what_was_taught(inspection.taught)
        if inspection.wanted is not None:
            st.markdown(
                f":orange[:material/warning: **Only k = {inspection.recording.request.samples:d}: "
                f"a verdict takes {inspection.wanted:d}.**]"
            )
        if live and _more_may_decide(inspection):
            _mend(inspection)
        if found := not_the_first(inspection):
            st.text(found)
        st.text(inspection.verdict.reason)
        if inspection.caveat:
            st.text(inspection.caveat)
        for note in inspection.recording.notes:
            st.text(note)
        judgement = judge(inspection)
        if judgement is not None:
            truth(judgement, inspection)
        if inspection.taught is not None and inspection.taught.outside:
            return  # what it makes up has no place beside what it knows
        figures.draw(
            charts.doubt_scale,
            inspection,
            references,
            key="doubt",
            alt_text=charts.doubt_scale_alt(inspection),
        )


def _served(inspection: Inspection) -> None:
    """Set the served sentence large; an answer that is not served is small."""
    found, taught = inspection.verdict, inspection.taught
    answer = charts.shown(found.answer)
    if taught is not None and taught.outside:
        st.header(NOT_TAUGHT, anchor=False)
        _small(BENEATH[found.decision], answer)
    elif inspection.decision is Decision.ANSWER:
        with st.container(
            key=_LONG if len(answer) > LONG else _SHORT,
            horizontal=True,
            vertical_alignment="bottom",
            gap="small",
        ):
            st.text(answer, width="content")
            st.header(
                LEANS if inspection.leans else HEADLINES[Decision.ANSWER],
                anchor=False,
                width="content",
                help=TERMS["Epistemic uncertainty"],
            )
    else:
        decision = inspection.decision
        st.header(HEADLINES[decision], anchor=False, help=TERMS["Epistemic uncertainty"])
        _small(WITHHELD[decision], answer)


def _small(introduced: str, answer: str) -> None:
    with st.container(horizontal=True, gap="small", key="withheld"):
        st.text(introduced, width="content")
        st.text(answer, width="content")


def _more_may_decide(inspection: Inspection) -> bool:
    """Whether more answers may bring a verdict; not on what the model was not taught."""
    if inspection.taught is not None and inspection.taught.outside:
        return False
    return inspection.decision is Decision.TOO_LITTLE


def _mend(inspection: Inspection) -> None:
    """Offer what a verdict takes: more answers."""
    usual = (inspection.wanted,) if inspection.wanted else ()
    asked = inspection.recording.request.samples
    larger = [samples for samples in (*usual, *MORE) if samples > asked]
    if larger:
        st.button(
            f"Compare up to {larger[0]:d} answers",
            key="mend",
            type="primary",
            on_click=compare,
            args=(larger[0],),
        )


def _comparable(inspection: Inspection) -> bool:
    """Whether the doubts of the examples are of the same model and the same score."""
    return inspection.recording.model == WORLD_OF and inspection.verdict.threshold.score == SCORE


@once
def _references() -> tuple[tuple[str, float], ...]:
    """Return the examples of the home page in short, and their doubts."""
    asked = embedded()
    return tuple(
        (short, inspected(question, asked).compared or 0.0)
        for question, (short, _) in PREPARED.items()
    )


def _beside_what_was_taught(taught: Taught) -> None:
    """Say what a question that is not recognised has to do with what the model was taught."""
    if taught.recognised:
        return
    if taught.did_you_mean and taught.question:
        with st.container(horizontal=True, vertical_alignment="center", key="did_you_mean"):
            st.text(taught.did_you_mean)
            st.button(
                "Ask this",
                key="ask_nearest",
                icon=":material/subdirectory_arrow_right:",
                on_click=ask_instead,
                args=(taught.question,),
            )
    if taught.sentence:
        st.text(taught.sentence)
    st.page_link(frame.questions(), label="What can I ask?", icon=":material/travel_explore:")
