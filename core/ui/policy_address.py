"""The policy in use in the address of every page: a reload is another session."""

from typing import Final

import streamlit as st

from core.abstention.policy import PolicyError
from core.abstention.policy_files import from_json
from core.reports.result_files import is_from_file
from core.store.errors import StoreError, UnknownResultError
from core.ui.messages import later
from core.ui.policy_badge import ID, IN_USE, UNVERIFIED
from core.ui.results import open_saved, storage
from core.ui.session import public

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
            policy = from_json(payload := open_saved(id).payload)
            unverified = is_unverified(id, payload)
        except UnknownResultError:
            del st.query_params[ADDRESS]
            later(NOT_HERE)
        except PolicyError as error:
            del st.query_params[ADDRESS]
            later(f"The default policy decides: that of this address cannot be used. {error}")
        except StoreError as error:  # it may be there: the next look finds it
            later(f"The default policy decides: that of this address cannot be read. {error}")
        else:
            st.session_state.update({IN_USE: policy, ID: id, UNVERIFIED: unverified})
    own = None if public() else st.session_state.get(ID)
    if own and st.query_params.get(ADDRESS) != own:
        st.query_params[ADDRESS] = own


def is_unverified(id: str, payload: str) -> bool:
    """Say whether a saved policy came from a file, or is none of who looks at the page.

    Raises `StoreError` when nobody can say.
    """
    return is_from_file(payload) or not storage().results.exists(id)
