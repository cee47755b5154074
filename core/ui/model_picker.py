"""Which model answers: a picker on every page, and the way from it to a model that may be asked.

A key is typed into a password field and stays in the memory of this session: it is in no
address, no database and no log. What stands in the address: `core/ui/model_address.py`.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import streamlit as st

from core import settings
from core.abstention.policy import NOT_VERIFIED
from core.codec import percent
from core.language_models.errors import ModelError
from core.language_models.forms import Form
from core.language_models.registry import BACK_ENDS
from core.language_models.trial import QUESTIONS
from core.store.errors import StoreError
from core.studies.costs import calls
from core.studies.evaluation.recorded_answers import recorded_answers
from core.studies.inspection.certificates import SMOLLM2
from core.ui import lending, model_listing, model_opening
from core.ui.components import tab_memory
from core.ui.glossary import TERMS
from core.ui.inspection import larger_model
from core.ui.model import EMBEDDED, budget, choose, current, is_chosen, name_in_use, trial
from core.ui.model_listing import ListedService
from core.ui.payment import WAYS, price_key
from core.ui.runs.job import Job, orphans
from core.ui.session import public
from core.ui.storage import storage

OPEN: Final = "picker_open"
TRY: Final = "try"
_READY: Final = "model_ready"  # in the session: a model has just become the one that answers
OPENING: Final = "Model: opening …"
FORMS: Final[dict[str, str]] = {
    TRY: "Found by trying",
    Form.PLAIN: "Our prompts alone",
    Form.EXAMPLES: "Behind worked examples",
    Form.CHAT: "As a chat",
    Form.CHAT_WITH_EXAMPLES: "As a chat, behind worked examples",
}
OWN_ADDRESS = "another address"
MOST_BUDGET = 1_000_000


def picker() -> None:
    """Say which model answers, and let the person choose another."""
    label = OPENING if model_opening.name_to_open() else BACK_ENDS[_kind(name_in_use())].button
    st.button(label, key="picker", on_click=show, args=(True,))
    if st.session_state.get(OPEN):
        _choice()


def opening() -> None:
    """Go on opening a model that is wanted where the picker is closed, and say when it is open."""
    if not st.session_state.get(OPEN):
        _take_what_is_open()
    if st.session_state.pop(_READY, False):
        with st.container(border=True, key="model_ready"):
            _state()


def before() -> bool:
    """Say which model answered before this session began, offer to choose it again; if any did."""
    lost = tab_memory.remember(
        "model", name_in_use(), chosen=is_chosen(), most=tab_memory.LONGEST_NAME, lines=False
    )
    if lost is None or _kind(lost) == EMBEDDED or model_opening.name_to_open():
        return False
    with st.container(border=True, key="model_lost"):
        st.text(
            f"{lost} answered here before this page was reloaded, or the server started again. "
            "Now the embedded model answers. Answers received are saved"
            + (
                ": they are not paid for again. Keys are not saved."
                if BACK_ENDS[_kind(lost)].is_service
                else "."
            )
        )
        if jobs := orphans():
            st.text("What was asked there is still asked, and paid for, until it ends.")
        with st.container(horizontal=True):
            if jobs:
                st.button("Cancel it", key="cancel_lost", on_click=_cancel, args=(jobs,))
            st.button("Choose it again", key="choose_again", on_click=_choose_again, args=(lost,))
            st.button(
                "Use the embedded model", key="stay_embedded", on_click=model_opening.use_embedded
            )
    return True


def _cancel(jobs: Sequence[Job[Any]]) -> None:
    for job in jobs:
        job.cancel()


def _choose_again(name: str) -> None:
    _fill_in(name)
    show(True)


def show(is_open: bool) -> None:
    """Open or close the picker."""
    st.session_state[OPEN] = is_open


@st.dialog("Which model answers?", width="large", on_dismiss=partial(show, is_open=False))
def _choice() -> None:
    _recent_models()
    if answer := larger_model.choice():
        show(False)
        larger_model.show(answer)
    kind = st.radio(
        "Kind",
        list(BACK_ENDS),
        format_func=lambda kind: BACK_ENDS[kind].title,
        captions=[back_end.caption for back_end in BACK_ENDS.values()],
        key="model_kind",
        persist_state="session",
        label_visibility="collapsed",
        width="stretch",
    )
    name, key = _name_and_key(kind)
    form = None if kind == EMBEDDED else _form()
    if not key and lending.lends(name):
        st.text(
            f"Without your own key, the key of this server’s owner is used. {lending.remainder()}"
        )
    if BACK_ENDS[kind].is_service:
        st.caption(
            "Using it for the first time takes a few small calls that find out what it can do, "
            f"and {len(QUESTIONS):d} for each form that is tried. A second form is tried only "
            "where the first brings no short, whole answers."
        )
    if kind not in (EMBEDDED, SMOLLM2):
        st.text(_price_of_a_promise())
    came_of_it = st.container()  # above the button: below, it would be out of sight
    # Not a callback: its arguments would be those of the run before.
    as_it_is = name == name_in_use() and form is None and not key
    label = "This model is in use" if as_it_is else "Use this model"
    if st.button(label, key="use_model", type="primary", disabled=as_it_is):
        _use(name, form, key)
    with came_of_it:
        _take_what_is_open()
    _state()
    if BACK_ENDS[kind].is_service:
        _limits(kind, name)


def _price_of_a_promise() -> str:
    """Say what it takes to promise something of a model that no certificate is of."""
    from core.abstention import thresholds

    delta = (1 - thresholds.USUAL_CONFIDENCE) / 2  # the first look at labels spends half
    most, expected = 0.05, 0.025
    fewest = thresholds.fewest_labels(most, 1 - delta)
    usual = thresholds.labels_for_power(expected, most, 1 - thresholds.FIRST_PART * delta)
    return (
        "Calibration makes a promise for a model from questions that you label. For at most "
        f"{percent(most)} wrong, it takes at least {fewest} answers without a mistake; where "
        f"{percent(expected)} of them are wrong, about {usual}."
    )


def _take_what_is_open() -> None:
    """Let the model that is wanted answer once it is open; until then show how that goes."""
    typed = model_opening.name_to_open()
    if chosen := model_opening.open_when_ready(name_in_use()):
        choose(chosen)
        for way in WAYS:  # its whole name may be another than was typed
            if typed and (price := st.session_state.get(price_key(typed, way))):
                st.session_state[price_key(chosen.name, way)] = price
        show(False)  # what it can do is said on the page, where it answers now
        st.session_state[_READY] = True
        st.rerun()


def _state() -> None:
    """Say which model answers, what it can do, and what was used so far."""
    try:
        st.text(f"{current().name}: ready.")
    except ModelError as error:
        st.text(str(error))
        return
    if current().name != EMBEDDED:
        abilities = current().capabilities
        st.text(
            "Scores any text (exact likelihoods)."
            if abilities.scores_given_text
            else "Scores only its own answers (at least 100 samples)."
            if abilities.own_log_likelihoods
            else "Reports no likelihoods (answers are counted)."
        )
        for note in abilities.notes:
            st.text(note)
    if tried := trial():
        st.text(f"{FORMS[tried.form]}. {tried.sentence}")
    if budget().requests:
        st.text(f"Used so far: {calls(budget().requests)}.")
    if lending.is_lent(current()):
        st.text(f"Calls use the key of this server’s owner. {lending.remainder()}")


def _kind(name: str) -> str:
    kind = name.partition(":")[0]
    return kind if kind in BACK_ENDS else EMBEDDED


def _recent_models() -> None:
    """Offer what was asked before: what was typed is lost with the session, what was kept is not.

    It fills in what the person would type, and nothing more: a key is not kept anywhere.
    """
    try:
        names = storage().results.models(NOT_VERIFIED)
    except StoreError:  # said where something is to be kept
        return
    not_here = {EMBEDDED, *(answer.provenance.model for answer in recorded_answers())}
    ours = [name for name in names if ":" in name and not {name, _kind(name)} & not_here]
    if any(name != name_in_use() for name in ours):
        st.selectbox("Used before", ours, None, key="model_before", on_change=_fill_in_chosen)


def _fill_in_chosen() -> None:
    if name := st.session_state["model_before"]:
        _fill_in(name)


def _fill_in(name: str) -> None:
    """Fill in what a person would type to have a model."""
    kind, _, rest = name.partition(":")
    st.session_state["model_kind"] = kind
    typed, url = BACK_ENDS[kind].parts(rest)
    if BACK_ENDS[kind].example_url:
        presets = [preset.name for preset in BACK_ENDS[kind].presets if preset.base_url == url]
        st.session_state[f"{kind}_preset"] = presets[0] if presets else OWN_ADDRESS
        st.session_state[f"{kind}_url"] = url
    if not typed:  # there is one of this kind
        return
    st.session_state[f"{kind}_name"] = typed


def _name_and_key(kind: str) -> tuple[str, str | None]:
    """Let the person type what the kind needs; return the model's name and the key."""
    back_end, model = BACK_ENDS[kind], BACK_ENDS[kind].model
    if model is None:
        return kind, None
    if back_end.example_url and not public():  # a stranger's machine is another one
        model_listing.scan(kind)
    url = _base_url(kind) if back_end.example_url else ""
    typed = st.text_input(
        model.label,
        model.value,
        key=f"{kind}_name",
        persist_state="session",
        placeholder=model.placeholder,
    )
    key = None
    if back_end.key:
        key = st.text_input(
            back_end.key.label, type="password", key=f"{kind}_key", help=_WHERE_KEYS_STAY
        ).strip()
    if back_end.lists:
        model_listing.choice(ListedService(kind, url, key or None))
    return back_end.name(typed.strip(), url), key or None


