"""Scores that look as no score should: the page asks, and a person vouches for one."""

from __future__ import annotations

import streamlit as st

from core.data.tabular.labelled import VOUCHED
from core.data.tabular.suspicion import SuspiciousScoreError
from core.data.tabular.uploads import Upload


def vouchers_in(upload: Upload) -> tuple[str, ...]:
    """Return the scores of a file that a person vouches for."""
    return tuple(st.session_state.get(_key(upload), ()))


def vouch_for(upload: Upload, error: SuspiciousScoreError) -> None:
    """Say what is odd about a score, and let the person vouch for it."""
    with st.container(border=True, key="vouching"):
        st.badge("Your answer is needed", icon=":material/help:", color="orange")
        st.text(str(error))
        st.button(
            f"It {VOUCHED}",
            key="vouch",
            icon=":material/verified_user:",
            on_click=_vouch,
            args=(_key(upload), error.score),
        )


def _key(upload: Upload) -> str:
    return f"vouched_{upload.sha256[:16]}"  # so that a reload brings it back


def _vouch(key: str, score: str) -> None:
    st.session_state[key] = [*st.session_state.get(key, ()), score]
