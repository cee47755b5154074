"""Which labelled rows these are: numbers by which they are known again in another file.

A question counts as the same however its capitals, accents, spaces and marks are typed, and with
“Question:” or a number in front.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pandas import factorize
from pandas.util import hash_array
from pyarrow import compute

from core.data.tabular.columns import ColumnKind, column_of, objects, replace
from core.data.tabular.headings import NO_QUESTION
from core.data.tabular.uploads import Upload

if TYPE_CHECKING:
    from core.data.tabular.labelled_rows import LabelledRows

#: A question with more text before or behind it: its last and its first sentence.
SENTENCES: Final = (r"(?s)^.*[.:!?]\s+", r"(?s)[.!?]\s.*$")
LONG_TEXT: Final = 12  # characters by which an answer is known in another file
DECIMALS: Final = 3  # a score that has more is known by them


def fingerprints(data: LabelledRows, score: str) -> NDArray[np.uint64]:
    """Return the number of every row, made of its question and, in its last bit, its label.

    A row without a question is known by its cells, whichever of them are read as scores.
    """
    return data.row_numbers | data.correct[score].astype(np.uint64)


def of_rows(data: LabelledRows) -> NDArray[np.uint64]:
    """Return the number of every row, (n,), with 0 for a label; `data.row_numbers` keeps them."""
    codes, distinct = factorize(data.queries)
    rows = of_questions(distinct)[codes]
    if data.cells is not None:
        without = names_no_question(data)
        rows[without] = data.cells[data.kept[without]]
    return rows


def names_no_question(data: LabelledRows) -> NDArray[np.bool_]:
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


def contents(data: LabelledRows) -> tuple[NDArray[np.uint64], list[NDArray[np.uint64]]]:
    """Return numbers by which rows are known again when another column names their questions.

    See `of_contents`. Of a table also its rows by their cells, whichever are scores or questions.
    """
    cells, orders = of_contents(data.doubts, data.correct, data.queries, data.answers)
    if data.whole is not None:
        right = next(iter(data.correct.values()))
        cells = np.r_[cells, data.whole[data.kept] | right.astype(np.uint64)]
    return cells, orders


def sentences(queries: NDArray[np.object_]) -> tuple[NDArray[np.object_], ...]:
    """Return the last and the first sentence of every question, (n,) each.

    One of them is the question where an instruction stands before or behind it.
    """
    whole = pa.array(queries, pa.large_string())
    return tuple(objects(compute.replace_substring_regex(whole, rest, "")) for rest in SENTENCES)


def of_contents(
    scores: Mapping[str, NDArray[np.float64]],
    correct: Mapping[str, NDArray[np.bool_]],
    questions: NDArray[np.object_],
    answers: NDArray[np.object_] | None = None,
) -> tuple[NDArray[np.uint64], list[NDArray[np.uint64]]]:
    """Return the numbers of telling cells with their labels, and those of the order by each score.

    A cell tells a row where no other row has it and it is long: a score of many decimals, an
    answer, an answer with its score, the first or last sentence of a question. Short scores do so
    together.

    `scores`: in either direction.
    """
    cells = [np.zeros(0, np.uint64)]
    first = next(iter(correct.values()))
    columns = [*sentences(questions), *([] if answers is None else [answers])]
    codes, distinct = factorize(np.concatenate(columns))  # what is one sentence is hashed once
    is_long = np.array([len(text) >= LONG_TEXT for text in distinct], bool)
    which, numbers = is_long | (answers is not None), np.zeros(len(distinct), np.uint64)
    numbers[which] = of_questions(distinct[which])
    for of in np.split(codes, len(columns)):
        texts = numbers[of]
        cells.append(_once(texts[is_long[of]], first[is_long[of]]))
    for name, score in scores.items():
        sizes, right = np.abs(score), correct[name]
        hashed = hash_array(sizes) & ~np.uint64(1)
        with np.errstate(over="ignore"):
            of_many = np.isfinite(sizes) & (sizes != np.round(sizes, DECIMALS))
        telling = _once(hashed[of_many], right[of_many])
        if 2 * len(telling) >= len(score):  # else it takes few values, such as entropies of counts
            cells.append(telling)
        if answers is not None:
            cells.append(_once(hash_array(hashed + texts) & ~np.uint64(1), right))
    ways = [(way, correct[name]) for name, of in scores.items() for way in (of, -of)]
    # Labels of one kind are in one order, whatever they are of.
    orders = [_steps(way, right) for way, right in ways if len(np.unique(right)) > 1]
    return np.concatenate(cells), orders


def _steps(score: NDArray[np.float64], right: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return the numbers of an order: what share of the rows, and of right ones, each value ends.

    A score that is rescaled or repeated has the same, a rounded one some of them.
    """
    order = np.argsort(score)[: np.count_nonzero(~np.isnan(score))]
    ordered = score[order]
    until = 1 + np.flatnonzero(np.r_[ordered[1:] != ordered[:-1], True][: len(order)])
    answers = np.cumsum(right[order])[until - 1]
    return hash_array(3 * hash_array(until / len(order)) + hash_array(answers / len(order)))


