"""The lanes of the home page, under a control that asks no server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from core.codec import one_line
from core.studies.inspection.verdict import Decision
from core.studies.lanes import TIMES, Course, Lane
from core.ui.components.registered import register

mount = register("lanes", "answers")

STAMPS: Final = {
    Decision.ANSWER: "believe",
    Decision.ABSTAIN: "doubt",
    Decision.TOO_LITTLE: "unsure",
}
WHY: Final = {
    (Decision.ANSWER, Course.STANDS): "{} stands",
    (Decision.ANSWER, Course.SHARES): "one of many: {} had {:.0%} before",
    (Decision.ANSWER, Course.GIVES_WAY): "{} gives way to this one",
    (Decision.ABSTAIN, Course.STANDS): "{} stands against this one alone",
    (Decision.ABSTAIN, Course.SHARES): "it says what it is told",
    (Decision.ABSTAIN, Course.GIVES_WAY): "{} gives way",
}
SEEN_TOO_LITTLE: Final = "too few of its answers were seen"
WRONG: Final = ", and is wrong"
LONGEST: Final = 24  # characters of an answer in a reason
WORDS: Final = {
    "control": "Contradict it",
    "valuetext": "told {} times",
    "told": "Told: “One answer to the question is {}.”",
    "open": "Open as an inspection",
    "other": "anything else",
    "believe": "Believe it",
    "doubt": "Don’t believe it",
    "unsure": "Can’t tell yet",
    "untaught": "Never taught",
}


def lanes(shown: Sequence[Lane], *, key: str) -> int | None:
    """Draw lanes under one control; return the number of the one that a person opens, if any."""
    content = {
        "lanes": [as_data(lane, TIMES) for lane in shown],
        "times": list(TIMES),
        "words": WORDS,
    }
    result = mount(data=content, key=key, on_opened_change=_nothing)
    opened = result.opened
    # It comes from the browser: whatever a stranger sends is no lane.
    return opened if type(opened) is int and 0 <= opened < len(shown) else None


def as_data(lane: Lane, times: Sequence[int]) -> dict[str, Any]:
    """Return what a browser needs to draw a lane at some of its `TIMES`."""
    steps = (step for step in lane.steps if step.times in times)
    return {
        "question": lane.question,
        "own": lane.own,
        "told": lane.told,
        "steps": [{"own": step.own, "told": step.told} for step in steps],
        "stamp": _stamp(lane),
        "why": _why(lane),
    }


def _stamp(lane: Lane) -> str:
    """Return what falls on a lane: where nobody can tell, what was not taught is not judged."""
    return "untaught" if lane.untaught and lane.right is None else STAMPS[lane.decision]


def _why(lane: Lane) -> str:
    """Return the reason beneath a stamp, which names the answer that it is about."""
    own = one_line(lane.own, LONGEST)
    if lane.decision is Decision.TOO_LITTLE:
        return SEEN_TOO_LITTLE
    why = WHY[lane.decision, lane.course]
    return why.format(own, lane.steps[0].own) + (
        WRONG if lane.right is False and "{}" in why else ""
    )


def _nothing() -> None:
    """Streamlit wants a callback for every name that a component may send."""
