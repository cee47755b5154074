"""What the tests of pages have in common."""

import pytest
import streamlit as st

from tests.sessions import QUERY, session

SETTINGS = (
    *("OPENAI_API_KEY", "GOOGLE_API_KEY", "BELIEVE_PUBLIC", "BELIEVE_PUBLIC_KEYS"),
    *("BELIEVE_BUDGET", "BELIEVE_PUBLIC_BUDGET", "BELIEVE_ALLOWED_HOSTS"),
)


@pytest.fixture
def fresh():
    """A process in which nobody has been: nothing is saved, nothing was asked."""
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


@pytest.fixture
def on_ones_own(fresh, monkeypatch):
    """No key or limit from outside, no waiting between tries, and nothing from another test."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("core.language_models.client.retry.pause", lambda _: 0.0)


@pytest.fixture
def page(on_ones_own):
    return session("inspection", q=QUERY)
