"""The policy that this session decides by, and moving policies in and out of it."""

from functools import partial

import streamlit as st

from core.abstention.policy import Policy, PolicyError, to_json
from core.abstention.policy_files import from_json
from core.reports import result_files
from core.reports.calibration.words import in_use_in_short
from core.store.errors import StoreError
from core.studies.inspection.inspection import cannot_decide
from core.studies.inspection.request import InvalidRequestError
from core.ui.messages import problem
from core.ui.policy_badge import ADDRESS, ID, IN_USE, policy_in
from core.ui.saved_result import open_result
from core.ui.session import public
from core.ui.storage import save, until_saved
from core.ui.upload_places import content_of, file_field

_WAITING = "policy_in_use_waiting"  # what saves it, until it can be saved
_UNTIL_THEN = (
    "Until then, a reload of the page goes back to the default policy. The one in use is saved by "
    "itself once that is mended."
)


def in_use() -> Policy | None:
    """Return the policy that the person chose to decide by, if any."""
    return st.session_state.get(IN_USE)


def use(policy: Policy) -> None:
    """Decide by a policy from now on, in this session and after a reload."""
    st.session_state[IN_USE] = policy
    st.session_state.pop(ID, None)
    try:
        _save(policy)
    except StoreError:
        st.session_state[_WAITING] = partial(_save, policy)


def _save(policy: Policy) -> None:
    payload, outcome = to_json(policy), policy.in_short
    if policy.from_file:  # History says so
        opened = result_files.open_result(payload.encode())
        payload, outcome = opened.payload, opened.outcome
    st.session_state[ID] = save("policy", *result_files.about(policy), payload, outcome=outcome)
    st.session_state.pop(_WAITING, None)


def stop() -> None:
    """Go back to the default."""
    for key in (IN_USE, ID, _WAITING):
        st.session_state.pop(key, None)
    st.query_params.pop(ADDRESS, None)


def bring() -> None:
    """Let the person bring a policy made earlier, and use it."""
    with st.expander("Upload a policy", icon=":material/upload_file:"):
        file = file_field("Policy (JSON)", ["json"], 1, key="policy_file")
        if file is None:
            return
        content = content_of(file)
        try:
            policy = from_json(content)
            result_files.open_result(content)  # so that History takes it, too
        except (PolicyError, InvalidRequestError) as error:
            problem(str(error))
            return
        _offer(policy.as_foreign(), "use_uploaded")


def reopen() -> None:
    """Show the kept policy that the address names, and offer to decide by it again."""
    result = open_result("policy")
    if result is None:
        return
    try:
        policy = policy_in(result)
    except (PolicyError, StoreError) as error:
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
        st.text(in_use_in_short(policy), width="stretch")
        st.button("Stop using it", key="stop_policy", on_click=stop)
    if waiting := st.session_state.get(_WAITING):
        until_saved(waiting, _UNTIL_THEN)
    elif public() or ID not in st.session_state:
        st.caption("It is not saved: a reload of the page goes back to the default policy.")
