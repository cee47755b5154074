"""A new run: its questions, its settings, what it takes, and the button that starts it."""

from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

import streamlit as st

from core.abstention.policy import USUAL_LIMIT
from core.language_models.language_model import MOST_ANSWER_TOKENS, LanguageModel
from core.studies.costs import computed_tokens, lasting, up_to
from core.studies.evaluation.local import Task, lasts
from core.studies.evaluation.run import Questions, most
from core.studies.evaluation.run_folder import RunError
from core.studies.inspection.certificates import usual_least_mass
from core.studies.inspection.recorder import check_samples, usual_request
from core.studies.inspection.request import (
    MAX_FRONT_CHARACTERS,
    MAX_QUERY_CHARACTERS,
    InvalidRequestError,
    Reading,
    Request,
    Sampling,
    most_samples,
)
from core.studies.inspection.taught_questions import taught_number
from core.ui.addresses import LABELS
from core.ui.evaluation import questions
from core.ui.evaluation.choice import choose
from core.ui.evaluation.runs import most_questions, runs
from core.ui.folds import close
from core.ui.glossary import TERMS
from core.ui.messages import problem
from core.ui.payment import offer
from core.ui.runs.job import Job
from core.ui.runs.widget import forget, run, run_of, want
from core.ui.session import alone, memory_of, public
from core.uncertainty.similarity import COMPARISONS, JUDGE, usual_threshold

FOLD: Final = "new_run"
MOST_LOOKED_UP: Final = 100  # questions: a tenth of a second
_PREPARING: Final = "evaluation_preparing"
_ANSWERS: Final = {
    "the k likeliest, found by a search": Sampling.LIKELIEST,
    "k drawn at random, as in the paper": Sampling.DRAWN,
}


def new_run(model: LanguageModel) -> None:
    """Let the person choose what to ask of a model and how, say what that takes, and start it."""
    what, how = st.columns(2, gap="large")
    with what:
        chosen = questions.choice()
    with how:
        _start_here(model, chosen)


def _start_here(model: LanguageModel, chosen: Questions | None) -> None:
    request, reading = _settings(model)
    if chosen is None:
        return
    task = Task(model, request, reading, usual_least_mass())
    try:
        check_samples(request, model.capabilities)
    except InvalidRequestError as error:
        problem(str(error))
        return
    if start(chosen, task):
        close(FOLD)  # or the run would be out of sight, below all this
        st.rerun()
    st.text(_say_where_saved())


def start(chosen: Questions, task: Task) -> bool:
    """Say what a run takes, offer to start it, and return whether it has just been started."""
    say_what_it_takes(chosen, task, chosen.number)
    _say_what_is_taught(chosen, task.model)
    folder = runs().folder_of(chosen, task)
    if st.button("Start", key="start_run", type="primary", icon=":material/play_arrow:"):
        want(_PREPARING, folder)
    try:
        if not _prepare(chosen, task, folder):
            return False
    except RunError as error:
        forget(_PREPARING)
        problem(str(error))
        return False
    forget(_PREPARING)
    want(place_of(folder.name), folder.name)
    choose(folder.name)
    return True


def _say_what_is_taught(chosen: Questions, model: LanguageModel) -> None:
    """Say how many of the questions the embedded model learnt, where that is not all."""
    number = min(chosen.number, MOST_LOOKED_UP)
    queries = (question.query for question in islice(chosen.read(), number))
    taught = memory_of(
        "evaluation_taught", model, partial(taught_number, queries, model), chosen.sha256
    )
    if taught is None or taught == number:
        return
    which = "these" if number == chosen.number else "the first"
    some = f"{taught or 'None'} of {which} {number} questions {'are' if taught > 1 else 'is'}"
    st.text(
        f"{some if number > 1 else 'This question is not'} among those that the embedded model "
        "learnt. To any other it makes up an answer: choose SmolLM2 or a model of your own under "
        "Model."
    )


def _prepare(chosen: Questions, task: Task, folder: Path) -> bool:
    """Save what a run asks once it is wanted, and say whether that is done.

    Raises `RunError` when it cannot be saved.
    """

    def prepare(job: Job[RunError | bool]) -> RunError | bool:
        try:
            runs_here.prepare(chosen, task, folder, job.progress)
        except RunError as error:
            return error
        return True

    runs_here = runs()
    if (this := run_of(_PREPARING, folder)) is not None and this.job is None:
        runs_here.make_room(folder)
    outcome = run(
        _PREPARING,
        folder,
        lambda: Job(prepare),
        on_press=True,
        cancelled="Cancelled. Nothing was asked.",
        retry=False,
    )
    if isinstance(outcome, RunError):
        raise outcome.with_traceback(None)
    return outcome is True


