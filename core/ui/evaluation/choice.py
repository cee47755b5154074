"""Which run is on the page: one's own or a bundled one, named in the address."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.abstention.policy import Pipeline
from core.codec import one_line
from core.studies.evaluation.bundled import folders
from core.studies.evaluation.recorded_answers import provenance_of
from core.studies.evaluation.run_folder import RunError
from core.studies.evaluation.saved_run import Run
from core.ui.evaluation.runs import runs
from core.ui.messages import problem

RUN: Final = "run"  # in the address
WIDTH: Final = 400  # pixels
_SHOWN, _CHOICE = "evaluation_shown", "evaluation_run"
NOT_HERE: Final = (
    "The run that this address names is not here: it was deleted, or belongs to somebody else. "
    "Choose another."
)


@dataclass(frozen=True)
class ListedRun:
    """A run in the list."""

    key: str  # its name in the address
    run: Run
    title: str  # text of people and models
    is_own: bool  # whether it is no bundled one, which nobody changes


def choose(key: str) -> None:
    """Show a run from now on, and name it in the address."""
    st.session_state[_SHOWN] = st.query_params[RUN] = key


def choice(head: DeltaGenerator) -> tuple[ListedRun | None, Mapping[str, Run]]:
    """Let the person choose a run in `head`; return it, and the others by their titles."""
    listed = {each.key: each for each in _list()}
    name = st.query_params.get(RUN) or st.session_state.get(_SHOWN)
    if name and name not in listed:
        if one := own_run(name):
            listed = {name: one, **listed}
        else:
            problem(NOT_HERE)
            st.button("Close", key="close_run", on_click=show_no_longer)
    if not listed:
        st.text("There is no run yet. Start one under “New run”.")
        return None, {}
    titles = _different({key: each.title for key, each in listed.items()})
    keys = list(listed)
    if name in listed and st.query_params.get(RUN) != name:
        st.query_params[RUN] = name  # somebody has come back from another page
    st.session_state[_CHOICE] = name if name in listed else _first(listed)
    with head:
        st.selectbox(
            "Run", keys, key=_CHOICE, format_func=titles.__getitem__, on_change=_change, width=WIDTH
        )
    key = str(st.session_state[_CHOICE])
    if not listed[key].is_own and (of := provenance_of(key)):
        st.text(f"{of.sentence}.")
    others = {titles[other]: listed[other].run for other in keys if other != key}
    return listed[key], others


def _first(listed: Mapping[str, ListedRun]) -> str:
    """Return what is shown before somebody chooses: a bundled run, with everything to see."""
    return next((key for key, each in listed.items() if not each.is_own), next(iter(listed)))


def _change() -> None:
    choose(st.session_state[_CHOICE])


def show_no_longer() -> None:
    """Name no run in the address any more."""
    st.session_state.pop(_SHOWN, None)
    st.query_params.pop(RUN, None)


def own_run(key: str) -> ListedRun | None:
    """Return a run of who looks at the page, or of a session in which nobody signed in."""
    folder = runs().find(key)
    return _read(key, Run(folder), is_own=True) if folder else None


def own() -> list[ListedRun]:
    """Return one's own runs, the newest first."""
    listed = (_read(folder.name, Run(folder), is_own=True) for folder in runs().own())
    return [each for each in listed if each]


def _list() -> list[ListedRun]:
    """Return one's own runs, then those that come with the program."""
    ours = (_read(name, Run(folder), is_own=False) for name, folder in folders().items())
    return [*own(), *(each for each in ours if each)]


def _read(key: str, run: Run, *, is_own: bool) -> ListedRun | None:
    """Return a run as it is listed; None where it was damaged."""
    try:
        pipeline, questions = run.pipeline, run.manifest["questions"]
        what = one_line(str(questions["name"]))
        begun = str(run.manifest["begun"])[:16].replace("T", " ")
    except (RunError, LookupError, TypeError, ValueError):
        return None
    when = f"{begun} UTC" if is_own else "bundled"
    return ListedRun(key, run, f"{model_of(pipeline)}: {what} ({when})", is_own)


def model_of(pipeline: Pipeline) -> str:
    """Return the name of the model that answered; of a file, without its folder."""
    name = pipeline.model.removeprefix("gguf:")
    return one_line(PurePath(name).stem if name.endswith(".gguf") else name)


def _different(titles: Mapping[str, str]) -> dict[str, str]:
    """Return titles of which no two are alike."""
    settings: dict[str, str] = {}
    for key, title in titles.items():
        settings[key] = title if title not in settings.values() else f"{title} {key[:8]}"
    return settings
