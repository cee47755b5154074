"""What the columns of an upload mean: scores and whether answers are right, as arrays.

A missing score is NaN, which abstains, and never 0. Every label must be read, or a person must
have said what it means. A row that is left out is left out for every score, so that scores are
compared on the same rows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from core.abstention.codebook import Codebook
from core.abstention.policy import own_direction
from core.codec import list_of, one_line
from core.data.tabular.codebooks import codebooks_of
from core.data.tabular.columns import (
    HOLDS,
    Cell,
    column_of,
    columns_named,
    first,
    objects,
    question_numbers,
    text_numbers,
)
from core.data.tabular.csv_export import to_csv
from core.data.tabular.directions import check_directions
from core.data.tabular.fingerprints import contents, of_cells, of_rows
from core.data.tabular.headings import plain_heading
from core.data.tabular.label_meanings import (
    Meaning,
    OtherLabels,
    ValueMeaning,
    check_meanings,
    decisions,
    display,
    meanings_of,
    other_labels,
    own_labels,
    series_in,
    spelling,
    such_as,
)
from core.data.tabular.mixed_rows import (
    RowFilter,
    check_mixtures,
    constants,
    rows_that_count,
    selection,
    sentences,
)
from core.data.tabular.pipelines import check_labels_of_run, is_of_runs, pipeline_of
from core.data.tabular.repeated_questions import (
    copies_as_one,
    repeats_unknown,
    row_claims,
    vouched_questions,
)
from core.data.tabular.suspicion import Claim, SuspiciousScoreError, vouched_claims
from core.data.tabular.unanswered_rows import NO_ANSWER, right_refusals
from core.data.tabular.uploads import Upload, UploadError
from core.uncertainty.scores import SCORES

LEFT_OUT = "left out"  # what becomes of them
SELECTION = "not_in_this_table"  # the column of a run's table that says which of its rows are not
LONGEST_SELECTION = 1000  # characters
#: Scores × rows. Doubts, labels and curves take some 60 bytes of each as long as a session looks at
#: them, and every change of a setting half a microsecond of a processor; one score of the longest
#: file and a hundred of ten thousand rows have room.
MAX_SCORED = 1_000_000

_TRUTH = {Meaning.RIGHT: True, Meaning.WRONG: False, Meaning.OUT: None}


class UnknownQuestionsError(UploadError):
    """Nobody has said which rows ask the same question."""


class UnknownLabelsError(UploadError):
    """Nobody has said which column says whether answers are right."""


@dataclass(frozen=True)
class ScoreColumn:
    """One score column."""

    column: str
    # Whether it is a confidence; its doubt is then the negative. None while nobody has said it.
    larger_is_surer: bool | None
    # The column that says whether the answer that this score serves is right. None while nobody has
    # said which of several it is.
    correct: str | None


@dataclass(frozen=True)
class Columns:
    """Which column means what."""

    # The column that says which question a row asks; `EVERY_ROW` if a person has said that each row
    # asks another, None while nobody has said it.
    query: str | None
    source: str | None  # Any group of queries that may differ from the others
    scores: tuple[ScoreColumn, ...]
    entropy: str | None = None  # Semantic entropy in nats, for bins
    # What a person said of labels, above all of those that say neither right nor wrong.
    meant: tuple[ValueMeaning, ...] = ()
    # answer, truth: what was answered, and what would have been right: to be read, and not
    # compared.
    answer: str | None = None
    truth: str | None = None
    # What a person vouches for of a score that looks as no score should.
    vouched: tuple[tuple[str, Claim], ...] = ()
    # Which rows count, of those of several models, filters or epochs.
    filters: tuple[RowFilter, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns that say whether answers are right, each once."""
        return tuple(dict.fromkeys(each.correct for each in self.scores if each.correct))


