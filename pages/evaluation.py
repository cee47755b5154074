"""Evaluation: many questions with known answers to a model, and what every score is worth."""

from functools import partial

from core.language_models.errors import ModelError
from core.studies.evaluation.files import RunError
from core.ui.evaluation import run
from core.ui.evaluation.choice import choice
from core.ui.evaluation.form import FOLD, new_run
from core.ui.evaluation.results import results
from core.ui.evaluation.runs import complaint
from core.ui.folds import fold
from core.ui.header import page_header
from core.ui.messages import problem
from core.ui.model import study_model


def page() -> None:
    """Draw the page: a new run, the chosen one on its way, and what came of it."""
    page_header(
        "Which doubt finds the wrong answers?",
        "Questions with known answers show **what the doubt of each score is worth**.",
    )
    model = None
    try:
        model = study_model()
    except ModelError as error:
        problem(str(error))
    if model is not None:
        fold("New run", partial(new_run, model), key=FOLD, icon=":material/add:")
    listed, others = choice()
    if listed is None:
        return
    try:
        buttons = run.draw(listed, model)
        if buttons is not None:
            results(listed.run, others, buttons)
    except RunError as error:
        problem(complaint(error, listed.run.folder))


page()
