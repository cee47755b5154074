"""Which questions a run asks: somebody's file, or a draw of a dataset that is here."""

import importlib.util
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import streamlit as st

from core.codec import count_of
from core.data.datasets.answer_key import NO_GROUP, NO_QUESTIONS, OWN_READER, AnswerKey, answer_key
from core.data.datasets.draw import draw
from core.data.datasets.questions import Question
from core.data.datasets.summary import MOST_LEFT_OUT, omissions
from core.data.datasets.tables import uploaded_questions
from core.data.datasets.wordnet import FOLDER, wordnet_questions
from core.data.datasets.world import SETS, Wording, world_questions
from core.data.tabular.uploads import Upload, UploadError
from core.once import once
from core.studies.evaluation.run import Questions, reporting, survey
from core.studies.progress import Progress
from core.ui.evaluation.runs import most_questions
from core.ui.glossary import TERMS
from core.ui.messages import problem
from core.ui.runs.large import result_of
from core.ui.session import alone
from core.ui.upload_places import content_of, file_field, let_go
from core.ui.uploads import is_long, prepare, read

TYPES: Final = ["csv", "tsv", "txt", "json", "jsonl", "ndjson", "parquet", "xlsx"]
WORLD, FILE, WORDNET = "The embedded world", "Your file", "WordNet"
HERE: Final = [WORLD, FILE]
WITH_WORDNET: Final = [WORLD, FILE, WORDNET]
WORDINGS: Final[dict[str, Wording]] = {
    "as in training": "trained",
    "in words it never saw": "held-out",
}
ROLES: Final = {
    "question": "Question",
    "answers": "Right answers",
    "group": "Group (such as source or topic)",
    "separator": "What separates right answers in a cell",
}
SEPARATORS: Final = ("|", ";")
FIRST: Final = 300  # questions
LARGEST_SEED: Final = 2**32 - 1
_UPLOAD, _UPLOADED, _PROBLEM = (
    f"evaluation_{name}" for name in ("upload", "uploaded_id", "upload_problem")
)


@dataclass(frozen=True)
class QuestionSample:
    """What was drawn of a dataset."""

    questions: Questions
    of: int  # how many the dataset has


def choice() -> Questions | None:
    """Let the person choose questions; None, with a sentence, until they are there."""
    source = st.pills(
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
    chosen = st.multiselect(
        "Bands", SETS, SETS, key="evaluation_bands", persist_state="session", help=TERMS["Band"]
    )
    words = st.selectbox(
        "Wording", list(WORDINGS), key="evaluation_wording", persist_state="session"
    )
    if not chosen:
        st.text("Choose at least one band.")
        return None
    return _draw(
        "embedded world",
        lambda tell: world_questions(chosen, WORDINGS[words]),
        (WORLD, tuple(chosen), words),
    )


def _of_a_file() -> QuestionSample | None:
    file = file_field(
        "Questions with their right answers",
        TYPES,
        None,
        partial(st.session_state.pop, _PROBLEM, None),  # of the file before
        key="evaluation_file",
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
    skip = st.checkbox(
        "Leave out rows that cannot be used",
        key="evaluation_skip",
        persist_state="session",
        help="Otherwise the first such row is named, and nothing is asked.",
    )
    return draw_of_file(upload, skips=skip)


def draw_of_file(
    upload: Upload, *, skips: bool, most: int = FIRST, place: str = "evaluation"
) -> QuestionSample | None:
    """Let the person draw of the questions in a file; None while many are on their way.

    Until they say otherwise, `most` are drawn; `place` tells the widgets of pages apart.

    Raises `UploadError` as of `uploaded_questions`.
    """
    key = _columns(upload, place)
    if key is None:
        raise UploadError(NO_QUESTIONS)
    return _draw(
        upload.name,
        lambda tell: uploaded_questions(upload, tell if skips else None, key=key),
        (upload.name, upload.sha256, skips, key),
        meaning=(*upload.notes, *key.sentences),
        large=is_long(upload),
        first=most,
        place=place,
    )


def _columns(upload: Upload, place: str) -> AnswerKey | None:
    """Let the person say which column means what, beginning with a good guess."""
    key, names = answer_key(upload), [str(name) for name in upload.table]
    first = {"question": key.question, "answers": key.answers[0]} if key else {}
    with st.expander("What the columns mean", icon=":material/view_column:", expanded=key is None):
        chosen = {
            role: _choice(role, names, first.get(role), f"{place}_{role}_{upload.sha256[:16]}")
            for role in ("question", "answers")
        }
        key = answer_key(upload, **chosen)  # what the others may be follows from these
        if key and key.make:
            st.text(OWN_READER)
            return key
        others = {
            "group": (key.group if key else NO_GROUP, [NO_GROUP, *names]),
            "separator": (key.separator if key else "", ["", *SEPARATORS]),
        }
        for role, (value, options) in others.items():
            widget = f"{place}_{role}_{upload.sha256[:16]}"
            if role == "separator" and key:  # of these cells, and not of others
                widget += key.answers[0]
            chosen[role] = _choice(role, options, value, widget)
    return answer_key(upload, **chosen)


def _choice(role: str, options: list[str], value: str | None, widget: str) -> str | None:
    """Let the person say one thing of the columns; None where it is what the headings say."""
    choice = st.selectbox(
        ROLES[role],
        options,
        None if value is None else options.index(value),
        key=widget,
        persist_state="session",
        format_func=lambda name: name or "(none)",
    )
    return None if choice == value else choice


def _draw(
    name: str,
    read_all: Callable[[Callable[[str], object]], Iterator[Question]],
    key: Hashable,
    *,
    meaning: tuple[str, ...] = (),
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
        help="If there are more, this many are drawn at random.",
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
        of, malformed, before = 0, 0, 0
        problems: list[str] = []

        def tell(sentence: str) -> None:
            nonlocal malformed
            malformed += 1
            if malformed <= MOST_LEFT_OUT:
                problems.append(sentence)

        def counting() -> Iterator[Question]:
            nonlocal of, before
            for question in read_all(tell):
                of += 1
                before += question.malformed_before
                progress(f"Reading the questions: {of:,}", 0.0)
                yield question

        def some_questions() -> Iterator[Question]:
            return reporting(some, len(some), "Looking at what is drawn", progress)

        some = draw(counting(), min(number, most), seed)
        questions = survey(name, some_questions, meaning)
        left_out = malformed + before
        reading = (*questions.reading, *omissions(problems, left_out))
        sample = replace(questions, read=lambda: iter(some), reading=reading, malformed=left_out)
        return QuestionSample(sample, of)

    return result_of(
        f"{place}_sample",
        QuestionSample,
        make,
        (key, number, seed),
        large=large,
        refuses=UploadError,
    )


def say(sample: QuestionSample) -> None:
    """Say how many questions there are, and what they were read as."""
    number = sample.questions.number
    of = f", drawn at random of {sample.of:,}" if number < sample.of else ""
    st.text(f"{sample.questions.name}: {count_of(number, 'question')}{of}.")
    with st.container(border=True, key="questions_read"):
        st.text("This is what was read")
        st.text("\n".join(sample.questions.reading))


@once  # reading its files takes seconds, and every draw needs them all
def wordnet() -> tuple[Question, ...]:
    """Return every question of WordNet, read once a process."""
    return tuple(wordnet_questions())


def has_wordnet() -> bool:
    """Say whether WordNet can be drawn from: it is installed, and nobody else uses this server."""
    return alone() and FOLDER.is_dir() and importlib.util.find_spec("nltk") is not None
