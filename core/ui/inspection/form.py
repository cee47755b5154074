"""From typing a question to its recording: settings, progress, cancelling.

Everything a person types stands in the address, so that a reload, or a colleague, sees
the same. A recording that was made, or is being made, is found again by its request.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core import prompts
from core.charts import inspection as charts
from core.language_models.base import LanguageModel
from core.language_models.client.stack import Prepared
from core.studies.costs import plan
from core.studies.home import EXAMPLES
from core.studies.inspection.recorder import check_samples
from core.studies.inspection.recording import Recording, estimator_of
from core.studies.inspection.request import MAX_QUERY_CHARACTERS, MAX_SAMPLES, Reading, Request
from core.studies.inspection.stopping import growth
from core.studies.inspection.verdict import default_threshold
from core.ui import figures
from core.ui.addresses import number
from core.ui.glossary import TERMS
from core.ui.inspection.recordings import recordings
from core.ui.jobs import Job
from core.ui.messages import notice, problem
from core.ui.model import asked, current, embedded
from core.ui.payment import agreed
from core.ui.session import this_session
from core.ui.watching import how_far, said_until
from core.uncertainty.similarity import (
    COMPARISONS,
    JUDGE,
    USUAL_THRESHOLD,
    USUAL_THRESHOLD_OF_JUDGE,
    usual_threshold,
)

MOST_UNASKED = 100  # samples that a link may ask for without a press
QUICK = 0.8  # seconds: an answer that comes sooner is shown without a progress bar


def ask() -> tuple[Request, Reading]:
    """Let the person type, and return what to ask and how to read it. All in the URL."""
    if samples := st.session_state.pop("next_samples", None):
        st.session_state["k"] = samples
    notices = st.container()  # the settings are folded away
    if st.query_params.get("q") == EXAMPLES["Known"]:  # Streamlit skips a default in the address
        st.session_state["q"] = EXAMPLES["Known"]
    line, press = st.columns([8, 1], vertical_alignment="bottom")
    query = line.text_input(
        "Question",
        EXAMPLES["Known"],
        max_chars=MAX_QUERY_CHARACTERS,
        key="q",
        bind="query-params",
        persist_state="session",
        placeholder="Type a question and press Enter",
    )
    # As Enter does; and what failed or was cancelled before is asked anew.
    press.button(
        "Ask",
        type="primary",
        key="ask",
        width="stretch",
        on_click=_press,
    )
    with st.container(horizontal=True, gap="small"):
        for name, question in EXAMPLES.items():
            st.button(
                name, key=f"example_{name}", help=question, on_click=_ask_for, args=(question,)
            )
    with st.expander("Settings", icon=":material/tune:"):
        asking, seeing = st.columns(2)
        with asking:
            st.caption("These settings call the model again")
            samples = number("k", 1, MAX_SAMPLES, 10, 1, notices=notices)
            temperature = number("temperature", 0.05, 2.0, 0.9, 0.05, notices=notices)
            seed = number("seed", 0, 2**32 - 1, 0, 1, notices=notices)
        with seeing:
            st.caption(
                "These only re-analyse the recorded answers. Only the similarity “judge” calls "
                "the model, once, to compare them"
            )
            similarity = st.selectbox(
                "Similarity of two answers",
                list(COMPARISONS),
                key="similarity",
                bind="query-params",
                persist_state="session",
                help=TERMS["Similarity"],
                on_change=_begin_at_the_usual,
            )
            st.text(COMPARISONS[similarity])
            if similarity == JUDGE and current() is embedded():
                st.text(
                    "This model never learnt to compare answers: it judges no better than a "
                    "coin toss. Choose “judge” for a model that follows instructions."
                )
            threshold = st.slider(
                "Similarity threshold τ",
                0.05,
                1.0,
                USUAL_THRESHOLD,
                0.05,
                key="tau",
                bind="query-params",
                persist_state="session",
                help=TERMS["Similarity threshold τ"],
            )
            gamma_1 = number("gamma_1", 0.0, 1.0, 0.0, 0.01, notices=notices)
            gamma_2 = number("gamma_2", 0.0, 1.0, 0.0, 0.01, notices=notices)
    return (
        Request(query or "", samples, temperature, seed, judged=similarity == JUDGE),
        Reading(similarity, threshold, gamma_1, gamma_2),
    )


def _begin_at_the_usual() -> None:
    """Begin with the threshold that suits the similarity, unless the person chose another."""
    if st.session_state["tau"] in (USUAL_THRESHOLD, USUAL_THRESHOLD_OF_JUDGE):
        st.session_state["tau"] = usual_threshold(st.session_state["similarity"])


def _press() -> None:
    """Ask, whatever came of it before, and however many samples a link asks for."""
    st.session_state.pop("ended", None)
    st.session_state["agreed_to_link"] = True


def _ask_for(question: str) -> None:
    st.session_state["q"] = question


def record(
    request: Request, reading: Reading, kept: Callable[[Recording], None] | None = None
) -> Recording | None:
    """Return the recording, or None while the model is being asked and after a cancel.

    Parameters
    ----------
    kept : callable, optional
        What the job does with the finished recording; see `Recordings.ask`.
    """
    by_link = st.session_state.setdefault("opened_with", request) == request
    model = asked()
    this = model.name, model.revision, request
    made = recordings().find(request, model)
    certifying = st.session_state.get("certifying")
    if certifying and certifying[0] == request:
        _watch(certifying[1], request, reading, model)
    elif certifying:  # another question was asked meanwhile
        certifying[1].leave(this_session())
        del st.session_state["certifying"]
    ended = st.session_state.get("ended")
    ended = ended[1] if ended and ended[0] == this else None
    if made:
        # More was wanted, and failed: keep what there is. What this session cancelled, another
        # one may have brought to its end.
        if ended and ended.error and not ended.cancelled:
            problem(str(ended.error))
            said_until(ended)
        return made
    if ended:  # cancelled or failed: nobody asks again but the person
        st.button("Ask again", key="ask_again", on_click=st.session_state.pop, args=("ended",))
        return _outcome(ended, request)
    check_samples(request, estimator_of(model.capabilities))
    if by_link and _waits_for_a_press(request):
        return None
    if not model.capabilities.local and not agreed(
        model, plan(request, model.capabilities), request, "inspection"
    ):
        return None
    job = recordings().ask(request, model, kept)
    _leave_the_one_before(job)
    st.session_state["asking"] = (this, job)
    if job.wait(QUICK) and model.capabilities.local:
        return _outcome(job, request)
    _watch(job, request, reading, model)
    return None


@st.fragment(run_every=0.5)
def _watch(job: Job[Recording], request: Request, reading: Reading, model: LanguageModel) -> None:
    """Show how far a job is, let the person stop it, and redraw the page when it is done."""
    if job.done:
        _put_away(job, request, model)
    if not any(st.session_state.get(key, (0, 0))[1] is job for key in ("asking", "certifying")):
        st.rerun()
    if job.partial:
        draw_growth(job.partial, reading, f"growing_{job.partial.request.samples}")
    local = model.capabilities.local
    how_far(job, None if local else plan(request, model.capabilities).requests)
    st.button("Cancel", on_click=_cancel, args=(job, request, model), key="cancel")
    _answers_so_far(job, request)


def _waits_for_a_press(request: Request) -> bool:
    """Offer what a link asks for, where that is much, and say whether nobody has pressed yet."""
    if request.samples <= MOST_UNASKED or "agreed_to_link" in st.session_state:
        return False
    st.text(
        f"This link asks for {request.samples} samples, which can take minutes on this "
        "machine. Press the button to draw them, or choose fewer under “Settings”."
    )
    st.button(
        f"Draw {request.samples:d} samples",
        key="draw_many",
        on_click=_press,
    )
    return True


def _leave_the_one_before(job: Job[Recording]) -> None:
    """Stop what this session asked of this machine before, and what nobody waits for any more.

    What a service was asked goes on: it is paid for, and saved when it comes.
    """
    _, before = st.session_state.get("asking", (None, None))
    if before and before is not job and not (before.done or _is_paid(before)):
        before.leave(this_session())


def _is_paid(job: Job[Recording]) -> bool:
    return job.asks is not None and not job.asks.capabilities.local


def _cancel(job: Job[Recording], request: Request, model: LanguageModel) -> None:
    """Stop a job, or only leave it where it is another session's too."""
    job.leave(this_session())
    _put_away(job, request, model)


