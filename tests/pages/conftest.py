"""What the tests of pages that ask services have in common."""

import pytest

from core.ui.session import _of_this_process
from tests.sessions import QUERY, session


@pytest.fixture
def on_ones_own(monkeypatch):
    """No key or limit from outside, no waiting between tries, and nothing from another test."""
    for name in ("OPENAI_API_KEY", "BELIEVE_PUBLIC", "BELIEVE_BUDGET", "BELIEVE_ALLOWED_HOSTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("core.language_models.client.retry._as_asked", lambda _: 0.0)
    _of_this_process.clear()
    yield
    _of_this_process.clear()


@pytest.fixture
def page(on_ones_own):
    return session("inspection", q=QUERY)
