"""Which questions a run asks: somebody's file, or a draw of a dataset that is here."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import streamlit as st

from core.codec import count_of
from core.data.datasets.draw import draw
from core.data.datasets.questions import OnMalformed, Question
from core.data.datasets.uploaded import reading_of, uploaded_questions
from core.data.datasets.wordnet import FOLDER, wordnet_questions
from core.data.datasets.world import Wording, world_questions
from core.data.tabular.uploads import Upload, UploadError
from core.data.world.facts import Band
from core.once import once
from core.studies.evaluation.run import Questions, reporting, survey
from core.studies.progress import Progress
from core.ui.evaluation.runs import most_questions
from core.ui.glossary import TERMS
from core.ui.messages import problem
from core.ui.runs.large import result_of
from core.ui.session import alone
from core.ui.uploaders import content_of, let_go, wait_for
from core.ui.uploads import is_long, prepare, read

TYPES: Final = ["csv", "tsv", "txt", "json", "jsonl", "ndjson", "parquet", "xlsx"]
WORLD, FILE, WORDNET = "The embedded world", "Your file", "WordNet"
HERE: Final = [WORLD, FILE]
WITH_WORDNET: Final = [WORLD, FILE, WORDNET]
WORDINGS: Final[dict[str, Wording]] = {
    "as in training": "trained",
    "in words it never saw": "held-out",
}
FIRST: Final = 300  # questions
TOLD: Final = 20  # rows of which it is said why they are left out
LARGEST_SEED: Final = 2**32 - 1
_UPLOAD, _UPLOADED, _PROBLEM = (
    f"evaluation_{name}" for name in ("upload", "uploaded_id", "upload_problem")
)


@dataclass(frozen=True)
class QuestionSample:
    """What was drawn of a dataset.

    Attributes
    ----------
    questions : Questions
    of : int
        How many the dataset has.
    left_out : tuple of str
        A sentence for each of the first rows that cannot be used.
    malformed : int
        How many rows these are in all.
    """

    questions: Questions
    of: int
    left_out: tuple[str, ...] = ()
    malformed: int = 0


def choice() -> Questions | None:
    """Let the person choose questions; None, with a sentence, until they are there."""
    source = st.segmented_control(
        "Questions",
        WITH_WORDNET if has_wordnet() else HERE,
        default=WORLD,
        required=True,
        key="evaluation_source",
        persist_state="session",
    )
    try:
        if source == FILE:
            sample = _of_a_file()
        elif source == WORDNET:
            sample = _draw("WordNet", lambda tell: iter(wordnet()), WORDNET)
        else:
            sample = _of_the_world()
    except UploadError as error:
        problem(str(error))
        return None
    if sample is None:
        return None
    say(sample)
    return sample.questions


def _of_the_world() -> QuestionSample | None:
    bands, wording = st.columns([2, 1])
    chosen = bands.multiselect(
        "Bands",
        [band.value for band in Band],
        [band.value for band in Band],
        key="evaluation_bands",
        persist_state="session",
        help=TERMS["Band"],
    )
    words = wording.selectbox(
        "Wording", list(WORDINGS), key="evaluation_wording", persist_state="session"
    )
    if not chosen:
        st.text("Choose at least one band.")
        return None
    return _draw(
        "embedded world",
        lambda tell: world_questions([Band(name) for name in chosen], WORDINGS[words]),
        (WORLD, tuple(chosen), words),
    )


def _of_a_file() -> QuestionSample | None:
    wait_for("evaluation_file", TYPES)
    file = st.file_uploader(
        "Questions with their right answers",
        TYPES,
        key="evaluation_file",
        on_change=_on_change,
        help="JSON lines, CSV, Parquet or Excel with columns such as “question” and “answers”, or "
        "a file of TriviaQA, AmbigNQ or EVOUNA. Larger files are for the command line.",
    )
    prepare()
    if file is not None and st.session_state.get(_UPLOADED) != file.file_id:
        try:
            st.session_state[_UPLOAD] = read(content_of(file), file.name)
            st.session_state.pop(_PROBLEM, None)
        except UploadError as error:
            st.session_state[_PROBLEM] = f"{file.name}: {error}"
            st.session_state.pop(_UPLOAD, None)  # what was there before is not what is named now
        st.session_state[_UPLOADED] = file.file_id
        let_go(file)
    if failed := st.session_state.get(_PROBLEM):
        problem(failed)
    upload: Upload | None = st.session_state.get(_UPLOAD)
    if upload is None:
        return None
    st.text(f"{upload.name}: {count_of(len(upload.table), 'row')} ({upload.kind})")
    for note in upload.notes:
        st.text(f"Note: {note}")
    skip = st.checkbox(
        "Leave out rows that cannot be used",
        key="evaluation_skip",
        persist_state="session",
        help="Otherwise the first such row is named, and nothing is asked.",
    )
    return draw_of_file(upload, "skip" if skip else "refuse")


def draw_of_file(
    upload: Upload, on_malformed: OnMalformed, *, most: int = FIRST, place: str = "evaluation"
) -> QuestionSample | None:
    """Let the person draw of the questions in a file; None while many are on their way.

    Parameters
    ----------
    most : int
        How many are drawn until the person says otherwise.
    place : str
        Tells the widgets of pages apart.

    Raises
    ------
    UploadError
        As of `uploaded_questions`.
    """
    if reading := reading_of(upload):
        st.text("\n".join(["What was read", *reading]))
    return _draw(
        upload.name,
        lambda tell: uploaded_questions(upload, on_malformed, tell),
        (upload.name, upload.sha256, on_malformed),
        large=is_long(upload),
        first=most,
        place=place,
    )


def _on_change() -> None:
    st.session_state.pop(_PROBLEM, None)


def _draw(
    name: str,
    read_all: Callable[[Callable[[str], object]], Iterator[Question]],
    key: Hashable,
    *,
    large: bool = False,
    first: int = FIRST,
    place: str = "evaluation",
) -> QuestionSample | None:
    """Let the person say how many are drawn, and draw them: once for every choice.

    None while many are on their way.
    """
    most = most_questions()
    how_many, which = st.columns(2)
    number = how_many.number_input(
        "Questions at most",
        1,
        most,
        min(first, most),
        key=f"{place}_number",
        persist_state="session",
        help="Of more, so many are drawn at random.",
    )
    seed = which.number_input(
        "Seed of the draw",
        0,
        LARGEST_SEED,
        0,
        key=f"{place}_draw",
        persist_state="session",
        help="The same seed draws the same questions again.",
    )

    def make(progress: Progress) -> QuestionSample:
        of, malformed, left_out = 0, 0, []

        def tell(sentence: str) -> None:
            nonlocal malformed
            malformed += 1
            if malformed <= TOLD:
                left_out.append(sentence)

        def counting() -> Iterator[Question]:
            nonlocal of
            for question in read_all(tell):
                of += 1
                progress(f"Reading the questions: {of:,}", 0.0)
                yield question

        def some_questions() -> Iterator[Question]:
            return reporting(some, len(some), "Looking at what is drawn", progress)

        some = draw(counting(), min(number, most), seed)
        questions = replace(survey(name, some_questions), read=lambda: iter(some))
        return QuestionSample(questions, of, tuple(left_out), malformed)

    return result_of(
        f"{place}_sample",
        QuestionSample,
        make,
        (key, number, seed),
        large=large,
        refuses=UploadError,
    )


def say(sample: QuestionSample) -> None:
    """Say how many questions there are, and which rows are left out."""
    number = sample.questions.number
    of = f", drawn at random of {sample.of:,}" if number < sample.of else ""
    st.text(f"{sample.questions.name}: {count_of(number, 'question')}{of}.")
    for sentence in sample.left_out:
        st.text(f"Left out: {sentence}")
    if sample.malformed > len(sample.left_out):
        st.text(f"{sample.malformed:,} rows are left out in all.")


@once  # reading its files takes seconds, and every draw needs them all
def wordnet() -> tuple[Question, ...]:
    """Return every question of WordNet, read once a process."""
    return tuple(wordnet_questions())


def has_wordnet() -> bool:
    """Say whether WordNet can be drawn from: it is installed, and nobody else uses this server."""
    return alone() and FOLDER.is_dir() and importlib.util.find_spec("nltk") is not None
