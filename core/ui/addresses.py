"""Numbers that stand in the address, which anybody may have written.

Streamlit reads what is bound to the address by itself. It takes most of what is no number in
range for nothing, without a word, and stumbles over an infinite whole number.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.ui.messages import problem

Number = TypeVar("Number", int, float)

LONGEST_SHOWN = 40  # characters of an address in a sentence
_REFUSED = "refused_in_address"  # for each key: what the address gave, and what is used instead


def number(
    label: str,
    low: Number,
    high: Number,
    value: Number,
    step: Number | None = None,
    *,
    key: str,
    notices: DeltaGenerator | None = None,
    **options: Any,
) -> Number:
    """Let the person choose a number that stands in the address.

    Where the address gives something else than a number in range, the default is used, and a
    sentence says so until the person chooses another one.

    Parameters
    ----------
    low, high, value, step
        As `st.number_input` takes them.
    key : str
        Its name in the address.
    notices : DeltaGenerator, optional
        Where the sentence goes; by default below the field.
    **options
        What else `st.number_input` takes.
    """
    refused = st.session_state.setdefault(_REFUSED, {})
    given = st.query_params.get_all(key)
    wrong = bool(given and given[-1]) and not _is_between(given[-1], low, high)
    chosen: Number = st.number_input(
        label,
        low,
        high,
        value,
        step,
        key=key,
        bind=None if wrong else "query-params",  # else Streamlit reads it before we can say so
        persist_state="session",
        **options,
    )
    if wrong:
        st.query_params.pop(key, None)  # only now: what was bound before is free of it
        refused[key] = given[-1], chosen
    said, used = refused.get(key, ("", None))
    if used is not None and used != chosen:
        del refused[key]
    elif used is not None:
        with notices or st.container():
            problem(
                f"The address gives {key} = {_shown(said)}, which is not a number from {low:,} to "
                f"{high:,}: {chosen:,} is used. Choose another one in “{label}”."
            )
    return chosen


def _is_between(text: str, low: float, high: float) -> bool:
    try:
        found = float(text)
    except ValueError:
        return False
    return math.isfinite(found) and low <= found <= high


def _shown(text: str) -> str:
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"
