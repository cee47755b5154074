"""No setting of whoever runs the tests reaches a server."""

import pytest


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    for name in ("OPENAI_API_KEY", "BELIEVE_PUBLIC", "BELIEVE_ALLOWED_HOSTS"):
        monkeypatch.delenv(name, raising=False)
