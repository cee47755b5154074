"""What the columns of an upload mean: scores and whether answers are right, as arrays.

A missing score is NaN, which abstains, and never 0. Every label must be read, or a person must
have said what it means. A row that is left out is left out for every score, so that scores are
compared on the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from core.codec import list_of, one_line
from core.data.tabular.columns import (
    HOLDS,
    LONGEST_HEADING,
    QUERIES,
    RIGHT_ANSWERS,
    SOURCES,
    Cell,
    ColumnKind,
    column_of,
    columns_named,
    first,
    kinds,
    plain_heading,
    question_numbers,
    text_numbers,
)
from core.data.tabular.csv_export import to_csv
from core.data.tabular.directions import check_directions, direction_of
from core.data.tabular.labels import Meaning, Meant, check_meanings, decisions, display, spelt
from core.data.tabular.uploads import Upload, UploadError
from core.uncertainty.scores import SCORES

LEFT_OUT = "left out"  # what becomes of them
#: Scores × rows. Doubts, labels and curves take some 60 bytes of each as long as a session looks at
#: them, and every change of a setting half a microsecond of a processor; one score of the longest
#: file and a hundred of ten thousand rows have room.
MAX_SCORED = 1_000_000

# Headings are compared without case, white space, _ and -. The first that is found is taken.
_CORRECT = ("correct", "iscorrect", "correctness", "right", "isright", "label")
_ANSWERS = (
    "answer",
    "modelanswer",
    "response",
    "modelresponse",
    "prediction",
    "completion",
    "output",
)
_TRUTHS = (
    *("rightanswers", "rightanswer", "correctanswers", "correctanswer", *RIGHT_ANSWERS),
    *("groundtruth", "truth", "expected", "target"),
)
_ENTROPIES = ("semanticentropy", "entropy")
#: Numbers that are no score: they name or count a row, or say how it was made.
_NO_SCORE = re.compile(
    r"id|index|idx|row(number)?|line|number|no|n|k|seed|fold|step|epoch|rank|year|popularity|"
    r"(n|num)?(samples|clusters)|sampledmass|exposures|length|tokens|seconds|latency|time|"
    r"temperature|tau|gamma[12]?"
)
#: These compare an answer with the truth: a kind of correctness, which no score may know.
_JUDGEMENTS = frozenset({"f1", "em", "bleu", "rouge", "rouge1", "rougel", "bertscore", "exact"})
_TRUTH = {Meaning.RIGHT: True, Meaning.WRONG: False, Meaning.OUT: None}


@dataclass(frozen=True)
class ScoreColumn:
    """One score column.

    Attributes
    ----------
    column : str
    larger_is_surer : bool or None
        Whether it is a confidence; its doubt is then the negative. None while nobody has said it.
    correct : str
        The column that says whether the answer that this score serves is right.
    """

    column: str
    larger_is_surer: bool | None
    correct: str


@dataclass(frozen=True)
class Columns:
    """Which column means what.

    Attributes
    ----------
    query, source : str or None
        A source is any group of queries that may differ from the others.
    scores : tuple of Score
    entropy : str or None
        Semantic entropy in nats, for bins.
    meant : tuple of Meant
        What a person said of labels, above all of those that say neither right nor wrong.
    answer, truth : str or None
        What was answered, and what would have been right: to be read, and not compared.
    """

    query: str | None
    source: str | None
    scores: tuple[ScoreColumn, ...]
    entropy: str | None = None
    meant: tuple[Meant, ...] = ()
    answer: str | None = None
    truth: str | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns that say whether answers are right, each once."""
        return tuple(dict.fromkeys(score.correct for score in self.scores))


@dataclass(frozen=True)
class Labelled:
    """Scored and labelled queries.

    Attributes
    ----------
    name, sha256 : str
        Of the file.
    queries : ndarray of shape (n,)
        Their texts; the number of the row where there is none.
    sources : ndarray of shape (n,)
        "" where there is none.
    doubts : mapping of str to ndarray of shape (n,)
        By score column: larger means "doubt more", NaN is missing.
    correct : mapping of str to ndarray of shape (n,)
        By score column.
    entropies : ndarray of shape (n,) or None
        Nats; NaN is missing.
    surer : mapping of str to bool
        By score column: whether the column holds the negative of the doubt.
    pipeline : str
        What the column "pipeline" says if it is the same in every row used; else "".
    kept : ndarray of shape (n,)
        Which rows of the upload's table these are.
    problems : tuple of str
        What is wrong with which lines, a sentence each.
    decided : tuple of str
        What a person said that labels mean, a sentence each.
    left_out : int
        How many rows of the file have no label, by what the person said.
    one_kind : frozenset of str
        The scores whose labels in the file are all right, or all wrong.
    answers, truths : ndarray of shape (n,) or None
        What was answered, and what would have been right; None where the file does not say it.
    numbered : ndarray of shape (n,) or None
        Which question each row asks, as `question_numbers` says; None until it is needed.
    """

    name: str
    sha256: str
    queries: NDArray[np.object_]
    sources: NDArray[np.object_]
    doubts: Mapping[str, NDArray[np.float64]]
    correct: Mapping[str, NDArray[np.bool_]]
    entropies: NDArray[np.float64] | None
    surer: Mapping[str, bool]
    pipeline: str
    kept: NDArray[np.int64]
    problems: tuple[str, ...]
    decided: tuple[str, ...] = ()
    left_out: int = 0
    one_kind: frozenset[str] = frozenset()
    answers: NDArray[np.object_] | None = None
    truths: NDArray[np.object_] | None = None
    numbered: NDArray[np.int64] | None = None

    @property
    def questions(self) -> NDArray[np.int64]:
        """Which question each row asks: rows of one question have the same number."""
        return question_numbers(self.queries) if self.numbered is None else self.numbered

    def numbers(self, score: str) -> NDArray[np.float64]:
        """Return a score as the file has it, in its own direction; NaN is missing."""
        # Subtracted from 0, for the negative of 0 is -0.
        return 0.0 - self.doubts[score] if self.surer[score] else self.doubts[score]


