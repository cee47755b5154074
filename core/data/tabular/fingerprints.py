"""Which labelled rows these are: numbers by which they are known again in another file.

A question counts as the same however its capitals, accents, spaces and marks are typed.
"""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pandas.util import hash_array
from pyarrow import compute

from core.data.tabular.columns import ColumnKind, column_of, objects
from core.data.tabular.labelled import Labelled


def fingerprints(data: Labelled, score: str) -> NDArray[np.uint64]:
    """Return the number of every row, made of its question and, in its last bit, its label.

    A row without a question is known by its cells, whichever of them are read as scores.
    """
    rows = of_questions(data.queries)
    without = names_no_question(data)
    if without.any():
        rows[without] = _of_cells(data)[without]
    return rows | data.correct[score].astype(np.uint64)


def names_no_question(data: Labelled) -> NDArray[np.bool_]:
    """Return of each row whether nothing but its number tells its question, (n,)."""
    return data.queries == np.array([str(row + 1) for row in data.kept], object)


def _of_cells(data: Labelled) -> NDArray[np.uint64]:
    """Return the number of each row by its cells in any order, labels left aside, (n,)."""
    assert data.upload is not None  # rows that are drawn have questions
    total = np.zeros(len(data.kept), np.uint64)
    for column in (column_of(data.upload, name) for name in data.upload.headings):
        if column.kind is not ColumnKind.LABEL:
            texts = objects(compute.utf8_trim_whitespace(column.distinct))
            total += hash_array(texts, categorize=False)[column.codes[data.kept]]  # and no more than 2⁶⁴
    return hash_array(total) & ~np.uint64(1)


def of_questions(texts: NDArray[np.object_]) -> NDArray[np.uint64]:
    """Return the number of every question, (n,); its last bit is 0, for a label."""
    whole = pa.array(texts, pa.large_string())
    plain = compute.utf8_normalize(compute.utf8_lower(whole), "NFKD")
    plain = compute.replace_substring_regex(plain, r"\p{M}+", "")
    plain = compute.replace_substring_regex(plain, r"[^\p{L}\p{N}]+", " ")
    plain = compute.utf8_trim_whitespace(plain)
    distinct = compute.if_else(compute.equal(plain, ""), whole, plain).dictionary_encode()
    numbers = [_number(text.encode()) for text in distinct.dictionary.to_pylist()]
    return np.array(numbers, np.uint64)[distinct.indices.to_numpy()]


def _number(content: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little") & ~1
