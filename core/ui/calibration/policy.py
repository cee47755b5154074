"""The policy that this session decides by, and moving policies in and out of it."""

from __future__ import annotations

import streamlit as st

from core.abstention.policy import Policy, PolicyError, from_json, to_json
from core.charts.calibration import name_of
from core.studies.inspection.inspection import cannot_decide
from core.ui.history import opened
from core.ui.messages import problem
from core.ui.results import save

_IN_USE = "policy_in_use"


def in_use() -> Policy | None:
    """Return the policy that the person chose to decide by, if any."""
    return st.session_state.get(_IN_USE)


def use(policy: Policy) -> None:
    """Decide by a policy from now on, in this session."""
    st.session_state[_IN_USE] = policy
    made_on = policy.pipeline.model if policy.pipeline else "scores of unknown origin"
    title = f"{name_of(policy.score)}: answer {policy.where}"
    save("policy", title, made_on, to_json(policy), outcome=policy.sentence)


def stop() -> None:
    """Go back to the default."""
    st.session_state.pop(_IN_USE, None)


def bring() -> None:
    """Let the person bring a policy made earlier, and use it."""
    with st.expander("Upload a policy", icon=":material/upload_file:"):
        given = st.file_uploader("Policy (JSON)", ["json"], key="policy_file", max_upload_size=1)
        if given is None:
            return
        try:
            policy = from_json(given.getvalue())
        except PolicyError as error:
            problem(str(error))
            return
        _offer(policy, "use_uploaded")


def reopen() -> None:
    """Show the kept policy that the address names, and offer to decide by it again."""
    result = opened("policy")
    if result is None:
        return
    try:
        policy = from_json(result.payload)
    except PolicyError as error:
        problem(str(error))
        return
    _offer(policy, "use_kept")


def _offer(policy: Policy, key: str) -> None:
    """Say what a policy promises, and offer to decide by it."""
    st.text(policy.sentence)
    reason = cannot_decide(policy)
    if reason:
        st.text(reason)
    st.button("Use it", key=key, disabled=reason is not None, on_click=use, args=(policy,))


def banner() -> None:
    """Say which policy decides here, and offer to stop using it."""
    policy = in_use()
    if policy is None:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="policy"):
        st.badge("Policy in use", icon=":material/policy:", color="blue")
        st.text(policy.sentence, width="stretch")
        st.button("Stop using it", key="stop_policy", on_click=stop)
