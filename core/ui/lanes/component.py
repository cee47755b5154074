"""What the browser draws by itself: lanes whose control asks no server, and the challenge.

One component draws both (`lanes.js`, `lanes.css`), with no build step. All text is data, which
the script sets as text. Where it cannot load, the table beside it says the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import streamlit as st

from core.studies.inspection.verdict import Decision
from core.studies.lanes import MEASURES, TIMES, Lane
from core.uncertainty.scores import SCORES

_HERE = Path(__file__).parent
_drawn = st.components.v2.component(
    "believe_lanes",
    html='<div class="root"></div>',
    css=(_HERE / "lanes.css").read_text(encoding="utf-8"),
    js=(_HERE / "lanes.js").read_text(encoding="utf-8"),
)

STAMPS: Final = {
    Decision.ANSWER: "believe",
    Decision.ABSTAIN: "doubt",
    Decision.TOO_LITTLE: "unsure",
}
LANE_WORDS: Final = {
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
CHALLENGE_WORDS: Final = {
    "measure": "Measure doubt by",
    "threshold": "Answer below",
    "unit": "nats",
    "answers": "answers, and is",
    "withholds": "withholds what is",
    "right": "right",
    "wrong": "wrong",
    "bad": ": bad",
    "won": "All four decisions are right.",
    "score": "{} of 4 decisions are right.",
}


def lanes(drawn: Sequence[Lane], *, key: str) -> int | None:
    """Draw lanes under one control; return the number of the one that a person opens, if any."""
    content = {
        "lanes": [
            {
                "question": lane.question,
                "own": lane.own,
                "told": lane.told,
                "steps": [{"own": step.own, "told": step.told} for step in lane.steps],
                "stamp": _stamp(lane),
            }
            for lane in drawn
        ],
        "times": list(TIMES),
        "words": LANE_WORDS,
    }
    found = _drawn(data=content, key=key, on_opened_change=_nothing)
    opened = found.opened
    # It comes from the browser: whatever a stranger sends is no lane.
    return opened if type(opened) is int and 0 <= opened < len(drawn) else None


def challenge(drawn: Sequence[Lane], names: Sequence[str], *, key: str) -> None:
    """Draw the doubts of lanes, with a threshold to drag over them."""
    content = {
        "cases": [
            {"name": name, "doubts": dict(lane.doubts), "right": bool(lane.right)}
            for name, lane in zip(names, drawn, strict=True)
        ],
        "measures": [{"key": name, "title": SCORES[name].title} for name in MEASURES],
        "widest": 1.1 * max(value for lane in drawn for value in lane.doubts.values()),
        "words": CHALLENGE_WORDS,
    }
    _drawn(data=content, key=key)


def _stamp(lane: Lane) -> str:
    """Return what falls on a lane; never a word of trust on what the model was not taught."""
    stamp = STAMPS[lane.decision]
    return "untaught" if lane.untaught and stamp == "believe" else stamp


def _nothing() -> None:
    """Streamlit wants a callback for every name that a component may send."""
