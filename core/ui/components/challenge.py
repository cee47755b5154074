"""The challenge of the home page: a threshold to drag over the doubts of the lanes."""

from collections.abc import Sequence
from typing import Final

from core.studies.home import MEASURES, Lane
from core.ui.components.registration import register

mount = register("challenge")

#: The measures in plain words; their names and their unit stand in the help of the heading.
PLAIN: Final = dict(
    zip(MEASURES, ("usual: its answers differ", "ours: it follows what it is told"), strict=True)
)
WORDS: Final = {
    "measure": "Doubt",
    "threshold": "Answer below this doubt",
    "unit": "nats",
    "answers": "answers, and is",
    "withholds": "withholds what is",
    "single": "one answer: 0 nats",
    "right": "right",
    "wrong": "wrong",
    "won": "All four decisions are right.",
    "score": "{} of 4 decisions are right.",
    "hopeless": "By this measure, no threshold gets all four right. Try the other measure.",
}


def challenge(lanes: Sequence[Lane], names: Sequence[str], *, key: str) -> None:
    """Draw the doubts of lanes, with a threshold to drag over them."""
    content = {
        "cases": [
            {"name": name, "doubts": dict(lane.doubts), "right": bool(lane.right)}
            for name, lane in zip(names, lanes, strict=True)
        ],
        "measures": [{"key": name, "title": PLAIN[name]} for name in MEASURES],
        "widest": 1.1 * max(value for lane in lanes for value in lane.doubts.values()),
        "words": WORDS,
    }
    mount(data=content, key=key)