def _once(numbers: NDArray[np.uint64], right: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return the numbers that come once, each with its label in its last bit, which was 0."""
    ordered = np.sort(numbers | right.astype(np.uint64))
    differs = np.ones(len(numbers) + 1, bool)
    differs[1:-1] = ordered[1:] >> 1 != ordered[:-1] >> 1
    return ordered[differs[1:] & differs[:-1]]


def of_questions(texts: NDArray[np.object_]) -> NDArray[np.uint64]:
    """Return the number of every question, (n,); its last bit is 0, for a label."""
    whole = pa.array(texts, pa.large_string())
    plain = compute.utf8_normalize(compute.utf8_lower(whole), "NFKD")
    plain = replace(plain, r"[\pM]+", "")
    plain = replace(plain, NO_QUESTION, "")
    plain = replace(plain, r"[^\pL\pN]+", " ")
    plain = compute.utf8_trim_whitespace(plain)
    distinct = compute.if_else(compute.equal(plain, ""), whole, plain).dictionary_encode()
    numbers = [_number(text.encode()) for text in distinct.dictionary.to_pylist()]
    return np.array(numbers, np.uint64)[distinct.indices.to_numpy()]


def draws(data: LabelledRows) -> NDArray[np.uint64]:
    """Return a number of every row to draw by, as good as random whatever order they stand in.

    It is made of what makes a look at them: question, labels and, to tell rows apart that agree in
    these, their place among them by the scores. No new order of rows or columns, nor a spelling,
    draws anew.
    """
    content, names = data.row_numbers.copy(), sorted(data.doubts)
    for right in {id(data.correct[name]): data.correct[name] for name in names}.values():
        content = hash_array(content + right.astype(np.uint64))
    order = np.lexsort((*(data.doubts[name] for name in names), content))
    alike = content[order]
    place = np.arange(len(order), dtype=np.uint64)
    begins = np.where(np.r_[True, alike[1:] != alike[:-1]], place, np.uint64(0))
    content[order] += hash_array(place - np.maximum.accumulate(begins))
    return hash_array(content)


def same_answers(data: LabelledRows) -> NDArray[np.int64]:
    """Return which answer each row labels, (n,): one of one question, text and scores.

    Where nothing says what was answered, each row has another.
    """
    if data.answers is None:
        return np.arange(len(data.kept))
    content = data.questions.astype(np.uint64)
    for cells in (*data.doubts.values(), data.answers):
        content = hash_array(content + hash_array(cells, categorize=False))
    unknown = data.answers == ""
    content[unknown] = hash_array(np.flatnonzero(unknown))
    return np.unique(content, return_inverse=True)[1]


def _number(content: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little") & ~1
