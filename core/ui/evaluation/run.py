"""The run on the page: watched, cancelled, gone on with, handed to Calibration, deleted."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial

import streamlit as st

from core.codec import count_of, one_line
from core.data.tabular.uploads import UploadError
from core.language_models.base import LanguageModel
from core.language_models.usage import Used
from core.studies.evaluation.files import RunError
from core.studies.evaluation.reading import Filter, Run, labelled_csv
from core.studies.evaluation.rows import RIGHT, Match
from core.studies.evaluation.run import Questions, RunOutcome
from core.studies.evaluation.saved import QUESTIONS, questions_in, task_in
from core.ui import frame
from core.ui.calibration import data as calibration
from core.ui.evaluation.choice import Listed, show_no_longer
from core.ui.evaluation.form import place_of, say_what_it_takes
from core.ui.evaluation.runs import complaint, runs
from core.ui.messages import later, problem
from core.ui.payment import spending
from core.ui.runs.job import Job
from core.ui.runs.large import result_of
from core.ui.runs.widget import forget, run_of, want
from core.ui.runs.widget import run as watched

_SMALL = 200_000  # bytes of questions that a page reads itself: half a microsecond each
_AGAIN = "evaluation_again"  # the run whose failed questions a press wants asked once more


@dataclass(frozen=True)
class State:
    """How far a run is.

    Attributes
    ----------
    number, done, failed : int
        Questions, those that are finished, and those of them that failed.
    used : Used or None
        What these took of a service; None where they took only time.
    """

    number: int
    done: int
    failed: int
    used: Used | None = None

    @property
    def sentence(self) -> str:
        """Say it."""
        failed = f", {self.failed:,} failed" if self.failed else ""
        return f"{self.done:,} of {count_of(self.number, 'question')} finished{failed}."


def state_of(run: Run) -> State:
    """Count the rows of a run."""
    done = failed = 0
    took = dict.fromkeys(asdict(Used()), 0)
    at_a_price = False
    for batch in run.batches(["error", *took]):
        done += len(batch)
        failed += len(batch) - batch.column("error").null_count
        for name in took:
            numbers = [number for number in batch.column(name).to_pylist() if number is not None]
            at_a_price |= bool(numbers)
            took[name] += sum(numbers)
    number = int(run.manifest["questions"]["number"])
    return State(number, done, failed, Used(**took) if at_a_price else None)


def draw(listed: Listed, model: LanguageModel | None) -> bool:
    """Draw how far a run is and what can be done with it; return whether it has rows to show."""
    run, place = listed.run, place_of(listed.key)
    if listed.is_own:
        _watch(listed, model, place)
    state = state_of(run)
    asker = f"{one_line(run.pipeline.model)}, asked in the form {run.manifest['form']}"
    this = run_of(place, listed.key)
    running = this is not None and this.running
    introduction = f"{state.sentence} "
    if running:  # which says how far it is, more newly than what is drawn here
        done = count_of(state.done, "finished question")
        introduction = f"The results below are of {done}. " if state.done else ""
    st.text(f"{introduction}Answers of {asker}.")
    if state.used:
        st.text(f"Used for these rows: {spending(state.used)}")
    if running:
        st.button("Show the results so far", key="refresh_run", icon=":material/refresh:")
    elif listed.is_own:
        _go_on(listed, model, state)
    with st.container(horizontal=True, vertical_alignment="center"):
        if state.done > state.failed and st.button(
            "Calibrate on these rows",
            key="calibrate_run",
            icon=":material/rule:",
            help="Rows that count by what is chosen below, of all sources.",
        ):
            _calibrate(run)
        if listed.is_own and not running:
            _delete(listed)
    return state.done > 0


def _watch(listed: Listed, model: LanguageModel | None, place: str) -> None:
    """Show a run on its way, one that another session started too, and start what is wanted."""
    run, key = listed.run, listed.key
    if run_of(place, key) is None and runs().is_running(run.folder):
        want(place, key)  # after a reload, or in a second tab

    def start() -> Job[RunOutcome]:
        if (job := runs().join(run.folder)) is not None:
            return job
        if model is None:  # it has ended just now
            st.rerun()
        again = st.session_state.pop(_AGAIN, None) == key
        return runs().start(run, task_in(run, model), again=again)

    try:
        watched(
            place,
            key,
            start,
            on_press=True,
            cancelled="Cancelled. Finished questions are saved.",
            retry=False,
        )
    except RunError as error:
        forget(place)
        problem(complaint(error, run.folder))


def _go_on(listed: Listed, model: LanguageModel | None, state: State) -> None:
    """Offer to ask what is left, or what failed, once more; say what that takes first."""
    left = max(state.number - state.done, 0)
    if model is None or not (left or state.failed):
        return
    try:
        task = task_in(listed.run, model)
        questions = result_of(
            "evaluation_asked",
            Questions,
            partial(questions_in, listed.run),
            listed,
            large=_is_long(listed.run),
            refuses=RunError,
        )
    except RunError as error:
        st.text(complaint(error, listed.run.folder))
        return
    if questions is None:
        return
    say_what_it_takes(questions, task, left or state.failed)
    with st.container(horizontal=True, vertical_alignment="center"):
        if left:
            st.button(
                f"Go on with {left:d} question{'s' if left > 1 else ''}",
                key="go_on",
                type="primary",
                icon=":material/play_arrow:",
                on_click=_want,
                args=(listed.key, False),
            )
        if state.failed:
            st.button(
                f"Ask again what failed: {state.failed:d}",
                key="ask_again",
                icon=":material/replay:",
                on_click=_want,
                args=(listed.key, True),
            )


def _is_long(run: Run) -> bool:
    path = run.folder / QUESTIONS
    return path.exists() and path.stat().st_size > _SMALL


def _want(key: str, again: bool) -> None:
    if again:
        st.session_state[_AGAIN] = key
    want(place_of(key), key)


def _calibrate(run: Run) -> None:
    """Give the rows to Calibration as if they were uploaded, and go there."""
    try:
        chosen = st.session_state.get("results_match")
        match: Match = next((name for name in RIGHT if name == chosen), "same_answer")
        only = [Filter(name) for name in st.session_state.get("results_only") or ()]
        content, _ = labelled_csv(run, only, match)
        calibration.use(content, f"{one_line(run.manifest['questions']['name'])} (run).csv")
    except (RunError, UploadError) as error:
        problem(complaint(error, run.folder))
        return
    frame.calibrate()


def _delete(listed: Listed) -> None:
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
