"""Labels that say neither right nor wrong: what they mean is asked, and never guessed.

Rows without a readable label are no random rows: where "1" stands for right and an empty cell
for wrong, leaving the empty ones out leaves no wrong answer. So a column of labels is used once
every one of its values has a meaning, by our own words or by the person's.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from core.codec import count_of, list_of, one_line
from core.data.tabular.columns import (
    HOLDS,
    MOST_VALUES,
    Cell,
    Column,
    ColumnKind,
    column_of,
    columns_named,
    has_several_numbers,
    open_words_of,
    word_of,
)
from core.data.tabular.grading import NO_LABEL
from core.data.tabular.headings import RULES, plain_heading
from core.data.tabular.label_words import is_judgement, rightness_of
from core.data.tabular.uploads import Upload, UploadError
from core.uncertainty.scores import SCORES

_NAMED = 3  # values that a refusal names
_LOOKED_AT = 100  # different cells that are no number, for several of them
_NUMERALS = frozenset({"0", "0.0", "1", "1.0"})
_COLOURFUL = "\ufe0f"  # behind a tick


class Meaning(StrEnum):
    """What a value of a label means."""

    RIGHT = "right"
    WRONG = "wrong"
    OUT = "out"


@dataclass(frozen=True)
class ValueMeaning:
    """What a person said of one value."""

    column: str
    value: str  # as `word_of` gives it; "" is the empty cell
    meaning: Meaning


@dataclass(frozen=True)
class UnreadValue:
    """A value of a column that says neither right nor wrong."""

    column: str
    value: str  # as `word_of` gives it; "" is the empty cell
    text: str  # as the file writes it
    rows: int  # how many have it
    affirms: bool = False  # whether it affirms or denies the heading, which does not say what

    def __str__(self) -> str:
        return f"{display(self.text)} ({count_of(self.rows, 'row')})"


class UnreadLabelsError(UploadError):
    """Labels of which nobody has said what they mean."""


def display(value: str) -> str:
    """Return a value in one short line, without characters that a terminal would obey."""
    line = "".join(c if c.isprintable() else "�" for c in one_line(value))
    return f"“{line}”" if line else "empty"


def such_as(upload: Upload, name: str) -> str:
    """Return the first cell of a column that is not missing, and where it is, in words; or ""."""
    column = column_of(upload, name)
    there = np.flatnonzero(~column.where(Cell.MISSING))
    if not len(there):
        return ""
    text = column.text(int(column.codes[there[0]]))
    return f", such as {display(text)} in {upload.unit} {upload.lines[there[0]]}"


def series_in(upload: Upload, name: str) -> str:
    """Say which cell of a column holds several numbers, and how to mend it; "" if none does."""
    column = column_of(upload, name)
    for code in np.flatnonzero(column.has(Cell.ODD))[:_LOOKED_AT].tolist():
        if has_several_numbers(text := column.text(code)):
            return f" {display(text)} holds several numbers; write one, such as their mean."
    return ""


def spelling(column: Column, value: str) -> str:
    """Return how a column writes a value, the first time."""
    return next((text.strip() for text in column.texts if word_of(text) == value), value)


def spellings_of(column: Column) -> dict[str, str]:
    """Return how a column writes each of its values the first time, the most frequent first."""
    first: dict[str, str] = {}
    for text in column.texts:
        first.setdefault(word_of(text), text.strip())
    return {value: first[value] for value in values_of(column)}


def values_of(column: Column, codes: NDArray[np.int32] | None = None) -> Counter[str]:
    """Return every different value of a column, as `word_of` gives it, and how many rows have it.

    The most frequent come first. `codes`: those of the rows that count; all by default.
    """
    codes = column.codes if codes is None else codes
    counts = np.bincount(codes, minlength=len(column.texts)).tolist()
    counter: Counter[str] = Counter()
    for text, count in zip(column.texts, counts, strict=True):
        counter[word_of(text)] += count
    return Counter(dict(counter.most_common()))


def meanings_of(upload: Upload, name: str) -> dict[str, Meaning]:
    """Return what heading and words of a column of labels settle, by value as of `word_of`.

    Under "is_hallucination" a 1 is wrong. Where the heading says nothing, only words that judge by
    themselves have a meaning. Beside larger numbers 0 and 1 have none: of ratings, 1 may be the
    worst.
    """
    column = column_of(upload, name)
    heading = "correct" if is_of_a_score(upload, name) else name
    words, is_rating = _label_words(column), bool((column.values > 1).any())
    meanings = {}
    if upload.grading and name == upload.grading.label:
        meanings[NO_LABEL] = Meaning.OUT
    for word in words.keys() - (_NUMERALS if is_rating else set()):
        right = rightness_of(word.removesuffix(_COLOURFUL), heading, frozenset(words))
        if right is not None:
            meanings[word] = Meaning.RIGHT if right else Meaning.WRONG
    return meanings


def is_of_a_score(upload: Upload, name: str) -> bool:
    """Return whether a heading says that the answer of one score is right: “nll_correct”."""
    plain = plain_heading(name)
    for rule in map(plain_heading, RULES):
        plain = plain.removesuffix(rule) if plain.endswith(f"correct{rule}") else plain
    of = {plain.removesuffix("correct"), plain.removeprefix("correct")} - {plain}
    return bool(of) and any(
        plain_heading(other) in of
        and (column_of(upload, other).kind is ColumnKind.NUMBER or other in SCORES)
        for other in map(str, upload.table.columns)
    )


def own_labels(upload: Upload, score: str) -> dict[str, str]:
    """Return the columns of labels of one score's answers, by the rule that judged them.

    "" is the rule of those that count, which a heading does not name.
    """
    plain = plain_heading(score)
    headings = {rule: [f"{plain}correct{plain_heading(rule)}"] for rule in RULES}
    headings[""] = [f"{plain}correct", f"correct{plain}"]
    columns = {rule: columns_named(upload, names) for rule, names in headings.items()}
    return {
        rule: names[0]
        for rule, names in columns.items()
        if names and (not rule or column_of(upload, names[0]).kind is ColumnKind.LABEL)
    }


def judges(upload: Upload, name: str) -> bool:
    """Return whether all that a column says of right and wrong, its words say by themselves."""
    words = _label_words(column_of(upload, name))
    return bool(words) and all(
        is_judgement(word.removesuffix(_COLOURFUL), name, frozenset(words)) for word in words
    )


def _label_words(column: Column) -> dict[str, int]:
    """Return the words of a column that judge, affirm or deny, with the first cell of each."""
    words: dict[str, int] = {}
    for code in np.flatnonzero(column.has(Cell.RIGHT | Cell.WRONG)).tolist():
        words.setdefault(word_of(column.text(code)), code)
    return words


def unread_values(
    upload: Upload, name: str, counts: NDArray[np.bool_] | None = None
) -> tuple[UnreadValue, ...]:
    """Return the values of a column of labels of which nothing says whether they mean right.

    They say neither right nor wrong, or affirm a heading that does not say what of.

    `counts`: of shape (n,); which rows of the table count; all by default.

    Raises `UploadError` when the column is no column of labels, or has too many such values to ask
    about.
    """
    column = column_of(upload, name)
    codes, unread, words = column.codes, column.unread, column.unread_words
    if counts is not None and not counts.all():
        codes = codes[counts]
        unread, words = open_words_of(column.texts, codes, column.cells)
    few = words <= MOST_VALUES
    meanings = meanings_of(upload, name)
    cells = []
    for code, number in unread:
        text = column.text(code)
        value = word_of(text)
        if value in meanings:
            continue
        cells.append(UnreadValue(name, value, text.strip() if few else value, number))
    says_nothing = not column.has(Cell.RIGHT | Cell.WRONG).any()
    if says_nothing and (column.kind is not ColumnKind.TEXT or not few):
        raise UploadError(
            f"No cell of “{one_line(name)}” says whether an answer is right: "
            f"{HOLDS[column.kind]}{such_as(upload, name)}. Choose a column of 1 (right) and "
            "0 (wrong)."
        )
    if not few:
        named = ", ".join(display(each.text) for each in cells[:_NAMED])
        raise UploadError(
            f"“{one_line(name)}” has {words:,} different values that say neither "
            f"right nor wrong, such as {named}. Write right or wrong in their place, or choose "
            "another column."
        )
    open_words = {w: c for w, c in _label_words(column).items() if w not in meanings}
    rows_by_word = values_of(column, codes) if open_words else Counter()
    open_cells = [
        UnreadValue(name, word, column.text(code).strip(), rows_by_word[word], affirms=True)
        for word, code in open_words.items()
        if rows_by_word[word]
    ]
    return (*sorted(open_cells, key=lambda each: -each.rows), *cells)


def hint(upload: Upload, name: str) -> str:
    """Return a sentence where all labels of a column that can be read say the same; else ""."""
    meanings = set(meanings_of(upload, name).values())
    return f" All its other labels say {meanings.pop()}." if len(meanings) == 1 else ""


def complaint_of(upload: Upload, cells: Sequence[UnreadValue]) -> str:
    """Return what is not clear about values of one column, in a sentence or two."""
    name, sentences = one_line(cells[0].column), []
    whose = f"“{name}”"
    if affirming := [each for each in cells if each.affirms]:
        sentences.append(
            f"The heading {whose} does not say which of its values means a right answer: "
            f"{_cells_in_words(affirming)}."
        )
        whose = "It also"
    if odd := [each for each in cells if not each.affirms]:
        sentences.append(
            f"{whose} has cells that say neither right nor wrong: {_cells_in_words(odd)}."
            f"{hint(upload, cells[0].column)}"
        )
    return " ".join(sentences)


def _cells_in_words(cells: Sequence[UnreadValue]) -> str:
    return list_of([*map(str, cells)], most=len(cells))


def check_meanings(
    upload: Upload,
    names: Sequence[str],
    meant: Mapping[tuple[str, str], Meaning],
    counts: NDArray[np.bool_] | None = None,
) -> None:
    """Refuse columns of labels of which a value in the rows that count, or all, has no meaning.

    Raises `UploadError` when a column is no column of labels; `UnreadLabelsError` when nobody has
    said what a value means.
    """
    sentences = []
    for name in names:
        unread = unread_values(upload, name, counts)
        missing = [each for each in unread if (name, each.value) not in meant]
        if missing:
            sentences.append(complaint_of(upload, missing))
    if sentences:
        sentences.append("Nothing is promised until you say what each of these means.")
        raise UnreadLabelsError(" ".join(sentences))


def decisions(
    upload: Upload, meant: Sequence[ValueMeaning], counts: NDArray[np.bool_] | None = None
) -> list[str]:
    """Return what a person decided, a sentence for every value, with the rows that it concerns.

    `counts`: of shape (n,); which rows of the table count; all by default.
    """
    sentences = []
    for each in meant:
        column = column_of(upload, each.column)
        concerned = column.of_word(each.value)
        number = int(np.count_nonzero(concerned if counts is None else concerned & counts))
        text = spelling(column, each.value)
        where = f"{count_of(number, 'row')} in which “{one_line(each.column)}” is {display(text)}"
        became = "left out" if each.meaning is Meaning.OUT else f"counted as {each.meaning.value}"
        was = "was" if number == 1 else "were"
        sentences.append(f"As you said, {where} {was} {became}.")
    return sentences


def meanings_in(
    upload: Upload, names: Sequence[str], meanings: Mapping[str, Meaning]
) -> tuple[ValueMeaning, ...]:
    """Return what values, however they are written, mean in whichever of these columns they occur.

    "" is the empty cell. Raises `UploadError` when no column has a value: it is misspelt, and what
    was meant has no meaning.
    """
    values_by_name = {name: values_of(column_of(upload, name)) for name in dict.fromkeys(names)}
    meant = []
    for text, meaning in meanings.items():
        value = word_of(text)
        columns = [name for name, values in values_by_name.items() if value in values]
        if not columns:
            listed = " or ".join(f"“{one_line(name)}”" for name in values_by_name)
            what = f"the value {display(value)}" if value else "an empty cell"
            raise UploadError(
                f"No row has {what} in {listed}; give a value exactly as in the file."
            )
        meant += [ValueMeaning(name, value, meaning) for name in columns]
    return tuple(meant)


@dataclass(frozen=True)
class OtherLabels:
    """Whether a score's answers are right by another rule than the one that counts."""

    column: str
    rule: str  # in words; "" where the heading does not name it
    right: NDArray[np.bool_]  # (n,)


def other_labels(
    upload: Upload, correct: Mapping[str, str], rows: NDArray[np.int64]
) -> dict[str, OtherLabels]:
    """Return the labels by another rule, of scores that have some in every row that is used."""
    others = {}
    for score, label in correct.items():
        own = own_labels(upload, score)
        rule, name = next(((r, n) for r, n in own.items() if n != label), ("", ""))
        if name and label in own.values():
            right = column_of(upload, name).correctness()[rows]
            if not np.isnan(right).any():
                others[score] = OtherLabels(name, RULES.get(rule, ""), right == 1)
    return others
