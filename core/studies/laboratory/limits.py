"""Settings of experiments within their limits."""

from __future__ import annotations

from core.studies.inspection.request import InvalidRequestError


def within(name: str, value: float, least: float, most: float) -> None:
    """Refuse a value out of its limits, or NaN.

    Raises `InvalidRequestError` with a sentence that names it.
    """
    if not least <= value <= most:
        raise InvalidRequestError(
            f"The {name} is {_display(value)}; choose one from {_display(least)} to "
            f"{_display(most)}."
        )


def _display(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
