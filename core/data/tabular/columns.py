"""Cells and columns of an upload: what a text says, and what a column looks like.

Cells are read once per distinct text, so that many rows cost little. The text is hostile: every
pattern here takes time in proportion to what it is given, and none is given a long cell.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.data.tabular.rows import as_text
from core.data.tabular.uploads import Upload

LONGEST_NUMBER = 64  # characters: a longer text is no number
LONGEST_LIST = 100_000  # characters: a longer text is no list
LONGEST_HEADING = 200  # characters that are compared

# Only words that mean one thing in every language they occur in: of others, such as "x" or "w",
# the person is asked what they mean.
_RIGHT = frozenset({"1", "1.0", "true", "t", "yes", "y", "c", "correct", "right"}) | {
    *("ja", "wahr", "richtig", "oui", "vrai", "sí", "sì", "si", "verdadero", "vero"),
    *("✓", "✔", "✅"),
}
_WRONG = frozenset({"0", "0.0", "false", "f", "no", "n", "i", "incorrect", "wrong"}) | {
    *("nein", "falsch", "non", "faux", "falso"),
    *("✗", "✘", "❌"),
}
_MISSING = frozenset({"", "nan", "none", "null", "na", "n/a", "-"})
# No two repeats that follow each other may match the same characters: where such a pattern
# fails, it tries every way to divide them, which takes the square of the text's length.
_NUMBER = re.compile(
    r"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?)", re.ASCII | re.IGNORECASE
)
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:e[+-]?\d+)?", re.ASCII)
#: 3,425 is three thousand to one person and three and a bit to another. "0,425" is not: nobody
#: begins a group with 0.
_TWO_WAYS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
#: Digits that are surely in groups: 1,234.5 and 1,234,567, or 1.234,5 and 1.234.567.
_GROUPED = re.compile(
    r"[+-]?\d{1,3}(?:(?:,\d{3})+\.\d*|(?:,\d{3}){2,}|(?:\.\d{3})+,\d*|(?:\.\d{3}){2,})", re.ASCII
)
#: Lists of texts as Python and NumPy print them, which pandas writes into CSV.
_QUOTED = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_PRINTED_LIST = re.compile(rf"\[\s*{_QUOTED}(?:(?:\s*,\s*|\s+){_QUOTED})*(?:\s*,)?\s*\]", re.DOTALL)


# Headings are compared without case, white space, _ and -. The first that is found is taken.
QUERIES = ("question", "query", "prompt", "q", "input")
# A group first: "source" is often there as well, and says less.
SOURCES = ("group", "band", "source", "dataset", "category", "relation", "topic", "subject")
RIGHT_ANSWERS = (
    *("goldenanswers", "goldanswers", "goldenanswer", "goldanswer", "goldaliases", "gold"),
    *("aliases", "references", "reference", "answers"),
)


class Kind(StrEnum):
    """What the cells of a column look like."""

    NUMBER = "number"
    LABEL = "right or wrong"
    TEXT = "text"
    LIST = "list"
    EMPTY = "empty"


HOLDS = {
    Kind.NUMBER: "its cells are numbers",
    Kind.LABEL: "its cells say right or wrong",
    Kind.TEXT: "its cells are text",
    Kind.LIST: "its cells are lists",
    Kind.EMPTY: "its cells are empty",
}


# ------------------------------------------------------------------------------- cells


def word_of(text: str) -> str:
    """Return a cell as words are compared: without case, and without white space around it."""
    return text.strip().casefold()


def is_missing(text: str) -> bool:
    """Return whether a cell says that there is no value."""
    return word_of(text) in _MISSING


def parse_correctness(text: str) -> bool | None:
    """Return whether a cell says right or wrong; None if it says neither."""
    word = word_of(text).removesuffix("\ufe0f")  # asks for a colourful tick
    return True if word in _RIGHT else False if word in _WRONG else None


def parse_score(text: str) -> float | None:
    """Return the number in a cell; NaN if it is missing, None if it is none.

    A single comma is a decimal one: "0,5" is 0.5. Whether that can be so, only the other cells
    of its column tell: `Column.numbers` asks them.
    """
    if is_missing(text):
        return math.nan
    word = _plain_number(text)
    if _DECIMAL_COMMA.fullmatch(word):
        word = word.replace(",", ".")
    # float() alone takes "1_000", and the digits of every script.
    return float(word) if _NUMBER.fullmatch(word) else None


def _plain_number(text: str) -> str:
    """Return a cell as numbers are compared; "" if it is too long to be one."""
    text = text.strip()
    return "" if len(text) > LONGEST_NUMBER else text.casefold().replace("−", "-")


def _is_grouped(text: str) -> bool:
    return _GROUPED.fullmatch(_plain_number(text)) is not None


def _has_decimal_dot(text: str) -> bool:
    return "." in text and _NUMBER.fullmatch(_plain_number(text)) is not None


def parse_list(text: str) -> list[str] | None:
    """Return the texts of a list in JSON, or as Python and NumPy print it; None if it is none."""
    text = text.strip()
    if not text.startswith("[") or len(text) > LONGEST_LIST:
        return None
    try:
        items = [as_text(item) for item in json.loads(text)]
        "".join(items).encode()  # an escape can stand for half a character
    except (ValueError, RecursionError):
        if not _PRINTED_LIST.fullmatch(text):
            return None
        quoted = re.findall(_QUOTED, text, re.DOTALL)
        return [re.sub(r"""\\(['"\\])""", r"\1", item[1:-1]) for item in quoted]
    return items


# ----------------------------------------------------------------------------- columns


@dataclass(frozen=True)
class Column:
    """A column by its distinct cells: `texts[codes]` is the column.

    Attributes
    ----------
    codes : ndarray of shape (rows,)
    texts : list of str
    """

    codes: NDArray[np.int64]
    texts: list[str]

    def __getitem__(self, rows: NDArray[np.int64]) -> NDArray[np.object_]:
        texts = np.empty(len(self.texts), object)
        texts[:] = self.texts
        return texts[self.codes[rows]]

    def where(self, test: Callable[[str], bool]) -> NDArray[np.bool_]:
        """Return in which rows a test of the cell holds."""
        return np.array([test(text) for text in self.texts], bool)[self.codes]

    def correctness(self, meant: Mapping[str, bool | None] | None = None) -> NDArray[np.float64]:
        """Return 1 for right and 0 for wrong; NaN where a cell says neither.

        Parameters
        ----------
        meant : mapping of str to bool or None, optional
            What a person says that words mean, as `word_of` gives them: right, wrong, neither.
        """
        meant = meant or {}
        said = [meant.get(word_of(text), parse_correctness(text)) for text in self.texts]
        return np.array([math.nan if s is None else float(s) for s in said])[self.codes]

    def doubtful_number(self) -> str | None:
        """Return a cell whose comma or dots can be read in two ways; None if there is none.

        One cell does not tell whether its comma parts thousands or decimals; the column may. A
        single comma is a decimal one where some cell could not be meant otherwise ("0,5",
        "12,25") and none has a dot.
        """
        marked = [text for text in self.texts if "," in text or text.count(".") > 1]
        if not marked:
            return None
        read = {text: _plain_number(text) for text in marked}
        for text, number in read.items():
            if _GROUPED.fullmatch(number):
                return text
        commas = [text for text, number in read.items() if _DECIMAL_COMMA.fullmatch(number)]
        either = [text for text in commas if _TWO_WAYS.fullmatch(read[text])]
        if len(either) < len(commas) and not any(map(_has_decimal_dot, self.texts)):
            return None
        return next(iter([*either, *commas]), None)

    def parsed(self) -> list[float | None]:
        """Return the number in each distinct cell; NaN if it is missing, None if it is none.

        Where the column does not say what a comma means, a cell with one is none.
        """
        plain = self.doubtful_number() is None
        return [parse_score(text) if plain or "," not in text else None for text in self.texts]

    def numbers(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return numbers, NaN for none, and in which rows a cell is neither one nor missing."""
        read = self.parsed()
        values = np.array([math.nan if r is None else r for r in read])
        return values[self.codes], np.array([r is None for r in read], bool)[self.codes]

    def kind(self) -> Kind:
        """Return what the cells look like, leaving missing ones aside."""
        told = [text for text in self.texts if not is_missing(text)]
        if not told:
            return Kind.EMPTY
        if all(parse_correctness(text) is not None for text in told):
            return Kind.LABEL
        if all(parse_score(text) is not None or _is_grouped(text) for text in told):
            return Kind.NUMBER
        if all(parse_list(text) is not None for text in told):
            return Kind.LIST
        return Kind.TEXT


def column_of(upload: Upload, name: str) -> Column:
    """Return a column by its distinct cells."""
    codes, texts = pd.factorize(upload.table[name])
    return Column(np.asarray(codes, np.int64), texts.to_numpy(object).tolist())


def kinds(upload: Upload) -> dict[str, Kind]:
    """Return what the cells of every column look like, leaving missing ones aside.

    A column of 0 and 1 is right or wrong before it is a number.
    """
    return {name: column_of(upload, name).kind() for name in upload.table.columns}


def plain_heading(heading: str) -> str:
    """Return a heading as headings are compared."""
    return re.sub(r"[\s_-]", "", heading[:LONGEST_HEADING].casefold())


def named(upload: Upload, names: Sequence[str]) -> list[str]:
    """Return the columns with these names, in the order of the names."""
    columns: dict[str, str] = {}
    for column in upload.table.columns:
        columns.setdefault(plain_heading(column), column)
    return [columns[name] for name in names if name in columns]


def first(upload: Upload, names: Sequence[str]) -> str | None:
    """Return the column with the first of these names that there is."""
    return next(iter(named(upload, names)), None)
