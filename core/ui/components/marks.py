"""A text whose sentences are marked, each to be pressed."""

from collections.abc import Sequence
from typing import Any, Final

from core.claims import TextClaim
from core.ui.components.registration import nothing, one_of, register

mount = register("marks")

KINDS: Final = {"perhaps true": "true", "perhaps false": "false", "open": "open"}


def draw_marks(text: str, claims: Sequence[TextClaim], *, key: str) -> int | None:
    """Draw a text with its claims; return the number of the one that a person presses, if any."""
    result = mount(data=as_data(text, claims), key=key, on_pressed_change=nothing)
    return one_of(result.pressed, range(len(claims)))


def as_data(text: str, claims: Sequence[TextClaim]) -> dict[str, Any]:
    """Return the parts of the text in their order, as the browser draws them."""
    parts: list[dict[str, Any]] = []
    end = 0
    for number, claim in enumerate(claims):
        seen = claim.mutual_information
        label = claim.mark if seen is None else f"{claim.mark}, M.I. {seen:.3f} nats"
        parts.append({"text": text[end : claim.start]})
        parts.append(
            {"text": claim.text, "number": number, "kind": KINDS[claim.mark], "label": label}
        )
        end = claim.end
    return {"parts": [*parts, {"text": text[end:]}]}
