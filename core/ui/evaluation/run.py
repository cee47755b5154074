"""The run on its page: watched, handed to Calibration, deleted."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.codec import count_of, one_line
from core.data.tabular.uploads import UploadError
from core.language_models.language_model import LanguageModel
from core.studies.evaluation.rows import RIGHT, Match
from core.studies.evaluation.run_folder import RunError
from core.studies.evaluation.saved_run import Filter, Run, labelled_csv
from core.ui import frame
from core.ui.calibration import data as calibration
from core.ui.evaluation.choice import ListedRun, show_no_longer
from core.ui.evaluation.progress import about_run, go_on, say_model, state_of, watch
from core.ui.evaluation.runs import complaint, runs
from core.ui.messages import later, problem


def draw(
    listed: ListedRun,
    model: LanguageModel | None,
    head: DeltaGenerator,
    on_way: DeltaGenerator,
    buttons: DeltaGenerator,
) -> bool:
    """Draw how far a run is and what can be done with it; return whether it has rows to show."""
    run = listed.run
    with on_way:
        running = listed.is_own and watch(listed, model)
    state = state_of(run)
    introduction = f"{state.sentence} "
    if running:  # which says how far it is, more newly than what is drawn here
        done = count_of(state.done, "finished question")
        introduction = f"The results are of {done}. " if state.done else ""
    with head:
        about_run(run, state)
    with on_way:
        if listed.is_own or not state.is_complete:  # the list names the model of a bundled one
            say_model(run, introduction)
        if listed.is_own and not running:
            go_on(listed, model, state)
    with buttons:
        if running:
            st.button("Show the results so far", key="refresh_run", icon=":material/refresh:")
        if state.done > state.failed and st.button(
            "Calibrate on these rows",
            key="calibrate_run",
            icon=":material/rule:",
            help="The rows that the filters beside let pass, of all sources.",
        ):
            _calibrate(run)
        if listed.is_own and not running:
            _delete(listed)
    return state.done > 0


def _calibrate(run: Run) -> None:
    """Give the rows to Calibration as if they were uploaded, and go there."""
    try:
        chosen = st.session_state.get("results_match")
        match: Match = next((name for name in RIGHT if name == chosen), "same_answer")
        only = [Filter(name) for name in st.session_state.get("results_only") or ()]
        content, _ = labelled_csv(run, only, match)
        calibration.use(content, f"{one_line(run.manifest['questions']['name'])} (run).csv")
        calibration.choose_best()  # the AUROCs of all scores were seen
    except (RunError, UploadError) as error:
        problem(complaint(error, run.folder))
        return
    frame.calibrate()


def _delete(listed: ListedRun) -> None:
    with st.popover("Delete", icon=":material/delete:", key="delete_opened"):
        st.text("The run’s rows and recordings are deleted from the disk.")
        if st.button("Delete permanently", key="delete_run"):
            try:
                runs().delete(listed.run.folder)
            except RunError as error:
                later(complaint(error, listed.run.folder))
            else:
                show_no_longer()
            st.rerun()
