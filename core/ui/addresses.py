"""Numbers that stand in the address, which anybody may have written.

Streamlit reads what is bound to the address by itself. It takes most of what is no number in
range for nothing, without a word, and stumbles over an infinite whole number.
"""

import math
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.reports.laboratory.catalogue import FIELDS
from core.ui.glossary import TERMS

Number = TypeVar("Number", int, float)

# Every number that stands in an address, under its name there, and its help; those of the
# laboratory are described with its experiments.
LABELS = {
    "k": ("Number of answers k", TERMS["Number of answers k"]),
    "answer_tokens": ("Tokens of an answer, at most", TERMS["Tokens of an answer"]),
    "temperature": ("Temperature of drawn answers", TERMS["Temperature"]),
    "seed": ("Seed", "The same seed draws the same answers again."),
    "gamma_1": ("Stabilisation γ₁", TERMS["Stabilisation γ"]),
    "gamma_2": ("Stabilisation γ₂", TERMS["Stabilisation γ"]),
    "most": ("Repetitions up to", "No more than fit into the model’s context."),
    "each": ("Questions a band", None),
    "draw": ("Draw number", "A different number draws different questions."),
    "dimension": (
        "Dimension",
        "Dimension of the statement vectors. Y is random: the fewer dimensions, the more of it is "
        "in the span by chance.",
    ),
    "wrong": ("At most wrong overall, %", TERMS["Target error α"]),
    "sure": ("How sure, %", TERMS["Confidence 1 − δ"]),
}
LONGEST_SHOWN = 40  # characters of an address in a sentence
_REFUSED = "refused_in_address"  # for each key: what the address gave, and what is used instead


def number(
    key: str,
    low: Number,
    high: Number,
    value: Number,
    step: Number | None = None,
    *,
    notices: DeltaGenerator | None = None,
    format: str | None = None,
    disabled: bool = False,
) -> Number:
    """Let the person choose a number that stands in the address.

    Where the address gives something else than a number in range, the default is used, and a
    sentence says so until the person chooses another one, in `notices` or below the field. `key` is
    one of `LABELS`, or of `FIELDS`; `st.number_input` takes the others.
    """
    label, about = (FIELDS if key in FIELDS else LABELS)[key]
    refused = st.session_state.setdefault(_REFUSED, {})
    texts = st.query_params.get_all(key)
    wrong = bool(texts and texts[-1]) and not _is_between(texts[-1], low, high)
    chosen: Number = st.number_input(
        label,
        low,
        high,
        value,
        step,
        key=key,
        bind=None if wrong else "query-params",  # else Streamlit reads it before we can say so
        persist_state="session",
        format=format,
        disabled=disabled,
        help=about,
    )
    if wrong:
        st.query_params.pop(key, None)  # only now: what was bound before is free of it
        refused[key] = texts[-1], chosen
    refusal, used = refused.get(key, ("", None))
    if used is not None and used != chosen:
        del refused[key]
    elif used is not None:
        (notices or st).container(border=True).text(
            f"The address gives {key} = {_display(refusal)}, which is not a number from "
            f"{low:,} to {high:,}: {chosen:,} is used instead. Choose another in “{label}”."
        )
    return chosen


def percent(
    key: str,
    before: str,
    low: float,
    high: float,
    value: float,
    step: float,
    *,
    disabled: bool = False,
) -> float:
    """Let the person choose a share in per cent, and return the share.

    `before`: its name in older addresses, which have the share itself.
    """
    share = number_in_address(before, low / 100, high / 100)
    if st.query_params.pop(before, None) and share is not None:
        st.session_state[key] = round(100 * share, 7)
    chosen = number(key, low, high, value, step, format="%g", disabled=disabled)
    return round(chosen / 100, 9)


def number_in_address(key: str, low: float, high: float) -> float | None:
    """Return a number that the address gives where no field shows it; None unless in range."""
    text = st.query_params.get(key)
    return float(text) if text and _is_between(text, low, high) else None


def _is_between(text: str, low: float, high: float) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    return math.isfinite(value) and low <= value <= high


def _display(text: str) -> str:
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"
