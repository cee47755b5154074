"""A threshold that is dragged over the scores; all that follows from it, follows in the browser."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.ui.components.registration import nothing, one_of, register

mount = register("threshold", "histogram", "curve", "margin")

BESIDE: Final = 5  # rows on each side of a threshold
WORDS: Final = {
    "control": "Answer more, or fewer",
    "below": "answered below limit",
    "above": "answered above limit",
    "withheld": "? I don’t know",
    "back": "Back to its place",
    "answers_label": "Answers",
    "wrong_label": "Wrong on the rows that set the limit",
    "promised_label": "Promised for more like these",
    "nothing": "No promise",
    "spoken": "{threshold}: answers {answers}, {wrong} of them wrong. Promised: {promise}.",
    "right": "right",
    "believed": "✓ Believe it",
    "served": "≈ Perhaps",
    "wrong": "wrong",
    "pale": "withheld",
    "scale": "number of questions:",
    "cut": "number of questions, tall bars cut:",
    "right_key": "right, up",
    "wrong_key": "wrong, down",
    "error": "wrong among those answered of these rows",
    "rows": "Rows beside the limit",
    "which": "Which rows",
    "rows_all": "All",
    "rows_right": "Right answers",
    "rows_wrong": "Wrong answers",
    "border": "limit {}: withheld from here on",
    "open": "Inspect this question",
}


@dataclass(frozen=True)
class ThresholdPlaces:
    """Where a threshold can stand, in the score's own direction, and what it does there."""

    values: NDArray[np.float64]  # (s,): rising
    start: int  # where it stands first; it is easily put back there
    certified: int | None  # where it was found, if it was
    texts: Sequence[str]  # (s,): as a person reads the values
    # answered, errors: (s,): numbers of labelled questions
    answered: NDArray[np.int64]
    errors: NDArray[np.int64]
    promised: NDArray[np.bool_]  # (s,): whether the promise holds there
    shares: Sequence[str]  # (s,): what is answered, as a person reads it
    wrong: Sequence[str]  # (s,): what of that is wrong
    movable: bool = True

    def nearest(self, value: float) -> float:
        """Return the value that lies nearest."""
        return float(self.values[np.argmin(abs(self.values / 2 - value / 2))])


@dataclass(frozen=True)
class ShownRow:
    """A labelled row as it is shown."""

    cells: tuple[str, ...]  # as many as there are headings
    right: bool
    place: int  # in the data
    asks: bool  # whether it has a question to be inspected


@dataclass(frozen=True)
class NeighbouringRows:
    """The rows beside a threshold, wherever it stands."""

    headings: tuple[str, ...]
    rows: Sequence[ShownRow]  # the surest first
    before: NDArray[np.int64]  # (s,): how many of them each place answers


def threshold(
    now: float,
    places: ThresholdPlaces,
    shares: Mapping[str, NDArray[np.float64]],
    curve: Mapping[str, Any] | None,
    beside: NeighbouringRows,
    words: Mapping[str, str],
    *,
    belief_limit: float | None = None,
    on_moved: Callable[[float], None],
    key: str,
) -> tuple[tuple[float, float] | None, int | None]:
    """Draw a threshold; return the range of scores that a person selected, and the row to inspect.

    `now`: where the threshold stands. The browser moves it by itself, and says so once it rests.
    `shares`: "start", "end", "right", "wrong", each of shape (bins,); where it is known, too, which
    of both are "believed" and "believed_wrong".
    `curve`: "lower" and "upper", each of shape (s,), "target" and "most", the largest share that is
    drawn.
    `words`: "title", "band", "alt" and "curve" say what is drawn, "promise" and "target" what is
    promised.
    `belief_limit`: up to which score an answer may be believed, where that is known.
    `on_moved`: called with the place where the threshold was dropped, one of the values.
    """
    bins, values = len(shares["start"]), places.values
    ends = [float(shares["start"][0]), float(shares["end"][-1])] if bins else []
    low, high = min([*ends, float(values[0])]), max([*ends, float(values[-1])])
    state = st.session_state.get(key)
    selected = _within((state or {}).get("selected"), low, high)
    ratios = [e / a if a else None for e, a in zip(places.errors, places.answered, strict=True)]
    content = {
        "bins": [{name: float(each[i]) for name, each in shares.items()} for i in range(bins)],
        "low": low,
        "high": high if high > low else low + 1.0,
        "places": {
            "values": values.tolist(),
            "start": places.start,
            "texts": list(places.texts),
            "answered": list(places.shares),
            "wrong": list(places.wrong),
            "errors": [None if ratio is None else round(float(ratio), 5) for ratio in ratios],
            "promised": places.promised.tolist(),
            "rows": beside.before.tolist(),
            "movable": places.movable,
        },
        "certified": places.certified,
        "belief": belief_limit,
        "curve": curve
        and {n: v if isinstance(v, float) else np.round(v, 5).tolist() for n, v in curve.items()},
        "rows": [
            {
                "cells": row.cells,
                "kind": "right" if row.right else "wrong",
                "place": row.place,
                "asks": row.asks,
            }
            for row in beside.rows
        ],
        "selected": selected,
        "words": {**WORDS, **words, "headings": beside.headings, "beside": BESIDE},
        "now": now,
    }

    def on_move() -> None:
        value = st.session_state[key]["moved"]
        if _is_number(value) and values[0] <= value <= values[-1]:
            on_moved(places.nearest(value))

    result = mount(
        data=content,
        key=key,
        on_moved_change=on_move,
        on_selected_change=nothing,
        on_opened_change=nothing,
    )
    return selected, one_of(result.opened, {row.place for row in beside.rows if row.asks})


def _within(value: Any, low: float, high: float) -> tuple[float, float] | None:
    """Return a range of scores; whatever a stranger's browser sends is none."""
    if not isinstance(value, (list, tuple)) or len(value) != 2 or not all(map(_is_number, value)):
        return None
    return (float(value[0]), float(value[1])) if low <= value[0] < value[1] <= high else None


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max
