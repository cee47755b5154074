"""Results as JSON and back: no infinity on the way out, nothing unchecked on the way in.

What comes in may have been edited by hand. Here is also what makes hostile text fit to be
written down: without torn characters, and no longer than a sentence bears.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, Final, TypeVar
from unicodedata import bidirectional

T = TypeVar("T")

LARGEST: Final = 2**53  # no number of ours comes near it, and sums of such stay finite
MOST_TEXTS: Final = 2000  # of one field
ROUNDING: Final = 1e-9  # of tenths of a percent: what computing alone may add
HALVES: Final = re.compile("[\ud800-\udfff]")
#: Controls that turn the direction of all that stands behind them in a line, ours too.
TURNS: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
RIGHT_TO_LEFT: Final = frozenset({"R", "AL", "AN"})  # of Unicode's directions

# What a field may hold, by its annotation; any other is a dataclass, or none, to be decoded.
_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "str": (str,),
    "str | None": (str, type(None)),
    "bool": (bool,),
    "int": (int,),
    "int | None": (int, type(None)),
    "float": (int, float),
    "float | None": (int, float, type(None)),
    "tuple[str, ...]": (tuple,),
    "tuple[tuple[str, str], ...]": (tuple,),
}


class DamagedError(ValueError):
    """A field that is missing or holds what it cannot hold."""

    def __init__(self, kind: str, field: str, *, missing: bool = False) -> None:
        what = f"a {kind} lacks its {field}" if missing else f"the {field} of a {kind} is invalid"
        super().__init__(what)
        self.field = field
        self.missing = missing


def encode(value: object, *, indent: int | None = None) -> str:
    """Return JSON text; its letters stay readable.

    Raises `ValueError` when there is an infinity or NaN in it, which JSON does not know: see
    `finite`.
    """
    return json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)


def percent(share: float) -> str:
    """Return a share in words, none rounded to a certainty."""
    text = f"{100 * share:.6g}%"
    return "more than 99.9999%" if text == "100%" and share < 1 else text


def whole_percent(share: float) -> str:
    """Return a share in whole percents, none rounded to a certainty."""
    text = f"{share:.0%}"
    if text == "0%" and share > 0:
        return "less than 1%"
    return "more than 99%" if text == "100%" and share < 1 else text


def at_most(share: float) -> str:
    """Return an upper bound of a share in words, rounded up: no promise of less than it is."""
    return f"{math.ceil(1000 * share - ROUNDING) / 10:.1f}%"


def at_least(share: float) -> str:
    """Return a lower bound of a share in words, rounded down."""
    return f"{math.floor(1000 * share + ROUNDING) / 10:.1f}%"


def no_more(bound: float, digits: int = 3) -> str:
    """Return a lower bound with some decimals, rounded down."""
    return f"{math.floor(bound * 10**digits + ROUNDING) / 10**digits:z.{digits}f}"


def limit_in_words(value: float, form: str, width: float = math.inf) -> str:
    """Return a finite limit in a format, or with so many digits more that it parts the same.

    It is off by a hundredth of the `width` of what it parts at most, and none is rounded to 1,
    which no confidence exceeds.
    """
    reach = min(width / 100 or math.inf, abs(1 - abs(value)) / 2 or math.inf)
    texts = (f"{value:{each}}" for each in (form, *(f".{d}g" for d in range(4, 18))))
    return next(text for text in texts if abs(float(text) - value) <= reach)


def with_interval(
    ends: Sequence[float | None], form: str = ".2f", nothing: str = "undefined"
) -> str:
    """Return a number and its interval as they are read; `nothing` without a number."""
    value, lower, upper = (math.nan if end is None else end for end in ends)
    if not math.isfinite(value):
        return nothing
    is_finite = math.isfinite(lower) and math.isfinite(upper)
    interval = f" ({lower:{form}} to {upper:{form}})" if is_finite else ""
    return f"{value:{form}}{interval}".replace("-", "−")


def finite(value: float) -> float | None:
    """Return a number as JSON knows it; a probability of 0 has no logarithm there."""
    return float(value) if math.isfinite(value) else None


def decode(kind: type[T], value: object, *, largest: float = LARGEST) -> T:
    """Return a dataclass out of JSON that somebody may have edited.

    Whole numbers are not negative; see `typed_fields` for the rest.

    Raises `ValueError` when it is no such dataclass, a field is wrong (`DamagedError`), or one is
    not known.
    """
    if not isinstance(value, Mapping):
        raise ValueError(f"a {kind.__name__} is invalid")
    if strange := value.keys() - {field.name for field in fields(kind)}:  # type: ignore[arg-type]
        raise ValueError(f"a {kind.__name__} has no {min(strange)}")
    return kind(**typed_fields(kind, value, least=0, largest=largest))


def typed_fields(
    kind: type, entries: Mapping[str, Any], *, least: float | None = None, largest: float = LARGEST
) -> dict[str, Any]:
    """Return what JSON held of the fields of a dataclass, each of the kind its annotation says.

    No whole number is below `least`, by default -`largest`; no number exceeds `largest`, whatever
    its sign, and whole ones never exceed `LARGEST`. Fields with a default may be missing: older
    files lack them.

    Raises `DamagedError` with the name of the first field that is wrong.
    """
    values: dict[str, Any] = {}
    for field in fields(kind):
        has_default = field.default is not MISSING or field.default_factory is not MISSING
        if field.name in entries:
            annotation = str(field.type)
            value = _as_tuple(entries[field.name], annotation)
            most = min(largest, LARGEST) if annotation.startswith("int") else largest
            low = least if least is not None and annotation.startswith("int") else -most
            if not _is_sane(value, annotation, low, most):
                raise DamagedError(kind.__name__, field.name)
            whole = type(value) is int and annotation.startswith("float")
            values[field.name] = float(value) if whole else value
        elif not has_default:
            raise DamagedError(kind.__name__, field.name, missing=True)
    return values


def _as_tuple(value: Any, annotation: str) -> Any:
    """Return the tuple that JSON held as a list; None where one is wanted, and it is no such list.

    Of other fields, return the value.
    """
    if not annotation.startswith("tuple"):
        return value
    if not isinstance(value, list | tuple) or len(value) > MOST_TEXTS:
        return None
    if annotation == "tuple[str, ...]":
        return tuple(value) if all(isinstance(t, str) and is_writable(t) for t in value) else None
    pairs = tuple(_as_tuple(pair, "tuple[str, ...]") for pair in value)
    return pairs if all(pair and len(pair) == 2 for pair in pairs) else None


def _is_sane(value: Any, annotation: str, least: float, largest: float) -> bool:
    kinds = _KINDS.get(annotation, (dict, type(None)))
    if isinstance(value, bool) and bool not in kinds:  # true is a 1 to Python
        return False
    if not isinstance(value, kinds):
        return False
    if isinstance(value, str):
        return is_writable(value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return True
    # NaN is between no two numbers.
    return least <= value <= largest


def text_of(value: object) -> str:
    """Return a text that JSON held; raise `ValueError` when it is none, or cannot be written."""
    if not isinstance(value, str) or not is_writable(value):
        raise ValueError("a text is invalid")
    return value


def is_writable(text: str) -> bool:
    """Return whether a text has no half of a character, which JSON can spell."""
    return text.isascii() or not HALVES.search(text)


def count_of(number: int, what: str) -> str:
    """Return a number of things in words; `what` is one of them, and takes an s."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def time_of(seconds: float) -> str:
    """Return a time in words, rounded up: “40 seconds”, “3 minutes”, “2.5 hours”."""
    if seconds < 55:
        return count_of(max(10 * math.ceil(seconds / 10), 10), "second")
    if seconds < 3570:
        return count_of(math.ceil(seconds / 60), "minute")
    hours = math.ceil(10 * seconds / 3600) / 10
    return f"{hours:g} hour{'' if hours == 1 else 's'}"


def one_line(text: str, longest: int = 60) -> str:
    """Return the text in one line and not too long to stand in a sentence.

    Halves of characters, which nothing can show, become question marks; it turns no direction.
    """
    line = " ".join(TURNS.sub("", text).split()).encode(errors="replace").decode()
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def isolate(text: str) -> str:
    """Return a text that turns nothing beside it round, such as a number, if it is Arabic."""
    turns = any(bidirectional(sign) in RIGHT_TO_LEFT for sign in text)
    return f"\u2068{text}\u2069" if turns else text


def quotes(names: Sequence[str]) -> str:
    """Return names, at least one, as a sentence lists them: in quotation marks, in one line."""
    return list_of([f"“{one_line(name)}”" for name in names])


def list_of(texts: Sequence[str], word: str = "and", most: int = 5) -> str:
    """Return texts, at least one, as a sentence lists them: the first few, and how many more."""
    more = [f"{len(texts) - most:,} more"] if len(texts) > most else []
    *others, last = [*texts[:most], *more]
    return f"{', '.join(others)} {word} {last}" if others else last