# -------------------------------------------------------------------------- suggestions


def suggest(upload: Upload) -> Columns:
    """Return the best guess at what the columns mean; it may have no scores.

    A score whose heading says which way it points is preferred to others. Raises nothing: what
    cannot be guessed is left open.
    """
    looks = kinds(upload)
    query, source = first(upload, QUERIES), first(upload, SOURCES)
    # With labels of its own, "semantic_entropy" is a doubt: missing where too little was seen.
    is_doubt = first(upload, ["semanticentropycorrect"]) is not None
    entropy = first(upload, _ENTROPIES[::-1] if is_doubt else _ENTROPIES)
    if entropy is not None and looks[entropy] is not ColumnKind.NUMBER:
        entropy = None
    labels = [name for name, kind in looks.items() if kind is ColumnKind.LABEL]
    common = _correctness(upload, looks, _CORRECT)
    if common is None and len(labels) == 1:
        common = labels[0]
    scores = []
    for name, kind in looks.items():
        plain = plain_heading(name)
        own = _correctness(upload, looks, [f"{plain}correct", f"correct{plain}"])
        correct = own or common
        # Our own doubts may all be 0, which looks like wrong.
        number = kind is ColumnKind.NUMBER or (kind is ColumnKind.LABEL and name in SCORES and own)
        is_score = number and name not in (query, source, common)
        if correct and is_score and (own or _could_be_score(name)):
            scores.append(ScoreColumn(name, direction_of(name), correct))
    # One that would be refused stands in nobody's way; the only one is refused with a sentence.
    clear = [s for s in scores if column_of(upload, s.column).doubtful_number() is None] or scores
    directed = [s for s in clear if s.larger_is_surer is not None]
    used = {name for score in scores for name in (score.column, score.correct)} | {query, source}
    answer, truth = (
        next((name for name in columns_named(upload, names) if name not in used), None)
        for names in (_ANSWERS, _TRUTHS)
    )
    return Columns(query, source, tuple(directed or clear), entropy, answer=answer, truth=truth)


def _correctness(
    upload: Upload, looks: Mapping[str, ColumnKind], names: Sequence[str]
) -> str | None:
    """Return the first column of these names in which half of the cells say right or wrong."""
    for name in columns_named(upload, names):
        if looks[name] is ColumnKind.LABEL:
            return name
        if looks[name] is ColumnKind.TEXT:
            cells = column_of(upload, name)
            read = np.count_nonzero(~np.isnan(cells.correctness()))
            if 2 * read >= np.count_nonzero(~cells.where(Cell.MISSING)):
                return name
    return None


def _could_be_score(heading: str) -> bool:
    words = re.split(r"[\s_-]+", heading[:LONGEST_HEADING].casefold())
    return (
        not _NO_SCORE.fullmatch(plain_heading(heading))
        and words[-1] not in {"id", "index"}
        and not _JUDGEMENTS & set(words)
    )


# ------------------------------------------------------------------------------- arrays


