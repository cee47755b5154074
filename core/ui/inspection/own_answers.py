"""Answers that somebody has already, scored without asking a model."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from core.codec import count_of, one_line
from core.data.tabular.repeated_answers import (
    AnswersColumnError,
    RepeatedAnswers,
    SeveralSourcesError,
    repeated_answers,
)
from core.data.tabular.uploads import Upload, UploadError
from core.reports.inspection.score_table import answer_table, own_table
from core.studies.inspection.request import MOST_TEXTS
from core.studies.progress import Progress
from core.ui.messages import problem
from core.ui.runs.large import result_of
from core.ui.uploads import is_long, table_field
from core.uncertainty.own_answers import AnswerScores, score

QUESTION = "own_answers_question"
FEW = 50  # texts that are compared at once
MOST_SOURCES = 500  # headings, or values of a column, to choose from
LONGEST = 2_000  # characters of a question that are shown


def own_answers() -> None:
    """Read a file of several answers to each question, and show the scores of one of them."""
    st.text(
        "A log, traces or a table of any model, with several answers to each question, in lists or "
        "one a row. No model is asked, so only what these answers tell by themselves is shown. Of "
        "Inspect’s .eval files, “inspect log dump FILE > log.json” writes what can be read."
    )
    upload = table_field("Answers", key="own_answers_file")
    if upload is None:
        return
    try:
        every = _questions(upload)
        if every is None:
            return
        questions, reading = every
        for sentence in (*upload.notes, *reading):
            st.text(sentence)
        place = 1
        if len(questions) > 1:
            label = f"Question, of {len(questions):,d}"
            place = st.number_input(label, 1, len(questions), key=QUESTION)
        own = questions[int(place) - 1]
        st.text(one_line(own.question, LONGEST))
        result = _scores(own)
    except (UploadError, ValueError) as error:
        problem(str(error))
        return
    if result is not None:
        _draw(result)


def _questions(upload: Upload) -> tuple[list[RepeatedAnswers], list[str]] | None:
    """Return what is in the file, asking the person for what its headings do not say.

    This is which column holds the answers and, of several models, whose rows count.
    """
    filters: tuple[tuple[str, str], ...] = ()
    column: str | None = None
    while True:
        try:
            return result_of(
                f"own_answers_{len(filters):d}_{column is not None:d}",
                upload,
                partial(_read, upload, column, filters),
                (column, filters),
                large=is_long(upload),
                refuses=UploadError,
            )
        except AnswersColumnError as error:
            key = f"own_column_{upload.sha256[:16]}"
            _ask(error, upload.headings)
            column = st.selectbox("Column of the answers", upload.headings, None, key=key)
            if column is None:
                return None
        except SeveralSourcesError as error:
            key = f"own_filter_{upload.sha256[:16]}_{len(filters):d}"
            _ask(error, error.values)
            value = st.selectbox("Rows that count", error.values, None, key=key)
            if value is None:
                return None
            filters += ((error.column, value),)


def _ask(error: UploadError, options: Sequence[str]) -> None:
    """Say what the file leaves open; too many options are no question, but an error."""
    if len(options) > MOST_SOURCES:
        raise error
    st.text(str(error))


def _read(
    upload: Upload, column: str | None, filters: tuple[tuple[str, str], ...], _: Progress
) -> tuple[list[RepeatedAnswers], list[str]]:
    return repeated_answers(upload, {"responses": column}, filters=filters)


def _scores(own: RepeatedAnswers) -> AnswerScores | None:
    seconds = ([each] if isinstance(each, str) else each for each in own.second or ())
    number = len({*own.responses, *(text for each in seconds for text in each)})
    if number > MOST_TEXTS:
        raise ValueError(
            f"It has {count_of(number, 'different answer')}; at most {MOST_TEXTS:,} are compared "
            "here."
        )
    logs = own.log_probabilities
    return result_of(
        "own_scores",
        own,
        lambda _: score(
            *(own.responses, logs, own.second, own.second_log_probabilities), greedy=own.greedy
        ),
        large=number > FEW,
        refuses=ValueError,
    )


def _draw(result: AnswerScores) -> None:
    st.dataframe(
        answer_table(result),
        hide_index=True,
        key="own_answer_table",
        alt="The different answers with the share of each",
    )
    st.dataframe(
        own_table(result),
        hide_index=True,
        height="content",
        key="own_score_table",
        alt="Every score with its value, or the reason why it has none",
    )
    st.text(
        "Nothing is decided or promised here: a threshold takes labelled rows of the same model, "
        "scored in the same way, on Calibration."
    )
