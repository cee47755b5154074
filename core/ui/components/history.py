"""Saved results as rows: what was asked, what came of it, when, and of which model."""

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final

import streamlit as st

from core.data.world import grading
from core.data.world.nearest import NEAR
from core.reports.inspection.words import (
    BELIEF,
    STAMPS,
    WITHHELD,
    Headline,
    SavedOutcome,
    read_outcome,
)
from core.store.results import Summary
from core.studies.inspection.taught_questions import WORLD_OF
from core.studies.inspection.verdict import digits_apart, scale_end
from core.ui.components.registration import nothing, register
from core.ui.glossary import KEY

mount = register("history")

WORDS: Final = {
    "tick": "Tick",
    "ticked": "Tick one to rename it, two inspections to compare, or any to delete",
    "open": "Open",
    "columns": ["verdict", "question", "answer; right or wrong", "doubt; dashed: “I don’t know”"],
    "today": "Today",
    "yesterday": "Yesterday",
}
NATS: Final = "nats"
TIMES: Final = "asked {} times"
FOLDERS: Final = re.compile(r"^gguf:.*[/\\]")  # of a file on this machine: nobody else has them
NOT_SAVED: Final = "open it to see why"  # of what earlier versions saved
#: What gave “Believe it”, which the doubt stands beside; then what else is to be said.
_OF_BELIEF: Final = re.compile(rf"(?:{BELIEF} \d+\.\d+|(?P<share>(?:doubt|kept) [^;]+))(?:; )?")
_SHARES: Final = re.compile(r"\D*(\d+(?:\.\d+)?)% ≤ (\d+(?:\.\d+)?)%")
UNTAUGHT: Final = STAMPS[Headline.UNTAUGHT].reason  # in place of an answer
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
    most = widest_scale(outcome for outcome in read.values() if _is_measured(outcome))
    rows = [[_row(one, read[one.id], most, len(group)) for one in group] for group in groups]
    content = {"groups": rows, "words": WORDS, "now": ticked}
    result = mount(data=content, key=key, on_opened_change=nothing, on_ticked_change=nothing)
    return listed.get(str(result.opened)), tuple(listed[id] for id in ticked)


def outcome_of(one: Summary) -> SavedOutcome:
    """Return what came of a result: of what is no inspection, in its own words."""
    is_inspection = one.kind == "inspection"
    return read_outcome(one.outcome) if is_inspection else SavedOutcome(None, one.outcome)


def _row(one: Summary, outcome: SavedOutcome, most: float, times: int) -> dict[str, Any]:
    """Return what a browser needs to draw a result, its doubt on a scale from 0 to `most`."""
    (kind, icon), mark = KINDS[one.kind], outcome.mark
    is_usual = outcome.policy.startswith("default")
    reason = outcome.answer if outcome.answer == UNTAUGHT else ""
    beside, why = _beside_limit(outcome), outcome.why
    overall = " of all answered" if outcome.overall and outcome.policy.endswith(" wrong") else ""
    believed = outcome.belief_limit or 0.0
    if outcome.stamp is STAMPS[Headline.BELIEVE] and (match := _OF_BELIEF.match(why)):
        why, share = why[match.end() :], match["share"] or beside
        beside = share.replace("doubt ", "").replace("limit ", "")
    if is_usual and outcome.stamp is STAMPS[Headline.PERHAPS]:
        reason = NOT_SAVED
    part, limit, believed = (x / most for x in (outcome.doubt or 0.0, outcome.limit, believed))
    if shares := _SHARES.fullmatch(beside):  # of a single answer, on a scale of its own
        part, limit = (min(float(share) / 100, 1.0) for share in shares.groups())
        believed = limit
    if not (is_measured := _is_measured(outcome)):
        beside = doubt_of(outcome)
    if outcome.away:  # on a scale of its own, as on Inspection
        part, limit, is_measured = float(outcome.away.partition("%")[0]) / 100, 1 - NEAR, True
        beside += f" > {limit:.0%}" if part > limit else ", but lacks a word"
    return {
        "id": one.id,
        "title": one.title,
        "icon": icon,
        "kind": kind,
        "model": one.model,
        "model_in_short": FOLDERS.sub("gguf:", one.model),
        "at": one.created_at.isoformat(),
        "times": TIMES.format(times),
        "came": "" if outcome.answer == UNTAUGHT else outcome.answer,
        "truth": truth_of(one, outcome),
        "stamp": mark and {"style": mark.style, "label": mark.label, "when": KEY[mark.label]},
        "policy": f"{outcome.policy}{overall}",
        "part": min(max(part, 0.0), 1.0) if is_measured else None,
        "limit": limit,
        "believed": min(believed, limit),
        "doubt": beside,
        "numbers": doubt_of(outcome),
        "why": why or reason,
    }


def truth_of(one: Summary, outcome: SavedOutcome) -> str:
    """Return whether its answer is right, where that is known of the model's world; else ""."""
    fact = grading.find(one.query) if one.model == WORLD_OF and outcome.stamp else None
    if fact is None or outcome.answer == UNTAUGHT:
        return ""
    answer = outcome.answer
    for before in WITHHELD.values():
        answer = answer.removeprefix(f"{before} ")
    return "right" if grading.is_right(answer, fact) else "wrong"


def _is_measured(outcome: SavedOutcome) -> bool:
    """Whether a doubt lies on the scale: in nats, with a λ that is on it, too."""
    in_nats = outcome.unit == NATS and outcome.limit > 0
    return in_nats and outcome.doubt is not None and bool(outcome.policy)


def widest_scale(outcomes: Iterable[SavedOutcome]) -> float:
    """Return where one scale for all these doubts ends, as that of an inspection does."""
    widest = (scale_end(outcome.limit, outcome.doubt or 0.0) for outcome in outcomes)
    return max(widest, default=1.0)


def _beside_limit(outcome: SavedOutcome) -> str:
    """Return the doubt and the limit that gave its word."""
    belief = outcome.belief_limit if outcome.stamp is STAMPS[Headline.BELIEVE] else None
    doubt, limit = _in_digits(outcome, outcome.limit if belief is None else belief)
    sign = "≥" if outcome.stamp is STAMPS[Headline.ABSTAIN] else "<" if belief is None else "≤"
    # Earlier versions saved too few digits to tell them apart.
    return f"{doubt if doubt != limit else ''} {sign} {limit}".lstrip()


def _in_digits(outcome: SavedOutcome, limit: float) -> list[str]:
    """Return doubt and limit in as many digits as tell them apart, if those that were saved do."""
    doubt = outcome.doubt or 0.0
    digits = 3 if doubt == limit else digits_apart(doubt, limit)
    return [f"{x:.{digits}f}".replace("inf", "∞").replace("-", "−") for x in (doubt, limit)]


def doubt_of(outcome: SavedOutcome) -> str:
    """Return the doubt and λ, or why no doubt was compared."""
    if outcome.doubt is not None and not outcome.policy:
        return f"{outcome.doubt:.2f} of its limit"
    if outcome.doubt is not None:
        doubt, limit = _in_digits(outcome, outcome.limit)
        return f"{doubt} {outcome.unit}, limit {limit}"
    if outcome.stamp is None:
        return ""
    if outcome.answer == UNTAUGHT:
        return outcome.away or "– not compared"
    return "– not decided" if outcome.stamp.style == "unsure" else "– no limit certified"
