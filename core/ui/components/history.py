"""Saved results as rows: what was asked, what came of it, when, and of which model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

import streamlit as st

from core.reports.inspection.words import STAMPS, Headline, Stamp, read_outcome
from core.store.results import Summary
from core.ui.components.registered import register

mount = register("history")

WORDS: Final = {
    "tick": "Tick",
    "open": "Open",
    "doubt": "{} λ",
    "columns": ["question", "answer", "verdict", "doubt, in λ"],
}
TIMES: Final = "asked {} times"


def history(
    groups: Sequence[Sequence[Summary]], *, key: str
) -> tuple[Summary | None, tuple[Summary, ...]]:
    """List results; return the one that a person opens, if any, and those that are ticked.

    `groups`: results of the same question, the latest first: the others are folded beneath it.
    """
    listed = {one.id: one for one in chain.from_iterable(groups)}
    ticked = [id for id in (st.session_state.get(key) or {}).get("ticked") or [] if id in listed]
    content = {
        "groups": [[_row(one, len(group)) for one in group] for group in groups],
        "words": WORDS,
        "now": ticked,
    }
    result = mount(data=content, key=key, on_opened_change=_nothing, on_ticked_change=_nothing)
    return listed.get(str(result.opened)), tuple(listed[id] for id in ticked)


def _row(one: Summary, times: int) -> dict[str, Any]:
    """Return what a browser needs to draw a result."""
    is_inspection = one.kind == "inspection"
    stamp, doubt, came = read_outcome(one.outcome) if is_inspection else (None, None, one.outcome)
    about = (one.model, f"{one.created_at:%Y-%m-%d\u00a0%H:%M\u00a0UTC}")
    return {
        "id": one.id,
        "title": one.title,
        "about": " · ".join(about if is_inspection else (one.kind, *about)),
        "times": TIMES.format(times),
        "came": came,
        "stamp": stamp and {"look": stamp.look, "label": stamp.label},
        "doubt": doubt,
        "why": _why(stamp, came) if stamp and doubt is None else "",
    }


def _why(stamp: Stamp, came: str) -> str:
    """Return why no doubt was compared, in a few words."""
    if came == STAMPS[Headline.UNTAUGHT].reason:
        return "not taught"
    return "not decided" if stamp.look == "unsure" else "no λ"


def _nothing() -> None:
    """Streamlit wants a callback for every name that a component may send."""
