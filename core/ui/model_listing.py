"""The models that a service lists, to choose from; a name can always be typed instead."""

from dataclasses import dataclass, field
from typing import Final

import streamlit as st

from core.language_models.errors import ModelError
from core.language_models.registry import BACK_ENDS, model_names
from core.language_models.scan import local_servers
from core.language_models.stopping import Stop, patience
from core.language_models.usage import Budget
from core.ui import lending
from core.ui.model import budget
from core.ui.runs.job import ELSEWHERE, Job
from core.ui.runs.widget import run, want

PLACE: Final = "listing"
_SCAN: Final = "scan_running"
LONGEST: Final = 20.0  # seconds that a list is waited for


@dataclass(frozen=True)
class ListedService:
    """Where models are listed: the kind of service, its base URL, and the key typed for it."""

    kind: str
    url: str
    key: str | None = field(repr=False)


def choice(service: ListedService) -> None:
    """Offer the models that a service lists, once a person asks for them."""
    if st.button("List its models", key=f"list_{service.kind}", icon=":material/list:"):
        want(PLACE, service)
    names = run(
        PLACE,
        service,
        lambda: _begin(service, budget()),
        on_press=True,
        cancelled="You cancelled. Type the name of a model, or list them again.",
        retry=False,
    )
    if names and len(names) == 1:
        st.text(f"Its only model: {names[0]}. Without a name, it is taken.")
    elif names:
        st.selectbox(
            f"Its models: {len(names):,d}",
            names,
            None,
            key=f"{service.kind}_listed",
            on_change=_fill_in,
            args=(service.kind,),
        )


def scan(kind: str) -> None:
    """Look for servers at the usual ports of this machine, once a person asks for it."""
    if st.button("Look for servers on this machine", key="scan", icon=":material/radar:"):
        want(_SCAN, kind)
    servers = run(
        _SCAN,
        kind,
        _begin_scan,
        on_press=True,
        cancelled="You cancelled. Look again, or type an address.",
        retry=False,
    )
    if servers is None:
        return
    if not servers:
        st.text("No server answers at the usual ports of this machine. Start one, or type its URL.")
        return
    models = [(url, name) for url, names in servers.items() for name in names]
    st.selectbox(
        f"Models on this machine: {len(models):,d}",
        models,
        None,
        format_func=lambda model: f"{model[1]} at {model[0]}",
        key="scanned",
        on_change=_take_scanned,
        args=(kind,),
    )


def _take_scanned(kind: str) -> None:
    """Fill in where a model of the scan is, and its name."""
    if (model := st.session_state["scanned"]) is not None:
        url, st.session_state[f"{kind}_name"] = model
        presets = [preset.name for preset in BACK_ENDS[kind].presets if preset.base_url == url]
        st.session_state[f"{kind}_preset"] = presets[0]


def _begin_scan() -> Job[dict[str, tuple[str, ...]]]:
    stop = Stop()

    def work(job: Job[dict[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
        job.progress("Looking at the usual ports of this machine", 0.0)
        with patience(stop):
            return local_servers()

    return Job(work, scheduler=ELSEWHERE, on_cancel=stop.set)


def _fill_in(kind: str) -> None:
    if (name := st.session_state[f"{kind}_listed"]) is not None:
        st.session_state[f"{kind}_name"] = name


def _begin(service: ListedService, session: Budget) -> Job[tuple[str, ...]]:
    """Start asking for the list: one call, which counts like any other."""
    back_end = BACK_ENDS[service.kind]
    lent = not service.key and lending.lends(back_end.name("", service.url))
    asking = session.part(*([lending.lent_budget()] if lent else []))

    def work(job: Job[tuple[str, ...]]) -> tuple[str, ...]:
        job.progress("Asking which models there are", 0.0)
        if back_end.example_url and not service.url:
            raise ModelError(f"There is no base URL. Type it, such as {back_end.example_url}.")
        asking.take()
        with patience(asking.stop, LONGEST):
            return model_names(service.kind, service.url, service.key)

    return Job(work, scheduler=ELSEWHERE, on_cancel=asking.close)
