"""A quick look before an inspection, where that is paid by call or takes long."""

import streamlit as st

from core.charts.inspection import shown
from core.language_models.language_model import LanguageModel
from core.reports.inspection.words import AFTER_QUICK, QUICK
from core.studies.costs import quick_plan
from core.studies.inspection.quick_look import ANSWERS
from core.studies.inspection.request import Request
from core.ui.inspection.recordings import recordings
from core.ui.runs.widget import offer_run, run

PLACE = "quick"


def quick_look(request: Request, model: LanguageModel) -> None:
    """Offer a quick look at a question, and show the answers once it was taken."""
    able = model.capabilities
    key = model.name, model.revision, request.query, request.seed
    st.text(QUICK)
    if able.local:
        offer_run("Look quickly", "look", PLACE, key, icon=":material/bolt:")
    looking = Request(request.query, ANSWERS, seed=request.seed)
    answers = run(
        PLACE,
        key,
        lambda: recordings().look(looking, model),
        paid=None if able.local else (model, quick_plan(looking, able)),
        on_press=able.local,
        glance=True,
        cancelled="Cancelled.",
    )
    if answers is None:
        return
    st.dataframe(
        {"answer": [shown(text) for text, _ in answers], "draws": [n for _, n in answers]},
        hide_index=True,
        height="content",
        key="quick_answers",
        alt="What was drawn, and how often",
    )
    st.text(AFTER_QUICK)
