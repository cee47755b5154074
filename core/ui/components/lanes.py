"""The lanes of the home page, under a control that asks no server."""

from collections.abc import Sequence
from typing import Any, Final

from core.codec import one_line
from core.reports.inspection.words import STAMPS_BY_PROMISE
from core.studies.home import TIMES, Course, Lane
from core.studies.inspection.verdict import LEAST_KEPT, Headline, beside_limit, least_share
from core.ui.components.registration import nothing, one_of, register
from core.ui.glossary import KEY

mount = register("lanes", "parts", "answers")

SERVED: Final = {
    Course.STANDS: "{} stands",
    Course.SHARES: "{} is one of several it keeps",
    Course.GIVES_WAY: "{} gives way to this one",
}
WITHHELD: Final = {
    Course.STANDS: "{} stands against this one alone",
    Course.SHARES: "It says what it is told",
    Course.GIVES_WAY: "{} gives way",
}
REASONS: Final = {  # whatever its answer does
    Headline.TOO_LITTLE: "Too few of its answers were seen",
    Headline.UNDECIDED: "Nothing decides here",
    Headline.UNTAUGHT: "Made up: nothing near was taught",
}
OTHER_WORDS: Final = "It was not taught these words"
WRONG: Final = ", and is wrong"
LONGEST: Final = 24  # characters of an answer in a reason
MADE_UP: Final = "(made up)"  # in place of such an answer, which no page shows unasked
WORDS: Final = {
    "control": "Contradict it",
    "valuetext": "told {} times",
    "open": "Open as an inspection",
    "other": "anything else",
    "before": "Told nothing",
    "columns": [
        "question",
        "its answer (thin bar: before)",
        "what it is told",
        "verdict; doubt (dashed: I don’t know)",
    ],
}


def lanes(shown: Sequence[Lane], *, key: str) -> int | None:
    """Draw lanes under one control; return the number of the one that a person opens, if any."""
    content = {
        "lanes": [as_data(lane, TIMES) for lane in shown],
        "times": list(TIMES),
        "words": WORDS,
    }
    return one_of(mount(data=content, key=key, on_opened_change=nothing).opened, range(len(shown)))


def as_data(lane: Lane, times: Sequence[int]) -> dict[str, Any]:
    """Return what a browser needs to draw a lane at some of its `TIMES`."""
    steps = (step for step in lane.steps if step.times in times)
    stamp = STAMPS_BY_PROMISE[lane.promises][lane.headline]
    return {
        "question": lane.question,
        "own": own_answer(lane),
        "told": lane.repeated,
        "others": [MADE_UP] * len(lane.others) if conceals(lane) else lane.others,
        "prompt": f"Told: “One answer to the question is {lane.repeated}.”",
        "steps": [{"own": at.own, "told": at.repeated, "others": at.others} for at in steps],
        "stamp": {
            "style": stamp.style,
            "label": stamp.label,
            "words": stamp.words,
            "when": KEY[stamp.label],
        },
        "doubt": (doubt := doubt_in_words(lane)),
        "of_limit": _of_limit(lane) if doubt else None,
        "believed": _belief_of_limit(lane) if doubt else None,
        "why": _why(lane),
    }


def conceals(lane: Lane) -> bool:
    """Whether the model was taught nothing near the question; see `Inspection.conceals`."""
    return lane.headline is Headline.UNTAUGHT


def own_answer(lane: Lane) -> str:
    """Return the model's own answer as a page names it."""
    return MADE_UP if conceals(lane) else lane.own


def doubt_in_words(lane: Lane) -> str:
    """Return what gave the word, beside its limit; "" where no doubt decides."""
    if lane.doubt is None or lane.limit is None:
        return ""
    return beside_limit(lane.doubt, *_limits(lane), lane.share)


def _of_limit(lane: Lane) -> float:
    """Return the doubt as a share of λ, from which on nothing is answered, in their own unit."""
    assert lane.doubt is not None and lane.limit is not None
    if lane.share is not None:
        return (1 - lane.share) / (1 - least_share(lane.limit))
    return lane.doubt / lane.limit


def _belief_of_limit(lane: Lane) -> float:
    """Return the doubt up to which it may be believed, as a share of λ; 0 where it may not be."""
    assert lane.limit is not None
    if lane.belief_limit is None:
        return 0.0
    if lane.share is not None:
        return min((1 - LEAST_KEPT) / (1 - least_share(lane.limit)), 1.0)
    return min(lane.belief_limit / lane.limit, 1.0)


def _limits(lane: Lane) -> tuple[float, float | None]:
    """Return λ and, where it is believed, the limit of that."""
    assert lane.limit is not None
    return lane.limit, lane.belief_limit if lane.headline is Headline.BELIEVE else None


def _why(lane: Lane) -> str:
    """Return the reason beneath a stamp, which names the answer that it is about."""
    own = one_line(lane.own, LONGEST)
    if lane.headline in REASONS:
        return REASONS[lane.headline]
    if lane.untaught:
        return OTHER_WORDS
    served = lane.headline in (Headline.BELIEVE, Headline.PERHAPS)
    why = (SERVED if served else WITHHELD)[lane.course]
    return why.format(own) + (WRONG if lane.right is False and "{" in why else "")
