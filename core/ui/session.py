"""Who somebody is among those who use this program at the same time."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID, uuid4

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx


@dataclass(frozen=True)
class Session:
    """One open page of one person.

    Attributes
    ----------
    key : UUID
        Tells it from all others.
    id : str
        As the server knows it.
    """

    key: UUID
    id: str

    @property
    def is_open(self) -> bool:
        """Whether a browser is connected; without a server nobody can have left."""
        return not runtime.exists() or bool(runtime.get_instance().is_active_session(self.id))


NOBODY = Session(UUID(int=0), "")


def this_session() -> Session:
    """Return the session whose script is running in this thread; `NOBODY` in other threads."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return NOBODY
    found: Session = st.session_state.setdefault("session", Session(uuid4(), context.session_id))
    return found
