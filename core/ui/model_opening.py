"""Opening a model beside the page, so that a person can go on, or think better of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec

import streamlit as st

from core.language_models.backends.gguf import SMOLLM2
from core.language_models.client.stack import with_layers
from core.language_models.errors import ModelError, NeedsKeyError, StoppedError
from core.language_models.forms import Form
from core.language_models.language_model import LanguageModel
from core.language_models.registry import BACK_ENDS, open_model, opening_cost, with_only_model
from core.language_models.stopping import patience
from core.language_models.trial import InItsForm, in_its_form
from core.language_models.usage import Budget
from core.store.calls import Calls
from core.ui import lending, model_listing
from core.ui.model import EMBEDDED, ChosenModel, budget, choose, embedded_model
from core.ui.runs.job import ELSEWHERE, Job
from core.ui.runs.widget import forget, run, run_of
from core.ui.session import public
from core.ui.storage import storage

_WISH, _PLACE = "model_wanted", "opening"


@dataclass(frozen=True, eq=False)  # who asks for the same again wants another try
class ModelRequest:
    """A model that a person wants, in which form (None: any), and the key typed for it."""

    name: str
    form: Form | None
    key: str | None = field(repr=False)


def use(name: str, form: Form | None, key: str | None) -> None:
    """Want a model; the one before stays in use until it is open, and where that fails."""
    st.session_state[_WISH] = ModelRequest(name, form, key)


def smollm2_here() -> bool:
    """Whether SmolLM2 is installed."""
    return find_spec(SMOLLM2) is not None


def name_to_open() -> str | None:
    """Return the name of the model that is being opened; None where that failed or was stopped."""
    wish: ModelRequest | None = st.session_state.get(_WISH)
    if wish is None:
        return None
    this = run_of(_PLACE, wish)
    failed = this is not None and (this.cancelled or (this.job is not None and this.job.error))
    return None if failed else wish.name


def use_no_other() -> None:
    """Stop opening a model, if one is being opened."""
    forget(_PLACE)
    st.session_state.pop(_WISH, None)


def use_embedded() -> None:
    """Have the embedded model answer, and open no other."""
    use_no_other()
    choose(ChosenModel(EMBEDDED, embedded_model()))


def open_when_ready(in_use: str) -> ChosenModel | None:
    """Return the model that is wanted once it is open; until then show how that goes.

    `in_use`: the name of the model of this session meanwhile.
    """
    wish: ModelRequest | None = st.session_state.get(_WISH)
    if wish is None:
        return None

    def meanwhile(job: Job[InItsForm]) -> None:
        if not job.cancelling:
            st.text(f"{wish.name}: {in_use} stays in use until it is ready.")

    session = budget()
    result = run(
        _PLACE,
        wish,
        lambda: _begin(wish, session),
        cancelled=f"You cancelled opening {wish.name}. {in_use} stays in use. Press “Use this "
        "model” to try again.",
        retry=False,
        beside=meanwhile,
        everywhere=True,
    )
    if result is None:
        return None
    use_no_other()
    model, trials = result
    return ChosenModel(model.name, model, trials[-1] if trials else None)


def _begin(wish: ModelRequest, session: Budget) -> Job[InItsForm]:
    """Start opening a model; its calls count against the budget of the session.

    A cancel leaves the requests under way; a download goes on to its end, and is not used.
    """
    trying = Budget()  # allows anything: it is there to be closed
    calls = storage().calls  # here, for no other thread may touch the session

    def work(job: Job[InItsForm]) -> InItsForm:
        job.progress("Opening the model, and finding out what it can do", 0.0)
        try:
            opened = _open(wish, session, trying, lambda text: job.progress(text, 0.0))
            job.progress("Finding the form in which it is asked", 0.0)
            if opened.capabilities.local:
                return in_its_form(opened, wish.form, lambda: calls.services)
            return _try(opened, wish.form, calls, trying.part(session, *lending.budgets(opened)))
        except StoppedError:
            raise
        except ModelError as error:
            state = "needs a key" if isinstance(error, NeedsKeyError) else "is not available"
            raise ModelError(f"The model you chose {state}: {error}") from error

    return Job(work, scheduler=ELSEWHERE, on_cancel=trying.close)


def _open(
    wish: ModelRequest, session: Budget, trying: Budget, tell: Callable[[str], None]
) -> LanguageModel:
    """Open a model and find out what it can do: a few calls, each counted before it is made.

    What is kept of it is not looked at: so a person sees whether it is there, and takes the key.
    """
    kind, _, rest = wish.name.partition(":")
    back_end = BACK_ENDS[kind]
    name, url = back_end.parts(rest)
    if public() and back_end.opens_files:
        raise ModelError(
            "This is a public demo: it opens no files of the server. Choose another kind."
        )
    if back_end.example_url and not url:
        raise ModelError(f"There is no base URL. Type it, such as {back_end.example_url}.")
    if back_end.is_service and not name and not back_end.example_url:
        raise ModelError("There is no model. Type its name as on the service.")
    full = wish.name
    if not name and back_end.lists:
        lent = not wish.key and lending.lends(wish.name)
        trying.part(session, *([lending.lent_budget()] if lent else [])).take()
        with patience(trying.stop, model_listing.LONGEST):
            full = with_only_model(full, wish.key)
    cost = opening_cost(full)
    if cost:
        tell(cost)
    model = open_model(full, wish.key)
    if back_end.is_service:
        with model.meter.gate(session.part(*lending.budgets(model)).take):
            ready = with_layers(model, None, trying, tell)  # asks for its abilities, patiently
            ready.revision  # noqa: B018  which may take a question too
    return model


def _try(model: LanguageModel, form: Form | None, calls: Calls, budget: Budget) -> InItsForm:
    """Return a service in its form; what the trial takes is counted, kept, and not paid twice."""
    formed, trials = in_its_form(with_layers(model, lambda: calls, budget), form)
    return model.in_form(formed.form), trials
