"""From typing a question to its recording.

Everything a person types stands in the address, so that a reload, or a colleague, sees
the same. A recording that was made, or is being made, is found again by its request.
"""

from collections.abc import Callable
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import prompts
from core.abstention.policy import USUAL_LIMIT
from core.language_models.client.stack import ObservedModel, PreparedModel
from core.language_models.language_model import MOST_ANSWER_TOKENS, LanguageModel
from core.language_models.registry import BACK_ENDS
from core.language_models.true_false import NO_JUDGE
from core.reports.inspection import document as reports
from core.studies.costs import computed_tokens, lasting, plan
from core.studies.examples import EXAMPLES
from core.studies.inspection.inspection import read
from core.studies.inspection.recorder import check_samples, usual_request
from core.studies.inspection.recording import Recording
from core.studies.inspection.request import (
    MAX_FRONT_CHARACTERS,
    Reading,
    Request,
    Sampling,
    most_samples,
)
from core.studies.inspection.stopping_rule import GrowthPoint, growth
from core.studies.inspection.taught_questions import has_taught_words, in_taught_words
from core.studies.questions import questions
from core.ui import figures, frame, model_opening, saved_result
from core.ui.addresses import number
from core.ui.calibration import policy
from core.ui.components.suggestions import suggest
from core.ui.examples import examples
from core.ui.glossary import TERMS
from core.ui.inspection.quick_look import quick_look
from core.ui.inspection.recordings import recordings
from core.ui.model import NEXT_SAMPLES, current, embedded_model, study_model
from core.ui.runs.job import Job
from core.ui.runs.widget import again, drop, forget, run, run_of, want
from core.ui.session import memory_of
from core.uncertainty.similarity import (
    COMPARISONS,
    JUDGE,
    USUAL_THRESHOLD,
    USUAL_THRESHOLD_OF_JUDGE,
    usual_threshold,
)

MOST_UNASKED = 100  # answers that a link may ask for without a press
PLACE, CERTIFYING = "inspection", "certifying"
_DRAWS = {"temperature": 0.9, "seed": 0}  # what only drawn answers depend on, as usual
_ANSWERS = {
    Sampling.LIKELIEST.value: "The k likeliest, found by a search; the same every time.",
    Sampling.DRAWN.value: "Drawn k times at random, as in the paper.",
}
AS_TYPED = "as_typed"
COMPARED_FOR = "compared_for"  # the question to which a press wanted more answers
_OPENED_WITH, _AGREED_TO_LINK = "inspection_opened_with", "inspection_agreed_to_link"


def question_form(folds: DeltaGenerator) -> tuple[Request, Reading]:
    """Let the person type, and return what to ask and how to read it. All in the URL.

    `folds`: where the settings stand, folded up.
    """
    if samples := st.session_state.pop(NEXT_SAMPLES, None):
        st.session_state["k"] = samples
    notices = st.container()  # the settings are folded away
    if st.query_params.get("q") == EXAMPLES["Known"]:  # Streamlit skips a default in the address
        st.session_state["q"] = EXAMPLES["Known"]
    line, press = st.columns([8, 1], vertical_alignment="bottom")
    query = line.text_input(
        "Question",
        EXAMPLES["Known"],
        key="q",
        bind="query-params",
        persist_state="session",
        placeholder="Type a question and press Enter",
        label_visibility="collapsed",
        # The one before alone was to be asked as typed.
        on_change=partial(st.session_state.update, {AS_TYPED: False}),
    )
    suggest("Question", questions() if has_taught_words(current()) else (), key="suggestions")
    # As Enter does; and what failed or was cancelled before is asked anew.
    press.button("Ask", type="primary", key="ask", width="stretch", on_click=_press)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        examples(EXAMPLES, query, _ask_for)
        if has_taught_words(current()):
            st.page_link(frame.questions(), label="Browse all", icon=":material/forum:")
    with folds, st.expander("Settings", icon=":material/tune:"):
        asking, seeing = st.columns(2)
        with asking:
            st.caption("These settings call the model again")
            as_typed = has_taught_words(current()) and st.toggle(
                "Ask exactly as typed",
                key=AS_TYPED,
                bind="query-params",
                persist_state="session",
                help="Otherwise a question that surely means a taught one is asked in its words.",
            )
            sampling = _sampling()
            _forget_what_was_compared(query, sampling)
            limit = _answer_tokens(notices)
            most = most_samples(limit)
            if st.session_state.get("k", 0) > most:
                st.session_state["k"] = most
            samples = number("k", 1, most, _usual_samples(sampling), 1, notices=notices)
            searched = sampling is Sampling.LIKELIEST
            temperature = number(
                "temperature", 0.05, 2.0, 0.9, 0.05, notices=notices, disabled=searched
            )
            seed = number("seed", 0, 2**32 - 1, 0, 1, notices=notices, disabled=searched)
            system, context = _front() if current().capabilities.reads_front else ("", "")
        with seeing:
            reading = _reading(notices)
    judged = reading.similarity == JUDGE
    request = Request(
        query or "", samples, temperature, seed, judged, sampling, limit, system, context
    )
    if not as_typed and policy.in_use() is None:  # a person's policy was made of questions as typed
        request = in_taught_words(request, current())
    return request, reading


