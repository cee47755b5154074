"""What the tests against local servers share."""

import pytest

from core.language_models.backends.openai import http
from core.store.database import open_database
from tests.store.kept import Calls

PATIENCE = 4.0  # seconds that the client waits for a sign of life: long for a busy machine


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    for name in ("OPENAI_API_KEY", "GOOGLE_API_KEY", "BELIEVE_PUBLIC", "BELIEVE_ALLOWED_HOSTS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def impatient(monkeypatch):
    """A client that soon takes a silent server for dead."""
    monkeypatch.setattr(http, "TIMEOUTS", (5.0, PATIENCE))


@pytest.fixture
def calls(tmp_path):
    """The call cache of a database in a file, as people have it."""
    with open_database(f"sqlite:///{tmp_path / 'believe.db'}") as database:
        yield Calls(database)
