"""The policy that this session decides by, and moving policies in and out of it."""

from functools import partial

import streamlit as st

from core.abstention.policy import Policy, PolicyError, from_json, to_json
from core.charts.calibration import name_of
from core.store.errors import StoreError, UnknownResultError
from core.studies.inspection.inspection import cannot_decide
from core.ui.messages import notice, problem
from core.ui.policy_badge import CAUTION, IN_USE
from core.ui.results import save, storage, until_saved
from core.ui.saved_result import open_result
from core.ui.session import public
from core.ui.uploaders import content_of, wait_for

_ID = "policy_in_use_id"
_WAITING = "policy_in_use_waiting"  # until it can be saved
_ADDRESS = "policy"  # where the address names it: a reload is another session


_UNTIL_THEN = (
    "Until then, a reload of the page goes back to the default policy. The one in use is saved by "
    "itself once that is mended."
)


def in_use() -> Policy | None:
    """Return the policy that the person chose to decide by, if any."""
    return st.session_state.get(IN_USE)


def use(policy: Policy, caution: str | None = None) -> None:
    """Decide by a policy from now on, in this session and after a reload.

    `caution`: in which group its promise does not hold; None where its groups are not known.
    """
    st.session_state[IN_USE], st.session_state[CAUTION] = policy, caution
    st.session_state.pop(_ID, None)
    try:
        _save(policy)
    except StoreError:
        st.session_state[_WAITING] = True


def _save(policy: Policy) -> None:
    model = policy.pipeline.model if policy.pipeline else "scores of unknown origin"
    title = f"{name_of(policy.score)}: answer {policy.where}"
    id = save("policy", title, model, to_json(policy), outcome=policy.sentence)
    st.session_state[_ID] = id
    st.session_state.pop(_WAITING, None)


def stop() -> None:
    """Go back to the default."""
    for key in (IN_USE, CAUTION, _ID, _WAITING):
        st.session_state.pop(key, None)
    st.query_params.pop(_ADDRESS, None)


def _after_reload() -> None:
    """Decide again by the policy that the address names."""
    id = st.query_params.get(_ADDRESS)
    if not id or IN_USE in st.session_state:
        return
    try:
        policy = from_json(storage().results.open(id).payload)
    except (UnknownResultError, PolicyError):
        st.query_params.pop(_ADDRESS, None)
        notice(
            "The policy that this address names is not saved here, so the default policy decides. "
            "Upload the policy on Calibration to use it."
        )
        return
    except StoreError as error:  # it may be there: the next look finds it
        problem(f"The default policy decides: that of this address cannot be read. {error}")
        return
    st.session_state[IN_USE], st.session_state[_ID] = policy, id


def bring() -> None:
    """Let the person bring a policy made earlier, and use it."""
    with st.expander("Upload a policy", icon=":material/upload_file:"):
        wait_for("policy_file", ["json"], 1)
        file = st.file_uploader("Policy (JSON)", ["json"], key="policy_file", max_upload_size=1)
        if file is None:
            return
        try:
            policy = from_json(content_of(file))
        except PolicyError as error:
            problem(str(error))
            return
        _offer(policy, "use_uploaded")


def reopen() -> None:
    """Show the kept policy that the address names, and offer to decide by it again."""
    result = open_result("policy")
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
    _after_reload()
    policy = in_use()
    if policy is None:
        return
    id = None if public() else st.session_state.get(_ID)
    if id and st.query_params.get(_ADDRESS) != id:
        st.query_params[_ADDRESS] = id
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="policy"):
        st.badge("Policy in use", icon=":material/policy:", color="blue")
        st.text(policy.sentence, width="stretch")
        st.button("Stop using it", key="stop_policy", on_click=stop)
    if st.session_state.get(_WAITING):
        until_saved(partial(_save, policy), _UNTIL_THEN)
    elif id is None:
        st.caption("It is not saved: a reload of the page goes back to the default policy.")
