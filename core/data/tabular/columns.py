"""Cells and columns of an upload: what a text says, and what a column looks like.

Cells are read once per distinct text, so that many rows cost little. The text is hostile: every
pattern here takes time in proportion to what it is given, and none is given a long cell.
"""

import heapq
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag, StrEnum
from functools import cached_property, lru_cache

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from core.data.tabular.headings import (
    ITEM,
    NO_QUESTION,
    QUERIES,
    is_question_heading,
    plain_heading,
)
from core.data.tabular.label_words import RIGHT, WRONG
from core.data.tabular.rows import as_text
from core.data.tabular.uploads import Upload
from core.data.thoughts import answer_in
from core.uncertainty.no_answer import is_no_answer

LONGEST_NUMBER = 64  # characters: a longer text is no number
LONGEST_LIST = 100_000  # characters: a longer text is no list
_LONGEST_SERIES = 1_000  # characters: a longer cell is not looked at for several numbers
_MOST_WRAPS = 3  # [tensor([1])]
MOST_VALUES = 12  # of labels that say neither right nor wrong: a person is asked about each

_MISSING = frozenset({"", "nan", "none", "null", "na", "n/a", "-"})
# No two repeats that follow each other may match the same characters: where such a pattern
# fails, it tries every way to divide them, which takes the square of the text's length.
_NUMBER = re.compile(
    r"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?)", re.ASCII | re.IGNORECASE
)
#: Of these, what Arrow looks for: `float` reads it as it stands.
_PLAIN_NUMBER = r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
#: What a cell in ASCII looks like that may say anything but a text: a word for a label or for what
#: is missing, a number of any kind, a list. White space as `str.strip` knows it.
_SPACE = r"[ \t-\r\x1c-\x1f]*"
_SAYS_SOMETHING = (
    rf"(?i)^{_SPACE}(?:\[|[+-]?[0-9.,']+(?:e[+-]?[0-9]+)?{_SPACE}%?{_SPACE}$|tensor|array\(|np\.|[+-]?inf(?:inity)?{_SPACE}$|(?:"
    + "|".join(re.escape(word) for word in sorted(RIGHT | WRONG | _MISSING) if word.isascii())
    + rf"){_SPACE}$)"
)
#: Thousands parted by what cannot part decimals.
_APOSTROPHES = re.compile("[+-]?[0-9]{1,3}(?:['’\u202f\xa0][0-9]{3})+(?:[.,][0-9]*)?")
#: A value as PyTorch and NumPy print it.
_PRINTED_VALUE = re.compile(
    r"(?:tensor|array|np\.(?:float|int|bool|str)_?(?:8|16|32|64)?)"
    r"\(([^(),]{1,40})(?:, ?[a-z_]{1,20}=[^(),]{1,20}){0,3}\)"
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


#: What parts several numbers of one cell; in brackets, white space does, too.
_BETWEEN = re.compile(r"[;|]|,(?=\s|[+-]?\d?\.)")
_BETWEEN_IN_BRACKETS = re.compile(r"[;|,\s]")


class ColumnKind(StrEnum):
    """What the cells of a column look like."""

    NUMBER = "number"
    LABEL = "right or wrong"
    TEXT = "text"
    LIST = "list"
    EMPTY = "empty"


HOLDS = {
    ColumnKind.NUMBER: "its cells are numbers",
    ColumnKind.LABEL: "its cells say right or wrong",
    ColumnKind.TEXT: "its cells are text",
    ColumnKind.LIST: "its cells are lists",
    ColumnKind.EMPTY: "its cells are empty",
}


def word_of(text: str) -> str:
    """Return a cell as words are compared: without case, and without what only wraps it.

    White space, and what programs print around one value: tensor(1), np.True_, ['1'].
    """
    word = text.strip().casefold()
    if word[-1:] in ("]", ")", "_") and len(word) <= LONGEST_NUMBER:
        for _ in range(_MOST_WRAPS):
            word = _contents(word)
    return word


def _contents(word: str) -> str:
    """Return what one list or tensor holds; the word itself where it wraps not just one value."""
    if value := _PRINTED_VALUE.fullmatch(word):
        return value[1].strip()
    if word in ("np.true_", "np.false_"):
        return word[len("np.") : -1]
    inner = word[1:-1].strip() if word[:1] == "[" and word[-1:] == "]" else ""
    if len(inner) > 2 and inner[0] == inner[-1] and inner[0] in "'\"":
        inner = inner[1:-1].strip()
    return word if not inner or any(sign in inner for sign in ",'\"") else inner


def is_missing(text: str) -> bool:
    """Return whether a cell says that there is no value."""
    return text.strip().casefold() in _MISSING


def parse_correctness(text: str) -> bool | None:
    """Return whether a word judges or affirms (True), or denies (False); None if it does neither.

    What "yes" affirms, its heading says: `core.data.tabular.label_meanings.meanings_of`.
    """
    word = word_of(text).removesuffix("\ufe0f")  # asks for a colourful tick
    return True if word in RIGHT else False if word in WRONG else None


def parse_score(text: str) -> float | None:
    """Return the number in a cell; NaN if it is missing, None if it is none.

    A single comma is a decimal one: "0,5" is 0.5. Whether that can be so, only the other cells
    of its column tell: `Column.numbers` asks them.
    """
    if is_missing(text):
        return math.nan
    word = _plain_number(text)
    if word == "nan":  # tensor(nan)
        return math.nan
    shares = word.endswith("%")
    if shares:
        word = word[:-1].rstrip()
    if _DECIMAL_COMMA.fullmatch(word):
        word = word.replace(",", ".")
    # float() alone takes "1_000", and the digits of every script.
    number = float(word) if _NUMBER.fullmatch(word) else None
    return number / 100 if shares and number is not None else number


def _plain_number(text: str) -> str:
    """Return a cell as numbers are compared; "" if it is too long to be one.

    What stands around a number in other programs' cells goes: 1'234.5, tensor(0.9), ['0.9'].
    """
    if len(text.strip()) > LONGEST_NUMBER:
        return ""
    word = word_of(text).replace("−", "-")
    grouped = _APOSTROPHES.fullmatch(word)
    return re.sub("['’\u202f\xa0]", "", grouped[0]) if grouped else word


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


def has_several_numbers(text: str) -> bool:
    """Return whether a cell holds more than one number: “0.9;0.8”, “[0.9, 0.8]”."""
    text = text.strip()
    if len(text) > _LONGEST_SERIES:
        return False
    is_list = text[:1] in ("[", "(") and text[-1:] in ("]", ")")
    parts = (_BETWEEN_IN_BRACKETS if is_list else _BETWEEN).split(text.strip("[]()"))
    numbers = [parse_score(part.strip("'\" ")) for part in parts if part.strip()]
    return len(numbers) > 1 and not any(each is None or math.isnan(each) for each in numbers)


class Cell(IntFlag):
    """What a cell says."""

    MISSING = 1  # that there is no value
    BLANK = 2  # nothing but white space
    ODD = 4  # neither a number nor that there is none
    LIST = 8
    RIGHT = 16
    WRONG = 32


# As plain numbers: an operation on the others takes longer than to read a cell.
_SAYS_RIGHT, _SAYS_WRONG, _LABEL = int(Cell.RIGHT), int(Cell.WRONG), int(Cell.RIGHT | Cell.WRONG)
_MISSING_CELL, _BLANK_CELL = int(Cell.MISSING), int(Cell.MISSING | Cell.BLANK)
_ODD, _LIST = int(Cell.ODD), int(Cell.LIST)


@dataclass(frozen=True)
class Column:
    """A column by its distinct cells, and what they say: `distinct[codes]` is the column.

    It is found once a file (`column_from`), in the process that reads it.
    """

    codes: NDArray[np.int32]  # (rows,)
    distinct: pa.LargeStringArray  # (d,): in the order in which the file has them
    # (d,): the number in each, NaN where it is none. Where the column does not say what a comma
    # means, a cell with one is none.
    values: NDArray[np.float64]
    cells: NDArray[np.uint8]  # (d,): what each says, as `Cell`
    kind: ColumnKind  # what they look like, leaving missing ones aside
    doubtful: int | None  # the first cell whose comma or dots can be read in two ways
    # Of the words (`word_of`) that say neither right nor wrong, the `MOST_VALUES` most frequent:
    # the first cell with it, and in how many rows it stands.
    unread: tuple[tuple[int, int], ...]
    # How many such words there are; where no cell says right or wrong, any number above
    # `MOST_VALUES` for more.
    unread_words: int
    # (d,): which question each asks; None where the column seems to ask nothing.
    ranks: NDArray[np.int32] | None = None

    def __getitem__(self, rows: NDArray[np.int64]) -> NDArray[np.object_]:
        codes = self.codes[rows]
        if len(codes) < len(self.distinct):
            return objects(self.distinct.take(pa.array(codes)))
        return objects(self.distinct)[codes]  # one text for all rows that have it

    @property
    def texts(self) -> list[str]:
        """The distinct cells, made anew each time: they are large."""
        texts: list[str] = self.distinct.to_pylist()
        return texts

    def text(self, code: int) -> str:
        """Return one of the distinct cells."""
        return str(self.distinct[code].as_py())

    def where(self, what: Cell) -> NDArray[np.bool_]:
        """Return in which rows a cell says any of this."""
        return self.has(what)[self.codes]

    def has(self, what: Cell) -> NDArray[np.bool_]:
        """Return which of the distinct cells say any of this."""
        return (self.cells & int(what)) > 0

    def of_word(self, word: str) -> NDArray[np.bool_]:
        """Return in which rows a cell is a word, as `word_of` gives it."""
        return np.array([word_of(text) == word for text in self.texts], bool)[self.codes]

    @cached_property
    def silent(self) -> NDArray[np.bool_]:
        """In which rows there is no answer: nothing, a refusal or an error."""
        answers = map(answer_in, self.texts)
        return np.array([is_no_answer(a) or not a.strip() for a in answers], bool)[self.codes]

    def correctness(self, meant: Mapping[str, bool | None] | None = None) -> NDArray[np.float64]:
        """Return 1 for right and 0 for wrong; NaN where a cell says neither.

        `meant`: what a person says that words mean, as `word_of` gives them: right, wrong, neither.
        """
        right = np.where(self.has(Cell.RIGHT), 1.0, np.where(self.has(Cell.WRONG), 0.0, math.nan))
        if meant:
            for code, text in enumerate(self.texts):
                if (word := word_of(text)) in meant:
                    says = meant[word]
                    right[code] = math.nan if says is None else says
        return right[self.codes]

    def doubtful_number(self) -> str | None:
        """Return a cell whose comma or dots can be read in two ways; None if there is none."""
        return None if self.doubtful is None else self.text(self.doubtful)

    def numbers(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return numbers, NaN for none, and in which rows a cell is neither one nor missing."""
        return self.values[self.codes], self.where(Cell.ODD)

    def questions(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what `question_numbers` returns of the cells in some rows."""
        ranks = _question_ranks(self.distinct) if self.ranks is None else self.ranks
        return np.unique(ranks[self.codes[rows]], return_inverse=True)[1]


def question_numbers(texts: pa.Array | NDArray[np.object_]) -> NDArray[np.int64]:
    """Return which question each row asks, as a number: rows of one question have the same.

    This alone says what one question is: the same words, whatever their case, spaces and marks
    are. Signs of arithmetic stay where there are digits: 3 - 2 is not 3 / 2. Numbers count from 0
    in the order of texts.
    """
    encoded = pa.array(texts, pa.large_string()).dictionary_encode()
    return _question_ranks(encoded.dictionary)[encoded.indices.to_numpy()].astype(np.int64)


def _question_ranks(distinct: pa.LargeStringArray) -> NDArray[np.int32]:
    """Return the place of each text's question among all, by the first of its texts."""
    ranks = _ranks(distinct)
    keys = question_keys(distinct).dictionary_encode()
    if len(keys.dictionary) == len(distinct):
        return ranks
    codes = keys.indices.to_numpy()
    least = np.full(len(keys.dictionary), len(distinct), np.int32)
    np.minimum.at(least, codes, ranks)
    return np.unique(least[codes], return_inverse=True)[1].astype(np.int32)


# What capitals write otherwise; marks that Arabic and Hebrew mostly lack; what nobody sees.
_NO_LETTER = (
    "[\u0591-\u05bd\u05c1\u05c2\u0640\u064b-\u065f"
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f]"
)
_ONE_LETTER = {"ß": "ss", "ς": "σ", "ı": "i", _NO_LETTER: ""}


def question_keys(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return texts without what makes no other question; one of marks alone stays as it is."""
    seen = compute.replace_substring_regex(texts, r"\p{Cf}+", "")  # a soft hyphen
    lower = compute.utf8_lower(compute.utf8_normalize(seen, "NFKC"))
    if not compute.all(compute.string_is_ascii(lower)).as_py():
        for letter, other in _ONE_LETTER.items():
            lower = compute.replace_substring_regex(lower, letter, other)
    unmarked = compute.replace_substring_regex(lower, NO_QUESTION, " ")
    is_mark = compute.equal(compute.utf8_trim_whitespace(unmarked), "")
    lower = compute.if_else(is_mark, lower, unmarked)
    joined = compute.replace_substring_regex(lower, "['’`]", "")
    words = replace(joined, r"[^\pL\pN\pM\pS#&@]+", " ")
    sums = replace(joined, r"[^\pL\pN\pM\pS#&@*/%.,\-]+", " ")
    sums = compute.replace_substring_regex(sums, r"[.,]+( |$)", r"\1")
    with_digits = compute.match_substring_regex(joined, r"\pN")
    keys = compute.utf8_trim_whitespace(compute.if_else(with_digits, sums, words))
    return compute.if_else(compute.equal(keys, ""), texts, keys)


# What ASCII has of the classes of Unicode: of marks nothing.
_IN_ASCII = {r"\pL": "a-zA-Z", r"\pN": "0-9", r"\pS": "$+<=>^`|~", r"\pM": "\u0300"}


def replace(texts: pa.Array, pattern: str, other: str) -> pa.LargeStringArray:
    r"""Return texts with another one in place of each part that a pattern fits.

    RE2 takes milliseconds to read a class of Unicode, which ASCII needs none of.

    `pattern`: of RE2; classes of Unicode are in brackets: `[\pL]`.
    """
    if compute.all(compute.string_is_ascii(texts)).as_py():
        for whole, plain in _IN_ASCII.items():
            pattern = pattern.replace(whole, plain)
    return compute.replace_substring_regex(texts, pattern, other)


def text_numbers(texts: pa.Array | NDArray[np.object_]) -> NDArray[np.int64]:
    """Return the place of each text among the distinct ones, in the order of texts.

    Other threads compute meanwhile, which they could not while NumPy sorts texts.
    """
    encoded = pa.array(texts, pa.large_string()).dictionary_encode()
    return _ranks(encoded.dictionary)[encoded.indices.to_numpy()].astype(np.int64)


def _ranks(distinct: pa.LargeStringArray) -> NDArray[np.int32]:
    ranks = np.empty(len(distinct), np.int32)
    ranks[compute.sort_indices(distinct).to_numpy()] = np.arange(len(distinct), dtype=np.int32)
    return ranks


def objects(texts: pa.Array) -> NDArray[np.object_]:
    """Return texts of Arrow as objects of Python."""
    return np.asarray(texts.to_numpy(zero_copy_only=False), object)


def column_from(series: pd.Series, *, asks: bool = False) -> Column:
    """Find the distinct cells of a column, and what they say.

    `asks`: whether it seems to hold questions, which are numbered: to sort texts takes time.
    """
    whole = pa.chunked_array(pa.array(series)).cast(pa.large_string()).combine_chunks()
    encoded = whole.dictionary_encode()
    codes, distinct = encoded.indices.to_numpy(), encoded.dictionary
    texts: list[str] = distinct.to_pylist()
    doubtful = _doubtful(distinct, texts)
    values, cells, is_number = _cells(distinct, texts, doubtful is None)
    kind = _kind(cells, is_number)
    unread, unread_words = open_words_of(texts, codes, cells)
    ranks = _question_ranks(distinct) if asks else None
    return Column(codes, distinct, values, cells, kind, doubtful, unread, unread_words, ranks)


def _cells(
    distinct: pa.LargeStringArray, texts: list[str], plain_commas: bool
) -> tuple[NDArray[np.float64], NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the number in each cell, what it says, and whether it looks like a number.

    Of two million cells, which a file may have, most are numbers without ado or plain text. Arrow
    recognises both in a tenth of the time that Python takes to read them.
    """
    values = np.full(len(texts), math.nan)
    is_number = _matches(distinct, _PLAIN_NUMBER) & (
        compute.utf8_length(distinct).to_numpy() <= LONGEST_NUMBER
    )
    values[is_number] = [float(texts[code]) for code in np.flatnonzero(is_number).tolist()]
    cells = np.where(is_number, 0, int(Cell.ODD)).astype(np.uint8)
    for words, label in ((RIGHT, Cell.RIGHT), (WRONG, Cell.WRONG)):
        says_so = compute.is_in(distinct, pa.array(sorted(words), pa.large_string()))
        cells[_flags(says_so) & is_number] = int(label)
    is_ascii = _flags(compute.string_is_ascii(distinct))
    says_something = (_matches(distinct, _SAYS_SOMETHING) | ~is_ascii) & ~is_number
    for code in np.flatnonzero(says_something).tolist():
        text = texts[code]
        number, right, says = parse_score(text), parse_correctness(text), 0
        is_number[code] = number is not None or bool(_GROUPED.fullmatch(_plain_number(text)))
        if number is not None and (plain_commas or "," not in text):
            values[code] = number
        else:
            says |= _ODD
        if right is not None:
            says |= _SAYS_RIGHT if right else _SAYS_WRONG
        if is_missing(text):
            says |= _MISSING_CELL if text.strip() else _BLANK_CELL
        elif parse_list(text) is not None:
            says |= _LIST
        cells[code] = says
    return values, cells, is_number


def _matches(texts: pa.LargeStringArray, pattern: str) -> NDArray[np.bool_]:
    return _flags(compute.match_substring_regex(texts, pattern))


def _flags(of: pa.BooleanArray) -> NDArray[np.bool_]:
    return np.array(of.to_numpy(zero_copy_only=False), bool)


def _doubtful(distinct: pa.LargeStringArray, texts: list[str]) -> int | None:
    """Return the first cell whose comma or dots can be read in two ways; None if there is none.

    One cell does not tell whether its comma parts thousands or decimals; the column may. A
    single comma is a decimal one where some cell could not be meant otherwise ("0,5",
    "12,25") and none has a dot.
    """
    dots = compute.count_substring(distinct, ".").to_numpy()
    marked = np.flatnonzero(_flags(compute.match_substring(distinct, ",")) | (dots > 1)).tolist()
    if not marked:
        return None
    read = {code: _plain_number(texts[code]) for code in marked}
    for code, number in read.items():
        if _GROUPED.fullmatch(number):
            return code
    commas = [code for code, number in read.items() if _DECIMAL_COMMA.fullmatch(number)]
    either = [code for code in commas if _TWO_WAYS.fullmatch(read[code])]
    if len(either) < len(commas) and not any(
        "." in text and _NUMBER.fullmatch(_plain_number(text)) for text in texts
    ):
        return None
    return next(iter([*either, *commas]), None)


def _kind(cells: NDArray[np.uint8], is_number: NDArray[np.bool_]) -> ColumnKind:
    there = (cells & _MISSING_CELL) == 0
    if not there.any():
        return ColumnKind.EMPTY
    if (cells[there] & _LABEL).all():
        return ColumnKind.LABEL
    if is_number[there].all():
        return ColumnKind.NUMBER
    return ColumnKind.LIST if (cells[there] & _LIST).all() else ColumnKind.TEXT


def open_words_of(
    texts: list[str], codes: NDArray[np.int32], cells: NDArray[np.uint8]
) -> tuple[tuple[tuple[int, int], ...], int]:
    """Return what `Column.unread` and `Column.unread_words` hold, of rows with these codes."""
    counts = np.bincount(codes, minlength=len(texts)).tolist()
    first: dict[str, int] = {}
    rows: dict[str, int] = {}
    is_label = (cells & _LABEL) > 0
    some = is_label.any()
    for code in np.flatnonzero(~is_label).tolist():
        if len(rows) > MOST_VALUES and not some:
            break
        if not counts[code]:
            continue
        word = word_of(texts[code])
        if word in rows:
            rows[word] += counts[code]
        else:
            first[word], rows[word] = code, counts[code]
    most = heapq.nlargest(MOST_VALUES, rows, key=rows.__getitem__)
    return tuple((first[word], rows[word]) for word in most), len(rows)


def column_of(upload: Upload, name: str) -> Column:
    """Return a column by its distinct cells, found once."""
    if name not in upload.columns:
        asks = is_question_heading(name)
        upload.columns[name] = column_from(upload.table[name], asks=asks)
    return upload.columns[name]


def kinds(upload: Upload) -> dict[str, ColumnKind]:
    """Return what the cells of every column look like, leaving missing ones aside.

    A column of 0 and 1 is right or wrong before it is a number.
    """
    return {name: column_of(upload, name).kind for name in upload.table.columns}


def question_column(upload: Upload) -> str | None:
    """Return the column that says which question a row asks; None where no heading does.

    Without questions, an id whose values repeat: the rows of one item are no independent evidence.
    """
    if exact := first(upload, QUERIES):
        return exact
    looks = kinds(upload)
    for name, kind in looks.items():
        if is_question_heading(name) and kind in (ColumnKind.TEXT, ColumnKind.LIST):
            return name
    for name in looks:
        if ITEM.fullmatch(plain_heading(name)):
            column = column_of(upload, name)
            if 1 < len(column.distinct) < np.count_nonzero(~column.where(Cell.MISSING)):
                return name
    return None


def columns_named(upload: Upload, names: Sequence[str]) -> list[str]:
    """Return the columns with these names, in the order of the names."""
    columns = _by_heading(upload.headings)
    return [columns[name] for name in names if name in columns]


@lru_cache(maxsize=8)  # a guess at what 200 columns mean asks for each of them
def _by_heading(headings: tuple[str, ...]) -> dict[str, str]:
    columns: dict[str, str] = {}
    for heading in headings:
        columns.setdefault(plain_heading(heading), heading)
    return columns


def first(upload: Upload, names: Sequence[str]) -> str | None:
    """Return the column with the first of these names that there is."""
    return next(iter(columns_named(upload, names)), None)