def _forget_what_was_compared(query: str | None, sampling: Sampling) -> None:
    """Ask another question as usual: more answers were wanted to the one before alone."""
    if st.session_state.get(COMPARED_FOR, query) != query:
        del st.session_state[COMPARED_FOR]
        st.session_state["k"] = _usual_samples(sampling)


def _reading(notices: DeltaGenerator) -> Reading:
    """Let the person choose how recorded answers are read."""
    st.caption(
        "These only re-analyse the recorded answers. Only the similarity “judge” calls "
        "the model, once, to compare them."
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
    if similarity == JUDGE and current() is embedded_model():
        st.text(NO_JUDGE)
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
    return Reading(similarity, threshold, gamma_1, gamma_2)


def _sampling() -> Sampling:
    """Let the person choose how answers are found, where the model leaves a choice."""
    if not current().capabilities.searches:
        return Sampling.DRAWN
    # A link to drawn answers says how they are drawn; those of before say no more.
    if "sampling" not in {*st.query_params, *st.session_state} and {*_DRAWS} & {*st.query_params}:
        st.session_state["sampling"] = Sampling.DRAWN.value
    chosen = st.selectbox(
        "Answers",
        list(_ANSWERS),
        key="sampling",
        bind="query-params",
        persist_state="session",
        help=TERMS["Likeliest answers"],
        on_change=_change_sampling,
    )
    st.text(_ANSWERS[chosen])
    return Sampling(chosen)


def _front() -> tuple[str, str]:
    """Let the person put a system prompt and a context in front of every prompt."""
    fields = {
        "system": (
            "System prompt",
            "Stands in front of every prompt. Neither this nor the context is in the address; "
            "share the saved result instead.",
        ),
        "context": ("Context", "Passages that the answer is to be drawn from."),
    }
    system, context = (
        st.text_area(
            label,
            key=key,
            height=68,
            max_chars=MAX_FRONT_CHARACTERS,
            persist_state="session",
            help=about,
        )
        for key, (label, about) in fields.items()
    )
    return system, context


def _answer_tokens(notices: DeltaGenerator) -> int:
    if not current().capabilities.limits_answers:
        return USUAL_LIMIT
    return number("answer_tokens", 1, MOST_ANSWER_TOKENS, USUAL_LIMIT, 1, notices=notices)


def _usual_samples(sampling: Sampling) -> int:
    return usual_request("?", current().capabilities, sampling=sampling).samples


def _change_sampling() -> None:
    """Begin with the usual k, unless somebody chose another; draws leave the address."""
    now = Sampling(st.session_state["sampling"])
    (before,) = {*_ANSWERS} - {now}
    if st.session_state["k"] == _usual_samples(Sampling(before)):
        st.session_state[NEXT_SAMPLES] = _usual_samples(now)
    if now is Sampling.LIKELIEST:
        st.session_state.update(_DRAWS)  # what is as usual does not stand in the address


def _begin_at_the_usual() -> None:
    """Begin with the threshold that suits the similarity, unless the person chose another."""
    if st.session_state["tau"] in (USUAL_THRESHOLD, USUAL_THRESHOLD_OF_JUDGE):
        st.session_state["tau"] = usual_threshold(st.session_state["similarity"])


def _press() -> None:
    """Ask, whatever came of it before, and however many samples a link asks for."""
    again(PLACE)
    st.session_state[_AGREED_TO_LINK] = True


def ask_instead(question: str) -> None:
    """Ask another question than the one on the screen, which may be a kept one."""
    saved_result.leave()
    _ask_for(question)


def _ask_for(question: str) -> None:
    st.session_state["q"] = question
    st.session_state[AS_TYPED] = False


def ask_as_typed() -> None:
    """Ask in the words that stand in the field, though a taught question is near them."""
    st.session_state[AS_TYPED] = True


def recording_for(
    request: Request, reading: Reading, save: Callable[[Recording], None] | None = None
) -> Recording | None:
    """Return the recording, or None while the model is being asked and after a cancel.

    `save`: what the job does with the finished recording; see `Recordings.ask`.
    """
    name = model_opening.name_to_open()
    if name in BACK_ENDS and BACK_ENDS[name].is_bundled:
        st.text(f"{name} answers this question as soon as it is open.")
        return None
    by_link = st.session_state.setdefault(_OPENED_WITH, request) == request
    model = study_model()
    this = model.name, model.revision, request
    _certify(this, reading, model)
    recording = recordings().find(request, model)
    if recording:
        if run_of(PLACE, this) is None and drop(PLACE):
            st.rerun()  # what says that another question is still asked was drawn before
        return recording
    before = run_of(PLACE, this)
    if before is None:
        check_samples(request, model.capabilities)
        if by_link and _waits_for_a_press(request):
            return None
    elif before.cancelled and (samples := recordings().largest(request, model)):
        _back_to(samples, PLACE)  # what was on the screen before more was wanted
    takes = lasting(computed_tokens(request), model)
    if takes and (before is None or not before.cancelled):
        st.text(f"Comparing up to {request.samples} answers takes {takes} on this machine.")
    is_long = takes or (not model.capabilities.local and (before is None or before.job is None))
    if is_long and not request.front:  # a quick look asks without it
        quick_look(request, model)
    return run(
        PLACE,
        this,
        lambda: recordings().ask(request, model, save),
        paid=None if model.capabilities.local else (model, plan(request, model.capabilities)),
        cancelled="Cancelled before all answers arrived."
        + (" Only time was lost." if model.capabilities.local else ""),
        beside=partial(_answers_so_far, request=request),
    )


def certify(recording: Recording) -> None:
    """Want more answers of a model on this machine, until something is certified."""
    want(CERTIFYING, (recording.model, recording.revision, recording.request))


def _certify(this: tuple[str, str, Request], reading: Reading, model: LanguageModel) -> None:
    """Compare until certified where that is wanted, and then show what was found."""
    *_, request = this
    if not model.capabilities.local:  # whatever a browser sends: nobody said what that costs
        drop(CERTIFYING)
        return

    def draw_partial(job: Job[Recording]) -> None:
        if job.partial:
            draw_growth(job.partial, reading, f"growing_{job.partial.request.samples}")

    before = run_of(CERTIFYING, this)
    stopped = before.job.partial if before and before.cancelled and before.job else None
    enough = stopped or run(
        CERTIFYING,
        this,
        lambda: recordings().certify(request, model, reading, policy.in_use()),
        on_press=True,
        retry=False,
        beside=draw_partial,
    )
    if enough:
        _back_to(enough.request.samples, CERTIFYING)


def _back_to(samples: int, place: str) -> None:
    """Show so many answers, which are there, and want no more."""
    st.session_state[NEXT_SAMPLES] = samples
    forget(place)
    st.rerun()


def _waits_for_a_press(request: Request) -> bool:
    """Offer what a link asks for, where that is much, and say whether nobody has pressed yet."""
    if request.samples <= MOST_UNASKED or _AGREED_TO_LINK in st.session_state:
        return False
    st.text(
        f"This link asks for up to {request.samples} answers, which can take minutes on this "
        "machine. Press the button to compare them, or choose fewer under “Settings”."
    )
    st.button(f"Compare up to {request.samples:d}", key="draw_many", on_click=_press)
    return True


def _answers_so_far(job: Job[Recording], request: Request) -> None:
    """Say how much was answered, though the rest is on its way or was cancelled.

    Not what: no text of the model is shown before its verdict.
    """
    heard = job.asks.listener if isinstance(job.asks, PreparedModel) else job.asks
    if not isinstance(heard, ObservedModel):
        return
    counts = heard.counts(request.front + prompts.iterative(heard.reads(request.query)))
    if counts:
        st.text(f"Answers so far: {sum(counts):,d}, {len(counts):,d} of them different.")


def growth_of(recording: Recording, reading: Reading) -> tuple[GrowthPoint, ...]:
    """Return how bound and mass grew with k; computed once for what is shown."""
    return memory_of("growth", recording, partial(growth, recording, reading), reading)


def draw_growth(recording: Recording, reading: Reading, key: str) -> None:
    """Show how the certified bound and the sampled mass grew with k."""
    threshold = read(recording, reading, policy=policy.in_use()).withholding_bound
    figures.show(reports.growth_picture(growth_of(recording, reading), threshold), key)