@dataclass(frozen=True)
class LabelledRows:
    """Scored and labelled queries."""

    # name, sha256: of the file.
    name: str
    sha256: str
    queries: NDArray[np.object_]  # (n,): their texts; the number of the row where there is none
    sources: NDArray[np.object_]  # (n,): "" where there is none
    # (n,): by score column: larger means "doubt more", NaN is missing.
    doubts: Mapping[str, NDArray[np.float64]]
    correct: Mapping[str, NDArray[np.bool_]]  # (n,): by score column
    entropies: NDArray[np.float64] | None  # (n,): Nats; NaN is missing
    surer: Mapping[str, bool]  # by score column: whether the column holds the negative of the doubt
    pipeline: str  # of the column "pipeline", if every row used names the same one; else ""
    kept: NDArray[np.int64]  # (n,): which rows of the upload's table these are
    problems: tuple[str, ...]  # what is wrong with which lines, a sentence each
    decided: tuple[str, ...] = ()  # what a person said that labels mean, a sentence each
    left_out: int = 0  # how many rows of the file have no label, by what the person said
    # The scores whose labels in the file are all right, or all wrong.
    one_kind: frozenset[str] = frozenset()
    # answers, truths: (n,): what was answered, and what would have been right; None where the file
    # does not say it.
    answers: NDArray[np.object_] | None = None
    truths: NDArray[np.object_] | None = None
    # What the table was read as, by score.
    codebooks: Mapping[str, Codebook] = field(default_factory=dict)
    # (n,): which question each row asks, as `question_numbers` says; None until it is needed.
    numbered: NDArray[np.int64] | None = None
    # Which rows of their run are not here, in words; "" where none is missing or nobody says it.
    selection: str = ""
    # By score, where the table has labels by another rule.
    others: Mapping[str, OtherLabels] = field(default_factory=dict)
    # Of every row of the table: what it is known by without a question; None where all have one.
    cells: NDArray[np.uint64] | None = None
    whole: NDArray[np.uint64] | None = None  # the same of every table that was read

    @property
    def questions(self) -> NDArray[np.int64]:
        """Which question each row asks: rows of one question have the same number."""
        return question_numbers(self.queries) if self.numbered is None else self.numbered

    @cached_property
    def contents(self) -> tuple[NDArray[np.uint64], list[NDArray[np.uint64]]]:
        """By what these rows are known again; see `core.data.tabular.fingerprints.contents`."""
        return contents(self)

    @cached_property
    def row_numbers(self) -> NDArray[np.uint64]:
        """The number of every row by its question or cells, (n,): as a look at them begins."""
        return of_rows(self)

    @cached_property
    def reading(self) -> tuple[str, ...]:
        """What the table was read as for its first score, in words."""
        return next((book.sentences for book in self.codebooks.values()), ())

    @cached_property
    def reading_of_others(self) -> tuple[str, ...]:
        """What was read otherwise for each further score, a line each."""
        lines = []
        for book in list(self.codebooks.values())[1:]:
            own = (line for line in book.left_out if line not in self.reading)
            lines.append(" ".join((*reversed(book.of_score), *own)))
        return tuple(lines)

    def numbers(self, score: str) -> NDArray[np.float64]:
        """Return a score as the file has it, in its own direction; NaN is missing."""
        return own_direction(self.doubts[score], self.surer[score])


