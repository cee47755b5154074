"""Dataclasses out of JSON that somebody may have edited by hand."""

from __future__ import annotations

import math
from dataclasses import MISSING, fields
from typing import Any, Final, TypeVar

T = TypeVar("T")

LARGEST: Final = 2**53  # no number of ours comes near it, and sums of such stay finite

_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "str": (str,),
    "bool": (bool,),
    "int": (int,),
    "float": (int, float),
    "float | None": (int, float, type(None)),
}


def decoded(kind: type[T], found: object) -> T:
    """Return a dataclass whose every field is of the kind that its annotation says.

    Parameters
    ----------
    kind : type
        A dataclass of texts, numbers and truth values. Whole numbers are not negative.
    found : object
        What JSON held. Fields with a default may be missing: older files lack them.

    Raises
    ------
    ValueError
        With the name of the field that is wrong.
    """
    if not isinstance(found, dict):
        raise ValueError(f"a {kind.__name__} is invalid")
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    if strange := found.keys() - known.keys():
        raise ValueError(f"a {kind.__name__} has no {min(strange)}")
    for name, field in known.items():
        if name in found:
            if not _is_sane(found[name], str(field.type)):
                raise ValueError(f"the {name} of a {kind.__name__} is invalid")
        elif field.default is MISSING and field.default_factory is MISSING:
            raise ValueError(f"a {kind.__name__} lacks its {name}")
    return kind(**found)


def _is_sane(value: Any, annotation: str) -> bool:
    kinds: tuple[type, ...] = _KINDS[annotation]
    if isinstance(value, bool) and bool not in kinds:  # true is a 1 to Python
        return False
    if not isinstance(value, kinds):
        return False
    if isinstance(value, str):
        return is_writable(value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return True
    least = 0 if annotation == "int" else -LARGEST
    return least <= value <= LARGEST and math.isfinite(value)


def is_writable(text: str) -> bool:
    """Return whether a text has no half of a character, which JSON can spell."""
    return not any("\ud800" <= character <= "\udfff" for character in text)
