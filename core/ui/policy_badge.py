"""What the policy in use promises for the model in use, in a few words on every page."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import streamlit as st

from core.abstention.policy import Policy
from core.language_models.errors import ModelError
from core.studies.inspection.certificates import certified_model, default_policy
from core.studies.inspection.inspection import cannot_decide
from core.ui import frame, model

# In the session: the policy that a person chose. Not in `core.ui.calibration`, which loads Altair.
IN_USE: Final = "policy_in_use"
HELP: Final = (
    "What is promised of answered questions like the labelled ones, asked of this model with the "
    "settings that the policy was made with. Opens Calibration."
)


def badge(*, fits: bool = True) -> None:
    """Say it, and lead to Calibration; nothing of a model that cannot be opened.

    `fits`: whether a policy decides with the settings of the page; no more is said where none does.
    """
    try:
        policy = _policy()
    except ModelError:  # the page says which
        return
    if policy is None:
        label = "No policy is certified"
    elif not (fits and _is_of(policy)):
        label = "The policy does not fit"
    elif policy.method == "ltt" and policy.confidence is not None:
        target, sure = 100 * policy.target_error, 100 * policy.confidence
        label = f"≤ {target:.6g}% wrong, {sure:.6g}% sure"
    elif policy.method == "crc":
        label = f"≤ {100 * policy.target_error:.6g}% answered and wrong on average"
    else:
        label = "The policy has no guarantee"
    if st.button(label, key=f"policy_badge_{fits:d}", icon=":material/policy:", help=HELP):
        frame.calibrate()


def _policy() -> Policy | None:
    """Return the policy in use: a person's, or what is certified for this model."""
    certified = certified_model(model.current().revision)
    return st.session_state.get(IN_USE) or (default_policy(certified) if certified else None)


def _is_of(policy: Policy) -> bool:
    """Whether a policy may decide what the model in use answers."""
    pipeline, local = policy.pipeline, model.current()
    if pipeline is None or cannot_decide(policy):
        return False
    return not pipeline.differences(replace(pipeline, model=local.name, revision=local.revision))
