"""The models that Google lists."""

from core.language_models.backends.gemini.model import Gemini
from core.language_models.errors import ModelError


def model_names(url: str, key: str | None = None) -> tuple[str, ...]:
    """Return the names of Google’s models; `url` is ``host:port`` of another server, for tests."""
    names = Gemini("any", key=key, endpoint=url or None).model_names()
    if not names:
        raise ModelError("Google lists no models for this key. Type the name of one.")
    return names
