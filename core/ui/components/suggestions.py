"""Questions that a field completes while a person types, in the browser alone."""

from collections.abc import Sequence

from core.ui.components.registration import script

_mounted = script("suggestions")


def suggest(field: str, questions: Sequence[str], *, key: str) -> None:
    """Complete what is typed into the text field of this label; with no questions, nothing."""
    # In a list, for the reason that `registration` has.
    _mounted(key=key, data=[{"field": field, "texts": list(questions)}])
