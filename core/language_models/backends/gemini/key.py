"""The key of Google’s API, as the SDK takes it."""

import re
from typing import Any, NoReturn

from google.auth.api_key import Credentials
from google.auth.exceptions import RefreshError

from core.language_models.errors import NeedsKeyError


class Key(Credentials):
    """A key that cannot be renewed: the SDK would send a request up to three times on 401."""

    def refresh(self, request: Any) -> NoReturn:
        """Raise: nobody can."""
        raise RefreshError("The key was not accepted.")


def checked_key(key: str) -> str:
    """Return a key that can stand in a header: the error of one that cannot would show it."""
    key = key.strip()
    if not key:
        raise NeedsKeyError(
            "Gemini needs a key: type one, or set the environment variable GOOGLE_API_KEY. Google "
            "gives keys at https://aistudio.google.com/apikey."
        )
    if not re.fullmatch(r"[!-~]+", key):
        raise NeedsKeyError(
            "The key for Gemini contains characters that no key has. Copy it again."
        )
    return key