def _put_away(job: Job[Recording], request: Request, model: LanguageModel) -> None:
    """Remember how a job ended for this session, which watches it no more."""
    st.session_state.pop("certifying", None)
    st.session_state.pop("asking", None)
    this = model.name, model.revision, request
    if _is_cancelled(job):
        # What was sampled on the way to a certificate is kept; or back to what was on the screen.
        partial = job.partial.request.samples if job.partial else None
        if samples := partial or recordings().largest(request, model):
            st.session_state["next_samples"] = samples
        else:
            st.session_state["ended"] = (this, job)
    elif job.error:
        st.session_state["ended"] = (this, job)
    elif job.partial:
        st.session_state["next_samples"] = job.partial.request.samples


def _is_cancelled(job: Job[Recording]) -> bool:
    """Say whether a job that this session watches no more was cancelled, or left to others."""
    return job.cancelled or not job.done


def _heard(job: Job[Recording], request: Request) -> list[tuple[str, int]]:
    """Return what a service has answered so far, and how often."""
    if not isinstance(job.asks, Prepared):
        return []
    return job.asks.heard.answers(prompts.iterative(request.query))


def _answers_so_far(job: Job[Recording], request: Request) -> None:
    """List what a service has answered, though the rest is on its way or was cancelled."""
    if found := _heard(job, request):
        st.dataframe(
            {
                "answers so far": [charts.shown(text) for text, _ in found],
                "times": [times for _, times in found],
            },
            hide_index=True,
            key="so_far",
            alt="Answers so far, and how often each came",
        )


def _outcome(job: Job[Recording], request: Request) -> Recording | None:
    if _is_cancelled(job):
        lost = "" if _is_paid(job) else " Only time was lost."
        before = "all answers arrived" if _heard(job, request) else "the model had answered"
        notice(f"Cancelled before {before}.{lost}")
        said_until(job)
        _answers_so_far(job, request)
        return None
    if job.error:
        said_until(job)
        raise job.error
    return job.result


def draw_growth(recording: Recording, reading: Reading, key: str) -> None:
    """Show how the certified bound and the sampled mass grew with the samples."""
    points = growth(recording, reading)
    figures.draw(
        charts.growth(points, default_threshold().value, figures.palette()),
        key=key,
        alt_text=charts.growth_alt(points),
    )
