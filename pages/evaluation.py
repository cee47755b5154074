"""Evaluation: many questions with known answers to a model, and what every score is worth."""

from functools import partial

import streamlit as st

from core.studies.evaluation.run_folder import RunError
from core.ui.evaluation import run
from core.ui.evaluation.choice import choice
from core.ui.evaluation.form import FOLD, new_run
from core.ui.evaluation.results import results
from core.ui.evaluation.runs import complaint
from core.ui.folds import fold
from core.ui.header import page_header
from core.ui.messages import problem
from core.ui.model import model_or_problem


def page() -> None:
    """Draw the page: the chosen run on its way, what came of it, and beside that a new one."""
    page_header("Which doubt finds wrong answers?")
    model = model_or_problem()
    head = st.container(horizontal=True, vertical_alignment="bottom", key="run_head")
    listed, others = choice(head)
    if model is not None:
        with head:
            fold("New run", partial(new_run, model), key=FOLD, icon=":material/add:")
    if listed is None:
        return
    on_way, outcome = st.container(), st.container()
    # What came of it stands before what can be done with it.
    buttons = st.container(horizontal=True, vertical_alignment="center", key="run_controls")
    try:
        if run.draw(listed, model, head, on_way, buttons):
            with outcome:
                results(listed.run, others, head, buttons)
    except RunError as error:
        problem(complaint(error, listed.run.folder))


page()
