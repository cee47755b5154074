"""The settings of an experiment, which stand in the address; what is wrong is said beside each."""

import streamlit as st

from core.reports.laboratory.catalogue import EXPERIMENTS, FIELDS
from core.studies.inspection.request import InvalidRequestError
from core.studies.laboratory.settings import Value
from core.ui.addresses import number
from core.ui.messages import problem


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
        st.button("Back to the usual settings", key=f"usual_{name}", on_click=_reset, args=(name,))
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


def _reset(name: str) -> None:
    for field in EXPERIMENTS[name].fields:
        key = f"{name}_{field.name}"
        st.session_state[key] = field.value
