"""A policy on the rows of a run: what it answers, what of it is wrong, where."""

from functools import partial

import streamlit as st

from core.abstention.policy import Policy, PolicyError
from core.reports.calibration.document import by_group
from core.reports.evaluation import words
from core.reports.report import Picture
from core.studies.evaluation.deciding import PolicyDecisions, decide, decisions_csv
from core.studies.evaluation.results import Results
from core.studies.inspection.certificates import certified_model, default_policy
from core.ui import downloads, figures
from core.ui.calibration import policy as policies
from core.ui.session import memory_of

MOST_DRAWN = 12  # sources
IN_USE, DEFAULT = "the policy in use", "the model’s default policy"


def decisions(results: Results) -> None:
    """Let the person choose a policy, and show what it decides."""
    policies.bring()
    offered = _offers(results)
    if not offered:
        st.text(
            "No policy is in use. Make one on Calibration, or upload one here; Calibration takes "
            "the rows of a run."
        )
        return
    which = st.selectbox("Policy", list(offered), key="results_policy", persist_state="session")
    policy = offered[which]
    st.text(policy.sentence)
    try:
        decided = memory_of("results_decided", results, partial(decide, results, policy), policy)
    except PolicyError as error:
        st.text(str(error))
        st.text(
            "On this page: calibrate a policy on these rows, or start a run with the settings of "
            "the policy."
        )
        return
    for sentence in words.decisions(decided):
        st.text(sentence)
    picture = None
    if decided.by_source:
        parts = decided.by_source[:MOST_DRAWN]
        st.markdown("**Wrong among the answered, by source**")
        picture = by_group(parts, policy.target_error, words.other_label(results.match))
        figures.show(picture, "results_groups")
        st.text(picture.caption)
    downloads.menu(partial(_files, decided, picture))


def _files(decided: PolicyDecisions, picture: Picture | None) -> None:
    downloads.download(
        "Decisions (CSV)", lambda: decisions_csv(decided), "evaluation_decisions.csv"
    )
    if picture:
        figures.as_files("wrong_by_source", picture)


def _offers(results: Results) -> dict[str, Policy]:
    """Return the policies that there are, by what they are called."""
    offered = {}
    if (in_use := policies.in_use()) is not None:
        offered[IN_USE] = in_use
    if (model := certified_model(results.run.pipeline.revision)) is not None:
        offered[DEFAULT] = default_policy(model)
    return offered
