"""Rows that may ask one question though their texts differ: nothing is taken for granted then."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from core.codec import count_of, list_of, one_line
from core.data.tabular.columns import (
    Cell,
    ColumnKind,
    column_of,
    kinds,
    question_column,
    question_keys,
    replace,
)
from core.data.tabular.fingerprints import DECIMALS
from core.data.tabular.headings import OWN_ITEM, is_question_heading, names_an_item, plain_heading
from core.data.tabular.label_words import heading_words
from core.data.tabular.uploads import Upload

#: From Thai on, many scripts have no spaces between words.
_NO_SPACES: Final = "\u0e00"
_LAST: Final = "\U0010ffff"  # character
_MOST_IDS = 5  # columns that are named
#: What may count the trials of one question, as RE2 reads it: numbers, single letters, signs, and
#: whatever stands in brackets.
_COUNTER: Final = r"\[[^\]]{0,40}\]|\([^)]{0,40}\)|<[^>]{0,40}>|[\pN]+|[^\pL\pM\pN\s]"
_LETTER: Final = r"(^|\s)[\pL](\s[\pL])*(\s|$)"
#: What may be a prompt in front of a question: all until a sign that ends a clause.
_FRONT: Final = r"(?s)^.*([:!?,;]\s+|[\pL]{3}\.\s+|[。：？！，；])"  # not “Dr. ”
#: What may be a prompt behind a question: all from the first sign that ends a sentence.
_BEHIND: Final = r"(?s)([!?]|[\pL]{3}\.)\s.*$"
#: What such prompts may end with: “Answer:”, behind the question.
_CUE: Final = r"\s+[\pL]+\s*[:：]\s*$"
#: What says how often a row was asked, or how much it counts.
_WEIGHTS: Final = re.compile(
    r"(sample|row|question|query|importance|survey|ask|asked|times|num|number of)? ?"
    r"(weights?|counts?|freq(uency)?|occurrences|asked|multiplicity|gewicht(ung)?|häufigkeit|poids|"
    r"peso)"
)
#: What several questions are about, or who asked them.
_CLUSTERS: Final = re.compile(
    r"(source |parent )?(doc|document|passage|context|article|paragraph|story|page|url|file|"
    r"conversation|session|thread|dialog|dialogue|chat|user|customer|client|author|patient|"
    r"dokument|kunde|nutzer|benutzer|gespräch|usuario|documento)( (id|name|title|key|hash|nr|no))?"
)
_LEAST = 5  # questions, each asked several times: fewer may be forms that numbers fill
_MOSTLY = 0.9  # of the texts
#: Of the texts, where questions that people ask are hardly ever so: 3 % at most of those we know.
_SOME = 0.1
_HALF = 0.5
#: One beginning in so many texts is a form, as often as others: 2, 4 or 8 forms of each question.
_FORMS = (2, 4, 8)


def repeats_unknown(upload: Upload) -> str:
    """Say that the file does not tell which question a row asks, and what follows from that."""
    number = f"{len(upload.table):,}"
    question = question_column(upload)
    why = why_open(upload, question) if question else ""
    return (
        f"{why or f'No heading tells which question a row asks.{_ids(upload)}'} The promise "
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
        ("first sentences", question_keys(replace(each, _BEHIND, "")), "behind"),
    ):
        if parted := _repeats(rest):
            return (
                f"The {clauses} of “{one_line(question)}” are {parted:,} different ones, "
                f"{may_be.format(f'several prompts {place}')} id of each question."
            )
    in_words = keys.dictionary.to_pylist()
    if _repeats(_shortest(in_words), _SOME):
        return (
            f"Texts of “{one_line(question)}” begin or end with other ones, so they may be one "
            "question with a prompt and without; if they are, add a column with an id of each "
            "question."
        )
    if parted := _without_forms(in_words):
        return (
            f"Without their commonest beginnings and ends, the texts of “{one_line(question)}” "
            f"are {parted:,} different ones, {may_be.format('several prompts around')} id of each "
            "question."
        )
    return ""


def vouched_questions(
    upload: Upload, question: str, rows: NDArray[np.int64], questions: NDArray[np.int64]
) -> Iterator[str]:
    """Yield that rows count as different questions though the file's own column repeats.

    `question`: what a person named instead. `questions`: of each of the `rows` used, its number.
    """
    own = question_column(upload)
    if own == question:
        own = _repeated_item(upload, question)
    if own is None:
        return
    column = column_of(upload, own)
    there = ~column.where(Cell.MISSING)[rows]
    texts = column.questions(rows[there])
    pairs = np.unique(texts * (questions.max() + 1) + questions[there])
    if more := len(pairs) - len(np.unique(texts)):
        repeat = "repeats" if more == 1 else "repeat"
        yield (
            f"As you said, {count_of(more, 'row')} that {repeat} another’s “{one_line(own)}” "
            f"ask{'s' * (more == 1)} another question."
        )


def copies_as_one(
    cells: NDArray[np.uint64], scores: Iterable[NDArray[np.float64]]
) -> NDArray[np.int64]:
    """Return which question each row asks, (n,), where each asks another: copies ask the same.

    A copy is the same in all cells, and has a score of many decimals. That is no coincidence where
    most are unlike, or all as often there; else the score takes few values, as entropies of counts.

    `cells`: an even number of each row's cells.
    """
    is_long = np.zeros(len(cells), bool)
    for numbers in scores:
        some = np.where(np.abs(numbers) < 2**52, numbers, 0.0)  # larger ones have no decimals
        is_long |= some != np.round(some, DECIMALS)
    counts = np.unique(cells[is_long], return_counts=True)[1]
    if 2 * len(counts) < counts.sum() and counts.min() < counts.max():
        is_long[:] = False
    others = 2 * np.arange(len(cells), dtype=np.uint64) + 1
    return np.unique(np.where(is_long, cells, others), return_inverse=True)[1]


def row_claims(upload: Upload, rows: NDArray[np.int64], others: Collection[str]) -> Iterator[str]:
    """Yield which columns speak against taking each of the `rows` for one independent draw.

    They seem to say how much rows weigh, or which of them are about one document, person or talk.

    `others`: columns that mean something else.
    """
    for name, kind in kinds(upload).items():
        if name not in others and _CLUSTERS.fullmatch(heading_words(name)):
            column = column_of(upload, name)
            there = ~column.where(Cell.MISSING)[rows]
            number = len(np.unique(column.codes[rows][there]))
            if number > 1 and 2 * number <= np.count_nonzero(there):
                yield (
                    f"Rows of one “{one_line(name)}”, of {number:,} in all, are taken as "
                    "independent: if they are right or wrong together, this does not hold."
                )
        if name not in others and names_a_weight(name) and kind is ColumnKind.NUMBER:
            numbers = column_of(upload, name).numbers()[0][rows]
            if not (numbers == numbers[0]).all():
                yield f"Each row counts once, whatever its “{one_line(name)}” is."


def names_a_weight(heading: str) -> bool:
    """Return whether a heading says how often a row came, or how much it counts."""
    return _WEIGHTS.fullmatch(heading_words(heading)) is not None


def _without_counters(keys: pa.Array) -> pa.Array:
    bare = replace(keys, _COUNTER, " ")
    bare = replace(bare, _LETTER, " ")
    return compute.utf8_trim_whitespace(replace(bare, r"\s+", " "))


def _without_fronts(texts: pa.Array) -> pa.Array:
    last = replace(texts, _CUE, "")
    return question_keys(replace(last, _FRONT, ""))


def _shortest(texts: list[str]) -> pa.Array:
    """Return of each text the shortest that it begins or ends with, letters from the end."""
    for _ in range(2):
        shortest, last = {}, None
        for text in sorted(texts):
            if last is None or not text.startswith(f"{last} "):
                last = text
            shortest[text] = last
        texts = [shortest[text][::-1] for text in texts]
    return pa.array(texts, pa.large_string())


def _without_forms(texts: list[str]) -> int:
    """Return how many texts are left without the commonest beginnings and ends; 0 if none repeats.

    Nor where texts share less than half: “What is the capital” and “the currency of Chad?”.
    """
    sizes = np.array([len(text) for text in texts])
    for forms in _FORMS:
        least = max(_LEAST, -(-len(texts) // forms))
        starts = _commonest(texts, least)
        stops = np.maximum(sizes - _commonest([text[::-1] for text in texts], least), starts)
        for begins, ends in ((starts, sizes), (np.zeros_like(sizes), stops), (starts, stops)):
            places = [*zip(texts, begins.tolist(), ends.tolist(), strict=True)]
            rests = pa.array([text[a:b] for text, a, b in places], pa.large_string())
            if (parted := _repeats(rests, _HALF)) and _share_half(rests, places):
                return parted
    return 0


def _commonest(texts: list[str], least: int) -> NDArray[np.int64]:
    """Return how many characters of each text are the longest beginning that `least` share.

    A beginning ends with a word. The texts that share one stand together in their order, so that
    one in `least` of them has it.
    """
    order = np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)
    ordered = [texts[place] for place in order.tolist()]
    common = np.zeros(len(texts), np.int64)
    for text in ordered[least - 1 :: least]:
        size = 0
        while size < len(text):
            first = bisect_left(ordered, text[: size + 1])
            last = bisect_left(ordered, text[: size + 1] + _LAST)
            if last - first < least:
                break
            size = _alike(ordered[first], ordered[last - 1])
            in_words = size if text[size - 1] >= _NO_SPACES else text.rfind(" ", 0, size) + 1
            np.maximum(common[first:last], in_words, out=common[first:last])
    sizes = np.empty_like(common)
    sizes[order] = common
    return sizes


def _share_half(rests: pa.Array, places: list[tuple[str, int, int]]) -> bool:
    """Whether most texts of one rest share more than half of the shorter: it may be a question."""
    before: dict[str, tuple[str, int, int]] = {}
    shares = []
    for rest, place in zip(rests.to_pylist(), places, strict=True):
        (one, _, end), (other, _, stop) = place, before.setdefault(rest, place)
        if one != other:
            shared = _alike(one[:end][::-1], other[:stop][::-1]) + _alike(one[end:], other[stop:])
            shares.append(2 * shared > min(len(one), len(other)))
    return 2 * sum(shares) > len(shares)


def _alike(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _repeats(texts: pa.Array, mostly: float = _MOSTLY) -> int:
    """Return how many texts there are, of which `mostly` come several times.

    0 if they do not, or they are so few that what was taken away seems to make the question.
    """
    counts = compute.value_counts(texts).field("counts").to_numpy()
    several = counts[counts > 1]
    enough = len(counts) >= max(_LEAST, counts.max(initial=0))
    return len(counts) if enough and several.sum() > mostly * counts.sum() else 0


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
