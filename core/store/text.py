"""Text on its way into a database: what one cannot hold, and what a search compares."""

import re
import unicodedata

from core.store.errors import StoreError

# PostgreSQL holds no NUL, and nothing holds halves of surrogate pairs.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """Return text for people with a replacement sign for what no database holds."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def checked_payload(payload: str) -> str:
    """Return a payload as it is; raise `StoreError` if a database cannot give it back."""
    if _UNSTORABLE.search(payload):
        raise StoreError(
            "This cannot be saved: it contains a NUL or half a character. Write it as JSON "
            "with ASCII escapes, or take these characters out of the question."
        )
    return payload


def fold(text: str) -> str:
    """Return text in the form in which it is compared: no case, one way to write an accent."""
    normal = unicodedata.normalize("NFKC", storable(text))
    return unicodedata.normalize("NFKC", normal.casefold())  # folding takes ΐ apart
