"""The policy in use on every page: in its address, and what it promises for the model in use."""

from dataclasses import replace
from typing import Final

import streamlit as st

from core.abstention.policy import GUARANTEES, Belief, Policy, PolicyError
from core.abstention.policy_files import from_json
from core.codec import count_of, one_line
from core.language_models.errors import ModelError
from core.store.errors import StoreError, UnknownResultError
from core.store.results import Result
from core.studies.inspection.certificates import certified_model, default_policy
from core.studies.inspection.inspection import cannot_decide
from core.ui import frame, model
from core.ui.messages import later
from core.ui.session import public
from core.ui.storage import open_saved, storage

# In the session: the policy that a person chose. Not in `core.ui.calibration`, which loads Altair.
IN_USE: Final = "policy_in_use"
ID: Final = "policy_in_use_id"  # under which it is saved
UNKNOWN: Final = (
    "Nobody knows whether it holds for each group by itself. Labelled rows that name their group "
    "say it on Calibration."
)
NOT_CHECKED: Final = (
    "It comes from a file or from another session: nobody here checked the labels that made it."
)
NO_FIT: Final = (
    "It is of another model or of other settings than this page has, so it decides nothing here:"
)


def badge(*, fits: bool = True) -> None:
    """Say it, and behind it of what it was made; nothing of a model that cannot be opened.

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
    elif policy.has_guarantee and policy.from_file:
        label = "The policy is not verified"
    elif policy.method == "ltt" and policy.confidence is not None:
        # As `promise_in_words`, of which a phone omits one word; no confidence becomes certainty.
        target, sure = 100 * policy.target_error, min(100 * policy.confidence, 99.9999)
        label = f"Answered: ≤ {target:.6g}% *wrong* ({sure:.6g}% sure)"
        if belief := belief_of(policy):  # “Perhaps” has no such promise
            target = 100 * belief.target_error
            label = f"“Believe it”: ≤ {target:.6g}% *wrong* ({sure:.6g}% sure)"
    elif policy.method == "crc":
        label = f"≤ {100 * policy.target_error:.6g}% answered and wrong on average"
    else:
        label = "The policy promises nothing"
    key = f"policy_badge_{fits:d}"
    opened = st.popover(label, key=key, on_change="rerun")
    if opened.open:
        with opened:
            _about(policy, fits=fits)


def _about(policy: Policy | None, *, fits: bool) -> None:
    """Say what a policy promises, of what it was made and whose it is; and lead to Calibration."""
    if policy is None:
        st.text("Nobody has certified a threshold for this model.")
    else:
        if not (fits and _is_of(policy)):
            st.text(cannot_decide(policy) or NO_FIT)
        if policy.from_file:
            st.text(NOT_CHECKED)
        st.text(replace(policy, caution=None).sentence)  # which stands apart
        if policy.method == "ltt" and policy.caution != "":
            with st.container(key="policy_caution"):
                st.text(policy.caution or UNKNOWN)
        model = f" put to {one_line(policy.pipeline.model)}" if policy.pipeline else ""
        by = f"{GUARANTEES[policy.method]}, {count_of(policy.labels, 'labelled question')}{model}."
        if IN_USE in st.session_state:
            st.text(f"In use until you stop it: {by}")
        else:
            st.text(f"An example that is built in: {by} Other questions need one of their own.")
    label = "Change it on Calibration" if policy else "Certify one on Calibration"
    if st.button(label, key="open_calibration", icon=":material/tune:"):
        frame.calibrate()


def is_default(policy: Policy) -> bool:
    """Say whether a policy decides as the built-in one does, and that is in use."""
    return _default_like(policy) is not None


def belief_of(policy: Policy) -> Belief | None:
    """Return what a policy promises of answers that stand, also as the built-in one in use."""
    return (_default_like(policy) or policy).belief


def _default_like(policy: Policy) -> Policy | None:
    """Return the built-in policy where it is in use, and another decides as it does."""
    try:
        default = None if IN_USE in st.session_state else _policy()
    except ModelError:  # the page says which
        return None
    same = ("data", "score", "threshold")
    is_same = default is not None and all(getattr(policy, n) == getattr(default, n) for n in same)
    return default if is_same else None


def _policy() -> Policy | None:
    certified = certified_model(model.current().revision)
    return st.session_state.get(IN_USE) or (default_policy(certified) if certified else None)


def _is_of(policy: Policy) -> bool:
    """Whether a policy may decide what the model in use answers."""
    pipeline, local = policy.pipeline, model.current()
    if pipeline is None or cannot_decide(policy):
        return False
    return not pipeline.differences(replace(pipeline, model=local.name, revision=local.revision))


ADDRESS: Final = "policy"  # where an address names it
NOT_HERE: Final = (
    "The policy that this address names is not saved here, so the default policy decides. Upload "
    "the policy on Calibration to use it."
)


def follow() -> None:
    """Decide by the policy that the address names, and name in the address the one in use."""
    id = st.query_params.get(ADDRESS)
    if id and IN_USE not in st.session_state:
        try:
            policy = policy_in(open_saved(id))
        except UnknownResultError:
            del st.query_params[ADDRESS]
            later(NOT_HERE)
        except PolicyError as error:
            del st.query_params[ADDRESS]
            later(f"The default policy decides: that of this address cannot be used. {error}")
        except StoreError as error:  # it may be there: the next look finds it
            later(f"The default policy decides: that of this address cannot be read. {error}")
        else:
            st.session_state.update({IN_USE: policy, ID: id})
    own = None if public() else st.session_state.get(ID)
    if own and st.query_params.get(ADDRESS) != own:
        st.query_params[ADDRESS] = own


def policy_in(result: Result) -> Policy:
    """Return a saved policy, marked if it came from a file or is none of who looks at the page.

    Raises `PolicyError` as `from_json` does, `StoreError` when nobody can say whose it is.
    """
    policy = from_json(result.payload)
    is_own = not policy.from_file and storage().results.exists(result.id)
    return policy if is_own else policy.as_foreign()
