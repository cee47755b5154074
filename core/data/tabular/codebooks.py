"""What an upload was read as, for every score: shown before any number, and stored with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.abstention.agreement import disagreement
from core.abstention.codebook import Codebook
from core.codec import count_of, one_line
from core.data.tabular.columns import column_of, is_missing, word_of
from core.data.tabular.grading import comparison, grader_in
from core.data.tabular.label_meanings import Meaning, OtherLabels, display, meanings_of, spelling
from core.data.tabular.mixed_rows import kinds_used
from core.data.tabular.uploads import Upload

if TYPE_CHECKING:
    from core.data.tabular.labelled_rows import Columns, ScoreColumn

FIRST = 3  # rows in words


def codebooks_of(
    upload: Upload,
    columns: Columns,
    usable: NDArray[np.int64],
    questions: NDArray[np.int64],
    right: Mapping[str, NDArray[np.bool_]],
    problems: Mapping[str, Sequence[str]],
    claims: Mapping[str, tuple[str, ...]],
    others: Mapping[str, OtherLabels],
    scores: Mapping[str, NDArray[np.float64]],
) -> dict[str, Codebook]:
    """Return what the columns of an upload were read as, by score.

    `usable, questions`, (n,): which rows are used, and which question each asks.
    `right`, (n,): whether the answer is right, by column of labels.
    `problems`: by score: what became of the other rows, and of those without a number, a sentence
    each.
    `claims, others, scores`: by score: what a person vouched for, labels by another rule, and the
    numbers of used rows.
    """
    roles = columns.query, columns.source, columns.entropy, columns.answer, columns.truth
    used = {*roles, *columns.labels, *(score.column for score in columns.scores)}
    used |= {name for name, _ in columns.filters}
    unused = tuple(str(name) for name in upload.table.columns if name not in used)
    number = len(np.unique(questions))
    books = {}
    for score in columns.scores:
        numbers = scores[score.column]
        finite = numbers[np.isfinite(numbers)].tolist()
        label = score.correct or ""
        meanings = dict(_meanings(upload, columns, label))
        here = upload.grading if upload.grading and upload.grading.label == label else None
        other = others.get(score.column)
        books[score.column] = Codebook(
            question=columns.query or "",
            questions=number,
            score=score.column,
            larger_is_surer=bool(score.larger_is_surer),
            label=label,
            right=tuple(v for v, meaning in meanings.items() if meaning is Meaning.RIGHT),
            wrong=tuple(v for v, meaning in meanings.items() if meaning is Meaning.WRONG),
            right_rows=int(right[label].sum()),
            rows=len(usable),
            table_rows=len(upload.table),
            left_out=(*problems[score.column], *_gaps(score.column, numbers)),
            unused=unused,
            first=tuple(_rows_in_words(upload, columns, score.column, usable, right[label])),
            claims=claims.get(score.column, ()),
            grader=here.grader if here else "" if other else grader_in(label),
            grading=here.sentences if here else _beside(score, label, right, others, questions),
            other=other.column if other else "",
            only=tuple(kinds_used(upload, usable)),
            lowest=min(finite, default=None),
            highest=max(finite, default=None),
            notes=upload.notes,
        )
    return books


def _gaps(score: str, numbers: NDArray[np.float64]) -> Iterator[str]:
    """Yield how many of the rows used have no score, if any."""
    if without := int(np.isnan(numbers).sum()):
        yield f"Without “{one_line(score)}”, and so never answered: {count_of(without, 'row')}."


def _beside(
    score: ScoreColumn,
    label: str,
    right: Mapping[str, NDArray[np.bool_]],
    others: Mapping[str, OtherLabels],
    questions: NDArray[np.int64],
) -> tuple[str, ...]:
    """Say what labels by another rule call right, and on what the two differ."""
    if (other := others.get(score.column)) is None:
        return ()
    name = f"“{one_line(other.column)}”"
    rule = f"{name} ({other.rule})" if other.rule else name
    _, first = np.unique(questions, return_index=True)  # rows of one question are not independent
    differ = disagreement(right[label][first], other.right[first])
    return (
        f"Beside it: by {rule} {int(other.right.sum()):,} of {len(other.right):,} are right.",
        comparison(f"“{one_line(label)}”", name, differ),
    )


def _meanings(upload: Upload, columns: Columns, label: str) -> Iterator[tuple[str, Meaning]]:
    """Yield the values of a column of labels, as the file writes them, with their meaning."""
    column = column_of(upload, label)
    values = {word_of(text) for text in column.texts} if len(column.texts) < 1000 else set()
    meanings = meanings_of(upload, label)
    meanings |= {each.value: each.meaning for each in columns.meant if each.column == label}
    for value, meaning in meanings.items():
        if value in values:
            yield spelling(column, value), meaning


def _rows_in_words(
    upload: Upload,
    columns: Columns,
    score: str,
    usable: NDArray[np.int64],
    right: NDArray[np.bool_],
) -> Iterator[str]:
    for place, row in enumerate(usable[:FIRST].tolist()):
        roles = [name for name in (columns.query, columns.answer, score) if name]
        cells = {name: str(upload.table[name].iloc[row]) for name in roles}
        parts = []
        if columns.query:
            parts.append(display(cells[columns.query]))
        if columns.answer:
            parts.append(f"answered {display(cells[columns.answer])}")
        number = cells[score]
        parts.append(f"{one_line(score)} {'missing' if is_missing(number) else one_line(number)}")
        parts.append("right" if right[place] else "wrong")
        yield f"{upload.unit.capitalize()} {upload.lines[row]}: {', '.join(parts)}."