def labelled_rows(upload: Upload, columns: Columns) -> LabelledRows:
    """Return the scored and labelled queries of an upload.

    Raises `UploadError` when a column does not exist or does not fit, nobody has said what a larger
    score means (`UnknownDirectionError`), which column has the labels (`UnknownLabelsError`) or the
    questions (`UnknownQuestionsError`), or which of several models counts (`UnknownMixtureError`),
    there are more than `MAX_SCORED` scores times rows, no row says whether its answer is right,
    nothing says what a label means (`UnreadLabelsError`), a score has no number or is the label,
    looks as no score should (`SuspiciousScoreError`), or its commas can be read in two ways.
    """
    _check(upload, columns)
    correct = check_labels(columns)
    check_labels_of_run(upload, correct)
    if columns.query is None:
        raise UnknownQuestionsError(repeats_unknown(upload))
    counts = rows_that_count(upload, columns.filters)
    usable, right, problems = _rows(upload, columns, counts)
    others = columns.query or "", *correct, *columns.labels
    check_mixtures(upload, columns.filters, usable, others)
    problems += sentences(upload, columns.filters, usable)
    problems += constants(upload, usable, _roles(upload, columns))
    left_out, scores = {}, {}
    of_rows = tuple(problems)
    for score in columns.scores:
        _refuse_doubtful(upload, score.column)
        numbers, complaints = _numbers(upload, score.column, usable)
        if np.isnan(numbers).all():
            raise UploadError(_no_number(upload, score.column, "score"))
        label = correct[score.column]
        _refuse_label(score.column, numbers, label, right)
        for what, refused in right_refusals(upload, (score.column, label), usable, right[label]):
            numbers[refused[usable]] = np.nan
            complaints += complaint(upload, refused, what, "counts as not answered")
        if np.isnan(numbers).all():
            raise UploadError(NO_ANSWER.format(one_line(score.column)))
        problems += complaints
        left_out[score.column], scores[score.column] = (*of_rows, *complaints), numbers
    surer = check_directions([(score.column, score.larger_is_surer) for score in columns.scores])
    pipeline, complaints_of_pipeline = pipeline_of(upload, usable)
    claims = {}
    suspicion: SuspiciousScoreError | None = None
    for name, numbers in scores.items():
        if pipeline and name in SCORES:  # a run's own: it computed them without the labels
            continue
        vouched = [claim for score, claim in columns.vouched if score == name]
        try:
            claims[name] = vouched_claims(
                *(name, numbers, surer[name], right[correct[name]], vouched)
            )
        except SuspiciousScoreError as error:  # asked about beside what was read, not before
            suspicion = suspicion or error
    entropies = None
    if columns.entropy is not None:
        entropies, complaints = _numbers(upload, columns.entropy, usable)
        if np.isnan(entropies).all() or _doubtful(upload, columns.entropy):
            entropies, complaints = None, [_no_number(upload, columns.entropy, "entropy")]
        problems += complaints
    queries, questions, complaints = _queries(upload, columns.query, usable)
    whole = of_cells(upload)
    if not columns.query:
        questions = copies_as_one(whole[usable], scores.values())
    of_questions = (*vouched_questions(upload, columns.query, usable, questions),)
    of_questions += (*row_claims(upload, usable, (*scores, columns.query or "")),)
    claims = {name: (*claims.get(name, ()), *of_questions) for name in scores}
    cells = None if columns.query and not complaints else whole
    problems += complaints
    problems += complaints_of_pipeline
    sources = np.full(len(usable), "", object)
    if columns.source is not None:
        sources = column_of(upload, columns.source)[usable]
        _refuse_groups_of_labels(columns.source, sources, right)
    by_rule = other_labels(upload, correct, usable)
    books = codebooks_of(
        *(upload, columns, usable, questions, right, left_out, claims, by_rule, scores)
    )
    if suspicion:
        suspicion.reading = books[suspicion.score].sentences
        raise suspicion
    return LabelledRows(
        name=upload.name,
        sha256=upload.sha256,
        queries=queries,
        sources=sources,
        doubts={name: own_direction(numbers, surer[name]) for name, numbers in scores.items()},
        correct={name: right[label] for name, label in correct.items()},
        entropies=entropies,
        surer=surer,
        pipeline=pipeline,
        kept=usable,
        problems=tuple(problems),
        decided=tuple(decisions(upload, columns.meant, counts)),
        left_out=int(counts.sum()) - len(usable),
        one_kind=frozenset(
            name for name, label in correct.items() if len(np.unique(right[label])) == 1
        ),
        answers=column_of(upload, columns.answer)[usable] if columns.answer else None,
        truths=column_of(upload, columns.truth)[usable] if columns.truth else None,
        codebooks=books,
        numbered=questions,
        selection=_selection(upload, columns.filters, usable),
        others=by_rule,
        cells=cells,
        whole=whole,
    )


def _check(upload: Upload, columns: Columns) -> None:
    if not columns.scores:
        raise UploadError("No score is chosen; choose a column with numbers.")
    if len(columns.scores) * len(upload.table) > MAX_SCORED:
        raise UploadError(
            f"{len(columns.scores):,} scores of {len(upload.table):,} rows are more than "
            f"{MAX_SCORED:,} numbers, the most that can be calibrated on at once; choose at most "
            f"{MAX_SCORED // len(upload.table):,} of these scores, or upload fewer rows."
        )
    scores = [score.column for score in columns.scores]
    labels = columns.labels
    others = columns.query, columns.source, columns.entropy, columns.answer, columns.truth
    for name in (*others, *scores, *labels):
        if name and name not in upload.table.columns:
            raise UploadError(
                f"There is no column “{one_line(name)}” in this file; choose another one."
            )
    for name in scores:
        if scores.count(name) > 1:
            raise UploadError(f"The score “{one_line(name)}” is chosen twice; choose it once.")
        if name in labels:
            raise UploadError(
                f"“{one_line(name)}” is chosen both as a score and as the labels; choose two "
                "columns."
            )


