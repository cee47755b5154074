"""Labelled data on a page: upload it, see what was read, say what its columns mean."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.abstention.codebook import EVERY_ROW
from core.charts.inspection import shown
from core.codec import count_of
from core.data.datasets.predictions import asks_for_grading
from core.data.datasets.tables import holds_questions
from core.data.tabular import uploads
from core.data.tabular.columns import MOST_VALUES, Cell, Column, ColumnKind, column_of, kinds
from core.data.tabular.headings import RULES
from core.data.tabular.label_meanings import own_labels
from core.data.tabular.labelled_rows import (
    Columns,
    LabelledRows,
    ScoreColumn,
    labelled_rows,
    template,
)
from core.data.tabular.mixed_rows import UnknownMixtureError
from core.data.tabular.repeated_questions import repeats_unknown
from core.data.tabular.suggestions import suggest
from core.data.tabular.suspicion import SuspiciousScoreError
from core.data.tabular.uploads import Upload, UploadError
from core.reports.calibration.words import repeated_questions
from core.store.errors import StoreError
from core.studies.calibration.calibration import BEST, independent_rows
from core.studies.calibration.first_calibration import example
from core.ui import downloads
from core.ui.calibration import run, saved_file
from core.ui.calibration.directions import directions
from core.ui.calibration.grading import grade_here
from core.ui.calibration.open_questions import (
    ask_which_counts,
    claims_of,
    filters_of,
    meanings,
    reversal,
    vouch_for,
)
from core.ui.messages import problem
from core.ui.runs.large import SMALL, result_of
from core.ui.session import memory_of, public
from core.ui.upload_places import content_of, file_field, let_go
from core.ui.uploads import TYPES, is_long, prepare, read

_UPLOAD, _UPLOADED = "calibration_upload", "calibration_uploaded_id"
_PROBLEM = "calibration_upload_problem"
_TABLE = "calibration_table"  # which one the columns are of: the file, or the rows of a run
PREVIEW = 200  # rows
PREVIEW_CELL = 200  # characters
ONE_EACH = "one for each score"
NO_COLUMN = "(none)"
WHERE = {  # by whether this is a public demo
    False: "It is saved in this program’s database, so that a reload of the page finds it. "
    "“Remove” deletes it there.",
    True: "It stays in this program’s memory.",
}
RIGHT_OR_WRONG = (
    "Whether the answer that this score would serve is right. It can differ between scores."
)
BEFORE_DATA = (
    "Set the target before you load the data: one that was chosen after a look at the results has "
    "to be paid for."
)
MEANINGS = {
    "query": "Question",
    "answer": "Answer",
    "truth": "Right answer",
    "source": "Group (such as source or topic)",
    "entropy": "Semantic entropy (nats)",
}


def labelled_data() -> LabelledRows | None:
    """Let the person bring labelled data; return it once it can be calibrated on."""
    bring = st.expander("Use your own", icon=":material/upload:", expanded=not shows_example())
    with bring, st.container(horizontal=True, vertical_alignment="bottom"):
        file = file_field(
            "Scores marked right or wrong, or questions with right answers",
            TYPES,
            None,
            partial(st.session_state.pop, _PROBLEM, None),  # of the file before
            key="labelled_file",
            help="A row of marked answers has a score and says right or wrong. "
            f"{BEFORE_DATA} CSV, TSV, JSON, Parquet or Excel (.xlsx), text preferably in UTF-8. "
            f"{WHERE[public()]}",
        )
        about = "A small CSV whose columns are recognised automatically."
        downloads.download("Template", template, "template.csv", help=about)
    prepare()
    _after_reload()
    if file is not None and st.session_state.get(_UPLOADED) != file.file_id:
        _keep(content_of(file), file.name)
        # Only now: a reading that was interrupted begins again.
        st.session_state[_UPLOADED] = file.file_id
        let_go(file)
    if failed := st.session_state.get(_PROBLEM):
        problem(failed)
    upload: Upload | None = st.session_state.get(_UPLOAD)
    if shows_example():
        return example()
    if upload is None:
        rows = run.rows_of_address()
    else:
        _what_was_read(upload)
        saved_file.why_not()
        from_here = st.session_state.get(_to_ask(upload), False)
        lacks = result_of(
            "lacks",
            upload,
            lambda _: _what_it_lacks(upload, from_here),
            from_here,
            large=is_long(upload),
        )
        if lacks is None:
            return None
        rows = lacks(upload)
    if rows is None:
        return None
    st.session_state[_TABLE] = rows.sha256
    return _map(rows)


def _what_it_lacks(upload: Upload, from_here: bool) -> Callable[[Upload], Upload | None]:
    """Return what brings a file its labels, or its scores; what it has needs nothing."""
    if asks_for_grading(upload):
        return grade_here
    return run.rows_of_questions if from_here or run.is_to_ask(upload) else lambda of: of


def has_questions() -> bool:
    """Say whether the file in use has questions with right answers, which a model can be asked."""
    upload: Upload | None = st.session_state.get(_UPLOAD)
    return upload is not None and memory_of(
        "has_questions", upload, lambda: holds_questions(upload)
    )


def ask_model() -> None:
    """Have the questions of the file in use asked here, in place of the scores that it has."""
    st.session_state[_to_ask(st.session_state[_UPLOAD])] = True


def _to_ask(upload: Upload) -> str:
    return f"ask_{upload.sha256[:16]}"


def shows_example() -> bool:
    """Say whether the bundled example is shown: nobody has brought anything, not even in vain."""
    is_here = _UPLOAD in st.session_state or _PROBLEM in st.session_state
    return not (is_here or run.is_shown() or saved_file.names_file())


def _after_reload() -> None:
    """Read the file again that the address names: a reload is another session."""
    if _UPLOAD in st.session_state or _PROBLEM in st.session_state:
        return
    try:
        stored = saved_file.after_reload()
    except StoreError as error:  # which passes: the next look finds the file
        problem(f"The file that this address names cannot be read. {error}")
        return
    if isinstance(stored, str):
        st.session_state[_PROBLEM] = stored
    elif stored is not None:
        try:
            st.session_state[_UPLOAD] = read(stored.content, stored.name)
        except UploadError as error:
            st.session_state[_PROBLEM] = f"{stored.name}: {error}"


def remember() -> None:
    """Save what was said of the file in use, for a reload; the last part of the page."""
    upload: Upload | None = st.session_state.get(_UPLOAD)
    if upload is not None:
        saved_file.note(upload.sha256, st.session_state.get(_TABLE, upload.sha256))


def use(content: bytes, name: str) -> None:
    """Take a table that this program wrote as if it had been uploaded.

    Raises `UploadError` when it is too large, or has no row.
    """
    st.session_state[_UPLOAD] = uploads.parse(content, name)
    st.session_state.pop(_PROBLEM, None)
    saved_file.keep(content, name)


def choose_best() -> None:
    """Take the best of all scores of the table in use, at the price of all."""
    st.session_state[f"score_{st.session_state[_UPLOAD].sha256[:16]}"] = BEST


def _keep(content: bytes, name: str) -> None:
    """Read and remember a file; one that cannot be read leaves the last one in place."""
    try:
        st.session_state[_UPLOAD] = read(content, name)
        st.session_state.pop(_PROBLEM, None)
        saved_file.keep(content, name)
    except UploadError as error:
        st.session_state[_PROBLEM] = f"{name}: {error}"


def _forget() -> None:
    for key in (_UPLOAD, _PROBLEM):
        st.session_state.pop(key, None)
    saved_file.forget()


def _what_was_read(upload: Upload) -> None:
    """Name the file, and show its first rows with the types that were detected."""
    rows, columns = upload.table.shape
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(
            f"{upload.name}: {count_of(rows, 'row')}, {count_of(columns, 'column')} "
            f"({upload.kind})",
            width="stretch",
        )
        st.button("Remove", key="remove_upload", icon=":material/close:", on_click=_forget)
    for note in upload.notes:
        st.text(f"Note: {note}")
    with st.expander("Look at the data", icon=":material/table:", key="look_at_data"):
        looks = memory_of("kinds", upload, partial(kinds, upload))
        st.dataframe(
            {
                "column": [shown(name) for name in looks],
                "detected as": [kind.value for kind in looks.values()],
                "first cell": [_cell(shown(upload.table[name].iloc[0])) for name in looks],
            },
            hide_index=True,
            key="kinds",
        )
        preview, is_cut = memory_of("preview", upload, partial(_preview, upload))
        st.dataframe(preview.rename_axis(upload.unit), key="preview")
        limits = [f"the first {PREVIEW:d} rows"] if rows > PREVIEW else []
        if is_cut:
            limits.append(f"the first {PREVIEW_CELL:d} characters of longer cells")
        if limits:
            st.text(f"Shown: {' and '.join(limits)}.")


def _preview(upload: Upload) -> tuple[pd.DataFrame, bool]:
    """Return the first rows with cells short enough for the browser, and whether any is cut."""
    first = upload.table.head(PREVIEW)
    rows = first.to_numpy(object).tolist()
    cut = [[_cell(text) for text in row] for row in rows]
    return pd.DataFrame(cut, upload.lines[:PREVIEW], first.columns, "str"), cut != rows


def _cell(text: str) -> str:
    return text if len(text) <= PREVIEW_CELL else f"{text[:PREVIEW_CELL]}…"


def _map(upload: Upload) -> LabelledRows | None:
    """Let the person say what the columns mean, beginning with a good guess."""
    guessed = result_of(
        "guess", upload, lambda _: _guess(upload), large=is_long(upload), refuses=UploadError
    )
    if guessed is None:
        return None
    guess, numbers, labels, open_questions = guessed
    own = {score.column: score.correct for score in guess.scores}
    key = upload.sha256[:16]
    is_clear = any(score.larger_is_surer is not None for score in guess.scores)
    place = st.container()
    with st.expander(
        "What the columns mean",
        key=f"columns_{key}",  # stays open, also when what stands above it changes
        icon=":material/view_column:",
        expanded=not is_clear,
    ):
        surer = directions(upload, guess, numbers, key, place)
        labels.sort(key=lambda name: name in surer)  # no score says by itself whether it is right
        correct = _correctness(upload, list(surer), labels, own, key, place)
        query = _question(upload, guess.query, open_questions, place if surer else None)
        answer = _column("answer", upload, guess.answer)
        truth = _column("truth", upload, guess.truth)
        source = _column("source", upload, guess.source)
        entropy = _column("entropy", upload, guess.entropy)
        filters = filters_of(upload)
        labels_chosen = dict.fromkeys(name for name in correct.values() if name)
        can_turn = labels_chosen and not upload.grading
        turns = reversal(upload, [*labels_chosen]) if can_turn else ()
    if not surer or None in correct.values():
        return None
    scores = tuple(ScoreColumn(name, way, correct[name]) for name, way in surer.items())
    vouched = claims_of(upload)
    roles = Columns(query, source, scores, entropy, answer=answer, truth=truth)
    columns = replace(roles, vouched=vouched, filters=filters)
    try:
        meant = meanings(upload, [n for n in columns.labels if n not in surer], filters)
    except UploadError as error:
        problem(str(error))
        return None
    return (
        None
        if meant is None or query is None
        else _read(upload, replace(columns, meant=(*meant, *turns)))
    )


def _correctness(
    upload: Upload,
    scores: list[str],
    labels: list[str],
    own: dict[str, str | None],
    key: str,
    place: DeltaGenerator,
) -> dict[str, str | None]:
    """Let the person say which column tells whether a score's answers are right.

    Where several columns could, none is taken unasked: the field stands in `place`, empty.
    """
    each: str | None = ONE_EACH
    if unclear := None in own.values():
        place = place.container(border=True, key="labels")
        head = place.empty()
        place.text(
            "Several columns could say whether an answer is right, and a guess could promise the "
            "opposite of the truth. Choose one."
        )
    if unclear or len(scores) > 1:
        names = set(own.values())
        by_rule = {} if unclear else _labels_by_rule(upload, scores)
        options = labels if unclear else [ONE_EACH, *by_rule, *labels]
        only = names.pop() if len(names) == 1 else None
        first = 0 if only is None else options.index(only)
        each = (place if unclear else st).selectbox(
            "Right or wrong",
            options,
            None if unclear else first,
            key=f"correct_{key}",
            persist_state="session",
            help=RIGHT_OR_WRONG,
            placeholder="Choose the column that says right or wrong",
        )
        if each in by_rule:
            return {**by_rule[each]}
    if each is None:
        head.badge("Your answer is needed", icon=":material/help:", color="orange")
    if each != ONE_EACH:
        return dict.fromkeys(scores, each)
    return {
        score: st.selectbox(
            "Right or wrong",
            labels,
            labels.index(own.get(score) or labels[0]),
            key=f"correct_{key}_{score}",
            persist_state="session",
            format_func=partial(_of, score) if len(scores) > 1 else str,
            label_visibility="collapsed" if len(scores) > 1 else "visible",
            help=RIGHT_OR_WRONG,
        )
        for score in scores
    }


def _labels_by_rule(upload: Upload, scores: list[str]) -> dict[str, dict[str, str]]:
    """Return the labels of each score by another rule, by what offers them, if all have some."""
    own = {score: own_labels(upload, score) for score in scores}
    return {
        f"{ONE_EACH}, by {words}": {score: own[score][rule] for score in scores}
        for rule, words in RULES.items()
        if all(rule in each for each in own.values())
    }


def _guess(upload: Upload) -> tuple[Columns, list[str], list[str], str]:
    """Return what the columns seem to mean, which hold any number, and which any label.

    Last, what is to be asked about repeated questions; "" where the file tells them.

    One odd cell must not keep a person from choosing a column: its line is named later.
    Columns of labels alone come first, and a column of few words may be one; where there is none,
    every column can be chosen.
    """
    guess, looks = suggest(upload), kinds(upload)
    grading = upload.grading
    columns = {name: column_of(upload, name) for name in looks}
    numbers = [
        name
        for name, column in columns.items()
        if looks[name] is ColumnKind.NUMBER or not np.isnan(column.values).all()
    ]
    labels = [
        name
        for name, column in columns.items()
        if column.has(Cell.RIGHT | Cell.WRONG).any() or _has_few_values(looks[name], column)
    ]
    sure = {score.correct for score in guess.scores}
    labels.sort(key=lambda name: looks[name] is not ColumnKind.LABEL and name not in sure)
    labels = [grading.label] if grading else labels or list(looks)
    return guess, numbers, labels, "" if guess.query else repeats_unknown(upload)


def _has_few_values(looks: ColumnKind, column: Column) -> bool:
    """Whether a person can say what each value of a column means: there are few of them."""
    return looks is ColumnKind.TEXT and len(column.distinct) <= MOST_VALUES


def _of(score: str, column: str) -> str:
    return f"{score}: {column}"


def _question(
    upload: Upload, guess: str | None, why: str, place: DeltaGenerator | None
) -> str | None:
    """Let the person say which column tells the question; where no heading does, ask in `place`."""
    head = None
    if guess is None and place is not None:
        place = place.container(border=True, key="questions")
        head = place.empty()
        place.text(why)
    options = [EVERY_ROW, *upload.table.columns]
    chosen = (place if head and place else st).selectbox(
        MEANINGS["query"],
        options,
        options.index(guess) if guess in options else None,
        key=f"query_{upload.sha256[:16]}",
        persist_state="session",
        format_func=lambda name: name or "(every row asks another question)",
        placeholder="Choose what tells one question from another",
    )
    if chosen is None and head is not None:
        head.badge("Your answer is needed", icon=":material/help:", color="orange")
    return chosen


def _column(meaning: str, upload: Upload, guess: str | None) -> str | None:
    options = [NO_COLUMN, *upload.table.columns]
    chosen = st.selectbox(
        MEANINGS[meaning],
        options,
        options.index(guess) if guess in options else 0,
        key=f"{meaning}_{upload.sha256[:16]}",
        persist_state="session",
    )
    return None if chosen == NO_COLUMN else chosen


def _read(upload: Upload, columns: Columns) -> LabelledRows | None:
    """Turn columns into arrays, once for every file and mapping."""
    try:
        read_rows = result_of(
            "labelled",
            upload,
            lambda _: _independent(labelled_rows(upload, columns)),
            columns,
            large=len(upload.table) * len(columns.scores) > SMALL,
            refuses=UploadError,
        )
    except UnknownMixtureError as error:
        ask_which_counts(upload, error)
        return None
    except SuspiciousScoreError as error:
        vouch_for(upload, error)
        return None
    except UploadError as error:
        problem(str(error))
        return None
    if read_rows is None:
        return None
    rows, repeated = read_rows
    for complaint in rows.problems:
        if complaint not in rows.reading:
            st.text(complaint)
    if repeated:
        st.text(repeated_questions(repeated))
    return rows


def _independent(every: LabelledRows) -> tuple[LabelledRows, int]:
    """Return one row of every question, and how many rows that leaves out."""
    counted = independent_rows(every)
    return counted, len(every.kept) - len(counted.kept)
