"""The scores of right and wrong answers, with λ to drag over them and a range to select."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.charts.calibration import number
from core.ui.components.registered import register

mount = register("histogram")

WORDS: Final = {
    "right": "right, upwards",
    "wrong": "wrong, downwards (square-root scale)",
    "live": "{} answered, {} of them wrong. Let go to see what follows.",
}


@dataclass(frozen=True)
class Line:
    """A threshold: where it stands (an infinite one at an end), and its name."""

    value: float
    name: str
    movable: bool = False


@dataclass(frozen=True)
class Cuts:
    """Where λ can be dragged to, and what it does there."""

    low: float
    high: float
    start: float  # where λ stood first; it is easily put back there
    # answered, wrong: (steps + 1,): Shares at evenly spaced places: of all rows, and of the
    # answered ones (NaN: none is).
    answered: NDArray[np.float64]
    wrong: NDArray[np.float64]


def histogram(
    shares: Mapping[str, NDArray[np.float64]],
    lines: Sequence[Line],
    cuts: Cuts | None,
    *,
    title: str,
    alt_text: str,
    at_rest: str,
    on_moved: Callable[[float], None] | None,
    key: str,
) -> tuple[float, float] | None:
    """Draw bars under λ; return the range of scores that a person selected, if any.

    Parameters
    ----------
    shares : mapping
        "start", "end", "right", "wrong", each of shape (bins,).
    cuts : Cuts, optional
        None where λ cannot be moved.
    title, alt_text, at_rest : str
        What the scores are, what the whole shows, and what stands below until λ is dragged.
    on_moved : callable, optional
        Called with the place where λ was dropped, within the cuts.
    """
    bins = len(shares["start"])
    low, high = (float(shares["start"][0]), float(shares["end"][-1])) if bins else (0.0, 1.0)
    if cuts:
        low, high = min(low, cuts.low), max(high, cuts.high)
    state = st.session_state.get(key)
    selected = _within((state or {}).get("selected"), low, high)
    content = {
        "bins": [{name: float(values[i]) for name, values in shares.items()} for i in range(bins)],
        "low": low,
        "high": high,
        "lines": [
            {
                "value": min(max(line.value, low), high),
                "text": f"{line.name} = {number(line.value)}",
                "movable": line.movable,
            }
            for line in lines
        ],
        "cuts": cuts
        and {
            "start": cuts.start,
            "answered": [f"{share:.1%}" for share in cuts.answered],
            "wrong": ["none" if math.isnan(share) else f"{share:.1%}" for share in cuts.wrong],
        },
        "selected": selected,
        "words": {**WORDS, "title": title, "alt": alt_text, "rest": at_rest},
    }

    def on_move() -> None:
        value = st.session_state[key]["moved"]
        if on_moved and cuts and _is_number(value) and cuts.low <= value <= cuts.high:
            on_moved(float(value))

    mount(data=content, key=key, on_moved_change=on_move, on_selected_change=_nothing)
    return selected


def _within(value: Any, low: float, high: float) -> tuple[float, float] | None:
    """Return a range of scores; whatever a stranger's browser sends is none."""
    if not isinstance(value, (list, tuple)) or len(value) != 2 or not all(map(_is_number, value)):
        return None
    return (float(value[0]), float(value[1])) if low <= value[0] < value[1] <= high else None


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _nothing() -> None:
    """Streamlit wants a callback for every name that a component may send."""
