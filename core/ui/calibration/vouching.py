"""Scores that look as no score should: the page asks, and a person vouches for one."""

import streamlit as st

from core.data.tabular.suspicion import Claim, SuspiciousScoreError
from core.data.tabular.uploads import Upload
from core.ui.calibration.result import reading_of


def claims_of(upload: Upload) -> tuple[tuple[str, Claim], ...]:
    """Return what a person vouches for of the scores of a file."""
    return tuple((score, Claim(claim)) for score, claim in _claims(_key(upload)))


def vouch_for(upload: Upload, error: SuspiciousScoreError) -> None:
    """Say what was read and what is odd about a score, and let the person vouch for it."""
    reading_of(error.reading)
    with st.container(border=True, key="vouching"):
        st.badge("Your answer is needed", icon=":material/help:", color="orange")
        st.text(str(error))
        st.button(
            f"It {Claim[error.claim.name]}",
            key="vouch",
            icon=":material/verified_user:",
            on_click=_vouch,
            args=(_key(upload), [error.score, error.claim.value]),
        )


def _key(upload: Upload) -> str:
    return f"claims_{upload.sha256[:16]}"  # so that a reload brings it back


def _claims(key: str) -> list[list[str]]:
    return st.session_state.get(key, [])


def _vouch(key: str, claim: list[str]) -> None:
    st.session_state[key] = [*_claims(key), claim]
