"""Inspection: ask one question, read the verdict, and look at everything behind it."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.language_models.errors import ModelError
from core.studies.amplification.gallery import propose
from core.studies.inspection.inspection import Inspection, read
from core.studies.inspection.request import InvalidRequestError
from core.ui import downloads, frame, policy_badge, saved_result
from core.ui.calibration import policy
from core.ui.folds import fold
from core.ui.header import page_header
from core.ui.inspection import larger_model
from core.ui.inspection.claims import claims
from core.ui.inspection.comparison import comparison, offer_comparison
from core.ui.inspection.conditional_answers import conditional_answers
from core.ui.inspection.details import details, files
from core.ui.inspection.form import question_form, recording_for
from core.ui.inspection.matrices import matrices
from core.ui.inspection.own_answers import own_answers
from core.ui.inspection.sampling import more
from core.ui.inspection.saving import is_a_persons, keep, keep_view, saved_view, say_if_unsaved
from core.ui.inspection.scores import scores
from core.ui.inspection.verdict import quotes, verdict
from core.ui.messages import problem
from core.ui.model import name_in_use
from core.ui.storage import keeper


def inspect(top: DeltaGenerator, folds: DeltaGenerator, badge: DeltaGenerator) -> None:
    """Draw an inspection, from the question down to the details.

    `top`: where the question stands; `folds`: and its settings; `badge`: what is promised.
    """
    with top:
        opened = saved_result.open_result("inspection")
        with st.container():  # it comes and goes, and moves no field
            if policy.in_use() and opened is None:  # which was decided by a policy of its own
                policy.banner()
    try:
        if opened is not None:
            inspection = saved_result.inspection_of(opened)
            saved_result.say_if_otherwise(opened, inspection)
        else:
            with top:
                request, reading = question_form(folds)
            save = keeper(reading, policy.in_use(), by_hand=is_a_persons())
            recording = recording_for(request, reading, save)
            if recording is None:
                return
            inspection = read(recording, reading, policy=policy.in_use())
            keep(inspection)
            say_if_unsaved(inspection)
    except (InvalidRequestError, ModelError) as error:
        problem(str(error))
        return
    frame.tab_title(inspection.query)
    if opened is not None:
        badge.empty()
        if comparison(inspection):
            return
    elif inspection.verdict.rule is None:
        with badge:
            policy_badge.badge(fits=False)
    verdict(inspection, live=opened is None)
    if all_of_it := quotes(inspection):
        conditional_answers(inspection)
        matrices(inspection)
    larger_model.offer(inspection)  # below all that this model says, whatever that is
    if all_of_it:
        behind(inspection, live=opened is None)
    with st.container(horizontal=True):
        downloads.menu(partial(files, inspection, opened))
        offer_comparison(inspection, opened.id if opened else saved_view(inspection))
        if opened is None:
            saved_result.permalink(saved_view(inspection), partial(keep_view, inspection))
        if all_of_it:
            amplify(inspection)


def behind(inspection: Inspection, *, live: bool) -> None:
    """Fold up everything behind the verdict, each part under its own label."""
    fold("All scores", partial(scores, inspection), key="all_scores", icon=":material/speed:")
    fold(
        "Everything behind it: answers, prompts, calls",
        partial(details, inspection),
        key="details",
        icon=":material/list:",
    )
    if live:
        fold("More answers", partial(more, inspection), key="enough", icon=":material/trending_up:")


def amplify(inspection: Inspection) -> None:
    """Offer to repeat one of its answers: to the model in use, which is told nothing in front."""
    recording = inspection.recording
    if recording.model != name_in_use() or recording.request.front:
        return
    if st.button("What does repeating an answer do here?", key="amplify", icon=":material/repeat:"):
        try:
            frame.amplify(inspection.query, *propose(inspection))
        except InvalidRequestError as error:
            problem(str(error))


badge = page_header("Can I believe this answer?", "")
top, folds = st.container(), st.container(horizontal=True, key="input_folds")
inspect(top, folds, badge)
with folds:  # ways in, too, but no verdict waits for them
    fold("Answers you have", own_answers, key="own_fold", icon=":material/upload_file:")
    fold("A longer text", claims, key="claims_fold", icon=":material/fact_check:")
