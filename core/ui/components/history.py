"""Saved results as rows: what was asked, what came of it, when, and of which model."""

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final

import streamlit as st

from core.reports.inspection.words import STAMPS, Headline, SavedOutcome, read_outcome
from core.store.results import Summary
from core.studies.inspection.verdict import scale_end
from core.ui.components.registration import nothing, register
from core.ui.glossary import KEY

mount = register("history")

WORDS: Final = {
    "tick": "Tick",
    "ticked": "Tick one to rename it, two inspections to compare, or any to delete",
    "open": "Open",
    "columns": ["question", "answer", "verdict"],
    "today": "Today",
    "yesterday": "Yesterday",
}
SCALE: Final = "doubt; dashed: limit{}"
NATS: Final = "nats"
TIMES: Final = "asked {} times"
FOLDERS: Final = re.compile(r"^gguf:.*[/\\]")  # of a file on this machine: nobody else has them
NOT_SAVED: Final = "open it to see why"  # of what earlier versions saved
#: Of each kind its name, and the icon that its page has in the navigation.
KINDS: Final = {
    "inspection": ("Inspection", "search"),
    "amplification": ("Curve", "repeat"),
    "policy": ("Policy", "rule"),
    "evaluation": ("Evaluation", "query_stats"),
}


def history(
    groups: Sequence[Sequence[Summary]], *, key: str
) -> tuple[Summary | None, tuple[Summary, ...]]:
    """List results; return the one that a person opens, if any, and those that are ticked.

    `groups`: results of the same question, the latest first: the others are folded beneath it.
    """
    listed = {one.id: one for one in chain.from_iterable(groups)}
    ticked = [id for id in (st.session_state.get(key) or {}).get("ticked") or [] if id in listed]
    read = {one.id: outcome_of(one) for one in listed.values()}
    of_scale = [came for came in read.values() if _is_measured(came)]
    most, limits = widest_scale(of_scale), {f" λ = {came.limit:.3f}" for came in of_scale}
    limit = limits.pop() if len(limits) == 1 else " λ" * bool(limits)
    rows = [[_row(one, read[one.id], most, len(group)) for one in group] for group in groups]
    content = {"groups": rows, "words": {**WORDS, "doubt": SCALE.format(limit)}, "now": ticked}
    result = mount(data=content, key=key, on_opened_change=nothing, on_ticked_change=nothing)
    return listed.get(str(result.opened)), tuple(listed[id] for id in ticked)


def outcome_of(one: Summary) -> SavedOutcome:
    """Return what came of a result: of what is no inspection, in its own words."""
    is_inspection = one.kind == "inspection"
    return read_outcome(one.outcome) if is_inspection else SavedOutcome(None, one.outcome)


def _row(one: Summary, came: SavedOutcome, most: float, times: int) -> dict[str, Any]:
    """Return what a browser needs to draw a result, its doubt on a scale from 0 to `most`."""
    (kind, icon), mark = KINDS[one.kind], came.mark
    is_usual = came.policy.startswith("default")
    is_perhaps = came.stamp is STAMPS[Headline.PERHAPS]
    # What is wrong of all answered is said where that is the promise: “Believe it” has less.
    policy = came.policy.partition(":")[0] if is_usual and not is_perhaps else came.policy
    if policy.endswith(" wrong"):
        policy += " overall"  # with “Believe it”, not of such answers alone
    is_withheld = came.stamp is STAMPS[Headline.ABSTAIN]
    doubt = f"{came.doubt:.3f}" if is_usual and _is_measured(came) else doubt_of(came)
    if doubt == f"{came.limit:.3f}":  # which it is beside, and not at
        doubt += f" {'≥' if is_withheld else '<'} λ"
    return {
        "id": one.id,
        "title": one.title,
        "icon": icon,
        "kind": kind,
        "model": one.model,
        "model_in_short": FOLDERS.sub("gguf:", one.model),
        "at": one.created_at.isoformat(),
        "times": TIMES.format(times),
        "came": came.came,
        "stamp": mark and {"look": mark.look, "label": mark.label, "when": KEY[mark.label]},
        "policy": policy,
        "part": min(max(came.doubt or 0.0, 0.0) / most, 1.0) if _is_measured(came) else None,
        "limit": came.limit / most,
        "withheld": is_withheld,  # a rounded doubt may look like λ
        "doubt": doubt,
        "numbers": doubt_of(came),
        "why": came.why or NOT_SAVED * (is_usual and is_perhaps),
    }


def _is_measured(came: SavedOutcome) -> bool:
    """Whether a doubt lies on the scale: in nats, with a λ that is on it, too."""
    return came.doubt is not None and bool(came.policy) and came.unit == NATS and came.limit > 0


def widest_scale(outcomes: Iterable[SavedOutcome]) -> float:
    """Return where one scale for all these doubts ends, as that of an inspection does."""
    widest = (scale_end(came.limit, came.doubt or 0.0) for came in outcomes)
    return max(widest, default=1.0)


def doubt_of(came: SavedOutcome) -> str:
    """Return the doubt and λ as Inspection shows them, or why no doubt was compared."""
    if came.doubt is not None and not came.policy:
        return f"{came.doubt:.2f} λ"
    if came.doubt is not None:
        numbers = f"{came.doubt:.3f} {came.unit}, λ = {came.limit:.3f}"
        return numbers.replace("inf", "∞").replace("-", "−")
    if came.stamp is None:
        return ""
    if came.came == STAMPS[Headline.UNTAUGHT].reason:
        return "– decided by nearness"
    return "– not decided" if came.stamp.look == "unsure" else "– not certified"