def _roles(upload: Upload, columns: Columns) -> list[str]:
    """Return the columns whose meaning is settled, whatever they say in each row."""
    own = [name for score in columns.scores for name in own_labels(upload, score.column).values()]
    system = columns_named(
        upload, [plain_heading(SELECTION), *(["pipeline"] if is_of_runs(upload) else [])]
    )
    roles = columns.query, columns.source, columns.entropy, columns.answer, columns.truth
    scores = [score.column for score in columns.scores]
    filters = [name for name, _ in columns.filters]
    return [name for name in (*roles, *scores, *columns.labels, *own, *system, *filters) if name]


def check_labels(columns: Columns) -> dict[str, str]:
    """Return the columns of labels by score; raise `UnknownLabelsError` if nobody said."""
    labels = {each.column: each.correct for each in columns.scores if each.correct}
    unclear = [f"“{one_line(s.column)}”" for s in columns.scores if s.correct is None]
    if unclear:
        raise UnknownLabelsError(
            f"Say which column tells whether the answers of {list_of(unclear)} are right: several "
            "could, and a guess could promise the opposite of the truth."
        )
    return labels


def _refuse_label(
    score: str, numbers: NDArray[np.float64], label: str, right: Mapping[str, NDArray[np.bool_]]
) -> None:
    """Refuse a score that is the label: it knows the answer, which no new question brings along."""
    there = ~np.isnan(numbers)
    numbers, labels = numbers[there], right[label][there]
    both = labels.any() and not labels.all()
    if both and (np.array_equal(numbers, labels) or np.array_equal(numbers, ~labels)):
        raise UploadError(
            f"“{one_line(score)}” is no score: in every row it says the same as "
            f"“{one_line(label)}”. Choose a score that was made without looking at the right "
            "answers."
        )


def _rows(
    upload: Upload, columns: Columns, counts: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], dict[str, NDArray[np.bool_]], list[str]]:
    """Return the rows that count and are labelled for every score, their labels, and complaints."""
    meant = {(each.column, each.value): each.meaning for each in columns.meant}
    check_meanings(upload, columns.labels, meant, counts)
    values: dict[str, NDArray[np.float64]] = {}
    problems: list[str] = []
    usable = counts.copy()
    for name in columns.labels:
        cells = column_of(upload, name)
        own = meanings_of(upload, name)
        own |= {each.value: each.meaning for each in columns.meant if each.column == name}
        values[name] = cells.correctness({value: _TRUTH[own[value]] for value in own})
        for value in (value for value in own if own[value] is Meaning.OUT):
            rows = cells.of_word(value) & counts
            what = f"“{one_line(name)}” is {display(spelling(cells, value))}"
            problems += complaint(upload, rows, what, LEFT_OUT)
        usable &= ~np.isnan(values[name])
    if not usable.any():
        raise UploadError(
            "No row says for every chosen score whether its answer is right; choose fewer scores, "
            "leave fewer rows out, or fill in the missing cells."
        )
    usable_rows = np.flatnonzero(usable).astype(np.int64)
    return usable_rows, {name: each[usable_rows] == 1 for name, each in values.items()}, problems


def _refuse_groups_of_labels(
    name: str, sources: NDArray[np.object_], right: Mapping[str, NDArray[np.bool_]]
) -> None:
    """Refuse a column that tells every label: nobody knows its value of a new question."""
    group_of = text_numbers(sources)
    rows = np.bincount(group_of)
    if 2 * len(rows) > len(sources):  # of single rows each is of one kind by itself
        return
    for label, labels in right.items():
        rights = np.bincount(group_of, labels)
        if labels.any() and not labels.all() and ((rights == 0) | (rights == rows)).all():
            raise UploadError(
                f"In every group of “{one_line(name)}” all labels of “{one_line(label)}” are the "
                "same, so the groups are made of the labels, and of a new question nobody knows "
                "its group. Choose another column for groups, or none."
            )


def complaint(upload: Upload, rows: NDArray[np.bool_], what: str, so: str) -> Iterator[str]:
    """Yield a sentence that names the first lines, or nothing if there are none."""
    lines = [str(line) for line in upload.lines[rows]]
    if lines:
        one = upload.unit.capitalize()
        yield f"{one}{'s' if len(lines) > 1 else ''} {list_of(lines)}: {what} ({so})."


