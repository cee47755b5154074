"""Inspection: ask one question, read the verdict, and look at everything behind it."""

from functools import partial

import streamlit as st

from core.language_models.errors import ModelError
from core.studies.amplification.gallery import propose
from core.studies.inspection.inspection import Inspection, read
from core.studies.inspection.request import InvalidRequestError
from core.studies.inspection.serialise import from_json
from core.ui import frame, history
from core.ui.calibration import policy
from core.ui.header import page_header
from core.ui.inspection.clusters import clusters
from core.ui.inspection.details import details
from core.ui.inspection.form import ask, record
from core.ui.inspection.grading import truth
from core.ui.inspection.matrices import matrices
from core.ui.inspection.sampling import more
from core.ui.inspection.saving import is_asked_for, keep, keep_view, saved_view
from core.ui.inspection.scores import scores
from core.ui.inspection.verdict import verdict
from core.ui.messages import problem
from core.ui.model import current, embedded
from core.ui.results import keeper


def inspect() -> None:
    """Draw the page, from the question down to the details."""
    page_header(
        "Can I believe this answer?",
        "Ask a question. Believe collects the model’s answers, puts one of them into the "
        "prompt, and asks again. **If the answer changes, the model does not know. If it does "
        "not change, the model knows one right answer, or many.**",
    )
    if current() is embedded():
        st.caption(
            "The model here is small and comes with the program. It knows a few thousand "
            "facts, some by heart, some badly, and makes up the rest."
        )
    else:
        st.text(current().name)
    policy.banner()
    try:
        kept = history.opened("inspection")
        if kept is not None:
            inspection = from_json(kept.payload)
        else:
            request, reading = ask()
            kept_by_the_job = keeper(reading, policy.in_use(), asked_for=is_asked_for())
            recording = record(request, reading, kept_by_the_job)
            if recording is None:
                return
            inspection = read(recording, reading, policy=policy.in_use())
            keep(inspection)
    except (InvalidRequestError, ModelError) as error:
        problem(str(error))
        return
    frame.titled(inspection.query)
    verdict(inspection)
    truth(inspection)
    scores(inspection)
    clusters(inspection)
    matrices(inspection)
    amplified(inspection)
    if kept is None:
        more(inspection)
    details(inspection)
    if kept is None:
        history.permalink(saved_view(inspection), partial(keep_view, inspection))


def amplified(inspection: Inspection) -> None:
    """Offer to repeat one of its answers, ever more often."""
    if st.button("What does repeating an answer do here?", key="amplify", icon=":material/repeat:"):
        try:
            frame.amplify(inspection.query, *propose(inspection))
        except InvalidRequestError as error:
            problem(str(error))


inspect()
