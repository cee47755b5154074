"""Your question: from a typed case to its curve, beside those that were kept."""

import streamlit as st

from core.charts.amplification.curves import SCALES
from core.studies.amplification import curve as study
from core.studies.amplification.curve import MOST_REPETITIONS, Amplification, Case
from core.studies.amplification.gallery import MOST_AT_FIRST
from core.studies.inspection.request import InvalidRequestError
from core.ui.addresses import number
from core.ui.amplification import form
from core.ui.amplification.curves import curves, draw_usage
from core.ui.amplification.drawing import answer, details, list_curves, pictures, title
from core.ui.amplification.saving import keep
from core.ui.messages import problem
from core.ui.model import study_model


def your_question() -> None:
    """From a typed case to its curve, beside those that were kept."""
    case = form.case_form()
    verdict = st.container()
    title()
    picture = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", key="curve_controls"):
        with st.container(width=180):
            most = number("most", 1, MOST_REPETITIONS, MOST_AT_FIRST, 10)
        scale = st.segmented_control(
            "Steps of repetitions",
            SCALES,
            default="log",
            format_func={"linear": "even", "log": "first ones wide"}.__getitem__,
            key="scale",
            required=True,
            bind="query-params",
            persist_state="session",
            width="content",
        )
    cases = [*([case] if case else []), *(c for c in form.cases_beside(case) if c != case)]
    if not cases:
        return
    with picture:
        amplifications = _draw(cases, most, scale)
    if amplifications:
        if amplifications[0].case == case:
            with verdict:
                answer(amplifications[0])
            keep(amplifications)
        list_curves(amplifications, case)
        details(amplifications, scale, most)


def _draw(cases: list[Case], most: int, scale: str) -> list[Amplification]:
    try:
        model = study_model()
        times = study.grid(model, most)
        results = curves(
            cases,
            model,
            times,
            key="own",
            so_far=lambda amplifications: pictures(amplifications, scale),
        )
    except InvalidRequestError as error:
        problem(str(error))
        return []
    if results is None:
        return []
    for one, result in zip(cases, results, strict=True):
        if isinstance(result, str):
            problem(f"{one.query} {result}")
    amplifications = [one for one in results if isinstance(one, Amplification)]
    if amplifications:
        draw_usage(amplifications)
        pictures(amplifications, scale)
    return amplifications
