"""The values of k that an experiment tries: from the smallest to the largest, so many of them."""

from __future__ import annotations

import numpy as np

from core.studies.inspection.request import InvalidRequestError
from core.studies.laboratory.experiment import Field


def limits(
    smallest: int, largest: int, sizes: int, most: int, most_sizes: int, *, least: int = 1
) -> tuple[Field, Field, Field]:
    """Return the fields `smallest`, `largest` and `sizes` of an experiment."""
    return (
        Field("smallest", "Smallest k", smallest, least, most, 1, folded=True),
        Field("largest", "Largest k", largest, least, most, 1),
        Field("sizes", "How many values of k", sizes, 1, most_sizes, 1, folded=True),
    )


def evenly(smallest: int, largest: int, number: int) -> tuple[int, ...]:
    """Return whole numbers with equal steps between them."""
    _in_order(smallest, largest)
    return tuple(np.linspace(smallest, largest, number, dtype=int).tolist())


def by_powers(smallest: int, largest: int, number: int) -> tuple[int, ...]:
    """Return whole numbers with equal ratios between them, each once."""
    _in_order(smallest, largest)
    return tuple(np.unique(np.geomspace(smallest, largest, number).round().astype(int)).tolist())


def _in_order(smallest: int, largest: int) -> None:
    if smallest > largest:
        raise InvalidRequestError(
            f"The smallest k, {smallest:,}, is above the largest, {largest:,}. Exchange them."
        )
