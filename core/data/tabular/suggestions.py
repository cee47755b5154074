"""What the columns of an upload seem to mean, by their headings and by what their cells look like.

A guess settles nothing that can break a promise: of two columns that could be the labels, none is
taken.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from core.data.tabular.columns import (
    MOST_VALUES,
    Cell,
    ColumnKind,
    column_of,
    columns_named,
    first,
    kinds,
    question_column,
    word_of,
)
from core.data.tabular.directions import direction_in, direction_of
from core.data.tabular.headings import (
    ANSWERS,
    RIGHT_ANSWERS,
    SOURCES,
    is_question_heading,
    plain_heading,
)
from core.data.tabular.label_meanings import judges, own_labels
from core.data.tabular.label_words import (
    LONGEST_HEADING,
    affirmation_is_right,
    heading_words,
    leaves_rightness_open,
    says_nothing_else,
)
from core.data.tabular.labelled_rows import Columns, ScoreColumn
from core.data.tabular.repeated_questions import why_open
from core.data.tabular.uploads import Upload
from core.uncertainty.scores import SCORES

# Headings are compared without case, white space, _ and -. The first that is found is taken.
_CORRECT = ("correct", "iscorrect", "correctness", "right", "isright")
_TRUTHS = (*RIGHT_ANSWERS, "truth")
_ENTROPIES = ("semanticentropy", "entropy")
#: Numbers that are neither score nor label: they name or count a row, or say how it was made.
_NO_SCORE = re.compile(
    r"id|index|idx|row(number)?|line|number|no|n|k|seed|fold|step|epoch|rank|year|popularity|"
    r"(n|num)?(samples|clusters)|sampledmass|exposures|length|tokens|seconds|latency|time|"
    r"temperature|tau|gamma[12]?|topp|topk|turn|attempt|repeat|iteration"
)
_MOSTLY = 0.8  # of the cells
_TWO = 2  # words of labels
_LAST = frozenset({"id", "index", "timestamp", "date", "time"})
#: These compare an answer with the truth: a kind of correctness, which no score may know.
_JUDGEMENTS = frozenset({"f1", "em", "bleu", "rouge", "rouge1", "rougel", "bertscore", "exact"})


def suggest(upload: Upload) -> Columns:
    """Return the best guess at what the columns mean; it may have no scores.

    A score whose heading says which way it points is preferred to others. Raises nothing: what
    cannot be guessed is left open, as a score without direction or labels.
    """
    looks = kinds(upload)
    query, source = question_column(upload), first(upload, SOURCES)
    if query and why_open(upload, query):
        query = None
    # With labels of its own, "semantic_entropy" is a doubt: missing where too little was seen.
    is_doubt = first(upload, ["semanticentropycorrect"]) is not None
    entropy = first(upload, _ENTROPIES[::-1] if is_doubt else _ENTROPIES)
    if entropy is not None and looks[entropy] is not ColumnKind.NUMBER:
        entropy = None
    own = {} if upload.grading else _own_labels(upload, looks)
    compared = upload.grading.columns if upload.grading else frozenset()
    labels = label_columns(upload, looks, own)
    common = labels[0] if len(labels) == 1 else None
    scores = []
    for name, kind in looks.items():
        # Our own doubts may all be 0, which looks like wrong.
        is_number = (
            kind is ColumnKind.NUMBER
            or (kind is ColumnKind.LABEL and name in SCORES and name in own)
            or (kind is ColumnKind.TEXT and _is_mostly_numbers(upload, name))
        )
        if (
            is_number
            and direction_of(name) is None
            and column_of(upload, name).has(Cell.LIST).any()
        ):
            continue  # numbers in lists may be answers, or choices
        is_score = is_number and name not in (query, source, *labels, *compared)
        if is_score and (name in own or (labels and _could_be_score(name, _TRUTHS))):
            scores.append(ScoreColumn(name, direction_in(upload, name), own.get(name, common)))
    # One that would be refused stands in nobody's way; the only one is refused with a sentence.
    clear = [s for s in scores if column_of(upload, s.column).doubtful_number() is None] or scores
    directed = [s for s in clear if s.larger_is_surer is not None]
    used = {name for score in scores for name in (score.column, score.correct)} | {query, source}
    answer, truth = (
        next((name for name in columns_named(upload, names) if name not in used), None)
        for names in (ANSWERS, _TRUTHS)
    )
    if upload.grading:
        query = upload.grading.question or query
        answer, truth = upload.grading.prediction, upload.grading.references[0]
    return Columns(query, source, tuple(directed or clear), entropy, answer=answer, truth=truth)


def label_columns(
    upload: Upload, looks: Mapping[str, ColumnKind], own: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Return the columns that could say whether answers are right, whatever the score.

    Labels that were made here; else those whose heading or words say so; only where there is none,
    those of 0 and 1 or yes and no whose heading says nothing; and else grades, numbers whose
    heading says so. More than one: a person has to choose. `own`: the labels of scores that have
    some of their own; where any has, only a heading such as "correct" speaks of the others.
    """
    if upload.grading:
        return (upload.grading.label,)
    if own:
        named = [n for n in columns_named(upload, _CORRECT) if _looks_like_labels(upload, n)]
        return tuple(named[:1])
    clear: list[str] = []
    unclear: list[str] = []
    grades: list[str] = []
    for name, kind in looks.items():
        if is_question_heading(name):
            continue
        if not _looks_like_labels(upload, name):
            if kind is ColumnKind.NUMBER and _are_grades(upload, name):
                grades.append(name)
            continue
        if affirmation_is_right(name) is not None or judges(upload, name):
            clear.append(name)
        elif (
            kind is ColumnKind.LABEL
            and _could_be_score(name)
            and not column_of(upload, name).has(Cell.LIST).any()
        ):
            unclear.append(name)
    if len(clear) == 1 and not judges(upload, clear[0]):
        clear += (name for name in unclear if _is_answer_in_words_of(upload, name, clear[0]))
        if not says_nothing_else(clear[0]):  # beside “correct (judge)”, “correct (person)” counts
            clear += (name for name in unclear if leaves_rightness_open(name) and name not in clear)
    return tuple(clear or unclear or grades)


