"""A run of Evaluation that is begun here with a file of questions, and calibrated on."""

import streamlit as st

from core.codec import one_line
from core.data.datasets.tables import holds_questions
from core.data.tabular import uploads
from core.data.tabular.missing_columns import of_questions
from core.data.tabular.suggestions import suggest
from core.data.tabular.uploads import Upload, UploadError
from core.language_models.language_model import LanguageModel
from core.studies.evaluation.local import Task
from core.studies.evaluation.results import stamp
from core.studies.evaluation.run import Questions
from core.studies.evaluation.run_folder import RunError
from core.studies.evaluation.saved_run import Run, labelled_csv
from core.studies.inspection.certificates import usual_least_mass
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.request import Reading
from core.studies.progress import Progress
from core.ui import downloads
from core.ui.evaluation.choice import NOT_HERE, RUN, ListedRun, choose, own_run
from core.ui.evaluation.form import start
from core.ui.evaluation.progress import about_run, go_on, say_model, state_of, watch
from core.ui.evaluation.questions import draw_of_file
from core.ui.evaluation.questions import say as say_what_is_drawn
from core.ui.evaluation.runs import complaint, runs
from core.ui.messages import problem
from core.ui.model import is_chosen, model_or_problem
from core.ui.runs.large import SMALL, result_of
from core.ui.session import memory_of
from core.uncertainty.scores import SCORES

MOST = 2_000  # questions that are asked of a larger file until the person says otherwise
_RUN = "calibration_run"  # the one on the page, which has no file after a reload


def is_to_ask(upload: Upload) -> bool:
    """Say whether an upload has questions with their right answers, and no scores with labels."""
    return holds_questions(upload) and not suggest(upload).scores  # which reads every question


def rows_of_questions(upload: Upload) -> Upload | None:
    """Let the person have a model asked what a file asks; return the scored rows once it was."""
    sentence = memory_of("of_questions", upload, lambda: of_questions(upload))
    st.text(f"{sentence} Have the model asked: that is a run, which Evaluation lists, too.")
    if st.checkbox(
        "A column of this file has scores: let me say what the columns mean",
        key=f"scored_{upload.sha256[:16]}",
        persist_state="session",
    ):
        return upload
    model = model_or_problem()
    if model is None:
        return None
    try:
        sample = draw_of_file(
            upload, skips=True, most=MOST, place=f"calibration_{upload.sha256[:16]}"
        )
    except UploadError as error:
        problem(str(error))
        return None
    if sample is None:
        return None
    say_what_is_drawn(sample)
    questions, request = sample.questions, usual_request("any", model.capabilities)
    task = Task(model, request, Reading(), usual_least_mass())
    listed = _run_of_address(questions) or own_run(runs().folder_of(questions, task).name)
    if listed is None:
        if start(questions, task):
            st.rerun()
        return None
    return _rows(listed, model)


def _run_of_address(questions: Questions) -> ListedRun | None:
    """Return the run of these questions that the address names, where nobody chose a model yet.

    After a reload, the model that was connected is not there, and its rows are.
    """
    key = None if is_chosen() else st.query_params.get(RUN)
    listed = own_run(key) if key else None
    same = listed and listed.run.manifest["questions"].get("sha256") == questions.sha256
    return listed if same else None


def rows_of_address() -> Upload | None:
    """Return the scored rows of the run that the address names, where there is no file."""
    key = st.query_params.get(RUN) or st.session_state.get(_RUN)
    if not key:
        return None
    listed = own_run(key)
    with st.container(horizontal=True, vertical_alignment="center"):
        if listed is None:
            problem(NOT_HERE)
        else:
            st.text(listed.title, width="stretch")
        st.button("Close", key="close_run", icon=":material/close:", on_click=forget_run)
    return None if listed is None else _rows(listed, model_or_problem())


def is_shown() -> bool:
    """Say whether a run is on the page, or named in its address."""
    return RUN in st.query_params or _RUN in st.session_state


def forget_run() -> None:
    """Show no run any more; Evaluation still lists it."""
    st.session_state.pop(_RUN, None)
    st.query_params.pop(RUN, None)


def _rows(listed: ListedRun, model: LanguageModel | None) -> Upload | None:
    """Show how far a run is; return its rows as if they were uploaded, once it has ended."""
    if st.query_params.get(RUN) != listed.key:
        choose(listed.key)  # Evaluation shows it, too
    st.session_state[_RUN] = listed.key
    try:
        running = watch(listed, model)
        state = state_of(listed.run)
        say_model(listed.run, "" if running else f"{state.sentence} ")
        about_run(listed.run, state)
        if running:
            return None
        go_on(listed, model, state)
        return None if state.done == state.failed else _table(listed.run, state.done)
    except (RunError, UploadError) as error:
        problem(complaint(error, listed.run.folder))
        return None


def _table(run: Run, number: int) -> Upload | None:
    """Return a run's rows as an upload, made once for every state of the run."""
    name = one_line(str(run.manifest["questions"]["name"]))

    def make(progress: Progress) -> tuple[Upload, bytes, tuple[str, ...]]:
        progress("Reading the rows", 0.0)
        content, dropped = labelled_csv(run)
        return uploads.parse(content, f"{name} (run).csv"), content, dropped

    table = result_of(
        "run_rows",
        None,
        make,
        (str(run.folder), stamp(run)),
        large=number * len(SCORES) > SMALL,
        refuses=(RunError, UploadError),
    )
    if table is None:
        return None
    upload, content, dropped = table
    for sentence in dropped:
        st.text(sentence)
    downloads.download("Download the scored table", content, "scored.csv")
    return upload
