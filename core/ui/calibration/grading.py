"""Predictions beside references: the page asks who says which are right, and shows who differs."""

from collections.abc import Mapping
from typing import Final

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.abstention.codebook import PERSON
from core.codec import count_of
from core.data.datasets.predictions import (
    Predictions,
    grade,
    predictions_in,
    read_predictions,
    with_grades,
)
from core.data.tabular.columns import kinds
from core.data.tabular.csv_export import to_csv
from core.data.tabular.grading import BY_HAND, BY_MODEL, NAMES, NO_LABEL, RIGHT, WRONG, Grader
from core.data.tabular.suggestions import label_columns, suggest
from core.data.tabular.uploads import Upload, UploadError
from core.store.errors import StoreError
from core.studies.progress import Progress
from core.ui import downloads
from core.ui.calibration.judging import judge_here, judge_name
from core.ui.calibration.labelling import label_here, used_labels
from core.ui.evaluation.cells import display
from core.ui.messages import problem
from core.ui.runs.large import result_of
from core.ui.session import memory_of

COLUMN: Final = "column"
TITLES: Final = {  # by `Grader`
    "same-answer": "Same answer",
    "paper": "The paper’s F1",
    BY_HAND: "A person",
    BY_MODEL: "The model",
    COLUMN: "A column of the file",
}
COMPARED: Final = {"prediction": "Prediction", "reference": "Reference", "question": "Its question"}
NO_QUESTION: Final = "(none)"
MOST_SHOWN: Final = 200  # rows on which graders differ
QUICK: Final = 200  # rows that are compared in some hundredths of a second
NO_SCORES: Final = (
    "The file has no column of scores, so there is nothing to find a threshold for. Add one that "
    "says how sure each prediction is."
)

Labels = NDArray[np.float64]


def grade_here(upload: Upload) -> Upload | None:
    """Let the person say who grades; return the table with the labels.

    None while nobody grades, or the table has no scores.
    """
    columns = memory_of("labels_in", upload, lambda: label_columns(upload, kinds(upload)))
    with st.container(border=True, key="grading"):
        head = st.empty()
        st.text(
            "Predictions stand beside references, and no column says which predictions are right. "
            "Who says it?"
        )
        grader: str | None = st.pills(
            "Graded by",
            list(TITLES) if columns else [name for name in TITLES if name != COLUMN],
            format_func=TITLES.__getitem__,
            key=f"grader_{upload.sha256[:16]}",
            persist_state="session",
            help="“Same answer” compares numbers, negations and dates, then words. By “The paper’s "
            "F1”, a prediction is right from a token F1 of 0.25 on. A promise on such labels is "
            "one of agreement with the grader, not of truth.",
        )
        if grader == COLUMN:
            return upload
        if grader is None:
            head.badge("Your answer is needed", icon=":material/help:", color="orange")
        try:
            rows = _rows(upload)
            if rows is None or grader is None:
                return None
            by_rule = result_of(
                "grades",
                rows,
                lambda progress: {str(each): grade(rows, each, progress) for each in Grader},
                large=len(rows.texts) > QUICK,
            )
            if by_rule is None:
                return None
            labels = _labels_of(grader, rows, by_rule, upload)
            if labels is None:
                return None
            table = memory_of(
                "graded",
                by_rule,
                lambda: with_grades(
                    upload, rows, _name(grader), {_name(by): of for by, of in labels.items()}
                ),
                (_name(grader), *(each.tobytes() for each in labels.values())),
            )
        except (UploadError, StoreError) as error:
            problem(str(error))
            return None
        has_scores = memory_of("graded_scores", table, lambda: bool(suggest(table).scores))
        if not has_scores and table.grading:
            st.text("\n".join((*table.grading.sentences, NO_SCORES)))
        _differences(rows, labels, grader, table)
    return table if has_scores else None


def _rows(upload: Upload) -> Predictions | None:
    """Let the person say which columns are compared, beginning with what the headings say."""
    guess = memory_of("predictions", upload, lambda: predictions_in(upload))
    if guess is None:
        return None
    names, key = list(upload.table.columns), upload.sha256[:16]
    with st.expander("What is compared", icon=":material/compare_arrows:", key=f"compared_{key}"):
        chosen = [
            st.selectbox(
                COMPARED[name],
                options,
                options.index(first) if first in options else 0,
                key=f"compared_{name}_{key}",
                persist_state="session",
            )
            for name, options, first in (
                ("prediction", names, guess.prediction),
                ("reference", names, guess.key.answers[0]),
                ("question", [NO_QUESTION, *names], guess.key.question),
            )
        ]
    prediction, reference, question = chosen
    question = "" if question == NO_QUESTION and question not in names else question

    def make(_: Progress) -> Predictions | None:
        columns = predictions_in(upload, prediction, reference, question)
        return None if columns is None else read_predictions(upload, columns)

    return result_of(
        "compared",
        upload,
        make,
        (prediction, reference, question),
        large=len(upload.table) > QUICK,
        refuses=UploadError,
    )


def _labels_of(
    grader: str, rows: Predictions, by_rule: dict[str, Labels], upload: Upload
) -> dict[str, Labels] | None:
    """Return the labels of every grader there is; None while the chosen one has given none."""
    own: Labels | None
    key = upload.sha256[:16]
    if grader == BY_HAND:
        own = label_here(rows, by_rule, key)
    elif grader == BY_MODEL:
        own = judge_here(rows, upload.sha256)
    else:
        own = by_rule[grader]
    if own is None:
        return None
    labels = {**by_rule, BY_HAND: used_labels(rows, key), grader: own}
    return {name: each for name, each in labels.items() if not np.isnan(each).all()}


def _name(grader: str) -> str:
    if grader == BY_MODEL:
        return judge_name()
    return PERSON if grader == BY_HAND else NAMES[Grader(grader)]


def _differences(
    rows: Predictions, labels: Mapping[str, Labels], grader: str, table: Upload
) -> None:
    places = np.flatnonzero(
        np.any([(labels[grader] != each) & ~np.isnan(each) for each in labels.values()], axis=0)
        & ~np.isnan(labels[grader])
    )
    if len(places):
        share = len(places) / np.count_nonzero(~np.isnan(labels[grader]))
        with st.expander(
            f"Rows on which the graders differ: {len(places):d} ({share:.1%})", key="differences"
        ):
            columns = {table.unit: table.lines[places[:MOST_SHOWN]].tolist()}
            columns |= _cells(rows, labels, places[:MOST_SHOWN])
            st.dataframe(
                columns,
                hide_index=True,
                key="rows_differ",
                alt=f"{count_of(len(places), 'row')} on which graders differ",
            )
            if len(places) > MOST_SHOWN:
                st.caption(f"Shown: the first {MOST_SHOWN:d}.")
    downloads.download("Graded table", lambda: _csv(table), "graded.csv")


def _cells(
    rows: Predictions, labels: Mapping[str, Labels], places: NDArray[np.int64]
) -> dict[str, list[object]]:
    return {
        "prediction": [display(rows.texts[at]) for at in places],
        "references": [display(" | ".join(rows.names[at] or ())) for at in places],
        **{
            TITLES[name].lower(): [_word(each[at]) for at in places]
            for name, each in labels.items()
        },
        "question": [display(rows.queries[at]) for at in places],
    }


def _word(label: float) -> str:
    return NO_LABEL if np.isnan(label) else RIGHT if label else WRONG


def _csv(table: Upload) -> bytes:
    return to_csv(list(table.table.columns), table.table.to_numpy(object).tolist())