def place_of(key: str) -> str:
    """Return the place of a run on the page: several may be under way."""
    return f"evaluation_{key}"


def say_what_it_takes(chosen: Questions, task: Task, left: int) -> None:
    """Say the most that so many questions can take: of a service calls, here time."""
    model = task.model
    if not model.capabilities.local:
        offer(model, most(chosen, task, left))
        return
    if model.capabilities.quick:  # one question shows in a moment how long all take
        # Measured before a run and not again beside it, when it would take many times as long.
        each = memory_of(
            f"evaluation_lasts_{chosen.sha256}",
            model,
            partial(lasts, chosen.longest, task),
            task.request,
        )
        takes: str | None = up_to(left * each)
    else:
        longest = Request(chosen.longest[:MAX_QUERY_CHARACTERS], task.request.samples)
        takes = lasting(left * computed_tokens(longest), model)
    if takes:
        st.text(f"{model.name}: this takes {takes} on this machine.")


def _settings(model: LanguageModel) -> tuple[Request, Reading]:
    """Let the person choose how every question is asked, and how the answers are read."""
    with st.expander("Settings", icon=":material/tune:", key="evaluation_settings"):
        request = _search_options(model)
        if model.capabilities.reads_front:
            request["system"] = st.text_area(
                "System prompt",
                key="evaluation_system",
                height=68,
                max_chars=MAX_FRONT_CHARACTERS,
                persist_state="session",
                help="Stands in front of every prompt.",
            )
            st.text("Contexts in a column: python -m core evaluate --context COLUMN")
        similarity = st.selectbox(
            "Similarity of two answers",
            list(COMPARISONS),
            key="evaluation_similarity",
            persist_state="session",
            help=TERMS["Similarity"],
        )
        st.text(COMPARISONS[similarity])
        tau = st.slider(
            "Similarity threshold τ",
            0.05,
            1.0,
            usual_threshold(similarity),
            0.05,
            key=f"evaluation_tau_{similarity}",
            persist_state="session",
            help=TERMS["Similarity threshold τ"],
        )
        gammas = [_number(f"gamma_{i}", 0.0, 1.0, 0.0, 0.01) for i in (1, 2)]
    options = {**request, "judged": similarity == JUDGE}
    return usual_request("any", model.capabilities, **options), Reading(similarity, tau, *gammas)


def _search_options(model: LanguageModel) -> dict[str, Any]:
    """Let the person choose how answers are found."""
    sampling = Sampling.DRAWN
    if model.capabilities.searches:
        answers = st.selectbox(
            "Answers",
            list(_ANSWERS),
            key="evaluation_sampling",
            persist_state="session",
            help=TERMS["Likeliest answers"],
        )
        sampling = _ANSWERS[answers]
    usual = usual_request("any", model.capabilities, sampling=sampling)
    # Each has a number of its own: 8 of the likeliest say as much as 10 drawn ones.
    limit, of = USUAL_LIMIT, f"{sampling.value}_{usual.samples}"
    if model.capabilities.limits_answers:
        limit = _number("answer_tokens", 1, MOST_ANSWER_TOKENS, limit, 1)
        of += f"_{limit}" if limit != USUAL_LIMIT else ""
    largest = most_samples(limit)
    k = _number("k", 1, largest, min(usual.samples, largest), 1, of=of)
    options: dict[str, Any] = {"sampling": sampling, "samples": k, "answer_tokens": limit}
    if sampling is Sampling.DRAWN:
        options["temperature"] = _number("temperature", 0.05, 2.0, usual.temperature, 0.05)
        options["seed"] = _number("seed", 0, questions.LARGEST_SEED, 0, 1)
    return options


def _number(name: str, low: Any, high: Any, value: Any, step: Any, of: str = "") -> Any:
    """Let the person choose a number of `LABELS`; not in the address, which names the run."""
    label, about = LABELS[name]
    return st.number_input(
        label,
        low,
        high,
        value,
        step,
        key=f"evaluation_{name}{of and '_'}{of}",
        persist_state="session",
        help=about,
    )


def _say_where_saved() -> str:
    """Say where a run is saved, for how long, and how large it may be."""
    at_most = f"at most {most_questions():,} questions"
    if public():
        return f"A run asks {at_most}, and ends with this browser session."
    if alone():
        return f"A run asks {at_most}, and is saved on this computer until you delete it."
    return f"A run asks {at_most}. Keep its address: it opens the run again after a reload."
