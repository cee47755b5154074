"""Settings of experiments within their limits, and their numbers in a sentence."""

from __future__ import annotations

from core.studies.inspection.request import InvalidRequestError


def within(name: str, value: float, least: float, most: float) -> None:
    """Refuse a value out of its limits, or NaN.

    Raises
    ------
    InvalidRequestError
        With a sentence that names it.
    """
    if not least <= value <= most:
        raise InvalidRequestError(
            f"The {name} is {_display(value)}; choose one from {_display(least)} to "
            f"{_display(most)}."
        )


def _display(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def with_sign(value: float) -> str:
    """Return a difference as a person reads it: with its sign, a true minus; 0 has none."""
    rounded = round(value, 3)
    return f"{rounded:+.3f}".replace("-", "−") if rounded else "0.000"
