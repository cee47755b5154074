"""The presentation: prepared lanes as stories, on a full screen, for a room."""

import functools
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import segno

from core.studies.home import TIMES, Course, Lane
from core.ui.components import lanes
from core.ui.components.registration import register
from core.ui.session import is_here

mount = register("presentation", "parts", "answers")

OWN_QUESTION: Final = "Your own question"  # the label of the field on Home
PLACES: Final = (TIMES[0], TIMES[1], TIMES[-1])  # how often each story is told the other answer
LONGEST: Final = 300  # characters of an address: a code of a longer one is too fine to be read

MEANINGS: Final = {
    Course.STANDS: "It keeps to its answer, as a model does to what it knows.",
    Course.SHARES: "It keeps its other answers, too: several may be right.",
    Course.GIVES_WAY: "It drops its own answer, as a model does a guess.",
}
WRONG: Final = "And it was wrong."
PUT_IN: Final = {
    0: "Asked, and told nothing.",
    1: "Told once: “One answer to the question is {told}.”",
}
OFTEN: Final = "Told {times} times: “One answer to the question is {told}.”"
WORDS: Final = lanes.WORDS | {
    "present": "Present",
    "presentation": "Presentation",
    "previous": "Previous",
    "next": "Next",
    "leave": "Leave",
    "place": "{} of {}",
    "try": "And your question?",
    "own": "Ask it here",
    "own_field": OWN_QUESTION,
    "code": "QR code of the address",
    "here": "This address leads to this computer only. To let others in, serve Believe under a "
    "name that they reach.",
}


def presentation(stories: Sequence[Lane], url: str, *, key: str) -> None:
    """Offer to present some lanes.

    `url`: of this page, as the browser says; "" where it does not. Where others can open it, the
    last place shows it with a QR code.
    """
    address, host = _public_part(url)
    content = {
        "stories": [_story(lane) for lane in stories],
        "address": address,
        "here": is_here(host),
        "code": [] if not address or is_here(host) else code(address),
        "words": WORDS,
    }
    mount(data=content, key=key, width="content")


def _story(lane: Lane) -> dict[str, Any]:
    """Return what a browser needs to show a lane at all of its `PLACES`."""
    meaning = MEANINGS[lane.course]
    return lanes.as_data(lane, PLACES) | {
        "put_in": [PUT_IN.get(n, OFTEN).format(times=n, told=lane.repeated) for n in PLACES],
        "meaning": f"{meaning} {WRONG}" if lane.right is False else meaning,
    }


def _public_part(url: str) -> tuple[str, str]:
    """Return an address without what is nobody else's business, and its host; "" for none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    place = parts.netloc.rpartition("@")[2]  # behind a name and a password
    if parts.scheme not in {"http", "https"} or not parts.hostname or len(url) > LONGEST:
        return "", ""
    return f"{parts.scheme}://{place}{parts.path}", parts.hostname


@functools.lru_cache(maxsize=16)
def code(address: str) -> list[str]:
    """Return the modules of a QR code by row, "1" for each dark one."""
    return ["".join(map(str, row)) for row in segno.make(address, micro=False, error="m").matrix]
