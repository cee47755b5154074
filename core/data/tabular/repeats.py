"""Rows that may ask one question though their texts differ: nothing is taken for granted then."""

from typing import Final

import numpy as np
import pyarrow as pa
from pyarrow import compute

from core.codec import list_of, one_line
from core.data.tabular.columns import (
    Cell,
    ColumnKind,
    column_of,
    kinds,
    question_column,
    question_keys,
)
from core.data.tabular.headings import (
    OWN_ITEM,
    is_question_heading,
    names_an_item,
    plain_heading,
)
from core.data.tabular.uploads import Upload

_MOST_IDS = 5  # columns that are named
#: What may count the trials of one question, as RE2 reads it: numbers, single letters, signs, and
#: whatever stands in brackets.
_COUNTER: Final = r"\[[^\]]{0,40}\]|\([^)]{0,40}\)|<[^>]{0,40}>|\pN+|[^\pL\pM\pN\s]"
_LETTER: Final = r"(^|\s)\pL(\s\pL)*(\s|$)"
#: What may be a prompt in front of a question: all until a sign that ends a clause.
_FRONT: Final = r"(?s)^.*([:!?,;]\s+|\pL{3}\.\s+|[。：？！，；])"  # not “Dr. ”
#: What may be a prompt behind a question: all from the first sign that ends a sentence.
_BEHIND: Final = r"(?s)([!?]|\pL{3}\.)\s.*$"
#: What such prompts may end with: “Answer:”, behind the question.
_CUE: Final = r"\s+\pL+\s*[:：]\s*$"
_LEAST = 5  # questions, each asked several times: fewer may be forms that numbers fill
_MOSTLY = 0.9  # of the texts


def repeats_unknown(upload: Upload) -> str:
    """Say that the file does not tell which question a row asks, and what follows from that."""
    number = f"{len(upload.table):,}"
    question = question_column(upload)
    why = why_open(upload, question) if question else ""
    return (
        f"{why or f'No heading tells which question a row asks.{_ids(upload)}'} The guarantee "
        f"would take {number} rows for {number} different questions, and would not hold if "
        "several ask the same. Say which column names the question, or that every row asks another."
    )


def why_open(upload: Upload, question: str) -> str:
    """Say why different texts of a column may be one question; "" if nothing speaks for it."""
    if item := _repeated_item(upload, question):
        return (
            f"Rows with one “{one_line(item)}” differ in “{one_line(question)}”, so they may ask "
            "one question in other words."
        )
    texts = column_of(upload, question).distinct
    keys = question_keys(texts).dictionary_encode()
    one_each = np.unique(keys.indices.to_numpy(), return_index=True)[1]
    may_be = "each several times, so they may be {} one question; if they are, add a column with an"
    if counted := _repeats(_without_counters(keys.dictionary)):
        return (
            f"Without numbers, single letters, signs and brackets, the texts of "
            f"“{one_line(question)}” are {counted:,} different ones, {may_be.format('trials of')} "
            "id of each question."
        )
    each = texts.take(pa.array(one_each))
    for clauses, rest, place in (
        ("last clauses", _without_fronts(each), "in front of"),
        (
            "first sentences",
            question_keys(compute.replace_substring_regex(each, _BEHIND, "")),
            "behind",
        ),
    ):
        if parted := _repeats(rest):
            return (
                f"The {clauses} of “{one_line(question)}” are {parted:,} different ones, "
                f"{may_be.format(f'several prompts {place}')} id of each question."
            )
    return ""


def _without_counters(keys: pa.Array) -> pa.Array:
    bare = compute.replace_substring_regex(keys, _COUNTER, " ")
    bare = compute.replace_substring_regex(bare, _LETTER, " ")
    return compute.utf8_trim_whitespace(compute.replace_substring_regex(bare, r"\s+", " "))


def _without_fronts(texts: pa.Array) -> pa.Array:
    last = compute.replace_substring_regex(texts, _CUE, "")
    return question_keys(compute.replace_substring_regex(last, _FRONT, ""))


def _repeats(texts: pa.Array) -> int:
    """Return how many texts there are, of which nearly each comes several times.

    0 if they do not, or they are so few that what was taken away seems to make the question.
    """
    counts = compute.value_counts(texts).field("counts").to_numpy()
    several = counts[counts > 1]
    enough = len(counts) >= max(_LEAST, counts.max(initial=0))
    return len(counts) if enough and several.sum() > _MOSTLY * counts.sum() else 0


def _repeated_item(upload: Upload, question: str) -> str | None:
    """Return the id of an item of which several rows ask different questions; None without any.

    They may be one question in other words, or the id may count anew in every part of the file. So
    may the texts under another heading of questions: one of the two is how they are asked.
    """
    questions = column_of(upload, question).questions(np.arange(len(upload.table)))
    for name, kind in kinds(upload).items():
        is_text = kind is ColumnKind.TEXT and is_question_heading(name)
        if name != question and (is_text or OWN_ITEM.fullmatch(plain_heading(name))):
            column = column_of(upload, name)
            there = ~column.where(Cell.MISSING)
            items = column.codes[there].astype(np.int64)
            pairs = np.unique(items * (len(questions) + 1) + questions[there])
            if 1 < len(np.unique(items)) < len(pairs):
                return name
    return None


def _ids(upload: Upload) -> str:
    """Say which columns may name the questions, and how many different values each has."""
    ids = []
    for name in map(str, upload.table.columns):
        if names_an_item(name):
            column = column_of(upload, name)
            number = int(np.count_nonzero(~column.has(Cell.MISSING)))
            ids.append(f"“{one_line(name)}” ({number:,} different)")
    return f" These may: {list_of(ids, most=_MOST_IDS)}." if ids else ""
