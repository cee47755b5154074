"""The models that a service lists, to choose from; a name can always be typed instead."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import streamlit as st

from core.language_models.errors import ModelError
from core.language_models.registry import BACK_ENDS, model_names
from core.language_models.stopping import patience
from core.language_models.usage import Budget
from core.ui import lending
from core.ui.model import budget
from core.ui.runs.job import ELSEWHERE, Job
from core.ui.runs.widget import run, want

PLACE: Final = "listing"
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
    if names:
        st.selectbox(
            f"Its models: {len(names):,d}",
            names,
            None,
            key=f"{service.kind}_listed",
            on_change=_fill_in,
            args=(service.kind,),
        )


def _fill_in(kind: str) -> None:
    """Fill in the name of the model that was chosen from the list."""
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

    return Job(work, turns=ELSEWHERE, on_cancel=asking.close)
