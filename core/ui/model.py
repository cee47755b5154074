"""The model of this session, opened, and as a study should ask it."""

from dataclasses import dataclass

import streamlit as st

from core import settings
from core.language_models.client.stack import with_layers
from core.language_models.errors import ModelError
from core.language_models.language_model import LanguageModel
from core.language_models.registry import open_model
from core.language_models.trial import Trial
from core.language_models.usage import Budget
from core.studies.inspection.recorder import usual_request
from core.ui import lending
from core.ui.messages import problem
from core.ui.storage import storage

EMBEDDED = "embedded"
NEXT_SAMPLES = "inspection_next_samples"  # k as it is to be, where a model needs more
_CHOSEN, _BUDGET = "model_chosen", "model_budget"


@dataclass(frozen=True)
class ChosenModel:
    """The model of this session, opened, and how it was found to answer in its form."""

    name: str
    model: LanguageModel
    trial: Trial | None = None


def current() -> LanguageModel:
    """Return the model of this session as it was opened; the embedded one at first."""
    chosen: ChosenModel | None = st.session_state.get(_CHOSEN)
    return chosen.model if chosen else embedded_model()


def name_in_use() -> str:
    """Return the name of the model of this session, which may be impossible to open."""
    chosen: ChosenModel | None = st.session_state.get(_CHOSEN)
    return chosen.name if chosen else EMBEDDED


def is_chosen() -> bool:
    """Say whether a person chose the model in this session."""
    return _CHOSEN in st.session_state


def trial() -> Trial | None:
    """Return how the model of this session answered when its form was tried."""
    chosen: ChosenModel | None = st.session_state.get(_CHOSEN)
    return chosen.trial if chosen else None


def choose(chosen: ChosenModel) -> None:
    """Let a model answer that was opened."""
    usual, name = (
        usual_request("?", model.capabilities).samples for model in (current(), chosen.model)
    )
    samples = st.session_state.get("k", usual)
    if samples == usual or samples < name:  # nobody chose it, or it would be refused
        st.session_state[NEXT_SAMPLES] = name
    st.session_state[_CHOSEN] = chosen


@st.cache_resource(show_spinner="Opening the model")
def embedded_model() -> LanguageModel:
    """Open the embedded model once a process."""
    return open_model(EMBEDDED)


def study_model() -> LanguageModel:
    """Return the model of this session as a study should ask it, with a budget to itself.

    Raises `ModelError` when it cannot be reached.
    """
    with st.spinner("Finding out what the model can do"):
        model = current()
        return with_layers(model, lambda: storage().calls, budget().part(*lending.budgets(model)))


def model_or_problem() -> LanguageModel | None:
    """Return the model as `study_model` does; say what is wrong where it cannot be reached."""
    try:
        return study_model()
    except ModelError as error:
        problem(str(error))
        return None


def budget() -> Budget:
    """Return what this session may still ask of services."""
    if _BUDGET not in st.session_state:
        st.session_state[_BUDGET] = Budget(settings.budget())
    limit: Budget = st.session_state[_BUDGET]
    return limit
