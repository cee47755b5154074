"""A run on its way, on its own page or on another: watched, cancelled, gone on with."""

from dataclasses import dataclass
from functools import partial

import streamlit as st

from core.codec import count_of
from core.language_models.language_model import LanguageModel
from core.language_models.usage import Usage
from core.reports.evaluation.words import provenance
from core.studies.evaluation.recorded_answers import provenance_of
from core.studies.evaluation.resumption import QUESTIONS, questions_in, task_in
from core.studies.evaluation.rows import USED, total_usage
from core.studies.evaluation.run import Questions, RunOutcome, reading_in
from core.studies.evaluation.run_folder import RunError
from core.studies.evaluation.saved_run import Run
from core.ui.evaluation.choice import ListedRun, model_of
from core.ui.evaluation.form import place_of, say_what_it_takes
from core.ui.evaluation.runs import complaint, runs
from core.ui.messages import problem
from core.ui.payment import spending
from core.ui.runs.job import Job
from core.ui.runs.large import result_of
from core.ui.runs.widget import forget, run_of, want
from core.ui.runs.widget import run as watched

_SMALL = 200_000  # bytes of questions that a page reads itself: half a microsecond each
_AGAIN = "evaluation_again"  # the run whose failed questions a press wants asked once more


@dataclass(frozen=True)
class State:
    """How far a run is."""

    # number, done, failed: questions, those that are finished, and those of them that failed.
    number: int
    done: int
    failed: int
    used: Usage | None = None  # what these took of a service; None where they took only time

    @property
    def is_complete(self) -> bool:
        """Whether every question is answered."""
        return self.done == self.number and not self.failed

    @property
    def sentence(self) -> str:
        """Say it."""
        failed = f", {self.failed:,} failed" if self.failed else ""
        return f"{self.done:,} of {count_of(self.number, 'question')} finished{failed}."


def state_of(run: Run) -> State:
    """Count the rows of a run."""
    done = failed = 0
    used: list[Usage] = []
    for batch in run.batches(["error", *USED]):
        done += len(batch)
        failed += len(batch) - batch.column("error").null_count
        used += [part] if (part := total_usage(batch)) else []
    number = int(run.manifest["questions"]["number"])
    return State(number, done, failed, sum(used, Usage()) if used else None)


def say_model(run: Run, introduction: str) -> None:
    """Say whose answers a run has, after how far it is."""
    st.text(f"{introduction}Answered by {model_of(run.pipeline)}.".lstrip())


def about_run(run: Run, state: State) -> None:
    """Say who answered, what was read of the questions, and what that took of a service."""
    with st.expander("About this run", icon=":material/menu_book:"):
        lines = [*reading_in(run.manifest), f"Asked in the form {run.manifest['form']}."]
        if system := run.manifest.get("system"):
            lines.append(f"System prompt: {system}")
        if of := provenance_of(run.folder.name):
            lines.insert(0, provenance(of))
        st.text("\n".join(filter(None, [*lines, *run.notes])))
    if state.used:
        st.text(f"Used for these rows: {spending(state.used, run.pipeline.model)}")


def watch(listed: ListedRun, model: LanguageModel | None) -> bool:
    """Show a run on its way, one that another session started too, and start what is wanted.

    Returns whether it is on its way.
    """
    run, key = listed.run, listed.key
    place = place_of(key)
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
    this = run_of(place, key)
    return this is not None and this.running


def go_on(listed: ListedRun, model: LanguageModel | None, state: State) -> None:
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
    if left:
        st.button(
            f"Go on with {left:d} question{'s' if left > 1 else ''}",
            key="go_on",
            type="primary",
            icon=":material/play_arrow:",
            on_click=_want,
            args=(listed.key, False),
        )
    else:  # once all are asked: to ask again asks what is left, too
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
