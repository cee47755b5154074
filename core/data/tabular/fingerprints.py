"""Which labelled rows these are: numbers by which they are known again in another file.

A question counts as the same however its capitals, accents, spaces and marks are typed, and with
“Question:” or a number in front.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pandas import factorize
from pandas.util import hash_array
from pyarrow import compute

from core.data.tabular.columns import ColumnKind, column_of, objects
from core.data.tabular.headings import NO_QUESTION
from core.data.tabular.uploads import Upload

if TYPE_CHECKING:
    from core.data.tabular.labelled import Labelled


def fingerprints(data: Labelled, score: str) -> NDArray[np.uint64]:
    """Return the number of every row, made of its question and, in its last bit, its label.

    A row without a question is known by its cells, whichever of them are read as scores.
    """
    return _of_rows(data) | data.correct[score].astype(np.uint64)


def _of_rows(data: Labelled) -> NDArray[np.uint64]:
    codes, distinct = factorize(data.queries)
    rows = of_questions(distinct)[codes]
    if data.cells is not None:
        without = names_no_question(data)
        rows[without] = data.cells[data.kept[without]]
    return rows


def names_no_question(data: Labelled) -> NDArray[np.bool_]:
    """Return of each row whether nothing but its number tells its question, (n,)."""
    return data.queries == np.array([str(row + 1) for row in data.kept], object)


def of_cells(upload: Upload) -> NDArray[np.uint64]:
    """Return the number of every row of a table by its cells in any order, labels left aside.

    Its last bit is 0, for a label.
    """
    total = np.zeros(len(upload.table), np.uint64)
    for column in (column_of(upload, name) for name in upload.headings):
        if column.kind is not ColumnKind.LABEL:
            texts = objects(compute.utf8_trim_whitespace(column.distinct))
            total += hash_array(texts, categorize=False)[column.codes]  # and no more than 2⁶⁴
    return hash_array(total) & ~np.uint64(1)


def of_questions(texts: NDArray[np.object_]) -> NDArray[np.uint64]:
    """Return the number of every question, (n,); its last bit is 0, for a label."""
    whole = pa.array(texts, pa.large_string())
    plain = compute.utf8_normalize(compute.utf8_lower(whole), "NFKD")
    part = "[^a-z0-9]+"  # RE2 takes milliseconds to read the classes of Unicode
    if not compute.all(compute.string_is_ascii(plain)).as_py():
        plain, part = compute.replace_substring_regex(plain, r"\p{M}+", ""), r"[^\p{L}\p{N}]+"
    plain = compute.replace_substring_regex(plain, NO_QUESTION, "")
    plain = compute.replace_substring_regex(plain, part, " ")
    plain = compute.utf8_trim_whitespace(plain)
    distinct = compute.if_else(compute.equal(plain, ""), whole, plain).dictionary_encode()
    numbers = [_number(text.encode()) for text in distinct.dictionary.to_pylist()]
    return np.array(numbers, np.uint64)[distinct.indices.to_numpy()]


def draws(data: Labelled) -> NDArray[np.uint64]:
    """Return a number of every row to draw by, as good as random whatever order they stand in.

    It is made of what makes a look at them: question, labels and, to tell rows apart that agree in
    these, their place among them by the first score. No new order or spelling draws anew.
    """
    content = _of_rows(data)
    for right in {id(each): each for each in data.correct.values()}.values():
        content = hash_array(content + right.astype(np.uint64))
    order = np.lexsort((next(iter(data.doubts.values())), content))
    alike = content[order]
    place = np.arange(len(order), dtype=np.uint64)
    begins = np.where(np.r_[True, alike[1:] != alike[:-1]], place, np.uint64(0))
    content[order] += hash_array(place - np.maximum.accumulate(begins))
    return hash_array(content)


def _number(content: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little") & ~1