def labelled(upload: Upload, columns: Columns) -> Labelled:
    """Return the scored and labelled queries of an upload.

    Raises
    ------
    UploadError
        When a column does not exist or does not fit, nobody has said what a larger score means
        (`UnknownDirectionError`), there are more than `MAX_SCORED` scores times rows, no row says
        whether its answer is right, a label says neither right nor wrong and nobody has said what
        it means (`UnreadLabelsError`), a score has no number, or its commas can be read in two
        ways.
    """
    _check(upload, columns)
    usable, right, problems = _rows(upload, columns)
    scores = {}
    for score in columns.scores:
        _refuse_doubtful(upload, score.column)
        scores[score.column], complaints = _numbers(upload, score.column, usable)
        if np.isnan(scores[score.column]).all():
            raise UploadError(_no_number(upload, score.column, "score"))
        problems += complaints
    surer = check_directions([(score.column, score.larger_is_surer) for score in columns.scores])
    entropies = None
    if columns.entropy is not None:
        entropies, complaints = _numbers(upload, columns.entropy, usable)
        if np.isnan(entropies).all() or _doubtful(upload, columns.entropy):
            entropies, complaints = None, [_no_number(upload, columns.entropy, "entropy")]
        problems += complaints
    queries, questions, complaints = _queries(upload, columns.query, usable)
    problems += complaints
    pipeline, complaints = _pipeline(upload, usable)
    problems += complaints
    sources = np.full(len(usable), "", object)
    if columns.source is not None:
        sources = column_of(upload, columns.source)[usable]
        _refuse_groups_of_labels(columns.source, sources, right)
    return Labelled(
        name=upload.name,
        sha256=upload.sha256,
        queries=queries,
        sources=sources,
        doubts={name: _doubts(numbers, surer[name]) for name, numbers in scores.items()},
        correct={score.column: right[score.correct] for score in columns.scores},
        entropies=entropies,
        surer=surer,
        pipeline=pipeline,
        kept=usable,
        problems=tuple(problems),
        decided=tuple(decisions(upload, columns.meant)),
        left_out=len(upload.table) - len(usable),
        one_kind=frozenset(
            score.column for score in columns.scores if len(np.unique(right[score.correct])) == 1
        ),
        answers=column_of(upload, columns.answer)[usable] if columns.answer else None,
        truths=column_of(upload, columns.truth)[usable] if columns.truth else None,
        numbered=questions,
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
        if name is not None and name not in upload.table.columns:
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


def _rows(
    upload: Upload, columns: Columns
) -> tuple[NDArray[np.int64], dict[str, NDArray[np.bool_]], list[str]]:
    """Return the rows that are labelled for every score, their labels, and complaints."""
    meant = {(each.column, each.value): each.meaning for each in columns.meant}
    check_meanings(upload, columns.labels, meant)
    values: dict[str, NDArray[np.float64]] = {}
    problems: list[str] = []
    usable = np.ones(len(upload.table), bool)
    for name in columns.labels:
        cells = column_of(upload, name)
        own = {each.value: each.meaning for each in columns.meant if each.column == name}
        values[name] = cells.correctness({value: _TRUTH[own[value]] for value in own})
        for value in (value for value in own if own[value] is Meaning.OUT):
            rows = cells.of_word(value)
            what = f"“{one_line(name)}” is {display(spelt(cells, value))}"
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
    return numbers[rows], list(complaint(upload, unreadable & used, what, "counts as missing"))


def _doubts(numbers: NDArray[np.float64], larger_is_surer: bool) -> NDArray[np.float64]:
    # Subtracted from 0, for the negative of 0 is -0.
    return 0.0 - numbers if larger_is_surer else 0.0 + numbers


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
        f"“{one_line(name)}” has no number: {HOLDS[cells.kind]}. Choose another column as {role}."
    )


def _queries(
    upload: Upload, name: str | None, rows: NDArray[np.int64]
) -> tuple[NDArray[np.object_], NDArray[np.int64], list[str]]:
    """Return the queries, and which question each is, as `question_numbers` says.

    One without text stands for itself, under the number of its row.
    """
    numbers = compute.cast(pa.array(rows + 1), pa.large_string())
    if name is None:
        return _objects(numbers), question_numbers(numbers), []
    cells = column_of(upload, name)
    empty = cells.where(Cell.BLANK)
    if not empty[rows].any():
        return cells[rows], cells.questions(rows), []
    texts = compute.if_else(empty[rows], numbers, cells.distinct.take(pa.array(cells.codes[rows])))
    used = np.zeros(len(empty), bool)
    used[rows] = True
    what = f"“{one_line(name)}” is empty"
    so = "each counts as a separate question"
    problems = list(complaint(upload, empty & used, what, so))
    return _objects(texts), question_numbers(texts), problems


def _objects(texts: pa.Array) -> NDArray[np.object_]:
    return np.asarray(texts.to_numpy(zero_copy_only=False), object)


def _pipeline(upload: Upload, rows: NDArray[np.int64]) -> tuple[str, list[str]]:
    name = first(upload, ["pipeline"])
    if name is None:
        return "", []
    texts = {text.strip() for text in column_of(upload, name)[rows]}
    if len(texts) == 1:
        return texts.pop(), []
    return "", [
        f"“{one_line(name)}” names {len(texts):,} different pipelines, whose scores cannot be "
        "compared; upload each by itself."
    ]


# ------------------------------------------------------------------------- without labels


def doubts_of(upload: Upload, column: str, larger_is_surer: bool) -> NDArray[np.float64]:
    """Return one score's doubts for every row, labelled or not; NaN where there is none.

    Raises
    ------
    UploadError
        When the column holds no number, or its commas can be read in two ways.
    """
    _refuse_doubtful(upload, column)
    numbers, _ = column_of(upload, column).numbers()
    if np.isnan(numbers).all():
        raise UploadError(_no_number(upload, column, "score"))
    return _doubts(numbers, larger_is_surer)


def pipelines_of(upload: Upload) -> list[str]:
    """Return every different text of the column "pipeline", if there is one."""
    name = first(upload, ["pipeline"])
    return [] if name is None else column_of(upload, name).texts


# ------------------------------------------------------------------------------ template


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