def _numbers(
    upload: Upload, name: str, rows: NDArray[np.int64]
) -> tuple[NDArray[np.float64], list[str]]:
    numbers, unreadable = column_of(upload, name).numbers()
    used = np.zeros(len(numbers), bool)
    used[rows] = True
    what = f"“{one_line(name)}” is not a number"
    complaints = complaint(upload, unreadable & used, what, "counts as missing")
    return numbers[rows], [each + series_in(upload, name) for each in complaints]


def _doubtful(upload: Upload, name: str) -> str | None:
    """Say which cell of a column can be read as two numbers, if any can."""
    text = column_of(upload, name).doubtful_number()
    if text is None:
        return None
    return (
        f"“{one_line(name)}” has the number “{one_line(text)}”: its comma or dots can part "
        "thousands, or decimals. Write all numbers of the column without separators for "
        "thousands, and with a dot for decimals: 3425 or 3.425, not 3,425."
    )


def _refuse_doubtful(upload: Upload, name: str) -> None:
    if refusal := _doubtful(upload, name):
        raise UploadError(refusal)
    other = f"{name} (2)"  # as `uploads` calls a heading that stands twice
    if other in upload.table.columns and (upload.table[name] != upload.table[other]).any():
        raise UploadError(
            f"Two columns are called “{one_line(name)}”, and differ: give one of them another "
            "heading, so that it is clear which holds the score."
        )


def _no_number(upload: Upload, name: str, role: str) -> str:
    if doubtful := _doubtful(upload, name):
        return doubtful
    cells = column_of(upload, name)
    if not np.isnan(cells.numbers()[0]).all():
        return (
            f"“{one_line(name)}” has no number in any row that says whether its answer is right; "
            f"fill in the missing cells, or choose another {role}."
        )
    return (
        f"“{one_line(name)}” has no number: {HOLDS[cells.kind]}{such_as(upload, name)}. Write one "
        f"number in each cell, or choose another column as {role}."
    )


def _queries(
    upload: Upload, name: str, rows: NDArray[np.int64]
) -> tuple[NDArray[np.object_], NDArray[np.int64], list[str]]:
    """Return the queries, and which question each is, as `question_numbers` says.

    One without text has the number of its row for a text. All of them count as one question, for
    each may repeat the one above, as merged cells do.
    """
    numbers = compute.cast(pa.array(rows + 1), pa.large_string())
    if not name:
        return objects(numbers), text_numbers(numbers), []
    cells = column_of(upload, name)
    empty = cells.where(Cell.BLANK)
    if not empty[rows].any():
        return cells[rows], cells.questions(rows), []
    texts = compute.if_else(empty[rows], numbers, cells.distinct.take(pa.array(cells.codes[rows])))
    used = np.zeros(len(empty), bool)
    used[rows] = True
    what = f"“{one_line(name)}” is empty"
    so = "all of these count as one question; if they repeat the one above, fill it in"
    problems = list(complaint(upload, empty & used, what, so))
    questions = question_numbers(texts)
    questions[empty[rows]] = questions[empty[rows]].min()
    return objects(texts), questions, problems


def _selection(upload: Upload, filters: tuple[RowFilter, ...], rows: NDArray[np.int64]) -> str:
    name = first(upload, [plain_heading(SELECTION)])
    texts = dict.fromkeys(column_of(upload, name)[rows].tolist()) if name else {}
    every = (*texts, selection(upload, filters, rows))
    return one_line(" ".join(text for text in every if text), LONGEST_SELECTION)


def doubts_of(upload: Upload, column: str, larger_is_surer: bool) -> NDArray[np.float64]:
    """Return one score's doubts for every row, labelled or not; NaN where there is none.

    Raises `UploadError` when the column holds no number, its commas can be read in two ways, or
    two columns of its heading differ.
    """
    _refuse_doubtful(upload, column)
    numbers, _ = column_of(upload, column).numbers()
    if np.isnan(numbers).all():
        raise UploadError(_no_number(upload, column, "score"))
    return own_direction(numbers, larger_is_surer)


def template() -> bytes:
    """Return a CSV that shows what an upload looks like: a heading and three rows."""
    return to_csv(
        ["question", "source", "confidence", "correct"],
        [
            ["What is the capital of France?", "geography", 0.97, 1],
            ["Who wrote Oliver Twist?", "literature", 0.81, 1],
            ["What is the capital of Australia?", "geography", 0.35, 0],
        ],
    )