def _base_url(kind: str) -> str:
    """Let the person choose where a server is, or type it."""
    presets = {preset.name: preset for preset in BACK_ENDS[kind].presets}
    where = st.selectbox(
        "Server", [*presets, OWN_ADDRESS], key=f"{kind}_preset", persist_state="session"
    )
    if where in presets:
        preset = presets[where]
        st.text(f"{preset.base_url}. {preset.usually}. {preset.note}")
        return preset.base_url
    url = st.text_input(
        "Base URL",
        key=f"{kind}_url",
        persist_state="session",
        placeholder=BACK_ENDS[kind].example_url,
    )
    return url.strip()


_WHERE_KEYS_STAY: Final = "It stays in the memory of this session and is not saved."


def _form() -> Form | None:
    """Let the person choose how the model is asked; None lets it be found by trying."""
    chosen = st.selectbox(
        "How it is asked",
        list(FORMS),
        format_func=FORMS.__getitem__,
        key="model_form",
        persist_state="session",
        help=TERMS["Form"],
    )
    return None if chosen == TRY else Form(chosen)


def _use(name: str, form: Form | None, key: str | None) -> None:
    """Begin to open a model; a person wants one at a time."""
    if name == EMBEDDED:
        model_opening.use_embedded()
        show(False)  # there is nothing to find out, and nothing to wait for
        st.rerun()
    model_opening.use(name, form, key)


def _limits(kind: str, name: str) -> None:
    """The budget and, if the person gives them, prices of this model."""
    most = settings.budget() if public() else MOST_BUDGET
    limits = budget()
    limit = st.number_input(
        "Budget: calls in this session",
        0,
        most,
        min(limits.most if limits.most is not None else most, most),
        100,
        key="budget_calls",
        help="The server counts every call, failed ones too. At the budget it stops; answers "
        "received are saved.",
    )
    limits.most = min(limit, most)
    unit = BACK_ENDS[kind].price_unit
    left, right = st.columns(2)
    read, written = (price_key(name, way) for way in WAYS)
    left.number_input(
        f"Price per {unit:,d} tokens in", 0.0, None, 0.0, key=read, persist_state="session"
    )
    right.number_input(
        f"Price per {unit:,d} tokens out", 0.0, None, 0.0, key=written, persist_state="session"
    )