def _own_labels(upload: Upload, looks: Mapping[str, ColumnKind]) -> dict[str, str]:
    """Return the columns that say of one score each whether its answers are right, by score."""
    own = {}
    for name, kind in looks.items():
        labels = own_labels(upload, name).get("", "")
        labels = labels if labels and _looks_like_labels(upload, labels) else ""
        if labels and (kind is ColumnKind.NUMBER or (kind is ColumnKind.LABEL and name in SCORES)):
            own[name] = labels
    return own


def _looks_like_labels(upload: Upload, name: str) -> bool:
    """Whether half of the cells of a column judge, affirm or deny, and its other words are few.

    Or whether its heading names rightness alone, and it has two words.
    """
    column = column_of(upload, name)
    if column.kind is not ColumnKind.TEXT:
        return column.kind is ColumnKind.LABEL
    says = int(np.count_nonzero(column.where(Cell.RIGHT | Cell.WRONG)))
    if not says:  # of two words under “correct”, a person knows what they mean
        is_named = affirmation_is_right(name) is not None and says_nothing_else(name)
        return is_named and column.unread_words <= _TWO
    is_few = column.unread_words <= MOST_VALUES or affirmation_is_right(name) is not None
    return is_few and 2 * says >= int(np.count_nonzero(~column.where(Cell.MISSING)))


def _are_grades(upload: Upload, name: str) -> bool:
    """Whether numbers of few values, 0 or 1 among them, say how right an answer is."""
    column = column_of(upload, name)
    return (
        affirmation_is_right(name) is not None
        and column.unread_words <= MOST_VALUES
        and bool(column.has(Cell.RIGHT | Cell.WRONG).any())
    )


def _is_answer_in_words_of(upload: Upload, name: str, labels: str) -> bool:
    """Whether a model answers in the words of the labels: then these may be the right answers."""
    words, theirs = (
        {word_of(text) for text in column_of(upload, each).texts} for each in (name, labels)
    )
    return plain_heading(name) in ANSWERS and not words.isdisjoint(theirs)


def _is_mostly_numbers(upload: Upload, name: str) -> bool:
    """Whether a column has scores with a few odd cells, such as "ERROR 429"."""
    column = column_of(upload, name)
    if plain_heading(name) in (*ANSWERS, *_TRUTHS) or is_question_heading(name):
        return False
    numbers = int(np.count_nonzero(~np.isnan(column.values[column.codes])))
    return numbers >= _MOSTLY * int(np.count_nonzero(~column.where(Cell.MISSING))) > 0


def _could_be_score(heading: str, others: Sequence[str] = ()) -> bool:
    words = heading_words(heading[:LONGEST_HEADING]).split() or [""]
    return (
        not _NO_SCORE.fullmatch(plain_heading(heading))
        and plain_heading(heading) not in others
        and words[-1] not in _LAST
        and not _JUDGEMENTS & set(words)
    )
