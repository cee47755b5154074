"""One experiment on the page: its pictures on one side, its settings on the other."""

from functools import partial

import streamlit as st

from core.language_models.errors import ModelError
from core.language_models.language_model import LanguageModel
from core.reports.laboratory.catalogue import EXPERIMENTS, FIELDS
from core.studies.inspection.request import InvalidRequestError
from core.studies.laboratory.bundled import find
from core.studies.laboratory.experiment import AskedModel, Experiment, Finding
from core.studies.laboratory.settings import Value, Values
from core.ui.addresses import number
from core.ui.laboratory.results import about_model, behind, beside, results
from core.ui.messages import problem
from core.ui.model import embedded_model, study_model
from core.ui.runs.job import Job
from core.ui.runs.registry import Registry
from core.ui.runs.widget import offer_run, run, run_of
from core.ui.session import shared_thing


def bench(name: str) -> None:
    """Draw an experiment: what it is, what is found with the settings, and what is behind it."""
    experiment = EXPERIMENTS[name]
    st.header(experiment.title, anchor=False)
    # On a phone the columns come one below the other: first what was found.
    seen, chosen = st.columns([3, 1], gap="medium")
    with chosen:
        st.subheader("Settings", anchor=False)
        values = values_of(name)
        asks = st.container()
        st.caption(f"In the paper: {experiment.paper}.")
    if values is None:
        with seen:
            st.markdown(experiment.about)
            st.text("Correct the settings to see what they show.")
        return
    with seen:
        model, finding = attempt(experiment, values)
        if finding is not None:
            results(finding)
        else:
            st.markdown(experiment.about)
    with asks:
        st.text(about_model(experiment.model_for(values), model))
    if experiment.model_for(values) is AskedModel.CHOSEN:
        beside(experiment, model)
    if finding is not None:
        behind(finding, model)


def values_of(name: str) -> dict[str, Value] | None:
    """Let the person choose what an experiment is run with; None where something is wrong."""
    experiment = EXPERIMENTS[name]
    values = experiment.usual
    fine = True
    for i, field in enumerate(experiment.fields):
        if not field.folded and field.applies(values):
            fine &= _draw(name, i, values)
    folded = [i for i, field in enumerate(experiment.fields) if field.folded]
    folded = [i for i in folded if experiment.fields[i].applies(values)]
    if folded:
        with st.expander("More settings", icon=":material/tune:", key=f"laboratory_more_{name}"):
            for i in folded:
                fine &= _draw(name, i, values)
    if any(values[each] != usual for each, usual in experiment.usual.items()):
        usual = {f"{name}_{field.name}": field.value for field in experiment.fields}
        back = partial(st.session_state.update, usual)
        st.button("Back to the usual settings", key=f"usual_{name}", on_click=back)
    if not fine:
        return None
    try:
        values = experiment.complete(values)
        experiment.settings.of(values)
    except InvalidRequestError as error:
        problem(str(error))
        return None
    return values


def _draw(name: str, i: int, values: dict[str, Value]) -> bool:
    """Draw one field and take its value; say what is wrong with it below, and return if all is."""
    field = EXPERIMENTS[name].fields[i]
    key = f"{name}_{field.name}"
    label, about = FIELDS[key]
    if field.options:
        # What is chosen stands in the address as a command has it: the words are below.
        value = values[field.name] = st.selectbox(
            label,
            list(field.options),
            list(field.options).index(str(field.value)),
            key=key,
            bind="query-params",
            persist_state="session",
            help=about,
        )
        if field.options[value]:
            st.caption(field.options[value])
    elif isinstance(field.value, str):
        values[field.name] = st.text_input(
            label, field.value, key=key, bind="query-params", persist_state="session", help=about
        )
    else:
        kind = field.kind
        low, high, step = (kind(n or 0) for n in (field.least, field.most, field.step))
        values[field.name] = number(key, low, high, field.value, step)  # type: ignore[type-var]
    try:
        if field.read is not None:
            field.read(str(values[field.name]))
    except InvalidRequestError as error:
        problem(str(error))
        return False
    return True


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
