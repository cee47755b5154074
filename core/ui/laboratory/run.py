"""What is found with the settings on the page: shipped, found before, or computed now."""

import streamlit as st

from core.language_models.errors import ModelError
from core.language_models.language_model import LanguageModel
from core.studies.laboratory.experiment import AskedModel, Experiment, Finding
from core.studies.laboratory.settings import Values
from core.studies.laboratory.shipped import find
from core.ui.messages import problem
from core.ui.model import embedded_model, study_model
from core.ui.runs.job import Job
from core.ui.runs.registry import Registry
from core.ui.runs.widget import offer_run, run, run_of
from core.ui.session import shared_thing


def model_of(experiment: Experiment, values: Values) -> LanguageModel | None:
    """Return the model that an experiment asks; None where it asks none.

    Raises `ModelError` when the chosen one cannot be reached, or is a service that this asks too
    much of.
    """
    which = experiment.model_for(values)
    if which is AskedModel.NOTHING:
        return None
    if which is AskedModel.EMBEDDED:
        return embedded_model()
    model = study_model()
    if not model.capabilities.local and experiment.plan is None:
        raise ModelError(
            f"{model.name} is a service, of which this would take too many calls. Choose a model "
            "that runs here, such as the embedded one."
        )
    return model


def finding(experiment: Experiment, values: Values, model: LanguageModel | None) -> Finding | None:
    """Return what an experiment finds; None while it is computed, and before it is wanted."""
    if (ready := find(experiment, values, model)) is not None:
        return ready
    place = f"laboratory_{experiment.name}"
    of = (model.name, model.revision) if model else ("", "")
    key = (experiment.name, tuple(sorted(values.items())), *of)

    def start() -> Job[Finding]:
        def work(job: Job[Finding]) -> Finding:
            return experiment.run(values, model, job.progress)

        return shared_thing("laboratory", Registry).start(key, work, model)

    pays = None
    if model is not None and not model.capabilities.local and experiment.plan is not None:
        pays = (model, experiment.plan(experiment.settings.of(values), model))
    waits = not experiment.quick or (model is not None and not model.capabilities.quick)
    result: Finding | None = run(
        place, key, start, paid=pays, on_press=waits, cancelled="Cancelled."
    )
    if result is None and run_of(place, key) is None:
        _offer(experiment, place, key)
    return result


def _offer(experiment: Experiment, place: str, key: tuple[object, ...]) -> None:
    takes = f" It takes about {experiment.takes}." if experiment.takes else ""
    st.text(f"This has not been computed with these settings.{takes}")
    icon = ":material/play_arrow:"
    offer_run("Run the experiment", f"start_{place}", place, key, type="primary", icon=icon)


def attempt(experiment: Experiment, values: Values) -> tuple[LanguageModel | None, Finding | None]:
    """Return the model that is asked and what was found; say why where there is none."""
    model = None
    try:
        model = model_of(experiment, values)
        return model, finding(experiment, values, model)
    except ModelError as error:
        problem(str(error))
        return model, None
